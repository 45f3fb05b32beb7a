"""The ratio of arithmetic means, for which printed means and standard deviations will do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import stdtr

from repro.errors import ClaimError
from repro.stats.contrast import scaled_contrast
from repro.stats.records import Sample, Summary, known
from repro.stats.t_tests import ratio_of_means

values = st.lists(st.integers(100, 200).map(float), min_size=2, max_size=6)
SEED = 402


@given(values, values, st.floats(0.5, 3))
def test_it_is_welchs_test_against_a_multiple(x, y, least):
    """
    p is scipy's one-sided Welch test of A against ``least`` times B.
    """
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    assume(np.std(y, ddof=1) / math.sqrt(len(y)) * 12 < np.mean(y))
    ours = ratio_of_means(Sample.of(*x), Sample.of(*y), at_least=least, alpha=0.1)
    theirs = stats.ttest_ind(x, np.array(y) * least, equal_var=False, alternative="greater")
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-12)
    assert known(ours.p) + known(ours.p_opposite) == pytest.approx(1, abs=1e-9)
    assert ours.effect == pytest.approx(np.mean(x) / np.mean(y), rel=1e-12)


@given(values, values)
def test_pairs_are_compared_pair_by_pair(x, y):
    """
    Paired, p is scipy's t-test of the differences between A and ``least`` times B.
    """
    n = min(len(x), len(y))
    x, y = np.array(x[:n]), np.array(y[:n])
    sums = x - 1.5 * y
    assume(np.ptp(sums) > 0 and np.ptp(x - y) > 0)
    assume(np.std(y, ddof=1) / math.sqrt(n) * 12 < np.mean(y))
    ours = ratio_of_means(Sample.of(*x), Sample.of(*y), at_least=1.5, alpha=0.1, paired=True)
    theirs = stats.ttest_1samp(sums, 0, alternative="greater")
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-12)


def test_a_summary_says_as_much_as_its_values():
    """
    By mean, standard deviation and size alone the result is the same.
    """
    a, b = Sample.of(9978.0, 9981.0, 9984.0), Sample.of(280.0, 282.0, 287.0)
    by_values = ratio_of_means(a, b, at_least=25)
    by_print = ratio_of_means(a.summary(), b.summary(), at_least=25)
    assert by_print.p == by_values.p
    assert by_print.interval == by_values.interval


@pytest.mark.parametrize("side", ["low", "high"])
def test_the_ends_of_the_interval_are_borders_of_the_test(side):
    """
    An end of the interval, as the least ratio, has exactly p = alpha, or 1 - alpha.
    """
    a, b = Summary(11, 9981, 200), Summary(11, 402, 30)
    interval = known(ratio_of_means(a, b, at_least=20, alpha=0.05).interval)
    at_end = ratio_of_means(a, b, at_least=getattr(interval, side))
    assert at_end.p == pytest.approx(0.05 if side == "low" else 0.95, rel=1e-6)
    assert interval.level == pytest.approx(0.9)


def test_one_constant_arm_is_known_exactly_and_two_are_compared_exactly():
    """
    As printed of MoS and Softmax: 9,981 ± 2 and 402 ± 0, eleven seeds each.
    """
    mos, softmax = Summary(11, 9981, 2), Summary(11, 402, 0)
    result = ratio_of_means(mos, softmax, at_least=24.8)
    t = (9981 - 24.8 * 402) / (2 / math.sqrt(11))
    assert result.p == pytest.approx(stats.t.sf(t, 10), rel=1e-9)
    exact = ratio_of_means(Summary(11, 9981, 0), softmax, at_least=20)
    assert exact.exact
    assert (exact.p, exact.interval) == (None, None)


@pytest.mark.parametrize("n", [5, 11])
@pytest.mark.parametrize("spread", [(0.3, 0.1), (0.1, 0.3)])
def test_it_holds_its_level(n, spread):
    """
    At a true ratio of 25 of normal values, confirmed in at most .05 of cases.
    """
    draws, least = 40_000, 25.0
    generator = np.random.default_rng([SEED, n, int(10 * spread[0])])
    a = least * (1 + spread[0] * generator.normal(size=(draws, n)))
    b = 1 + spread[1] * generator.normal(size=(draws, n))
    moments = [(arm.mean(1), arm.std(1, ddof=1) / math.sqrt(n), n) for arm in (a, b)]
    effect, se, df = scaled_contrast(moments[0], moments[1], least)
    p = np.asarray(stdtr(df, -effect / se))
    first = ratio_of_means(Sample.of(*a[0]), Sample.of(*b[0]), at_least=least)
    assert first.p == pytest.approx(p[0], rel=1e-9)
    limit = 0.05 + 4 * math.sqrt(0.05 * 0.95 / draws)
    assert np.mean(p <= 0.05) <= limit
    assert np.mean(p >= 0.95) <= limit


@pytest.mark.parametrize(
    ("a", "b", "least", "message"),
    [
        (Summary(5, -1, 1), Summary(5, 2, 1), 2, "means above 0"),
        (Summary(5, 1, 1), Summary(5, 0, 1), 2, "means above 0"),
        (Summary(5, 10, 1), Summary(5, 2, 4), 2, "not safely different from 0"),
        (Summary(5, 10, 1), Summary(5, 2, 0.1), 0, "finite number above 0"),
        (Summary(5, 10, 1), Summary(5, 2, 0.1), math.inf, "finite number above 0"),
        (Summary(1, 10, None), Summary(5, 2, 0.1), 2, "single value has no variance"),
        (Summary(5, 10, None), Summary(5, 2, 0.1), 2, "needs the standard deviation"),
    ],
)
def test_what_has_no_ratio(a, b, least, message):
    with pytest.raises(ClaimError, match=message):
        ratio_of_means(a, b, at_least=least)
