from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from repro.errors import ClaimError
from repro.stats.ranks import brunner_munzel, brunner_munzel_p, rank_interval
from repro.stats.records import Sample, known

SEED = 2000
numbers = st.lists(st.integers(-5, 5).map(float), min_size=3, max_size=8)

# Brunner & Munzel 2000, section 5: pain scores of two treatments after an operation, the
# example of scipy's and R's documentation (W = 3.1374674, df = 17.683, p = 0.005786209,
# estimate .788961, interval .5952169 to .9827052).
Y = (1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 1, 1)
N = (3, 3, 4, 3, 1, 2, 3, 1, 1, 5, 4)


def test_the_published_example():
    """
    The example of Brunner & Munzel: p = .005786, P = .789 with interval .595 to .983.
    """
    result = brunner_munzel(Sample.of(*N), Sample.of(*Y))
    assert result.p == pytest.approx(0.005786208666, rel=1e-9)
    assert result.effect == pytest.approx(0.788961, abs=5e-7)
    own = known(result.interval)
    assert (own.low, own.high) == pytest.approx((0.5952169, 0.9827052), abs=5e-8)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@settings(deadline=None, max_examples=50)
@given(numbers, numbers)
def test_scipy_agrees(alternative, x, y):
    """
    Short of separation p is scipy's, and the effect counts pairs, ties as a half.
    """
    assume(min(x) <= max(y) and min(y) <= max(x) and len({*x, *y}) > 1)
    ours = brunner_munzel(Sample.of(*x), Sample.of(*y), alternative=alternative)
    theirs = stats.brunnermunzel(x, y, alternative=alternative)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9, abs=1e-12)
    assert ours.effect == np.mean([(i > j) + (i == j) / 2 for i in x for j in y])
    assert ours.exact is False


@settings(deadline=None, max_examples=50)
@given(numbers, numbers)
def test_p_and_interval_tell_the_same(x, y):
    """
    Two-sided p is below alpha exactly where the interval excludes one half.
    """
    assume(min(x) <= max(y) and min(y) <= max(x) and len({*x, *y}) > 1)
    result = brunner_munzel(Sample.of(*x), Sample.of(*y))
    p = known(result.p)
    assume(abs(p - 0.05) > 1e-9)
    assert (p < 0.05) == (0.5 not in known(result.interval))


@pytest.mark.parametrize(("n", "p"), [((3, 3), 2 / 20), ((4, 4), 2 / 70), ((5, 5), 2 / 252)])
def test_complete_separation_is_exact(n, p):
    """
    Where one arm lies wholly beyond the other, and scipy has no p, it is the exact one of the
    ranks; there is no interval.
    """
    a, b = Sample.of(*range(10, 10 + n[0])), Sample.of(*range(n[1]))
    one, other = brunner_munzel(a, b), brunner_munzel(b, a)
    assert (one.p, other.p) == pytest.approx((p, p))
    assert (one.effect, other.effect) == (1.0, 0.0)
    assert one.interval is None
    assert one.exact is True
    sided = brunner_munzel(a, b, alternative="greater")
    assert (sided.p, sided.p_opposite) == pytest.approx((p / 2, 1.0))
    less = brunner_munzel(a, b, alternative="less")
    assert (less.p, less.p_opposite) == pytest.approx((1.0, p / 2))


def test_the_scale_does_not_matter():
    """
    Any increasing transformation leaves p and effect as they are.
    """
    x, y = (1.0, 2.0, 4.0, 4.5), (3.0, 5.0, 6.0, 4.0)
    one = brunner_munzel(Sample.of(*x), Sample.of(*y))
    other = brunner_munzel(Sample.of(*np.exp(x)), Sample.of(*np.exp(y)))
    assert (one.p, one.effect) == (other.p, other.effect)


def test_the_kernel_takes_many_rows():
    """
    The vectorised kernel gives each row, separated or not, the p of the test itself.
    """
    rng = np.random.default_rng(SEED)
    x, y = rng.normal(1, 1, (60, 4)), rng.normal(0, 1, (60, 4))
    greater, less = brunner_munzel_p(x, y, "greater"), brunner_munzel_p(x, y, "less")
    results = [
        brunner_munzel(Sample.of(*a), Sample.of(*b), alternative="greater")
        for a, b in zip(x, y, strict=True)
    ]
    assert [result.p for result in results] == pytest.approx(list(greater), rel=1e-12)
    assert [result.p_opposite for result in results] == pytest.approx(list(less), rel=1e-12)
    assert 0 < sum(bool(result.exact) for result in results) < 60


@pytest.mark.parametrize("n", [10, 30])
def test_the_level_with_enough_replicates(n):
    """
    With ten replicates an arm and standard deviations 3:1 it errs in .054 of cases, with
    thirty in .05 (statistics.md 2.2).
    """
    draws, expected = 20_000, {10: 0.054, 30: 0.05}[n]
    rng = np.random.default_rng([SEED, n])
    x, y = rng.normal(0, 3, (draws, n)), rng.normal(0, 1, (draws, n))
    greater, less = brunner_munzel_p(x, y, "greater"), brunner_munzel_p(x, y, "less")
    level = np.mean(2 * np.minimum(greater, less) <= 0.05)
    assert abs(level - expected) <= 4 * np.sqrt(expected * (1 - expected) / draws)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (Sample.of(1.0), Sample.of(2.0, 3.0), "at least two replicates"),
        (Sample.of(2.0, 2.0), Sample.of(2.0, 2.0), "no ranks to compare"),
        (Sample.of(2.0, 2.0), Sample.of(2.0, 3.0).summary(), "value of every replicate"),
    ],
)
def test_what_has_no_ranks_is_refused(a, b, message):
    """
    A single value, nothing but ties, and a summary are refused.
    """
    with pytest.raises(ClaimError, match=message):
        brunner_munzel(a, b)


def test_the_interval_is_cut_at_its_ends():
    """
    The interval of a probability lies between 0 and 1, and is none where nothing varies.
    """
    x, y = np.array([5.0, 6.0, 7.0, 2.0]), np.array([1.0, 3.0, 2.5, 0.0])
    interval = rank_interval(x, y, 0.95)
    assert interval is not None
    assert interval.high == 1.0
    assert rank_interval(x, np.array([1.0, 1.5]), 0.95) is None
    assert rank_interval(np.ones(3), np.ones(2), 0.95) is None
