"""What a test says: one record, of the same shape for every test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from repro.errors import ClaimError
from repro.stats.alternative import Alternative

T = TypeVar("T")
R = TypeVar("R", bound="TestResult")


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided confidence (or prediction) interval; ``level`` is its coverage, such as 0.95."""

    low: float
    high: float
    level: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ClaimError(f"an interval runs from low to high, not {self.low} to {self.high}")
        if not 0 < self.level < 1:
            raise ClaimError(f"the level of an interval lies between 0 and 1, not {self.level}")

    def __contains__(self, value: float) -> bool:
        """Whether a value lies inside; the ends belong to the interval."""
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class TestResult:
    """The outcome of one test; a test with more to say returns a class of its own below this one.

    ``effect`` and ``interval`` are in the units of the measurement (A minus B), but for
    ``ratio`` (A over B), for every ``..._relative`` test (A minus B over mean B), for
    ``separation``, ``bound``, ``share``, ``brunner_munzel`` and proportions (a share, 0 to 1),
    and for associations (a coefficient).
    ``p`` is evidence for what was asked, ``p_opposite`` for its contrary; a two-sided test
    has no contrary, an exact comparison no p at all. ``alpha`` is the level the test was
    declared with: two-sided for ``student`` and ``welch`` unless a one-sided alternative is
    named, one-sided for all others. ``se`` is on the scale of the test (logarithms for
    ``ratio``). ``low`` and ``high`` bound the region of the effect that the claim asserts.
    ``alternative`` is that of a test which may have one side or two, ``paired`` whether the arms
    were taken seed by seed, and ``exact`` whether the chances are counted, not approximated.
    """

    __test__: ClassVar[bool] = False

    test: str
    effect: float
    alpha: float
    n: tuple[int, ...]
    interval: Interval | None = None
    p: float | None = None
    p_opposite: float | None = None
    statistic: float | None = None
    df: float | None = None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    alternative: Alternative | None = None
    paired: bool = False
    exact: bool = False


def known(value: T | None) -> T:
    """The value itself, or ``ClaimError`` if the result lacks it."""
    if value is None:
        raise ClaimError("this result lacks a number that its rule needs")
    return value


def expect(result: TestResult, kind: type[R]) -> R:
    """The result itself, or ``ClaimError`` if it is not of this kind of test."""
    if not isinstance(result, kind):
        raise ClaimError(f"a result of {result.test} is no {kind.__name__}")
    return result


def check_alpha(alpha: float) -> float:
    """The level itself, or ``ClaimError`` unless it lies strictly between 0 and one half."""
    if not 0 < alpha < 0.5:
        raise ClaimError(f"alpha must lie between 0 and 0.5, not {alpha}")
    return alpha


def check_finite(name: str, value: float) -> float:
    """The value itself, or ``ClaimError`` if it is not a finite number."""
    if not math.isfinite(value):
        raise ClaimError(f"{name} must be a finite number, not {value}")
    return value
