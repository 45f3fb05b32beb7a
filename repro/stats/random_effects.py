"""Two arms over data sets that stand for others: the mean effect, its spread, and the next one.

Each task gives an effect, mean of A minus mean of B, with a variance: that of its runs (within),
and that of the tasks (between, tau squared). Random effects by Hartung & Knapp (2001) and Sidik &
Jonkman (2002): the mean of the effects with weights, its standard error from their own weighted
spread, and Student's t with one degree of freedom less than there are tasks.

With a few runs per task the usual weights, one over the variance, are themselves so uncertain that
the test errs far more often than its level says (``benchmarks/levels``). So the default weights are
equal, for which the standard error is that of a plain mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import chdtrc, stdtrit

from repro.errors import ClaimError
from repro.stats.contrast import Contrast
from repro.stats.records import ROUND_OFF, Interval, Sample, TestResult, check_alpha
from repro.stats.task_aggregates import Region, matched_tasks, p_of_region

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Weights: TypeAlias = Literal["equal", "inverse_variance"]


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """How far the tasks differ beyond the scatter of their runs.

    ``tau`` is the standard deviation of the true effects (Paule & Mandel 1982), in the units of the
    values; ``i_squared`` the share of the variance of the effects that is theirs (Higgins &
    Thompson 2002); ``p`` that of Cochran's Q: small where all tasks hardly have one effect.
    """

    tau: float
    i_squared: float
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaAnalysisResult(TestResult):
    """``prediction`` is where the effect of another task lies, at the level of the interval.

    ``heterogeneity`` is absent where some task has no variance. ``tasks`` is their number, ``runs``
    the fewest and the most of a task, by arm; ``parts`` are the effects by task.
    """

    prediction: Interval
    heterogeneity: Heterogeneity | None
    tasks: int
    runs: tuple[tuple[int, int], ...]
    parts: Mapping[str, float]


def meta_analysis(
    a: Sample,
    b: Sample,
    *,
    region: Region,
    weights: Weights = "equal",
    alpha: float = 0.05,
) -> MetaAnalysisResult:
    """A against B over the tasks of both: does the mean effect of such tasks lie within ``region``?

    ``p`` is the larger of the one-sided p-values, ``p_opposite`` the smaller one of *beyond a
    limit*; both intervals have level ``1 - 2 alpha``. With equal weights the prediction is that of
    the effect of another task as it would be measured with as many runs, exact where effects are
    normal with one variance; else of its true effect, by Higgins, Thompson & Spiegelhalter (2009).

    ``ClaimError`` for arms of different tasks, fewer than three tasks, effects that are all the
    same, and, for ``inverse_variance``, a task whose runs have no variance.
    """
    check_alpha(alpha)
    fewest = 2 if weights == "inverse_variance" else 1
    names, first, second = matched_tasks(a, b, fewest=fewest)
    effects = np.array([x.mean() - y.mean() for x, y in zip(first, second, strict=True)])
    variances = np.array([_variance(x) + _variance(y) for x, y in zip(first, second, strict=True)])
    known = bool(np.all(variances > 0))
    if weights == "inverse_variance" and not known:
        raise ClaimError(
            "a task whose runs do not vary would have all the weight; add runs, or declare "
            "`weights: equal`"
        )
    tau_squared = paule_mandel(effects, variances) if known else math.nan
    shares = 1 / (variances + tau_squared) if weights == "inverse_variance" else np.ones(len(names))
    contrast = hartung_knapp(effects, shares)
    p, p_opposite = p_of_region(contrast.p_greater, contrast.p_less, region)
    level = 1 - 2 * alpha
    equal = weights == "equal"
    return MetaAnalysisResult(
        test="meta_analysis" if equal else "meta_analysis inverse variance",
        effect=contrast.effect,
        alpha=alpha,
        n=tuple(min(map(len, runs)) for runs in (first, second)),
        interval=contrast.interval(level),
        p=p,
        p_opposite=p_opposite,
        se=contrast.se,
        df=contrast.df,
        low=region[0],
        high=region[1],
        prediction=_prediction(contrast, None if equal else tau_squared, level),
        heterogeneity=heterogeneity(effects, variances, tau_squared) if known else None,
        tasks=len(names),
        runs=tuple((min(map(len, runs)), max(map(len, runs))) for runs in (first, second)),
        parts=dict(zip(names, map(float, effects), strict=True)),
    )


def hartung_knapp(effects: Array, weights: Array) -> Contrast:
    """The weighted mean of effects, its standard error from their spread, and one df fewer.

    ``ClaimError`` where all effects are the same.
    """
    mean = float(np.average(effects, weights=weights))
    df = len(effects) - 1
    squares = float(np.sum(weights * (effects - mean) ** 2))
    se = math.sqrt(squares / df / float(np.sum(weights)))
    if se <= ROUND_OFF * float(np.abs(effects).max()):
        raise ClaimError("all tasks have the same effect, so nothing is known of how they vary")
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
    df = len(effects) - 1

    def excess(tau_squared: float) -> float:
        return cochran_q(effects, variances, tau_squared) - df

    if excess(0.0) <= 0:
        return 0.0
    high = float(np.var(effects, ddof=1))
    while excess(high) > 0:
        high *= 2
    return float(brentq(excess, 0.0, high, xtol=1e-14 * high, rtol=1e-14))


def heterogeneity(effects: Array, variances: Array, tau_squared: float) -> Heterogeneity:
    """Between which effects differ, and how surely they do."""
    q, df = cochran_q(effects, variances), len(effects) - 1
    share = max(0.0, (q - df) / q) if q > 0 else 0.0
    return Heterogeneity(math.sqrt(tau_squared), share, float(chdtrc(df, q)))


def _variance(runs: Array) -> float:
    """That of the mean of runs; NaN of a single one."""
    return float(runs.var(ddof=1)) / len(runs) if len(runs) > 1 else math.nan


def _prediction(contrast: Contrast, tau_squared: float | None, level: float) -> Interval:
    """Where the effect of another task lies: by the spread of the effects, or by tau squared."""
    df, variance = contrast.df, contrast.se**2
    spread = variance * (contrast.df + 1)
    if tau_squared is not None:
        df, spread = contrast.df - 1, tau_squared
    reach = -float(stdtrit(df, (1 - level) / 2)) * math.sqrt(variance + spread)
    return Interval(contrast.effect - reach, contrast.effect + reach, level)
