"""Which field of a run says its task, and which tasks can be compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path

from repro.drafting.run_fields import number_like
from repro.drafting.run_words import TASKS, last_part, named, refused
from repro.evidence.imports.importer import FoundRun
from repro.schema.messages import choose

SUBTASKS = "group_subtasks."
"""What lm-eval says of a group: its number is made of those of its tasks."""


def task_field(
    path: Path, runs: Sequence[FoundRun], arms: Sequence[str], told: Collection[str], *, seeds: bool
) -> str:
    """The field of the task, where the runs are of several; empty where they are of one.

    ``told`` are the fields that say something else. ClaimError where no seeds are named and a text
    of another name has the same values in every arm: such runs are no replicates.
    """
    keys = dict.fromkeys(key for run in runs for key in run.fields)
    for key in (key for key in keys if key not in told):
        by_arm: dict[str, dict[str, None]] = defaultdict(dict)
        for arm, run in zip(arms, runs, strict=True):
            if isinstance(value := run.fields.get(key), str | int | float | bool) and value != "":
                by_arm[arm][str(value)] = None
        values = dict.fromkeys(value for found in by_arm.values() for value in found)
        if len(values) > 1 and last_part(key) in TASKS:
            return key
        sets = {frozenset(found) for found in by_arm.values()}
        recurring = len(sets) == 1 and len(values) > 1 and len(by_arm) == len(set(arms))
        if recurring and not seeds and not number_like(runs, key):
            mistake = f"no seeds are named, and '{key}' is the same in every arm: {named(values)}"
            advice = "add a column `seed`, or leave that column out if the rows are seeds"
            raise refused(path, mistake, "runs that differ by their seed alone", advice)
    return ""


def field_of_task(path: Path, runs: Sequence[FoundRun], task: str) -> tuple[str, str]:
    """The field of the task that is asked for, and how its value is written there.

    ClaimError where no field of such a name has that value.
    """
    keys = dict.fromkeys(key for run in runs for key in run.fields if last_part(key) in TASKS)
    values = {
        str(value): key
        for key in keys
        for run in runs
        if (value := run.fields.get(key)) is not None
    }
    if task in values:
        return values[task], task
    expected = named(values) or f"a field such as {', '.join(TASKS[:3])}"
    raise refused(path, f"there is no task '{task}'", expected, choose(task, list(values)))


def tasks_left_out(runs: Sequence[FoundRun], task: str, measure: str) -> dict[str, str]:
    """The tasks that cannot be among those that are compared, and why not."""
    if not task:
        return {}
    having = {task_of(run, task) for run in runs if any(measure in row for row in run.rows)}
    there = {task_of(run, task): run for run in runs}
    lost = {name: f"without '{measure}'" for name in there if name not in having}
    groups = (name for name, run in there.items() if run.fields.get(f"{SUBTASKS}{name}"))
    return lost | {name: "groups of other tasks" for name in groups if name not in lost}


def task_of(run: FoundRun, task: str) -> str:
    """The task of a run; empty where ``task`` names no field."""
    return str(run.fields.get(task, "")).strip() if task else ""
