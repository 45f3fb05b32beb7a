"""Values that follow each other: the exact chance by counting orders, its level, and ties."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from repro.stats.correlation import FEWEST, following


def ratio(values: list[float]) -> float:
    """By scipy's ranks and the definition of Bartels."""
    ranks = stats.rankdata(values)
    return float((np.diff(ranks) ** 2).sum() / ((ranks - ranks.mean()) ** 2).sum())


@pytest.mark.parametrize(
    "values", [[3.0, 1, 4, 1, 5, 9], [1.0, 2, 3, 4, 5, 6], [2.0, 2, 2, 7, 7, 7]]
)
def test_the_chance_of_an_order_is_counted(values: list[float]) -> None:
    """Over all 720 orders, equal values included: reported at that chance and not below it."""
    every = [ratio(list(order)) for order in itertools.permutations(values)]
    chance = float(np.mean(np.array(every) <= ratio(values) + 1e-9))
    if chance < 0.1:
        assert following(values, chance) == pytest.approx(ratio(values))
        assert following(values, 0.99 * chance) is None
    else:
        assert following(values, 0.01) is None


def test_sorted_values_are_the_rarest_order() -> None:
    """Two of the n! orders; six seeds can show it at 1 % shared by two arms, five cannot."""
    rising = [float(i) for i in range(6)]
    assert following(rising, 2 / math.factorial(6)) is not None
    assert following(rising[::-1], 0.005) == following(rising, 0.005)
    assert following(rising[: FEWEST - 1], 0.5) is None
    assert following([1.0] * 12, 0.01) is None
    assert following([0.0, 5.0] * 10, 0.01) is None, "only likeness is looked for"


@pytest.mark.parametrize("n", [6, 8, 12, 40, 300])
@pytest.mark.parametrize("step", [0.0, 1.0])
def test_values_in_any_order_are_rarely_flagged(n: int, step: float) -> None:
    """At 5 % in at most 7 % of a thousand samples, rounded to their standard deviation or not."""
    values = np.random.default_rng([n, int(step)]).standard_normal((1000, n))
    values = np.round(values / step) if step else values
    assert sum(following(row, 0.05) is not None for row in values.tolist()) <= 70


def test_a_random_walk_is_seen() -> None:
    """In every one of ten of 30 steps; monotone changes of the values change nothing."""
    walks = np.cumsum(np.random.default_rng(1).standard_normal((10, 30)), axis=1)
    for walk in walks.tolist():
        assert following(walk, 0.005) == following([math.exp(x) for x in walk], 0.005) is not None


@pytest.mark.parametrize(("n", "seen"), [(10, 0.10), (20, 0.35), (30, 0.54)])
def test_the_page_of_error_rates_says_how_often_it_is_seen(n: int, seen: float) -> None:
    """A correlation of .5 from one row to the next, in one arm at 1 %."""
    noise = np.random.default_rng(n).standard_normal((400, n))
    rows = noise.copy()
    for t in range(1, n):
        rows[:, t] = 0.5 * rows[:, t - 1] + 0.75**0.5 * noise[:, t]
    found = sum(following(row, 0.01) is not None for row in rows.tolist()) / 400
    assert found == pytest.approx(seen, abs=0.08)
