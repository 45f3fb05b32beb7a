"""What is asked after every look, when to stop, and whether the looks contradict each other.

The verdict stands at the first crossing: the first look whose interval leaves nothing open. The
intervals of all looks cover one difference. Where they have nothing in common, or what was
decided first is now excluded, it has moved, and the verdict describes seeds that later ones are
not like.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from repro.errors import ClaimError
from repro.stats.contrast import Contrast
from repro.stats.records import Interval, TestResult, check_finite

Kind: TypeAlias = Literal[
    "difference", "equivalence", "non_superiority", "non_inferiority", "level"
]
Decision: TypeAlias = Literal["confirmed", "contradicted", "trivial"]
Stop: TypeAlias = Literal["confirmed", "contradicted", "trivial", "futile"]

Drift: TypeAlias = Literal["none", "leaning", "apart", "reversed"]
"""From none to worst; each is defined in ``drift``."""

FUTILE = 0.10
"""Conditional or predicted power below which more pairs are not worth their cost."""


def tails_of(kind: Kind) -> int:
    """How many alphas an interval spends: the level of a difference is that of both its sides."""
    return 1 if kind == "difference" else 2


def one_sided(result: TestResult) -> bool:
    """Whether its p is that of one side: all are, but for tests that were asked for both."""
    if isinstance(result, SequentialResult):
        return result.tails != 1
    return result.alternative != "two-sided"


@dataclass(frozen=True, slots=True)
class Question:
    """What a claim asserts of mean A minus mean B: that it lies between ``low`` and ``high``.

    Of a level it is the mean of the only arm.

    ``None`` is no limit; without any, a difference of either sign is asserted. For a
    difference ``alpha`` is two-sided, for all else one-sided, so that its interval has level
    ``1 - 2 alpha`` (statistics.md 2.1). Make it with the functions below.
    """

    kind: Kind
    low: float | None = None
    high: float | None = None

    @property
    def borders(self) -> tuple[float, ...]:
        """The differences that an interval must exclude to leave nothing open."""
        limits = tuple(limit for limit in (self.low, self.high) if limit is not None)
        return limits or (0.0,)

    @property
    def tails(self) -> int:
        return tails_of(self.kind)

    def distances(self, contrast: Contrast) -> list[float]:
        """How many standard errors the effect lies inside each border; negative: beyond it."""
        if self.low is None and self.high is None:
            return [abs(contrast.statistic())]
        signed = ((self.low, 1), (self.high, -1))
        return [sign * contrast.statistic(limit) for limit, sign in signed if limit is not None]

    def decide(self, interval: Interval) -> Decision | None:
        """What an interval decides (statistics.md 2.1); None while a border is in it."""
        if any(border in interval for border in self.borders):
            return None
        if self.low is None and self.high is None:
            return "confirmed"
        above = self.low is None or interval.low > self.low
        below = self.high is None or interval.high < self.high
        if above and below:
            return "confirmed"
        return "trivial" if self._real(interval) else "contradicted"

    def _real(self, interval: Interval) -> bool:
        """Whether a difference has the claimed sign, however small."""
        if self.tails != 1:
            return False
        return interval.low > 0 if self.low is not None else interval.high < 0


def difference(
    direction: Literal["higher", "lower", "different"], *, smallest_effect: float = 0.0
) -> Question:
    """Mean A is higher or lower than mean B, by more than ``smallest_effect``; or different.

    ``ClaimError`` for another direction, a negative smallest effect, or one of *different*.
    """
    if not (math.isfinite(smallest_effect) and smallest_effect >= 0):
        raise ClaimError(f"a smallest effect is a finite number, not negative: {smallest_effect}")
    if direction == "higher":
        return Question("difference", low=smallest_effect)
    if direction == "lower":
        return Question("difference", high=0.0 - smallest_effect)
    if direction != "different":
        raise ClaimError(f"a direction is higher, lower or different, not {direction!r}")
    if smallest_effect:
        raise ClaimError("a smallest effect belongs to a claim of higher or lower")
    return Question("difference")


def equivalence(low: float, high: float) -> Question:
    """Mean A minus mean B lies between ``low`` and ``high``; ``ClaimError`` unless 0 does."""
    if not check_finite("the lower margin", low) < 0 < check_finite("the upper margin", high):
        raise ClaimError(f"equivalence margins lie on both sides of 0, not {low} and {high}")
    return Question("equivalence", low, high)


def non_superiority(margin: float, better: Literal["lower", "higher"]) -> Question:
    """A is not better than B by ``margin`` or more, which is finite and not negative."""
    _check_margin(margin, better)
    if better == "higher":
        return Question("non_superiority", high=margin)
    return Question("non_superiority", low=0.0 - margin)


def non_inferiority(margin: float, better: Literal["lower", "higher"]) -> Question:
    """A is not worse than B by ``margin`` or more, which is finite and not negative."""
    _check_margin(margin, better)
    if better == "higher":
        return Question("non_inferiority", low=0.0 - margin)
    return Question("non_inferiority", high=margin)


def level(side: Literal["at_most", "at_least"], limit: float) -> Question:
    """The mean of one arm is at most, or at least, ``limit``, in its units."""
    check_finite("a level", limit)
    if side not in ("at_most", "at_least"):
        raise ClaimError(f"a level is at_most or at_least, not {side!r}")
    return Question("level", high=limit) if side == "at_most" else Question("level", low=limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialResult(TestResult):
    """The result at the last look so far; ``looks`` are numbers of pairs, or of one arm's seeds.

    ``decided`` is the first crossing, at ``decided_at`` pairs, where the interval was
    ``crossing``; it stands whatever came later. ``left_out`` are the replicates without a partner,
    and ``units`` is what its looks count.
    """

    kind: Kind
    looks: tuple[int, ...]
    drift: Drift
    decided: Decision | None
    decided_at: int | None
    crossing: Interval | None
    left_out: tuple[int, ...] = ()
    units: str = "pairs"

    @property
    def tails(self) -> int:
        return tails_of(self.kind)


def first_crossing(
    question: Question, intervals: Mapping[int, Interval]
) -> tuple[Decision | None, int | None, Interval | None]:
    """What was decided first, at how many pairs, and by which interval; None while nothing is."""
    for n, interval in intervals.items():
        decision = question.decide(interval)
        if decision is not None:
            return decision, n, interval
    return None, None, None


def stop(result: TestResult, *, chance: float | None = None) -> Stop | None:
    """Why to add no more pairs: the first crossing decided, or deciding is too unlikely.

    ``chance`` is the predicted or conditional power of what may still be added; *futile* when
    it is below ``FUTILE``. Stopping for futility never makes an error more likely, and an
    e-process may go on after it. ``ClaimError`` for a result that is not sequential.
    """
    if not isinstance(result, SequentialResult):
        raise ClaimError(f"a result of {result.test} is not sequential, so there is no stop rule")
    if result.decided is not None:
        return result.decided
    return "futile" if chance is not None and chance < FUTILE else None


def _check_margin(margin: float, better: str) -> None:
    if not (math.isfinite(margin) and margin >= 0):
        raise ClaimError(f"a margin is a finite number, at least 0, not {margin}")
    if better not in ("lower", "higher"):
        raise ClaimError(f"better is lower or higher, not {better!r}")


def drift(question: Question, intervals: Mapping[int, Interval], last: Contrast) -> Drift:
    """The worst sign that the difference has moved; ``intervals`` by look, ``last`` at the last.

    ``reversed``: the last interval leaves nothing open either, and decides otherwise, or lies on
    another side, than the first that decided. ``apart``: the intervals of all looks have nothing
    in common. ``leaning``: the last estimate lies, by more than its standard error, beyond a
    border on the other side than the first decision did.

    Without drift, of e-processes over 4 to 60 pairs of normal seeds at most .02 % come out
    reversed, and anything but ``none`` at most .2 % (.5 % with standard deviations 3:1); of
    planned looks at most .02 % anything (20,000 draws at each of 40 effects and questions).
    """
    decided, _, before = first_crossing(question, intervals)
    low = max(each.low for each in intervals.values())
    high = min(each.high for each in intervals.values())
    apart: Drift = "apart" if low > high else "none"
    if before is None:
        return apart
    now = list(intervals.values())[-1]
    sides = [_side(before, border) for border in question.borders]
    if question.decide(now) is not None and (
        question.decide(now) != decided
        or [_side(now, border) for border in question.borders] != sides
    ):
        return "reversed"
    leaning = any(
        side * last.statistic(border) < -1
        for side, border in zip(sides, question.borders, strict=True)
    )
    return "leaning" if leaning and apart == "none" else apart


def _side(interval: Interval, border: float) -> int:
    """1 where an interval lies above a border, -1 below, 0 around it."""
    return (interval.low > border) - (interval.high < border)
