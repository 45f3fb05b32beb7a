from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.weightstats import ttost_ind

from repro.errors import ClaimError
from repro.stats.records import Alternative, Sample, Summary, known
from repro.stats.t_tests import Better, non_inferiority, non_superiority, tost, welch

numbers = st.lists(st.floats(-10, 10).map(lambda x: round(x, 3)), min_size=2, max_size=7)
A, B = Sample.of(56.1, 56.4, 56.6, 56.3), Sample.of(56.5, 56.2, 56.9, 56.7, 56.6)


@given(numbers, numbers, st.floats(-5, -0.01), st.floats(0.01, 5))
def test_statsmodels_agrees(x, y, low, high):
    """
    The p of equivalence is that of statsmodels' two one-sided tests with unequal variances.
    """
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    ours = tost(Sample.of(*x), Sample.of(*y), low=low, high=high)
    theirs, *_ = ttost_ind(np.array(x), np.array(y), low, high, usevar="unequal")
    assert known(ours.p) == pytest.approx(theirs, rel=1e-7, abs=1e-12)


@given(numbers, numbers, st.floats(0.01, 5), st.floats(0.01, 0.2))
def test_p_and_interval_tell_the_same(x, y, margin, alpha):
    """
    p is below alpha exactly when the 1 - 2 alpha interval lies between the margins.
    """
    assume(np.ptp(x) > 0 or np.ptp(y) > 0)
    result = tost(Sample.of(*x), Sample.of(*y), low=-margin, high=margin, alpha=alpha)
    assume(abs(known(result.p) - alpha) > 1e-9)
    inside = -margin < known(result.interval).low and known(result.interval).high < margin
    assert (known(result.p) < alpha) == inside
    assume(abs(known(result.p_opposite) - alpha) > 1e-9)
    beyond = known(result.interval).low > margin or known(result.interval).high < -margin
    assert (known(result.p_opposite) < alpha) == beyond


def test_the_interval_is_welchs_of_twice_alpha():
    """
    The interval of equivalence is Welch's of level 1 - 2 alpha.
    """
    result = tost(A, B, low=-1, high=1, alpha=0.05)
    assert result.interval == welch(A, B, alpha=0.1).interval


@pytest.mark.parametrize(("a", "b"), [(A, B), (B, A)])
def test_the_smallest_confirmable_margin_is_the_border(a, b):
    """
    A margin just above the smallest confirmable one confirms, one just below does not.
    """
    smallest = tost(a, b, low=-1, high=1).smallest_confirmable_margin
    assert isinstance(smallest, float)
    for factor, confirmed in ((1.001, True), (0.999, False)):
        wide = factor * smallest
        assert (known(tost(a, b, low=-wide, high=wide).p) < 0.05) is confirmed


@pytest.mark.parametrize("test", [non_superiority, non_inferiority])
@pytest.mark.parametrize("better", ["lower", "higher"])
@pytest.mark.parametrize(("a", "b"), [(A, B), (B, A)])
def test_one_sided_margins_have_the_same_border(test, better, a, b):
    """
    The smallest confirmable margin of a one-sided test confirms when widened, and 0 suffices
    where the interval lies on the good side already.
    """
    smallest = test(a, b, margin=0.3, better=better).smallest_confirmable_margin
    assert test(a, b, margin=smallest + 1e-4, better=better).p < 0.05
    if smallest > 1e-4:
        assert test(a, b, margin=smallest - 1e-4, better=better).p > 0.05


def test_not_superior_is_one_half_of_equivalent():
    """
    Non-superiority is the one-sided test at the margin on the side of the gain.
    """
    cases: list[tuple[Better, Alternative, int]] = [("higher", "less", 1), ("lower", "greater", -1)]
    for better, alternative, sign in cases:
        ours = non_superiority(A, B, margin=0.3, better=better)
        shifted = Sample.of(*(value - sign * 0.3 for value in A.values))
        assert known(ours.p) == pytest.approx(
            welch(shifted, B, alternative=alternative).p, rel=1e-9
        )
        assert known(ours.p) + known(ours.p_opposite) == pytest.approx(1, abs=1e-12)
        assert (ours.low, ours.high) == ((None, 0.3) if sign > 0 else (-0.3, None))


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_not_inferior_is_not_superior_with_the_arms_swapped(better):
    """
    A is not inferior to B exactly as B is not superior to A.
    """
    one = non_inferiority(A, B, margin=0.3, better=better)
    other = non_superiority(B, A, margin=0.3, better=better)
    assert one.p == pytest.approx(other.p, rel=1e-12)
    assert one.smallest_confirmable_margin == other.smallest_confirmable_margin


def test_the_papers_own_numbers_confirm_within_a_third_of_a_perplexity():
    """
    MoS 56.39 (0.19) and Softmax 56.45 (0.10), ten seeds each, are equivalent within 0.3.
    """
    arms = Summary(10, 56.39, 0.19), Summary(10, 56.45, 0.10)
    result = tost(*arms, low=-0.3, high=0.3)
    assert known(result.p) < 0.01
    assert (known(result.interval).low, known(result.interval).high) == pytest.approx(
        (-0.18, 0.06), abs=0.005
    )


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1.0), (-1.0, 0.0), (1.0, 2.0), (1.0, -1.0), (float("-inf"), 1.0)]
)
def test_margins_lie_around_zero(low, high):
    """
    Equivalence margins that do not enclose 0, or are not finite, are refused.
    """
    with pytest.raises(ClaimError, match="margin"):
        tost(A, B, low=low, high=high)


@pytest.mark.parametrize("test", [non_superiority, non_inferiority])
def test_bad_one_sided_requests_are_refused(test):
    """
    A negative or infinite margin, and a direction that is none, are refused.
    """
    for margin in (-0.1, float("inf"), float("nan")):
        with pytest.raises(ClaimError, match="a margin is a finite number"):
            test(A, B, margin=margin, better="lower")
    with pytest.raises(ClaimError, match="better is lower or higher"):
        test(A, B, margin=0.1, better="smaller")


def test_constant_arms_are_refused():
    """
    Where neither arm varies, equivalence is refused.
    """
    with pytest.raises(ClaimError, match="variance 0"):
        tost(Sample.of(1.0, 1.0), Sample.of(1.0, 1.0), low=-1, high=1)
