"""Which number of the runs is compared, its value in each, by arm, and a line for each guess.

Or why none is compared: what stands in its place, or no arms.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from typing import Literal, NamedTuple

from repro.errors import ClaimError
from repro.results.column_arms import refuse_gap
from repro.results.forms import FoundRun, named, refused, unfit
from repro.results.readings import DIVERGED, short, value_of
from repro.results.roles import UNCOMPARED, plain, recurs, role_of, says_best, whole, without_best
from repro.results.row_units import Rows
from repro.results.run_fields import Hints, no_field, seed_of, task_of, text_in, with_cells
from repro.results.series import chosen
from repro.schema.cells import Percent, float_of, is_odd
from repro.schema.numbers import number_of

TESTS = ("test", "eval", "valid", "val", "dev")
"""Of several numbers, the one whose name has the first of these words is the one meant."""

_COSTS = frozenset({
    "time", "times", "seconds", "secs", "sec", "s", "ms", "duration", "runtime", "hours", "minutes",
    "memory", "mem", "mb", "gb", "size", "samples", "count", "n", "num", "steps", "params",
})  # fmt: skip
"""Words of numbers that say what a test took, and not what it came to: `test_time`."""

_ERROR_OF = re.compile(r"(?i)(?<![a-z])(stderr|std_?err)(?![a-z])")
"""A number whose name has such a word is the error of another, which nobody compares."""

PARTS = UNCOMPARED | {"task", "arm"}
_PRINTED = re.compile(r"[-+]?[\d.]+ ?%?\s*(?:±|\+/?-|\\pm|\$\\pm\$)\s*[\d.]+.*|[\d.]+ ?\([\d.]+\)")
"""A mean as papers print it, with its sd or error."""

_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d\d(?:\.\d+)?)")


CHOSEN = "by its name the number is the best of several checkpoints, which flatters it"
"""What is said of a number that was chosen over checkpoints."""


@dataclass(frozen=True, slots=True)
class FoundValue:
    """One run of an arm; without a value it diverged, or is ``missing`` one.

    ``task`` is what it was made on, where the runs are of several.
    """

    seed: int
    value: float | None
    missing: bool = False
    task: str = ""


class ItemValue(NamedTuple):
    """What an arm came to on one item, in the run with a seed; ``cluster`` may be empty."""

    arm: str
    seed: int
    item: str
    cluster: str
    value: float


def answered_once(items: Iterable[ItemValue]) -> bool:
    """Whether items are right or wrong, in one run of each arm, and belong to no cluster."""
    rows = list(items)
    runs = {(row.arm, row.seed) for row in rows}
    values = {row.value for row in rows}
    plain = (values <= {0, 1} or values <= {0, 100}) and not any(row.cluster for row in rows)
    return plain and len(runs) == len({arm for arm, _ in runs})


@dataclass(frozen=True, slots=True)
class Columns:
    """Which fields say seed and task, which number is compared, and how a series is reduced.

    What is empty is not there: runs without seeds are numbered as they come. ``unit``: the seed is
    that of a run of which there are several values.
    """

    seed: str
    task: str
    measure: str
    reduce: str
    unit: bool = False


def measured(rows: Rows, taken: Collection[str], asked: str) -> list[str]:
    """The number that is ``asked`` for, or those that every arm has and that vary in some arm.

    Numbers that the arms share are not among them if there are others: they tell rows apart.
    """
    by_arm: dict[str, dict[str, set[float | None]]] = defaultdict(lambda: defaultdict(set))
    for arm, run in zip(rows.arms, rows.runs, strict=True):
        for row in run.rows:
            for name, value in row.items():
                by_arm[arm][name].add(value)
    shared = set.intersection(*(set(found) for found in by_arm.values())) if by_arm else set()
    if asked in shared:
        return [asked]
    every = dict.fromkeys(name for found in by_arm.values() for name in found)
    names = [name for name in every if name in shared and name not in taken]
    timed = [name for name in names if role_of(name) == "time"]
    names = [name for name in names if role_of(name) not in UNCOMPARED] or timed
    names = [name for name in names if not _ERROR_OF.search(name)] or names
    varying = [name for name in names if any(len(found[name]) > 1 for found in by_arm.values())]
    arms = len(by_arm)
    apart = [
        name for name in varying if role_of(name) == "measure" or not recurs(rows.cells(name), arms)
    ]
    return apart or varying or names


def measure_of(
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
    best = [name for name in names if says_best(name) and without_best(name) in names]
    if best:
        number, said = measure_of(path, [each for each in names if each not in best], hints, runs)
        other = f"--measure {shlex.quote(best[0])}"
        return number, f"{said}; the best of several checkpoints, {other}, is not used"
    if len(names) == 1:
        return names[0], f"the number '{names[0]}'"
    for word in TESTS:
        having = [name for name in names if word in _words(name) and not _COSTS & {*_words(name)}]
        if len(having) == 1:
            others = [name for name in names if name != having[0]]
            more = f"not {named(others)}; else: --measure {shlex.quote(others[0])}"
            return having[0], f"the number '{having[0]}' ({more})"
        if having:
            break  # a number of another word is none of these
    mistake = f"several numbers may be meant: {', '.join(names[:20])}"
    first = next((name for name in names if role_of(name) == "measure"), names[0])
    raise refused(path, mistake, "one", f"name it, as in --measure {shlex.quote(first)}")


_OF_MEASURES = re.compile(r"(?:.*_)?(?:metrics?|measure|measurement|criterion)(?:_name|_type)?")
"""The name of a field that says which number a row has."""


def field_of_measures(path: Path, runs: Sequence[FoundRun], hints: Hints) -> str:
    """The field that names the number of each row, where rows are of several; else empty.

    ClaimError where none of these numbers is asked for: their rows are not of several runs.
    """
    for key in dict.fromkeys(key for run in runs for key in run.fields):
        if key in hints.fields or not _OF_MEASURES.fullmatch(plain(key)):
            continue
        names = dict.fromkeys(str(run.fields.get(key, "")).strip() for run in runs)
        if len(names) < 2 or any(float_of(name) is not None for name in names):
            continue
        if hints.measure not in names:
            mistake = f"by '{short(key)}' rows are of several numbers: {named(names)}"
            advice = f"name it, as in --measure {shlex.quote(next(iter(names)))}"
            raise refused(path, mistake, "one", advice)
        return key
    return ""


def _words(name: str) -> list[str]:
    return re.split(r"[^a-z0-9]+", name.casefold())


def refuse_odd(path: Path, runs: Sequence[FoundRun], name: str) -> None:
    """ClaimError for the first cell such as `1,234`, of any name where none is given."""
    for run in runs:
        for key, value in run.fields.items():
            if name in ("", key) and isinstance(value, str) and is_odd(value.strip()):
                with_cells(path, [run], key)


def refuse_printed(path: Path, runs: Sequence[FoundRun], name: str) -> None:
    """ClaimError for means with their scatter in one cell, and for durations such as 0:12:35."""
    for run in runs:
        for key, value in run.fields.items():
            if name not in ("", key) or not isinstance(value, str):
                continue
            there = f"{run.place}: '{short(value)}' of '{short(key)}' is a"
            if _PRINTED.fullmatch(value.strip()):
                advice = "check printed means by `repro audit`, or declare them as `published`"
                raise refused(path, f"{there} printed mean", "the value of each run", advice)
            if clock := _CLOCK.fullmatch(value.strip()):
                hours, minutes, seconds = (float(part or 0) for part in clock.groups())
                total = 3600 * hours + 60 * minutes + seconds
                other = "" if clock[1] else f", or {60 * total:.15g} if it is hours and minutes"
                advice = f"write it in seconds, {total:.15g}{other}"
                raise refused(path, f"{there} duration or a time of day", "a number", advice)


def refuse_lacking(
    path: Path, runs: Sequence[FoundRun], arms: Sequence[str], told: Collection[str], asked: str
) -> None:
    """ClaimError where one arm has no value of the number, and others have.

    Where none is ``asked`` for, of any number in whose place an arm has a text such as NA.
    """
    having: dict[str, set[str]] = {}
    for arm, run in zip(arms, runs, strict=True):
        for name in {name for row in run.rows for name in row} - {*told, "version"}:
            having.setdefault(name, set()).add(arm)
    if asked and asked not in having and any(asked in run.fields for run in runs):
        refuse_odd(path, runs, asked)
        refuse_printed(path, runs, asked)
        there = [run for run in runs if asked in run.fields]
        mistake = f"no number stands in '{short(asked)}', but {_cells(there, asked)}"
        others = _others(having, len({*arms}))
        advice = f"write numbers there{others and f', or compare another: {others}'}"
        raise unfit(path, mistake, "a number in every arm", advice)
    names = [asked] if asked else [name for name in having if role_of(name) not in UNCOMPARED]
    for name in names:
        for arm in dict.fromkeys(arms) if name in having else ():
            if arm in having[name]:
                continue
            mine = [run for of, run in zip(arms, runs, strict=True) if of == arm]
            if not asked and any(str(run.fields.get(name, "")).strip() == "" for run in mine):
                continue
            refuse_odd(path, mine, name)
            mistake = f"arm '{short(arm)}' has no value of '{short(name)}': {_cells(mine, name)}"
            others = _others(having, len({*arms}))
            advice = f"leave that arm out{others and f', or compare another number: {others}'}"
            raise refused(path, mistake, "a number in every arm", advice)


def _others(having: Mapping[str, Collection[str]], arms: int) -> str:
    """The numbers that all arms have and that may be compared."""
    return named([key for key in having if len(having[key]) == arms and role_of(key) not in PARTS])


def _cells(runs: Sequence[FoundRun], name: str) -> str:
    """What stands in the place of a number, and how often."""
    cells = Counter(str(run.fields.get(name, "")).strip() for run in runs)
    return ", ".join(
        f"{short(cell) or 'nothing'} in {number_of(count, 'cell' if cell else 'run')}"
        for cell, count in cells.most_common(3)
    )


def refuse_percent(path: Path, values: Iterable[tuple[str, float | None]]) -> None:
    """ClaimError where some values have a percent sign, and others none; each with its place."""
    first: dict[bool, str] = {}
    for place, value in values:
        if value is not None:
            first.setdefault(isinstance(value, Percent), f"{value:g} in {place}")
    if len(first) > 1:
        mistake = (
            f"some numbers have a percent sign, and others none: {first[True]}, {first[False]}"
        )
        raise refused(path, mistake, "one unit", "write all of them with it, or none")


def _nearly_full(runs: Sequence[FoundRun], columns: Sequence[str]) -> list[str]:
    """The columns with a number in most rows, which may each be an arm; none if fewer than two."""
    counts = Counter(name for run in runs for row in run.rows for name in row)
    able = [name for name in columns if role_of(name) not in PARTS and 2 * counts[name] > len(runs)]
    return able if len(able) > 1 else []


def no_arms(path: Path, runs: Sequence[FoundRun], hints: Hints) -> ClaimError:
    """The error of results in which nothing tells the arms apart."""
    known = [*runs[0].fields]
    columns = list(dict.fromkeys(name for run in runs for row in run.rows for name in row))
    if hints.measure and hints.measure not in (*known, *columns):
        return no_field(path, hints.measure, columns, "number", "measure")
    refuse_odd(path, runs, hints.measure)
    refuse_printed(path, runs, hints.measure)
    if not hints.measure and path.is_file():
        refuse_gap(path, runs, _nearly_full(runs, columns))
    tasks = [key for key in known if role_of(key) == "task"]
    mistake = f"no field tells the arms apart; there are: {named(known) or 'none'}"
    advice = "name it: --arm FIELD"
    if path.is_dir():
        advice += "; or put the runs of each arm into a folder of its name"
    if tasks:
        advice += f", as in --arm {tasks[0]}, if '{tasks[0]}' is what is compared, and not a task"
    return unfit(path, mistake, "one that differs between arms", advice)


def values_of(
    path: Path, arms: Sequence[str], runs: Sequence[FoundRun], columns: Columns
) -> dict[str, list[FoundValue]]:
    """The runs of each arm."""
    found: dict[str, list[FoundValue]] = defaultdict(list)
    measure = columns.measure
    units = _units(runs, columns) if columns.unit else {}
    for arm, run in zip(arms, runs, strict=True):
        of = task_of(run, columns.task)
        so_far = sum(each.task == of for each in found[arm])
        number = so_far
        if columns.seed:
            unit = units.get(str(run.fields.get(columns.seed)))
            number = seed_of(path, run, columns.seed) if unit is None else unit
        having = [row[measure] for row in run.rows if measure in row]
        missing = run.state == "running" or (run.state == "finished" and not having)
        lost = missing or run.state == "failed" or None in having
        reduction: Literal["last"] | None = "last" if columns.reduce else None
        value = None if lost else chosen(run.rows, measure, reduction)[0]
        found[arm].append(FoundValue(number, value, missing, of))
    return dict(found)


def tidy_value(path: Path, run: FoundRun) -> float | None:
    """The value of a row of a tidy table, None where it diverged; ClaimError for anything else."""
    if run.state != "finished":
        return None
    cell = text_in(path, run, "value")
    if cell.casefold() == DIVERGED:
        return None
    found = value_of(cell)
    if isinstance(found, float):
        return found
    mistake, expected, advice = found
    raise refused(path, f"{run.place}, column 'value': {mistake}", expected, advice)


def _units(runs: Sequence[FoundRun], columns: Columns) -> dict[str, int]:
    """The number of each unit: its own, or where they have none, its place among all."""
    names = dict.fromkeys(str(run.fields.get(columns.seed)) for run in runs)
    if all(whole(name) is not None for name in names):
        return {}
    return {name: place for place, name in enumerate(names)}


def averaged(
    runs: Mapping[str, Sequence[FoundValue]], *, uneven: bool = False
) -> dict[str, list[FoundValue]]:
    """A value per task and seed, the mean of all that are there.

    One of which a part diverged has diverged; one that has fewer parts than others
    of its task is missing, unless they may be ``uneven``, as the episodes of a training are.
    """
    groups: dict[str, dict[tuple[str, int], list[FoundValue]]] = {}
    for arm, each in runs.items():
        groups[arm] = defaultdict(list)
        for run in each:
            groups[arm][run.task, run.seed].append(run)
    most: dict[str, int] = defaultdict(int)
    for units in groups.values():
        for (task, _), parts in units.items():
            most[task] = max(most[task], len(parts))
    return {
        arm: [
            _mean(parts, complete=uneven or len(parts) == most[task])
            for (task, _), parts in units.items()
        ]
        for arm, units in groups.items()
    }


def _mean(parts: Sequence[FoundValue], *, complete: bool) -> FoundValue:
    values = [part.value for part in parts if part.value is not None]
    diverged = any(part.value is None and not part.missing for part in parts)
    whole_one = complete and len(values) == len(parts)
    value = fsum(values) / len(values) if whole_one else None
    return replace(parts[0], value=value, missing=value is None and not diverged)


def several_of(runs: Mapping[str, Sequence[FoundValue]]) -> list[str]:
    """The arms in which a seed is there twice, in one task."""
    return [
        arm for arm, each in runs.items() if len({(run.task, run.seed) for run in each}) < len(each)
    ]


def each_run(rows: Rows, hints: Hints) -> str:
    """What one run is, by what was read."""
    if hints.unit:
        return f"each the mean of the rows with one '{rows.seed}'"
    if not rows.seed and hints.lone == "file":
        return "the whole file"
    if not rows.seed:
        return "one per row, for no field says that rows are anything else"
    return "one per seed" if role_of(rows.seed) == "seed" else f"one per '{rows.seed}'"


def what_rows_are(runs: Mapping[str, Sequence[FoundValue]], task: str, each: str) -> str:
    """`5 runs per arm, one per seed`: what is counted, before anything is judged."""
    counts = Counter((arm, run.task) for arm, found in runs.items() for run in found)
    fewest, most = min(counts.values(), default=0), max(counts.values(), default=0)
    many = number_of(most, "run") if fewest == most else f"{fewest} to {most} runs"
    names = {name for _, name in counts if name}
    if not names:
        return f"{many} per arm, {each}"
    return f"{many} per arm and task, {each}; {number_of(len(names), 'task')}, by '{task}'"


def of_columns(rows: Rows, columns: Columns, lost: Mapping[str, str], step: str) -> Iterator[str]:
    """What is said of series, seeds and tasks; ``lost`` are tasks that are left out, and why."""
    if columns.reduce:
        yield last_values(rows.runs, columns.measure) + (f", by '{step}'" if step else "")
    fold = role_of(columns.seed) == "fold"
    if columns.unit:
        part = "fold" if fold else "run"
        yield f"averaged: the rows of one {part}, by the field '{columns.seed}'"
    else:
        parts = "folds" if fold else "seeds"
        yield f"{parts} by the field '{columns.seed}'" if columns.seed else NUMBERED
    if columns.task:
        yield f"tasks by the field '{columns.task}'"
    for why in dict.fromkeys(lost.values()):
        yield f"left out, {why}: {named([task for task in lost if lost[task] == why])}"


ORDER_UNSEEN = "and in which order they ran cannot be seen"
"""Without numbers of seeds, of values that follow each other only those of rows are seen."""

NUMBERED = f"no seeds are named: runs are numbered as they come, {ORDER_UNSEEN}"


def of_states(runs: Sequence[FoundRun], ended: Sequence[str]) -> list[str]:
    """What is said of the fields by which runs have ended."""
    lost = sum(run.state == "failed" for run in runs)
    going = sum(run.state == "running" for run in runs)
    if not ended:
        return []
    said = f"by the field {named([repr(key) for key in ended])} {lost} diverged or failed, "
    said += f"{going} are running"
    if lost and any(row for run in runs if run.state == "failed" for row in run.rows):
        said += "; if these ended after their last step, compare without that column"
    return [said]


def of_unread(runs: Sequence[FoundRun], told: set[str]) -> list[str]:
    """What is said of the columns that are not read."""
    names = dict.fromkeys(name for run in runs for name in run.fields if name not in told)
    return [f"left unread: {named(names)}"] if names else []


def last_values(runs: Sequence[FoundRun], measure: str) -> str:
    """What is said of a series, and of runs that have fewer values than others."""
    counts = sorted({sum(measure in row for row in run.rows) for run in runs})
    unequal = f" (of {counts[0]} to {counts[-1]} values)" if len(counts) > 1 else ""
    return f"the last value of each run{unequal}"
