"""What a row is, once arms and seeds are known: a run, or an item, a fold or a step of one.

No row is a seed unless something says so: rows that may be anything else are refused, with the
options that say what they are.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repro.errors import ClaimError
from repro.results.forms import Form, FoundRun, OneRunError, named, refused
from repro.results.path_names import EPISODES, STAMP
from repro.results.readings import time_of
from repro.results.roles import (
    PART,
    PHASES,
    TRIAL,
    Cells,
    cells_by_arm,
    is_k_fold,
    is_regular,
    plain,
    recurs,
    role_of,
    seed_number,
    varies,
    whole,
)
from repro.results.run_fields import number_like, task_of

WHAT: Mapping[str, str] = {
    "item": "episodes, trials and questions are parts of what was run",
    "fold": "folds share their training data and are not independent runs",
}
"""Why rows of such a role are not counted."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of some results: the arm of each, and the fields that say seed and task."""

    path: Path
    arms: Sequence[str]
    runs: Sequence[FoundRun]
    seed: str = ""
    task: str = ""

    def cells(self, key: str) -> Cells:
        return cells_by_arm(self.arms, [run.fields for run in self.runs], key)

    def keys(self, told: Collection[str]) -> list[str]:
        """The fields whose values differ between the runs of an arm, and that say nothing yet."""
        every = dict.fromkeys(key for run in self.runs for key in run.fields)
        return [key for key in every if key not in told and varies(self.cells(key))]

    def places(self, *keys: str) -> list[tuple[str, ...]]:
        """What tells each row apart: its arm, task and seed, and further fields."""
        names = (*filter(None, (self.task, self.seed)), *keys)
        return [
            (arm, *(str(run.fields.get(name, "")).strip() for name in names))
            for arm, run in zip(self.arms, self.runs, strict=True)
        ]

    def of_task(self, key: str) -> bool:
        """Whether a field only says more of the task, as the suite that it is in."""
        values: dict[str, set[str]] = defaultdict(set)
        for run in self.runs:
            values[task_of(run, self.task)].add(str(run.fields.get(key, "")))
        return all(len(each) == 1 for each in values.values())

    def told_apart(self, *keys: str) -> bool:
        places = self.places(*keys)
        return len(set(places)) == len(places)


@dataclass(slots=True)
class Sheet:
    """Rows with their arms: what is said of their form, and the fields that say something.

    ``where`` is the field of the arm, ``ended`` are those that say how runs ended. ``read`` are the
    forms by which a claim can read them; none where it cannot. ``cells``: a row is one of a table.
    """

    words: list[str]
    rows: Rows
    told: set[str]
    where: str = ""
    ended: Sequence[str] = ()
    read: Sequence[Form] = ()
    cells: bool = True
    numbered: bool = False


def refuse_parts(rows: Rows, told: Collection[str], *, numbered: bool) -> None:
    """ClaimError where no seed is named, and a field says that rows may be anything but runs.

    ``numbered``: rows may be numbered, as those of a table with a column per arm are.
    """
    count = len(set(rows.arms))
    for key in sorted(rows.keys(told), key=lambda each: role_of(each) not in PART):
        role = role_of(key)
        if role in PART:
            why = WHAT[str(role)]
            values = dict.fromkeys(value for cells in rows.cells(key).values() for value in cells)
            mistake = f"no seeds are named, and '{key}' tells rows apart ({named(values)}): {why}"
            advice = _one_phase(rows, key) or _of_parts(rows, key, values, told)
            raise refused(rows.path, mistake, "runs that differ by their seed", advice)
        counted = role == "index" and numbered and number_like(rows.runs, key)
        if role == "measure" or counted or key == STAMP or rows.of_task(key):
            continue
        if (role == "step" and _is_curve(rows, key)) or recurs(
            rows.cells(key), count, exactly=role == "time"
        ):
            raise _a_series(rows, key) if role == "step" else _recurring(rows, key)


REPEATS = re.compile(
    r"(?:cv_|k?fold_)?(?:repeat|repetition|rep|run|replicate|replication|iteration|iter|trial|round)s?"
    r"|(?:cv|k?fold|split|shuffle|partition)_(?:random_)?(?:seed|state)"
)
"""Fields that count how often data were cut into folds."""


def may_repeat(key: str) -> bool:
    """Whether a field may count repeats of a cross-validation, by its name: no setting does."""
    counts = REPEATS.fullmatch(plain(key)) and role_of(key) != "step"
    return role_of(key) == "seed" or bool(counts)


def _of_parts(rows: Rows, key: str, values: Collection[str], told: Collection[str]) -> str:
    """What to do about rows that are items, or folds, of one data set or of several."""
    if role_of(key) == "item":
        item = key
        if TRIAL.fullmatch(key.casefold()):  # what it counts are answers to another field
            others = [each for each in rows.keys({key}) if rows.told_apart(each, key)]
            item = next(iter(others), key)
        advice = f"--items {item} compares the arms item by item"
        if len({*rows.arms}) == 1:
            advice = f"--items {item} compares two arms item by item; no limit is judged so"
        if all(role_of(each) == "measure" for each in rows.keys({key})):
            return advice
        return f"{advice}; --unit FIELD names the field of the run, over which they are averaged"
    if rows.task:
        return f"--unit {rows.task} averages them in each {rows.task}, and these are compared"
    unit = "--unit FIELD names the field of the run, over which they are averaged"
    if role_of(key) != "fold" or not is_k_fold(key):
        return unit
    if any(seed_number(value) is None for value in values):
        return f"write a number for each fold into '{key}', the same in every arm"
    advice = f"--unit {key} averages the rows of each fold, if they share its test set"
    others = [each for each in rows.keys({*told, key}) if may_repeat(each)]
    if other := next((each for each in others if rows.told_apart(key, each)), ""):
        advice += f"; --seed {key} if each '{other}' makes other folds"
    return advice


def cuts_data(rows: Rows, key: str) -> bool:
    """Whether a field numbers the folds of cross-validations, or names them."""
    values = [str(run.fields.get(key, "")).strip() for run in rows.runs]
    numbers = all(seed_number(value) is not None for value in values)
    return role_of(key) == "fold" and is_k_fold(key) and (numbers or "fold" in plain(key))


def _as_seed(key: str, values: Collection[str]) -> str:
    """What says that a field is the seed: texts without a number cannot be one."""
    numbers = {seed_number(value) for value in values}
    numbered = None not in numbers and len(numbers) == len(values)
    return f"--seed {key}" if numbered else "a column `seed` with a number for each row"


def _one_phase(rows: Rows, key: str) -> str:
    """What to do about numbers of training and test; empty where a field says no such thing."""
    values = sorted({value for cells in rows.cells(key).values() for value in cells})
    if not {value.casefold() for value in values} <= PHASES:
        return ""
    return f"take the rows of one, as in --task-field {key} --task {values[0]}"


def _a_series(rows: Rows, key: str) -> ClaimError:
    steps = max(map(len, rows.cells(key).values()))
    advice = "name the run of each row in a column `seed`: then the last value of each run is "
    advice += f"taken{_as_run(key)}"
    once = all(max(values.values()) == 1 for values in rows.cells(key).values())
    what = f"the {steps} steps of one run per arm" if once else "steps of runs that have no number"
    mistake = f"no seeds are named, and by '{key}' the rows are {what}: they are not replicates"
    error = refused(rows.path, mistake, "several runs of each arm", advice)
    return OneRunError(str(error)) if once and len({*rows.arms}) == 1 else error


def _is_curve(rows: Rows, key: str) -> bool:
    """Whether each row of an arm is another step, in order or evenly spaced, and of no run."""
    if not number_like(rows.runs, key) or named_runs(rows.runs):
        return False
    curves: dict[tuple[str, str], list[float]] = defaultdict(list)
    for arm, run in zip(rows.arms, rows.runs, strict=True):
        curves[arm, task_of(run, rows.task)].append(float(run.fields[key]))
    once = all(len({*steps}) == len(steps) for steps in curves.values())
    return once and all(steps == sorted(steps) or is_regular(steps) for steps in curves.values())


def _recurring(rows: Rows, key: str) -> ClaimError:
    values = dict.fromkeys(value for cells in rows.cells(key).values() for value in cells)
    mistake = f"no seeds are named, and '{key}' is the same in every arm: {named(values)}"
    by_it = f"--arm {key} to compare by it" if role_of(key) == "arm" else ""
    each = by_it or f"{_as_seed(key, values)} if each is a run"
    ways = f"say what it is: --task-field {key}, --items {key} for questions, {each}, or "
    ways += "--unit FIELD for the field of the run whose evaluations these are; or leave that "
    ways += "column out if every row is a run"
    if key == "folder":
        ways = "--unit folder if each folder is a run, whose rows are averaged; or --task-field "
        ways += "folder if each is a task"
    return refused(rows.path, mistake, "runs that differ by their seed alone", ways)


def refuse_repeated(rows: Rows, told: Collection[str]) -> None:
    """ClaimError where a seed is there twice and a field says which row is which."""
    if rows.told_apart():
        return
    keys = [key for key in rows.keys(told) if role_of(key) != "measure"]
    apart = next(_telling(rows, keys), ())
    if not apart:
        _refuse_steps_twice(rows, keys)
        return
    counts = Counter(rows.places())
    (arm, *place), times = counts.most_common(1)[0]
    both = " and ".join(f"'{key}'" for key in apart)
    tells = "tell them apart" if len(apart) > 1 else "tells them apart"
    of_task = f", task '{place[0]}'" if rows.task else ""
    mistake = f"arm '{arm}' has {times} rows with {rows.seed} {place[-1]}{of_task}; {both} {tells}"
    advice = f"--unit {rows.seed} averages the rows of each run, and --task-field {apart[0]} says "
    advice += f"that '{apart[0]}' is the task"
    if len(apart) == 1:
        value = str(next(run.fields[apart[0]] for run in rows.runs if apart[0] in run.fields))
        advice += f"; --task-field {apart[0]} --task {shlex.quote(value)} takes the rows of one"
    if role_of(apart[0]) in PART:
        advice = f"--unit {rows.seed} averages the rows of each run"
    if any(cuts_data(rows, key) for key in {*keys, rows.seed}):
        advice = "leave one row for each fold of a cross-validation, the mean of those that share "
        advice += "its test set"
    advice = _one_phase(rows, apart[0]) or advice
    raise refused(rows.path, mistake, "one row for each run", advice)


def _refuse_steps_twice(rows: Rows, keys: Sequence[str]) -> None:
    """ClaimError for a step that a run has twice, where steps tell nearly all rows apart."""
    for key in (key for key in keys if role_of(key) == "step"):
        places = Counter(rows.places(key))
        (arm, *place), times = places.most_common(1)[0]
        if 10 * (len(rows.runs) - len(places)) < len(rows.runs):
            mistake = (
                f"arm '{arm}' has {times} rows with {rows.seed} {place[-2]} and {key} {place[-1]}"
            )
            advice = "leave out the rows of a run that was begun again"
            raise refused(rows.path, mistake, f"one row for each {key} of a run", advice)


def _telling(rows: Rows, keys: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The fields that tell repeated rows apart, one or two, those of a known role first."""
    known = sorted(keys, key=lambda key: (role_of(key) is None, number_like(rows.runs, key)))
    yield from ((key,) for key in known if rows.told_apart(key))
    for place, key in enumerate(known):
        for other in known[place + 1 :]:
            if rows.told_apart(key, other):
                yield key, other


def refuse_steps_of_unit(rows: Rows, told: Collection[str], seed: str) -> None:
    """ClaimError where rows that are to be averaged are steps of a series.

    Unless their field is named as that of the ``seed``.
    """
    for key in rows.keys(told):
        if role_of(key) == "step" and key != seed and not rows.told_apart():
            raise _over_steps(rows, key, _as_run(key))


def _as_run(key: str) -> str:
    """What to do where a step may be a run: people call both an iteration, and no run an epoch."""
    may_be = plain(key) in ("iteration", "iter", "round")
    return f"; or add --seed {key} if each is a run" if may_be else ""


def _over_steps(rows: Rows, key: str, other: str = "") -> ClaimError:
    mistake = f"--unit {rows.seed} would average over '{key}', the steps of a series"
    advice = f"leave all but the last '{key}' out, or average over what is no step{other}"
    return refused(rows.path, mistake, "evaluations of finished runs", advice)


def refuse_parts_inside(rows: Rows, measure: str, *, unit: bool) -> None:
    """ClaimError where the file of a run holds several values, and its last one says nothing.

    Those of items and folds may be averaged (``unit``), and those of steps may not.
    """
    for run in rows.runs:
        names = dict.fromkeys(name for row in run.rows if measure in row for name in row)
        steps = [name for name in names if role_of(name) == "step"]
        parts = [name for name in names if role_of(name) in PART]
        parts += ["episode"] if run.place.endswith(EPISODES) else []
        if len([row for row in run.rows if measure in row]) < 2:
            continue
        if unit and steps:
            raise _over_steps(rows, steps[0])
        if parts and not (steps or unit):
            mistake = f"{run.place}: its rows are parts of one run by '{parts[0]}', and the last "
            mistake += "says nothing of the others"
            advice = f"--unit {rows.seed or 'FIELD'} averages the rows of each run"
            raise refused(rows.path, mistake, "one number for each run", advice)


def a_row_each(rows: Rows, measure: str) -> Rows:
    """A run for each row of a run that has the number: they are averaged later."""
    both = [
        (arm, replace(run, rows=[row]))
        for arm, run in zip(rows.arms, rows.runs, strict=True)
        for row in ([each for each in run.rows if measure in each] or [{}])
    ]
    return replace(rows, arms=[arm for arm, _ in both], runs=[run for _, run in both])


def without_tasks(rows: Rows, lost: Collection[str]) -> Rows:
    """The rows of all tasks but some."""
    kept = [place for place, run in enumerate(rows.runs) if task_of(run, rows.task) not in lost]
    arms, runs = [rows.arms[place] for place in kept], [rows.runs[place] for place in kept]
    return replace(rows, arms=arms, runs=runs)


def named_runs(runs: Sequence[FoundRun]) -> bool:
    """Whether a text is another in each row, and so names its run."""
    for key in runs[0].fields:
        cells = [run.fields.get(key) for run in runs]
        texts = all(isinstance(cell, str) and cell and whole(cell) is None for cell in cells)
        able = role_of(key) in (None, "seed") and not any(time_of(str(cell)) for cell in cells)
        if texts and able and len({*cells}) == len(cells):
            return True
    return False
