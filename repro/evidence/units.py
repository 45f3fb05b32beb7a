"""Evaluations averaged within the unit that they are of, before anything is tested.

Several evaluations of one training run are no replicates: counted as such, they would make any
difference between two runs look certain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import fsum

from repro.evidence.evidence import SeedKey, TableSource, TidyTable, in_order, unit_of
from repro.results.readings import RunState
from repro.schema import numbers as fmt

Values = Mapping[SeedKey, Mapping[str, float]]
Keys = tuple[SeedKey, ...]


def averaged(
    tables: Mapping[str, TidyTable], unit: str, *, uneven: bool = False
) -> dict[str, TidyTable]:
    """The table of each arm, with one value per unit; ``unit`` is what numbers the units.

    A unit of which one evaluation diverged has diverged. One that has fewer evaluations than
    another, of any arm and the same task, is missing, unless they may be ``uneven``: a mean of
    those that are there would drop the others silently.
    """
    groups = {arm: _grouped(table.values.get(arm, {})) for arm, table in tables.items()}
    lost = {arm: _lost(table.lost.get(arm, {})) for arm, table in tables.items()}
    short = {} if uneven else _short(groups, lost)
    for arm, keys in short.items():
        lost[arm] |= dict.fromkeys(keys, "missing")
    found = {}
    for arm, table in tables.items():
        values = {key: _mean(rows) for key, rows in groups[arm].items() if key not in lost[arm]}
        arms = [other for other, each in tables.items() if each.source.file == table.source.file]
        counts = [len(rows) for other in arms for rows in groups[other].values()]
        said = _said(unit, table.source, counts, sum(len(short.get(other, ())) for other in arms))
        why = {unit_of(key): text for key, text in table.why.get(arm, {}).items()}
        found[arm] = replace(
            table,
            source=replace(table.source, averaged=said),
            values={arm: values},
            lost={arm: lost[arm]},
            order={},
            why={arm: why},
        )
    return found


Groups = Mapping[str, Mapping[SeedKey, list[Mapping[str, float]]]]
"""arm -> unit -> its rows."""


def _short(groups: Groups, lost: Mapping[str, Mapping[SeedKey, RunState]]) -> dict[str, Keys]:
    """The units of each arm that have fewer evaluations than another unit of their task."""
    most: dict[str, int] = {}
    for units in groups.values():
        for key, rows in units.items():
            task = in_order(key)[0]
            most[task] = max(most.get(task, 0), len(rows))
    return {
        arm: tuple(
            key
            for key, rows in units.items()
            if key not in lost[arm] and len(rows) < most[in_order(key)[0]]
        )
        for arm, units in groups.items()
    }


def _grouped(rows: Values) -> dict[SeedKey, list[Mapping[str, float]]]:
    groups: dict[SeedKey, list[Mapping[str, float]]] = {}
    for key, values in rows.items():
        groups.setdefault(unit_of(key), []).append(values)
    return groups


def _mean(rows: list[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for row in rows for name in row)
    having = {name: [row[name] for row in rows if name in row] for name in names}
    return {name: fsum(values) / len(values) for name, values in having.items()}


def _lost(rows: Mapping[SeedKey, RunState]) -> dict[SeedKey, RunState]:
    found: dict[SeedKey, RunState] = {}
    for key, state in rows.items():
        unit = unit_of(key)
        found[unit] = "diverged" if "diverged" in (state, found.get(unit)) else state
    return found


def _said(unit: str, source: TableSource, counts: Sequence[int], short: int) -> str:
    """`column 'run', 4 evaluations per unit, 10 units`: what was averaged, and what was not."""
    by = f"{'column' if source.runs is None else 'field'} '{unit}'"
    if not counts:
        return by
    many = fmt.span(fmt.count(min(counts)), fmt.count(max(counts)))
    word = "evaluation" if max(counts) == 1 else "evaluations"
    said = f"{by}, {many} {word} per unit, {fmt.number_of(len(counts), 'unit')}"
    if not short:
        return said
    are = "1 of them has fewer than others, and is missing"
    if short > 1:
        are = f"{fmt.count(short)} of them have fewer than others, and are missing"
    return f"{said}; {are}"
