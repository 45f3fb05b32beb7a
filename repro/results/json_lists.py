"""Lists in JSON that name no seeds: of runs, or of the steps of one run."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import correlation
from typing import Any

from repro.results.roles import role_of
from repro.results.series import Record

LONGEST_LIST = 50
"""More rows than so may be the steps of one run."""

LEAST_STEPS = 4
"""So many values that go one way may be steps."""


def is_number(value: Any) -> bool:
    """Whether a value is one: true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def may_be_steps(records: Sequence[Record]) -> bool:
    """Whether numbers go one way, as in a run that is trained, and nothing tells runs apart."""
    columns = [[record.get(key) for record in records] for key in records[0]]
    telling = any(1 < len(set(map(str, each))) < len(each) for each in columns)
    if telling or any(isinstance(cell, str) for each in columns for cell in each):
        return False
    if any(role_of(key) == "seed" for key in records[0]):
        return False
    measures = [
        each for key, each in zip(records[0], columns, strict=True) if role_of(key) == "measure"
    ]
    return len(records) > LONGEST_LIST or any(_go_one_way(each) for each in measures)


def _go_one_way(values: Sequence[Any]) -> bool:
    numbers = [value for value in values if is_number(value)]
    if len(numbers) < LEAST_STEPS or len({*numbers}) < 2:
        return False
    places = [sorted(numbers).index(number) for number in numbers]
    trend = abs(correlation(range(len(numbers)), places))
    return trend > (0.99 if len(numbers) < 2 * LEAST_STEPS else 0.8)
