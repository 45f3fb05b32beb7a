"""Which field of a run says what: its arm, its seed, its task, and how it ended.

Everything that is guessed is said, and an option says it instead.
"""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Literal

from repro.errors import ClaimError
from repro.results.forms import FoundRun, named, refused, unfit
from repro.results.readings import (
    DIVERGED,
    EXPECTED_STATES,
    RunState,
    loop_advice,
    short,
    state_of,
    value_of,
)
from repro.results.roles import (
    NAMES,
    UNCOMPARED,
    labelled,
    of_machine,
    role_of,
    said_seed,
    seed_number,
    surest,
    whole,
)
from repro.schema.messages import choose

MOST_ARMS = 20


@dataclass(frozen=True, slots=True)
class Hints:
    """What is said of the results, in place of a guess: names of fields, a number, and a task.

    ``task`` is the one whose runs are compared, ``task_field`` the field that says it. Rows with
    one value of the field ``unit`` are of one run, and averaged. ``reader`` is what an import calls
    the only reader that is asked. ``alone``: results in which nothing tells arms apart are one arm.
    ``items`` is the field of the item that a row is about, ``clusters`` that of its group.
    ``step`` is the one that counts in a table whose rows are of steps. ``test_to_train``: the size
    of the test set of a fold or split over that of its training set. ``lone``: the file is one run,
    or each arm in it may have one. ``baseline``: an arm, which may be a column of numbers.
    """

    arm: str = ""
    seed: str = ""
    measure: str = ""
    task: str = ""
    task_field: str = ""
    unit: str = ""
    reader: str = ""
    alone: bool = False
    items: str = ""
    clusters: str = ""
    step: int | None = None
    test_to_train: float | None = None
    lone: Literal["", "file", "arm"] = ""
    baseline: str = ""

    @property
    def fields(self) -> frozenset[str]:
        """The fields that somebody named: none of them is guessed to be something else."""
        return frozenset({self.arm, self.seed, self.task_field, self.unit} - {""})


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
    """The field of the seed, which every run has; empty where there is none.

    Of rows that are averaged it is the field of their unit.
    """
    known = [key for key in runs[0].fields if all(key in run.fields for run in runs)]
    for asked in (hints.seed, hints.unit):
        if asked and asked not in known:
            raise no_field(path, asked, known)
    if hints.unit or hints.seed:
        return hints.unit or hints.seed
    cells = {key: [run.fields[key] for run in runs] for key in known if key not in hints.fields}
    found = [
        key
        for key in surest([*cells], "seed")
        if all(whole(cell) is not None or said_seed(cell) is not None for cell in cells[key])
    ]
    found += [
        key
        for key in cells
        if role_of(key) is None and all(said_seed(cell) is not None for cell in cells[key])
    ]
    varying = [key for key in found if len({str(cell) for cell in cells[key]}) > 1]
    return next(iter(varying or found), "")


def seed_of(path: Path, run: FoundRun, key: str) -> int:
    """The seed of a run; ClaimError where it has no number."""
    text = text_in(path, run, key)
    number = seed_number(text)
    if number is None:
        mistake = f"{run.place}: the seed '{short(text)}' is no whole number"
        raise refused(path, mistake, "0, 1, 2 ...", "name the field of the seed: --seed FIELD")
    return number


def with_labels(runs: Sequence[FoundRun], hints: Hints) -> tuple[list[FoundRun], str, str]:
    """The runs whose labels name arm and seed, `Baseline (Seed 1)`, with a field for each.

    And these fields; empty where there are none.
    """
    for key in [hints.arm] if hints.arm else runs[0].fields:
        found = [labelled(str(run.fields.get(key, ""))) for run in runs]
        both = [each for each in found if each is not None]
        arms = [each.arm for each in both]
        if len(both) == len(runs) and len(set(arms)) > 1 and min(map(arms.count, arms)) > 1:
            told = f"{key}.seed"
            return [
                replace(run, fields={**run.fields, key: each.arm, told: each.seed})
                for run, each in zip(runs, both, strict=True)
            ], key, told  # fmt: skip
    return list(runs), "", ""


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
    if hints.baseline in known and number_like(runs, hints.baseline):  # a column per arm
        return ""
    unlike = {*UNCOMPARED, "task", "measure"}  # roles whose names say something else
    able = [key for key in known if key not in told and key not in hints.fields]
    unasked = [key for key in able if of_machine(key, [run.fields.get(key) for run in runs])]
    able = [key for key in able if not (hints.alone and key in unasked)]
    few = {key: 1 if hints.lone == "arm" and role_of(key) == "arm" else 2 for key in able}
    candidates = [
        key for key in able if role_of(key) not in unlike and _splits(runs, key, few[key])
    ]
    if sure := surest(candidates, "arm"):
        return sure[0]
    texts = [key for key in candidates if not number_like(runs, key)]
    texts = [key for key in texts if key not in unasked] or texts
    choice = texts or [key for key in candidates if "." in key]  # settings of a tracker
    numbers = [key for key in candidates if key != hints.measure]
    if not choice and hints.measure:
        choice = numbers
    if len(choice) > 1:
        mistake = f"several fields may tell the arms apart: {named(choice)}"
        raise refused(path, mistake, "one", f"name it, as in --arm {choice[0]}")
    result_alone = hints.alone and numbers == able
    if not choice and numbers and not result_alone:
        mistake = f"no text tells the arms apart, but numbers may: {named(numbers)}"
        advice = f"name it, as in --arm {numbers[0]}; if each column is an arm, name one, as in "
        advice += f"--baseline {shlex.quote(numbers[0])}"
        raise refused(path, mistake, "a field that names the arm of each run", advice)
    return choice[0] if choice else ""


def arms_inside(runs: Sequence[FoundRun], name: str = "") -> bool:
    """Whether runs say in a field that is called so, or has a name, of which arm they are."""
    keys = [name] if name else runs[0].fields
    return any(role_of(key) == "arm" and _splits(runs, key) for key in keys)


def unpooled(
    path: Path, runs: Sequence[FoundRun], told: Collection[str], hints: Hints
) -> list[str]:
    """The texts that differ between runs of one arm and say where or when they were made.

    Or that are nearly all others. ClaimError for any other: runs may be of several arms.
    """
    found = []
    for key in dict.fromkeys(key for run in runs for key in run.fields):
        cells = [str(run.fields.get(key, "")) for run in runs]
        many = len({*cells})
        if key in told or key in hints.fields or many == 1 or number_like(runs, key):
            continue
        if not (4 * many >= 3 * len(cells) or of_machine(key, cells)):
            mistake = f"'{key}' differs between the runs of what would be one arm"
            advice = f"name it, as in --arm {key}, or leave out what is not meant"
            raise refused(path, mistake, "runs of one arm, or the field of the arms", advice)
        found.append(key)
    return found


def _splits(runs: Sequence[FoundRun], key: str, least: int = 2) -> bool:
    """Whether a field has a few values, each in ``least`` runs or more, and all runs have one."""
    counts: dict[str, int] = defaultdict(int)
    for run in runs:
        value = run.fields.get(key)
        if not isinstance(value, str | int | float | bool) or value == "":
            return False
        counts[str(value)] += 1
    return 2 <= len(counts) <= MOST_ARMS and min(counts.values()) >= least


def repeated(runs: Sequence[FoundRun], where: str) -> bool:
    """Whether some arm, by the field ``where``, has several rows."""
    arms = [str(run.fields[where]) for run in runs if where in run.fields]
    return len(set(arms)) < len(arms)


def may_recur(runs: Sequence[FoundRun], where: str) -> bool:
    """Whether arms by ``where`` may share a task; none does where each row is of another one."""
    if not where or role_of(where) == "arm":
        return True
    keys = [key for key in runs[0].fields if role_of(key) == "task" and key != where]
    return not any(len({str(run.fields.get(key)) for run in runs}) == len(runs) for key in keys)


def number_like(runs: Sequence[FoundRun], key: str) -> bool:
    try:
        return all(isinstance(float(run.fields[key]), float) for run in runs)
    except (KeyError, TypeError, ValueError):  # a run may be without the field
        return False


# tasks


_SUMMARY = re.compile(
    r"(?i)(?:(?:macro|micro|overall|grand|geom?(?:etric)?|arith(?:metic)?)[ ._-]*)?"
    r"(?:avg|average|mean|median|overall|total)\b\.?(?:[ ._-]*(?:rank(?:ing)?|acc\w*|score|error))?"
    r"(?: ?\([^()]*\))?|(?:friedman )?rank(?:s|ing)?|#? ?(?:of )?wins?|w(?:ins?)?/[tdl]\w*/[ltd]\w*"
    r"|(?:mittel|durchschnitts)(?:wert)?|durchschnitt|median[ae]?|médiane|moyenne|promedio|m[eé]dia"
    r"|gemiddelde|среднее|平均[値值]?|均值|中央値|中位数|평균"
    r"|st(?:an)?d(?:ard)?[ ._-]?dev(?:iation)?\.?|std\.?"
)
"""A row called so, behind the data sets or before them, sums them up."""

_OF_SEEDS = re.compile(
    r"(?i)[±σμµ]|(?:mean ?)?(?:±|\+/?-) ?(?:sd|std)|sd|std|se|sem|var|min|max|sum|count|n"
)
"""The same of runs, in a column whose other cells are the numbers of seeds."""

SUMS = "summaries of the others"

SUBTASKS = "group_subtasks."
"""What lm-eval says of a group: its number is made of those of its tasks."""


def task_field(path: Path, runs: Sequence[FoundRun], told: Collection[str], hints: Hints) -> str:
    """The field of the task, where the runs are of several; empty where they are of one.

    ``told`` are the fields that say something else. Of several such fields it is the one that says
    what the others say, too; ClaimError where none does.
    """
    keys = [*dict.fromkeys(key for run in runs for key in run.fields)]
    if hints.task_field:
        if hints.task_field not in keys:
            raise no_field(path, hints.task_field, keys)
        return hints.task_field
    found = {
        key: values
        for key in keys
        if key not in told and key not in hints.fields and role_of(key) == "task"
        if len(set(values := [str(run.fields.get(key, "")) for run in runs]) - {""}) > 1
    }
    for key, values in found.items():
        together = {tuple(each) for each in zip(*found.values(), strict=True)}
        if len(together) == len(set(values)):
            return key
    if found:
        mistake = f"several fields may say the task: {named(found)}"
        advice = f"name it, as in --task-field {next(iter(found))}"
        raise refused(path, mistake, "one", advice)
    return ""


def field_of_task(path: Path, runs: Sequence[FoundRun], hints: Hints) -> tuple[str, str]:
    """The field of the task that is asked for, and how its value is written there.

    ClaimError where no field of such a name has that value.
    """
    every = dict.fromkeys(key for run in runs for key in run.fields)
    keys = [
        key
        for key in every
        if (key == hints.task_field if hints.task_field else role_of(key) == "task")
    ]
    values = {
        str(value): key
        for key in keys
        for run in runs
        if (value := run.fields.get(key)) is not None
    }
    if hints.task in values:
        return values[hints.task], hints.task
    expected = named(values) or f"a field such as {', '.join(NAMES['task'][:3])}, or --task-field"
    mistake = f"there is no task '{hints.task}'"
    raise refused(path, mistake, expected, choose(hints.task, list(values)))


def tasks_left_out(runs: Sequence[FoundRun], task: str, measure: str) -> dict[str, str]:
    """The tasks that cannot be among those that are compared, and why not."""
    if not task:
        return {}
    having = {task_of(run, task) for run in runs if any(measure in row for row in run.rows)}
    there = {task_of(run, task): run for run in runs}
    lost = {name: f"without '{measure}'" for name in there if name not in having}
    groups = (name for name, run in there.items() if run.fields.get(f"{SUBTASKS}{name}"))
    lost |= {name: "groups of other tasks" for name in groups if name not in lost}
    sums = dict.fromkeys(_summaries([*there]), SUMS)
    return sums | lost if len(having - {*lost, *sums}) > 1 else lost


def _summaries(names: Sequence[str]) -> list[str]:
    """The names, first or last, that sum the others up."""
    called = _SUMMARY.fullmatch
    ends = {*takewhile(called, names), *takewhile(called, reversed(names))}
    return [name for name in names if name in ends]


def sums_up_seeds(name: str) -> bool:
    """Whether a name among those of seeds is that of their mean, scatter or number."""
    return bool(_SUMMARY.fullmatch(name) or _OF_SEEDS.fullmatch(name))


def rows_of_summaries(runs: Sequence[FoundRun], hints: Hints) -> dict[int, str]:
    """The places of rows that sum others up, whatever stands in their cells, and their names.

    Rows of tasks stand first or last; those of seeds and folds anywhere, but others have numbers.
    """
    found: dict[int, str] = {}
    for key in dict.fromkeys(key for run in runs for key in run.fields):
        cells = [str(run.fields.get(key, "")).strip() for run in runs]
        role = "task" if key in (hints.task_field, hints.items) else role_of(key)
        sums = [*filter(None, dict.fromkeys(cells))] if role in ("task", "seed", "fold") else []
        if role == "task" and key not in {hints.arm, hints.seed, hints.unit}:
            sums = _summaries(sums)
        elif role in ("seed", "fold"):
            sums = [name for name in sums if seed_number(name) is None]
            sums = sums if all(map(sums_up_seeds, sums)) else []
        if len({*cells} - {"", *sums}) > 1:
            found |= {place: cell for place, cell in enumerate(cells) if cell in sums}
    return found


def task_of(run: FoundRun, task: str) -> str:
    """The task of a run; empty where ``task`` names no field."""
    return str(run.fields.get(task, "")).strip() if task else ""


# how runs ended


ENDS: dict[RunState, Literal["finished", "failed", "running"]] = {
    "finished": "finished",
    "diverged": "failed",
    "missing": "running",
}


WORST_FIRST: tuple[RunState, ...] = ("diverged", "missing", "finished")


def with_states(
    path: Path, runs: Sequence[FoundRun], hints: Hints, *, log: bool = False
) -> tuple[list[FoundRun], list[str]]:
    """The runs as fields say that they ended, and these fields.

    ClaimError for words that say nothing of how a run ended; in a ``log`` they are other text,
    such as a line of source.
    """
    every = dict.fromkeys(key for run in runs for key in run.fields)
    keys = [key for key in every if role_of(key) == "state" and key not in hints.fields]
    for key in [*keys]:
        words = dict.fromkeys(str(run.fields.get(key, "finished")).strip() for run in runs)
        unknown = [word for word in words if state_of(word) is None]
        if unknown and log:
            keys.remove(key)
        elif unknown:
            mistake = f"{named([repr(word) for word in unknown])} in '{key}' is no state of a run"
            advice = "write one of these in its place, or leave that column out if it says "
            advice += f"something else; --arm {key} compares by it"
            raise refused(path, mistake, EXPECTED_STATES, loop_advice(unknown, path) or advice)
    return [_ended(run, _worst(run, keys)) for run in runs], keys


def _worst(run: FoundRun, keys: Sequence[str]) -> RunState:
    said = {state_of(run.fields.get(key, "finished")) for key in keys}
    return next((state for state in WORST_FIRST if state in said), "finished")


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
