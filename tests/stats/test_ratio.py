from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from repro.errors import ClaimError
from repro.stats.records import Sample, Summary, known
from repro.stats.t_tests import ratio_of_geometric_means

ranks = st.lists(st.integers(1, 10_000).map(float), min_size=2, max_size=6)


@given(ranks, ranks, st.floats(0.1, 50))
def test_it_is_welchs_test_on_logarithms(x, y, least):
    """
    p is scipy's one-sided Welch test of the logarithms, shifted by the least ratio's.
    """
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    ours = ratio_of_geometric_means(Sample.of(*x), Sample.of(*y), at_least=least)
    theirs = stats.ttest_ind(
        np.log(x) - math.log(least), np.log(y), equal_var=False, alternative="greater"
    )
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-12)
    assert known(ours.p) + known(ours.p_opposite) == pytest.approx(1, abs=1e-9)
    assert ours.effect == pytest.approx(stats.gmean(x) / stats.gmean(y), rel=1e-9)


@given(ranks, ranks, st.floats(1, 50), st.floats(0.01, 0.2))
def test_the_interval_decides_as_p_does(x, y, least, alpha):
    """
    p is below alpha exactly when the whole interval of the ratio lies above the least ratio.
    """
    assume(np.ptp(x) > 0 or np.ptp(y) > 0)
    result = ratio_of_geometric_means(Sample.of(*x), Sample.of(*y), at_least=least, alpha=alpha)
    assume(abs(known(result.p) - alpha) > 1e-9)
    assert (known(result.interval).low > least) == (known(result.p) < alpha)
    assert known(result.interval).level == pytest.approx(1 - 2 * alpha)


@given(ranks, ranks, st.floats(0.01, 1000))
def test_units_cancel(x, y, scale):
    """
    The ratio and its p do not depend on the unit of measurement.
    """
    assume(np.ptp(x) > 0 or np.ptp(y) > 0)
    a, b = Sample.of(*x), Sample.of(*y)
    one = ratio_of_geometric_means(a, b, at_least=2)
    other = ratio_of_geometric_means(
        *(Sample.of(*(scale * v for v in arm.values)) for arm in (a, b)), at_least=2
    )
    assert other.effect == pytest.approx(one.effect, rel=1e-9)
    assert other.p == pytest.approx(one.p, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(
    ("a", "b"),
    [((9000.0, 9100.0, 9050.0), (402.0,) * 5), ((402.0,) * 5, (10.0, 11.0, 12.0))],
)
def test_a_constant_arm_has_no_degrees_of_freedom(a, b):
    """
    With one constant arm the other's n - 1 are the degrees of freedom.
    """
    result = ratio_of_geometric_means(Sample.of(*a), Sample.of(*b), at_least=2)
    assert not result.exact
    assert result.df == pytest.approx(2, rel=1e-12)


def test_two_constant_arms_are_compared_exactly():
    """
    Two constant arms have an exact ratio, and neither interval nor p.
    """
    result = ratio_of_geometric_means(
        Sample.of(804.0, 804.0), Sample.of(402.0, 402.0, 402.0), at_least=2
    )
    assert result.effect == 2.0
    assert result.exact
    assert (result.interval, result.p, result.p_opposite, result.df) == (None, None, None, None)


def test_a_boundless_interval_is_infinite():
    """
    Where the interval of the logarithm overflows, its upper end is infinite.
    """
    result = ratio_of_geometric_means(Sample.of(1e-300, 1e300), Sample.of(1.0, 1.0), at_least=2)
    assert known(result.interval).high == math.inf


@pytest.mark.parametrize(
    ("a", "b", "least", "message"),
    [
        (Sample.of(1.0, 0.0), Sample.of(1.0, 2.0), 2.0, "values above 0"),
        (Sample.of(1.0, 2.0), Sample.of(-1.0, 2.0), 2.0, "values above 0"),
        (Sample.of(1.0), Sample.of(1.0, 2.0), 2.0, "two replicates"),
        (Sample.of(1.0, 1.0), Sample.of(1.0), 2.0, "two replicates"),
        (Sample.of(1.0, 2.0), Sample.of(1.0, 2.0), 0.0, "ratio must be a finite number above 0"),
        (Sample.of(1.0, 2.0), Sample.of(1.0, 2.0), math.inf, "ratio must be a finite number"),
        (Summary(10, 9981.0, 2.0), Sample.of(1.0, 2.0), 2.0, "value of every replicate"),
    ],
)
def test_meaningless_ratios_are_refused(a, b, least, message):
    """
    Values not above 0, single replicates, impossible ratios and summaries are refused.
    """
    with pytest.raises(ClaimError, match=message):
        ratio_of_geometric_means(a, b, at_least=least)
