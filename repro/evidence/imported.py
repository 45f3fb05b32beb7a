"""Results that people already have: an arm whose values were recorded by a tracker, or in files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from pydantic import create_model

from repro.errors import DataError
from repro.evidence.base import EvidenceSource, Needs, TableSchema
from repro.evidence.evidence import (
    Evaluation,
    RunsThere,
    SeedKey,
    TableSource,
    TaskSeed,
    TidyTable,
    by_source,
    in_order,
)
from repro.results.forms import FoundRun
from repro.results.importer import FilesRead, Importer, same
from repro.results.importers import AnyImporter
from repro.results.paths import seed_in
from repro.results.readings import RunState, short, value_of
from repro.results.series import AtRow, NoSuchRowError, NotFiniteError, Row, chosen
from repro.schema.cells import Percent
from repro.schema.messages import Words, choose, closest, listed
from repro.schema.yaml import Steps

if TYPE_CHECKING:
    from repro.trainers.measurement import MeasurementSpec

MOST_DIGESTS: Final = 2_000
"""Files of an arm whose own digests are kept; of more, that of all together."""

NAMED: Final = 20
"""How many of the names that are there a message lists."""


class ImportedBase(EvidenceSource):
    """An arm's runs as they were recorded elsewhere: ``import`` says where, and which they are."""

    elsewhere: ClassVar[str] = "the claim has it imported"
    has_units: ClassVar[bool] = True
    shown = "imported"

    @property
    def importer(self) -> Importer:
        """What the arm declares under `import`, which is a keyword of Python."""
        found: Importer = getattr(self, "import")
        return found

    @property
    def has_tasks(self) -> bool:
        return self.importer.task is not None

    def unsuited(self, needs: Needs, arm: str) -> Iterator[tuple[Steps, Words]]:
        """Where a series has to get, although none is read; and fields that nothing asks for."""
        yield from _idle_fields(self.importer, needs, arm)
        if self.importer.last_step is not None and not needs.series:
            mistake = f"arm '{arm}' says at which step a series is complete, and no measurement "
            expected = "a measurement with `reduce`"
            advice = "add `reduce: last` to the measurement, or leave `complete` out"
            yield ("import", "complete"), (f"{mistake}has one", expected, advice)

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


def _idle_fields(importer: Importer, needs: Needs, arm: str) -> Iterator[tuple[Steps, Words]]:
    """Fields of units and sources that the claim does not declare, and duplicates that are none."""
    if importer.unit is not None and needs.unit in (None, "seed"):
        mistake = f"arm '{arm}' says which field is the unit, and the claim "
        mistake += "has none" if needs.unit is None else "takes the seed for it"
        expected, advice = "`seeds: {unit: NAME}`, which is not seed", "add it, or remove this"
        yield ("import", "unit"), (mistake, expected, advice)
    known = [each for each in needs.sources if each != "seed"]
    for name in importer.sources:
        if name not in known:
            mistake = f"'{short(name)}' is no source of variation of the claim"
            advice = choose(name, known) if known else "add `sources` to `seeds`, or remove this"
            yield ("import", "sources", name), (mistake, listed(known) or "none", advice)
    if importer.duplicates is not None and needs.unit == "seed":
        mistake = f"runs of arm '{arm}' with one seed are evaluations of it, which are averaged"
        advice = "leave `duplicates` out, or `unit`"
        yield ("import", "duplicates"), (mistake, "runs of which all count", advice)


class _Lost(NamedTuple):
    """A run that has no value, and why, where that has to be said."""

    state: RunState
    why: str = ""


@dataclass(slots=True)
class _Reading:
    """The runs of one arm, as they are read."""

    arm: str
    importer: Importer
    schema: TableSchema
    values: dict[SeedKey, dict[str, float]] = field(default_factory=dict)
    lost: dict[SeedKey, _Lost] = field(default_factory=dict)
    taken: dict[SeedKey, tuple[str, float | None]] = field(default_factory=dict)
    """The place and the time of the run of each seed."""
    places: set[str] = field(default_factory=set)
    """Those of all runs that are there, of whichever arm."""
    replaced: set[str] = field(default_factory=set)
    known: Counter[str] = field(default_factory=Counter)
    """The fields of all runs, and of how many."""
    without: dict[SeedKey, dict[str, _Lost]] = field(default_factory=dict)
    """Numbers that a run does not have and its arm need not: none of its runs may have them."""
    drawn: dict[SeedKey, tuple[str, ...]] = field(default_factory=dict)
    """What was drawn for each run, by the sources of variation."""
    evaluations: Counter[SeedKey] = field(default_factory=Counter)
    """How many runs each seed has had so far, where those are evaluations of it."""
    percent: dict[str, bool] = field(default_factory=dict)
    """Whether a number has a percent sign, which holds for all runs."""

    def take(self, run: FoundRun) -> None:
        """A run that is there: of this arm, or of another."""
        self.known.update(run.fields.keys())
        self.places.add(run.place)
        missing = object()
        fields = (
            (run.fields.get(key, missing), asked) for key, asked in self.importer.where.items()
        )
        if not all(found is not missing and same(found, asked) for found, asked in fields):
            return
        seed = self._run(run)
        if seed in self.taken:
            if not self._later(run, seed):
                self.replaced.add(run.place)
                return
            self.replaced.add(self.taken[seed][0])
        self.taken[seed] = (run.place, run.when)
        self.values.pop(seed, None)
        self.lost.pop(seed, None)
        if run.state == "finished":
            self._measure(run, seed)
        elif run.state == "running":
            self.lost[seed] = _Lost("missing", "not ended, or killed")
        else:
            self.lost[seed] = _Lost("diverged")

    def _later(self, run: FoundRun, seed: SeedKey) -> bool:
        """Whether a run came after the one that has its seed: by their times, else by order."""
        place, when = self.taken[seed]
        if self.importer.duplicates is None:
            raise self._refused(
                f"two runs have seed {seed}: {place} and {run.place}",
                "one run for each seed",
                "narrow `where`, or write `duplicates: last` to take the later one",
            )
        return run.when is None or when is None or run.when >= when

    def _run(self, run: FoundRun) -> SeedKey:
        """What tells a run from others: its seed, its task, and its unit where there are units."""
        seed = self._whole(run, self.importer.seed, "seed")
        task = "" if self.importer.task is None else self._task(run, self.importer.task)
        key: SeedKey = TaskSeed(task, seed) if task else seed
        if self.schema.unit is None:
            return key
        if self.schema.unit == "seed":
            self.evaluations[key] += 1
            return Evaluation(task, seed, self.evaluations[key])
        unit = self.importer.unit or self.importer.field_of(self.schema.unit)
        return Evaluation(task, self._whole(run, unit, "unit"), seed)

    def _task(self, run: FoundRun, field_: str) -> str:
        task = str(self._field(run, field_, "task"))
        if task not in self.schema.tasks:
            raise self._refused(
                f"{run.place}: the claim has no task '{short(task)}'",
                listed(self.schema.tasks),
                choose(task, self.schema.tasks),
            )
        return task

    def _field(self, run: FoundRun, key: str, whose: str, source: str = "") -> Any:
        """What is said of a run under a key; ``source`` is a source of variation."""
        if key not in run.fields:
            known = sorted(self.known)
            guess = next((each for each in known if _ending(each) == _ending(key)), None)
            guess = guess or closest(key, known) or "..."
            advice = f"sources: {{{source}: {guess}}}" if source else f"{whose}: {guess}"
            raise self._refused(
                f"{run.place} has no field '{short(key)}' for its {whose}",
                ", ".join(known[:30]) or "fields",
                f"name the field: `{advice}`",
            )
        return run.fields[key]

    def _whole(self, run: FoundRun, key: str, whose: str) -> int:
        """The number of a seed, or of a unit."""
        text = str(self._field(run, key, whose))
        found = seed_in(text)
        if found is None:
            what = f"{run.place}: the {whose} '{short(text)}' is no whole number"
            raise self._refused(what, "a number of a replicate", f"name the field of the {whose}")
        return found

    def _drawn(self, run: FoundRun) -> tuple[str, ...]:
        """What was drawn for a run, source by source."""
        found = []
        for source in self.schema.sources:
            key = self.importer.field_of(source)
            if source == self.schema.unit and self.importer.unit is not None:
                key = self.importer.unit
            value = self._field(run, key, f"source '{source}'", source)
            if value is None or not str(value).strip():
                what = f"{run.place}: the field '{short(key)}' of its source '{source}' is empty"
                raise self._refused(what, "what was drawn for the run", "write it")
            found.append(str(value).strip())
        return tuple(found)

    def _measure(self, run: FoundRun, seed: SeedKey) -> None:
        """Its values; what diverged in one of them has diverged, whatever else is missing."""
        found = {name: self._value(run, name) for name in self.schema.measurements}
        lost = {name: each for name, each in found.items() if isinstance(each, _Lost)}
        needed = self.schema.needed.get(self.arm, ())
        spared = {n: x for n, x in lost.items() if n not in needed and x.state == "missing"}
        counted = [each for name, each in lost.items() if name not in spared]
        if counted or len(spared) == len(found):
            diverged = (each for each in counted if each.state == "diverged")
            self.lost[seed] = next(diverged, (counted or [*spared.values()])[0])
            return
        self.without[seed] = spared
        self.drawn[seed] = self._drawn(run)
        self.values[seed] = {n: x for n, x in found.items() if not isinstance(x, _Lost)}

    def _value(self, run: FoundRun, name: str) -> float | _Lost:
        """A number that is not finite is a divergence, none at all is a missing run."""
        spec: MeasurementSpec | None = self.schema.specs.get(name)
        key = getattr(spec, "from_", None) or name
        reduction = getattr(spec, "reduce", None)
        having = [row for row in run.rows if key in row]
        ended = self._ended_early(run, key, having) if reduction is not None else ""
        if ended:
            return _Lost("diverged", ended)
        if not having:
            return _Lost("missing", _unknown(key, run.rows))
        if any(row[key] is None for row in having):
            return _Lost("diverged")
        try:
            value, _ = chosen(run.rows, key, reduction)
        except NoSuchRowError:
            return _Lost("missing", _no_row(reduction, run.rows))
        except NotFiniteError:
            return _Lost("diverged")
        except DataError as error:
            raise DataError(f"arm {self.arm}, {run.place}: {error}") from error
        if self.percent.setdefault(name, isinstance(value, Percent)) != isinstance(value, Percent):
            mistake = (
                f"{run.place}: {short(key)} has a percent sign in some runs, and in others none"
            )
            raise self._refused(mistake, "one unit", "write all of them with it, or none")
        found = value_of(repr(float(value)), spec)
        if isinstance(found, float):
            return found
        mistake, expected, advice = found
        raise self._refused(f"{run.place}: {short(key)}: {mistake}", expected, advice)

    def _ended_early(self, run: FoundRun, key: str, having: Sequence[Row]) -> str:
        """Where a series ended that is not complete; of a run without a value, where that ended."""
        if self.importer.last_step is None:
            return ""
        name, needed = self.importer.last_step
        steps = [step for row in having or run.rows if (step := row.get(name)) is not None]
        if having and not steps:
            raise self._refused(
                f"{run.place}: no number '{short(name)}' stands beside '{short(key)}'",
                ", ".join(sorted({other for row in having for other in row} - {key})) or "a step",
                "name what counts the steps in `complete`, or leave it out",
            )
        if not steps or max(steps) >= needed:
            return ""
        what = f"'{short(key)}'" if having else "the run"
        return f"{what} ends at {short(name)} {max(steps):g}, and `complete` says {needed:g}"

    def table(self, digests: FilesRead) -> TidyTable:
        """The values, and what is said of where they are from."""
        if not self.taken:
            asked = ", ".join(f"{key}: {value}" for key, value in self.importer.where.items())
            known = ", ".join(sorted(self.known)[:30]) or "none"
            raise self._refused(
                f"none of {len(self.places):,} runs that are there is of this arm ({asked})",
                f"runs with these fields: {known}",
                "check `where` and `path`",
            )
        self._lose_what_other_runs_have()
        runs = RunsThere(
            found=frozenset(self.places),
            used=frozenset(place for place, _ in self.taken.values()),
            replaced=frozenset(self.replaced | digests.replaced),
            deleted=frozenset(digests.deleted),
        )
        files = tuple(sorted(digests.files.items()))
        kept = files if len(files) <= MOST_DIGESTS else ()
        source = TableSource(str(self.importer.path), digests.together, runs=runs, files=kept)
        values = {seed: self.values[seed] for seed in sorted(self.values, key=in_order)}
        lost = {seed: each.state for seed, each in self.lost.items()}
        why = {seed: each.why for seed, each in self.lost.items() if each.why}
        rows = {self.arm: by_source(values, self.drawn)}
        return TidyTable(
            source, {self.arm: values}, {self.arm: lost}, sourced=rows, why={self.arm: why}
        )

    def _lose_what_other_runs_have(self) -> None:
        """A run is missing where it has no value of a measurement that another of its arm has."""
        there = {name for values in self.values.values() for name in values}
        for seed in list(self.values):
            missing = [each for name, each in self.without[seed].items() if name in there]
            if missing:
                del self.values[seed]
                self.lost[seed] = missing[0]

    def _refused(self, mistake: str, expected: str, advice: str) -> DataError:
        return DataError(f"arm {self.arm}: {mistake}\n  expected: {expected}\n  to do: {advice}")


def _ending(key: str) -> str:
    """The name that trackers put a word before: `seed` of `params.seed`."""
    return key.rpartition(".")[2]


def _unknown(key: str, rows: Sequence[Row]) -> str:
    """That there is no number of a name, and which names there are."""
    names = sorted({name for row in rows for name in row})
    if not names:
        return "no numbers at all"
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"no number '{short(key)}', there are {', '.join(map(short, names[:NAMED]))}{more}"


def _no_row(reduction: Any, rows: Sequence[Row]) -> str:
    """Why no row is the one that a reduction chooses."""
    if not isinstance(reduction, AtRow):
        return ""
    ((key, value),) = reduction.at.items()
    if not any(key in row for row in rows):
        return _unknown(key, rows)
    return f"no row in which '{short(key)}' is {value:g}"
