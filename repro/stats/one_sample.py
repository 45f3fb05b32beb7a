"""Tests of one arm against a constant: of its mean, by t or z, and of its median, by signs."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from scipy.special import bdtr, bdtrc, ndtr, ndtri

from repro.errors import ClaimError, TooFewError
from repro.stats.contrast import Contrast
from repro.stats.records import (
    Arm,
    Interval,
    Sample,
    TestResult,
    check_alpha,
    check_finite,
    require_sample,
    summarise,
)

Side: TypeAlias = Literal["at_most", "at_least"]


def mean_level(arm: Arm, *, side: Side, limit: float, alpha: float = 0.05) -> TestResult:
    """One-sided t-test: is the mean at most (or at least) ``limit``, in the arm's units?

    ``p`` is that of a mean beyond the limit, ``p_opposite`` that of one within it, each with
    ``n - 1`` degrees of freedom; ``effect`` is the mean, and its interval has level
    ``1 - 2 alpha``, so that it lies within the limit exactly where ``p < alpha``. Where all
    replicates agree nothing is left to chance: the result is ``exact``, with neither interval nor
    p. Needs normal values, or many: with skewed ones the level is that of the committed tables.

    ``ClaimError`` for fewer than two replicates and for a summary without standard deviation.
    Student 1908.
    """
    low, high = _region(side, limit, alpha)
    summary = summarise(arm)
    if summary.spread == 0:
        return TestResult(
            "level", summary.mean, alpha, (summary.n,), low=low, high=high, exact=True
        )
    contrast = Contrast(summary.mean, summary.standard_error, summary.n - 1)
    less, greater = contrast.p_less(limit), contrast.p_greater(limit)
    return TestResult(
        test="level",
        effect=summary.mean,
        alpha=alpha,
        n=(summary.n,),
        interval=contrast.interval(1 - 2 * alpha),
        p=less if side == "at_most" else greater,
        p_opposite=greater if side == "at_most" else less,
        statistic=contrast.statistic(limit),
        df=contrast.df,
        se=contrast.se,
        low=low,
        high=high,
    )


def mean_level_known_sd(
    arm: Arm, *, sd: float, side: Side, limit: float, alpha: float = 0.05
) -> TestResult:
    """One-sided z-test: as ``mean_level``, with ``sd`` known beforehand and not estimated.

    The scatter of the arm itself has no say, so replicates that all agree are judged like any
    others. Where their true standard deviation is larger than ``sd``, the level is lost.

    ``ClaimError`` unless ``sd`` is finite and above 0.
    """
    low, high = _region(side, limit, alpha)
    if not (math.isfinite(sd) and sd > 0):
        raise ClaimError(f"a known standard deviation is finite and above 0, not {sd}")
    summary = summarise(arm)
    se = sd / math.sqrt(summary.n)
    z, reach = (summary.mean - limit) / se, -float(ndtri(alpha)) * se
    less, greater = float(ndtr(z)), float(ndtr(-z))
    return TestResult(
        test="level_known_sd",
        effect=summary.mean,
        alpha=alpha,
        n=(summary.n,),
        interval=Interval(summary.mean - reach, summary.mean + reach, 1 - 2 * alpha),
        p=less if side == "at_most" else greater,
        p_opposite=greater if side == "at_most" else less,
        statistic=z,
        se=se,
        low=low,
        high=high,
    )


def median_level(arm: Arm, *, side: Side, limit: float, alpha: float = 0.05) -> TestResult:
    """Exact sign test: is the median at most (or at least) ``limit``, in the arm's units?

    Whatever the distribution, at most half of all values lie strictly on one side of its median;
    a value equal to the limit counts for neither side. ``effect`` is the median of the sample,
    and the interval, between two of its values, covers at least ``1 - 2 alpha``.

    ``ClaimError`` for a summary, and ``TooFewError`` where even all values on one side could not
    reach ``alpha``. Conover 1999, 3.4.
    """
    low, high = _region(side, limit, alpha)
    sample = require_sample(arm, "a level of the median")
    values, n = sorted(sample.values), sample.n
    if 0.5**n > alpha:
        raise TooFewError(
            f"{n} replicates cannot decide: even all on one side have p = {0.5**n:.3g}, above "
            f"alpha = {alpha:g}; add replicates"
        )
    below, above = (sum(sign * (value - limit) > 0 for value in values) for sign in (-1, 1))
    less, greater = _at_least(below, n), _at_least(above, n)
    outside = next(k for k in range(n) if bdtr(k, n, 0.5) > alpha)
    return TestResult(
        test="level_median",
        effect=_median(sample),
        alpha=alpha,
        n=(n,),
        interval=Interval(values[outside - 1], values[n - outside], 1 - 2 * alpha),
        p=less if side == "at_most" else greater,
        p_opposite=greater if side == "at_most" else less,
        low=low,
        high=high,
        exact=True,
    )


def _region(side: Side, limit: float, alpha: float) -> tuple[float | None, float | None]:
    """The region that is claimed; ``ClaimError`` for another side, level or limit."""
    check_alpha(alpha)
    check_finite("a level", limit)
    if side not in ("at_most", "at_least"):
        raise ClaimError(f"a level is at_most or at_least, not {side!r}")
    return (None, limit) if side == "at_most" else (limit, None)


def _at_least(count: int, n: int) -> float:
    """The chance of so many or more of n fair coins."""
    return 1.0 if count == 0 else float(bdtrc(count - 1, n, 0.5))


def _median(sample: Sample) -> float:
    values, half = sorted(sample.values), sample.n // 2
    return values[half] if sample.n % 2 else math.fsum(values[half - 1 : half + 1]) / 2
