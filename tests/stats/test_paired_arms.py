"""Ratio, separation, order and trend of arms that are paired by seed."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from repro.errors import ClaimError
from repro.stats.planning import PlannedRatio, power_of_test
from repro.stats.ranks import separation
from repro.stats.records import Sample, known
from repro.stats.t_tests import ratio_of_geometric_means
from repro.stats.trends import linear_trend, ordering

SEED = 20201123
number = st.floats(0.5, 20).map(lambda x: round(x, 3))
pairs = st.lists(st.tuples(number, number), min_size=3, max_size=8)
triples = st.lists(st.tuples(number, number, number, number), min_size=3, max_size=7)
DRAWS = 4000
LIMIT = 4 * math.sqrt(0.05 * 0.95 / DRAWS)


def samples(columns: Any) -> list[Sample]:
    return [Sample.of(*map(float, column)) for column in columns]


@given(pairs, st.floats(0.1, 5))
def test_a_ratio_of_pairs_is_the_t_test_of_differences_of_logarithms(values, least):
    """Scipy's, shifted by the logarithm of the least ratio."""
    x, y = np.array(values).T
    logs = np.log(x) - np.log(y)
    assume(np.ptp(logs) > 1e-6)
    ours = ratio_of_geometric_means(*samples((x, y)), at_least=least, paired=True)
    theirs = stats.ttest_1samp(logs, math.log(least), alternative="greater")
    assert known(ours.p) == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-12)
    ends = theirs.confidence_interval(0.95)
    assert known(ours.interval).low == pytest.approx(math.exp(ends.low), rel=1e-6)
    assert ours.paired


def test_constant_pairs_compare_exactly():
    """Ranks that are structural leave nothing to chance, pairs or not."""
    ours = ratio_of_geometric_means(
        Sample.of(400.0, 400.0), Sample.of(40.0, 40.0), at_least=10, paired=True
    )
    assert ours.exact
    assert ours.paired


def test_a_ratio_of_pairs_keeps_its_level_and_its_power():
    """Correlated lognormal arms."""
    generator, n = np.random.default_rng(SEED), 6
    common, x, y = generator.standard_normal((3, DRAWS, n))
    a, b = np.exp(common + 0.3 * x), np.exp(common + 0.3 * y)
    sd = 0.3 * math.sqrt(2)
    planned = PlannedRatio((n,), (sd,), effect=2.0, low=1.5, paired=True)
    for truth, expected in ((1.5, 0.05), (2.0, power_of_test(planned)[0])):
        found = np.mean(
            [
                known(
                    ratio_of_geometric_means(
                        *samples((truth * first, second)), at_least=1.5, paired=True
                    ).p
                )
                <= 0.05
                for first, second in zip(a, b, strict=True)
            ]
        )
        assert found == pytest.approx(expected, abs=4 * math.sqrt(0.25 / DRAWS))


@given(triples)
def test_the_slope_of_pairs_is_the_t_test_of_the_slopes(values):
    """Numpy's least-squares slope of each seed, tested by scipy."""
    table = np.array(values)
    slopes = np.polyfit(np.arange(4), table.T, 1)[0]
    assume(np.ptp(slopes) > 1e-6)
    ours = linear_trend(samples(table.T), direction="increasing", paired=True)
    theirs = stats.ttest_1samp(slopes, 0, alternative="greater")
    assert known(ours.p) == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-12)
    assert ours.effect == pytest.approx(float(np.mean(slopes)), rel=1e-6, abs=1e-9)
    falling = linear_trend(samples(table.T), direction="decreasing", paired=True)
    assert known(falling.p) == pytest.approx(known(ours.p_opposite))


@given(triples)
def test_an_ordering_of_pairs_has_the_paired_tests_of_every_two_arms(values):
    """Scipy's, by Holm: the largest adjusted p is the p of the order."""
    table = np.array(values)[:, :3].T
    steps = [(0, 1), (0, 2), (1, 2)]
    assume(min(np.ptp(table[j] - table[i]) for i, j in steps) > 1e-6)
    ours = ordering(samples(table), direction="increasing", paired=True)
    p = [stats.ttest_rel(table[j], table[i], alternative="greater").pvalue for i, j in steps]
    largest = max(min(1.0, k * each) for k, each in zip((3, 2, 1), sorted(p), strict=True))
    assert known(ours.p) == pytest.approx(largest, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("test", [linear_trend, ordering])
def test_several_paired_arms_keep_their_level(test):
    """Alike in mean, with spreads 1, 2, 4 around what they share."""
    generator, n, found = np.random.default_rng(SEED), 5, 0
    for _ in range(2000):
        common = generator.standard_normal(n)
        arms = [common + s * generator.standard_normal(n) for s in (1, 2, 4)]
        found += known(test(samples(arms), direction="increasing", paired=True).p) <= 0.05
    expected = 0.05 if test is linear_trend else 0.0
    assert found / 2000 <= expected + 4 * math.sqrt(0.05 * 0.95 / 2000)


@pytest.mark.parametrize("test", [linear_trend, ordering])
def test_a_seed_that_one_arm_lacks_is_named(test):
    """Of three arms too."""
    arms = [Sample.of(1, 2, 3), Sample.of(2, 3, 5), Sample((1.0, 2.0), (0, 2))]
    with pytest.raises(ClaimError, match="1 only in A"):
        test(arms, direction="increasing", paired=True)


def test_separation_of_pairs_errs_at_most_as_often_as_it_says():
    """All orders within pairs are as likely; those that separate are one of 2 to the n at most."""
    values = [(1.0, 2.0), (1.5, 2.5), (1.2, 3.0), (1.7, 2.2), (1.1, 2.1)]
    found = 0
    for turned in product((1, -1), repeat=5):
        a, b = zip(*(pair[::step] for pair, step in zip(values, turned, strict=True)), strict=True)
        found += known(separation(*samples((a, b)), direction="higher", paired=True).p) <= 0.05
    assert found == 1
    a, b = zip(*values, strict=True)
    assert separation(*samples((b, a)), direction="higher", paired=True).p == 2**-5
    assert separation(*samples((b, a)), direction="higher").p == pytest.approx(1 / 252)


def test_four_pairs_cannot_separate():
    """Their p is 1/16 at best."""
    with pytest.raises(ClaimError, match=r"even complete separation has p = 0\.0625"):
        separation(Sample.of(5, 6, 7, 8), Sample.of(1, 2, 3, 4), direction="higher", paired=True)


def test_separation_asks_for_the_same_seeds():
    """Those of another number are no pairs."""
    b = Sample((1.0, 2.0, 3.0, 4.0, 1.5), (0, 1, 2, 3, 5))
    with pytest.raises(ClaimError, match="some have no partner"):
        separation(Sample.of(5, 6, 7, 8, 9), b, direction="higher", paired=True)
