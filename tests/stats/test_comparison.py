from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from repro.errors import ClaimError
from repro.stats.records import Sample, Summary
from repro.stats.t_tests import student, welch

PTB, WT2 = (57.08, 0.10), (64.63, 0.09)

# Parthiban et al. 2021, Tables 4 and 5 and supplement Table 1: mean and sd of two arms of ten
# seeds as printed; p by Student's and by Welch's test from these numbers. The first ten of
# Student's are the printed p-values.
PRINTED = {
    "PTB SS": (PTB, (57.03, 0.15), "3.92e-01", "3.94e-01"),
    "PTB GSS": (PTB, (57.02, 0.13), "2.62e-01", "2.63e-01"),
    "PTB LMS-PLIF": (PTB, (56.81, 0.11), "1.91e-05", "1.98e-05"),
    "PTB MoS": (PTB, (54.88, 0.26), "2.02e-15", "1.89e-11"),
    "WT2 SS": (WT2, (64.35, 0.18), "3.46e-04", "6.89e-04"),
    "WT2 GSS": (WT2, (64.51, 0.13), "2.74e-02", "2.89e-02"),
    "WT2 LMS-PLIF": (WT2, (64.15, 0.17), "2.98e-07", "1.87e-06"),
    "WT2 MoS": (WT2, (61.97, 0.43), "2.04e-13", "4.41e-09"),
    "PTB PLIF, frozen": ((56.81, 0.11), (56.82, 0.09), "8.26e-01", "8.27e-01"),
    "WT2 PLIF, frozen": ((64.15, 0.17), (64.30, 0.17), "6.41e-02", "6.41e-02"),
    "PTB MoS, Softmax": ((56.39, 0.19), (56.45, 0.10), "3.89e-01", "3.92e-01"),
}

numbers = st.lists(st.floats(-100, 100).map(lambda x: round(x, 3)), min_size=2, max_size=7)
TESTS = pytest.mark.parametrize("test", [student, welch])


@pytest.mark.parametrize("row", PRINTED)
def test_the_papers_p_values(row):
    """
    From the printed summaries come all eleven p-values, Student's and Welch's, to three digits.
    """
    a, b, by_student, by_welch = PRINTED[row]
    arms = Summary(10, *a), Summary(10, *b)
    assert f"{student(*arms).p:.2e}" == by_student
    assert f"{welch(*arms).p:.2e}" == by_welch


@pytest.mark.parametrize(("test", "pooled"), [(student, True), (welch, False)])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@given(numbers, numbers)
def test_scipy_agrees(test, pooled, alternative, x, y):
    """
    Statistic, degrees of freedom, p and interval are scipy's.
    """
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    ours = test(Sample.of(*x), Sample.of(*y), alternative=alternative, alpha=0.05)
    theirs = stats.ttest_ind(x, y, equal_var=pooled, alternative=alternative)
    level = 0.95 if alternative == "two-sided" else 0.90
    interval = stats.ttest_ind(x, y, equal_var=pooled).confidence_interval(level)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-9)
    assert ours.df == pytest.approx(theirs.df, rel=1e-9)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-7, abs=1e-12)
    assert ours.interval is not None
    assert ours.interval.level == pytest.approx(level)
    assert (ours.interval.low, ours.interval.high) == pytest.approx(
        (interval.low, interval.high), rel=1e-8, abs=1e-8
    )


@TESTS
def test_a_sample_and_its_summary_are_the_same_evidence(test):
    """
    A sample and its summary give the same result, bit for bit.
    """
    a, b = Sample.of(1.0, 2.5, 3.0), Sample.of(0.5, 0.75, 4.0, 4.5)
    assert test(a, b) == test(a.summary(), b.summary())


@TESTS
@given(numbers, numbers)
def test_swapping_the_arms_flips_the_sign(test, x, y):
    """
    With the arms swapped, effect and interval change sign and p stays.
    """
    assume(np.ptp(x) > 0 or np.ptp(y) > 0)
    a, b = Sample.of(*x), Sample.of(*y)
    one, other = test(a, b), test(b, a)
    assert other.effect == -one.effect
    assert other.p == one.p
    assert (other.interval.low, other.interval.high) == (-one.interval.high, -one.interval.low)


@TESTS
@given(numbers, numbers, st.floats(0.01, 1000), st.floats(-100, 100))
def test_units_do_not_matter(test, x, y, scale, shift):
    """
    Another unit of measurement, scale and shift, leaves p as it is and scales the effect.
    """
    assume(np.ptp(x) > 0.1 and np.ptp(y) > 0.1)
    one = test(Sample.of(*x), Sample.of(*y))
    other = test(
        Sample.of(*(scale * v + shift for v in x)), Sample.of(*(scale * v + shift for v in y))
    )
    assert other.p == pytest.approx(one.p, rel=1e-6, abs=1e-12)
    assert other.effect == pytest.approx(scale * one.effect, rel=1e-6, abs=1e-9)


@TESTS
def test_the_one_sided_p_values_are_complementary(test):
    """
    A one-sided test knows the p of its contrary; a two-sided one has no contrary.
    """
    a, b = Sample.of(1.0, 2.0, 4.0), Sample.of(0.0, 1.0, 1.5)
    greater, less = test(a, b, alternative="greater"), test(a, b, alternative="less")
    assert greater.p_opposite == less.p
    assert greater.p + less.p == pytest.approx(1.0, abs=1e-12)
    assert test(a, b).p_opposite is None


def test_one_constant_arm_leaves_the_other_arms_degrees_of_freedom():
    """
    Where one arm does not vary, Welch's test has the n - 1 degrees of freedom of the other.
    """
    result = welch(Sample.of(402.0, 402.0, 402.0), Sample.of(900.0, 910.0, 930.0, 955.0))
    assert result.df == pytest.approx(3, rel=1e-12)


def test_tiny_spreads_do_not_underflow():
    """
    Standard deviations whose squares underflow still give a finite statistic.
    """
    result = welch(Summary(3, 1e-200, 1e-200), Summary(3, 0.0, 1e-200))
    assert result.statistic == pytest.approx((3 / 2) ** 0.5)


@TESTS
@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (Sample.of(1.0, 1.0), Sample.of(2.0, 2.0, 2.0), "both arms have variance 0.*separation"),
        (Summary(10, 402.0, 0.0), Summary(10, 282.0, 0.0), "both arms have variance 0"),
        (Sample.of(1.0), Sample.of(2.0, 3.0), "single value has no variance"),
        (Sample.of(1.0, 2.0), Summary(5, 2.0, None), "needs the standard deviation"),
    ],
)
def test_without_a_variance_there_is_no_test(test, a, b, message):
    """
    Variance 0 in both arms, a single value and an unknown deviation are refused.
    """
    with pytest.raises(ClaimError, match=message):
        test(a, b)


@TESTS
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, -0.05, float("nan")])
def test_alpha_is_a_level(test, alpha):
    """
    A level outside (0, 0.5) is refused.
    """
    with pytest.raises(ClaimError, match="alpha must lie between"):
        test(Sample.of(1.0, 2.0), Sample.of(2.0, 4.0), alpha=alpha)


@TESTS
def test_an_unknown_alternative_is_refused(test):
    """
    An alternative that is none of the three is refused.
    """
    with pytest.raises(ClaimError, match="two-sided, greater or less"):
        test(Sample.of(1.0, 2.0), Sample.of(2.0, 4.0), alternative="bigger")
