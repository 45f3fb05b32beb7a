"""Results that people already have: an arm whose values were recorded by a tracker, or in files."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field, create_model

from repro.errors import DataError, Problem
from repro.evidence.base import DeclaredAt, EvidenceSource, Facts
from repro.evidence.evidence import TableSource, TidyTable
from repro.evidence.imports.importer import FilesRead, FoundRun, Importer, same
from repro.evidence.imports.inspect_logs import Inspect
from repro.evidence.imports.lm_eval import LmEval
from repro.evidence.imports.mlflow import Mlflow
from repro.evidence.imports.result_files import Files
from repro.evidence.imports.tensorboard import TensorBoard
from repro.evidence.imports.trackio import Trackio
from repro.evidence.imports.wandb import Wandb
from repro.evidence.readings import RunState, TableSchema, short
from repro.evidence.run_keys import SeedKey, TaskSeed, in_order
from repro.schema.messages import choose, listed
from repro.series import NoSuchRowError, NotFiniteError, chosen

if TYPE_CHECKING:
    from repro.trainers.measurement import MeasurementSpec

AnyImporter = Annotated[
    Files | Mlflow | TensorBoard | Wandb | Trackio | Inspect | LmEval, Field(discriminator="from_")
]

_SEED = re.compile(r"(0|[1-9][0-9]{0,14})(\.0+)?")


class ImportedBase(EvidenceSource):
    """An arm's runs as they were recorded elsewhere: ``import`` says where, and which they are."""

    elsewhere: ClassVar[str] = "the claim has it imported"
    shown = "imported"

    @property
    def importer(self) -> Importer:
        """What is declared."""
        found: Importer = getattr(self, "import")
        return found

    @property
    def has_tasks(self) -> bool:
        return self.importer.task is not None

    def resolve(self, at: DeclaredAt) -> tuple[Facts | None, tuple[Problem, ...]]:
        """Whatever is there is read when the claim is judged, and not before."""
        del at
        return Facts(), ()

    def identity(self, configuration: Any) -> Any:
        """What is declared; what it finds is evidence."""
        del configuration
        return {"import": self.importer.model_dump(mode="json", exclude_defaults=True)}

    def values(self, schema: TableSchema, folder: Path) -> TidyTable | None:
        """The values of the runs that are there; DataError where they cannot be told apart."""
        arm, *others = schema.arms
        if others:
            raise DataError(
                f"arms {', '.join(schema.arms)} import the same runs\n  expected: runs of its own "
                "for each arm\n  to do: say by `where` or `path` which are whose"
            )
        digests = FilesRead()
        reading = _Reading(arm, self.importer, schema)
        for run in self.importer.runs(folder, digests):
            reading.take(run)
        return reading.table(digests)


Imported = create_model(
    "Imported",
    __base__=ImportedBase,
    **{"import": (AnyImporter | None, None)},  # type: ignore[call-overload]
)


@dataclass(slots=True)
class _Reading:
    """The runs of one arm, as they are read."""

    arm: str
    importer: Importer
    schema: TableSchema
    values: dict[SeedKey, dict[str, float]] = field(default_factory=dict)
    lost: dict[SeedKey, RunState] = field(default_factory=dict)
    places: dict[SeedKey, str] = field(default_factory=dict)
    others: int = 0
    known: Counter[str] = field(default_factory=Counter)
    """The fields of all runs, and of how many."""

    def take(self, run: FoundRun) -> None:
        """A run that is there: of this arm, or of another."""
        self.known.update(run.fields.keys())
        missing = object()
        fields = (
            (run.fields.get(key, missing), asked) for key, asked in self.importer.where.items()
        )
        if not all(found is not missing and same(found, asked) for found, asked in fields):
            self.others += 1
            return
        seed = self._run(run)
        if seed in self.places and self.importer.duplicates is None:
            raise self._refused(
                f"two runs have seed {seed}: {self.places[seed]} and {run.place}",
                "one run for each seed",
                "narrow `where`, or write `duplicates: last` to take the later one",
            )
        self.places[seed] = run.place
        self.values.pop(seed, None)
        self.lost.pop(seed, None)
        if run.state != "finished":
            self.lost[seed] = "missing" if run.state == "running" else "diverged"
            return
        self._measure(run, seed)

    def _run(self, run: FoundRun) -> SeedKey:
        """The seed of a run, with its task where the claim is over tasks."""
        seed = self._seed(run)
        if self.importer.task is None:
            return seed
        task = str(self._field(run, self.importer.task, "task"))
        if task not in self.schema.tasks:
            raise self._refused(
                f"{run.place}: the claim has no task '{short(task)}'",
                listed(self.schema.tasks),
                choose(task, self.schema.tasks),
            )
        return TaskSeed(task, seed)

    def _field(self, run: FoundRun, key: str, whose: str) -> Any:
        """What is said of a run under a key."""
        if key not in run.fields:
            known = sorted(self.known)
            raise self._refused(
                f"{run.place} has no field '{key}' for its {whose}",
                ", ".join(known[:30]) or "fields",
                choose(key, known),
            )
        return run.fields[key]

    def _seed(self, run: FoundRun) -> int:
        text = str(self._field(run, self.importer.seed, "seed"))
        if not (found := _SEED.fullmatch(text)):
            what = f"{run.place}: the seed '{text[:40]}' is no whole number"
            raise self._refused(what, "a number of a replicate", "name the field of the seed")
        return int(found[1])

    def _measure(self, run: FoundRun, seed: SeedKey) -> None:
        """Its values; a number that is not finite is a divergence, none at all is a missing run."""
        for name in self.schema.measurements:
            spec: MeasurementSpec | None = self.schema.specs.get(name)
            key = getattr(spec, "from_", None) or name
            having = [row[key] for row in run.rows if key in row]
            if not having:
                self.lost[seed] = "missing"
                return
            if any(value is None for value in having):
                self.lost[seed] = "diverged"
                return
            try:
                value, _ = chosen(run.rows, key, getattr(spec, "reduce", None))
            except NoSuchRowError:
                self.lost[seed] = "missing"
                return
            except NotFiniteError:
                self.lost[seed] = "diverged"
                return
            except DataError as error:
                raise DataError(f"arm {self.arm}, {run.place}: {error}") from error
            self.values.setdefault(seed, {})[name] = value

    def table(self, digests: FilesRead) -> TidyTable:
        """The values, and what is said of where they are from."""
        if not self.places:
            asked = ", ".join(f"{key}: {value}" for key, value in self.importer.where.items())
            known = ", ".join(sorted(self.known)[:30]) or "none"
            raise self._refused(
                f"of {self.others:,} runs that are there none is of this arm ({asked})",
                f"runs with these fields: {known}",
                "check `where` and `path`",
            )
        values = {seed: each for seed, each in self.values.items() if seed not in self.lost}
        there = self.others + len(self.places)
        ignored = (f"{self.others:,} of the {there:,} runs that are there",)
        source = TableSource(
            str(self.importer.path), digests.together, ignored=ignored if self.others else ()
        )
        values = {seed: values[seed] for seed in sorted(values, key=in_order)}
        return TidyTable(source, {self.arm: values}, {self.arm: self.lost})

    def _refused(self, mistake: str, expected: str, advice: str) -> DataError:
        return DataError(f"arm {self.arm}: {mistake}\n  expected: {expected}\n  to do: {advice}")
