"""The steps of runs: which rows are those of a series, and where runs end."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from repro.errors import printable
from repro.results.forms import FoundRun, RunEnd, named, refused
from repro.results.roles import counts_steps, role_of
from repro.results.row_units import Rows
from repro.results.run_fields import Hints, number_like, task_of
from repro.results.run_values import CHOSEN, FoundValue
from repro.results.series import Row
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
        every = [{step: float(run.fields[step]), **row} for run in ordered for row in run.rows]
        arms.append(group[0][0])
        runs.append(replace(ordered[-1], rows=every, state=state))
    return replace(rows, arms=arms, runs=runs)


def doubts_of(
    rows: Rows, told: Collection[str], measure: str, step: str, hints: Hints
) -> dict[str, str]:
    """What speaks against the runs of each arm: where they end, and a number that is the best.

    ``told`` are the fields that say something, ``step`` the one of a table's steps. The parts of
    a unit have no end, and at the step that is asked for it says nothing.
    """
    several = any(sum(measure in row for row in run.rows) > 1 for run in rows.runs)
    doubts = early_ends(rows, measure, step) if several else unlike_steps(rows, told)
    doubts = doubts if hints.step is not None else unfinished(rows) | doubts
    doubts = {} if hints.unit else doubts
    best = CHOSEN if "best" in re.split(r"[^a-z]+", measure.casefold()) else ""
    both = {arm: (doubts.get(arm, ""), best) for arm in dict.fromkeys(rows.arms)}
    return {arm: "; ".join(filter(None, said)) for arm, said in both.items() if any(said)}


EARLY = "ended early: "
"""What is said of runs that stopped before their end, or before others."""


def unfinished(rows: Rows) -> dict[str, str]:
    """What is said of the arms with runs whose files say that more was to come."""
    doubts = {}
    for arm in dict.fromkeys(rows.arms):
        mine = [run.fields for of, run in zip(rows.arms, rows.runs, strict=True) if of == arm]
        if ends := [*filter(None, map(_own_end, mine))]:
            doubts[arm] = (
                f"{len(ends)} of {number_of(len(mine), 'run')} of '{printable(arm[:100])}' {EARLY}"
                f"{'; '.join(dict.fromkeys(ends))}; unless a rule stops them, they are not finished"
            )
    return doubts


def _own_end(fields: Mapping[str, Any]) -> str:
    """Where a run stands whose fields say that it has not reached its end; else empty.

    A last epoch may end by a fraction before its end.
    """
    for key, total, apart in (("global_step", "max_steps", 0), ("epoch", "num_train_epochs", 1)):
        at, end = fields.get(key), fields.get(total)
        if isinstance(at, int | float) and isinstance(end, int | float) and end > 0:
            early = at < end and at + apart <= end
            return f"'{key}' is {at:.15g}, and '{total}' {end:.15g}" if early else ""
    return ""


def ends_of_both(rows: Rows, other: Rows, measure: str) -> dict[str, str]:
    """The doubt about each arm whose runs end before those of other results.

    Nothing where one of them has no series, and no number counts the steps of both.
    """
    both = Rows(rows.path, [*rows.arms, *other.arms], [*rows.runs, *other.runs])
    several = (any(sum(measure in row for row in run.rows) > 1 for run in of.runs)
               for of in (rows, other))  # fmt: skip
    if rows.task or other.task or not (_counters(both.runs) or all(several)):
        return {}
    if not _counters(both.runs) and (_counters(rows.runs) or _counters(other.runs)):
        return {}
    return early_ends(both, measure, "")


def early_ends(rows: Rows, measure: str, step: str) -> dict[str, str]:
    """What is said of the arms with runs whose series end before the longest, by arm.

    ``step`` is the field of a table's steps; else a number of the rows counts them, or they are
    counted. A run that diverged has ended for another reason.
    """
    key = step or next(iter(_counters(rows.runs)), "")
    ends: dict[str, dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for arm, run in zip(rows.arms, rows.runs, strict=True):
        if reached := _reached(run, measure, key):
            ends[task_of(run, rows.task)][arm].append(reached)
    doubts: dict[str, str] = {}
    for task, by_arm in ends.items():
        doubts = {**_early(by_arm, key, task), **doubts}
    return doubts


def _counters(runs: Sequence[FoundRun]) -> list[str]:
    """The numbers that count steps in all rows of all runs, as `time/total_timesteps` does."""
    rows = [row for run in runs for row in run.rows]
    names = [name for name in (rows[0] if rows else ()) if counts_steps(name.rpartition("/")[2])]
    return [name for name in names if all(row.get(name) is not None for row in rows)]


def _reached(run: FoundRun, measure: str, key: str) -> list[float]:
    """The steps at which a finished run has a value; none if its last one is not a number."""
    having = [row for row in run.rows if measure in row]
    if run.state != "finished" or not having or having[-1][measure] is None:
        return []
    steps = (row.get(key, 0.0) if key else place for place, row in enumerate(having, start=1))
    return [float(step or 0.0) for step in steps]


def _early(by_arm: Mapping[str, Sequence[list[float]]], key: str, task: str) -> dict[str, str]:
    """What is said of the arms of one task with runs that end early.

    Not of a single run that ends by less than its distance between values before the others.
    """
    every = [reached for runs in by_arm.values() for reached in runs]
    furthest, ends = max(each[-1] for each in every), Counter(each[-1] for each in every)
    alike = {step for step in set.intersection(*map(set, every)) if key and step.is_integer()}
    advice = f"; `--step {max(alike):.0f}` takes the value of each at one step" if alike else ""
    where = f" of task '{printable(task[:100])}'" if task else ""
    at = f"'{key}' " if key else "value "
    doubts = {}
    for arm, runs in by_arm.items():
        early = [
            each for each in runs
            if each[-1] < furthest
            and (ends[each[-1]] > 1 or each[-1] + _apart(each) <= furthest)
        ]  # fmt: skip
        if early:
            said = Counter(f"{each[-1]:.15g}" for each in early)
            counts = named([f"{step} in {number_of(n, 'run')}" for step, n in said.items()])
            doubts[arm] = (
                f"{len(early)} of {number_of(len(runs), 'run')} of '{printable(arm[:100])}'{where} "
                f"{EARLY}the last {at}is {counts}, and {furthest:.15g} in the longest of all "
                f"arms; unless a rule stops them, their values are not comparable{advice}"
            )
    return doubts


def _apart(steps: Sequence[float]) -> float:
    """The largest distance between two values of a run that follow each other."""
    return max((after - before for before, after in pairwise(steps)), default=0.0)


def rows_at_step(path: Path, runs: Sequence[FoundRun], step: int) -> tuple[str, list[list[Row]]]:
    """What counts the steps in the files of runs, and the rows of each run at a step.

    ClaimError where nothing counts them, or no run has the step.
    """
    keys = _counters(runs)
    for key in keys:
        rows = [[row for row in run.rows if row[key] == step] for run in runs]
        if any(rows):
            return key, rows
    if not keys:
        mistake, advice = "--step: no number counts the steps of all rows", "leave out --step"
        raise refused(path, mistake, "one such as step or epoch", advice)
    there = sorted({float(row[keys[0]] or 0.0) for run in runs for row in run.rows})
    mistake, advice = f"no row has '{keys[0]}' {step}", "name a step that is there"
    raise refused(path, mistake, named([f"{each:.15g}" for each in there]), advice)


def dropped_at_step(
    step: int, before: Mapping[str, Sequence[FoundValue]], after: Mapping[str, Sequence[FoundValue]]
) -> dict[str, str]:
    """What is said of the arms of which runs have no value at the step, by arm."""
    doubts = {}
    for arm, runs in before.items():
        left = {(run.task, run.seed) for run in after.get(arm, ())}
        count = len(runs) - len(after.get(arm, ()))
        if count > 0:
            lost = [f"{run.seed}" for run in runs if (run.task, run.seed) not in left]
            seeds = f" (seed {named(lost)})" if len(lost) == count else ""
            doubts[arm] = (
                f"--step {step} drops {count} of {number_of(len(runs), 'run')} of "
                f"'{printable(arm[:100])}'{seeds}, which have no value there: to drop runs that "
                "ended early can favour an arm"
            )
    return doubts
