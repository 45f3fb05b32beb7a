"""The log-rank test by permutation, against scipy, statsmodels and counting by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.duration.survfunc import survdiff

from repro.errors import ClaimError, TooFewError
from repro.stats.records import Sample, Summary
from repro.stats.survival import log_rank, log_rank_scores

AT = 10.0
DRAWN = np.random.default_rng(7)


def times(n: int, mean: float) -> np.ndarray:
    """Exponential times, rounded so that there are ties, those beyond the budget at it."""
    return np.minimum(np.ceil(DRAWN.exponential(mean, n)), AT)


def censored(times: np.ndarray) -> stats.CensoredData:
    return stats.CensoredData(times[times < AT], right=times[times >= AT])


def mantel(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Observed less expected in A, and its hypergeometric variance, time by time."""
    both = np.concatenate([a, b])
    excess = variance = 0.0
    for time in np.unique(both[both < AT]):
        risk, risk_a = np.sum(both >= time), np.sum(a >= time)
        died, died_a = np.sum(both == time), np.sum(a == time)
        excess += died_a - died * risk_a / risk
        if risk > 1:
            share = risk_a / risk
            variance += died * share * (1 - share) * (risk - died) / (risk - 1)
    return float(excess), float(variance)


@pytest.mark.parametrize("n", [(6, 9), (30, 25)])
def test_the_statistic_is_that_of_scipy_and_statsmodels(n: tuple[int, int]) -> None:
    """Scores of A add up to its observed less expected; its square over the variance is theirs."""
    a, b = times(n[0], 5.0), times(n[1], 12.0)
    score = log_rank_scores(np.concatenate([a, b]), AT)[: n[0]].sum()
    excess, variance = mantel(a, b)
    assert score == pytest.approx(excess, rel=1e-12)
    theirs = stats.logrank(censored(a), censored(b)).statistic
    assert score / math.sqrt(variance) == pytest.approx(theirs, rel=1e-12)
    both = np.concatenate([a, b])
    chi, _ = survdiff(both, both < AT, np.repeat([0, 1], n))
    assert score**2 / variance == pytest.approx(chi, rel=1e-12)


def test_the_p_of_few_runs_is_counted() -> None:
    """Every split of nine runs, by hand."""
    a, b = np.array([1.0, 3.0, 3.0, 10.0]), np.array([4.0, 8.0, 10.0, 10.0, 10.0])
    scores = log_rank_scores(np.concatenate([a, b]), AT)
    sums = [sum(scores[list(each)]) for each in itertools.combinations(range(9), 4)]
    as_large = sum(each >= sums[0] - 1e-12 for each in sums) / len(sums)
    found = log_rank(Sample.of(*a), Sample.of(*b), at=AT, alternative="less")
    assert found.exact
    assert found.p == pytest.approx(as_large, rel=1e-12)


def test_many_runs_have_the_p_of_the_usual_approximation() -> None:
    """With 40 and 40 runs the permutation p is near that of the normal distribution."""
    a, b = times(40, 6.0), times(40, 10.0)
    usual = stats.logrank(censored(a), censored(b)).pvalue
    found = log_rank(Sample.of(*a), Sample.of(*b), at=AT)
    assert found.p == pytest.approx(usual, rel=0.15)


def test_pairs_are_exchanged_within_themselves() -> None:
    """All 2 ** 6 exchanges of the scores, by hand."""
    a, b = np.array([1.0, 2.0, 2.0, 5.0, 3.0, 4.0]), np.array([2.0, 6.0, 10.0, 10.0, 9.0, 4.0])
    scores = log_rank_scores(np.concatenate([a, b]), AT)
    gaps = scores[:6] - scores[6:]
    sums = [np.dot(signs, gaps) for signs in itertools.product((1, -1), repeat=6)]
    as_large = np.mean(np.array(sums) >= gaps.sum() - 1e-12)
    found = log_rank(Sample.of(*a), Sample.of(*b), at=AT, alternative="less", paired=True)
    assert found.p == pytest.approx(as_large, rel=1e-12)


def test_the_effect_is_of_mean_times_within_the_budget() -> None:
    """What lies beyond the budget counts as the budget, however far beyond; Welch's interval."""
    a, b = [1.0, 2.0, 4.0, 3.0, 99.0], [8.0, 10.0, 50.0, 9.0, 10.0]
    found = log_rank(Sample.of(*a), Sample.of(*b), at=AT)
    capped = [np.minimum(x, AT) for x in (a, b)]
    assert found.effect == pytest.approx(capped[0].mean() - capped[1].mean())
    usual = stats.ttest_ind(*capped, equal_var=False).confidence_interval(0.95)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((usual.low, usual.high))


def test_where_nobody_arrives_nothing_is_known() -> None:
    """No event at all: p = 1 on both sides, and no interval."""
    found = log_rank(Sample.of(*[10.0] * 5), Sample.of(*[12.0] * 5), at=AT, alternative="less")
    assert (found.p, found.p_opposite, found.interval, found.effect) == (1.0, 1.0, None, 0.0)


@pytest.mark.parametrize(
    ("a", "how", "error", "words"),
    [
        (Sample.of(1.0, 2.0), {}, TooFewError, "add replicates"),
        (Sample.of(*range(1, 6)), {"paired": True}, TooFewError, "5 pairs cannot decide"),
        (Summary(9, 1.0, 1.0), {}, ClaimError, "needs the value of every replicate"),
        (Sample.of(1.0, 2.0), {"at": 0.0}, ClaimError, "a budget is a number above 0"),
    ],
)
def test_what_tells_nothing_is_refused(a, how, error, words) -> None:
    b = Sample.of(*np.arange(2.0, 2.0 + getattr(a, "n", 5)))
    with pytest.raises(error, match=words):
        log_rank(a, b, **{"at": AT, **how})
