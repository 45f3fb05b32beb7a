"""Planned designs over tasks: their power, what they can detect, and what they refuse."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import get_args

import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from repro.stats.planning import assess, minimum_detectable_difference, power_of_test
from repro.stats.power import PowerDesign, power_above
from repro.stats.random_effects import PlannedMetaAnalysis
from repro.stats.records import known
from repro.stats.task_aggregates import Aggregate, PlannedOverTasks

PLANS = [
    PlannedOverTasks((5,), (2.0,), effect=2.0, low=0.0, tasks=5),
    PlannedOverTasks((5,), (2.0,), effect=2.0, low=0.0, tasks=5, aggregate="iqm"),
    PlannedOverTasks((6,), effect=0.7, low=0.5, tasks=5, aggregate="improvement"),
    PlannedOverTasks((6,), (1.0,), low=-0.8, tasks=4),
    PlannedOverTasks((8,), (1.0,), low=-0.8, high=0.8, tasks=4, aggregate="iqm"),
]


@pytest.mark.parametrize("planned", PLANS, ids=lambda one: f"{one.aggregate} {one.low}")
def test_every_number_keeps_its_promise(planned: PlannedOverTasks) -> None:
    """At what is detectable the power is .80; the runs for 80 % reach it, one fewer do not."""
    found = assess(planned)
    assert found.refused == found.not_computed == ""
    smallest = known(found.minimum_detectable)
    sized = planned.sized(smallest)
    if planned.aggregate == "improvement":
        sized = replace(planned, effect=smallest)
    assert power_of_test(sized)[0] == pytest.approx(0.80, abs=2e-3)
    runs = known(found.seeds80)
    assert power_of_test(replace(planned, n=(runs,)))[0] >= 0.8
    assert power_of_test(replace(planned, n=(runs - 1,)))[0] < 0.8


def test_every_aggregate_is_tried() -> None:
    assert {planned.aggregate for planned in PLANS} == set(get_args(Aggregate))


@pytest.mark.parametrize(("tasks", "n"), [(3, 6), (8, 10)])
def test_a_mean_over_tasks_has_nearly_the_power_of_all_runs_pooled(tasks: int, n: int) -> None:
    """With one variance there are 2 T (n - 1) degrees of freedom, and 2 (T n - 1) when pooled."""
    size = 2.8 * math.sqrt(2 / (tasks * n))
    planned = PlannedOverTasks((n,), (1.0,), effect=size, low=0.0, tasks=tasks)
    power, error = power_of_test(planned)
    pooled = power_above(PowerDesign(1.0, 1.0, tasks * n, tasks * n, 0.05), size, 0.0)
    assert power == pytest.approx(pooled, abs=0.015 + 4 * known(error))


@pytest.mark.parametrize(("tasks", "effect"), [(5, 0.8), (20, 0.5)])
def test_a_mean_effect_has_the_power_of_a_t_test_over_tasks(tasks: int, effect: float) -> None:
    """That of statsmodels."""
    planned = PlannedMetaAnalysis((4,), (0.7,), effect=effect, low=0.0, tasks=tasks)
    expected = TTestPower().power(effect / 0.7, tasks, 0.05, alternative="larger")
    assert power_of_test(planned)[0] == pytest.approx(expected, rel=1e-6)
    smallest = known(minimum_detectable_difference(planned))
    assert power_of_test(replace(planned, effect=smallest))[0] == pytest.approx(0.8, abs=1e-6)


def test_more_runs_are_no_remedy_for_few_tasks() -> None:
    found = assess(PlannedMetaAnalysis((4,), (1.0,), low=-0.1, tasks=3))
    assert found.refused == (
        f"3 tasks give a mean effect over tasks a power of {100 * known(found.power):.1f} % at the "
        "planned standard deviation 1, below 10 %; more tasks would give more, and more runs would "
        "not"
    )
    assert found.seeds80 is found.seeds90 is None


def test_equivalence_is_planned_on_both_sides() -> None:
    """A margin on one side is easier to keep than on two."""
    one = PlannedMetaAnalysis((4,), (0.5,), low=-0.5, tasks=8)
    both = replace(one, high=0.5)
    assert power_of_test(both)[0] < power_of_test(one)[0]


def test_a_single_run_per_task_is_refused() -> None:
    found = assess(PlannedOverTasks((1,), (1.0,), effect=2.0, low=0.0, tasks=5))
    assert "1 replicate has no variance" in found.refused


def test_one_value_per_task_is_planned_by_the_scatter_of_the_effects() -> None:
    """The same by t with any number of runs; by signs a binomial count, by ranks nearly as by t."""
    t = PlannedMetaAnalysis((1,), (1.0,), effect=0.8, low=0.0, tasks=12)
    assert power_of_test(t) == power_of_test(replace(t, n=(4,)))
    above = stats.norm.cdf(0.8)
    found, error = power_of_test(replace(t, test="sign"))
    assert found == pytest.approx(stats.binom.sf(9, 12, above), abs=4 * known(error))
    ranks, error = power_of_test(replace(t, test="wilcoxon"))
    assert ranks == pytest.approx(power_of_test(t)[0], abs=0.05)
    margin = replace(t, test="wilcoxon", effect=None, low=-1.0, high=1.0)
    assert 0.5 < power_of_test(margin)[0] < power_of_test(replace(margin, high=None))[0]
    few = assess(replace(t, test="sign", tasks=4)).refused
    assert few == "4 tasks cannot decide: the p of effects of one sign is 0.0625, above 0.05"
