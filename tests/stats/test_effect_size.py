from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from statsmodels.stats.nonparametric import rank_compare_2indep

from repro.errors import ClaimError
from repro.stats.ranks import probability_of_less
from repro.stats.records import Sample, Summary, known

SEED = 1981
numbers = st.lists(st.integers(-9, 9).map(float), min_size=2, max_size=8)
summaries = st.builds(
    lambda mean, sd, n: Summary(n, mean, sd),
    st.floats(-9, 9),
    st.floats(0.5, 3),
    st.integers(3, 20),
)


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


def test_arms_without_variance_have_no_size():
    """
    A single value, and summaries that do not vary, are refused.
    """
    with pytest.raises(ClaimError, match="single value"):
        probability_of_less(Sample.of(1.0), Sample.of(1.0, 2.0))
    with pytest.raises(ClaimError, match="both arms have variance 0"):
        probability_of_less(Summary(3, 1.0, 0.0), Summary(3, 2.0, 0.0))
