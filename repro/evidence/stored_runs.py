"""Runs: an arm whose values are measured on what is trained here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from repro.errors import Problem, StoreError, StoreUnreachableError
from repro.evidence.base import DeclaredAt, EvidenceSource, Facts
from repro.evidence.evidence import Replicate, State
from repro.results.readings import badly_sized
from repro.schema.base import LARGEST, SMALLEST, ConfigurationId
from repro.trainers.run import RunSpec

if TYPE_CHECKING:
    from repro.store.run_store import RunStore
    from repro.trainers.measurement import MeasurementSpec


LARGEST_LOSS = 700.0  # nats, whose exponential is still a number


FirstSeed = Annotated[int, Field(ge=0, lt=900_000)]


class TrainedHere(EvidenceSource):
    """What is trained for a claim, of whatever configuration."""

    elsewhere: ClassVar[str] = "the claim has it trained"
    trains: ClassVar[bool] = True
    shown = "runs"

    def identity(self, configuration: Any) -> Any:
        """What determines the numbers of the runs."""
        return configuration.training().identity()

    def replicates(
        self, runs: Iterable[RunSpec], measurements: Mapping[str, MeasurementSpec], store: RunStore
    ) -> tuple[Replicate, ...]:
        """Each run as it is stored: finished, diverged, missing, stale or damaged."""
        planned = tuple(runs)
        if not store.exists():
            why = f"There is no store at {store.root}"
            return tuple(Replicate(r.replicate, r.key, "missing", {}, {}, {}, why) for r in planned)
        found = tuple(_replicate(measurements, run, store) for run in planned)
        if any(each.state == "missing" for each in found):
            return tuple(_told_if_edited(found, planned, store))
        return found


class Runs(TrainedHere):
    """A configuration, with what ``override`` changes in it key by key.

    ``first_seed`` numbers the first replicate.
    """

    configuration: ConfigurationId | None = None
    override: dict[str, Any] = {}
    first_seed: FirstSeed = 0

    def resolve(self, at: DeclaredAt) -> tuple[Facts | None, tuple[Problem, ...]]:
        """The configuration, read and overridden."""
        found, problems = at.find_configuration(at.document, at.steps, self.configuration)
        return found and replace(found, first_seed=self.first_seed), problems


class RunsOfTheClaim(TrainedHere):
    """The configuration that the claim holds itself, with ``args`` laid over its own.

    ``override`` changes its other keys; ``first_seed`` numbers the first replicate.
    """

    args: dict[str, Any] | None = None
    override: dict[str, Any] = {}
    first_seed: FirstSeed = 0

    def resolve(self, at: DeclaredAt) -> tuple[Facts | None, tuple[Problem, ...]]:
        """The configuration at the top of the claim, with what the arm changes."""
        found, problems = at.find_configuration(at.document, at.steps, None)
        return found and replace(found, first_seed=self.first_seed), problems


def _told_if_edited(
    found: Sequence[Replicate], runs: Sequence[RunSpec], store: RunStore
) -> Iterator[Replicate]:
    """The replicates; one that is missing is stale where it was run before files were edited."""
    earlier: dict[int, list[Any]] = {}
    if type(runs[0].training).located:
        for identity in store.identities():
            earlier.setdefault(identity.get("replicate", -1), []).append(identity["training"])
    for each, run in zip(found, runs, strict=True):
        before = (run.training.edited(training) for training in earlier.get(run.replicate, ()))
        files = (
            next(filter(None, before), ()) if each.state == "missing" and not each.values else ()
        )
        yield replace(each, state="stale", edited=files) if files else each


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
    values = {name: each.value for name, each in found.items() if each.value is not None}
    if len(values) < len(found):
        return Replicate(run.replicate, key, "diverged", {}, {}, provenance)
    for name, value in values.items():
        _refuse_unusable(store.folder(key), name, value)
    details = {name: each.details for name, each in found.items()}
    whole: State = "finished" if len(found) == len(stored) else "missing"
    history = store.history(key)
    losses = [row.get("valid_loss") for row in history]
    tokens = [row.get("tokens") for row in history]
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
        tokens=tuple(each for each in tokens if isinstance(each, int) and each > 0),
        without_weights=store.record(key).without_weights,
    )


def _refuse_unusable(folder: Path, name: str, value: float) -> None:
    """StoreError for a stored value that nothing can be computed with."""
    if not math.isfinite(value):
        raise StoreError(f"{folder}: {name} is {value}, which is no number")
    if size := badly_sized(repr(value), value):
        raise StoreError(
            f"{folder}: {name} is {value:g}, which is too {size} to compute with\n"
            f"  expected: 0, or a size from {SMALLEST:g} to {LARGEST:g}\n"
            "  to do: measure it in another unit, or leave NaN for a run that blew up"
        )
