"""The steps of runs: which rows are those of a series, and where runs end."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from repro.errors import printable
from repro.results.forms import FoundRun, RunEnd, named, refused
from repro.results.roles import counts_steps, role_of
from repro.results.row_units import Rows
from repro.results.run_fields import number_like, task_of
from repro.schema.numbers import number_of

WORST_FIRST: tuple[RunEnd, ...] = ("failed", "running", "finished")


def step_field(rows: Rows, told: Collection[str]) -> str:
    """The field that counts the steps of each run, where the rows are those of series."""
    if rows.told_apart():
        return ""
    steps = [key for key in rows.keys(told) if role_of(key) == "step"]
    return next((key for key in steps if number_like(rows.runs, key) and rows.told_apart(key)), "")


def unlike_steps(rows: Rows, told: Collection[str]) -> dict[str, str]:
    """What is said of the arms whose runs of one task end at different steps, by arm."""
    doubts = {}
    for key in rows.keys(told):
        if not counts_steps(key) or not number_like(rows.runs, key):
            continue
        ends: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for arm, run in zip(rows.arms, rows.runs, strict=True):
            ends[arm, task_of(run, rows.task)][str(run.fields[key]).strip()] += 1
        for (arm, _), counts in ends.items():
            if len(counts) > 1 and arm not in doubts:
                said = [f"{step} in {number_of(count, 'run')}" for step, count in counts.items()]
                doubts[arm] = (
                    f"'{printable(arm[:100])}' is not one program, unless that stops by a rule: "
                    f"its runs end at different '{key}', {named(said)}"
                )
    return doubts


def field_of_step(path: Path, runs: Sequence[FoundRun], step: int) -> tuple[str, str]:
    """The field that counts steps, and how the step that is asked for is written there.

    ClaimError without one such field, or without the step in it.
    """
    every = dict.fromkeys(key for run in runs for key in run.fields)
    keys = [key for key in every if counts_steps(key) and number_like(runs, key)]
    if len(keys) != 1:
        mistake = f"--step: {named(keys) or 'no field'} counts the steps of all rows"
        mistake = f"--step: several fields count steps, {named(keys)}" if keys else mistake
        advice = "leave out --step: of a series the last value counts"
        raise refused(path, mistake, "one field such as step or epoch", advice)
    values = {float(run.fields[keys[0]]): str(run.fields[keys[0]]) for run in runs}
    if step in values:
        return keys[0], values[step]
    mistake, advice = f"no row has '{keys[0]}' {step}", "name a step that is there"
    raise refused(path, mistake, named([*values.values()]), advice)


def in_series(rows: Rows, step: str) -> Rows:
    """A run for all rows that have its arm, task and seed, in the order of their steps."""
    groups: dict[tuple[str, ...], list[tuple[str, FoundRun]]] = defaultdict(list)
    for place, arm, run in zip(rows.places(), rows.arms, rows.runs, strict=True):
        groups[place].append((arm, run))
    arms, runs = [], []
    for group in groups.values():
        ordered = sorted((run for _, run in group), key=lambda run: float(run.fields[step]))
        state = min((run.state for run in ordered), key=WORST_FIRST.index)
        every = [row for run in ordered for row in run.rows]
        arms.append(group[0][0])
        runs.append(replace(ordered[-1], rows=every, state=state))
    return replace(rows, arms=arms, runs=runs)
