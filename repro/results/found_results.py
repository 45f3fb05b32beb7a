"""What results hold: which runs are of which arm, their seeds, and the number that is compared.

Everything that is guessed is said, and an option says it instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from repro.errors import ClaimError, DataError
from repro.results.claim_imports import imports_of, imports_of_logs, plain_seeds, table_name
from repro.results.column_arms import ARM
from repro.results.file_forms import forms_of_chart, one_run_of
from repro.results.folds import cross_validated, folds_of, of_folds, paired_by_folds, with_folds
from repro.results.forms import (
    Form,
    FoundRun,
    OneEachError,
    UnfitError,
    Way,
    each_once,
    named,
    unfit,
)
from repro.results.importer import FilesRead
from repro.results.importers import refuse_one_each, runs_of_form, told_of_items, ways_of
from repro.results.path_names import (
    EPISODES,
    arms_in_paths,
    number_in_paths,
    numbered,
    year_in_paths,
)
from repro.results.readings import TASK
from repro.results.row_units import (
    Rows,
    Sheet,
    a_row_each,
    refuse_parts,
    refuse_parts_inside,
    refuse_repeated,
    refuse_steps_of_unit,
    without_tasks,
)
from repro.results.run_fields import (
    SUMS,
    Hints,
    arm_field,
    field_of_task,
    may_recur,
    no_field,
    repeated,
    rows_of_summaries,
    seed_field,
    task_field,
    tasks_left_out,
    text_in,
    unpooled,
    with_cells,
    with_labels,
    with_states,
)
from repro.results.run_values import (
    Columns,
    FoundValue,
    ItemValue,
    averaged,
    each_run,
    field_of_measures,
    measure_of,
    measured,
    no_arms,
    of_columns,
    of_states,
    of_unread,
    refuse_lacking,
    refuse_percent,
    tidy_value,
    values_of,
    what_rows_are,
)
from repro.results.sheets import named_inside, sheet_by_path, sheet_of_columns
from repro.results.steps import (
    doubts_of,
    dropped_at_step,
    field_of_step,
    in_series,
    rows_at_step,
    step_field,
)
from repro.results.wandb import wandb_export
from repro.schema.base import name_of
from repro.schema.numbers import number_of

TIDY = ("arm", "seed", "measurement", "value")

LONGEST_REASON = 600
"""Characters of a reason that a claim file may hold: doubts name arms, whose names may be long."""


@dataclass(slots=True)
class FoundResults:
    """Results as a claim can read them.

    ``imports`` are those of the arms, where a claim may declare them; ``table`` is the name of a
    tidy table that it can read as it is. Where there is neither, the runs have to be copied.
    ``label`` is what a reader calls the number, where that is not its name, ``task`` the field of
    several tasks, ``each`` what one run is by what was read; runs are means of the ``items``, or
    with ``folds`` of one data set each is of a fold; ``apart`` are tasks with folds each.
    ``doubts`` speak against an arm, ``rows`` are the steps of its runs; ``printed`` ones have mean,
    sd and n in place of runs. ``lines`` of logs have the number, the one that counts last.
    """

    path: Path
    runs: dict[str, list[FoundValue]]
    measure: str
    reduce: str = ""
    imports: dict[str, dict[str, Any]] = field(default_factory=dict)
    table: str = ""
    said: list[str] = field(default_factory=list)
    label: str = ""
    task: str = ""
    each: str = ""
    items: tuple[ItemValue, ...] = ()
    folds: int = 0
    apart: bool = False
    doubts: dict[str, str] = field(default_factory=dict)
    rows: Rows | None = None
    printed: dict[str, dict[str, Any]] = field(default_factory=dict)
    lines: tuple[str, ...] = ()

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of all arms, in the order in which they come; none where there is one."""
        every = (run.task for runs in self.runs.values() for run in runs)
        return tuple(dict.fromkeys(filter(None, every)))

    @property
    def called(self) -> str:
        """What a reader calls the number."""
        return self.label or self.measure

    def with_doubts(self, reason: str, arms: Sequence[str]) -> str:
        """A reason, with what speaks against the runs of some arms."""
        said = "; ".join([reason, *(self.doubts[arm] for arm in arms if arm in self.doubts)])
        return said[: max(LONGEST_REASON, len(reason))] if reason else ""


Found = list[tuple[Form, FoundRun]]
"""The runs, each with the form in which it was found."""


def read_results(path: Path, root: Path, hints: Hints) -> FoundResults:
    """The results at ``path``, as a claim in ``root`` would read them.

    Where a folder has results of several forms, those of the first that has what is asked for.
    ClaimError or DataError where they cannot be told apart, or cannot be read.
    """
    above = path.resolve().parent
    base = root if path.resolve().is_relative_to(root.resolve()) else above
    lost: list[tuple[Way, ClaimError | DataError]] = []
    asked = bool(hints.arm or hints.measure)
    ways = ways_of(path, base, hints.reader, asked=asked)
    ways = [one_run_of(path, base)] if hints.lone == "file" else ways
    for place, way in enumerate(ways):
        try:
            at, forms = base, way.forms()
            if any(form.importer["path"] in ("", ".") for form in forms):  # no path below a claim's
                at, forms = above, ways_of(path, above, hints.reader)[place].forms()
            results = _read(path, at, hints, forms)
            refuse_one_each(path, way, {} if hints.alone else results.runs)
        except OneEachError as error:
            raise error if hints.alone else told_of_items(error, path, way, base) from None
        except (UnfitError, DataError) as error:
            lost.append((way, error))
            continue
        if at != root:
            results.imports, results.table = {}, ""
        results.said += [f"not used, {way.words}: {_first(error)}" for way, error in lost]
        also = [other.words for other in ways[place + 1 :] if other.words != "logs"]
        results.said += [f"not read, though there as well: {', '.join(also)}"] if also else []
        return results
    first, *others = lost
    more = "".join(f"\n{way.words}, there as well: {_first(error)}" for way, error in others)
    raise type(first[1])(f"{first[1]}{more}")


def _first(error: Exception) -> str:
    """What is wrong, without what to do."""
    return str(error).partition("\n")[0]


def _read(path: Path, base: Path, hints: Hints, forms: Sequence[Form]) -> FoundResults:
    """The results in forms, by paths below ``base``."""
    told = FilesRead()
    every = _found(forms, base, path, told)
    found, only = each_once(every, forms), {}
    hints = with_folds(path, runs := [run for _, run in found], hints)
    if hints.task and not arms_in_paths(forms, runs, hints):
        only = dict([field_of_task(path, runs, hints)])
        found = _having(found, only)
        hints = replace(hints, task="", task_field="")
    if hints.step is None:
        results = _of_forms(path, base, forms, found, hints)
    else:
        results, at = _at_step(path, base, forms, found, (hints, hints.step))
        only |= at
    results.said += left_out(forms)
    results.said += [*told.said, *(note for form in forms for note in form.notes)]
    if forms[0].log and forms[0].arm and hints.step is None:
        there = (results.runs, results.measure, results.reduce)
        if imports := imports_of_logs(path, base, forms, *there):
            results.imports, results.label = imports, results.measure
            results.measure = name_of(results.measure, before="value")
    if len(found) < len(every) or any(form.first for form in forms):
        results.imports = {}
    if only:
        results.said += (f"only '{value}' of the field '{key}'" for key, value in only.items())
        results.table = ""
        results.imports = {
            arm: {**declared, "where": {**declared.get("where", {}), **only}}
            for arm, declared in results.imports.items()
        }
    results.said.append(what_rows_are(results.runs, results.task, results.each))
    return results


def _having(found: Found, only: Mapping[str, str]) -> Found:
    """The runs whose fields are written so."""
    return [
        (form, run)
        for form, run in found
        if all(str(run.fields.get(key)) == value for key, value in only.items())
    ]


def _of_forms(
    path: Path, base: Path, forms: Sequence[Form], found: Found, hints: Hints
) -> FoundResults:
    """The results in runs that were found: in a tidy table, a chart, or any other form.

    Rows that sum up others are none of them.
    """
    if sums := rows_of_summaries([run for _, run in found], hints):
        kept = [each for place, each in enumerate(found) if place not in sums]
        results = _of_forms(path, base, forms, kept, hints)
        results.said.append(f"left out, {SUMS}: {named(dict.fromkeys(sums.values()))}")
        results.imports, results.table = {}, ""
        return results
    names = list(dict.fromkeys(name for _, run in found for name in run.fields))
    if not set(TIDY) <= set(names) and (
        key := field_of_measures(path, [run for _, run in found], hints)
    ):
        return _of_measure(path, base, forms, found, (hints, key))
    tabular = forms[0].importer.get("each") == "row" and path.is_file()
    exported = (wandb_export(names) or ("",))[0] if tabular else ""
    if tabular and set(TIDY) <= set(names):
        return _tidy(path, base, found, hints)
    if "chart" in exported:
        return _chart(path, base, names, hints)
    results = _of_runs(path, forms, found, hints)
    if exported:
        results.said[0] = "a table of runs that W&B exported"
    return results


def _of_measure(
    path: Path, base: Path, forms: Sequence[Form], found: Found, asked: tuple[Hints, str]
) -> FoundResults:
    """The results in the rows that name the number that is asked for in a field."""
    hints, key = asked
    mine = [
        (form, replace(run, fields={name: run.fields[name] for name in run.fields if name != key}))
        for form, run in found
        if str(run.fields.get(key, "")).strip() == hints.measure
    ]
    results = _of_forms(path, base, forms, mine, replace(hints, measure=""))
    results.said.append(f"by '{key}' only the rows of '{hints.measure}'")
    results.measure, results.label = name_of(hints.measure, before="value"), hints.measure
    results.imports, results.table = {}, ""
    return results


def _at_step(
    path: Path, base: Path, forms: Sequence[Form], found: Found, asked: tuple[Hints, int]
) -> tuple[FoundResults, dict[str, str]]:
    """The results at the step that is asked for, the field and the step; and what is dropped."""
    (hints, step), runs, at = asked, [run for _, run in found], {}
    table = path.is_file() and hints.lone != "file"
    if table:
        at = dict([field_of_step(path, runs, step)])
        cut = _having(found, at)
    else:
        key, rows = rows_at_step(path, runs, step)
        cut = [
            (form, replace(run, rows=mine))
            for (form, run), mine in zip(found, rows, strict=True)
            if mine
        ]
    results = _of_forms(path, base, forms, cut, hints)
    if not table:
        results.said.append(f"only {step} of the number '{key}'")
        results.imports, results.table = {}, ""
    with suppress(ClaimError, DataError):
        measure = hints.measure if table else results.measure
        whole = replace(hints, step=None, measure=measure)
        before = _of_forms(path, base, forms, found, whole).runs
        lost = dropped_at_step(step, before, results.runs)
        results.doubts = {**results.doubts, **lost}
        results.said += lost.values()
    return results, at


def _found(forms: Sequence[Form], base: Path, path: Path, told: FilesRead) -> Found:
    return [(form, run) for form in forms for run in runs_of_form(path, form, base, told)]


def _tidy(path: Path, base: Path, found: Found, hints: Hints) -> FoundResults:
    """A table with the columns arm, seed, measurement and value: where it can be, as it is."""
    arm, seed = hints.arm or "arm", hints.unit or hints.seed or "seed"
    every = [run for _, run in found]
    measures = list(dict.fromkeys(text_in(path, run, "measurement") for run in every))
    measure, said = measure_of(path, measures, hints)
    mine = [run for run in every if text_in(path, run, "measurement") == measure]
    for name in (arm, seed):
        if name not in mine[0].fields:
            raise no_field(path, name, list(mine[0].fields))
    mine, ended = with_states(path, mine, hints)
    runs = [replace(run, rows=[{measure: tidy_value(path, run)}]) for run in mine]
    sheet = Sheet(
        [f"a table with a row per value ({arm}, {seed}, measurement, value)"],
        Rows(path, [text_in(path, run, arm) for run in runs], runs, seed),
        {*TIDY, arm, seed, *ended},
        arm,
        ended,
        cells=False,
    )
    results = _of_sheet(sheet, hints, (measure, said))
    as_it_is = (arm, seed) == ("arm", "seed") and results.task in ("", TASK)
    plain = as_it_is and not (hints.unit or results.reduce)
    results.table = table_name(path, base) if plain else ""
    results.reduce = ""
    return results


def _of_runs(path: Path, forms: Sequence[Form], found: Found, hints: Hints) -> FoundResults:
    if not found:
        raise unfit(path, "no run is in it", "results", "check the path")
    log = forms[0].words.startswith("a log")
    runs, ended = with_states(path, [run for _, run in found], hints, log=log)
    templates = [str(form.importer["path"]) for form in forms]
    number = number_in_paths(templates, hints) or year_in_paths(runs, hints)
    runs = [numbered(run, number) for run in runs] if number else runs
    found = [(form, run) for (form, _), run in zip(found, runs, strict=True)]
    if forms[0].arm and not named_inside(forms, found, hints):
        sheet = sheet_by_path(path, forms, found, ended, hints)
        sheet.read = () if number else sheet.read
        return _of_sheet(sheet, replace(hints, task_field="") if hints.task else hints)
    seed, label = seed_field(path, runs, hints), ""
    if not seed:
        runs, label, seed = with_labels(runs, hints)
    told = {seed, *ended}
    where = label or arm_field(path, runs, told, hints)
    if not (hints.arm or hints.lone or may_recur(runs, where)):
        where = ""
    if not where or not (hints.lone == "arm" or repeated(runs, where)):
        if wide := sheet_of_columns(path, runs, ended, hints):
            return _of_sheet(wide, hints, ("value", ""))
        if not where:
            return _of_one_arm(path, forms[0], runs, (seed, ended), hints)
    mine = [run for run in runs if where in run.fields]
    sheet = Sheet(
        [forms[0].words, f"arms by the field '{where}'"],
        Rows(path, [str(run.fields[where]) for run in mine], mine, seed),
        {*told, where},
        where,
        ended,
        cells=forms[0].importer.get("each") == "row",
    )
    if not (number or ended or label or forms[0].runs is not None or forms[0].arm):
        sheet.read = forms
    if apart := len(runs) - len(mine):
        sheet.words.append(f"left out, without '{where}': {number_of(apart, 'run')}")
    return _of_sheet(sheet, hints)


def _of_one_arm(
    path: Path, form: Form, runs: list[FoundRun], told: tuple[str, Sequence[str]], hints: Hints
) -> FoundResults:
    """Runs that nothing tells apart but ``told``: the field of the seed, and how runs ended."""
    seed, ended = told
    if not hints.alone:
        raise no_arms(path, runs, hints)
    texts = unpooled(path, runs, {seed, *ended}, hints)
    rows = Rows(path, [path.resolve().stem] * len(runs), runs, seed)
    cells = form.importer.get("each") == "row"
    sheet = Sheet([form.words, "one arm"], rows, {seed, *ended}, "", ended, cells=cells)
    sheet.words += [f"not taken for arms: {named(texts)}"] if texts else []
    return _of_sheet(sheet, hints)


def _of_sheet(sheet: Sheet, hints: Hints, chosen: tuple[str, str] | None = None) -> FoundResults:
    """The results in rows whose arms are known: their task and number, and what a row is."""
    rows, told, path = sheet.rows, sheet.told, sheet.rows.path
    task = task_field(path, rows.runs, told, hints)
    told |= {task}
    rows = replace(rows, task=task)
    measure, said = chosen or _number(rows, told, hints)
    refuse_percent(path, ((run.place, row.get(measure)) for run in rows.runs for row in run.rows))
    lost = tasks_left_out(rows.runs, task, measure)
    rows = without_tasks(rows, lost)
    found, rows = paired_by_folds(rows, {*told, measure}, hints)
    told |= {found.seed, rows.seed}
    folds = folds_of(found, rows)
    step = _as_runs(rows, {*told, measure}, hints, numbered=sheet.numbered)
    read = rows
    if sheet.cells and sheet.where != ARM:
        read = replace(rows, runs=with_cells(path, rows.runs, measure))
    plain = read == rows and not step and rows.runs is found.runs
    plain = plain and not any(
        form.left_out and "{folder}" in str(form.importer) for form in sheet.read
    )
    if not step:
        refuse_parts_inside(read, measure, unit=bool(hints.unit))
    rows = in_series(read, step) if step else read
    rows = a_row_each(rows, measure) if hints.unit else rows
    several = any(sum(measure in row for row in run.rows) > 1 for run in rows.runs)
    columns = Columns(rows.seed, task, measure, "last" if several else "", unit=bool(hints.unit))
    results = FoundResults(path, values_of(path, rows.arms, rows.runs, columns), measure)
    results.reduce, results.task, results.folds = columns.reduce, task, folds
    results.apart = cross_validated(found, {*told, measure})
    lines = (
        *of_columns(rows, columns, lost, step),
        *of_folds(found, rows, folds, hints),
    )
    results.said = [*filter(None, (*sheet.words[:2], said, *lines, *sheet.words[2:]))]
    results.said += of_states(rows.runs, sheet.ended)
    results.doubts = doubts_of(rows, {*told, measure}, measure, step, hints)
    results.said += dict.fromkeys(results.doubts.values())
    results.rows = None if hints.unit else rows
    results.said += of_unread(rows.runs, {*told, measure, step}) if sheet.cells else ()
    results.each = each_run(rows, hints)
    if hints.unit:
        episodes = all(run.place.endswith(EPISODES) for run in rows.runs)
        results.runs = averaged(results.runs, uneven=episodes)
    elif rows.seed and plain and sheet.read and not lost and plain_seeds(rows):
        results.imports = imports_of(sheet, rows)
    return results


def _number(rows: Rows, told: set[str], hints: Hints) -> tuple[str, str]:
    """The number to compare, and what is said of the choice."""
    refuse_lacking(rows.path, rows.runs, rows.arms, told, hints.measure)
    names = measured(rows, told, hints.measure)
    return measure_of(rows.path, names, hints, rows.runs)


def _as_runs(rows: Rows, told: set[str], hints: Hints, *, numbered: bool) -> str:
    """The field of the steps, where rows are those of series; ClaimError where rows are no runs."""
    if not rows.seed:
        refuse_parts(rows, told, numbered=numbered)
        return ""
    if hints.unit:
        refuse_steps_of_unit(rows, told, hints.seed)
        return ""
    if step := step_field(rows, told):
        return step
    refuse_repeated(rows, told)
    return ""


# columns that are runs, or arms


def _chart(path: Path, base: Path, names: Sequence[str], hints: Hints) -> FoundResults:
    """A chart of W&B, a column per run: what differs between the names of the runs is the arm."""
    place = path.resolve().relative_to(base.resolve()).as_posix()
    forms, number = forms_of_chart(path, place, names, hints.measure)
    results = _of_runs(
        path, forms, _found(forms, base, path, FilesRead()), replace(hints, measure="value")
    )
    results.label = number
    results.said = [
        f"the number '{number}'" if "'value'" in each else each for each in results.said
    ]
    results.said += left_out(forms)
    return results


def left_out(forms: Sequence[Form]) -> list[str]:
    """What is said of files, or columns, without a number, and alone: no arm has one run."""
    first = [form.first.name for form in forms if form.first]
    said = [f"the first run, from which others are numbered on: {named(first)}"] if first else []
    left = [name for form in forms for name in form.left_out]
    return said + ([f"left out, for no other is named alike: {named(left)}"] if left else [])
