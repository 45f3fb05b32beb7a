"""GRIM, and p-values of rounded numbers: numbers not computed as stated (statistics.md 1.5).

- GRIM (Brown and Heathers 2017): an accuracy over N items is k / N with a whole k, and the mean
  over n seeds of s samples an item is K / (n s N). A printed mean that no K rounds to was not
  computed from such values. Macro-averages, partial credit and samples that nothing declares
  give others, so only a declared s makes it a contradiction.
- A test on the runs themselves hits the digits of the test on their rounded summaries only by
  chance. Where it happens too often, the p-values were computed from what is printed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from repro.audit.comparison import PrintedComparison
from repro.audit.p_range import Span
from repro.evidence.published import PrintedNumber

SLACK = 1e-9
"""Relative slack of the ends of a rounding interval, for round-off in this computation."""


@dataclass(frozen=True, slots=True)
class Grain:
    """What the number of items says of a printed mean.

    ``possible`` is whether a whole number of right answers rounds to it, ``telling`` whether some
    printed means would not be. ``nearest`` are the possible means on either side, and ``beyond``
    is whether no average of any kind lies there: below 0, or above 1 (100 %).
    """

    arm: str
    mean: str
    answers: int
    possible: bool
    telling: bool
    nearest: tuple[float, float]
    beyond: bool


def grains(comparison: PrintedComparison) -> tuple[Grain, ...]:
    """The check of every arm whose mean and size are printed; none without a number of items.

    Means above 1 are percentages, and so are all of a comparison that has one.
    """
    if comparison.items is None:
        return ()
    means = [arm.mean.value for arm in comparison.arms if arm.mean is not None]
    scale = 100.0 if any(mean > 1 for mean in means) else 1.0
    answers = comparison.items * (comparison.samples or 1)
    return tuple(
        _grain(name, arm.mean, arm.n * answers, scale)
        for name, arm in zip("AB", comparison.arms, strict=True)
        if arm.mean is not None and arm.n is not None
    )


def _grain(arm: str, mean: PrintedNumber, answers: int, scale: float) -> Grain:
    """Whether a multiple of ``scale / answers`` lies where the mean is printed, both ends in."""
    step = scale / answers
    slack = SLACK * max(abs(mean.low), abs(mean.high))
    first = math.ceil((mean.low - slack) / step)
    below = math.floor(mean.value / step)
    return Grain(
        arm=arm,
        mean=mean.text,
        answers=answers,
        possible=first * step <= mean.high + slack and 0 <= first <= answers,
        telling=step > mean.high - mean.low,
        nearest=(below * step, (below + 1) * step),
        beyond=mean.low > scale + slack or mean.high < -slack,
    )


LEAST = 3

COINCIDENCE = 1e-3
"""P-values equal those of rounded summaries too often when chance would do so this rarely."""


def chance(p: PrintedNumber | None, interval: Span | None) -> float:
    """How much of its interval a printed p covers: the chance that it falls on one value."""
    if p is None or interval is None:
        return 1.0
    width = interval[1] - interval[0]
    return min(1.0, 2 * p.half / width) if width > 0 else 1.0


def no_coincidence(chances: Sequence[float], equal: int) -> bool:
    """Whether ``equal`` of these p-values hit the digits of one test more often than by chance."""
    if equal < LEAST:
        return False
    largest = sorted(chances, reverse=True)[:equal]
    return math.comb(len(chances), equal) * math.prod(largest) <= COINCIDENCE
