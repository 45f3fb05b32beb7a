"""Runs: an arm whose values are measured on what is trained here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from repro.errors import Problem, StoreError, StoreUnreachableError
from repro.evidence.base import DeclaredAt, EvidenceSource, Facts
from repro.evidence.evidence import Replicate, State
from repro.schema.base import ConfigurationId
from repro.trainers.run import RunSpec

if TYPE_CHECKING:
    from repro.store.run_store import RunStore
    from repro.trainers.measurement import MeasurementSpec


LARGEST_LOSS = 700.0  # nats, whose exponential is still a number


class Runs(EvidenceSource):
    """A configuration, with what ``override`` changes in it key by key.

    ``first_seed`` numbers the first replicate.
    """

    elsewhere: ClassVar[str] = "the claim has it trained"
    trains: ClassVar[bool] = True
    shown = "runs"

    configuration: ConfigurationId | None = None
    override: dict[str, Any] = {}
    first_seed: Annotated[int, Field(ge=0, lt=900_000)] = 0

    def resolve(self, at: DeclaredAt) -> tuple[Facts | None, tuple[Problem, ...]]:
        """The configuration, read and overridden."""
        found, problems = at.find_configuration(
            at.document, at.steps, str(self.configuration), self.override
        )
        return found and replace(found, first_seed=self.first_seed), problems

    def identity(self, configuration: Any) -> Any:
        """What determines the numbers of the runs."""
        return configuration.training().identity()

    def replicates(
        self, runs: Iterable[RunSpec], measurements: Mapping[str, MeasurementSpec], store: RunStore
    ) -> tuple[Replicate, ...]:
        """Each run as it is stored: finished, diverged, missing, stale or damaged."""
        return tuple(_replicate(measurements, run, store) for run in runs)


def _replicate(
    measurements: Mapping[str, MeasurementSpec], run: RunSpec, store: RunStore
) -> Replicate:
    try:
        return _read(measurements, run, store)
    except StoreUnreachableError:
        raise
    except StoreError as error:
        return Replicate(run.replicate, run.key, "damaged", {}, {}, {}, str(error))


def _read(measurements: Mapping[str, MeasurementSpec], run: RunSpec, store: RunStore) -> Replicate:
    key, state = run.key, store.state(run.key)
    if state not in ("finished", "diverged"):
        older = any(store.state(each) in ("finished", "diverged") for each in run.older_keys())
        return Replicate(run.replicate, key, "stale" if older else "missing", {}, {}, {})
    provenance = store.provenance(key)
    if state == "diverged":
        store.see(key)
        return Replicate(run.replicate, key, "diverged", {}, {}, provenance)
    stored = {name: store.measurement(key, spec) for name, spec in measurements.items()}
    found = {name: each for name, each in stored.items() if each is not None}
    store.see(key, found.values())
    for name, each in found.items():
        if not math.isfinite(each.value):
            raise StoreError(f"{store.folder(key)}: {name} is {each.value}, which is no number")
    values = {name: each.value for name, each in found.items()}
    details = {name: each.details for name, each in found.items()}
    whole: State = "finished" if len(found) == len(stored) else "missing"
    losses = [row.get("valid_loss") for row in store.history(key)]
    known = all(isinstance(loss, float) and loss < LARGEST_LOSS for loss in losses)
    schedule = tuple(math.exp(float(loss)) for loss in losses if loss is not None) if known else ()
    return Replicate(
        run.replicate,
        key,
        whole,
        values,
        details,
        provenance,
        schedule=schedule,
        without_weights=store.record(key).without_weights,
    )
