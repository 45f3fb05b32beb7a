"""The values that a measurement can have, where a claim declares them: a range, and its steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from repro.schema.messages import Words

FLOAT32 = 2.0**-23
"""The relative round-off of a share that a program computes in float32."""


@dataclass(frozen=True, slots=True)
class ValueScale:
    """From ``low`` to ``high``, ends included; a share of ``items`` in as many equal steps.

    With 50 items on the range 0 to 1 a value is a multiple of 0.02. ``granularity`` is a step that
    is declared without items.
    """

    low: float
    high: float
    items: int | None = None
    granularity: float | None = None

    @property
    def step(self) -> float | None:
        """The step between values, where one is declared."""
        return self.granularity if self.items is None else (self.high - self.low) / self.items

    def count(self, value: float) -> int | None:
        """How many items are right; None where the digits of the value leave several, or none."""
        k, printed, round_off = self._steps(value)
        to = printed if printed < 0.5 else round_off
        near = abs(k - round(k)) <= to < 0.5
        return round(k) if self.items is not None and near else None

    def outside(self, value: float) -> Words | None:
        """What to say of a value that is outside the range; None where it is within."""
        if self.low <= value <= self.high:
            return None
        ends = f"{self.low:g} to {self.high:g}"
        advice = "write the value in the unit of `range`, or correct one of the two"
        mistake = f"{value:.9g} is outside the declared range, {ends}"
        return mistake, f"a number from {ends}", advice

    def refusal(self, value: float) -> Words | None:
        """As ``outside``, and of a value that is no share of the items."""
        k, printed, _ = self._steps(value)
        if self.items is None or printed >= 0.5 or self.count(value) is not None:
            return self.outside(value)
        mistake = f"{value:.9g} is not a share of {self.items:,} items: {k:.2f} would be right"
        expected = "a whole number of right items"
        advice = "correct it, or leave `items` out where an item can be half right"
        return self.outside(value) or (mistake, expected, advice)

    def _steps(self, value: float) -> tuple[float, float, float]:
        """How many steps above ``low`` a value is; to what by its digits, and by round-off."""
        a_step = (self.high - self.low) / (self.items or 1)
        exponent = Decimal(repr(float(value))).as_tuple().exponent
        digits = 0.5 * 10.0 ** min(exponent, 0) if isinstance(exponent, int) else 0.0
        round_off = FLOAT32 * max(abs(self.low), abs(self.high))
        return (value - self.low) / a_step, max(digits, round_off) / a_step, round_off / a_step


def scale_mistakes(
    ends: tuple[float, float] | None, items: int | None, granularity: float | None
) -> Iterator[tuple[str, Words]]:
    """By its key, what is wrong with a declared range, its items and its granularity."""
    if ends is not None and ends[0] >= ends[1]:
        mistake = f"no value is from {ends[0]:g} to {ends[1]:g}"
        yield "range", (mistake, "the least value, then the largest", "swap or correct them")
    if items is not None and ends is None:
        mistake = "a share of items is a fraction or in percent, and nothing says which"
        yield "items", (mistake, "`range` beside it", "add `range: [0, 1]`, or `[0, 100]`")
    if items is not None and granularity is not None:
        mistake = "the step between shares of items follows from their number"
        yield "granularity", (mistake, "`items` alone", "leave `granularity` out")
