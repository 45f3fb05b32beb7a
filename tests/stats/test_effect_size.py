from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.meta_analysis import effectsize_smd
from statsmodels.stats.nonparametric import rank_compare_2indep

from repro.errors import ClaimError
from repro.stats.effect_size import hedges_g, probability_of_less
from repro.stats.result import known
from repro.stats.sample import Sample, Summary

SEED = 1981
numbers = st.lists(st.integers(-9, 9).map(float), min_size=2, max_size=8)
summaries = st.builds(
    lambda mean, sd, n: Summary(n, mean, sd),
    st.floats(-9, 9),
    st.floats(0.5, 3),
    st.integers(3, 20),
)


def test_hedges_g_by_hand():
    """
    Means 5 and 3, both variances 1, three values each: d = 2, J = 1 - 3/15, g = 1.6.
    """
    found = hedges_g(Sample.of(4.0, 5.0, 6.0), Sample.of(2.0, 3.0, 4.0))
    assert found.value == pytest.approx(1.6, rel=1e-12)
    assert found.assumes == "normal, equal variances"


@given(summaries, summaries)
def test_statsmodels_agrees_on_g(a, b):
    """
    g is statsmodels' standardised mean difference, corrected for bias.
    """
    theirs, _ = effectsize_smd(a.mean, a.sd, a.n, b.mean, b.sd, b.n)
    assert hedges_g(a, b).value == pytest.approx(theirs, rel=1e-9, abs=1e-9)


@settings(deadline=None)
@given(summaries, summaries, st.sampled_from([0.8, 0.95]))
def test_the_interval_of_g_inverts_the_noncentral_t(a, b, level):
    """
    At each end of the interval the pooled t has the declared chance of being this extreme.
    """
    found = hedges_g(a, b, level=level)
    df, scale = a.n + b.n - 2, np.sqrt(1 / a.n + 1 / b.n)
    unit = (1 - 3 / (4 * df - 1)) * scale
    own = known(found.interval)
    t = found.value / unit
    chances = [stats.nct.cdf(t, df, end / unit) for end in (own.low, own.high)]
    assert chances == pytest.approx([(1 + level) / 2, (1 - level) / 2], abs=1e-6)


@given(summaries, summaries)
def test_swapping_the_arms_flips_g(a, b):
    """
    With the arms swapped g and its interval change sign.
    """
    one, other = hedges_g(a, b), hedges_g(b, a)
    assert other.value == -one.value
    ends = known(one.interval)
    assert (known(other.interval).low, known(other.interval).high) == pytest.approx(
        (-ends.high, -ends.low), rel=1e-9
    )


def test_the_interval_of_g_covers():
    """
    For normal arms of ten the 90 % interval of the uncorrected d covers the truth in 90 %.
    """
    rng, draws = np.random.default_rng(SEED), 4000
    x, y = rng.normal(1.2, 1, (draws, 10)), rng.normal(0, 1, (draws, 10))
    hits = 0
    for a, b in zip(x, y, strict=True):
        arms = (Summary(10, float(z.mean()), float(z.std(ddof=1))) for z in (a, b))
        own = known(hedges_g(*arms, level=0.9).interval)
        hits += own.low <= 1.2 * (1 - 3 / 71) <= own.high
    assert abs(hits / draws - 0.9) <= 4 * np.sqrt(0.09 / draws)


@settings(deadline=None, max_examples=50)
@given(numbers, numbers)
def test_the_probability_counts_pairs(x, y):
    """
    P(A < B) is the share of pairs in order, ties as a half, with statsmodels' interval.
    """
    found = probability_of_less(Sample.of(*x), Sample.of(*y), level=0.9)
    assert found.value == pytest.approx(np.mean([(i < j) + (i == j) / 2 for i in x for j in y]))
    assume(min(x) <= max(y) and min(y) <= max(x) and len({*x, *y}) > 1)
    low, high = rank_compare_2indep(np.array(y), np.array(x)).conf_int(alpha=0.1)
    own = known(found.interval)
    assert (own.low, own.high) == pytest.approx((max(low, 0), min(high, 1)), rel=1e-9)


def test_the_probability_from_summaries():
    """
    From summaries it is that of two normal arms: one standard deviation of the difference is
    .8413, and a sample beside a summary is summarised.
    """
    a, b = Summary(10, 1.0, 3.0), Summary(10, 6.0, 4.0)
    found = probability_of_less(a, b)
    assert found.value == pytest.approx(0.8413447460685429)
    assert (found.interval, found.assumes) == (None, "normal")
    sample = Sample.of(1.0, 2.0, 3.0)
    assert probability_of_less(sample, b) == probability_of_less(sample.summary(), b)


def test_separated_arms_have_no_interval():
    """
    Where all of A lies below all of B the probability is 1, without interval.
    """
    found = probability_of_less(Sample.of(1.0, 2.0), Sample.of(3.0, 4.0))
    assert (found.value, found.interval) == (1.0, None)


@pytest.mark.parametrize("size", [hedges_g, probability_of_less])
def test_arms_without_variance_have_no_size(size):
    """
    A single value, and summaries that do not vary, are refused.
    """
    with pytest.raises(ClaimError, match="single value"):
        size(Sample.of(1.0), Sample.of(1.0, 2.0))
    with pytest.raises(ClaimError, match="both arms have variance 0"):
        size(Summary(3, 1.0, 0.0), Summary(3, 2.0, 0.0))


def test_pairs_are_measured_by_the_spread_of_their_differences():
    """Mean over standard deviation of the differences, corrected; its interval covers."""
    x, y = np.array([2.9, 3.4, 1.2, 4.4, 2.7]), np.array([2.1, 2.9, 1.0, 3.2, 2.4])
    own = x - y
    found = hedges_g(Sample.of(*x), Sample.of(*y), paired=True)
    assert found.value == pytest.approx((1 - 3 / 15) * own.mean() / own.std(ddof=1))
    assert found.assumes == "normal differences"
    t = own.mean() / own.std(ddof=1) * math.sqrt(5)
    interval = known(found.interval)
    for end, chance in ((interval.low, 0.975), (interval.high, 0.025)):
        shift = end / (1 - 3 / 15) * math.sqrt(5)
        assert stats.nct.cdf(t, 4, shift) == pytest.approx(chance, abs=1e-6)
    generator, covered = np.random.default_rng(3), 0
    for _ in range(500):
        common, a, b = generator.standard_normal((3, 8))
        pair = Sample.of(*(common + 0.7 * a + 0.6)), Sample.of(*(common + 0.7 * b))
        true = (1 - 3 / 27) * 0.6 / (0.7 * math.sqrt(2))
        covered += true in known(hedges_g(*pair, paired=True).interval)
    assert covered / 500 == pytest.approx(0.95, abs=0.04)
