"""What results hold: which runs are of which arm, their seeds, and the number that is compared.

Everything that is guessed is said, and an option says it instead.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from repro.drafting.claim_text import name_of
from repro.drafting.folder_forms import Form, import_of
from repro.drafting.forms import Way, forms_of_chart, ways_of
from repro.drafting.json_runs import is_series
from repro.drafting.log_runs import pattern_of
from repro.drafting.no_number import (
    refuse_lacking,
    refuse_odd,
    refuse_percent,
    refuse_printed,
)
from repro.drafting.run_fields import (
    COUNTERS,
    MOST_ARMS,
    Hints,
    UnfitError,
    arm_field,
    field_of_task,
    named,
    no_field,
    refused,
    seed_field,
    seed_of,
    task_field,
    task_of,
    tasks_left_out,
    text_in,
    unfit,
    with_cells,
    with_states,
)
from repro.drafting.run_values import Columns, FoundValue, values_of
from repro.errors import ClaimError, DataError
from repro.evidence.imports.importer import FilesRead, FoundRun
from repro.evidence.imports.result_files import FORMS
from repro.evidence.imports.wandb import wandb_export
from repro.evidence.readings import DIVERGED, TASK, value_of
from repro.schema.base import FileName
from repro.schema.numbers import number_of

ORDER_UNSEEN = "and in which order they ran cannot be seen"
"""Without numbers of seeds, of values that follow each other only those of rows are seen."""

TIDY = ("arm", "seed", "measurement", "value")

TESTS = ("test", "eval", "valid", "val", "dev")
"""Of several numbers, the one whose name has the first of these words is the one meant."""


@dataclass(slots=True)
class FoundResults:
    """Results as a claim can read them.

    ``imports`` are those of the arms, where a claim may declare them; ``table`` is the name of a
    tidy table that it can read as it is. Where there is neither, the runs have to be copied.
    ``label`` is what a reader calls the number, where that is not its name, and ``task`` the field
    of the task, where the runs are of several.
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

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of all arms, in the order in which they come; none where there is one."""
        every = (run.task for runs in self.runs.values() for run in runs)
        return tuple(dict.fromkeys(filter(None, every)))

    @property
    def called(self) -> str:
        """What a reader calls the number."""
        return self.label or self.measure


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
    ways = ways_of(path, base, asked=asked)
    for place, way in enumerate(ways):
        try:
            at, forms = base, way.forms()
            if any(form.importer["path"] in ("", ".") for form in forms):  # no path below a claim's
                at, forms = above, ways_of(path, above)[place].forms()
            results = _read(path, at, hints, forms)
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
    found = _found(forms, base, path, told)
    key, only = "", ""
    if hints.task:
        key, only = field_of_task(path, [run for _, run in found], hints.task)
        found = [(form, run) for form, run in found if str(run.fields.get(key)) == only]
    names = list(dict.fromkeys(name for _, run in found for name in run.fields))
    tabular = forms[0].importer.get("each") == "row" and path.is_file()
    exported = (wandb_export(names) or ("",))[0] if tabular else ""
    if tabular and set(TIDY) <= set(names):
        results = _tidy(path, base, found, hints)
    elif "chart" in exported:
        results = _chart(path, base, names, hints)
    else:
        results = _of_runs(path, forms, found, hints)
        if exported:
            results.said[0] = "a table of runs that W&B exported"
    results.said += _left_out(forms)
    results.said += [*told.said, *(note for form in forms for note in form.notes)]
    if forms[0].log and forms[0].arm:
        _import_logs(results, forms, base)
    if key:
        _keep_task(results, key, only)
    return results


def _keep_task(results: FoundResults, key: str, only: str) -> None:
    """A claim that reads the results reads those of one task alone."""
    results.said.append(f"of the field '{key}' only '{only}'")
    results.table = ""
    results.imports = {
        arm: {**declared, "where": {**declared.get("where", {}), key: only}}
        for arm, declared in results.imports.items()
    }


def _found(forms: Sequence[Form], base: Path, path: Path, told: FilesRead) -> Found:
    return [(form, run) for form in forms for run in _runs(form, base, path, told)]


def _runs(form: Form, base: Path, path: Path, told: FilesRead) -> Iterator[FoundRun]:
    if form.runs is not None:
        yield from form.runs
        return
    yield from import_of(path, form.importer).runs(base, told)


# a tidy table


def _tidy(path: Path, base: Path, found: Found, hints: Hints) -> FoundResults:
    """A table with the columns arm, seed, measurement and value: where it can be, as it is."""
    arm, seed = hints.arm or "arm", hints.seed or "seed"
    every = [run for _, run in found]
    measures = list(dict.fromkeys(text_in(path, run, "measurement") for run in every))
    measure, said = _measure(path, measures, hints)
    mine = [run for run in every if text_in(path, run, "measurement") == measure]
    for name in (arm, seed):
        if name not in mine[0].fields:
            raise no_field(path, name, list(mine[0].fields))
    mine, ended = with_states(path, mine)
    arms = [text_in(path, run, arm) for run in mine]
    told = {*TIDY, arm, seed, ended}
    task = task_field(path, mine, arms, told, seeds=True)
    runs: dict[str, list[FoundValue]] = defaultdict(list)
    for name, run in zip(arms, mine, strict=True):
        missing = run.state == "running"
        value = None if missing or run.state == "failed" else _value(path, run)
        of = text_in(path, run, task) if task else ""
        runs[name].append(FoundValue(seed_of(path, run, seed), value, missing, of))
    as_it_is = (arm, seed) == ("arm", "seed") and task in ("", TASK)
    words = f"a table with a row per value ({arm}, {seed}, measurement, value)"
    return FoundResults(
        path,
        dict(runs),
        measure,
        table=_table_name(path, base) if as_it_is else "",
        said=[words, said, *_ended(mine, ended), *_unread(mine, {*told, task})],
        task=task,
    )


def _value(path: Path, run: FoundRun) -> float | None:
    """The value of a row; None where the run diverged. ClaimError for anything else."""
    cell = text_in(path, run, "value")
    if cell.casefold() == DIVERGED:
        return None
    found = value_of(cell)
    if isinstance(found, float):
        return found
    mistake, expected, advice = found
    raise refused(path, f"{run.place}, column 'value': {mistake}", expected, advice)


def _table_name(path: Path, base: Path) -> str:
    """The name by which a claim can read a CSV; empty where it cannot."""
    name = path.resolve().relative_to(base.resolve()).as_posix()
    try:
        if FORMS[path.suffix.lower()] != "csv":
            return ""
        return TypeAdapter(FileName).validate_python(name)
    except ValidationError:
        return ""


# runs


def _of_runs(path: Path, forms: Sequence[Form], found: Found, hints: Hints) -> FoundResults:
    if not found:
        raise unfit(path, "no run is in it", "results", "check the path")
    seed = seed_field(path, [run for _, run in found], hints)
    found, ended = _with_states(path, found, hints)
    where, by_path, apart = "", bool(forms[0].arm), 0
    if not by_path:
        where = arm_field(path, [run for _, run in found], {seed, ended}, hints)
        if not where:
            return _arm_per_column(path, [run for _, run in found], seed, hints)
        every = len(found)
        found = [(form, run) for form, run in found if where in run.fields]
        apart = every - len(found)
    arms = [form.arm if by_path else str(run.fields[where]) for form, run in found]
    told, runs = {seed, where, ended}, [run for _, run in found]
    task = task_field(path, runs, arms, told, seeds=bool(seed))
    told |= {task}
    refuse_lacking(path, runs, arms, told, hints.measure)
    measure, said = _measure(path, _measured(runs, arms, told, hints.measure), hints, runs)
    refuse_percent(path, ((run.place, row.get(measure)) for run in runs for row in run.rows))
    lost = tasks_left_out(runs, task, measure)
    kept = [place for place, run in enumerate(runs) if task_of(run, task) not in lost]
    found = [found[place] for place in kept]
    arms, runs = [arms[place] for place in kept], [runs[place] for place in kept]
    tabular = forms[0].importer.get("each") == "row"
    read = with_cells(path, runs, measure) if tabular else runs
    several = any(sum(measure in row for row in run.rows) > 1 for run in runs)
    columns = Columns(seed, task, measure, "last" if several else "")
    results = FoundResults(path, values_of(path, arms, read, columns), measure, columns.reduce)
    results.task = task
    results.said = [
        forms[0].words,
        "an arm per path" if by_path else f"arms by the field '{where}'",
        said,
        *_said(runs, columns, lost),
    ]
    results.said += [f"left out, without '{where}': {number_of(apart, 'run')}"] if apart else []
    results.said += [*_ended(runs, ended), *(_unread(runs, {*told, measure}) if tabular else ())]
    if seed and not ended and not lost and read == runs and forms[0].runs is None:
        results.imports = _imports(forms, found, where, seed, task)
    return results


def _said(runs: Sequence[FoundRun], columns: Columns, lost: Mapping[str, str]) -> Iterator[str]:
    """What is said of series, seeds and tasks; ``lost`` are tasks that are left out, and why."""
    if columns.reduce:
        yield _last(runs, columns.measure)
    yield f"seeds by the field '{columns.seed}'" if columns.seed else NUMBERED
    if columns.task:
        yield f"tasks by the field '{columns.task}'"
    for why in dict.fromkeys(lost.values()):
        yield f"left out, {why}: {named([task for task in lost if lost[task] == why])}"


NUMBERED = f"no seeds are named: runs are numbered as they come, {ORDER_UNSEEN}"


def _with_states(path: Path, found: Found, hints: Hints) -> tuple[Found, str]:
    """The runs as a field of theirs says that they ended; empty where all have finished."""
    runs, ended = with_states(path, [run for _, run in found])
    if ended in ("", hints.arm):
        return found, ""
    return [(form, run) for (form, _), run in zip(found, runs, strict=True)], ended


def _ended(runs: Sequence[FoundRun], ended: str) -> list[str]:
    """What is said of the field by which runs have ended."""
    lost = sum(run.state == "failed" for run in runs)
    going = sum(run.state == "running" for run in runs)
    said = f"by the field '{ended}' {lost} diverged or failed, {going} are running"
    if lost and all(run.rows and any(run.rows[-1]) for run in runs if run.state == "failed"):
        said += "; if what failed had finished all the same, leave that column out"
    return [said] if ended else []


def _unread(runs: Sequence[FoundRun], told: set[str]) -> list[str]:
    """What is said of the columns that are not read."""
    names = dict.fromkeys(name for run in runs for name in run.fields if name not in told)
    return [f"left unread: {named(names)}"] if names else []


def _last(runs: Sequence[FoundRun], measure: str) -> str:
    """What is said of a series, and of runs that have fewer values than others."""
    counts = sorted({sum(measure in row for row in run.rows) for run in runs})
    unequal = f" (of {counts[0]} to {counts[-1]} values)" if len(counts) > 1 else ""
    return f"the last value of each run{unequal}"


def _imports(
    forms: Sequence[Form], found: Found, where: str, seed: str, task: str
) -> dict[str, dict[str, Any]]:
    """What each arm would declare."""
    said = {"seed": seed, **({"task": task} if task else {})}
    if not where:
        return {form.arm: {**form.importer, **said} for form in forms}
    arms = {str(run.fields[where]): run.fields[where] for _, run in found}
    return {
        arm: {**forms[0].importer, "where": {where: value}, **said} for arm, value in arms.items()
    }


def _import_logs(results: FoundResults, forms: Sequence[Form], base: Path) -> None:
    """Have a claim read the logs by a pattern, where that finds what was read of them here."""
    name = name_of(results.measure, before="value")
    imports = {}
    for form in forms:
        seed = "seed" if "{seed}" in form.importer["path"] else "run"
        pattern = pattern_of(results.measure, name)
        declared = {**form.importer, "pattern": pattern, "seed": seed}
        columns = Columns(seed, "", name, results.reduce)
        try:
            runs = list(import_of(results.path, declared).runs(base, FilesRead()))
            found = values_of(results.path, [form.arm] * len(runs), runs, columns)
        except DataError:
            return
        if found != {form.arm: results.runs.get(form.arm)}:
            return
        imports[form.arm] = declared
    results.imports, results.label, results.measure = imports, results.measure, name


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
    results.said += _left_out(forms)
    return results


def _left_out(forms: Sequence[Form]) -> list[str]:
    """What is said of files, or columns, that are alone: no arm has one run."""
    left = [name for form in forms for name in form.left_out]
    return [f"left out, for no other is named alike: {named(left)}"] if left else []


def _arm_per_column(path: Path, runs: Sequence[FoundRun], seed: str, hints: Hints) -> FoundResults:
    """A column of numbers per arm, a row per seed; ClaimError where it cannot be that."""
    columns = list(dict.fromkeys(name for run in runs for row in run.rows for name in row))
    arms = [name for name in columns if name != seed and name.casefold() not in COUNTERS]
    complete = all(arm in row for arm in arms for run in runs for row in run.rows)
    known = list(runs[0].fields)
    if hints.measure and hints.measure not in (*known, *columns):
        raise no_field(path, hints.measure, columns, "number", "measure")
    if (
        not path.is_file()
        or hints.measure
        or not 2 <= len(arms) <= MOST_ARMS
        or not complete
        or any(len(run.rows) != 1 for run in runs)
    ):
        refuse_odd(path, runs, hints.measure)
        refuse_printed(path, runs, hints.measure)
        mistake = f"no field tells the arms apart; there are: {named(known) or 'none'}"
        raise unfit(path, mistake, "one that differs between arms", "name it: --arm FIELD")
    if series := [name for name in arms if is_series(name)]:
        mistake = f"no field tells the arms apart, and {named(series)} are the series of one run"
        advice = "give the folder with the files of all runs, or name the field: --arm FIELD"
        raise refused(path, mistake, "the results of several runs", advice)
    refuse_percent(path, ((f"'{arm}'", run.rows[0][arm]) for arm in arms for run in runs))
    values = {
        arm: [
            FoundValue(seed_of(path, run, seed) if seed else place, run.rows[0][arm])
            for place, run in enumerate(runs)
        ]
        for arm in arms
    }
    seeds = f"rows are numbered as seeds, {ORDER_UNSEEN}"
    if seed:
        seeds = f"seeds by the column '{seed}'"
    said = [f"a column per arm: {', '.join(arms)}", seeds, *_unread(runs, {seed, *arms})]
    return FoundResults(path, values, "value", said=said)


# numbers


def _measured(
    runs: Sequence[FoundRun], arms: Sequence[str], taken: set[str], asked: str
) -> list[str]:
    """The number that is ``asked`` for, or those that every arm has and that vary in some arm."""
    by_arm: dict[str, dict[str, set[float | None]]] = defaultdict(lambda: defaultdict(set))
    for arm, run in zip(arms, runs, strict=True):
        for row in run.rows:
            for name, value in row.items():
                by_arm[arm][name].add(value)
    shared = set.intersection(*(set(found) for found in by_arm.values())) if by_arm else set()
    if asked in shared:
        return [asked]
    names = [
        name
        for name in dict.fromkeys(name for found in by_arm.values() for name in found)
        if name in shared and name not in taken and name.casefold() not in COUNTERS
    ]
    varying = [name for name in names if any(len(found[name]) > 1 for found in by_arm.values())]
    return varying or names


def _measure(
    path: Path, names: Sequence[str], hints: Hints, runs: Sequence[FoundRun] = ()
) -> tuple[str, str]:
    """The number to compare, and what is said of the choice."""
    if hints.measure and hints.measure in names:
        return hints.measure, f"the number '{hints.measure}'"
    if not names or hints.measure:
        refuse_odd(path, runs, hints.measure)
        refuse_printed(path, runs, hints.measure)
    if hints.measure:
        raise no_field(path, hints.measure, names, "number", "measure")
    if not names:
        raise unfit(path, "no number is in every arm", "a number per run", "check the path")
    if len(names) == 1:
        return names[0], f"the number '{names[0]}'"
    for word in TESTS:
        having = [name for name in names if word in re.split(r"[^a-z0-9]+", name.casefold())]
        if len(having) == 1:
            others = len(names) - 1
            return having[0], f"the number '{having[0]}' ({others} more: --measure)"
    mistake = f"several numbers may be meant: {', '.join(names[:20])}"
    raise refused(path, mistake, "one", f"name it, as in --measure {names[0]}")
