"""Times to a target that some runs do not reach within their common budget.

Such a run has no time, only one that is longer than the budget: its value is censored at it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from repro.errors import ClaimError
from repro.stats.coefficients import SPLITS_SEED
from repro.stats.contrast import mean_difference
from repro.stats.ranks import (
    DRAWS,
    MOST_SPLITS,
    refuse_few,
    refuse_few_pairs,
    sign_flip_p_values,
    tail_p_values,
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
    scores = log_rank_scores(np.concatenate(times), at)
    sooner, later, exact = _p_of_scores(
        scores[: len(times[0])], scores[len(times[0]) :], alpha, alternative, paired=paired
    )
    p, p_opposite = p_values(alternative, later, sooner)
    return LogRankResult(
        test=test,
        effect=float(times[0].mean() - times[1].mean()),
        alpha=alpha,
        n=tuple(sample.n for sample in samples),
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

    One for each time, of all arms together. Their sum is 0, and over one arm it is the number of
    its targets that were reached less the number expected: the numerator of the log-rank test.
    """
    reached = times < at
    hazard = np.zeros(len(times))
    for time in np.unique(times[reached]):
        hazard[times >= time] += np.sum(reached & (times == time)) / np.sum(times >= time)
    return np.asarray(reached - hazard)


def _p_of_scores(
    a: Array, b: Array, alpha: float, alternative: Alternative, *, paired: bool
) -> tuple[float, float, bool]:
    """One-sided p of higher and of lower scores of A, and whether these are counted."""
    if paired:
        refuse_few_pairs(len(a), alternative, alpha)
        higher, lower = sign_flip_p_values(a - b)
        return float(higher), float(lower), 2 ** len(a) <= MOST_SPLITS
    from scipy.stats import permutation_test  # noqa: PLC0415 - slow to import

    splits = math.comb(len(a) + len(b), len(a))
    refuse_few(len(a), len(b), splits, alternative, alpha)
    exact = splits <= MOST_SPLITS
    found = permutation_test(
        (a, b),
        lambda x, y, axis: x.mean(axis) - y.mean(axis),
        vectorized=True,
        n_resamples=MOST_SPLITS if exact else DRAWS,
        batch=10_000,
        rng=np.random.default_rng(SPLITS_SEED),
    )
    null, observed = found.null_distribution, np.asarray(found.statistic)
    higher, lower = tail_p_values(null, observed, exact=exact)
    return float(higher), float(lower), exact


def _interval(a: Sample, b: Sample, level: float, *, paired: bool) -> Interval | None:
    try:
        return mean_difference(a, b, paired=paired, test="log_rank").interval(level)
    except ClaimError:
        return None
