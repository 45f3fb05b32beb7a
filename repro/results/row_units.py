"""What a row is, once arms and seeds are known: a run, or an item, a fold or a step of one.

No row is a seed unless something says so: rows that may be anything else are refused, with the
options that say what they are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repro.errors import ClaimError
from repro.results.forms import FoundRun, RunEnd, named, refused
from repro.results.path_names import EPISODES
from repro.results.roles import (
    PART,
    PHASES,
    Cells,
    cells_by_arm,
    recurs,
    role_of,
    seed_number,
    varies,
)
from repro.results.run_fields import number_like, task_of

WORST_FIRST: tuple[RunEnd, ...] = ("failed", "running", "finished")

WHAT: Mapping[str, str] = {
    "item": "episodes, trials and questions are parts of what was run, and no test over them is "
    "here yet",
    "fold": "folds share their training data and are not independent runs, and no test over them "
    "is here yet",
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


def refuse_parts(rows: Rows, told: Collection[str], *, numbered: bool) -> None:
    """ClaimError where no seed is named, and a field says that rows may be anything but runs.

    ``numbered``: rows may be numbered, as those of a table with a column per arm are.
    """
    count = len(set(rows.arms))
    for key in rows.keys(told):
        role = role_of(key)
        if role in PART:
            raise _are_parts(rows, key, WHAT[str(role)])
        counted = role == "index" and numbered and number_like(rows.runs, key)
        if role == "measure" or counted or rows.of_task(key):
            continue
        if recurs(rows.cells(key), count, exactly=role == "time"):
            raise _a_series(rows, key) if role == "step" else _recurring(rows, key)


def _are_parts(rows: Rows, key: str, why: str) -> ClaimError:
    """The error of rows that are parts of a run by the name of their field."""
    values = dict.fromkeys(value for cells in rows.cells(key).values() for value in cells)
    mistake = f"no seeds are named, and '{key}' tells rows apart ({named(values)}): {why}"
    advice = "--unit FIELD names the field of the run, over which they are averaged; "
    advice += f"{_as_seed(key, values)} says that each is a run of its own"
    advice = _one_phase(rows, key) or advice
    return refused(rows.path, mistake, "runs that differ by their seed", advice)


def _as_seed(key: str, values: Collection[str]) -> str:
    """What says that a field is the seed: texts without a number cannot be one."""
    numbered = all(seed_number(value) is not None for value in values)
    return f"--seed {key}" if numbered else "a column `seed` with a number for each row"


def _one_phase(rows: Rows, key: str) -> str:
    """What to do about numbers of training and test; empty where a field says no such thing."""
    values = sorted({value for cells in rows.cells(key).values() for value in cells})
    if not {value.casefold() for value in values} <= PHASES:
        return ""
    return f"take the rows of one, as in --task-field {key} --task {values[0]}"


def _a_series(rows: Rows, key: str) -> ClaimError:
    steps = max(map(len, rows.cells(key).values()))
    advice = "name the run of each row in a column `seed`: then the last value of each run is taken"
    once = all(max(values.values()) == 1 for values in rows.cells(key).values())
    what = f"the {steps} steps of one run per arm" if once else "steps of runs that have no number"
    mistake = f"no seeds are named, and by '{key}' the rows are {what}: they are not replicates"
    return refused(rows.path, mistake, "several runs of each arm", advice)


def _recurring(rows: Rows, key: str) -> ClaimError:
    values = dict.fromkeys(value for cells in rows.cells(key).values() for value in cells)
    mistake = f"no seeds are named, and '{key}' is the same in every arm: {named(values)}"
    by_it = f"--arm {key} to compare by it" if role_of(key) == "arm" else ""
    each = by_it or f"{_as_seed(key, values)} if each is a run of its own"
    ways = f"say what it is: --task-field {key}, {each}, or --unit FIELD for "
    ways += "the field of the run whose evaluations these are; or leave that "
    ways += "column out if every row is a run"
    return refused(rows.path, mistake, "runs that differ by their seed alone", ways)


def refuse_repeated(rows: Rows, told: Collection[str]) -> None:
    """ClaimError where a seed is there twice and a field says which row is which."""
    if rows.told_apart():
        return
    keys = [key for key in rows.keys(told) if role_of(key) != "measure"]
    apart = next(_telling(rows, keys), ())
    if not apart:
        return
    counts = Counter(rows.places())
    (arm, *place), times = counts.most_common(1)[0]
    both = " and ".join(f"'{key}'" for key in apart)
    tells = "tell them apart" if len(apart) > 1 else "tells them apart"
    of_task = f", task '{place[0]}'" if rows.task else ""
    mistake = f"arm '{arm}' has {times} rows with {rows.seed} {place[-1]}{of_task}; {both} {tells}"
    advice = f"--unit {rows.seed} averages the rows of each run, and --task-field {apart[0]} says "
    advice += f"that '{apart[0]}' is the task"
    if role_of(apart[0]) in PART:
        advice = f"--unit {rows.seed} averages the rows of each run"
    advice = _one_phase(rows, apart[0]) or advice
    raise refused(rows.path, mistake, "one row for each run", advice)


def _telling(rows: Rows, keys: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The fields that tell repeated rows apart, one or two, those of a known role first."""
    known = sorted(keys, key=lambda key: (role_of(key) is None, number_like(rows.runs, key)))
    yield from ((key,) for key in known if rows.told_apart(key))
    for place, key in enumerate(known):
        for other in known[place + 1 :]:
            if rows.told_apart(key, other):
                yield key, other


def step_field(rows: Rows, told: Collection[str]) -> str:
    """The field that counts the steps of each run, where the rows are those of series."""
    if rows.told_apart():
        return ""
    steps = [key for key in rows.keys(told) if role_of(key) == "step"]
    return next((key for key in steps if number_like(rows.runs, key) and rows.told_apart(key)), "")


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


def refuse_steps_of_unit(rows: Rows, told: Collection[str]) -> None:
    """ClaimError where rows that are to be averaged are steps of a series."""
    for key in rows.keys(told):
        if role_of(key) == "step" and not rows.told_apart():
            raise _over_steps(rows, key)


def _over_steps(rows: Rows, key: str) -> ClaimError:
    mistake = f"--unit {rows.seed} would average over '{key}', the steps of a series"
    advice = f"leave all but the last '{key}' out, or average over what is no step"
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
