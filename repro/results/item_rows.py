"""Results with a row per item: a question, say, that each model answered."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from repro.errors import ClaimError, DataError
from repro.results.column_arms import ARM, runs_of_columns, said_of_columns
from repro.results.forms import Form, FoundRun, UnfitError, Way, named, refused
from repro.results.found_results import FoundResults, left_out
from repro.results.importer import FilesRead
from repro.results.importers import import_of, runs_of_form, ways_of
from repro.results.path_names import parts_of
from repro.results.readings import short
from repro.results.roles import TRIAL, role_of
from repro.results.row_units import Rows
from repro.results.run_fields import (
    SUMS,
    Hints,
    arm_field,
    no_field,
    rows_of_summaries,
    seed_field,
    seed_of,
    text_in,
)
from repro.results.run_values import FoundValue, ItemValue, measure_of, measured, no_arms
from repro.schema.numbers import number_of

LEAST_TASKS = 5
"""No fewer clusters of items are accepted for an error of their mean."""


def read_items(path: Path, root: Path, hints: Hints) -> FoundResults:
    """The items at ``path``, by the field ``hints.items``; each arm has the mean of each run.

    In a folder the first form that has such rows counts. ClaimError where none has, or where a
    row has no number.
    """
    above = path.resolve().parent
    base = root if path.resolve().is_relative_to(root.resolve()) else above
    lost: list[ClaimError | DataError] = []
    for way in ways_of(path, base, hints.reader, asked=True):
        try:
            forms, read = way.forms(), FilesRead()
            found = [(form, run) for form in forms for run in _rows_of(path, way, form, base, read)]
            if not found:
                continue
            sums = rows_of_summaries([run for _, run in found], hints)
            found = [each for place, each in enumerate(found) if place not in sums]
            task = "task" if way.sort == "framework" else _task_field(found, hints)
            found = _of_one_task(path, found, hints, task) if task else found
            results = _of_rows(path, forms, found, hints)
            results.said += [*read.said, *left_out(forms)]
            left = named(dict.fromkeys(sums.values()))
            results.said += [f"left out, {SUMS}: {left}"] if sums else []
            return results
        except (UnfitError, DataError) as error:
            lost.append(error)
    if lost:
        raise ClaimError(str(lost[0]))
    expected, advice = "a table, or JSON lines, with a row per item", "give the file of the items"
    raise refused(path, "no row of an item is in it", expected, advice)


def _rows_of(path: Path, way: Way, form: Form, base: Path, read: FilesRead) -> Iterable[FoundRun]:
    """The rows of items; those of a framework lie next to numbers that are means over them."""
    if way.sort == "framework":
        return import_of(path, form.importer).items(base, read)
    return runs_of_form(path, form, base, read)


def _task_field(found: Sequence[tuple[Form, FoundRun]], hints: Hints) -> str:
    """The field of a table in whose tasks names of items recur, or which an option names."""
    keys = list(dict.fromkeys(key for _, run in found for key in run.fields))
    able = [key for key in (hints.task_field, hints.clusters) if key in keys]
    for key in able or [key for key in keys if role_of(key) == "task"]:
        places = {(run.fields.get(key), run.fields.get(hints.items)) for _, run in found}
        if key == hints.task_field or hints.task or len({item for _, item in places}) < len(places):
            return key
    return ""


def _of_one_task(
    path: Path, found: list[tuple[Form, FoundRun]], hints: Hints, key: str
) -> list[tuple[Form, FoundRun]]:
    """The rows of the task that is asked for, or with tasks as clusters all of them.

    ClaimError for several: names of items recur in each. With several filters a task has the same
    items again, and no other cluster.
    """
    rows = [(form, run, str(run.fields.get(key, ""))) for form, run in found]
    tasks = list(dict.fromkeys(task for *_, task in rows))
    if hints.task and hints.task not in tasks:
        mistake, advice = f"no item is of the task '{short(hints.task)}'", f"one of {named(tasks)}"
        raise refused(path, mistake, "a task that is there", advice)
    if hints.task or len(tasks) < 2:
        return [(form, run) for form, run, task in rows if hints.task in ("", task)]
    plain = {task.removesuffix(f",{run.fields.get('filter')}") for _, run, task in rows}
    one = f"name one, as in --task {shlex.quote(tasks[0])}"
    if len(plain) < len(tasks):
        mistake = f"the items of {named(sorted(plain))} are there several times, scored by filters"
        raise refused(path, f"{mistake}: {named(tasks)}", "each item once", one)
    if hints.clusters == key:
        return [(form, _within(run, hints.items, task)) for form, run, task in rows]
    if len(tasks) >= LEAST_TASKS:
        one += f", or take each for a cluster of items: --clusters {shlex.quote(key)}"
    raise refused(path, f"the items are of several tasks: {named(tasks)}", "items of one task", one)


def _within(run: FoundRun, items: str, task: str) -> FoundRun:
    """The row of an item that is named within its task."""
    return replace(run, fields={**run.fields, items: f"{task}: {run.fields.get(items, '')}"})


def _of_rows(
    path: Path, forms: Sequence[Form], found: Sequence[tuple[Form, FoundRun]], hints: Hints
) -> FoundResults:
    runs = [run for _, run in found]
    for name in filter(None, (hints.items, hints.clusters)):
        if not any(name in run.fields for run in runs):
            known = list(dict.fromkeys(key for run in runs for key in run.fields))
            raise no_field(path, name, known)
    named_seed = "seed" if all("seed" in run.fields for run in runs) else ""
    seed = seed_field(path, runs, hints) if hints.seed else named_seed
    trial = _trial_field(runs, seed)
    told = {hints.items, hints.clusters, seed, trial} - {""}
    runs, wide = _of_columns(path, _with_answers(runs, told, hints.measure), told, hints)
    if forms[0].arm and not hints.arm:
        templates = [str(form.importer["path"]) for form in forms]
        names = parts_of(path, [form.arm for form in forms], templates, hints).arms
        of = dict(zip(map(id, forms), names, strict=True))
        where, arms = "", [of[id(form)] for form, _ in found]
    else:
        if not (hints.arm or hints.alone or hints.measure):
            _refuse_gap(path, runs, told)
        where = arm_field(path, runs, _no_arms_of(runs, told, hints), hints)
        if not (where or hints.alone):
            raise no_arms(path, runs, hints)
        arms = [text_in(path, run, where) if where else path.resolve().stem for run in runs]
    _refuse_other_texts(path, [*zip(arms, runs, strict=True)], {*told, where}, hints, trial)
    names_of_numbers = measured(Rows(path, arms, runs, seed), {*told, where}, hints.measure)
    measure, said = measure_of(path, names_of_numbers, hints, runs)
    others = [name for name in _answers(runs) if name not in {*told, where, measure}]
    if others and not hints.measure and len(names_of_numbers) == 1:
        said += f" (not {named(others)}; else: --measure {shlex.quote(others[0])})"
    rows = [_row(path, arm, run, measure, seed, hints) for arm, run in zip(arms, runs, strict=True)]
    _refuse_twice(path, rows, runs, trial)
    rows, averaged = _averaged(rows, trial) if trial else (rows, "")
    results = FoundResults(path, _means(rows), measure, items=tuple(rows))
    counts = Counter(row.arm for row in rows)
    many = ", ".join(f"{arm} {number_of(count, 'row')}" for arm, count in counts.items())
    by = f"by the field '{where}'" if where else "by the paths"
    items = number_of(len({row.item for row in rows}), "item")
    results.said = [f"a row per item, by '{hints.items}': {items}; {many}", f"arms {by}", said]
    results.said += filter(None, [wide, averaged])
    if hints.clusters:
        clusters = number_of(len({row.cluster for row in rows}), "cluster")
        results.said.append(f"{clusters}, by '{hints.clusters}'")
    return results


def _refuse_gap(path: Path, runs: Sequence[FoundRun], told: set[str]) -> None:
    """ClaimError for the first empty cell of columns that are else right and wrong answers.

    Only where each item has one row and all other columns are such, so that these are the models.
    """
    others = [name for name in runs[0].fields if name not in told]
    cells = {name: {str(run.fields.get(name, "")).strip() for run in runs} for name in others}
    answers = [name for name in others if cells[name] <= {"0", "1", "0.0", "1.0", ""}]
    gaps = (
        (run, name) for run in runs for name in answers if all(name not in row for row in run.rows)
    )
    if len(answers) > 1 and answers == others and (gap := next(gaps, None)):
        mistake = f"{gap[0].place}, column '{gap[1]}': the cell is empty"
        expected = f"an answer of each of {named(answers)}, 1 or 0"
        advice = "write 0 there, if a missing answer is a wrong one, or leave that row out"
        raise refused(path, mistake, expected, advice)


def _no_arms_of(runs: Sequence[FoundRun], told: set[str], hints: Hints) -> set[str]:
    """The fields that name no arm: of one model's answers all that are not called so."""
    if not hints.alone:
        return told
    return told | {key for run in runs for key in run.fields if role_of(key) != "arm"}


ANSWERS = {"true": 1.0, "false": 0.0, "correct": 1.0, "incorrect": 0.0, "c": 1.0, "i": 0.0} | {
    "right": 1.0, "wrong": 0.0, "pass": 1.0, "fail": 0.0, "passed": 1.0, "failed": 0.0
}  # fmt: skip
"""What a right and a wrong answer may be called."""


def _with_answers(runs: list[FoundRun], told: set[str], measure: str) -> list[FoundRun]:
    """The rows with 1 and 0 for fields that say in words whether an answer is right.

    One that says the same in all rows is a setting, unless it is the ``measure`` that is asked for.
    """
    texts = {
        name: [str(run.fields.get(name, "")).casefold() for run in runs]
        for name in runs[0].fields
        if name not in told
    }
    right = {
        name: of
        for name, of in texts.items()
        if all(text in ANSWERS for text in of) and (len({*of}) > 1 or name == measure)
    }
    return [
        replace(
            run,
            rows=[
                {**row, **{name: ANSWERS[of[at]] for name, of in right.items()}}
                for row in run.rows or [{}]
            ],
        )
        for at, run in enumerate(runs)
    ]


def _answers(runs: Sequence[FoundRun]) -> list[str]:
    """The numbers that say in every row whether an answer is right."""
    rows = [row for run in runs for row in run.rows]
    return [name for name in rows[0] if {row.get(name) for row in rows} == {0.0, 1.0}]


_OF_ITEM = re.compile(r"(?:is|has|was|needs)_\w+")
"""The name of a column that says what an item is, and not what a model answered."""

_TRUTH = re.compile(r"gold|label|target|truth|ground_truth|y|y_true|expected|reference")
"""The name of a column of right answers, next to which others are predictions."""


def _of_columns(
    path: Path, runs: list[FoundRun], told: set[str], hints: Hints
) -> tuple[list[FoundRun], str]:
    """A row per item and model, where columns besides those ``told`` are of answers.

    Other columns may be there where each item has one row, so that rows tell no arms.
    """
    others = [name for name in runs[0].fields if name not in told]
    models = [
        name
        for name in others
        if not _OF_ITEM.fullmatch(name.casefold())
        and all(row.get(name) in (0, 1) for run in runs for row in run.rows)
    ]
    once = len({str(run.fields[hints.items]) for run in runs}) == len(runs)
    if hints.arm or hints.measure or hints.alone or not (once or models == others):
        return runs, ""
    if len(models) < 2:
        return _of_scores(path, runs, told, hints)
    if truth := [name for name in models if _TRUTH.fullmatch(name.casefold())]:
        mistake = f"'{truth[0]}' is what would be right, so other columns may be predictions"
        advice = f"write 1 where a model is right and 0 where it is wrong, and leave {truth[0]} out"
        raise refused(path, mistake, "a column per model, of right and wrong answers", advice)
    unread = [name for name in others if name not in models]
    kept = [{name: run.fields[name] for name in told} for run in runs]
    long = [
        replace(run, fields={**fields, "model": name}, rows=[{"correct": row[name]}])
        for run, fields in zip(runs, kept, strict=True)
        for row in run.rows
        for name in models
    ]
    said = "the columns with right and wrong answers are the arms"
    return long, f"{said}; left unread: {named(unread)}" if unread else said


def _of_scores(
    path: Path, runs: list[FoundRun], told: set[str], hints: Hints
) -> tuple[list[FoundRun], str]:
    """The same of a table with a column of scores per model."""
    bare = [
        replace(
            run, rows=[{name: row[name] for name in row if name not in told} for row in run.rows]
        )
        for run in runs
    ]
    melted, columns = runs_of_columns(path, bare, hints)
    if not melted:
        return runs, ""
    kept = [{name: run.fields[name] for name in told} for run in melted]
    long = [
        replace(run, fields={**fields, "model": run.fields[ARM]})
        for run, fields in zip(melted, kept, strict=True)
    ]
    return long, said_of_columns(runs, columns)


def _trial_field(runs: Sequence[FoundRun], seed: str) -> str:
    """The one field of every row that counts answers of a trained model; empty without one."""
    names = [name for name in runs[0].fields if name != seed and TRIAL.fullmatch(name.lower())]
    there = [name for name in names if all(name in run.fields for run in runs)]
    return there[0] if len(there) == 1 else ""


def _averaged(rows: Sequence[ItemValue], trial: str) -> tuple[list[ItemValue], str]:
    """A row per item, with the mean over its trials; and how many these were."""
    by_item: dict[ItemValue, list[float]] = {}
    for row in rows:
        by_item.setdefault(row._replace(value=0.0), []).append(row.value)
    counts = sorted({len(values) for values in by_item.values()})
    many = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
    means = [row._replace(value=sum(of) / len(of)) for row, of in by_item.items()]
    return means, f"the mean of {many} trials per item, by '{trial}', of each trained model"


def _refuse_twice(
    path: Path, rows: Sequence[ItemValue], runs: Sequence[FoundRun], trial: str
) -> None:
    """ClaimError for an item that one run has twice: of two tasks, it may be, or of two runs."""
    places: dict[tuple[str, int, str, str], str] = {}
    for row, run in zip(rows, runs, strict=True):
        key = (row.arm, row.seed, row.item, text_in(path, run, trial) if trial else "")
        if (other := places.get(key)) is not None:
            both = f"{other} and {run.place}"
            mistake = f"item '{short(row.item)}' of {row.arm} appears twice: {both}"
            advice = (
                "name the field of the seed: --seed NAME; or rename the field to trial, if one "
                "model answered several times; or give results of one task"
            )
            raise refused(path, mistake, "each item once in each run", advice)
        places[key] = run.place


_TEXTS = (
    re.compile(r"doc_?hash"),
    re.compile(r"doc(?:\..+)?|question|problem|query|instruction|input|target(?:_hash)?"),
    re.compile(r"prompt(?:_hash)?"),
)
"""Fields of what is asked, the surest first; prompts of one question may differ by their form."""


def _refuse_other_texts(
    path: Path, found: Sequence[tuple[str, FoundRun]], told: set[str], hints: Hints, trial: str
) -> None:
    """ClaimError for an item that is another question in one arm than in the other."""
    keys = found[0][1].fields
    able = ([key for key in keys if of.fullmatch(key.casefold())] for of in _TEXTS)
    pairing, mistake = "", ""
    for key in (key for key in next(filter(None, able), []) if key not in told):
        first: dict[tuple[str, str], tuple[str, str]] = {}
        of_arm: dict[str, list[str]] = {}
        others = []
        for arm, run in found:
            text = " ".join(str(run.fields.get(key, "")).split())
            place = (text_in(path, run, hints.items), str(run.fields.get(trial, "")))
            other, before = first.setdefault(place, (arm, text))
            others += [(place[0], other, before, arm, text)] if before != text else []
            of_arm.setdefault(arm, []).append(text)
        texts = [{*each} for each in of_arm.values()]
        if all(each == texts[0] for each in texts) and len(found) == sum(map(len, texts)):
            pairing = pairing or key
        if others and not mistake:
            item, other, before, arm, text = others[0]
            shown = [short(each) for each in (before, text)]
            mistake = f"item '{short(item)}' is not the same in each arm: '{key}' differs, in "
            mistake += f"{other} and {arm}"
            mistake += ": '{}', '{}'".format(*shown) * (shown[0] != shown[1])
    if mistake:
        advice = "have all answer the same items, or name the field of these: --items FIELD"
        advice = (
            f"pair them by another field: --items {shlex.quote(pairing)}" if pairing else advice
        )
        raise refused(path, mistake, "the same items in each arm", advice)


def _row(path: Path, arm: str, run: FoundRun, measure: str, seed: str, hints: Hints) -> ItemValue:
    values = [row[measure] for row in run.rows if row.get(measure) is not None]
    if run.state != "finished" or len(values) != 1 or values[0] is None:
        mistake = f"{run.place}: no one number stands in '{measure}'"
        expected = "a number for each item; 0 where the answer is wrong or missing"
        raise refused(path, mistake, expected, "complete the row")
    number = seed_of(path, run, seed) if seed else 0
    item, cluster = (
        " ".join(text_in(path, run, name).split()) if name else ""
        for name in (hints.items, hints.clusters)
    )
    return ItemValue(arm, number, item, cluster, values[0])


def _means(rows: Sequence[ItemValue]) -> dict[str, list[FoundValue]]:
    """The mean over items of each run, by arm."""
    by_run: dict[tuple[str, int], list[float]] = {}
    for row in rows:
        by_run.setdefault((row.arm, row.seed), []).append(row.value)
    found: dict[str, list[FoundValue]] = {}
    for (arm, seed), values in by_run.items():
        found.setdefault(arm, []).append(FoundValue(seed, sum(values) / len(values)))
    return found
