from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.errors import ClaimError
from repro.stats.records import Sample, Summary, require_sample, summarise

values = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8)


def test_a_summary_uses_n_minus_one():
    """
    The standard deviation has n - 1 in its denominator.
    """
    assert Sample.of(1.0, 2.0, 4.0).summary() == Summary(3, 7 / 3, statistics.stdev([1, 2, 4]))


@given(values)
def test_order_never_matters(numbers):
    """
    The order of the replicates changes no bit of the summary.
    """
    assert Sample.of(*numbers).summary().sd == Sample.of(*reversed(numbers)).summary().sd


@pytest.mark.parametrize(
    "constant", [(0.1, 0.1, 0.1), (402.0, 402.0), (0.1 + 0.2, 0.3, 0.3), (0.0, 0.0)]
)
def test_equal_values_have_no_spread_at_all(constant):
    """
    Values equal up to round-off have standard deviation exactly 0.
    """
    sample = Sample.of(*constant)
    assert sample.constant
    assert sample.summary().sd == 0.0


def test_one_value_has_a_mean_and_no_deviation():
    """
    The summary of a single value has no standard deviation, and asking for its spread is refused.
    """
    summary = Sample.of(3.0).summary()
    assert summary == Summary(1, 3.0, None)
    with pytest.raises(ClaimError, match="single value has no variance"):
        _ = summary.spread


def test_an_unprinted_deviation_is_refused_when_needed():
    """
    A summary without its standard deviation can be held, but no test may need the deviation.
    """
    with pytest.raises(ClaimError, match="needs the standard deviation"):
        _ = Summary(10, 57.3, None).standard_error


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (((), ()), "at least one value"),
        (((1.0, 2.0), (0,)), "exactly one value"),
        (((1.0, 2.0), (3, 3)), "occurs twice"),
        (((1.0, math.nan), (0, 1)), "replicate 1 has no finite value: nan"),
        (((1.0, math.inf), (0, 7)), "replicate 7 has no finite value: inf"),
    ],
)
def test_a_sample_refuses_what_is_no_sample(bad, message):
    """
    Empty, mismatched, repeated and non-finite values are refused by name.
    """
    with pytest.raises(ClaimError, match=message):
        Sample(*bad)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ((0, 1.0, 1.0), "at least one value"),
        ((5, math.nan, 1.0), "finite number"),
        ((5, 1.0, -0.1), "not negative"),
        ((5, 1.0, math.inf), "must be finite"),
        ((1, 1.0, 0.2), "single value has no standard deviation"),
    ],
)
def test_a_summary_refuses_what_is_no_summary(bad, message):
    """
    Impossible sizes, means and deviations are refused.
    """
    with pytest.raises(ClaimError, match=message):
        Summary(*bad)


def test_logarithms_keep_the_replicates():
    """
    Taking logarithms keeps the replicates' numbers and refuses values not above 0.
    """
    sample = Sample((1.0, math.e), (4, 9))
    assert sample.log() == Sample((0.0, 1.0), (4, 9))
    with pytest.raises(ClaimError, match="above 0; the smallest is 0"):
        Sample.of(1.0, 0.0).log()


def test_geometric_mean():
    """
    The geometric mean agrees with the standard library's, and is exact for equal values.
    """
    assert Sample.of(2.0, 8.0).geometric_mean == pytest.approx(4.0, rel=1e-15)
    assert Sample.of(402.0, 402.0, 402.0).geometric_mean == 402.0


def test_leaving_out_a_replicate():
    """
    A replicate is left out by its number; an absent one, or the last, is refused.
    """
    sample = Sample((1.0, 2.0, 3.0), (0, 5, 6))
    assert sample.without(5) == Sample((1.0, 3.0), (0, 6))
    with pytest.raises(ClaimError, match="no replicate 1"):
        sample.without(1)
    with pytest.raises(ClaimError, match="at least one value"):
        Sample.of(1.0).without(0)


def test_a_summary_stands_for_itself_but_not_for_a_sample():
    """
    A summary is its own summary; a test of replicates refuses it and names tests that would do.
    """
    printed = Summary(10, 56.39, 0.19)
    assert summarise(printed) is printed
    assert summarise(Sample.of(1.0, 3.0)) == Summary(2, 2.0, math.sqrt(2))
    with pytest.raises(ClaimError, match=r"separation needs the value of every replicate.*welch"):
        require_sample(printed, "separation")
