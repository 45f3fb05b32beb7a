"""Shapes of values that tests bear badly, skew, tails and values far away, and their steps.

Each shape is seen in 1 % of normal samples at most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
from scipy.special import ndtr, stdtr

from repro.stats.records import ROUND_OFF

LEVEL = 0.01
"""How often a normal sample is taken for skewed, or for one with values far away, at most."""

FEWEST_SKEWED = 8
"""Values from which on the skewness has a test (D'Agostino 1970)."""

FEWEST_HEAVY = 10
"""Values from which on their kurtosis tells something: 1 % of normal samples are told at most."""

MARDIA = {
    10: 9.73, 12: 10.24, 15: 10.63, 20: 10.91, 30: 10.93,
    50: 10.61, 100: 9.99, 200: 9.43, 500: 8.91, 1000: 8.63,
}  # fmt: skip
"""Numbers of points, and the kurtosis that 1 % of normal samples pass (100,000 draws or more)."""

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


def heavy_tailed(values: Sequence[float]) -> bool:
    """Whether the tails are heavier than normal ones (Anscombe and Glynn 1983, one-sided)."""
    n = len(values)
    if n < FEWEST_HEAVY or min(values) == max(values):
        return False
    deviations = np.array(_deviations(values))
    kurtosis = float(np.mean(deviations**4) / np.mean(deviations**2) ** 2)
    mean = 3 * (n - 1) / (n + 1)
    variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    skewness = 6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9))
    skewness *= math.sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    a = 6 + 8 / skewness * (2 / skewness + math.sqrt(1 + 4 / skewness**2))
    share = (1 - 2 / a) / (1 + (kurtosis - mean) / math.sqrt(variance) * math.sqrt(2 / (a - 4)))
    z = (1 - 2 / (9 * a) - math.copysign(abs(share) ** (1 / 3), share)) / math.sqrt(2 / (9 * a))
    return float(ndtr(-z)) <= LEVEL


def heavy_together(x: Sequence[float], y: Sequence[float]) -> bool:
    """Whether points scatter with heavier tails than normal ones, whatever their correlation.

    Mardia's kurtosis: the mean fourth power of the distances from the mean, in standard
    deviations along every direction, is beyond that of 1 % of normal samples (simulated).
    """
    n = len(x)
    points = np.array([_deviations(x), _deviations(y)]) if min(map(np.ptp, (x, y))) else None
    if n < FEWEST_HEAVY or points is None:
        return False
    covariance = points @ points.T / n
    if np.linalg.det(covariance) <= ROUND_OFF * covariance[0, 0] * covariance[1, 1]:
        return False
    squares = np.sum(points * np.linalg.solve(covariance, points), axis=0)
    limit = np.interp(math.log(n), np.log(list(MARDIA)), list(MARDIA.values()))
    return bool(np.mean(squares**2) > limit)


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


LARGEST_SET = 10_000
"""A share k of N is recognised up to this N; larger sets have finer steps than most digits."""

CHANCE = 0.05
"""An N that fits is believed where so many smaller ones, or fewer, would fit by chance."""

DIGITS = 12
"""Digits of a value that are taken to mean something; the others are round-off."""

FLOAT32 = 2.0**-23
"""The relative round-off of a share of float32, as a program for training gives it."""


def granularity(values: Sequence[float], together: Sequence[float] = ()) -> float:
    """The step of ``values``, guessed from themselves: too coarse rather than too fine.

    The largest of three: the last decimal that any of them has; the spacing of the binary numbers
    that hold them; and 1/N, or 100/N, of the smallest N up to 10,000 of which all could be shares
    k of N, unless that is by chance. Shares that a program has as float32 are known to its
    round-off only. ``together`` are all values of the same measurement.
    """
    step = max(last_decimal(values), _binary(values))
    share = _share(together, step) or _share(values, step)
    return max(step, share)


def last_decimal(values: Sequence[float]) -> float:
    """The unit of the last decimal of any value: 0.01 for 71.23 and 70.9, 1000 for 71,000."""
    exponents = [Decimal(f"{v:.{DIGITS}g}").normalize().as_tuple().exponent for v in values if v]
    return 10.0 ** min((power for power in exponents if isinstance(power, int)), default=0)


def _binary(values: Sequence[float]) -> float:
    """The largest power of 1/2 of which all values are multiples."""
    return 1 / max(float(v).as_integer_ratio()[1] for v in values)


def _share(values: Sequence[float], step: float) -> float:
    """1/N, or 100/N for values in percent; 0 where no N fits values known to half a ``step``."""
    known = np.unique(np.asarray(values, dtype=float))
    if not known.size or known[0] < 0 or known[-1] > 100:
        return 0.0
    unit = 1.0 if known[-1] <= 1 else 100.0
    sizes = np.arange(1, LARGEST_SET + 1, dtype=float)
    round_off = _round_off(known, unit) * float(known[-1])
    step = max(step, 2 * round_off)
    for value in known / unit:
        counts = value * sizes
        within = (step / 2 + round_off) / unit * sizes
        sizes = sizes[np.abs(counts - np.round(counts)) <= within]
        if not sizes.size:
            return 0.0
    # Of M steps from 0 to the unit N are shares k of N: so many N would fit m values by chance.
    steps, m = unit / step, known.size
    by_chance = float(sizes[0]) / (m + 1) * (float(sizes[0]) / steps) ** m
    return unit / float(sizes[0]) if by_chance <= CHANCE else 0.0


def _round_off(values: np.ndarray, unit: float) -> float:
    """That of float32, relative, where all values or all shares are such numbers."""
    nearest = (np.abs(v.astype(np.float32) - v) <= 1e-15 * v for v in (values, values / unit))
    return FLOAT32 if any(map(np.all, nearest)) else 10.0**-DIGITS
