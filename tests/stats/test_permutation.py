from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from repro.errors import ClaimError
from repro.stats.ranks import permutation, splits, welch_p
from repro.stats.records import Sample

SEED = 1937
whole = st.lists(st.integers(-9, 9).map(float), min_size=4, max_size=6).filter(
    lambda values: len(set(values)) > 1
)


def enumerated(x, y):
    """One-sided p of x greater: the share of all splits whose Welch t is at least the observed."""
    pooled = [*x, *y]

    def welch_t(chosen):
        one = [pooled[i] for i in chosen]
        other = [pooled[i] for i in range(len(pooled)) if i not in chosen]
        error = np.var(one, ddof=1) / len(one) + np.var(other, ddof=1) / len(other)
        gap = np.mean(one) - np.mean(other)
        return gap / np.sqrt(error) if error > 1e-20 else np.copysign(np.inf, gap)

    observed = welch_t(range(len(x)))
    splits = itertools.combinations(range(len(pooled)), len(x))
    return np.mean(
        [welch_t(chosen) >= observed - 1e-9 * max(1, abs(observed)) for chosen in splits]
    )


@settings(max_examples=12, deadline=None)
@given(whole, whole)
def test_all_splits_by_hand(x, y):
    """
    The exact p is the share of splits, tried one by one, that are at least as extreme.
    """
    result = permutation(Sample.of(*x), Sample.of(*y), alternative="greater")
    assert result.p == pytest.approx(enumerated(x, y), rel=1e-12)
    assert result.p_opposite == pytest.approx(enumerated(y, x), rel=1e-12)
    assert result.exact is True


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_scipy_agrees(alternative):
    """
    The exact p is that of scipy's Welch test by permutation.
    """
    rng = np.random.default_rng(SEED)
    x, y = rng.normal(0.8, 1, 7), rng.normal(0, 2, 5)
    ours = permutation(Sample.of(*x), Sample.of(*y), alternative=alternative)
    theirs = stats.ttest_ind(
        x,
        y,
        equal_var=False,
        alternative=alternative,
        method=stats.PermutationMethod(n_resamples=10_000),
    )
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-12)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-9)


def test_complete_separation_has_the_smallest_p():
    """
    Five wholly above five: one split in 252, two-sided .0079 (statistics.md 1.1).
    """
    a, b = Sample.of(6.0, 7.1, 8.0, 9.0, 10.0), Sample.of(1.0, 2.0, 3.2, 4.0, 5.0)
    assert permutation(a, b).p == pytest.approx(2 / 252)
    assert permutation(a, b, alternative="less").p == 1.0


def test_ten_and_ten_are_still_exact():
    """
    Ten and ten replicates have 184,756 splits, all tried: two-sided 1.1e-5 when separated.
    """
    a, b = Sample.of(*range(10, 20)), Sample.of(*range(10))
    result = permutation(a, b)
    assert (result.alternative, result.exact) == ("two-sided", True)
    assert result.p == pytest.approx(2 / 184_756)


def test_many_replicates_are_drawn():
    """
    Beyond 200,000 splits some are drawn: never p = 0, the same p in any order of seeds and
    arms, and within Monte Carlo error of Welch's test for normal data.
    """
    rng = np.random.default_rng(SEED)
    x, y = rng.normal(0.5, 1, 15), rng.normal(0, 1, 15)
    a, b = Sample.of(*x), Sample.of(*y)
    result = permutation(a, b, alternative="greater")
    assert result.exact is False
    assert permutation(Sample.of(*x[::-1]), b, alternative="greater").p == result.p
    assert permutation(b, a, alternative="less").p == result.p
    assert result.p == pytest.approx(
        stats.ttest_ind(x, y, equal_var=False, alternative="greater").pvalue, abs=0.01
    )
    far = Sample.of(*(x + 100))
    extreme = permutation(far, b, alternative="greater")
    assert (extreme.p, extreme.p_opposite) == (1 / 100_000, 1.0)


@pytest.mark.parametrize(
    ("n", "alternative", "alpha", "refused"),
    [
        ((3, 3), "two-sided", 0.05, True),
        ((3, 3), "greater", 0.05, False),
        ((3, 3), "greater", 0.049, True),
        ((3, 4), "two-sided", 0.05, True),
        ((4, 4), "two-sided", 0.05, False),
        ((15, 15), "two-sided", 1e-5, True),
    ],
)
def test_designs_that_cannot_decide_are_refused(n, alternative, alpha, refused):
    """
    Where even the most extreme split has a p above alpha there is no test; at alpha there is.
    """
    arms = [Sample.of(*np.linspace(i, 7 + i, size)) for i, size in enumerate(n)]
    if refused:
        with pytest.raises(ClaimError, match="cannot decide: the most extreme"):
            permutation(*arms, alternative=alternative, alpha=alpha)
    else:
        assert permutation(*arms, alternative=alternative, alpha=alpha).p > alpha


def test_constant_arms_are_refused():
    """
    Variance 0 in both arms is refused as by Welch's test; in one it is not.
    """
    flat = Sample.of(1.0, 1.0, 1.0, 1.0)
    with pytest.raises(ClaimError, match="both arms have variance 0"):
        permutation(flat, Sample.of(2.0, 2.0, 2.0, 2.0))
    assert permutation(flat, Sample.of(2.0, 2.0, 2.0, 3.0)).p == pytest.approx(2 / 70)


def test_units_do_not_matter():
    """
    Another unit, scale and shift, leaves p as it is, ties included.
    """
    x, y = (1.0, 2.0, 2.0, 5.0, 6.0), (2.0, 3.0, 6.0, 6.0, 9.0)
    one = permutation(Sample.of(*x), Sample.of(*y)).p
    for scale, shift in ((0.1, 56.3), (1e6, -3e5)):
        arms = (Sample.of(*(scale * v + shift for v in values)) for values in (x, y))
        assert permutation(*arms).p == one


def test_the_kernel_takes_many_rows():
    """
    The vectorised kernel gives each row the p of the test itself, and holds its level for
    arms that are alike.
    """
    rng = np.random.default_rng(SEED)
    x, y = rng.normal(size=(2000, 5)), rng.normal(size=(2000, 5))
    in_x = splits(5, 10)
    greater, less = welch_p(x, y, in_x), welch_p(-x, -y, in_x)
    for i in range(3):
        result = permutation(Sample.of(*x[i]), Sample.of(*y[i]), alternative="greater")
        assert (greater[i], less[i]) == (result.p, result.p_opposite)
    level = np.mean(2 * np.minimum(greater, less) <= 0.05)
    expected = 12 / 252  # the largest attainable level: pairs of splits out of 252
    assert abs(level - expected) <= 4 * np.sqrt(expected * (1 - expected) / 2000)


def test_arms_far_apart_have_the_smallest_p():
    """
    However little they scatter: the observed split counts, whatever round-off makes of its t.
    """
    x, y = np.array([[0.95, 0.95 + 1e-9, 0.95 - 2e-9]]), np.array([[0.5, 0.5 + 1e-9, 0.5]])
    in_x = splits(3, 6)
    assert (welch_p(x, y, in_x)[0], welch_p(-x, -y, in_x)[0]) == (1 / 20, 1.0)


@pytest.mark.parametrize("most", [0.0, 0.025, 0.5])
def test_rows_that_are_given_up_are_not_significant(most):
    """
    Rows that have gone without some of the splits are those with a p above the limit.
    """
    rng = np.random.default_rng(SEED)
    for n in (2, 4, 6):
        x, y = rng.normal(0.7, 1, (600, n)), rng.normal(size=(600, n))
        p, some = welch_p(x, y, splits(n, 2 * n)), welch_p(x, y, splits(n, 2 * n), most=most)
        assert np.array_equal(some <= most, p <= most)
        assert np.array_equal(some[p <= most], p[p <= most])
