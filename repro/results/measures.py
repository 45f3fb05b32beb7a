"""Which number of the runs is compared; or why none is: what stands in its place, or no arms."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from repro.errors import ClaimError
from repro.results.forms import FoundRun, named, refused, unfit
from repro.results.readings import short
from repro.results.roles import UNCOMPARED, recurs, role_of
from repro.results.row_units import Rows, refuse_gap
from repro.results.run_fields import Hints, no_field, with_cells
from repro.schema.cells import Percent, is_odd
from repro.schema.numbers import number_of

TESTS = ("test", "eval", "valid", "val", "dev")
"""Of several numbers, the one whose name has the first of these words is the one meant."""


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
    if len(names) == 1:
        return names[0], f"the number '{names[0]}'"
    for word in TESTS:
        having = [name for name in names if word in re.split(r"[^a-z0-9]+", name.casefold())]
        if len(having) == 1:
            others = len(names) - 1
            return having[0], f"the number '{having[0]}' ({others} more: --measure)"
    mistake = f"several numbers may be meant: {', '.join(names[:20])}"
    first = next((name for name in names if role_of(name) == "measure"), names[0])
    raise refused(path, mistake, "one", f"name it, as in --measure {first}")


_ERROR_OF = re.compile(r"(?i)(?<![a-z])(stderr|std_?err)(?![a-z])")
"""A number whose name has such a word is the error of another, which nobody compares."""

PARTS = UNCOMPARED | {"task", "arm"}
_MINUS = "\N{MINUS SIGN}"
_PRINTED = re.compile(r"[-+]?[\d.]+ ?%?\s*(?:±|\+/?-|\\pm|\$\\pm\$)\s*[\d.]+.*|[\d.]+ ?\([\d.]+\)")
"""A mean as papers print it, with its sd or error."""


def refuse_odd(path: Path, runs: Sequence[FoundRun], name: str) -> None:
    """ClaimError for the first cell such as `1,234`, of any name where none is given."""
    for run in runs:
        for key, value in run.fields.items():
            if name in ("", key) and isinstance(value, str):
                cell = value.strip()
                if is_odd(cell.removeprefix(_MINUS)) or cell.startswith(_MINUS):
                    with_cells(path, [run], key)


def refuse_printed(path: Path, runs: Sequence[FoundRun], name: str) -> None:
    """ClaimError for means with their scatter in one cell: no run has left these."""
    for run in runs:
        for key, value in run.fields.items():
            if name in ("", key) and isinstance(value, str) and _PRINTED.fullmatch(value.strip()):
                mistake = f"{run.place}: '{short(value)}' of '{short(key)}' is a printed mean"
                advice = "check printed means by `repro audit`, or declare them as `published`"
                raise refused(path, mistake, "the value of each run", advice)


def refuse_lacking(
    path: Path, runs: Sequence[FoundRun], arms: Sequence[str], told: Collection[str], asked: str
) -> None:
    """ClaimError where one arm has no value of the number, and others have.

    Where none is ``asked`` for, of any number in whose place an arm has a text such as NA.
    """
    having: dict[str, set[str]] = {}
    for arm, run in zip(arms, runs, strict=True):
        for name in {name for row in run.rows for name in row} - {*told}:
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
    if tasks:
        advice += f", as in --arm {tasks[0]}, if '{tasks[0]}' is what is compared, and not a task"
    return unfit(path, mistake, "one that differs between arms", advice)
