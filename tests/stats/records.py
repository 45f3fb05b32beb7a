"""What every test hands on beside its numbers: names, sizes, levels, borders and details."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeAlias

import pytest

from repro.stats.records import Interval, Sample, TestResult

A = Sample.of(9.0, 9.5, 10.0, 10.5, 11.0, 11.25)
B = Sample.of(8.0, 8.5, 8.25, 9.25, 10.0)
C = Sample.of(8.0, 8.5, 8.25, 9.25, 10.0, 9.75)
NUMBER = object()
"""A detail whose value another test has a reference for."""

Sides: TypeAlias = tuple[float | None, float | None]
Records: TypeAlias = list[
    tuple[Callable[[], TestResult], str, tuple[int, ...], float | None, Sides, dict[str, Any]]
]
"""A test at alpha = .04, and of its result: name, sizes, level, borders, details."""


def check_record(
    found: TestResult,
    test: str,
    n: tuple[int, ...],
    level: float | None,
    sides: Sides,
    details: dict[str, Any],
) -> None:
    """The result names its test, sizes, level and borders, and has every fact under its name."""
    assert (found.test, found.n, found.alpha) == (test, n, 0.04)
    assert (found.low, found.high) == sides
    assert (found.interval and found.interval.level) == pytest.approx(level)
    shared = {"alternative": None, "paired": False, "exact": False}
    own = {one.name for one in fields(found)} - {one.name for one in fields(TestResult)}
    assert own | shared.keys() == details.keys() | shared.keys()
    for name, value in {**shared, **details}.items():
        if value is NUMBER:
            assert isinstance(getattr(found, name), float | tuple | Interval)
        else:
            assert getattr(found, name) == value
            assert type(getattr(found, name)) is type(value)


def check_statistic(found: TestResult, border: float) -> None:
    """The statistic is the distance of the effect from the border in standard errors."""
    assert found.se is not None
    assert found.df is not None
    assert found.statistic == pytest.approx((found.effect - border) / found.se, rel=1e-12)
    assert found.df > 1
