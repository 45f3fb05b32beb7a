"""Planned times to a target: their power, what they can detect, and what they refuse."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from repro.stats.planning import assess, power_of_test
from repro.stats.records import Sample, known
from repro.stats.simulated import draw_signs, draw_splits
from repro.stats.survival import PlannedSurvivals, log_rank, log_rank_p

PLANS = [
    PlannedSurvivals((8,), effect=0.95, low=0.4, at=4000.0),
    PlannedSurvivals((10,), effect=0.3, low=0.9, at=4000.0),
    PlannedSurvivals((20,), effect=0.9, low=0.5, at=1.0, two_sided=True),
]


@pytest.mark.parametrize("planned", PLANS, ids=lambda one: f"{one.effect} {one.low}")
def test_every_number_keeps_its_promise(planned: PlannedSurvivals) -> None:
    """At what is detectable the power is .80; the seeds for 80 % reach it, one fewer do not."""
    found = assess(planned)
    assert found.refused == found.not_computed == ""
    seeds = known(found.seeds80)
    assert power_of_test(replace(planned, n=(seeds,)))[0] >= 0.8
    assert power_of_test(replace(planned, n=(seeds - 1,)))[0] < 0.8
    smallest = known(found.minimum_detectable)
    shares = np.linspace(0.001, 0.999, 999)
    likely = [share for share in shares if (share > planned.least) == planned.a_is_sooner]
    at_it = min(
        (replace(planned, effect=share) for share in likely),
        key=lambda one: abs(abs(one.difference) - smallest),
    )
    assert power_of_test(at_it)[0] == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("reached", [(0.6, 0.4), (0.7, 0.9)])
def test_with_many_runs_the_power_is_schoenfelds(
    reached: tuple[float, float], *, two_sided: bool
) -> None:
    """Schoenfeld 1981: normal, by the events expected; ``different`` errs to either side."""
    n = 100
    planned = PlannedSurvivals((n,), effect=reached[0], low=reached[1], two_sided=two_sided)
    a, b = planned.hazards
    distance = math.sqrt(n * sum(reached)) / 2 * abs(math.log(a / b))
    limit = norm.isf(0.025 if two_sided else 0.05)
    assert power_of_test(planned)[0] == pytest.approx(norm.sf(limit - distance), abs=0.03)


def test_without_a_difference_the_power_is_the_level() -> None:
    power, error = power_of_test(PlannedSurvivals((12,), effect=0.6, low=0.6))
    assert power == pytest.approx(0.05, abs=4 * known(error))


def test_the_mean_within_the_budget_is_that_of_the_draws() -> None:
    planned = PlannedSurvivals((5,), effect=0.9, low=0.4, at=300.0)
    rng = np.random.default_rng(1)
    times = [rng.exponential(1 / hazard, 10**6) for hazard in planned.hazards]
    assert [np.mean(t < 1) for t in times] == pytest.approx([0.9, 0.4], abs=3e-3)
    means = [300 * np.minimum(t, 1).mean() for t in times]
    assert planned.difference == pytest.approx(means[0] - means[1], abs=1.0)


@pytest.mark.parametrize("n", [4, 5, 12])
def test_p_is_that_of_the_test(n: int) -> None:
    """All splits up to 1,000 give the very p; samples of them give it nearly."""
    rng = np.random.default_rng(n)
    a, b = rng.exponential(0.7, (20, n)), rng.exponential(1.5, (20, n))
    sooner, later = log_rank_p(a, b, 1.0, draw_splits(n, 2 * n))
    seeds = tuple(range(n))
    judged = [
        log_rank(Sample(tuple(x), seeds), Sample(tuple(y), seeds), at=1.0, alternative="less")
        for x, y in zip(a, b, strict=True)
    ]
    near = 1e-12 if math.comb(2 * n, n) <= 1000 else 0.07
    assert sooner == pytest.approx([known(one.p) for one in judged], abs=near)
    assert later == pytest.approx([known(one.p_opposite) for one in judged], abs=near)


def test_what_cannot_decide_is_refused() -> None:
    few = assess(PlannedSurvivals((2,), effect=0.9, low=0.1))
    said = "2 replicates cannot decide: even complete separation has p = 0.167, above 0.05"
    assert few.refused == said
    weak = assess(PlannedSurvivals((5,), effect=0.5, low=0.45))
    assert "give a log-rank test a power of" in weak.refused


@pytest.mark.parametrize("n", [5, 8, 20])
def test_p_of_pairs_is_that_of_the_test(n: int) -> None:
    """All exchanges of up to ten pairs give the very p; samples of them give it nearly."""
    rng = np.random.default_rng(n)
    a, b = rng.exponential(0.7, (20, n)), rng.exponential(1.5, (20, n))
    sooner, later = log_rank_p(a, b, 1.0, draw_signs(n), paired=True)
    judged = [
        log_rank(Sample.of(*x), Sample.of(*y), at=1.0, alternative="less", paired=True)
        for x, y in zip(a, b, strict=True)
    ]
    near = 1e-12 if n <= 10 else 0.07
    assert sooner == pytest.approx([known(one.p) for one in judged], abs=near)
    assert later == pytest.approx([known(one.p_opposite) for one in judged], abs=near)


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_the_power_of_pairs_is_reached_and_grows_with_what_they_share(correlation: float) -> None:
    """Ten pairs through the test itself; times of pairs by a Gaussian copula."""
    planned = PlannedSurvivals((10,), effect=0.9, low=0.4, paired=True)
    promised, error = power_of_test(planned)
    rng = np.random.default_rng(3)
    shared, own = rng.standard_normal((1, 400, 10)), rng.standard_normal((2, 400, 10))
    u = norm.cdf(math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * own)
    a, b = (-np.log(u[i]) / hazard for i, hazard in enumerate(planned.hazards))
    found = np.mean(
        [
            known(log_rank(Sample.of(*x), Sample.of(*y), at=1.0, alternative="less", paired=True).p)
            <= 0.05
            for x, y in zip(a, b, strict=True)
        ]
    )
    reach = 4 * math.hypot(known(error), math.sqrt(promised * (1 - promised) / 400))
    assert found >= promised - reach
    assert correlation > 0 or found <= promised + reach
    assert correlation == 0 or found > promised


def test_few_pairs_are_refused() -> None:
    few = assess(PlannedSurvivals((4,), effect=0.9, low=0.1, paired=True))
    said = "4 replicates cannot decide: even if every pair agrees has p = 0.0625, above 0.05"
    assert few.refused == said
