"""The value of each run, by arm: of a series the last one, and none where a run was lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from typing import Literal

from repro.results.forms import FoundRun
from repro.results.roles import whole
from repro.results.run_fields import seed_of, task_of
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
