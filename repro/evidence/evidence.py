"""What is known about the arms of a claim, whichever way it is known."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from repro.errors import ClaimError
from repro.results.readings import RunState, short
from repro.schema import numbers as fmt
from repro.schema.base import Count, PrintedSize, Spec
from repro.stats.records import Order, Sample, Scored, Summary

if TYPE_CHECKING:
    import pandas as pd


class TaskSeed(NamedTuple):
    """A seed of one task, in a table whose rows are of several."""

    task: str
    seed: int

    def __str__(self) -> str:
        return f"{self.seed} of task '{short(self.task)}'"


class Evaluation(NamedTuple):
    """One of several evaluations of a unit, such as a training run; ``task`` is empty for none."""

    task: str
    unit: int
    number: int

    @property
    def key(self) -> int | TaskSeed:
        """What the unit is known by among the others of its arm."""
        return TaskSeed(self.task, self.unit) if self.task else self.unit

    def __str__(self) -> str:
        return f"{self.number} of unit {self.key}"


SeedKey: TypeAlias = int | TaskSeed | Evaluation


def in_order(key: SeedKey) -> tuple[str, int, int]:
    """The place of a run among those of its arm: by task, by seed or unit, by evaluation."""
    if isinstance(key, Evaluation):
        return key.task, key.unit, key.number
    return (key.task, key.seed, 0) if isinstance(key, TaskSeed) else ("", key, 0)


def unit_of(key: SeedKey) -> SeedKey:
    """What a row counts as: the unit of an evaluation, else the run itself."""
    return key.key if isinstance(key, Evaluation) else key


State = Literal["finished", "diverged", "imputed", "excluded", "missing", "stale", "damaged"]
"""``imputed``: diverged, and counted as worse than any; ``excluded``: its pair diverged."""


@dataclass(frozen=True, slots=True)
class Replicate:
    """One replicate: values and details by the claim's names for its measurements.

    ``number`` is that of a planned run, or the seed of a table, whose ``key`` is empty.
    ``schedule`` is the validation perplexity after each epoch of a run, ``tokens`` how many it
    was trained on in each; ``without_weights``: it was exported without its weights and spectra.
    ``edited`` are the files of its program that were edited since, where that makes it stale.
    ``task`` is that of its values, where the arms have runs of several.
    """

    number: int
    key: str
    state: State
    values: Mapping[str, float]
    details: Mapping[str, Mapping[str, Any]]
    provenance: Mapping[str, Any]
    problem: str = ""
    schedule: tuple[float, ...] = ()
    tokens: tuple[int, ...] = ()
    without_weights: bool = False
    edited: tuple[str, ...] = ()
    task: str = ""


@dataclass(frozen=True, slots=True)
class RunsThere:
    """The runs that are at a place, by their names there.

    ``used`` are those that count for some arm, finished or not. ``replaced``: a later run has their
    seed, and is used in their place. ``deleted``: the tracker keeps them as deleted.
    """

    found: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
    replaced: frozenset[str] = frozenset()
    deleted: frozenset[str] = frozenset()

    def __or__(self, other: RunsThere) -> RunsThere:
        """What two arms found at one place."""
        return RunsThere(
            self.found | other.found,
            self.used | other.used,
            self.replaced | other.replaced,
            self.deleted | other.deleted,
        )

    @property
    def said(self) -> str:
        """`18 runs are there: 10 used, 8 of no arm`; empty where all are used."""
        replaced = self.replaced - self.used
        deleted = self.deleted - replaced - self.used
        others = self.found - self.used - replaced - deleted
        if not (replaced or deleted or others):
            return ""
        counts = (
            (self.used, "used"),
            (replaced, "replaced by a later one of their seed"),
            (deleted, "deleted"),
            (others, "of no arm"),
        )
        there = sum(len(those) for those, _ in counts)
        parts = [f"{len(those):,} {what}" for those, what in counts if those]
        return f"{there:,} runs are there: {', '.join(parts)}"


@dataclass(frozen=True, slots=True)
class TableSource:
    """What an arm's values were read from: its name, and the SHA-256 of its text.

    ``order`` is the column that says in which order its replicates came, where one is declared;
    ``ignored`` names the columns and measurements that were left unread. ``label`` is what a
    report calls the source that read it, and ``averaged`` says which rows were averaged, if any.
    ``runs`` are those that an import found; ``files`` the SHA-256 of each file that it read, by
    path, of which ``sha256`` is the digest of all together.
    """

    file: str
    sha256: str
    order: str | None = None
    ignored: tuple[str, ...] = ()
    label: str = "table"
    averaged: str = ""
    runs: RunsThere | None = field(default=None, compare=False)
    files: tuple[tuple[str, str], ...] = ()


Values = Mapping[str, Mapping[Any, Mapping[str, float]]]
"""arm -> seed (an int, or a TaskSeed) -> measurement -> value; seeds in order."""


Sourced = tuple[tuple[tuple[str, ...], Any, Mapping[str, float]], ...]
"""One entry a row of a table: its level of each source of variation, its unit, and its values."""


@dataclass(frozen=True, slots=True)
class TidyTable:
    """The values of a table, and what it is.

    ``lost`` are the seeds without a value, and why; ``order`` the seeds of each arm as they came,
    where the table has a column that says so. Where its runs are of several tasks, a seed is one of
    a task. ``sourced`` are the rows of each arm by their sources, before any are averaged. ``why``
    says of lost seeds why they are, where more is known than that.
    """

    source: TableSource
    values: Values
    lost: Mapping[str, Mapping[Any, RunState]] = field(default_factory=dict)
    order: Mapping[str, tuple[SeedKey, ...]] = field(default_factory=dict)
    sourced: Mapping[str, Sourced] = field(default_factory=dict)
    why: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)

    def seeds(self, arm: str) -> tuple[SeedKey, ...]:
        """All seeds of an arm: as they came, else by number."""
        known = {**self.values.get(arm, {}), **self.lost.get(arm, {})}
        return self.order.get(arm) or tuple(sorted(known, key=in_order))


def by_source(
    values: Mapping[Any, Mapping[str, float]], drawn: Mapping[Any, tuple[str, ...]]
) -> Sourced:
    """The rows of an arm by what was drawn for each seed."""
    return tuple((drawn[seed], unit_of(seed), row) for seed, row in values.items())


class PublishedArm(Spec):
    """Printed numbers of one arm, as strings."""

    mean: PrintedSize
    sd: PrintedSize | None = None
    n: Count | None = None

    def summary(self, arm: str) -> Summary:
        """As a summary; ClaimError where the number of seeds is not printed."""
        if self.n is None:
            raise ClaimError(f"the number of seeds behind the printed mean of '{arm}' is not known")
        return Summary(self.n, float(self.mean), None if self.sd is None else float(self.sd))


@dataclass(frozen=True, slots=True)
class Evidence:
    """All replicates of all arms, as found; of a published arm, its printed numbers.

    ``tables`` names the table of each arm whose values come from one, ``sourced`` has its rows by
    their sources of variation, where the claim declares any, and ``items`` by item and cluster.
    """

    arms: Mapping[str, tuple[Replicate, ...]]
    published: Mapping[str, Mapping[str, PublishedArm]] = field(default_factory=dict)
    tables: Mapping[str, TableSource] = field(default_factory=dict)
    sourced: Mapping[str, Sourced] = field(default_factory=dict)
    items: Mapping[str, Sourced] = field(default_factory=dict)

    def finished(self, arm: str) -> tuple[Replicate, ...]:
        """The replicates of ``arm`` that were measured and count; none of a published arm."""
        return tuple(each for each in self.arms[arm] if each.state == "finished")

    def counted(self, arm: str) -> tuple[Replicate, ...]:
        """The replicates that a sample has: the finished ones, and those that were imputed."""
        return tuple(each for each in self.arms[arm] if each.state in ("finished", "imputed"))

    def order(self, arm: str) -> Order:
        """What tells in which order the replicates of ``arm`` came.

        The runs of the store are trained in the order of their numbers. The seeds of a table are
        names: whoever numbers them by their values decides what the first of them show.
        """
        if arm not in self.tables:
            return "numbers"
        return "unknown" if self.tables[arm].order is None else "declared"

    def keys(self, *states: State) -> set[str]:
        """The keys of the runs that are in one of these states."""
        every = (each for replicates in self.arms.values() for each in replicates)
        return {each.key for each in every if each.key and each.state in states}

    def known(self, arm: str) -> bool:
        """Whether anything is known that a test could use."""
        return bool(self.published.get(arm) or self.counted(arm))

    def sample(self, arm: str, measurement: str) -> Sample:
        """One value per replicate that counts; ClaimError when there is none, or only a summary."""
        if arm in self.published:
            message = f"only printed numbers of '{arm}' are known, not the value of every seed"
            raise ClaimError(message)
        counted = self.counted(arm)
        if not all(measurement in each.values for each in counted):
            raise ClaimError(f"there are no values of '{measurement}' for arm '{arm}'")
        sample = _sample(counted, [each.values[measurement] for each in counted])
        return replace(sample, order=self.order(arm), parts=self._parts(arm, measurement, sample))

    def _parts(self, arm: str, measurement: str, sample: Sample) -> tuple[Scored, ...]:
        """The items that the values of a sample are means of; none where they are not known."""
        counted = {*sample.replicates}
        return tuple(
            Scored(item, "".join(cluster), key, values[measurement])
            for (item, *cluster), unit, values in self.items.get(arm, ())
            if measurement in values and (key := in_order(unit)[1]) in counted
        )

    def read(self, arm: str, measurement: str) -> Sample | Summary:
        """The sample of an arm, or the summary that is printed of it; ClaimError for neither."""
        if arm not in self.published:
            return self.sample(arm, measurement)
        printed = self.published[arm].get(measurement)
        if printed is None:
            raise ClaimError(f"no '{measurement}' of '{arm}' is printed")
        return printed.summary(arm)

    def detailed(self, arm: str, measurement: str, name: str = "") -> bool:
        """Whether details, or the one of this ``name``, are known for every value.

        Runs have them, tables do not.
        """
        known = [each.details.get(measurement) for each in self.counted(arm)]
        return bool(known) and all(each and (not name or name in each) for each in known)

    def detail(self, arm: str, measurement: str, name: str) -> Sample:
        """As ``sample``, for a number among the details of a measurement."""
        if not self.detailed(arm, measurement):
            raise ClaimError(f"only runs have details of '{measurement}', and '{arm}' has none")
        counted = self.counted(arm)
        return _sample(counted, [float(each.details[measurement][name]) for each in counted])

    def at_epoch(self, arm: str, share: float) -> Sample:
        """The validation perplexity of each replicate after a share of its epochs.

        ClaimError where some replicate has no history.
        """
        counted = self.counted(arm)
        if not counted or not all(each.schedule for each in counted):
            raise ClaimError(f"only runs have a history of their epochs, and '{arm}' has none")
        values = [each.schedule[math.ceil(share * len(each.schedule)) - 1] for each in counted]
        return _sample(counted, values)

    def tasks(self, arm: str) -> tuple[str, ...]:
        """The tasks of its replicates, in order; one without a name where it has no tasks."""
        return tuple(dict.fromkeys(each.task for each in self.arms[arm]))

    def without_task(self, task: str) -> Evidence:
        """The evidence without the replicates of one task, in every arm."""
        arms = {
            arm: tuple(each for each in replicates if each.task != task)
            for arm, replicates in self.arms.items()
        }
        return replace(self, arms=arms)

    def without(self, arm: str, number: int) -> Evidence:
        """The evidence with one replicate of one arm left out."""
        kept = tuple(each for each in self.arms[arm] if each.number != number)
        return replace(self, arms={**self.arms, arm: kept})

    def table(self) -> pd.DataFrame:
        """The tidy table: columns arm, seed, measurement, value, and task where there are tasks.

        Where some replicate is not finished there is a column ``state`` as well, in the words that
        a table may use; the value of one that diverged is NaN.
        """
        import pandas as pd  # noqa: PLC0415 - judging does without it, and it is slow to import

        replicates = [(arm, each) for arm, replicates in self.arms.items() for each in replicates]
        rows = [
            (
                *(arm, each.task, each.number, name),
                math.nan if each.state == "imputed" else value,
                each.state,
            )
            for arm, each in replicates
            for name, value in each.values.items()
        ]
        names = dict.fromkeys(row[3] for row in rows)
        rows += [
            (arm, each.task, each.number, name, math.nan, each.state)
            for arm, each in replicates
            if each.state == "diverged"
            for name in names
        ]
        columns = ["arm", "task", "seed", "measurement", "value", "state"]
        frame = pd.DataFrame(rows, columns=columns)
        if not any(each.task for _, each in replicates):
            frame = frame.drop(columns="task")
        words = dict.fromkeys(("missing", "stale", "damaged"), "running")
        words |= {"excluded": "finished", "imputed": "diverged"}
        frame["state"] = frame["state"].replace(words)
        return frame if (frame["state"] != "finished").any() else frame.drop(columns="state")


def _sample(counted: Iterable[Replicate], values: Iterable[float]) -> Sample:
    """A value of each replicate that counts; those that were imputed diverged."""
    replicates = tuple(counted)
    tasks = tuple(each.task for each in replicates)
    return Sample(
        tuple(values),
        tuple(each.number for each in replicates),
        tuple(each.number for each in replicates if each.state == "imputed"),
        tasks=tasks if any(tasks) else (),
    )


SeedValues = Mapping[SeedKey, Mapping[str, float]]
Keys = tuple[SeedKey, ...]


UNITS = ("evaluation", "unit")
"""What an evaluation and a unit are called, where a claim does not say."""


def averaged(
    tables: Mapping[str, TidyTable],
    unit: str,
    *,
    uneven: bool = False,
    words: tuple[str, str] = UNITS,
) -> dict[str, TidyTable]:
    """The table of each arm, with one value per unit; ``unit`` is what numbers the units.

    Several evaluations of one training run are not replicates: counted as such, they would make any
    difference between two runs look certain.

    A unit of which one evaluation diverged has diverged. One that has fewer evaluations than
    another, of any arm and the same task, is missing, unless they may be ``uneven``: a mean of
    those that are there would drop the others silently. ``words`` are what an evaluation and a
    unit are called.
    """
    groups = {arm: _grouped(table.values.get(arm, {})) for arm, table in tables.items()}
    lost = {arm: _lost(table.lost.get(arm, {})) for arm, table in tables.items()}
    short = {} if uneven else _short(groups, lost)
    for arm, keys in short.items():
        lost[arm] |= dict.fromkeys(keys, "missing")
    found = {}
    for arm, table in tables.items():
        values = {key: _mean(rows) for key, rows in groups[arm].items() if key not in lost[arm]}
        arms = [other for other, each in tables.items() if each.source.file == table.source.file]
        counts = [len(rows) for other in arms for rows in groups[other].values()]
        fewer = sum(len(short.get(other, ())) for other in arms)
        said = _said(unit, table.source, counts, fewer, words)
        why = {unit_of(key): text for key, text in table.why.get(arm, {}).items()}
        found[arm] = replace(
            table,
            source=replace(table.source, averaged=said),
            values={arm: values},
            lost={arm: lost[arm]},
            order={},
            why={arm: why},
        )
    return found


Groups = Mapping[str, Mapping[SeedKey, list[Mapping[str, float]]]]
"""arm -> unit -> its rows."""


def _short(groups: Groups, lost: Mapping[str, Mapping[SeedKey, RunState]]) -> dict[str, Keys]:
    """The units of each arm that have fewer evaluations than another unit of their task."""
    most: dict[str, int] = {}
    for units in groups.values():
        for key, rows in units.items():
            task = in_order(key)[0]
            most[task] = max(most.get(task, 0), len(rows))
    return {
        arm: tuple(
            key
            for key, rows in units.items()
            if key not in lost[arm] and len(rows) < most[in_order(key)[0]]
        )
        for arm, units in groups.items()
    }


def _grouped(rows: SeedValues) -> dict[SeedKey, list[Mapping[str, float]]]:
    groups: dict[SeedKey, list[Mapping[str, float]]] = {}
    for key, values in rows.items():
        groups.setdefault(unit_of(key), []).append(values)
    return groups


def _mean(rows: list[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for row in rows for name in row)
    having = {name: [row[name] for row in rows if name in row] for name in names}
    return {name: fsum(values) / len(values) for name, values in having.items()}


def _lost(rows: Mapping[SeedKey, RunState]) -> dict[SeedKey, RunState]:
    found: dict[SeedKey, RunState] = {}
    for key, state in rows.items():
        unit = unit_of(key)
        found[unit] = "diverged" if "diverged" in (state, found.get(unit)) else state
    return found


def _said(
    unit: str, source: TableSource, counts: Sequence[int], short: int, words: tuple[str, str]
) -> str:
    """`column 'run', 4 evaluations per unit, 10 units`: what was averaged, and what was not."""
    by = f"{'column' if source.runs is None else 'field'} '{unit}', "
    if words != UNITS:  # such as answers to items
        by = ""
    if not counts:
        return by.removesuffix(", ")
    many = fmt.span(fmt.count(min(counts)), fmt.count(max(counts)))
    word = words[0] if max(counts) == 1 else f"{words[0]}s"
    said = f"{by}{many} {word} per {words[1]}, {fmt.number_of(len(counts), words[1])}"
    if not short:
        return said
    are = "1 of them has fewer than others, and is missing"
    if short > 1:
        are = f"{fmt.count(short)} of them have fewer than others, and are missing"
    return f"{said}; {are}"
