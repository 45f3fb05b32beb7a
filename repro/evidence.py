"""Evidence: what the store knows about the runs that a claim planned.

Gathering reads; it judges nothing and trains nothing. A damaged artefact is kept as a problem,
so that the claim is reported INVALID rather than not at all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from repro.errors import StoreError, StoreUnreachableError
from repro.specs.claim import Claim
from repro.specs.run import RunSpec
from repro.stats.sample import Sample

if TYPE_CHECKING:
    import pandas as pd

    from repro.store import RunStore

State = Literal["finished", "diverged", "missing", "stale", "damaged"]


@dataclass(frozen=True, slots=True)
class Replicate:
    """One planned run: values and details by the claim's names for its measurements."""

    number: int
    key: str
    state: State
    values: Mapping[str, float]
    details: Mapping[str, Mapping[str, Any]]
    provenance: Mapping[str, Any]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All replicates of all arms, as found."""

    arms: Mapping[str, tuple[Replicate, ...]]

    def finished(self, arm: str) -> tuple[Replicate, ...]:
        """The replicates of ``arm`` that count."""
        return tuple(one for one in self.arms[arm] if one.state == "finished")

    def sample(self, arm: str, measurement: str) -> Sample:
        """One value a finished replicate; raises ClaimError when there is none."""
        counted = self.finished(arm)
        return Sample(
            tuple(one.values[measurement] for one in counted),
            tuple(one.number for one in counted),
        )

    def detail(self, arm: str, measurement: str, name: str) -> Sample:
        """As ``sample``, for a number among the details of a measurement."""
        counted = self.finished(arm)
        return Sample(
            tuple(float(one.details[measurement][name]) for one in counted),
            tuple(one.number for one in counted),
        )

    def without(self, arm: str, number: int) -> Evidence:
        """The evidence with one replicate of one arm left out."""
        kept = tuple(one for one in self.arms[arm] if one.number != number)
        return replace(self, arms={**self.arms, arm: kept})

    def table(self) -> pd.DataFrame:
        """The tidy table: columns arm, seed, measurement, value; one row a value."""
        import pandas as pd  # noqa: PLC0415 - judging does without it, and it is slow to import

        rows = [
            (arm, one.number, name, value)
            for arm, replicates in self.arms.items()
            for one in replicates
            for name, value in one.values.items()
        ]
        return pd.DataFrame(rows, columns=["arm", "seed", "measurement", "value"])


def gather(claim: Claim, store: RunStore) -> Evidence:
    """Read from the store what every planned run of ``claim`` has measured."""
    return Evidence(
        {
            arm: tuple(
                _replicate(claim, claim.run(arm, number), store)
                for number in range(claim.seeds.plan)
            )
            for arm in claim.arms
        }
    )


def _replicate(claim: Claim, run: RunSpec, store: RunStore) -> Replicate:
    key = run.key
    try:
        return _read(claim, run, store)
    except StoreUnreachableError:
        raise
    except StoreError as error:
        return Replicate(run.replicate, key, "damaged", {}, {}, {}, str(error))


def _read(claim: Claim, run: RunSpec, store: RunStore) -> Replicate:
    key, state = run.key, store.state(run.key)
    if state not in ("finished", "diverged"):
        older = any(store.state(one) in ("finished", "diverged") for one in run.older_keys())
        return Replicate(run.replicate, key, "stale" if older else "missing", {}, {}, {})
    provenance = store.provenance(key)
    if state == "diverged":
        return Replicate(run.replicate, key, "diverged", {}, {}, provenance)
    stored = {name: store.measurement(key, spec) for name, spec in claim.measurements.items()}
    found = {name: one for name, one in stored.items() if one is not None}
    for name, one in found.items():
        if not math.isfinite(one.value):
            raise StoreError(f"{store.folder(key)}: {name} is {one.value}, which is no number")
    values = {name: one.value for name, one in found.items()}
    details = {name: one.details for name, one in found.items()}
    whole: State = "finished" if len(found) == len(stored) else "missing"
    return Replicate(run.replicate, key, whole, values, details, provenance)
