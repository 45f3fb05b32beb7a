"""Tests of the scatter of one arm against that of another: the ratio of their standard deviations.

That A scatters more than ``k`` times as much as B is, for two distributions of one shape, that the
deviations from its median are on average more than ``k`` times as large. Mean deviations depend
far less on single values in the tails than standard deviations do (statistics.md 1.3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import fdtr, fdtrc, fdtri, stdtr, stdtrit

from repro.errors import ClaimError, TooFewError
from repro.stats.planning import PlannedTest
from repro.stats.power import PowerDesign
from repro.stats.records import (
    Arm,
    Interval,
    TestResult,
    check_alpha,
    match,
    require_sample,
    summarise,
)
from repro.stats.simulated import Confirmed, Decide, simulated_power

Array: TypeAlias = npt.NDArray[np.floating[Any]]

Numbers: TypeAlias = float | Array

LEAST_SEEDS = 5
"""Fewest replicates in each arm: of four, two deviations are always the same."""

VARYING = "use values with more digits, or a bound on each arm"


def levene(
    a: Arm,
    b: Arm,
    *,
    low: float | None = None,
    high: float | None = None,
    alpha: float = 0.05,
    paired: bool = False,
) -> TestResult:
    """Is the scatter of A above ``low`` times, and below ``high`` times, that of B? One-sided.

    Levene's test with medians, of A and ``k`` times B: Student's t of the absolute deviations,
    with a pooled variance, or of their differences pair by pair. The effect is the ratio of mean
    deviations; its interval has level ``1 - 2 alpha`` and ends where ``p`` is alpha. ``p`` is that
    of the limit that is harder to keep, ``p_opposite`` the smaller p of lying beyond a limit.
    With a few replicates, an odd number of them above all, it errs less often than ``alpha``:
    the deviation of the median itself is 0.

    ``ClaimError`` for a summary, for limits that are no ratios, for an arm that does not vary, for
    fewer than five replicates, and for pairs as ``match``. Brown and Forsythe 1974.
    """
    test = "levene paired" if paired else "levene"
    samples = match((a, b), test) if paired else [require_sample(arm, test) for arm in (a, b)]
    for sample in samples:
        _check_varies(sample.n, 0.0 if sample.constant else 1.0)
    far = [_deviations(np.asarray(sample.values)) for sample in samples]
    found = _ratio_of_pairs(*far) if paired else _ratio_of_means(*far)
    n = tuple(sample.n for sample in samples)
    blank = TestResult(test, float(found.ratio), alpha, n, paired=paired)
    return _judged(blank, found, low, high)


def f_test(
    a: Arm,
    b: Arm,
    *,
    low: float | None = None,
    high: float | None = None,
    alpha: float = 0.05,
    paired: bool = False,
) -> TestResult:
    """As ``levene``, of standard deviations: the F-test of variances, which a summary will do for.

    It needs normal values, many of them no less than few: with longer tails it errs in a tenth of
    cases and more instead of alpha. ``ClaimError`` for paired arms as well.
    """
    if paired:
        raise ClaimError("the F-test takes the arms as independent", advice="use levene for pairs")
    first, second = summarise(a), summarise(b)
    for summary in (first, second):
        _check_varies(summary.n, summary.spread)
    found = _RatioOfSds(first.spread / second.spread, first.n - 1, second.n - 1)
    blank = TestResult("f", float(found.ratio), alpha, (first.n, second.n))
    return _judged(blank, found, low, high)


TESTS = {"levene": levene, "f": f_test}
"""The tests of scatter, by their names in a claim."""


@dataclass(frozen=True, slots=True)
class _RatioOfSds:
    """Ratios of two standard deviations of normal values, with their degrees of freedom.

    One pair of arms, or a batch of them, one a row; the interval takes a single pair.
    """

    ratio: Numbers
    df_a: int
    df_b: int

    def p_above(self, k: float) -> Array:
        """One-sided p of a true ratio of ``k`` or less."""
        return np.asarray(fdtrc(self.df_a, self.df_b, (self.ratio / k) ** 2))

    def p_below(self, k: float) -> Array:
        return np.asarray(fdtr(self.df_a, self.df_b, (self.ratio / k) ** 2))

    def interval(self, alpha: float) -> tuple[float, float]:
        ends = (fdtri(self.df_a, self.df_b, p) for p in (1 - alpha, alpha))
        low, high = (float(self.ratio / math.sqrt(end)) for end in ends)
        return low, high


@dataclass(frozen=True, slots=True)
class _RatioOfMeans:
    """A ratio of two means above 0 whose errors have a common estimate (Fieller 1954).

    ``mean_a - k mean_b`` has variance ``var_a - 2 k cov + k ** 2 var_b`` with ``df`` degrees of
    freedom. With a covariance its t may turn as ``k`` grows, so that a larger ratio is rejected
    and a smaller one is not: p is then that of the ratio least in doubt.
    One pair of arms, or without a covariance a batch of them, one a row; the interval takes a
    single pair.
    """

    mean_a: Numbers
    mean_b: Numbers
    var_a: Numbers
    var_b: Numbers
    cov: float
    df: int

    @property
    def ratio(self) -> Numbers:
        return self.mean_a / self.mean_b

    def p_above(self, k: float) -> Array:
        """One-sided p of a true ratio of ``k`` or less: the largest p of any of these."""
        return np.asarray(stdtr(self.df, -np.min(self._statistics(0.0, k), axis=0)))

    def p_below(self, k: float) -> Array:
        """One-sided p of a true ratio of ``k`` or more: the largest p of any of these."""
        return np.asarray(stdtr(self.df, np.max(self._statistics(k, math.inf), axis=0)))

    def _statistics(self, low: float, high: float) -> list[Array]:
        """Student's t at both ends of a range of ratios, and where it turns in between."""
        ends = [low, high]
        if self.cov:
            rise = self.mean_b * self.var_a - self.mean_a * self.cov
            fall = self.mean_b * self.cov - self.mean_a * self.var_b
            turn = float(rise / fall) if fall else 0.0
            ends += [turn] if low <= turn <= high else []
        return [self._statistic(k) for k in ends]

    def _statistic(self, k: float) -> Array:
        """Student's t of a true ratio of ``k``; a limit at 0 and at infinity."""
        distance, variance = -self.mean_b, self.var_b
        if k < math.inf:
            distance = self.mean_a - k * self.mean_b
            variance = self.var_a - 2 * k * self.cov + k**2 * self.var_b
        if k not in {0.0, math.inf} and not np.all(variance > 0):
            raise ClaimError(
                "the deviations from the medians do not vary, so no test is possible",
                advice=VARYING,
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            t = distance / np.sqrt(variance)
        return np.where(variance > 0, t, np.copysign(np.inf, distance))

    def interval(self, alpha: float) -> tuple[float, float]:
        """Every ratio that is not rejected on either side; from 0, or to infinity, where so."""
        reach = float(stdtrit(self.df, alpha)) ** 2
        square = float(self.mean_b**2 - reach * self.var_b)
        middle = float(self.mean_a * self.mean_b - reach * self.cov)
        constant = float(self.mean_a**2 - reach * self.var_a)
        root = math.sqrt(max(middle**2 - square * constant, 0.0))
        low = constant / (middle + root) if constant > 0 else 0.0
        return low, (middle + root) / square if square > 0 else math.inf


def _deviations(values: Array) -> Array:
    """Absolute deviations from the median, along the last axis."""
    return np.asarray(np.abs(values - np.median(values, axis=-1, keepdims=True)))


def _ratio_of_means(a: Array, b: Array) -> _RatioOfMeans:
    """With a pooled variance, along the last axis."""
    n_a, n_b = a.shape[-1], b.shape[-1]
    df, each = n_a + n_b - 2, 1 / n_a + 1 / n_b
    (mean_a, var_a), (mean_b, var_b) = (
        (x.mean(-1), np.sum((x - x.mean(-1, keepdims=True)) ** 2, axis=-1) / df * each)
        for x in (a, b)
    )
    return _RatioOfMeans(mean_a, mean_b, var_a, var_b, 0.0, df)


def _ratio_of_pairs(a: Array, b: Array) -> _RatioOfMeans:
    (var_a, cov), (_, var_b) = np.cov(a, b) / len(a)
    return _RatioOfMeans(a.mean(), b.mean(), var_a, var_b, float(cov), len(a) - 1)


def _judged(
    blank: TestResult, found: _RatioOfMeans | _RatioOfSds, low: float | None, high: float | None
) -> TestResult:
    """The result with p-values and interval; ``ClaimError`` for limits that are no ratios."""
    alpha = check_alpha(blank.alpha)
    limits = [limit for limit in (low, high) if limit is not None]
    if not limits or not all(0 < limit < math.inf for limit in limits) or limits != sorted(limits):
        raise ClaimError(f"the limits of a ratio are above 0 and in order, not {low} and {high}")
    within = [found.p_above(low)] if low is not None else []
    beyond = [found.p_below(low)] if low is not None else []
    if high is not None:
        within.append(found.p_below(high))
        beyond.append(found.p_above(high))
    ends = found.interval(alpha)
    return replace(
        blank,
        interval=Interval(*ends, 1 - 2 * alpha),
        p=float(max(within)),
        p_opposite=float(min(beyond)),
        low=low,
        high=high,
    )


def _check_varies(n: int, spread: float) -> None:
    if n < LEAST_SEEDS:
        raise TooFewError(
            f"{n} replicates tell too little of scatter", advice="add some, up to 5 or more"
        )
    if spread == 0:
        raise ClaimError(
            "an arm does not vary over its replicates, so no ratio is one of scatter",
            advice=VARYING,
        )


@dataclass(frozen=True, slots=True)
class PlannedSpread(PlannedTest):
    """A ratio of the standard deviations of normal values, above ``low``, below ``high``, or both.

    Between both the truth is 1 unless given. ``test`` is levene or f.
    """

    test: str = "levene"

    name: ClassVar[str] = "spread"

    @property
    def claims_smallness(self) -> bool:
        return self.low is not None and self.high is not None

    @property
    def truth(self) -> float:
        """The ratio to plan for."""
        if self.effect is None and not self.claims_smallness:
            raise ClaimError("planning for a spread needs a true ratio")
        return self.effect or 1.0

    @property
    def decide(self) -> Decide:
        if self.paired:
            raise ClaimError("no power is computed for pairs, whose correlation is not planned")
        return spread_within(self.test, self.low, self.high)

    def simulated(self, decide: Decide) -> tuple[float, float]:
        arms = PowerDesign(self.truth, 1.0, self.n[0], self.n[-1], self.alpha)
        return simulated_power(arms, 0.0, decide)

    def beyond_reach(self) -> str:
        if min(self.n) >= LEAST_SEEDS:
            return ""
        return f"{self.sizes} tell too little of scatter; plan at least {LEAST_SEEDS}"

    def sized(self, size: float) -> Self:
        """A size on logarithms."""
        factor = math.exp(min(size, 300.0))
        if self.claims_smallness:
            return replace(self, low=1 / factor, high=factor)
        reached = self.least * factor if self.high is None else self.high / factor
        return replace(self, effect=reached)

    def detected(self, size: float) -> float | None:
        found = self.sized(size)
        return found.high if self.claims_smallness else found.effect


def spread_within(test: str, low: float | None, high: float | None) -> Decide:
    """Is the scatter of A above ``low`` times, and below ``high`` times, that of B? One-sided.

    By Levene's test with medians (``levene``), or by the F-test (``f``); with fewer replicates than
    these need nothing is shown.
    """

    def decide(a: Array, b: Array, alpha: float) -> Confirmed:
        n_a, n_b = a.shape[1], b.shape[1]
        if min(n_a, n_b) < LEAST_SEEDS:
            return np.zeros(len(a), dtype=bool)
        found: _RatioOfSds | _RatioOfMeans
        if test == "f":
            found = _RatioOfSds(a.std(1, ddof=1) / b.std(1, ddof=1), n_a - 1, n_b - 1)
        else:
            found = _ratio_of_means(_deviations(a), _deviations(b))
        above = True if low is None else found.p_above(low) < alpha
        below = True if high is None else found.p_below(high) < alpha
        return np.asarray(above & below)

    return decide
