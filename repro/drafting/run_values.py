"""The value of each run, by arm: of a series the last one, and none where a run was lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from repro.drafting.run_fields import seed_of, task_of
from repro.evidence.imports.importer import FoundRun
from repro.series import chosen


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

    What is empty is not there: runs without seeds are numbered as they come.
    """

    seed: str
    task: str
    measure: str
    reduce: str


def values_of(
    path: Path, arms: Sequence[str], runs: Sequence[FoundRun], columns: Columns
) -> dict[str, list[FoundValue]]:
    """The runs of each arm."""
    found: dict[str, list[FoundValue]] = defaultdict(list)
    measure = columns.measure
    for arm, run in zip(arms, runs, strict=True):
        of = task_of(run, columns.task)
        so_far = sum(each.task == of for each in found[arm])
        number = seed_of(path, run, columns.seed) if columns.seed else so_far
        having = [row[measure] for row in run.rows if measure in row]
        missing = run.state == "running" or (run.state == "finished" and not having)
        lost = missing or run.state == "failed" or None in having
        reduction: Literal["last"] | None = "last" if columns.reduce else None
        value = None if lost else chosen(run.rows, measure, reduction)[0]
        found[arm].append(FoundValue(number, value, missing, of))
    return dict(found)


def several_of(runs: Mapping[str, Sequence[FoundValue]]) -> list[str]:
    """The arms in which a seed is there twice, in one task."""
    return [
        arm for arm, each in runs.items() if len({(run.task, run.seed) for run in each}) < len(each)
    ]
