from __future__ import annotations

import itertools
import math
import warnings

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
few_numbers = st.lists(st.integers(-5, 5).map(float), min_size=2, max_size=4)
many_numbers = st.lists(st.integers(-5, 5).map(float), min_size=11, max_size=14)

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


def by_enumeration(x, y):
    """
    One-sided p of *x tends to be greater*: the share of splits whose statistic, scipy's, is as
    large; one arm wholly beyond the other, of which scipy has none, is more extreme than any.
    """

    def statistic(one, other):
        if min(one) > max(other) or min(other) > max(one):
            return np.inf if one[0] > other[0] else -np.inf
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its p, which is not used, may be no number
            return -stats.brunnermunzel(one, other).statistic

    values = [*x, *y]
    null = []
    for chosen in itertools.combinations(range(len(values)), len(x)):
        rest = [values[i] for i in range(len(values)) if i not in chosen]
        null.append(statistic([values[i] for i in chosen], rest))
    observed = statistic(x, y)
    return np.mean([t >= observed - 1e-9 for t in null])


@settings(deadline=None, max_examples=25)
@given(few_numbers, few_numbers)
def test_few_replicates_are_permuted(x, y):
    """
    Neubert and Brunner's test: the p is that of all splits of the same ranks, ties and all.
    """
    assume(len({*x, *y}) > 1)
    ours = brunner_munzel(Sample.of(*x), Sample.of(*y), alternative="greater")
    assert ours.p == pytest.approx(by_enumeration(x, y), rel=1e-12)
    assert ours.p_opposite == pytest.approx(by_enumeration(y, x), rel=1e-12)
    assert ours.effect == np.mean([(i > j) + (i == j) / 2 for i in x for j in y])
    assert ours.exact is True


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_better_separation_never_has_a_worse_p(n):
    """
    Whichever value of A rises past its neighbour of B, p does not: over all orders of n and n.
    """
    order = list(itertools.combinations(range(2 * n), n))
    x = np.array(order, dtype=float)
    y = np.array([sorted(set(range(2 * n)) - set(each)) for each in order], dtype=float)
    p = dict(zip(order, brunner_munzel_p(x, y, "greater"), strict=True))
    better = 0
    for each, own in p.items():
        for place in set(each) - {2 * n - 1}:
            if place + 1 not in each:
                other = tuple(sorted({*each, place + 1} - {place}))
                assert p[other] <= own + 1e-12
                better += 1
    assert better > 20
    assert min(p.values()) == pytest.approx(1 / math.comb(2 * n, n))


def test_no_p_is_less_than_that_of_separation():
    """
    Six against six with a pair out of order had p = 2.9e-7, and in order .0022.
    """
    a, b = Sample.of(6, 8, 9, 10, 11, 12), Sample.of(1, 2, 3, 4, 5, 7)
    assert known(brunner_munzel(a, b).p) == pytest.approx(4 / math.comb(12, 6))
    for n in (11, 30):
        a = Sample.of(n - 0.5, *range(n + 1, 2 * n))
        found = known(brunner_munzel(a, Sample.of(*range(n))).p)
        assert found >= 2 / math.comb(2 * n, n)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@settings(deadline=None, max_examples=25)
@given(many_numbers, many_numbers)
def test_scipy_agrees(alternative, x, y):
    """
    With more replicates p is scipy's, and the effect counts pairs, ties as a half.
    """
    assume(min(x) <= max(y) and min(y) <= max(x) and len({*x, *y}) > 1)
    ours = brunner_munzel(Sample.of(*x), Sample.of(*y), alternative=alternative)
    theirs = stats.brunnermunzel(x, y, alternative=alternative).pvalue
    least = (2 if alternative == "two-sided" else 1) / math.comb(len(x) + len(y), len(x))
    assert ours.p == pytest.approx(max(theirs, least), rel=1e-9, abs=1e-12)
    assert ours.effect == np.mean([(i > j) + (i == j) / 2 for i in x for j in y])
    assert ours.exact is False


def test_where_splits_are_drawn_the_arms_may_change_places():
    """
    Ten against thirty: 99,999 splits, near all that scipy's t gives, and the same way round.
    """
    rng = np.random.default_rng(SEED)
    a, b = Sample.of(*rng.normal(0.7, 1, 10)), Sample.of(*rng.normal(0, 1, 30))
    one, other = brunner_munzel(a, b), brunner_munzel(b, a)
    assert one.exact is False
    assert one.p == pytest.approx(other.p, rel=0.05)
    assert one.p == pytest.approx(stats.brunnermunzel(a.values, b.values).pvalue, rel=0.3)


@settings(deadline=None, max_examples=50)
@given(numbers, numbers)
def test_p_and_interval_tell_the_same(x, y):
    """
    Two-sided p is at most alpha exactly where the interval excludes one half.
    """
    assume(min(x) <= max(y) and min(y) <= max(x) and len({*x, *y}) > 1)
    for alpha in (0.05, 0.2):
        result = brunner_munzel(Sample.of(*x), Sample.of(*y), alpha=alpha)
        assert (known(result.p) <= alpha) == (0.5 not in known(result.interval))


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


@pytest.mark.parametrize(("n", "expected"), [(5, 0.053), (10, 0.055), (30, 0.051)])
def test_the_level(n, expected):
    """
    With standard deviations 3:1 it errs as the committed table says (statistics.md 2.2).
    """
    draws = 20_000
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


def test_an_interval_that_ends_at_one_half_is_not_off_by_round_off():
    """
    Where the statistic is that of the first split that is not rare enough, p is just above the
    level, and the interval ends at 1/2: a report printed "50.000000%".
    """
    x, y = (50.71, 52.57, 50.57, 50.26, 51.25), (51.03, 50.16, 49.41, 48.66, 48.6)
    result = brunner_munzel(Sample.of(*x), Sample.of(*y))
    assert known(result.p) == pytest.approx(14 / 252)
    assert result.interval is not None
    assert result.interval.low == 0.5
