from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from repro.errors import ClaimError
from repro.stats.coefficients import Method, correlate, correlate_weighted
from repro.stats.correlation import association, p_by_student
from repro.stats.records import Sample, known
from tests.stats.correlated import ALL, DRAWS, SCIPY, ends, normal, pairs, two
from tests.stats.fig2_points import PTB, WT2, figure

SEED = 1921


@ALL
@given(pairs)
def test_coefficient_and_p_are_scipys(method, xy):
    """
    From ten points on, coefficient and p are scipy's, with and without ties.
    """
    x, y = two(xy)
    assume(not x.constant and not y.constant)
    ours, theirs = association(x, y, method=method), SCIPY[method](x.values, y.values)
    assert ours.effect == pytest.approx(theirs.statistic, abs=1e-12)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-9)
    assert ours.p_opposite is None


@pytest.mark.parametrize(
    ("text", "method", "effect", "p", "low", "high"),
    [
        (PTB, "pearson", 0.483, 2.27e-5, 0.280, 0.645),
        (WT2, "pearson", 0.538, 8.58e-4, 0.249, 0.739),
        (PTB, "spearman", 0.500, 1.05e-5, 0.287, 0.666),
        (WT2, "spearman", 0.454, 6.13e-3, 0.125, 0.693),
    ],
)
def test_figure_2(text, method, effect, p, low, high):
    """
    Parthiban's figure 2 prints 0.48 and 0.53, truncated; the ends of Pearson's are scipy's.
    """
    x, y = figure(text)
    result = association(x, y, method=method, direction="positive")
    assert result.effect == pytest.approx(effect, abs=5e-4)
    assert result.p == pytest.approx(p, rel=5e-3)
    assert ends(result.interval) == pytest.approx((low, high), abs=6e-4)
    if method == "pearson":
        own = stats.pearsonr(x.values, y.values).confidence_interval(0.95)
        assert ends(result.interval) == pytest.approx((own.low, own.high))


def test_the_standard_errors_of_rank_correlations():
    """
    Spearman's z errs by sqrt((1 + r^2 / 2) / (n - 3)), Kendall's by sqrt(.437 / (n - 4)).
    """
    x, y = figure(WT2)
    squares: dict[Method, float] = {
        "spearman": (1 + 0.4541506**2 / 2) / 32,
        "kendall": 0.437 / 31,
    }
    for method, square in squares.items():
        result = association(x, y, method=method, alpha=0.1)
        reach = stats.norm.ppf(0.95) * math.sqrt(square)
        own = np.tanh(np.arctanh(result.effect) + np.array([-reach, reach]))
        assert ends(result.interval) == pytest.approx(tuple(own), rel=1e-6)
        assert known(result.interval).level == pytest.approx(0.9)


@pytest.mark.parametrize("y", [(1, 3, 2, 5, 4, 6), (1, 1, 2, 4, 3, 4), (6, 1, 2, 5, 3, 4)])
@pytest.mark.parametrize("method", ["spearman", "kendall"])
def test_small_p_values_are_exact(method, y):
    """
    With six points p is that of all 720 orders, ties or not.
    """
    x = np.array([1.0, 2.0, 3.0, 3.0, 5.0, 6.0])
    own = SCIPY[method](x, y).statistic
    every = [SCIPY[method](x, order).statistic for order in permutations(y)]
    tails = (np.mean(np.array(every) >= own - 1e-9), np.mean(np.array(every) <= own + 1e-9))
    result = association(Sample.of(*x), Sample.of(*map(float, y)), method=method)
    assert result.p == pytest.approx(min(1, 2 * min(tails)), rel=1e-9)
    assert result.p_method == "exact"


@ALL
@given(pairs, st.randoms())
def test_order_and_units_do_not_matter(method, xy, shuffler):
    """
    Neither the order of the points nor another unit changes a thing; a mirror flips the sign.
    """
    x, y = two(xy)
    assume(not x.constant and not y.constant)
    one = association(x, y, method=method)
    shuffled = list(zip(x.values, x.replicates, strict=True))
    shuffler.shuffle(shuffled)
    moved = Sample(*map(tuple, zip(*shuffled, strict=True)))
    assert association(moved, y, method=method) == one
    mirrored = association(x, Sample.of(*(5 - 3 * v for v in y.values)), method=method)
    assert mirrored.effect == pytest.approx(-one.effect, abs=1e-12)
    assert mirrored.p == pytest.approx(one.p, rel=1e-6, abs=1e-9)
    assert association(y, x, method=method).effect == pytest.approx(one.effect, abs=1e-12)


@ALL
def test_a_weight_is_a_count(method):
    """
    A point of weight two counts as two points, one of weight zero as none.
    """
    x, y = np.array([1.0, 2.0, 2.0, 4.0, 7.0, 9.0]), np.array([2.0, 1.0, 3.0, 3.0, 8.0, 5.0])
    weights = np.array([[1, 1, 1, 1, 1, 1], [2, 0, 1, 3, 1, 1], [0, 1, 2, 0, 4, 1]])
    ours = correlate_weighted(x, y, weights.astype(float), method)
    theirs = [SCIPY[method](np.repeat(x, w), np.repeat(y, w)).statistic for w in weights]
    assert ours == pytest.approx(theirs, abs=1e-12)


@ALL
def test_rows_are_scipys_coefficients(method):
    """
    Many pairs of variables at once have the coefficients that scipy gives one by one.
    """
    x, y = np.random.default_rng(SEED).integers(0, 9, (2, 30, 8)).astype(float)
    theirs = [SCIPY[method](*row).statistic for row in zip(x, y, strict=True)]
    assert correlate(x, y, method) == pytest.approx(theirs, abs=1e-12)
    assert correlate(np.ones(4), np.arange(4.0), method) == 0


def test_huge_values_do_not_overflow():
    """
    Values whose squares overflow have the correlation of the same values in another unit.
    """
    x, y = figure(WT2)
    huge = Sample.of(*(1e300 * v for v in x.values))
    assert association(huge, y).effect == pytest.approx(association(x, y).effect, rel=1e-12)


def test_a_perfect_correlation_has_no_interval():
    """
    Points on one line have the exact p of their order and no interval, for z is infinite.
    """
    x = Sample.of(1.0, 2.0, 3.0, 4.0, 5.0)
    result = association(x, x, method="spearman")
    assert result.interval is None
    assert result.p == pytest.approx(2 / 120)


@pytest.mark.parametrize(
    ("x", "y", "options", "message"),
    [
        ((1, 2, 3), (1, 2, 4), {}, "at least 4 points, not 3"),
        ((1, 2, 3, 5), (1, 2, 4, 3), {"method": "kendall"}, "at least 5 points, not 4"),
        ((1, 1, 1, 1), (1, 2, 4, 3), {}, "does not vary"),
        ((1, 2, 4, 3), (1, 1, 1, 1), {}, "does not vary"),
        ((1, 2, 4, 3), (1, 2, 4, 3, 5), {}, "same points"),
        ((1, 2, 4, 3), (1, 2, 4, 3), {"method": "spearman"}, "cannot decide.*0.0833"),
        ((1, 2, 4, 3), (1, 2, 4, 3), {"method": "phi"}, "pearson, spearman, kendall"),
        ((1, 2, 4, 3), (1, 2, 4, 3), {"direction": "up"}, "positive, negative or different"),
        ((1, 2, 4, 3), (1, 2, 4, 3), {"clusters": [1, 2, 3]}, "3 clusters for 4 points"),
        ((1, 2, 4, 3), (1, 2, 4, 3), {"clusters": [1, 2, 3, 4]}, "4 clusters say too little"),
    ],
)
def test_meaningless_associations_are_refused(x, y, options, message):
    """
    Too few points or clusters, constants, other points and unknown words are refused.
    """
    with pytest.raises(ClaimError, match=message):
        association(Sample.of(*map(float, x)), Sample.of(*map(float, y)), **options)


@pytest.mark.parametrize("n", [5, 10, 30])
def test_pearson_holds_its_level(n):
    """
    Of normal variables without correlation .05 are called correlated, within four sd.
    """
    r = correlate(*normal(np.random.default_rng([SEED, n]), n, 0.0), "pearson")
    rate = np.mean(p_by_student(r, n) <= 0.05)
    assert abs(rate - 0.05) <= 4 * math.sqrt(0.05 * 0.95 / DRAWS)
