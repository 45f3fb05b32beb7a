"""Directions in words: which arm is better, as claimed or against it, and how far that may reach.

A label of the user stands where any label fits: as a subject or after *than*, never after *of*.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from repro.check.kinds.phrases import apart
from repro.report import document as doc

Better = Literal["lower", "higher"]
Side = Literal["better", "worse"]

OTHER: dict[Side, Side] = {"better": "worse", "worse": "better"}


def claimed_side(direction: str, better: Better) -> Side:
    """The side that a claim of *lower* or *higher* speaks of."""
    return "better" if direction == better else "worse"


@dataclass(frozen=True, slots=True)
class Compared:
    """Two arms compared: ``effect`` and ``interval`` are a minus b, ``limits`` the declared sizes.

    ``text`` writes a size without its sign, with so many digits more than usual. ``interval`` is
    absent where it is on another axis.
    """

    a: str
    better: Better
    effect: float
    interval: doc.Interval | None
    limits: tuple[float, ...]
    text: Callable[[float, int], str]

    @property
    def seen(self) -> Side | None:
        """The side on which a is seen; None where the effect prints as 0."""
        if not self.text(abs(self.effect), 0).strip("0.%"):
            return None
        return self._side(self.effect)

    def reach(self) -> str:
        """`: the interval reaches from 0.99 worse to 6.23 better`; nothing without two ends."""
        own = self.interval
        if own is None or own.low is None or own.high is None:
            return ""
        worst, best = (own.low, own.high) if self.better == "higher" else (own.high, own.low)
        return f": the interval reaches from {self._end(worst)} to {self._end(best)}"

    def reaches(self, side: Side) -> str:
        """`: the interval reaches to 0.40 worse`; nothing where it ends short of that side."""
        end = self.farthest(side)
        if end is None or end < 0:
            return ""
        return f": the interval reaches to {self._size(end)} {side}" if end else self.reach()

    def farthest(self, side: Side) -> float | None:
        """How far the interval reaches on a side; negative where it ends short of it."""
        return self._ends(side)[1]

    def nearest(self, side: Side) -> float | None:
        """Where the interval begins on a side; negative where it begins on the other."""
        return self._ends(side)[0]

    def excludes_none(self) -> bool:
        """Whether no difference lies outside the interval."""
        low, high = self._ends("better")
        return (low is not None and low > 0) or (high is not None and high < 0)

    def size(self, value: float) -> str:
        """The size of an end, with as many digits as tell it from every limit."""
        return self._size(abs(value))

    def _ends(self, side: Side) -> tuple[float | None, float | None]:
        if self.interval is None:
            return None, None
        low, high = self.interval.low, self.interval.high
        if (side == "better") == (self.better == "higher"):
            return low, high
        return (None if high is None else -high), (None if low is None else -low)

    def _side(self, value: float) -> Side:
        return "better" if (value < 0) == (self.better == "lower") else "worse"

    def _end(self, value: float) -> str:
        return f"{self._size(abs(value))} {self._side(value)}" if value else "no difference"

    def _size(self, value: float) -> str:
        return apart([value], [0.0, *self.limits], self.text)[0]
