"""What a row is, once arms and seeds are known: a run, or an item, a fold or a step of one.

No row is a seed unless something says so: rows that may be anything else are refused, with the
options that say what they are.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repro.errors import ClaimError
from repro.results.forms import Form, FoundRun, OneEachError, OneRunError, named, refused
from repro.results.path_names import EPISODES
from repro.results.readings import short, time_of
from repro.results.roles import (
    PART,
    PHASES,
    TRIAL,
    UNCOMPARED,
    Cells,
    cells_by_arm,
    is_index,
    is_k_fold,
    is_regular,
    last_word,
    plain,
    recurs,
    role_of,
    said_fold,
    said_seed,
    seed_number,
    surest,
    varies,
    whole,
)
from repro.results.run_fields import MOST_ARMS, Hints, number_like, task_of

WHAT: Mapping[str, str] = {
    "item": "episodes, trials and questions are parts of what was run",
    "fold": "folds share their training data and are not independent runs",
}
"""Why rows of such a role are not counted."""

_SCATTER = re.compile(r"(?i)[\s_.(-]+(?:std(?:ev|dev|_?err)?|sd|sem|(se|ci(?:95)?))\)?$")
"""How a column of scatter is called; se and ci may be the names of a method, as in ResNet-SE."""
_MEAN = re.compile(r"(?i)[\s_.(-]+(?:mean|avg|average)\)?$")


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
    for key in rows.keys(told):
        role = role_of(key)
        if role in PART:
            why = WHAT[str(role)]
            values = dict.fromkeys(value for cells in rows.cells(key).values() for value in cells)
            mistake = f"no seeds are named, and '{key}' tells rows apart ({named(values)}): {why}"
            advice = _one_phase(rows, key) or _of_parts(rows, key, values)
            raise refused(rows.path, mistake, "runs that differ by their seed", advice)
        counted = role == "index" and numbered and number_like(rows.runs, key)
        if role == "measure" or counted or rows.of_task(key):
            continue
        if (role == "step" and _is_curve(rows, key)) or recurs(
            rows.cells(key), count, exactly=role == "time"
        ):
            raise _a_series(rows, key) if role == "step" else _recurring(rows, key)


def _of_parts(rows: Rows, key: str, values: Collection[str]) -> str:
    """What to do about rows that are items, or folds, of one data set or of several."""
    if role_of(key) == "item":
        item = key
        if TRIAL.fullmatch(key.casefold()):  # what it counts are answers to another field
            others = [each for each in rows.keys({key}) if rows.told_apart(each, key)]
            item = next(iter(others), key)
        return (
            f"--items {item} compares the arms item by item; --unit FIELD names the field of the "
            "run, over which they are averaged"
        )
    if rows.task:
        return f"--unit {rows.task} averages them in each {rows.task}, and these are compared"
    unit = "--unit FIELD names the field of the run, over which they are averaged"
    if role_of(key) != "fold" or not is_k_fold(key):
        return unit
    if any(seed_number(value) is None for value in values):
        return f"write a number for each fold into '{key}', the same in every arm; or {unit}"
    return f"--unit {key} averages the rows of each fold, and folds are compared as such; or {unit}"


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
    advice = "name the run of each row in a column `seed`: then the last value of each run is "
    advice += f"taken{_as_run(key)}"
    once = all(max(values.values()) == 1 for values in rows.cells(key).values())
    what = f"the {steps} steps of one run per arm" if once else "steps of runs that have no number"
    mistake = f"no seeds are named, and by '{key}' the rows are {what}: they are not replicates"
    error = refused(rows.path, mistake, "several runs of each arm", advice)
    return OneRunError(str(error)) if once and len({*rows.arms}) == 1 else error


def _is_curve(rows: Rows, key: str) -> bool:
    """Whether each row of an arm is another step, in order or evenly spaced, and of no run."""
    if not number_like(rows.runs, key) or _named_runs(rows.runs):
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
    each = by_it or f"{_as_seed(key, values)} if each is a run of its own"
    ways = f"say what it is: --task-field {key}, {each}, or --unit FIELD for "
    ways += "the field of the run whose evaluations these are; or leave that "
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
    if role_of(apart[0]) in PART:
        advice = f"--unit {rows.seed} averages the rows of each run"
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


# tables whose columns are arms, or runs of the arm that a row names


ARM = "column"
"""The field of the column in which a value stood."""


def runs_of_rows(
    path: Path, runs: Sequence[FoundRun], hints: Hints
) -> tuple[list[FoundRun], str, str, list[str]] | None:
    """The runs of a table with a row per arm, the field of the arm, and what its columns are.

    These are of a seed each, or of a fold. None where no field names an arm in each row. ClaimError
    where the columns are data sets or numbers, of which each arm has one value.
    """
    columns = _numbers(runs)
    fields = [key for key in runs[0].fields if key not in columns]
    rows = [hints.arm] if hints.arm in fields else surest(fields, "arm")
    key = next((key for key in rows if _names_each(runs, key)), "")
    mine = [name for name in columns if name not in hints.fields]
    if not key or not mine:
        return None
    for what, said in (("seed", said_seed), ("fold", said_fold)):
        if len(mine) > 1 and all(said(name) is not None for name in mine):
            refuse_gap(path, runs, [name for name in runs[0].fields if said(name) is not None])
            values = [_value(run, name, key, {what: said(name)}) for run in runs for name in mine]
            return values, key, what, mine
    if len(mine) == 1 or any(role_of(name) is not None for name in mine):
        mistake = f"a row per arm, by '{key}', with one value each of {named(mine)}"
        advice = "give the results of every run: a row for each, with its seed"
        raise OneEachError(str(refused(path, mistake, "several runs of each arm", advice)), key)
    mistake = f"one value for each arm, by '{key}', and each of {len(mine)} columns, {named(mine)}"
    advice = "if these are data sets, give a row for each, named in a column `dataset`, and a "
    advice += f"column per {key}: these are compared over them; columns of runs are called "
    advice += "seed_0, seed_1 ..."
    raise OneEachError(str(refused(path, mistake, "several runs of each arm", advice)), key)


def _names_each(runs: Sequence[FoundRun], key: str) -> bool:
    cells = [run.fields.get(key) for run in runs]
    texts = all(
        isinstance(cell, str) and cell and whole(cell) is None and said_seed(cell) is None
        for cell in cells
    )
    return texts and 2 <= len(cells) <= MOST_ARMS and len(set(cells)) == len(cells)


def _value(run: FoundRun, name: str, key: str, number: Mapping[str, int | None]) -> FoundRun:
    """One value of a row, as a run."""
    fields = {key: run.fields[key], **number}
    return replace(run, place=f"{run.place}, column '{name}'", fields=fields, rows=_row(run, name))


def _row(run: FoundRun, name: str) -> list[dict[str, float | None]]:
    return [{"value": run.rows[0][name]}] if run.rows and name in run.rows[0] else []


def _numbers(runs: Sequence[FoundRun]) -> list[str]:
    """The columns that hold a number in every row."""
    if any(len(run.rows) != 1 for run in runs):
        return []
    return [name for name in runs[0].rows[0] if all(name in run.rows[0] for run in runs)]


def refuse_gap(path: Path, runs: Sequence[FoundRun], columns: Sequence[str]) -> None:
    """ClaimError for the first cell without a number, where columns are runs or arms."""
    for run in runs:
        for name in columns:
            if all(name not in row for row in run.rows):
                cell = str(run.fields.get(name, "")).strip()
                there = f"'{short(cell)}' is not a number" if cell else "the cell is empty"
                expected = f"a number in each of {named(columns)}, if these are what is compared"
                advice = "write the number there, or leave that row out"
                if not any(role_of(key) == "task" for key in run.fields):
                    advice += "; of a run that diverged, write a row per value: arm,seed,value, "
                    advice += "with `diverged` as its value"
                raise refused(path, f"{run.place}, column '{name}': {there}", expected, advice)


def runs_of_columns(
    path: Path, runs: Sequence[FoundRun], hints: Hints
) -> tuple[list[FoundRun], list[str]]:
    """The runs of a table with a column of numbers per arm, and the arms; none where it is none.

    ClaimError where the columns may be the numbers of one run, or one may number the rows.
    """
    every = _numbers(runs)
    scatters = _scatters(every)
    columns = [
        name
        for name in every
        if name not in (*hints.fields, *scatters)
        and role_of(name) not in UNCOMPARED
        and role_of(name) != "task"
        and not is_index([run.fields.get(name) for run in runs])
    ]
    if hints.measure or not 2 <= len(columns) <= MOST_ARMS or not path.is_file():
        return [], columns
    if len(every) < len({name for run in runs for row in run.rows for name in row}):
        return [], columns  # a cell is empty
    seeds = hints.alone and any(role_of(name) == "seed" for name in runs[0].fields)
    if (series := _of_one_run(columns)) and (_named_runs(runs) or seeds):
        return [], columns
    if series:
        mistake = f"no field tells the arms apart, and {named(series)} are the series of one run"
        advice = "give the folder with the files of all runs, or name the field: --arm FIELD"
        raise refused(path, mistake, "the results of several runs", advice)
    if counting := _counting(runs, columns):
        others = [name for name in columns if name not in counting]
        raise _may_count(path, runs, counting, others)
    return list(_by_column(runs, columns, scatters)), columns


def said_of_columns(runs: Sequence[FoundRun], columns: Sequence[str]) -> str:
    """That there is a column per arm, and which hold a scatter that is not used."""
    scatters = _scatters([*runs[0].fields])
    unused = f"; not used, the scatter of these: {named(scatters)}" if scatters else ""
    return f"a column per arm: {', '.join(columns)}{unused}"


def _scatters(names: Sequence[str]) -> list[str]:
    """Columns of the scatter of a mean: `A_std` next to `A_mean` or `A`; `A_se` to `A_mean`."""
    means = {_MEAN.sub("", name).casefold() for name in names if _MEAN.search(name)}
    any_of = {*means, *(name.casefold() for name in names)}
    return [
        name
        for name in names
        if (found := _SCATTER.search(name))
        and name[: found.start()].casefold() in (means if found[1] else any_of)
    ]


def _counting(runs: Sequence[FoundRun], columns: Sequence[str]) -> list[str]:
    """Columns of whole numbers beside decimals, or of numbers as regular as settings are."""
    found = [name for name in columns if all(whole(run.fields[name]) is not None for run in runs)]
    found = found if len(found) < len(columns) else []
    regular = [name for name in columns if _is_regular([run.rows[0][name] for run in runs])]
    return [name for name in columns if name in (*found, *regular)]


def _is_regular(cells: Sequence[float | None]) -> bool:
    """Whether they are settings or steps: decimals only where they stand in order, too."""
    numbers = [cell for cell in cells if cell is not None]
    ordered = numbers in (sorted(numbers), sorted(numbers, reverse=True))
    return is_regular(numbers) and (ordered or all(number.is_integer() for number in numbers))


def _by_column(
    runs: Sequence[FoundRun], columns: Sequence[str], scatters: Sequence[str]
) -> Iterator[FoundRun]:
    taken = {*columns, *scatters}
    for name in columns:
        for run in runs:
            fields = {key: value for key, value in run.fields.items() if key not in taken}
            place = f"{run.place}, column '{name}'"
            yield replace(run, place=place, fields={**fields, ARM: name}, rows=_row(run, name))


def _named_runs(runs: Sequence[FoundRun]) -> bool:
    """Whether a text is another in each row, and so names its run."""
    for key in runs[0].fields:
        cells = [run.fields.get(key) for run in runs]
        texts = all(isinstance(cell, str) and cell and whole(cell) is None for cell in cells)
        able = role_of(key) in (None, "seed") and not any(time_of(str(cell)) for cell in cells)
        if texts and able and len({*cells}) == len(cells):
            return True
    return False


def _of_one_run(columns: Sequence[str]) -> list[str]:
    """Columns that are named as the numbers of a run are; but `ours_acc` and `base_acc` are not."""
    named_so = [name for name in columns if role_of(name) == "measure"]
    words = {last_word(name) for name in columns}
    stems = [re.split(r"[^a-z0-9]+", name.casefold())[:-1] for name in columns]
    arms = all(stem and not PHASES & set(stem) for stem in stems)
    return [] if arms and len(words) == 1 else named_so


def _may_count(
    path: Path, runs: Sequence[FoundRun], counting: Sequence[str], others: Sequence[str]
) -> ClaimError:
    """Its numbers may be those of seeds, tasks or units only where no other field says these."""
    first = counting[0]
    mistake = f"{named(counting)} may be what numbers the rows, or an arm: whole or regular "
    mistake += f"numbers, beside {named(others) or 'no others'}"
    advice = "leave out of the table what is not an arm; "
    if not any(role_of(key) in ("seed", "fold") for key in runs[0].fields):
        able = all(whole(run.fields[first]) is not None for run in runs)
        seed = f"--seed {first}, " if able else ""
        advice += f"or say what it is: {seed}--task-field {first} or --unit {first}; "
    advice += "of an arm, write a row per value: arm,value"
    return refused(path, mistake, "columns of which each is an arm", advice)
