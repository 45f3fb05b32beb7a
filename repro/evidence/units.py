"""Evaluations averaged within the unit that they are of, before anything is tested.

Several evaluations of one training run are no replicates: counted as such, they would make any
difference between two runs look certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import fsum

from repro.evidence.evidence import TidyTable
from repro.evidence.readings import RunState
from repro.evidence.run_keys import SeedKey, unit_of
from repro.schema import numbers as fmt

Values = Mapping[SeedKey, Mapping[str, float]]


def averaged(table: TidyTable, unit: str) -> TidyTable:
    """The table with one value per unit; ``unit`` is the column that says which unit a row is of.

    A unit of which one evaluation diverged has diverged, and one that lacks an evaluation is
    missing: a mean of the others would drop it in silence.
    """
    arms = dict.fromkeys((*table.values, *table.lost))
    lost = {arm: _lost(table.lost.get(arm, {})) for arm in arms}
    values = {}
    counts = []
    for arm in arms:
        groups = _grouped(table.values.get(arm, {}))
        counts += [len(group) for group in groups.values()]
        values[arm] = {key: _mean(group) for key, group in groups.items() if key not in lost[arm]}
    source = replace(table.source, averaged=_said(unit, counts))
    return TidyTable(source, values, lost, sourced=table.sourced)


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


def _said(unit: str, counts: list[int]) -> str:
    """`column 'run', 4 evaluations per unit, 10 units`: what was averaged."""
    if not counts:
        return f"column '{unit}'"
    many = fmt.span(fmt.count(min(counts)), fmt.count(max(counts)))
    word = "evaluation" if max(counts) == 1 else "evaluations"
    return f"column '{unit}', {many} {word} per unit, {fmt.number_of(len(counts), 'unit')}"
