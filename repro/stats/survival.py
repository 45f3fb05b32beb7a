"""Times to a target that some runs do not reach within their common budget.

Such a run has no time, only one that is longer than the budget: its value is censored at it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from repro.errors import ClaimError
from repro.stats.coefficients import POWER_SEED
from repro.stats.contrast import mean_difference
from repro.stats.planning import PlannedTest
from repro.stats.ranks import (
    MOST_SPLITS,
    Orders,
    exchanges,
    refuse_few,
    refuse_few_pairs,
    separation_p,
    share_as_large,
    splits,
)
from repro.stats.records import (
    Alternative,
    Arm,
    Interval,
    Sample,
    TestResult,
    check_alpha,
    interval_level,
    levelled,
    match,
    p_values,
    require_sample,
)
from repro.stats.simulated import DRAWS as SIMULATIONS
from repro.stats.simulated import Confirmed, Decide, draw_signs, draw_splits, frequency

Array: TypeAlias = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class LogRankResult(TestResult):
    """As TestResult; ``reached`` runs of each arm were there within the budget ``at``."""

    reached: tuple[int, ...] = ()
    at: float = math.nan


def log_rank(
    a: Arm,
    b: Arm,
    *,
    at: float,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    paired: bool = False,
) -> LogRankResult:
    """Log-rank test of two arms, by permutation: does A reach the target sooner, or later, than B?

    ``at`` is the budget of every run: values of ``at`` or more were not reached. ``p`` is exact
    where the arms are alike: all splits, or exchanges within pairs, up to 200,000, else 99,999 from
    a fixed seed. ``alternative`` is that of the effect, so ``less`` asks whether A is sooner. The
    effect is the difference of the mean times within the budget (restricted means), a minus b, in
    the units of the measurement, with Welch's interval, or that of pairs; there is none where no
    arm varies.

    ``ClaimError`` for a summary, a budget that is no number above 0, and pairs as ``match``;
    ``TooFewError`` where even complete separation could not reach ``alpha``.
    Mantel 1966; Peto and Peto 1972; Royston and Parmar 2011 for restricted means.
    """
    check_alpha(alpha)
    if not (math.isfinite(at) and at > 0):
        raise ClaimError(f"a budget is a number above 0, not {at}")
    test = "log_rank paired" if paired else "log_rank"
    known = match((a, b), test) if paired else [require_sample(arm, test) for arm in (a, b)]
    samples = levelled(*known)
    times = [np.minimum(sample.values, at) for sample in samples]
    capped = [Sample(tuple(t), s.replicates) for t, s in zip(times, samples, strict=True)]
    n = samples[0].n, samples[1].n
    orders, exact = _orders(*n, alternative, alpha, paired=paired)
    tails = log_rank_p(times[0][None], times[1][None], at, orders, paired=paired)
    sooner, later = (float(p[0]) for p in tails)
    p, p_opposite = p_values(alternative, later, sooner)
    return LogRankResult(
        test=test,
        effect=float(times[0].mean() - times[1].mean()),
        alpha=alpha,
        n=n,
        interval=_interval(capped[0], capped[1], interval_level(alternative, alpha), paired=paired),
        p=p,
        p_opposite=p_opposite,
        alternative=alternative,
        paired=paired,
        exact=exact,
        reached=tuple(int(np.sum(t < at)) for t in times),
        at=at,
    )


def log_rank_scores(times: Array, at: float) -> Array:
    """1 for a time below ``at``, else 0, minus the Nelson-Aalen estimate of the hazard until then.

    One for each time, of all arms together, along the last axis. Their sum is 0, and over one arm
    it is the number of its targets that were reached less the number expected: the numerator of the
    log-rank test.
    """
    from scipy.stats import rankdata  # noqa: PLC0415 - slow to import

    reached = times < at
    first, last = (rankdata(times, method, axis=-1).astype(int) for method in ("min", "max"))
    at_risk = times.shape[-1] + 1 - first
    rises = np.take_along_axis(reached / at_risk, np.argsort(times, axis=-1), -1)
    hazard = np.take_along_axis(np.cumsum(rises, axis=-1), last - 1, -1)
    return np.asarray(reached - hazard)


def log_rank_p(
    a: Array, b: Array, at: float, orders: Orders, *, paired: bool = False, most: float = 1.0
) -> tuple[Array, Array]:
    """One-sided p of each row: that A is there sooner than B, and later, by permutation.

    ``(R, n), (R, m) -> (R,)``. Times of ``at`` or more were not reached. ``orders`` are splits, or
    of pairs exchanges; they and ``most`` are as in ``share_as_large``.
    """
    scores = log_rank_scores(np.concatenate([a, b], axis=1), at)
    if paired:
        scores = scores[:, : a.shape[1]] - scores[:, a.shape[1] :]
    return share_as_large(scores, orders, most=most), share_as_large(-scores, orders, most=most)


def _orders(
    n_a: int, n_b: int, alternative: Alternative, alpha: float, *, paired: bool
) -> tuple[Orders, bool]:
    """The orders that are tried, and whether these are all; ``TooFewError`` for too few."""
    if paired:
        refuse_few_pairs(n_a, alternative, alpha)
        return exchanges(n_a), 2**n_a <= MOST_SPLITS
    ways = math.comb(n_a + n_b, n_a)
    refuse_few(n_a, n_b, ways, alternative, alpha)
    return splits(n_a, n_a + n_b), ways <= MOST_SPLITS


def _interval(a: Sample, b: Sample, level: float, *, paired: bool) -> Interval | None:
    try:
        return mean_difference(a, b, paired=paired, test="log_rank").interval(level)
    except ClaimError:
        return None


NEVER = 1.0
"""The budget, in which a time is measured here: one of that much or more was not reached."""

LARGEST_HAZARD = 36.0
"""Beyond it the share that is there within the budget is 1, in float64."""

LARGEST_SIZE = 30.0
"""Of a logarithm of a ratio of hazards: what is looked for is far smaller."""


@dataclass(frozen=True, slots=True)
class PlannedSurvivals(PlannedTest):
    """``effect`` is the share of the runs of A that is there within the budget ``at``.

    ``low`` is that of B, even where it is the higher one. The test is one-sided, for the arm that
    is planned to be there sooner, unless ``two_sided``. The hazards of the arms are in a constant
    ratio: the test sees only the order of the times, so its power hangs on nothing else. The
    difference of means within the budget that belongs to it takes each hazard to be constant in
    time as well. Runs of a pair share nothing: what makes both sooner or later adds to the power.
    """

    at: float = 1.0
    two_sided: bool = False

    name: ClassVar[str] = "a log-rank test"

    @property
    def hazards(self) -> tuple[float, float]:
        """Of A and of B, in one budget."""
        return -math.log1p(-self.truth), -math.log1p(-self.least)

    @property
    def difference(self) -> float:
        """How much longer A takes than B within the budget, on average."""
        a, b = (-math.expm1(-hazard) / hazard for hazard in self.hazards)
        return self.at * (a - b)

    @property
    def a_is_sooner(self) -> bool:
        """Whether A is planned to be there sooner, or as soon."""
        return self.truth >= self.least

    @property
    def decide(self) -> Decide:
        """Is the arm that is planned to be there sooner found to be so?"""

        def decide(a: Array, b: Array, alpha: float) -> Confirmed:
            n, most = a.shape[1], alpha / 2 if self.two_sided else alpha
            orders = draw_signs(n) if self.paired else draw_splits(n, n + b.shape[1])
            sooner, later = log_rank_p(a, b, NEVER, orders, paired=self.paired, most=most)
            if self.two_sided:
                return np.minimum(sooner, later) <= most
            return (sooner if self.a_is_sooner else later) <= most

        return decide

    def simulated(self, decide: Decide) -> tuple[float, float]:
        generator, sizes = np.random.default_rng(POWER_SEED), (self.n[0], self.n[-1])
        a, b = (
            generator.standard_exponential((SIMULATIONS, n)) / hazard
            for n, hazard in zip(sizes, self.hazards, strict=True)
        )
        return frequency(decide(a, b, self.alpha))

    def sized(self, size: float) -> Self:
        """B as planned, and a size on the logarithm of the ratio of hazards for A."""
        sign = 1 if self.a_is_sooner else -1
        ratio = math.exp(sign * min(size, LARGEST_SIZE))
        hazard = min(self.hazards[1] * ratio, LARGEST_HAZARD)
        return replace(self, effect=-math.expm1(-hazard))

    def detected(self, size: float) -> float:
        """The difference of mean times within the budget."""
        return abs(self.sized(size).difference)

    def surest(self) -> tuple[float, str]:
        tails = 2 if self.two_sided else 1
        p = separation_p(self.n[0], self.n[-1], paired=self.paired)
        return tails * p, "even if every pair agrees" if self.paired else "even complete separation"
