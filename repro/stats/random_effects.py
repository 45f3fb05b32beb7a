"""Two arms over data sets that stand for others: the mean effect, its spread, and the next one.

Each task gives an effect, mean of A minus mean of B, with a variance: that of its runs (within),
and that of the tasks (between, tau squared). Random effects by Hartung & Knapp (2001) and Sidik &
Jonkman (2002): the mean of the effects with weights, its standard error from their own weighted
spread, and Student's t with one degree of freedom less than there are tasks.

With a few runs per task the usual weights, one over the variance, are themselves so uncertain that
the test errs far more often than its level says (``benchmarks/levels``). So the default weights are
equal, for which the standard error is that of a plain mean. How far the tasks differ is told
without such weights for the same reason: with three runs per task Cochran's Q is more than half too
large, and by chi-squared it calls five equal tasks different in 19 % of cases instead of 5 %, ten
in 31 % (normal values, simulated; Brown and Forsythe's test: 3 and 2 %, at most 5 % in 80 designs).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import fdtrc, stdtrit

from repro.errors import ClaimError
from repro.stats.coefficients import POWER_SEED
from repro.stats.contrast import Contrast
from repro.stats.data_sets import ByOrder, OrderedEffects, surely_above
from repro.stats.planning import PlannedTest
from repro.stats.power import PairedDesign, power_above, power_equivalence
from repro.stats.records import ROUND_OFF, Interval, Sample, TestResult, check_alpha
from repro.stats.simulated import DRAWS, frequency
from repro.stats.task_aggregates import Region, Runs, matched_tasks, result_over

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Weights: TypeAlias = Literal["equal", "inverse_variance"]
TestOfEffects: TypeAlias = Literal["t"] | ByOrder


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """How far the tasks differ beyond the scatter of their runs.

    ``tau`` is the standard deviation of the true effects, in the units of the values; its square is
    the variance of the effects less what the runs make of it, which is unbiased with any number of
    runs until it is cut at 0 (Hedges & Olkin 1985, 9.B). ``i_squared`` is the share of the variance
    of the effects that is theirs. ``p`` is small where all tasks hardly have one effect: Brown and
    Forsythe's test (1974) with the degrees of freedom of Mehrotra (1997), for variances that are
    not known.
    """

    tau: float
    i_squared: float
    p: float


class Within(NamedTuple):
    """The variance of each task's effect that its runs make, and its degrees of freedom."""

    variances: Array
    df: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaAnalysisResult(TestResult):
    """``prediction`` is where the effect of another task lies, at the level of the interval.

    ``heterogeneity`` is absent where the runs of some task do not vary. ``tasks`` is their number,
    ``runs`` the fewest and the most of a task, by arm; ``parts`` are the effects by task, and
    ``signs`` in how many of them A is above B, equal to it, and below.
    """

    prediction: Interval
    heterogeneity: Heterogeneity | None
    tasks: int
    runs: tuple[tuple[int, int], ...]
    parts: Mapping[str, float]
    signs: tuple[int, int, int]


def meta_analysis(
    a: Sample,
    b: Sample,
    *,
    region: Region,
    weights: Weights = "equal",
    test: TestOfEffects = "t",
    alpha: float = 0.05,
) -> MetaAnalysisResult:
    """A against B over the tasks of both: does the mean effect of such tasks lie within ``region``?

    With one run per task and equal weights, Student's t of the effects is the paired t-test over
    tasks. ``test``: or Wilcoxon's signed ranks, or signs, of the effects (``OrderedEffects``), for
    their median in place of the mean; both have equal weights.

    ``p`` is the larger of the one-sided p-values, ``p_opposite`` the smaller one of *beyond a
    limit*; both intervals have level ``1 - 2 alpha``. With equal weights the prediction is that of
    the effect of another task as it would be measured with as many runs, exact where effects are
    normal with one variance; else of its true effect, by Higgins, Thompson & Spiegelhalter (2009).

    ``ClaimError`` for arms of different tasks, fewer than three tasks, effects that are all the
    same, and, for ``inverse_variance``, a task whose runs have no variance; for ranks and signs
    where effects of one sign could not reach ``alpha``.
    """
    check_alpha(alpha)
    fewest = 2 if weights == "inverse_variance" else 1
    _, first, second = over = matched_tasks(a, b, fewest=fewest)
    effects = np.array([x.mean() - y.mean() for x, y in zip(first, second, strict=True)])
    within = within_tasks(first, second)
    largest = max(float(np.abs(runs).max()) for runs in (*first, *second))
    level, near = 1 - 2 * alpha, ROUND_OFF * largest
    found: Contrast | OrderedEffects
    if test == "t":
        shares, tau_squared = _weighed(weights, effects, within)
        found = hartung_knapp(effects, shares, largest=largest)
        prediction = _prediction(found, tau_squared, level)
    else:
        found = OrderedEffects(tuple(map(float, effects)), test, near)
        prediction = found.prediction(level)
    return result_over(
        MetaAnalysisResult,
        _name(weights, test),
        found,
        region,
        alpha,
        over,
        effects,
        prediction=prediction,
        heterogeneity=within and heterogeneity(effects, *within),
        signs=signs_of(effects, near),
    )


def _name(weights: Weights, test: TestOfEffects) -> str:
    if test != "t":
        return f"meta_analysis {test}"
    return "meta_analysis" if weights == "equal" else "meta_analysis inverse variance"


def signs_of(effects: Array, near: float) -> tuple[int, int, int]:
    """How many effects are above 0, equal to it up to ``near``, and below."""
    above, below = int(np.sum(effects > near)), int(np.sum(effects < -near))
    return above, len(effects) - above - below, below


def _weighed(weights: Weights, effects: Array, within: Within | None) -> tuple[Array, float | None]:
    """The weight of each task, and tau squared where that is part of it."""
    if weights == "equal":
        return np.ones(len(effects)), None
    if within is None:
        raise ClaimError(
            "a task whose runs do not vary would have all the weight",
            advice="add runs, or declare `weights: equal`",
        )
    tau_squared = paule_mandel(effects, within.variances)
    return 1 / (within.variances + tau_squared), tau_squared


def hartung_knapp(effects: Array, weights: Array, *, largest: float = 0.0) -> Contrast:
    """The weighted mean of effects, its standard error from their spread, and one df fewer.

    ``largest`` is the size of the values whose differences the effects are. ``ClaimError`` where
    all effects are the same, up to the round-off of such values.
    """
    mean = float(np.average(effects, weights=weights))
    df = len(effects) - 1
    squares = float(np.sum(weights * (effects - mean) ** 2))
    se = math.sqrt(squares / df / float(np.sum(weights)))
    if se <= ROUND_OFF * max(largest, float(np.abs(effects).max())):
        raise ClaimError(
            "all tasks have the same effect, so nothing is known of how they vary",
            advice="use over_tasks",
        )
    return Contrast(mean, se, float(df))


def cochran_q(effects: Array, variances: Array, tau_squared: float = 0.0) -> float:
    """The weighted squares of the effects about their mean, the weights one over the variance."""
    weights = 1 / (variances + tau_squared)
    mean = float(np.average(effects, weights=weights))
    return float(np.sum(weights * (effects - mean) ** 2))


def paule_mandel(effects: Array, variances: Array) -> float:
    """The variance between tasks with which Cochran's Q has the value that it should have.

    It is 0 where Q is no larger than that without it (Paule & Mandel 1982).
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import

    df = len(effects) - 1

    def excess(tau_squared: float) -> float:
        return cochran_q(effects, variances, tau_squared) - df

    if excess(0.0) <= 0:
        return 0.0
    high = float(np.var(effects, ddof=1))
    while excess(high) > 0:
        high *= 2
    return float(brentq(excess, 0.0, high, xtol=1e-14 * high, rtol=1e-14))


def heterogeneity(effects: Array, variances: Array, df: Array) -> Heterogeneity:
    """Between which effects differ, and how surely they do, by estimated variances with their df.

    The ratio of the variance of the effects to the mean of theirs has Fisher's F, whose degrees of
    freedom are those of the two sums of squares (Box 1954; Satterthwaite 1946).
    """
    k, total = len(effects), float(np.sum(variances))
    between, within = float(np.var(effects, ddof=1)), total / k
    squares = float(np.sum(variances**2))
    df_between = ((1 - 1 / k) * total) ** 2 / ((1 - 2 / k) * squares + (total / k) ** 2)
    df_within = total**2 / float(np.sum(variances**2 / df))
    return Heterogeneity(
        math.sqrt(max(0.0, between - within)),
        max(0.0, 1 - within / between),
        float(fdtrc(df_between, df_within, between / within)),
    )


def within_tasks(a: Runs, b: Runs) -> Within | None:
    """What the runs of each task say of its effect; None where those of some task do not vary."""
    parts = [[_variance(runs) for runs in pair] for pair in zip(a, b, strict=True)]
    sizes = [[len(runs) - 1 for runs in pair] for pair in zip(a, b, strict=True)]
    variances = np.array([sum(pair) for pair in parts])
    if not np.all(variances > 0):
        return None
    shares = [
        sum(part**2 / size for part, size in zip(pair, n, strict=True))
        for pair, n in zip(parts, sizes, strict=True)
    ]
    return Within(variances, variances**2 / np.array(shares))


def _variance(runs: Array) -> float:
    """That of the mean of runs: 0 where they agree up to round-off, NaN of a single one."""
    if len(runs) < 2:
        return math.nan
    if float(np.ptp(runs)) <= ROUND_OFF * float(np.abs(runs).max()):
        return 0.0
    return float(runs.var(ddof=1)) / len(runs)


def _prediction(contrast: Contrast, tau_squared: float | None, level: float) -> Interval:
    """Where the effect of another task lies: by the spread of the effects, or by tau squared."""
    df, variance = contrast.df, contrast.se**2
    spread = variance * (contrast.df + 1)
    if tau_squared is not None:
        df, spread = contrast.df - 1, tau_squared
    reach = -float(stdtrit(df, (1 - level) / 2)) * math.sqrt(variance + spread)
    return Interval(contrast.effect - reach, contrast.effect + reach, level)


@dataclass(frozen=True, slots=True)
class PlannedMetaAnalysis(PlannedTest):
    """A mean effect of ``tasks`` drawn by chance, above ``low``, below ``high``, or between both.

    ``sd`` is that of the effects over tasks, as they are measured with ``n`` runs each. The power
    of ``test`` by ranks or signs is simulated, of normal effects.
    """

    tasks: int = 3
    test: TestOfEffects = "t"

    name: ClassVar[str] = "a mean effect over tasks"

    @property
    def claims_smallness(self) -> bool:
        return self.high is not None or self.least < 0

    @property
    def spread(self) -> float:
        """That of the effects; one run per task is enough. ``ClaimError`` where none is given."""
        return self.sd[0] if self.sd else self.arms.sd_a

    @property
    def decide(self) -> Callable[[Array, Array, float], npt.NDArray[np.bool_]] | None:
        """Effects (draws, tasks) -> do they lie within the region, one-sided?"""
        test = self.test
        if test == "t":
            return None

        def decide(effects: Array, limits: Array, alpha: float) -> npt.NDArray[np.bool_]:
            del limits
            inside = surely_above(test, effects - self.least, alpha)
            if self.high is not None:
                inside &= surely_above(test, self.high - effects, alpha)
            return inside

        return decide

    def simulated(
        self, decide: Callable[[Array, Array, float], npt.NDArray[np.bool_]]
    ) -> tuple[float, float]:
        """The power by simulation, and its Monte Carlo standard error."""
        noise = np.random.default_rng(POWER_SEED).standard_normal((DRAWS, self.tasks))
        effects = self.truth + self.spread * noise
        return frequency(decide(effects, np.zeros_like(effects), self.alpha))

    def computed(self) -> float:
        design = PairedDesign(self.spread, self.tasks, self.alpha)
        if self.high is None:
            return power_above(design, self.truth, self.least)
        return power_equivalence(design, self.truth, low=self.least, high=self.high)

    def sized(self, size: float) -> Self:
        if self.claims_smallness:
            return replace(self, low=-size, high=None if self.high is None else size)
        return replace(self, effect=size)

    def detected(self, size: float) -> float | None:
        return size

    def surest(self) -> tuple[float, str] | None:
        return None if self.test == "t" else (0.5**self.tasks, "the p of effects of one sign")

    def refused(self) -> str:
        """Never for its runs: the tasks say how effects vary."""
        return self.beyond_reach()

    def seeds(self, power: float) -> int | None:
        """None: the scatter of the effects is planned, and more runs do not change it."""
        del power
        return None

    def remedy(self, seeds: int | None) -> str:
        del seeds
        return "more tasks would give more, and more runs would not"

    @property
    def sizes(self) -> str:
        return f"{self.tasks} tasks"
