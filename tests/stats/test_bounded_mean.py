"""A mean near an end of its range: pooled items against scipy, bets by hand and by simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from repro.errors import ClaimError, TooFewError
from repro.schema.value_scale import ValueScale
from repro.stats.bounded_mean import (
    BETS,
    WEIGHTS,
    BoundedResult,
    PlannedItems,
    failures_of,
    p_of_betting,
    p_of_items,
    p_of_shares,
)
from repro.stats.one_sample import Side, mean_level
from repro.stats.planning import assess
from repro.stats.records import Sample, expect, known

FIFTY = ValueScale(0, 1, 50)


def level(
    *values: float, scale: ValueScale = FIFTY, side: Side = "at_least", limit: float = 0.98
) -> BoundedResult:
    """The result near an end of the range."""
    return expect(
        mean_level(Sample.of(*values), side=side, limit=limit, scale=scale), BoundedResult
    )


@pytest.mark.parametrize("right", [(50, 50, 50, 50, 50), (49, 50, 48, 50, 49), (50, 48, 50)])
def test_all_items_are_one_binomial_test(right: tuple[int, ...]) -> None:
    """Where the seeds scatter no more than items do; in both directions, and in percent."""
    found = level(*(k / 50 for k in right))
    total, of = sum(right), 50 * len(right)
    reference = stats.binomtest(total, of, 0.98, alternative="greater")
    assert found.p == pytest.approx(reference.pvalue, rel=1e-10)
    below = stats.binomtest(total, of, 0.98, alternative="less")
    assert found.p_opposite == pytest.approx(below.pvalue, rel=1e-10)
    ends = stats.binomtest(total, of).proportion_ci(0.9, method="exact")
    assert known(found.interval).low == pytest.approx(ends.low, rel=1e-9)
    assert known(found.interval).high == pytest.approx(ends.high, rel=1e-9)
    assert (found.right, found.items, found.exact) == (total, of, True)
    percent = level(*(2.0 * k for k in right), scale=ValueScale(0, 100, 50), limit=98.0)
    assert percent.p == pytest.approx(found.p, rel=1e-9)
    assert known(percent.interval).low == pytest.approx(100 * ends.low, rel=1e-9)
    wrong = level(*(1 - k / 50 for k in right), side="at_most", limit=0.02)
    assert wrong.p == pytest.approx(found.p, rel=1e-9)


def test_the_scatter_of_seeds_is_that_of_a_table_of_counts() -> None:
    """Pearson's chi-squared of right and wrong by seed."""
    right = [49, 50, 46, 50, 44]
    table = [right, [50 - k for k in right]]
    reference = stats.chi2_contingency(table, correction=False)
    assert p_of_items(right, 50) == pytest.approx(reference.pvalue, rel=1e-12)
    assert p_of_items([50, 50], 50) == p_of_items([0, 0], 50) == 1.0


def test_seeds_that_scatter_more_are_not_pooled() -> None:
    """One seed that failed half of its items: the mean is bet on, seed by seed."""
    found = level(1.0, 1.0, 0.98, 1.0, 0.5)
    assert known(found.p_scatter) < 1e-6
    assert (found.right, found.exact) == (None, False)
    assert known(found.interval).low < 0.6


def test_a_bet_is_the_mean_of_its_wealth() -> None:
    """Multiplied out by hand, in any order of the values."""
    values, m = (0.9, 1.0, 0.7, 0.95), 0.8
    wealth = sum(
        weight * math.prod(1 + bet * (x / m - 1) for x in values)
        for bet, weight in zip(BETS, WEIGHTS, strict=True)
    )
    for order in itertools.permutations(values):
        assert p_of_betting(np.array(order), m) == pytest.approx(min(1, 1 / wealth), rel=1e-12)
    assert math.fsum(WEIGHTS) == pytest.approx(1)


@pytest.mark.parametrize(("low", "high", "m"), [(0.0, 1.0, 0.9), (0.5, 1.0, 0.98), (0.0, 0.3, 0.1)])
def test_no_gambler_gains_on_average_where_the_mean_is_what_is_held(
    low: float, high: float, m: float
) -> None:
    """All outcomes of four values that are ``low`` or ``high``: the mean of 1 / p is at most 1."""
    chance = (m - low) / (high - low)
    total = 0.0
    for outcome in itertools.product((0, 1), repeat=4):
        values = np.array([high if each else low for each in outcome])
        wealth = sum(
            weight * math.prod(1 + bet * (x / m - 1) for x in values)
            for bet, weight in zip(BETS, WEIGHTS, strict=True)
        )
        times = sum(outcome)
        total += chance**times * (1 - chance) ** (4 - times) * wealth
        assert p_of_betting(values, m) >= min(1.0, 1 / wealth if wealth else 1.0) * (1 - 1e-12)
    assert total == pytest.approx(1.0)


@pytest.mark.parametrize("n", [3, 10, 100])
def test_the_interval_of_a_bounded_mean_covers(n: int) -> None:
    """Skewed values near 1 (beta), and rare collapses to 0: at least 90 %, on each side 95 %."""
    rng = np.random.default_rng(n)
    rare = np.where(rng.random((4000, n)) < 0.02, 0.0, 1.0)
    for values, mean in ((rng.beta(9.5, 0.5, (4000, n)), 0.95), (rare, 0.98)):
        assert (p_of_betting(values, mean) <= 0.05).mean() <= 0.05
        assert (p_of_betting(1 - values, 1 - mean) <= 0.05).mean() <= 0.05


def test_an_interval_ends_where_p_is_alpha() -> None:
    """With a range alone, on a scale of percent."""
    found = level(92.0, 99.0, 98.5, 97.0, 100.0, scale=ValueScale(0, 100, None, 0.5), limit=97.5)
    values, ends = np.array([92.0, 99.0, 98.5, 97.0, 100.0]) / 100, known(found.interval)
    assert p_of_betting(values, ends.low / 100) == pytest.approx(0.05, rel=1e-6)
    assert p_of_betting(1 - values, 1 - ends.high / 100) == pytest.approx(0.05, rel=1e-6)


def test_five_values_at_an_end_of_the_range_decide_nothing() -> None:
    """A rare failure hides there; a hundred of them do, and so do their items."""
    whole = ValueScale(0, 1)
    with pytest.raises(TooFewError, match=r"an end of the range.*declare `items`"):
        level(*[1.0] * 5, scale=whole, limit=0.95)
    assert level(*[1.0] * 100, scale=whole, limit=0.95).p == pytest.approx(0.95**100 / 0.8, rel=0.1)
    assert level(*[1.0] * 5, limit=0.98).p == pytest.approx(0.98**250)
    with pytest.raises(ClaimError, match="outside the declared range, 0 to 1"):
        level(0.9, 1.2, 1.0)


def test_far_from_both_ends_it_is_students_test() -> None:
    """CIFAR at 94 % of 10,000, and 70 % of 100."""
    for scale, values, limit in (
        (ValueScale(0, 100, 10_000), (94.03, 94.21, 93.88, 94.1, 94.35), 93.5),
        (ValueScale(0, 1, 100), (0.71, 0.69, 0.74, 0.7, 0.73), 0.68),
    ):
        sample = Sample.of(*values)
        plain = mean_level(sample, side="at_least", limit=limit)
        assert mean_level(sample, side="at_least", limit=limit, scale=scale) == plain


@pytest.mark.parametrize(("items", "mean"), [(50, 0.98), (20, 0.95), (10, 0.97), (100, 0.99)])
@pytest.mark.parametrize("n", [3, 10])
def test_the_level_holds_near_one(items: int, mean: float, n: int) -> None:
    """Of 20,000 samples whose true mean is the limit; and the two forms of the test agree."""
    values = np.random.default_rng([items, n]).binomial(items, mean, (20_000, n)) / items
    above, below = p_of_shares(values, items, mean)
    assert (above <= 0.05).mean() <= 0.055
    assert (below <= 0.05).mean() <= 0.055
    for row, p, p_opposite in zip(values[:100].tolist(), above, below, strict=False):
        found = level(*row, scale=ValueScale(0, 1, items), limit=mean)
        assert (found.p, found.p_opposite) == pytest.approx((p, p_opposite), rel=1e-9)


def test_what_is_taken_for_few_failures() -> None:
    """By the steps of the values, near the better end; whole numbers near 0 may be seconds."""
    assert known(failures_of(Sample.of(0.98, 1.0, 0.96), None, better="higher"))[0] < 10
    assert known(failures_of(Sample.of(98.0, 100.0, 96.0), None, better="higher"))[0] < 10
    assert known(failures_of(Sample.of(94.03, 94.21, 93.88), None, better="higher"))[0] > 500
    assert known(failures_of(Sample.of(0.02, 0.0, 0.04), None, better="lower"))[0] < 10
    assert known(failures_of(Sample.of(5.0, 6.0, 5.0), None, better="lower"))[0] == math.inf
    assert failures_of(Sample.of(3.28, -1.0), None, better="lower") is None
    assert failures_of(Sample.of(312.0, 128.0), None, better="lower") is None


def test_the_power_is_that_of_the_test() -> None:
    """Simulated again, with other draws; and the size that is detected has 80 %."""
    plan = PlannedItems((10,), effect=0.02, low=0.96, items=50)
    found = assess(plan)
    draws = np.random.default_rng(8).binomial(50, 0.98, (20_000, 10)) / 50
    power = float((p_of_shares(draws, 50, 0.96)[0] <= 0.05).mean())
    assert found.power == pytest.approx(power, abs=0.03)
    detected = known(found.minimum_detectable)
    again = np.random.default_rng(9).binomial(50, 0.96 + detected, (20_000, 10)) / 50
    assert (p_of_shares(again, 50, 0.96)[0] <= 0.05).mean() == pytest.approx(0.8, abs=0.03)
    assert assess(PlannedItems((2,), effect=0.01, low=0.98, items=50)).refused.startswith(
        "2 replicates cannot decide: even if every item is right has p = 0.133"
    )
