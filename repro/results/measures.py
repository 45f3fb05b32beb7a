"""Which number of the runs is compared."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path

from repro.results.forms import FoundRun, refused, unfit
from repro.results.no_number import refuse_odd, refuse_printed
from repro.results.roles import UNCOMPARED, recurs, role_of
from repro.results.row_units import Rows
from repro.results.run_fields import Hints, no_field

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
    raise refused(path, mistake, "one", f"name it, as in --measure {names[0]}")
