"""Folds of cross-validation: averaged in each of several data sets, and pairs of one.

Folds share their training data. So those of one data set are compared by the corrected resampled
t-test, which a claim asks for by `folds`, and never as if they were independent runs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from repro.errors import ClaimError
from repro.results.forms import FoundRun, named, refused
from repro.results.roles import PHASES, is_k_fold, plain, role_of, seed_number
from repro.results.row_units import REPEATS, Rows, cuts_data, may_repeat
from repro.results.run_fields import Hints, number_like
from repro.results.steps import step_field
from repro.schema.numbers import number_of


def with_folds(path: Path, runs: Sequence[FoundRun], hints: Hints) -> Hints:
    """The hints, in which a unit that is a task is the task, too: its folds are averaged.

    ClaimError where folds of several data sets are named as runs: fold 1 of each is not a run.
    """
    if hints.unit and not hints.task_field and role_of(hints.unit) == "task":
        return replace(hints, task_field=hints.unit)
    folds = next((each for each in (hints.unit, hints.seed) if role_of(each) == "fold"), "")
    if folds and not is_k_fold(folds):
        mistake = (
            f"the parts that '{folds}' tells apart are drawn from one data set, and are not runs"
        )
        advice = "give runs with other seeds; or call the field `fold`, if that is what they are"
        raise refused(path, mistake, "runs that differ by their seed", advice)
    tasks = [
        key
        for key in dict.fromkeys(key for run in runs for key in run.fields)
        if key == hints.task_field or (role_of(key) == "task" and not hints.task_field)
        if len({str(run.fields.get(key)) for run in runs}) > 1
    ]
    if folds and tasks and not hints.task:
        raise _of_data_sets(path, tasks[0])
    return hints


def paired_by_folds(rows: Rows, told: Collection[str], hints: Hints) -> tuple[Rows, Rows]:
    """The rows with the field of their repeats as a seed, and with that of their folds, if any.

    In a repeated cross-validation each fold has a number among all. ClaimError for folds that
    cannot be paired, and for repeats as runs: they share all their data.
    """
    if hints.unit:
        _refuse_unit(rows, told, hints)
        return rows, rows
    told = {*told} - {rows.seed if role_of(rows.seed) == "fold" else ""}
    for key in _folds(rows, told):
        paired = replace(rows, seed=key)
        each_once = paired.told_apart() or bool(step_field(paired, told))
        repeat = _repeat(rows, key, told)
        if rows.task and rows.seed and (each_once or repeat):
            raise _of_data_sets(rows.path, rows.task)
        if rows.task:
            continue
        if repeat:
            before = replace(rows, seed=repeat)
            if not (REPEATS.fullmatch(plain(repeat)) or rows.seed == key):
                raise _of_seeds(rows.path, key, repeat)
            return before, _repeated(before, key)
        if each_once:
            return rows, paired
    return rows, rows


def _repeat(rows: Rows, key: str, told: Collection[str]) -> str:
    """The field that has several folds for each of its values, by which rows are told apart."""
    bare, keys = replace(rows, seed=""), rows.keys({*told, key})
    others = [each for each in keys if REPEATS.fullmatch(plain(each)) and role_of(each) != "step"]
    named_one = [each for each in keys if role_of(each) == "seed" and rows.seed == key]
    for other in dict.fromkeys((*others, rows.seed, *named_one)):
        if other in ("", key):
            continue
        both = bare.told_apart(other, key) or _steps_apart(replace(rows, seed=other), key, told)
        inside = {*zip(bare.places(other), bare.places(key), strict=True)}
        counts = Counter(place for place, _ in inside)
        if both and len(counts) > len({*rows.arms}) and min(counts.values()) > 1:
            return other
    return ""


def _refuse_unit(rows: Rows, told: Collection[str], hints: Hints) -> None:
    """ClaimError where folds of one data set are to be averaged in each of its repeats."""
    if hints.unit == rows.task or role_of(hints.unit) == "fold":
        return
    for key in rows.keys(told):
        if not cuts_data(rows, key):
            continue
        if rows.task:
            raise _of_data_sets(rows.path, rows.task)
        if hints.alone:
            refuse_folds(rows.path, len({str(run.fields.get(key)) for run in rows.runs}))
        mistake = (
            f"--unit {hints.unit}: averages over '{key}' share all their data, and are not runs"
        )
        advice = f"--seed {key} compares the arms fold by fold; or, if each '{hints.unit}' is "
        advice += f"another data set, add --task-field {hints.unit}"
        raise refused(rows.path, mistake, "folds that are compared as such", advice)


def _of_seeds(path: Path, key: str, seed: str) -> ClaimError:
    mistake = f"each '{seed}' has several rows by '{key}', and nothing says whether the data were "
    mistake += "cut into other folds for each"
    other = f"--seed {key}" if may_repeat(seed) else f"call '{seed}' repeat"
    advice = f"{other} if each '{seed}' has other folds; --unit {key} if the folds are the same "
    advice += f"for every '{seed}', whose rows are then averaged"
    return refused(path, mistake, "folds, and what their repeats are", advice)


def _folds(rows: Rows, told: Collection[str]) -> Iterator[str]:
    """The fields of folds of cross-validation, with a number each.

    ClaimError for texts where a seed tells the rows apart, too: they would be left unread.
    """
    for key in rows.keys(told):
        cells = [str(run.fields.get(key, "")).strip() for run in rows.runs]
        phases = {cell.casefold() for cell in cells} <= PHASES
        if role_of(key) != "fold" or not is_k_fold(key) or phases:
            continue
        if all(seed_number(cell) is not None for cell in cells):
            yield key
        elif rows.seed and rows.told_apart() and not number_like(rows.runs, key):
            mistake = (
                f"'{key}' differs between the rows of an arm ({named({*cells})}): folds share "
            )
            mistake += "their training data and are not independent runs"
            advice = f"write a number for each fold into '{key}', the same in every arm; or leave "
            advice += "that column out if it is not about folds"
            raise refused(rows.path, mistake, "numbers of folds", advice)


def cross_validated(rows: Rows, told: Collection[str]) -> bool:
    """Whether the rows of a data set are its folds, so that it was trained on by itself."""
    return bool(rows.task) and rows.seed == rows.task and any(_folds(rows, told))


def _steps_apart(rows: Rows, key: str, told: Collection[str]) -> bool:
    """Whether the steps of a series tell apart the rows of one seed and fold."""
    return any(role_of(step) == "step" and rows.told_apart(key, step) for step in rows.keys(told))


def _of_data_sets(path: Path, task: str) -> ClaimError:
    mistake = f"the rows are of several data sets, by '{task}', each with folds"
    advice = f"--unit {task} averages the folds of each; or name one, as in --task NAME"
    return refused(path, mistake, "one number for each data set", advice)


def _repeated(rows: Rows, key: str) -> Rows:
    """The rows, with a number for each fold of each repeat."""
    places = [(run.fields.get(rows.seed), seed_number(run.fields.get(key))) for run in rows.runs]
    numbers = {place: number for number, place in enumerate(dict.fromkeys(places))}
    runs = [
        replace(run, fields={**run.fields, key: numbers[place]})
        for run, place in zip(rows.runs, places, strict=True)
    ]
    return replace(rows, runs=runs, seed=key)


def folds_of(before: Rows, rows: Rows) -> int:
    """How many folds a data set was cut into; 0 where rows are runs.

    ``before`` are the rows that were found. ClaimError for folds that some arms have, and not all.
    """
    if role_of(rows.seed) != "fold" or rows.task:
        return 0
    by_arm: dict[str, set[str]] = defaultdict(set)
    in_repeat: dict[str, set[int | None]] = defaultdict(set)
    for arm, run in zip(rows.arms, before.runs, strict=True):
        fold = seed_number(run.fields.get(rows.seed))
        of = "" if before.runs is rows.runs else f" of {before.seed} {run.fields[before.seed]}"
        by_arm[arm].add(f"{fold}{of}")
        in_repeat[of].add(fold)
    every = set.union(*by_arm.values())
    for arm, mine in by_arm.items():
        if missing := sorted(every - mine):
            mistake = f"arm '{arm}' has no row of {rows.seed} {named(missing)}"
            advice = "add what is missing, or leave these folds out of every arm"
            raise refused(rows.path, mistake, "the same folds in every arm", advice)
    return max(map(len, in_repeat.values()))


def of_folds(before: Rows, rows: Rows, folds: int, hints: Hints) -> Iterator[str]:
    """What is said of folds, and of what is assumed of them; ``before`` are the rows as found.

    ClaimError for splits that may be folds of a cross-validation or drawn one by one.
    """
    if not folds and hints.test_to_train is not None:
        mistake = "--test-to-train is of the folds or splits of one data set, and there are none"
        raise refused(rows.path, mistake, "a column `fold` or `split`", "leave it out")
    if not folds:
        return
    if hints.test_to_train is None and plain(rows.seed) == "split":
        mistake = f"'{rows.seed}' has {folds} values: folds of one cross-validation, or splits "
        mistake += "drawn one by one, whose test sets overlap"
        expected = "the size of a test set over that of its training set"
        advice = "--test-to-train 0.25 for splits of 80 % and 20 %, "
        advice += f"--test-to-train {1 / (folds - 1):.3g} for {folds} folds"
        raise refused(rows.path, mistake, expected, advice)
    every = len({str(run.fields.get(rows.seed)) for run in rows.runs})
    times = f", {every / folds:.3g} times, by '{before.seed}' and" if every > folds else ", by"
    pairs = f"{number_of(folds, 'fold')} of one data set{times} '{rows.seed}': pairs, compared "
    yield f"{pairs}by the corrected resampled t-test, for they share training data"
    if hints.unit:
        yield f"assumed: all rows of one '{rows.seed}' have the same test set"
    elif every > folds:
        yield (
            f"assumed: each '{before.seed}' makes other folds; --unit {rows.seed} if "
            "the folds are the same in each"
        )
    elif role_of(before.seed) == "seed":
        yield f"'{before.seed}' does not count runs: each fold has one row"
    if hints.test_to_train is not None:
        return
    assumed = f"assumed: {folds}-fold cross-validation, so that a test set is "
    assumed += f"1/{max(folds - 1, 1)} of its training set; of splits that were drawn otherwise, "
    yield f"{assumed}give --test-to-train"


def refuse_folds(path: Path, folds: int) -> None:
    """ClaimError for folds where runs of one arm are asked for: only pairs have a correction."""
    if folds:
        mistake = f"these are {folds} folds of one data set, and not independent runs"
        advice = "give runs with other seeds; or compare two methods fold by fold, in one table "
        advice += "with the columns fold, method and the number"
        raise refused(path, mistake, "runs that are independent of each other", advice)
