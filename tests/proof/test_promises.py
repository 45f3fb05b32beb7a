"""Power and coverage are what the design doctor promises, within Monte Carlo error."""

from __future__ import annotations

from collections import Counter
from typing import get_args

import pytest

from benchmarks.levels.plans import PLANS, Plan
from benchmarks.levels.power import keep
from repro.expectations.difference import TestOfDifference
from repro.stats import (
    bounded_mean,
    crossed,
    one_sample,
    planning,
    random_effects,
    reference_runs,
    spreads,
    survival,
    task_aggregates,
)
from repro.stats.planning import PlannedDifference, assess
from repro.stats.task_aggregates import Aggregate, PlannedOverTasks

DRAWS = 50_000


@pytest.mark.parametrize("plan", PLANS, ids=lambda one: f"{one.name}, n = {one.planned.n[0]}")
def test_power_and_coverage_are_as_promised(plan: Plan) -> None:
    """Both lie within four Monte Carlo standard errors of the promise."""
    promise = keep(plan, draws=500 if plan.name == "permutation, difference" else DRAWS)
    assert promise.power_kept, promise
    assert promise.coverage_kept, promise


def test_every_test_with_a_power_has_two_designs() -> None:
    """No power function is left without a check, nor with only one."""
    found = Counter(
        (type(one.planned), one.planned.name, one.planned.paired, getattr(one.planned, "test", ""))
        for one in PLANS
    )
    assert min(found.values()) >= 2
    tests = {test for sort, _, _, test in found if sort is PlannedDifference}
    assert tests == set(get_args(TestOfDifference))
    modules = (
        planning,
        task_aggregates,
        crossed,
        random_effects,
        spreads,
        survival,
        one_sample,
        bounded_mean,
        reference_runs,
    )
    named = [value for module in modules for value in vars(module).values()]
    planned = [c for c in named if isinstance(c, type) and issubclass(c, planning.PlannedTest)]
    every = {c for c in planned if "name" in vars(c)}
    assert {sort for sort, *_ in found} == every - {planning.PlannedTest}
    over_tasks = [each.planned for each in PLANS if isinstance(each.planned, PlannedOverTasks)]
    assert {each.aggregate for each in over_tasks} == set(get_args(Aggregate))
    margins = {name for sort, name, *_ in found if sort is planning.PlannedMargin}
    assert margins == {"equivalence", "non-inferiority", "non-superiority"}


def test_the_promise_is_the_design_doctors() -> None:
    """The number that is checked is the one that is printed by the plan."""
    plan = PLANS[0]
    assert keep(plan, draws=100).promised == assess(plan.planned).power
