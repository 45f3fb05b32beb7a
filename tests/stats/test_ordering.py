from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from repro.errors import ClaimError
from repro.stats.records import Sample, Summary, known
from repro.stats.t_tests import welch
from repro.stats.trends import largest_holm, ordering, smallest_holm

SEED = 1979
LOW, MIDDLE, HIGH = (
    Sample.of(1.0, 2.0, 1.5, 1.7),
    Sample.of(3.0, 3.5, 2.9, 3.1),
    Sample.of(3.4, 4.9, 4.4, 5.0),
)
probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def test_every_pair_is_scipys_and_statsmodels():
    """
    The p of each pair is scipy's one-sided Welch p, adjusted as statsmodels does.
    """
    result = ordering([LOW, MIDDLE, HIGH], direction="increasing")
    theirs = [
        stats.ttest_ind(b.values, a.values, equal_var=False, alternative="greater").pvalue
        for a, b in ((LOW, MIDDLE), (LOW, HIGH), (MIDDLE, HIGH))
    ]
    adjusted = multipletests(theirs, method="holm")[1]
    assert result.p == pytest.approx(max(adjusted), rel=1e-9)


def test_the_weakest_pair_is_the_effect():
    """
    Effect and interval are those of Welch's test of the pair with the largest p.
    """
    result = ordering([LOW, MIDDLE, HIGH], direction="increasing", alpha=0.04)
    alone = welch(HIGH, MIDDLE, alternative="greater", alpha=0.04)
    assert result.weakest == (1, 2)
    assert (result.effect, result.interval) == (alone.effect, alone.interval)
    assert result.n == (4, 4, 4)


def test_one_reversed_pair_contradicts():
    """
    Where two of three arms are swapped, p is large and the p of the contrary small.
    """
    result = ordering([MIDDLE, LOW, HIGH], direction="increasing")
    reversed_ = stats.ttest_ind(MIDDLE.values, LOW.values, equal_var=False, alternative="greater")
    assert known(result.p) > 0.99
    assert result.p_opposite == pytest.approx(3 * reversed_.pvalue, rel=1e-9)
    assert result.weakest == (0, 1)
    assert result.effect < 0


def test_the_directions_mirror_each_other():
    """
    Falling is rising read backwards.
    """
    rising = ordering([LOW, MIDDLE, HIGH], direction="increasing")
    falling = ordering([HIGH, MIDDLE, LOW], direction="decreasing")
    assert (falling.p, falling.p_opposite) == (rising.p, rising.p_opposite)
    assert falling.effect == -rising.effect


def test_two_arms_are_one_welch_test():
    """
    Two arms in order are one one-sided test, from summaries too.
    """
    result = ordering([LOW.summary(), MIDDLE.summary()], direction="decreasing")
    alone = welch(MIDDLE, LOW, alternative="less")
    assert (result.p, result.p_opposite) == (alone.p, alone.p_opposite)


@settings(max_examples=15)
@given(probabilities)
def test_the_extremes_are_holms(p):
    """
    Largest and smallest adjusted p are those of statsmodels, row by row.
    """
    adjusted = multipletests(p, method="holm")[1]
    rows = np.array([p, p[::-1]])
    assert largest_holm(rows) == pytest.approx([max(adjusted)] * 2)
    assert smallest_holm(rows) == pytest.approx([min(adjusted)] * 2)


def test_ordering_holds_its_level():
    """
    Three equal means are ordered in at most .05 and reversed somewhere in at most .05 of cases.
    """
    rng, draws = np.random.default_rng(SEED), 2000
    values = rng.normal(size=(draws, 3, 5))
    results = [
        ordering([Sample.of(*group) for group in row], direction="increasing") for row in values
    ]
    limit = 0.05 + 4 * math.sqrt(0.05 * 0.95 / draws)
    assert np.mean([known(one.p) <= 0.05 for one in results]) <= limit
    reversed_ = np.mean([known(one.p_opposite) <= 0.05 for one in results])
    assert 0.02 <= reversed_ <= limit


def test_two_equal_means_below_a_far_one_are_the_hardest_null():
    """
    With one pair alone undecided the order is confirmed in .05 of cases, within four sd.
    """
    rng, draws = np.random.default_rng([SEED, 1]), 2000
    values = rng.normal(size=(draws, 3, 10)) + np.array([0, 0, 50])[:, None]
    p = [ordering([Sample.of(*group) for group in row], direction="increasing").p for row in values]
    rate = np.mean(np.array(p) <= 0.05)
    assert abs(rate - 0.05) <= 4 * math.sqrt(0.05 * 0.95 / draws)


def test_meaningless_orders_are_refused():
    """
    One arm, an unknown direction, a single value and constant arms are refused.
    """
    with pytest.raises(ClaimError, match="at least two arms"):
        ordering([LOW], direction="increasing")
    with pytest.raises(ClaimError, match="increasing or decreasing"):
        ordering([LOW, HIGH], direction="up")  # type: ignore[arg-type]
    with pytest.raises(ClaimError, match="single value"):
        ordering([LOW, Sample.of(1.0)], direction="increasing")
    with pytest.raises(ClaimError, match="variance 0"):
        ordering([Summary(3, 1.0, 0.0), Summary(3, 2.0, 0.0)], direction="increasing")
