"""A difference of two means with its standard error: the kernel of every test on means.

The interval and all p-values of one test come from one contrast, so they cannot disagree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import stdtr, stdtrit

from repro.errors import ClaimError
from repro.stats.result import Interval
from repro.stats.sample import Arm, summarise


@dataclass(frozen=True, slots=True)
class Contrast:
    """An estimate whose error, divided by ``se``, is taken as Student's t with ``df``."""

    effect: float
    se: float
    df: float

    def statistic(self, border: float = 0.0) -> float:
        """Student's t for the distance of the effect from ``border``."""
        return (self.effect - border) / self.se

    def p_greater(self, border: float = 0.0) -> float:
        """One-sided p of ``effect <= border``: small where the effect lies above it."""
        return float(stdtr(self.df, -self.statistic(border)))

    def p_less(self, border: float = 0.0) -> float:
        """One-sided p of ``effect >= border``: small where the effect lies below it."""
        return float(stdtr(self.df, self.statistic(border)))

    def p_two_sided(self, border: float = 0.0) -> float:
        """Two-sided p of ``effect == border``."""
        return min(1.0, 2 * min(self.p_greater(border), self.p_less(border)))

    def interval(self, level: float) -> Interval:
        """The two-sided interval of coverage ``level``."""
        reach = -float(stdtrit(self.df, (1 - level) / 2)) * self.se
        return Interval(self.effect - reach, self.effect + reach, level)


def satterthwaite(errors: Sequence[float], sizes: Sequence[int]) -> float:
    """Degrees of freedom of a sum of independent means (Satterthwaite 1946; Welch 1947).

    ``errors`` are the standard errors of the means, not all 0; an error of 0 has no say.
    """
    total = math.hypot(*errors)
    shares = [(error / total) ** 2 for error in errors]
    return 1 / math.fsum(share**2 / (n - 1) for share, n in zip(shares, sizes, strict=True))


def welch_contrast(a: Arm, b: Arm) -> Contrast:
    """Mean of A minus mean of B, each arm with its own variance.

    Raises ``ClaimError`` if an arm has no variance to be had, or both have variance 0.
    """
    first, second = summarise(a), summarise(b)
    errors = (first.standard_error, second.standard_error)
    se = _refuse_zero(math.hypot(*errors))
    return Contrast(first.mean - second.mean, se, satterthwaite(errors, (first.n, second.n)))


def student_contrast(a: Arm, b: Arm) -> Contrast:
    """Mean of A minus mean of B, with one pooled variance; errors as ``welch_contrast``."""
    first, second = summarise(a), summarise(b)
    df = first.n + second.n - 2
    pooled = math.hypot(
        first.spread * math.sqrt(first.n - 1), second.spread * math.sqrt(second.n - 1)
    )
    se = _refuse_zero(pooled / math.sqrt(df) * math.sqrt(1 / first.n + 1 / second.n))
    return Contrast(first.mean - second.mean, se, df)


def _refuse_zero(se: float) -> float:
    if se == 0:
        raise ClaimError(
            "both arms have variance 0, so a test on means would call any difference certain; "
            "use ratio (then an exact comparison), separation or bound"
        )
    return se
