"""The value of each run, by arm, and a line for each guess on the way to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from typing import Literal, NamedTuple

from repro.results.forms import FoundRun, named
from repro.results.roles import role_of, whole
from repro.results.row_units import Rows
from repro.results.run_fields import Hints, seed_of, task_of
from repro.results.series import chosen


@dataclass(frozen=True, slots=True)
class FoundValue:
    """One run of an arm; without a value it diverged, or is ``missing`` one.

    ``task`` is what it was made on, where the runs are of several.
    """

    seed: int
    value: float | None
    missing: bool = False
    task: str = ""


class ItemValue(NamedTuple):
    """What an arm came to on one item, in the run with a seed; ``cluster`` may be empty."""

    arm: str
    seed: int
    item: str
    cluster: str
    value: float


def answered_once(items: Iterable[ItemValue]) -> bool:
    """Whether items are right or wrong, in one run of each arm, and belong to no cluster."""
    rows = list(items)
    runs = {(row.arm, row.seed) for row in rows}
    plain = all(row.value in (0, 1) and not row.cluster for row in rows)
    return plain and len(runs) == len({arm for arm, _ in runs})


@dataclass(frozen=True, slots=True)
class Columns:
    """Which fields say seed and task, which number is compared, and how a series is reduced.

    What is empty is not there: runs without seeds are numbered as they come. ``unit``: the seed is
    that of a run of which there are several values.
    """

    seed: str
    task: str
    measure: str
    reduce: str
    unit: bool = False


def values_of(
    path: Path, arms: Sequence[str], runs: Sequence[FoundRun], columns: Columns
) -> dict[str, list[FoundValue]]:
    """The runs of each arm."""
    found: dict[str, list[FoundValue]] = defaultdict(list)
    measure = columns.measure
    units = _units(runs, columns) if columns.unit else {}
    for arm, run in zip(arms, runs, strict=True):
        of = task_of(run, columns.task)
        so_far = sum(each.task == of for each in found[arm])
        number = so_far
        if columns.seed:
            unit = units.get(str(run.fields.get(columns.seed)))
            number = seed_of(path, run, columns.seed) if unit is None else unit
        having = [row[measure] for row in run.rows if measure in row]
        missing = run.state == "running" or (run.state == "finished" and not having)
        lost = missing or run.state == "failed" or None in having
        reduction: Literal["last"] | None = "last" if columns.reduce else None
        value = None if lost else chosen(run.rows, measure, reduction)[0]
        found[arm].append(FoundValue(number, value, missing, of))
    return dict(found)


def _units(runs: Sequence[FoundRun], columns: Columns) -> dict[str, int]:
    """The number of each unit: its own, or where they have none, its place among all."""
    names = dict.fromkeys(str(run.fields.get(columns.seed)) for run in runs)
    if all(whole(name) is not None for name in names):
        return {}
    return {name: place for place, name in enumerate(names)}


def averaged(runs: Mapping[str, Sequence[FoundValue]]) -> dict[str, list[FoundValue]]:
    """A value per task and seed, the mean of all that are there.

    One of which a part diverged has diverged; one that has fewer parts than others
    of its task is missing.
    """
    groups: dict[str, dict[tuple[str, int], list[FoundValue]]] = {}
    for arm, each in runs.items():
        groups[arm] = defaultdict(list)
        for run in each:
            groups[arm][run.task, run.seed].append(run)
    most: dict[str, int] = defaultdict(int)
    for units in groups.values():
        for (task, _), parts in units.items():
            most[task] = max(most[task], len(parts))
    return {
        arm: [_mean(parts, complete=len(parts) == most[task]) for (task, _), parts in units.items()]
        for arm, units in groups.items()
    }


def _mean(parts: Sequence[FoundValue], *, complete: bool) -> FoundValue:
    values = [part.value for part in parts if part.value is not None]
    diverged = any(part.value is None and not part.missing for part in parts)
    whole_one = complete and len(values) == len(parts)
    value = fsum(values) / len(values) if whole_one else None
    return replace(parts[0], value=value, missing=value is None and not diverged)


def several_of(runs: Mapping[str, Sequence[FoundValue]]) -> list[str]:
    """The arms in which a seed is there twice, in one task."""
    return [
        arm for arm, each in runs.items() if len({(run.task, run.seed) for run in each}) < len(each)
    ]


def each_run(rows: Rows, hints: Hints) -> str:
    """What one run is, by what was read."""
    if hints.unit:
        return f"each the mean of the rows with one '{rows.seed}'"
    if not rows.seed:
        return "one per row, for no field says that rows are anything else"
    return "one per seed" if role_of(rows.seed) == "seed" else f"one per '{rows.seed}'"


def of_columns(rows: Rows, columns: Columns, lost: Mapping[str, str], step: str) -> Iterator[str]:
    """What is said of series, seeds and tasks; ``lost`` are tasks that are left out, and why."""
    if columns.reduce:
        yield last_values(rows.runs, columns.measure) + (f", by '{step}'" if step else "")
    if columns.unit:
        yield f"averaged: the rows of one run, by the field '{columns.seed}'"
    else:
        yield f"seeds by the field '{columns.seed}'" if columns.seed else NUMBERED
    if columns.task:
        yield f"tasks by the field '{columns.task}'"
    for why in dict.fromkeys(lost.values()):
        yield f"left out, {why}: {named([task for task in lost if lost[task] == why])}"


ORDER_UNSEEN = "and in which order they ran cannot be seen"
"""Without numbers of seeds, of values that follow each other only those of rows are seen."""

NUMBERED = f"no seeds are named: runs are numbered as they come, {ORDER_UNSEEN}"


def of_states(runs: Sequence[FoundRun], ended: Sequence[str]) -> list[str]:
    """What is said of the fields by which runs have ended."""
    lost = sum(run.state == "failed" for run in runs)
    going = sum(run.state == "running" for run in runs)
    if not ended:
        return []
    said = f"by the field {named([repr(key) for key in ended])} {lost} diverged or failed, "
    said += f"{going} are running"
    if lost and any(row for run in runs if run.state == "failed" for row in run.rows):
        said += "; if these ended after their last step, compare without that column"
    return [said]


def of_unread(runs: Sequence[FoundRun], told: set[str]) -> list[str]:
    """What is said of the columns that are not read."""
    names = dict.fromkeys(name for run in runs for name in run.fields if name not in told)
    return [f"left unread: {named(names)}"] if names else []


def last_values(runs: Sequence[FoundRun], measure: str) -> str:
    """What is said of a series, and of runs that have fewer values than others."""
    counts = sorted({sum(measure in row for row in run.rows) for run in runs})
    unequal = f" (of {counts[0]} to {counts[-1]} values)" if len(counts) > 1 else ""
    return f"the last value of each run{unequal}"
