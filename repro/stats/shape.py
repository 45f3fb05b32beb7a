"""Does a sample look skewed, or do a few of its values lie far from the others?

Only what can be seen in so few values: both tests err in at most 1 % of normal samples, and
neither sees anything in three values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.special import ndtr, stdtr

LEVEL = 0.01
"""How often a normal sample is taken for skewed, or for one with values far away, at most."""

FEWEST_SKEWED = 8
"""Values from which on the skewness has a test (D'Agostino 1970)."""

MOST_FAR = 10
"""So many values at one end are looked at, and never more than a third."""


def skewed(values: Sequence[float]) -> bool:
    """Whether the values are more skewed than normal ones (D'Agostino's test, two-sided)."""
    if len(values) < FEWEST_SKEWED or min(values) == max(values):
        return False
    return 2 * float(ndtr(-abs(skewness_z(values)))) <= LEVEL


def skewness_z(values: Sequence[float]) -> float:
    """The skewness as a standard normal deviate (D'Agostino 1970), for 8 values or more."""
    n, deviations = len(values), _deviations(values)
    second = math.fsum(d**2 for d in deviations) / n
    skewness = math.fsum(d**3 for d in deviations) / n / second**1.5
    y = skewness * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    kurtosis = 3.0 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3)
    kurtosis /= (n - 2) * (n + 5) * (n + 7) * (n + 9)
    w_squared = math.sqrt(2 * (kurtosis - 1)) - 1
    return math.asinh(y / math.sqrt(2 / (w_squared - 1))) / math.sqrt(math.log(w_squared) / 2)


def far_away(values: Sequence[float]) -> bool:
    """Whether a few values at one end lie far from all others.

    The nearest of the m values at an end is set against the mean of the rest, as if it were one
    more value of theirs: Student's t with ``n - m - 1`` degrees of freedom. p is multiplied by
    the numbers of values, of ends, and of m (Bonferroni; simulated, too: below 1 % at any n).
    """
    ordered = sorted(_deviations(values)) if min(values) < max(values) else []
    most = min(len(ordered) // 3, MOST_FAR)
    return any(
        _p_far(end, m) * 2 * most <= LEVEL
        for end in (ordered, [-value for value in reversed(ordered)])
        for m in range(1, most + 1)
    )


def _p_far(ordered: Sequence[float], m: int) -> float:
    """One-sided p that the first m values, from below, belong to the others."""
    rest = ordered[m:]
    n = len(rest)
    mean = math.fsum(rest) / n
    variance = math.fsum((value - mean) ** 2 for value in rest) / (n - 1)
    if n < 3 or variance == 0:
        return 1.0
    t = (mean - ordered[m - 1]) / math.sqrt(variance * (1 + 1 / n))
    return len(ordered) * float(stdtr(n - 1, -t))


def _deviations(values: Sequence[float]) -> list[float]:
    """From the mean, the largest of them 1, so that no power overflows."""
    mean = math.fsum(value / len(values) for value in values)
    largest = max(abs(value - mean) for value in values)
    return [(value - mean) / largest for value in values]
