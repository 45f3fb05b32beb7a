from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.nonparametric import jonckheere_terpstra

from repro.errors import ClaimError
from repro.stats.records import Sample, Summary
from repro.stats.trends import (
    is_exact,
    jonckheere,
    jonckheere_p,
    null_distribution,
    trend,
    variance,
)

SEED = 1954
# Hollander & Wolfe 1999, p. 205: pieces made with no, rough and accurate knowledge of the output.
PIECES = (
    (40, 35, 38, 43, 44, 41),
    (38, 40, 47, 44, 40, 42),
    (48, 40, 45, 43, 46, 44),
)
three = st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=5), min_size=2, max_size=3)


def samples(groups) -> list[Sample]:
    """Groups of numbers as samples."""
    return [Sample.of(*map(float, group)) for group in groups]


def ties_of(groups) -> tuple[int, ...]:
    """How often each value occurs."""
    return tuple(int(n) for n in np.unique(np.concatenate(groups), return_counts=True)[1])


def test_the_published_example():
    """
    Hollander & Wolfe: J is 79, expected 54, variance 150.29 with ties, p about .0207.
    """
    result = trend(samples(PIECES), direction="increasing")
    assert result.statistic == 79
    assert result.effect == pytest.approx(79 / 108)
    assert variance((6, 6, 6), ties_of(PIECES)) == pytest.approx(150.29, abs=5e-3)
    by_normal = trend(samples(PIECES), direction="increasing", test="kendall")
    assert by_normal.p == pytest.approx(0.0207, abs=5e-5)
    assert result.p == pytest.approx(by_normal.p, abs=5e-4)


def test_the_published_table():
    """
    Hollander & Wolfe's table without ties: J of at least 79 in three groups of six has .0231.
    """
    rising, falling = jonckheere_p(np.array([79.0, 29.0]), (6, 6, 6))
    assert rising[0] == pytest.approx(0.0231, abs=5e-5)
    assert falling[1] == pytest.approx(rising[0], rel=1e-12)


@settings(max_examples=40)
@given(three)
def test_statsmodels_agrees(groups):
    """
    The number of rising pairs, and the variance behind z, are those of statsmodels.
    """
    values = np.concatenate(groups)
    assume(len(set(values.tolist())) > 1)
    sizes = tuple(map(len, groups))
    theirs = jonckheere_terpstra(groups, alternative="larger")
    rising = float(jonckheere(values.astype(float), sizes))
    assert rising == pytest.approx(theirs.statistic)
    pairs = (sum(sizes) ** 2 - sum(n**2 for n in sizes)) / 2
    z = (rising - pairs / 2) / math.sqrt(variance(sizes, ties_of(groups)))
    assert stats.norm.sf(z) == pytest.approx(theirs.pvalue, rel=1e-6)


@pytest.mark.parametrize(
    "groups",
    [
        ((1.0, 2.0, 3.0), (4.0, 5.0), (6.0, 7.0)),
        ((3.0, 1.0), (1.0, 2.0, 2.0), (2.0, 5.0)),
        ((1.0, 1.0, 1.0), (1.0, 2.0), (2.0, 2.0)),
        ((1.0,), (2.0, 2.0, 2.0, 2.0), (0.0, 3.0)),
    ],
)
def test_the_null_distribution_is_that_of_all_orders(groups):
    """
    The chances of every number of rising pairs are those counted over all 5,040 orders.
    """
    sizes, values = tuple(map(len, groups)), np.concatenate(groups)
    every = np.array(list(permutations(values)))
    counted = np.bincount(np.rint(2 * jonckheere(every, sizes)).astype(int))
    ours = null_distribution(sizes, ties_of(groups))
    assert ours[: len(counted)] == pytest.approx(counted / len(every), abs=1e-12)
    assert ours.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(("n", "m"), [(3, 4), (5, 5), (8, 12)])
def test_two_groups_are_mann_whitney(n, m):
    """
    With two groups J is Mann and Whitney's U, with its exact p.
    """
    values = np.random.default_rng([SEED, n]).normal(size=n + m)
    a, b = values[:n], values[n:]
    result = trend([Sample.of(*a), Sample.of(*b)], direction="increasing")
    theirs = stats.mannwhitneyu(b, a, alternative="greater", method="exact")
    assert result.statistic == theirs.statistic
    assert result.p == pytest.approx(theirs.pvalue, rel=1e-9)


def test_large_groups_are_normal():
    """
    Four groups of thirty are beyond enumeration, and have the p of statsmodels.
    """
    groups = np.random.default_rng(SEED).normal(size=(4, 30)) + 0.2 * np.arange(4)[:, None]
    result = trend(samples(groups), direction="increasing")
    theirs = jonckheere_terpstra(list(groups), alternative="larger")
    assert not is_exact((30,) * 4)
    assert result.exact is False
    assert result.p == pytest.approx(theirs.pvalue, rel=1e-9)


@pytest.mark.parametrize("test", ["jonckheere", "kendall"])
@settings(max_examples=40)
@given(groups=three)
def test_the_directions_mirror_each_other(test, groups):
    """
    Falling is rising read backwards, and the p of the contrary is the other direction's p.
    """
    assume(len(set(np.concatenate(groups).tolist())) > 1)
    one = samples(groups)
    rising = trend(one, direction="increasing", test=test)
    falling = trend(one, direction="decreasing", test=test)
    backwards = trend(one[::-1], direction="decreasing", test=test)
    assert (rising.p, rising.p_opposite) == (falling.p_opposite, falling.p)
    assert backwards.p == pytest.approx(rising.p, rel=1e-9)
    assert backwards.p_opposite == pytest.approx(rising.p_opposite, rel=1e-9)
    mirror = 1 - rising.effect if test == "jonckheere" else rising.effect
    assert falling.effect == pytest.approx(mirror)


def test_kendalls_tau_is_scipys():
    """
    Kendall's tau-b and its one-sided p are scipy's for the value on the number of the group.
    """
    index = np.repeat([0, 1, 2], 6)
    rising = stats.kendalltau(index, np.concatenate(PIECES), alternative="greater")
    falling = stats.kendalltau(index, np.concatenate(PIECES), alternative="less")
    ours = trend(samples(PIECES), direction="increasing", test="kendall")
    assert (ours.effect, ours.p) == (rising.statistic, rising.pvalue)
    ours = trend(samples(PIECES), direction="decreasing", test="kendall")
    assert (ours.effect, ours.p) == (falling.statistic, falling.pvalue)


@pytest.mark.parametrize("sizes", [(3, 3, 3), (5, 5, 5), (10, 10, 10), (30,) * 4])
def test_jonckheere_holds_its_level(sizes):
    """
    Groups that do not differ show a trend in at most .05 of cases, within four sd.
    """
    draws = 20_000
    values = np.random.default_rng([SEED, *sizes]).normal(size=(draws, sum(sizes)))
    limit = 0.05 + 4 * math.sqrt(0.05 * 0.95 / draws)
    rates = [np.mean(p <= 0.05) for p in jonckheere_p(jonckheere(values, sizes), sizes)]
    assert max(rates) <= limit
    assert min(rates) >= 0.03


@pytest.mark.parametrize(
    ("groups", "options", "message"),
    [
        (((1, 2, 3),), {}, "at least two groups"),
        (((1, 1), (1, 1), (1, 1)), {}, "all values are equal"),
        (((1, 2), (3, 4)), {}, r"2, 2 cannot decide.*p = 0\.167"),
        (((1, 2, 3), (3, 4, 5)), {"direction": "up"}, "increasing or decreasing"),
        (((1, 2, 3), (3, 4, 5)), {"test": "page"}, "jonckheere or kendall"),
    ],
)
def test_meaningless_trends_are_refused(groups, options, message):
    """
    One group, constant values, designs that cannot decide and unknown words are refused.
    """
    with pytest.raises(ClaimError, match=message):
        trend(samples(groups), **({"direction": "increasing"} | options))


def test_a_summary_has_no_ranks():
    """
    Mean and standard deviation do not say which pairs rise.
    """
    with pytest.raises(ClaimError, match="value of every replicate"):
        trend([Summary(3, 1.0, 1.0), Summary(3, 2.0, 1.0)], direction="increasing")


@pytest.mark.parametrize(("n", "groups"), [(220, 3), (1000, 2), (5, 300)])
def test_many_replicates_are_no_matter(n, groups):
    """
    Orders beyond a float are compared all the same, and p is the normal one (statsmodels).
    """
    values = np.random.default_rng([SEED, n]).normal(size=(groups, n))
    values += 0.1 * np.arange(groups)[:, None] / groups
    result = trend(samples(values), direction="increasing")
    theirs = jonckheere_terpstra(list(values), alternative="larger")
    assert result.exact is False
    assert result.p == pytest.approx(theirs.pvalue, rel=1e-9)


def test_ties_in_large_groups_are_normal():
    """
    With ties the exact distribution is left to smaller groups: p is that of statsmodels.
    """
    values = np.round(2 * np.random.default_rng(SEED).normal(size=(4, 12))) / 2
    result = trend(samples(values), direction="increasing")
    theirs = jonckheere_terpstra(list(values), alternative="larger")
    assert result.exact is False
    assert result.p == pytest.approx(theirs.pvalue, rel=1e-6)
    assert is_exact((7,) * 4, (2, *[1] * 26))
    assert not is_exact((12,) * 4, (2, *[1] * 46))
    assert is_exact((12,) * 4, (1,) * 48)


@pytest.mark.parametrize("sizes", [(7,) * 4, (14,) * 3, (39,) * 2], ids=str)
@pytest.mark.parametrize("ties", [2, 3])
def test_the_normal_p_holds_its_level_where_it_takes_over(sizes, ties):
    """
    At the largest groups that are exact with ties the normal p is at most alpha in alpha of cases.
    """
    n = sum(sizes)
    counts = (*(ties,) * (n // ties), *(1,) * (n % ties))
    chances = null_distribution(sizes, counts)
    centre = (n**2 - sum(size**2 for size in sizes)) / 4
    z = (np.arange(len(chances)) / 2 - centre) / math.sqrt(variance(sizes, counts))
    for alpha in (0.05, 0.025, 0.01):
        assert chances[stats.norm.sf(z) <= alpha].sum() == pytest.approx(alpha, abs=0.0012)
