"""Evaluations averaged within the unit that they are of, before anything is tested.

Several evaluations of one training run are no replicates: counted as such, they would make any
difference between two runs look certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import fsum

from repro.evidence.evidence import TidyTable
from repro.evidence.readings import RunState, TableSchema
from repro.evidence.run_keys import SeedKey, in_order, unit_of
from repro.schema import numbers as fmt

Values = Mapping[SeedKey, Mapping[str, float]]
Keys = tuple[SeedKey, ...]


def averaged(table: TidyTable, schema: TableSchema) -> TidyTable:
    """The table with one value per unit, where the schema names the column of the unit.

    A unit of which one evaluation diverged has diverged. One that has fewer evaluations than
    another, of any arm and the same task, is missing, unless they may be ``uneven``: a mean of
    those that are there would drop the others in silence.
    """
    if schema.unit is None:
        return table
    arms = dict.fromkeys((*table.values, *table.lost))
    groups = {arm: _grouped(table.values.get(arm, {})) for arm in arms}
    lost = {arm: _lost(table.lost.get(arm, {})) for arm in arms}
    short = {} if schema.uneven else _short(groups, lost)
    for arm, keys in short.items():
        lost[arm] |= dict.fromkeys(keys, "missing")
    values = {
        arm: {key: _mean(rows) for key, rows in units.items() if key not in lost[arm]}
        for arm, units in groups.items()
    }
    counts = [len(rows) for units in groups.values() for rows in units.values()]
    said = _said(schema.unit, counts, sum(map(len, short.values())))
    source = replace(table.source, averaged=said)
    return TidyTable(source, values, lost, sourced=table.sourced)


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


def _said(unit: str, counts: list[int], short: int) -> str:
    """`column 'run', 4 evaluations per unit, 10 units`: what was averaged, and what was not."""
    if not counts:
        return f"column '{unit}'"
    many = fmt.span(fmt.count(min(counts)), fmt.count(max(counts)))
    word = "evaluation" if max(counts) == 1 else "evaluations"
    said = f"column '{unit}', {many} {word} per unit, {fmt.number_of(len(counts), 'unit')}"
    if not short:
        return said
    are = "1 of them has fewer than others, and is missing"
    if short > 1:
        are = f"{fmt.count(short)} of them have fewer than others, and are missing"
    return f"{said}; {are}"
