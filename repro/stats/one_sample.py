"""Tests of one arm against a constant: of its mean, by t or z, and of its median, by signs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from scipy.special import bdtr, bdtrc, chdtrc, ndtr, ndtri

from repro.errors import ClaimError, TooFewError
from repro.schema.value_scale import ValueScale
from repro.stats.bounded_mean import bounded_level, needs_range
from repro.stats.contrast import Contrast
from repro.stats.planning import PlannedCounts
from repro.stats.power import power_share
from repro.stats.records import (
    Arm,
    Interval,
    Sample,
    TestResult,
    beyond,
    check_alpha,
    check_finite,
    require_sample,
    summarise,
)

Side: TypeAlias = Literal["at_most", "at_least"]
Better: TypeAlias = Literal["lower", "higher"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MedianResult(TestResult):
    """``beyond`` is ``>`` or ``<`` where the effect says only beyond which value the median lies.

    Then replicates in the middle have no value of their own: they diverged, or are censored.
    """

    beyond: Literal["", "<", ">"] = ""


def mean_level(
    arm: Arm, *, side: Side, limit: float, alpha: float = 0.05, scale: ValueScale | None = None
) -> TestResult:
    """One-sided t-test: is the mean at most (or at least) ``limit``, in the arm's units?

    ``p`` is that of a mean beyond the limit, ``p_opposite`` that of one within it, each with
    ``n - 1`` degrees of freedom; ``effect`` is the mean, and its interval has level
    ``1 - 2 alpha``, so that it lies within the limit exactly where ``p < alpha``. Needs normal
    values, or many: with skewed ones the level is that of the committed tables. Near an end of a
    declared ``scale`` the result is that of ``bounded_level``.

    ``ClaimError`` for fewer than two replicates, for a summary without standard deviation, and for
    replicates that all agree, which rounded values do by chance. Student 1908.
    """
    low, high = _region(side, limit, alpha)
    summary = summarise(arm)
    equal = summary.spread == 0
    if scale is not None and isinstance(arm, Sample) and needs_range(arm, limit, scale):
        return bounded_level(arm, scale, at_least=side == "at_least", limit=limit, alpha=alpha)
    if equal:
        raise ClaimError(EQUAL.format(summary.n, summary.mean))
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


EQUAL = (
    "all {} replicates are {:.9g}, which says nothing of how values scatter, and so nothing of "
    "their mean; declare `range` and `items` of the measurement where a value is a share of items, "
    "or write more digits, or claim it of the median (`statistic: median`)"
)
"""Why there is no test of a mean: equal values have none, and p of a median is no p of a mean."""


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


def p_of_scatter(arm: Arm, sd: float) -> float | None:
    """One-sided p that normal replicates scatter no more than ``sd``; None without a scatter.

    Chi-squared with ``n - 1`` degrees of freedom.
    """
    summary = summarise(arm)
    if summary.n < 2 or summary.sd is None:
        return None
    return float(chdtrc(summary.n - 1, (summary.n - 1) * (summary.sd / sd) ** 2))


def level_where_sd_is(true: float, *, sd: float, alpha: float = 0.05) -> float:
    """How often the z-test with ``sd`` errs at its limit where the standard deviation is ``true``.

    Of normal values, on one side: ``Phi(z sd / true)``, z the quantile of ``alpha``.
    """
    return float(ndtr(float(ndtri(alpha)) * sd / true))


def median_level(
    arm: Arm,
    *,
    side: Side,
    limit: float,
    alpha: float = 0.05,
    better: Better = "lower",
    censored_at: float | None = None,
) -> MedianResult:
    """Exact sign test: is the median at most (or at least) ``limit``, in the arm's units?

    Whatever the distribution, a median lies beyond the limit only where at most half of all values
    keep it. The limit belongs to what is claimed: a value equal to it, up to round-off, keeps it.
    Replicates that diverged lie beyond any limit on the worse side, which ``better`` tells, and
    values from ``censored_at`` on are as large, or larger: of a limit there, or above, they say
    neither. ``effect`` is the median of the sample,
    or what it is beyond, and the interval, between two of its values, covers at least
    ``1 - 2 alpha``; an end that is not known is infinite.

    ``ClaimError`` for a summary, and ``TooFewError`` where even all values on one side could not
    reach ``alpha``. Conover 1999, 3.4.
    """
    low, high = _region(side, limit, alpha)
    sample = require_sample(arm, "a level of the median")
    n = sample.n
    if 0.5**n > alpha:
        raise TooFewError(
            f"{n} replicates cannot decide: even all on one side have p = {0.5**n:.3g}, above "
            f"alpha = {alpha:g}",
            advice="add replicates",
        )
    least = _with_diverged(sample, better)
    end = math.inf if censored_at is None else censored_at
    most = [math.inf if value >= end else value for value in least]
    within, outside = _kept(side, limit, least, most)
    place = next(k for k in range(n) if bdtr(k, n, 0.5) > alpha)
    return MedianResult(
        test="level_median",
        effect=_median(sample.values),
        alpha=alpha,
        n=(n,),
        interval=Interval(sorted(least)[place - 1], sorted(most)[n - place], 1 - 2 * alpha),
        p=_at_least(within, n),
        p_opposite=_at_least(outside, n),
        low=low,
        high=high,
        exact=True,
        beyond=_beyond(most),
    )


def _kept(
    side: Side, limit: float, least: Sequence[float], most: Sequence[float]
) -> tuple[int, int]:
    """How many values keep the limit for certain, and how many are beyond it for certain."""
    if side == "at_most":
        return sum(not beyond(v, limit) for v in most), sum(beyond(v, limit) for v in least)
    return sum(not beyond(limit, v) for v in least), sum(beyond(limit, v) for v in most)


def _with_diverged(sample: Sample, better: Better) -> list[float]:
    """The values; those of replicates that diverged are infinite, on the worse side."""
    worst = math.inf if better == "lower" else -math.inf
    pairs = zip(sample.replicates, sample.values, strict=True)
    return [worst if number in sample.diverged else value for number, value in pairs]


def _beyond(values: Sequence[float]) -> Literal["", "<", ">"]:
    """On which side of its effect the median of these values lies, where they do not say it all."""
    middle = _middle(values)
    if -math.inf in middle:
        return "<"
    return ">" if math.inf in middle else ""


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


def _middle(values: Sequence[float]) -> list[float]:
    """The value in the middle, or the two of an even number."""
    ordered, half = sorted(values), len(values) // 2
    return ordered[half : half + 1] if len(values) % 2 else ordered[half - 1 : half + 1]


def _median(values: Sequence[float]) -> float:
    middle = _middle(values)
    return math.fsum(middle) / len(middle)


@dataclass(frozen=True, slots=True)
class PlannedMedian(PlannedCounts):
    """A median that lies within its limit by ``effect``, in the units of ``sd``.

    Of normal values each keeps the limit with the chance ``Phi(effect / sd)``, and the sign test
    counts those that do: its power is a sum of binomial chances (Dixon 1953; Conover 1999, 3.4).
    """

    name: ClassVar[str] = "a level of the median"

    def computed(self) -> float:
        if not self.sd:
            raise ClaimError(f"planning for {self.name} needs a standard deviation")
        within = float(ndtr(self.truth / self.sd[0]))
        return power_share(self.n[0], within, of=0.5, alpha=self.alpha)

    def surest(self) -> tuple[float, str]:
        return 0.5 ** self.n[0], "even if every replicate agrees"
