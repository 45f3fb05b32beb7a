"""How many times as large? The ratio of two geometric means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from repro.errors import ClaimError, TooFewError
from repro.stats.paired import mean_difference
from repro.stats.result import Interval, TestResult, check_alpha
from repro.stats.sample import Arm, Sample, require_sample


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioResult(TestResult):
    """The result of a ratio; ``constant_arm`` is the one whose values are all the same."""

    constant_arm: Literal["a", "b", "both"] | None


def ratio_of_geometric_means(
    a: Arm, b: Arm, *, at_least: float, alpha: float = 0.05, paired: bool = False
) -> RatioResult:
    """One-sided t-test on logarithms: is A at least ``at_least`` times B?

    Welch's, or of arms ``paired`` by seed that of the differences of the logarithms.

    Effect and interval (level ``1 - 2 alpha``) are ratios; ``statistic``, ``df`` and ``se``
    belong to the logarithms. On arithmetic means the test would lose its level. Where both
    arms are constant nothing is left to chance: the result is ``exact`` and there is
    neither interval nor p. Where one is, the other alone gives the error and its ``n - 1``
    degrees of freedom, and ``constant_arm`` names it.

    ``ClaimError`` for a summary, for pairs as ``paired``, for values not above 0, for fewer than
    two replicates in an arm, and for a ratio that is not positive. METHODS.md 1.3, 2.1.
    """
    check_alpha(alpha)
    if not (math.isfinite(at_least) and at_least > 0):
        raise ClaimError(f"a ratio must be a finite number above 0, not {at_least}")
    first, second = require_sample(a, "ratio"), require_sample(b, "ratio")
    log_a, log_b = first.log(), second.log()
    if min(first.n, second.n) < 2:
        raise TooFewError("a ratio needs at least two replicates in each arm")
    effect = first.geometric_mean / second.geometric_mean
    n = (first.n, second.n)
    if first.constant and second.constant:
        return RatioResult(
            "ratio",
            effect,
            alpha,
            n,
            low=at_least,
            paired=paired,
            exact=True,
            constant_arm="both",
        )
    contrast = mean_difference(log_a, log_b, paired=paired, test="ratio")
    border = math.log(at_least)
    logs = contrast.interval(1 - 2 * alpha)
    return RatioResult(
        test="ratio",
        effect=effect,
        alpha=alpha,
        n=n,
        interval=Interval(_exp(logs.low), _exp(logs.high), logs.level),
        p=contrast.p_greater(border),
        p_opposite=contrast.p_less(border),
        statistic=contrast.statistic(border),
        df=contrast.df,
        se=contrast.se,
        low=at_least,
        paired=paired,
        constant_arm=_constant_arm(first, second),
    )


def _constant_arm(a: Sample, b: Sample) -> Literal["a", "b"] | None:
    if a.constant:
        return "a"
    return "b" if b.constant else None


def _exp(logarithm: float) -> float:
    """The exponential, infinite where it overflows: such an interval says nothing upwards."""
    try:
        return math.exp(logarithm)
    except OverflowError:
        return math.inf
