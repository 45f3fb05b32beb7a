"""What is said of the rows that were read, a line for each guess."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from repro.results.forms import FoundRun, named
from repro.results.roles import role_of
from repro.results.row_units import Rows
from repro.results.run_fields import Hints
from repro.results.run_values import Columns


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
