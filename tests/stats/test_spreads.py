"""Tests of scatter, against scipy, closed forms and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from repro.errors import ClaimError, TooFewError
from repro.stats.records import Sample, Summary
from repro.stats.spreads import f_test, levene, spread_within

SEEDS = np.random.default_rng(20)


def sample(n: int, sd: float = 1.0) -> Sample:
    return Sample.of(*(sd * SEEDS.standard_normal(n) + 7.0))


@pytest.mark.parametrize(("n_a", "n_b"), [(5, 5), (8, 13), (20, 6)])
def test_levene_is_that_of_scipy(n_a: int, n_b: int) -> None:
    """Its two-sided p at a ratio of 1 is that of Levene's test with medians."""
    a, b = sample(n_a, 2.0), sample(n_b)
    ours = levene(a, b, low=1.0)
    theirs = stats.levene(a.values, b.values, center="median").pvalue
    assert ours.p is not None
    assert 2 * min(ours.p, 1 - ours.p) == pytest.approx(theirs, rel=1e-10)


@pytest.mark.parametrize("k", [0.4, 1.0, 2.5])
def test_any_ratio_is_that_of_a_stretched_arm(k: float) -> None:
    """Against k times B, it is scipy's test of A and k B."""
    a, b = sample(9, 2.0), sample(7)
    ours = levene(a, b, low=k)
    theirs = stats.levene(a.values, k * np.asarray(b.values), center="median").pvalue
    assert ours.p is not None
    assert 2 * min(ours.p, 1 - ours.p) == pytest.approx(theirs, rel=1e-10)


def test_pairs_are_tested_by_the_differences_of_their_deviations() -> None:
    a, b = sample(9, 2.0), sample(9)
    far = [np.abs(x - np.median(x)) for x in map(np.asarray, (a.values, b.values))]
    theirs = stats.ttest_rel(far[0], 1.5 * far[1], alternative="greater").pvalue
    assert levene(a, b, low=1.5, paired=True).p == pytest.approx(theirs, rel=1e-10)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("n", [5, 6, 12])
def test_the_interval_ends_where_p_is_alpha(n: int, paired: bool) -> None:
    """Held to either end, the ratio is just not shown to lie on the other side of it."""
    a, b = sample(n, 2.0), sample(n)
    interval = levene(a, b, low=1.0, paired=paired).interval
    assert interval is not None
    if interval.low > 0:
        assert levene(a, b, low=interval.low, paired=paired).p == pytest.approx(0.05, rel=1e-9)
    if interval.high < math.inf:
        assert levene(a, b, high=interval.high, paired=paired).p == pytest.approx(0.05, rel=1e-9)


def test_pairs_that_a_smaller_ratio_would_fit_show_nothing() -> None:
    """A ratio of 1 is rejected, one of 0.5 is not: neither is *at least 1*, nor is p small."""
    a = Sample.of(-0.375, 3.639, -1.108, -0.429, -1.731)
    b = Sample.of(-1.016, 2.110, -0.950, -0.958, -1.186)
    far = [np.abs(x - np.median(x)) for x in map(np.asarray, (a.values, b.values))]
    p_at = {
        k: stats.ttest_rel(far[0], k * far[1], alternative="greater").pvalue for k in (1.0, 0.5)
    }
    assert p_at[1.0] < 0.05 < p_at[0.5]
    found = levene(a, b, low=1.0, paired=True)
    assert found.p is not None
    assert found.p > p_at[0.5]
    assert found.interval is not None
    assert found.interval.low == 0


@settings(max_examples=200)
@given(seed=st.integers(0, 10**6), n=st.integers(5, 8), k=st.floats(0.2, 5.0))
def test_p_and_interval_of_pairs_agree(seed: int, n: int, k: float) -> None:
    """A ratio is rejected just where the interval leaves it out, however the pairs correlate."""
    rng = np.random.default_rng(seed)
    common = 2 * rng.standard_normal(n)
    a, b = (Sample.of(*(common + rng.standard_normal(n))) for _ in range(2))
    found = levene(a, b, low=k, alpha=0.1, paired=True)
    assert found.p is not None
    assert found.p_opposite is not None
    assert found.interval is not None
    assert (found.p < 0.1) == (found.interval.low > k)
    assert (found.p_opposite < 0.1) == (found.interval.high < k)


def test_an_interval_may_have_no_end() -> None:
    """Where the scatter of B cannot be told from none, the ratio may be as large as it likes."""
    b = Sample.of(1.0, 1.0, 1.0, 1.0, 5.0)
    interval = levene(sample(5), b, low=1.0).interval
    assert interval is not None
    assert interval.high == math.inf


def test_f_is_that_of_the_textbook() -> None:
    """A printed standard deviation of 3 against 2, ten of each: F = 2.25."""
    found = f_test(Summary(10, 5.0, 3.0), Summary(10, 9.0, 2.0), low=1.0)
    assert found.p == pytest.approx(stats.f.sf(2.25, 9, 9), rel=1e-12)
    interval = found.interval
    assert interval is not None
    reach = math.sqrt(stats.f.ppf(0.95, 9, 9))
    assert (interval.low, interval.high) == pytest.approx((1.5 / reach, 1.5 * reach), rel=1e-12)


@pytest.mark.parametrize("test", [levene, f_test])
def test_within_a_factor_is_two_one_sided_tests(test) -> None:
    """The p is that of the limit which is harder to keep, on either side."""
    a, b = sample(30), sample(30)
    both = test(a, b, low=0.5, high=2.0)
    low, high = test(a, b, low=0.5), test(a, b, high=2.0)
    assert both.p == max(low.p, high.p)
    assert both.p_opposite == min(low.p_opposite, high.p_opposite)


@settings(max_examples=40)
@given(scale=st.floats(1e-3, 1e3), shift=st.floats(-100, 100))
def test_units_do_not_matter(scale: float, shift: float) -> None:
    """Nor does the mean, nor the order of the arms but for its sense."""
    a, b = Sample.of(1.0, 2.5, 2.0, 4.0, 3.5), Sample.of(1.0, 1.5, 1.25, 2.0, 1.0)
    moved = [Sample.of(*(scale * (x + shift) for x in each.values)) for each in (a, b)]
    found, other = levene(a, b, low=1.5), levene(*moved, low=1.5)
    assert other.p == pytest.approx(found.p, rel=1e-6)
    turned = levene(b, a, high=1 / 1.5)
    assert turned.p == pytest.approx(found.p, rel=1e-9)
    assert turned.effect == pytest.approx(1 / found.effect, rel=1e-9)


@pytest.mark.parametrize("test", ["levene", "f"])
@pytest.mark.parametrize("limits", [(2.0, None), (None, 0.5), (0.5, 2.0)])
def test_what_is_simulated_for_a_plan_is_the_test(test: str, limits) -> None:
    """Draw by draw, with several sizes of arms."""
    public = {"levene": levene, "f": f_test}[test]
    low, high = limits
    a, b = SEEDS.standard_normal((200, 9)), 0.6 * SEEDS.standard_normal((200, 14))
    found = spread_within(test, low, high)(a, b, 0.2)
    for row_a, row_b, confirmed in zip(a, b, found, strict=True):
        p = public(Sample.of(*row_a), Sample.of(*row_b), low=low, high=high, alpha=0.2).p
        assert p is not None
        assert (p < 0.2) == confirmed


@pytest.mark.parametrize(
    ("a", "b", "error", "words"),
    [
        (sample(4), sample(8), TooFewError, "4 replicates tell too little"),
        (Sample.of(*[2.0] * 6), sample(6), ClaimError, "does not vary"),
        (Summary(9, 1.0, 1.0), sample(6), ClaimError, "needs the value of every replicate"),
        (Sample.of(1, -1, 1, -1, 1, -1), Sample.of(2, -2, 2, -2, 2, -2), ClaimError, "do not vary"),
    ],
)
def test_what_tells_nothing_is_refused(a, b, error, words) -> None:
    with pytest.raises(error, match=words):
        levene(a, b, low=1.0)


@pytest.mark.parametrize("limits", [(None, None), (0.0, None), (2.0, 0.5), (math.inf, None)])
def test_limits_are_ratios(limits) -> None:
    with pytest.raises(ClaimError, match="above 0 and in order"):
        f_test(sample(6), sample(6), low=limits[0], high=limits[1])


def test_pairs_have_no_f_test() -> None:
    with pytest.raises(ClaimError, match="use levene for pairs"):
        f_test(sample(6), sample(6), low=1.0, paired=True)
