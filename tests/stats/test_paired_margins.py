"""Equivalence and margins of arms that are paired by seed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from repro.errors import ClaimError
from repro.stats.contrast import PairedRelativeDifference
from repro.stats.power import PairedDesign, power_above, power_equivalence
from repro.stats.records import Sample, Summary, TestResult, known
from repro.stats.t_tests import (
    non_inferiority,
    non_inferiority_relative,
    non_superiority,
    non_superiority_relative,
    paired,
    tost,
    tost_relative,
)

SEED = 20201122
number = st.floats(-10, 10).map(lambda x: round(x, 3))
pairs = st.lists(st.tuples(number, number), min_size=3, max_size=8)
A = Sample.of(38.6, 38.9, 38.1, 38.7, 38.4)
B = Sample.of(38.8, 39.0, 38.4, 38.8, 38.7)


def arms(values: Any) -> tuple[Sample, Sample]:
    x, y = np.array(values, dtype=float).T
    assume(np.ptp(x - y) > 1e-6)
    return Sample.of(*x), Sample.of(*y)


@given(pairs, st.floats(-5, -0.01), st.floats(0.01, 5))
def test_statsmodels_agrees_on_paired_equivalence(values, low, high):
    """Its two one-sided t-tests of the differences."""
    a, b = arms(values)
    ours = tost(a, b, low=low, high=high, paired=True)
    theirs, *_ = ttost_paired(np.array(a.values), np.array(b.values), low, high)
    assert known(ours.p) == pytest.approx(theirs, rel=1e-7, abs=1e-12)
    assert ours.paired
    assert ours.df == a.n - 1


@given(pairs, st.floats(0.0, 5), st.sampled_from(["lower", "higher"]))
def test_scipy_agrees_on_paired_margins(values, margin, better):
    """Its one-sided paired t-test of an arm that is shifted by the margin."""
    a, b = arms(values)
    x, y = np.array(a.values), np.array(b.values)
    sign = 1 if better == "higher" else -1
    no_better = stats.ttest_rel(x - sign * margin, y, alternative="less" if sign > 0 else "greater")
    no_worse = stats.ttest_rel(x + sign * margin, y, alternative="greater" if sign > 0 else "less")
    ours = non_superiority(a, b, margin=margin, better=better, paired=True)
    assert known(ours.p) == pytest.approx(no_better.pvalue, rel=1e-6, abs=1e-12)
    ours = non_inferiority(a, b, margin=margin, better=better, paired=True)
    assert known(ours.p) == pytest.approx(no_worse.pvalue, rel=1e-6, abs=1e-12)


@given(pairs, st.floats(0.01, 0.9), st.floats(-90, 90))
def test_a_relative_margin_is_the_t_test_of_a_contrast_of_each_pair(values, share, level):
    """Of ``a - (1 ± share) b``, seed by seed, in whichever sign the values have."""
    assume(abs(level) > 30)
    a, b = arms(np.array(values) + level)
    up = math.copysign(1, level) * share
    x, y = np.array(a.values), np.array(b.values)
    assume(min(np.ptp(x - (1 + up) * y), np.ptp(x - (1 - up) * y)) > 1e-6)
    high = stats.ttest_1samp(x - (1 + up) * y, 0, alternative="less").pvalue
    low = stats.ttest_1samp(x - (1 - up) * y, 0, alternative="greater").pvalue
    ours = tost_relative(a, b, relative=share, paired=True)
    assert known(ours.p) == pytest.approx(max(high, low), rel=1e-6, abs=1e-12)
    ours = non_superiority_relative(a, b, relative=share, better="higher", paired=True)
    assert known(ours.p) == pytest.approx(high, rel=1e-6, abs=1e-12)
    ours = non_inferiority_relative(a, b, relative=share, better="higher", paired=True)
    assert known(ours.p) == pytest.approx(low, rel=1e-6, abs=1e-12)


@given(pairs, st.floats(30, 90), st.booleans(), st.floats(0.01, 0.2))
def test_a_relative_interval_holds_what_is_not_rejected(values, level, negative, alpha):
    """At each of its ends the one-sided p of the contrast is alpha."""
    a, b = arms(np.array(values) + (-level if negative else level))
    y = np.array(b.values)  # no share of what may be 0 is an interval
    assume(abs(y.mean()) > stats.t.isf(alpha / 2, len(y) - 1) * y.std(ddof=1) / math.sqrt(len(y)))
    found = PairedRelativeDifference.of(a, b, "tost_relative")
    own = found.interval(1 - 2 * alpha)
    assert found.beyond(own.low).p_greater() == pytest.approx(alpha, rel=1e-4)
    assert found.beyond(own.high).p_less() == pytest.approx(alpha, rel=1e-4)
    assert own.low < found.effect < own.high


def test_the_interval_is_that_of_the_paired_t_test():
    """Of level 1 - 2 alpha; and its farther end is the smallest margin that would do."""
    result = tost(A, B, low=-0.5, high=0.5, paired=True)
    expected = paired(A, B, alpha=0.1)
    assert result.interval == expected.interval
    assert result.effect == expected.effect
    smallest = result.smallest_confirmable_margin
    assert smallest == pytest.approx(-known(result.interval).low)
    assert known(tost(A, B, low=-1.001 * smallest, high=1.001 * smallest, paired=True).p) < 0.05
    assert known(tost(A, B, low=-0.999 * smallest, high=0.999 * smallest, paired=True).p) > 0.05


def test_pairs_find_what_their_arms_alone_do_not():
    """The scatter that both arms share is in no difference."""
    assert known(tost(A, B, low=-0.5, high=0.5, paired=True).p) < 0.002
    assert known(tost(A, B, low=-0.5, high=0.5).p) > 0.05


def test_pairs_go_by_number_wherever_they_stand():
    """A table may hold the seeds of an arm in any order."""
    turned = Sample(B.values[::-1], tuple(reversed(B.replicates)))
    assert tost(A, turned, low=-1, high=1, paired=True) == tost(A, B, low=-1, high=1, paired=True)


@pytest.mark.parametrize("test", [tost, tost_relative])
@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (Summary(5, 38.5, 0.2), B, "needs the value of every replicate"),
        (A, B.without(2), "2 only in A"),
        (Sample.of(2.0), Sample.of(1.0), "a single value has no variance"),
        (A, Sample.of(*(x - 1 for x in A.values)), "differ by the same amount"),
    ],
)
def test_what_is_no_pair_is_refused(test, a, b, message):
    """With the reason, whichever way the margin is declared."""
    size: dict[str, float] = {"low": -1, "high": 1} if test is tost else {"relative": 0.01}
    with pytest.raises(ClaimError, match=message):
        test(a, b, **size, paired=True)


def test_a_share_of_nothing_is_refused():
    """Where the mean of b may be 0 a relative margin means nothing."""
    wide = Sample.of(-3.0, 2.0, 1.5, -1.0, 0.9)
    with pytest.raises(ClaimError, match="not safely different from 0"):
        tost_relative(A, wide, relative=0.1, paired=True)
    with pytest.raises(ClaimError, match="mean B is 0"):
        tost_relative(A, Sample.of(-1.0, 1.0, 2.0, -2.0, 0.0), relative=0.1, paired=True)


def rejections(result: Any, n: int, mean: float, draws: int, rho: float = 0.8) -> float:
    """The share of draws of ``n`` correlated pairs in which ``result`` has p at most .05."""
    generator = np.random.default_rng(SEED + n)
    found = 0
    for _ in range(draws):
        common, x, y = generator.standard_normal((3, n))
        a = 40 + mean + 3 * (math.sqrt(rho) * common + math.sqrt(1 - rho) * x)
        b = 40 + math.sqrt(rho) * common + math.sqrt(1 - rho) * y
        one: TestResult = result(Sample.of(*a), Sample.of(*b))
        found += known(one.p) <= 0.05
    return found / draws


def differences_sd(rho: float = 0.8) -> float:
    """Of the differences of the arms of ``rejections``, whose sd are 3 and 1."""
    return math.sqrt(9 + 1 - 6 * rho)


@pytest.mark.parametrize("n", [3, 5, 10])
def test_the_level_at_the_margin(n):
    """Correlated arms, standard deviations 3:1: at the margin .05 are confirmed, and no more."""
    draws = 4000
    limit = 4 * math.sqrt(0.05 * 0.95 / draws)
    rate = rejections(
        lambda a, b: non_inferiority(a, b, margin=6.0, better="higher", paired=True), n, -6.0, draws
    )
    assert rate == pytest.approx(0.05, abs=limit)
    rate = rejections(lambda a, b: tost(a, b, low=-9, high=9, paired=True), n, 9.0, draws)
    assert rate <= 0.05 + limit
    rate = rejections(
        lambda a, b: non_inferiority_relative(a, b, relative=0.1, better="higher", paired=True),
        n, -4.0, draws,
    )  # fmt: skip
    assert rate == pytest.approx(0.05, abs=limit)


@pytest.mark.parametrize("n", [4, 8])
def test_the_power_is_the_one_that_is_planned(n):
    """By simulation, for equivalence and a margin."""
    draws, sd = 3000, differences_sd()
    planned = power_equivalence(PairedDesign(sd, n), 0.5, low=-4, high=4)
    rate = rejections(lambda a, b: tost(a, b, low=-4, high=4, paired=True), n, 0.5, draws)
    assert rate == pytest.approx(planned, abs=4 * math.sqrt(0.25 / draws))
    planned = power_above(PairedDesign(sd, n), 0.5, -2.0)
    rate = rejections(
        lambda a, b: non_inferiority(a, b, margin=2.0, better="higher", paired=True), n, 0.5, draws
    )
    assert rate == pytest.approx(planned, abs=4 * math.sqrt(0.25 / draws))


@pytest.mark.parametrize("n", [3, 6])
def test_the_intervals_cover_the_truth(n):
    """The absolute and the relative interval, of level .9, in .9 of all cases."""
    draws, generator, covered = 3000, np.random.default_rng(SEED), np.zeros(2)
    for _ in range(draws):
        common, x, y = generator.standard_normal((3, n))
        a, b = Sample.of(*(42 + 2 * common + x)), Sample.of(*(40 + common + y))
        absolute = tost(a, b, low=-9, high=9, paired=True)
        relative = tost_relative(a, b, relative=0.9, paired=True)
        covered += [2.0 in known(absolute.interval), 0.05 in known(relative.interval)]
    assert covered / draws == pytest.approx([0.9, 0.9], abs=4 * math.sqrt(0.09 / draws))
