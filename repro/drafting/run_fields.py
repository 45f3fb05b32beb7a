"""Which field of a run says what: its arm, its seed, its task, and how it ended.

Everything that is guessed is said, and an option says it instead.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from repro.errors import ClaimError
from repro.evidence.imports.importer import FoundRun
from repro.evidence.readings import DIVERGED, STATES, RunState, short, value_of
from repro.schema.messages import choose, listed

ARMS = (
    *("arm", "group", "method", "variant", "treatment", "condition", "algorithm", "algo"),
    *("optimizer", "model", "model_name", "name"),
)
"""Names of fields that tell arms apart, the surest first."""

SEEDS = ("seed", "random_seed", "random_state", "rng_seed")

TASKS = ("task", "dataset", "data_set", "env", "environment", "game", "benchmark", "domain")
"""Names of fields that say on what a run was made: runs on several are no replicates."""

STATE = ("state", "status")
"""Names of fields that say how a run ended."""

COUNTERS = frozenset(
    {*SEEDS, "step", "global_step", "epoch", "iteration", "iter", "index", "id", "run", "rank"}
    | {"_step", "_runtime", "_timestamp", "runtime", "created", "timestamp", "time"}
)
"""Numbers of a run that nobody compares."""

NAMED = 10
"""So many fields or values are named in a message."""

MOST_ARMS = 20
_WHOLE = re.compile(r"(0|[1-9][0-9]{0,14})(\.0+)?")


@dataclass(frozen=True, slots=True)
class Hints:
    """What is said of the results, in place of a guess: names of fields, a number, and a task."""

    arm: str = ""
    seed: str = ""
    measure: str = ""
    task: str = ""


class UnfitError(ClaimError):
    """Results of another form than was tried, or without what was asked for: it may be beside."""


def refused(path: Path, mistake: str, expected: str, advice: str) -> ClaimError:
    """The error of results that cannot be read: what is wrong, what was expected, what to do."""
    return ClaimError(f"{path}: {mistake}\n  expected: {expected}\n  to do: {advice}")


def unfit(path: Path, mistake: str, expected: str, advice: str) -> UnfitError:
    """The same of results that another form of them, in the same folder, may have."""
    return UnfitError(str(refused(path, mistake, expected, advice)))


def named(names: Collection[str]) -> str:
    """The first of some names, and how many more there are."""
    shown = ", ".join(short(name) for name in list(names)[:NAMED])
    return shown + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def last_part(key: str) -> str:
    """The name of a field without what it lies in: `seed` of `config.seed`."""
    return key.casefold().rpartition(".")[2]


def no_field(
    path: Path, name: str, known: Sequence[str], noun: str = "field", option: str = ""
) -> ClaimError:
    mistake = f"there is no {noun} '{name}'" + (f" to {option}" if option else "")
    return unfit(path, mistake, ", ".join(known[:30]) or "none", choose(name, known))


def text_in(path: Path, run: FoundRun, key: str) -> str:
    """What stands in a field; ClaimError where the run has no such field."""
    if key not in run.fields:
        advice = "complete the row"
        raise refused(path, f"{run.place}: there is no '{key}'", "one in every row", advice)
    return str(run.fields[key]).strip()


# seeds


def seed_field(path: Path, runs: Sequence[FoundRun], hints: Hints) -> str:
    """The field of the seed, which every run has; empty where there is none."""
    known = [key for key in runs[0].fields if all(key in run.fields for run in runs)]
    if hints.seed:
        if hints.seed not in known:
            raise no_field(path, hints.seed, known)
        return hints.seed
    for name in (*SEEDS, "run"):
        for key in known:
            whole = all(_WHOLE.fullmatch(str(run.fields[key])) for run in runs)
            if whole and last_part(key) == name:
                return key
    return ""


def seed_of(path: Path, run: FoundRun, key: str) -> int:
    """The seed of a run; ClaimError where it is no whole number."""
    text = text_in(path, run, key)
    whole = _WHOLE.fullmatch(text)
    if whole is None:
        mistake = f"{run.place}: the seed '{text[:40]}' is no whole number"
        raise refused(path, mistake, "0, 1, 2 ...", "name the field of the seed: --seed FIELD")
    return int(whole[1])


# arms


def arm_field(path: Path, runs: Sequence[FoundRun], told: Collection[str], hints: Hints) -> str:
    """The field that tells the arms apart; empty where none does.

    ``told`` are the fields that say something else. ClaimError where several may, or where only
    numbers may, which may as well be results.
    """
    known = list(dict.fromkeys(key for run in runs for key in run.fields))
    if hints.arm:
        if hints.arm not in known:
            raise no_field(path, hints.arm, known)
        return hints.arm
    candidates = [key for key in known if key not in told and _splits(runs, key)]
    for name in ARMS:
        for key in candidates:
            if last_part(key) == name:
                return key
    texts = [key for key in candidates if not number_like(runs, key)]
    choice = texts or [key for key in candidates if "." in key]  # settings of a tracker
    numbers = [key for key in candidates if key != hints.measure and key.casefold() not in COUNTERS]
    if not choice and hints.measure:
        choice = numbers
    if len(choice) > 1:
        mistake = f"several fields may tell the arms apart: {named(choice)}"
        raise refused(path, mistake, "one", f"name it, as in --arm {choice[0]}")
    if not choice and numbers:
        mistake = f"no text tells the arms apart, but numbers may: {named(numbers)}"
        advice = f"name it, as in --arm {numbers[0]}; if each column is an arm, write a row per "
        advice += "value: arm,seed,measurement,value"
        raise refused(path, mistake, "a field that names the arm of each run", advice)
    return choice[0] if choice else ""


def _splits(runs: Sequence[FoundRun], key: str) -> bool:
    """Whether a field has a few values, each in several runs, and all runs have one."""
    counts: dict[str, int] = defaultdict(int)
    for run in runs:
        value = run.fields.get(key)
        if not isinstance(value, str | int | float | bool) or value == "":
            return False
        counts[str(value)] += 1
    return 2 <= len(counts) <= MOST_ARMS and min(counts.values()) >= 2


def number_like(runs: Sequence[FoundRun], key: str) -> bool:
    try:
        return all(isinstance(float(run.fields[key]), float) for run in runs)
    except (TypeError, ValueError):
        return False


# tasks


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


# how runs ended


ENDS: dict[RunState, Literal["finished", "failed", "running"]] = {
    "finished": "finished",
    "diverged": "failed",
    "missing": "running",
}


def with_states(path: Path, runs: Sequence[FoundRun]) -> tuple[list[FoundRun], str]:
    """The runs as a field says that they ended, and the field; empty where none says so."""
    keys = dict.fromkeys(key for run in runs for key in run.fields)
    for key in (key for key in keys if key.casefold() in STATE):
        said = [str(run.fields.get(key, "finished")).strip().casefold() for run in runs]
        having = [each for run, each in zip(runs, said, strict=True) if key in run.fields]
        if not any(each in STATES for each in having):
            continue
        for run, each in zip(runs, said, strict=True):
            if each not in STATES:
                mistake = f"{run.place}: '{short(each)}' is no state of a run"
                raise refused(path, mistake, listed(tuple(STATES)), choose(each, tuple(STATES)))
        return [_ended(run, STATES[each]) for run, each in zip(runs, said, strict=True)], key
    return list(runs), ""


def with_cells(path: Path, runs: Sequence[FoundRun], key: str) -> list[FoundRun]:
    """The rows of a table as the cells of a number say that they ended.

    `diverged` is a divergence, and an empty cell no value. ClaimError for a cell that is neither
    these nor a number: it would count as a run without a value.
    """
    found = []
    for run in runs:
        value = run.fields.get(key)
        cell = "" if value is None else str(value).strip()
        if cell.casefold() == DIVERGED:
            found.append(_ended(run, "diverged"))
            continue
        if cell and not any(key in row for row in run.rows):
            told = value_of(cell)
            if not isinstance(told, float):
                mistake, expected, advice = told
                raise refused(path, f"{run.place}, column '{key}': {mistake}", expected, advice)
        found.append(run)
    return found


def _ended(run: FoundRun, state: RunState) -> FoundRun:
    return run if run.state != "finished" else replace(run, state=ENDS[state])
