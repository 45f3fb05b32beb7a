"""What is simulated is what is shipped: decision by decision, draw by draw.

The simulations judge many draws at once. Here the same draws go one by one through the public
test and the rule of the verdict, and every conclusion must be the same word.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.levels.cells import Cell, Experiment, Setup, generator
from benchmarks.levels.experiments import AGGREGATES, EXPERIMENTS
from benchmarks.levels.measure import grid
from benchmarks.levels.plans import PLANS, Plan
from repro.expectations.verdict_words import Conclusion
from repro.stats.planning import PlannedSequential

SEED = 1935
DRAWS = 30
"""Cases per cell; every experiment has a hundred and more over its cells."""
DEAR = {"group_obf": 10, "eprocess_t": 20} | {
    f"over_tasks {aggregate} bootstrap": 20 for aggregate in AGGREGATES
}
"""Cases per cell where one takes long."""
RANDOM_SPLITS = ("permutation", "log_rank")
"""Beyond five an arm the simulation of these draws splits at random."""


def cases(experiment: Experiment) -> list[tuple[Experiment, Cell]]:
    """All cells at the usual level, and at one that many draws reach."""
    found = []
    for alpha in (0.05, 0.3):
        cells = list(grid(experiment, sizes=(3, 5, 10), alpha=alpha))
        found += [
            (experiment, cell)
            for cell in cells
            if _tied(experiment, cell) and _quick(experiment, cell)
        ]
    return found


def off_the_grid(experiment: Experiment) -> list[Cell]:
    """Unequal numbers, 4:1, and each of the other distributions, where it makes sense."""
    places = [(3, 4.0, 10), (4, 0.25, 8), (5, 4.0, None), (60, 4.0, None), (20, 4.0, None)]
    sizes = experiment.sizes or (3, 4, 5)
    cells = [
        Cell(n, ratio if experiment.sd_ratios else 1.0, name, 0.3, others)
        for n, ratio, others in places
        for name in experiment.wide
        if n in sizes
    ]
    return [cell for cell in cells if experiment.has(cell)]


def _tied(experiment: Experiment, cell: Cell) -> bool:
    """Permutations are tied where all splits are tried; beyond, see the test below."""
    return experiment.test not in RANDOM_SPLITS or cell.n <= 5


def _quick(experiment: Experiment, cell: Cell) -> bool:
    """One case of a look at every pair takes a tenth of a second, and more of them tell no more."""
    return not experiment.kind.endswith("every pair") or cell.n <= 10


def words(setup: Setup, data: tuple[np.ndarray, ...], size: int) -> tuple[list[str], list[str]]:
    """The conclusions of the simulation and of the engine."""
    outcome = setup.rule.decide(data)
    simulated = [
        "CONFIRMED" if yes else "CONTRADICTED" if no else "neither"
        for yes, no in zip(outcome.confirmed, outcome.contradicted, strict=True)
    ]
    concluded = [setup.rule.conclude(tuple(arm[i] for arm in data)) for i in range(size)]
    decided = (Conclusion.CONFIRMED, Conclusion.CONTRADICTED)
    return simulated, [str(word) if word in decided else "neither" for word in concluded]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.name)
def test_the_simulation_decides_as_the_engine_does(experiment: Experiment) -> None:
    """Every draw of every cell has the same conclusion by both ways."""
    seen = set()
    pairs = cases(experiment)
    assert pairs
    for _, cell in pairs:
        size = DEAR.get(experiment.test, DRAWS)
        setup = experiment.make(cell)
        data = setup.draw(generator(experiment.name, cell, SEED), size)
        simulated, engine = words(setup, data, size)
        assert simulated == engine, cell
        seen |= set(engine)
    assert seen - {"neither"}, "a test of agreement where nothing is ever decided is empty"


WIDE = [one for one in EXPERIMENTS if off_the_grid(one)]


@pytest.mark.parametrize("experiment", WIDE, ids=lambda one: one.name)
def test_off_the_grid_the_simulation_decides_as_the_engine_does(experiment: Experiment) -> None:
    """Arms of unequal size, skewed values and collapsed seeds change nothing."""
    for cell in off_the_grid(experiment):
        size = DEAR.get(experiment.test, DRAWS) // 2
        setup = experiment.make(cell)
        data = setup.draw(generator(experiment.name, cell, SEED), size)
        simulated, engine = words(setup, data, size)
        assert simulated == engine, cell


ALL_SPLITS = {"permutation, difference": 5, "log-rank": 6, "log-rank of pairs": 10}
"""Up to so many replicates an arm the simulation tries all splits, as the engine does."""

TIED_PLANS = [one for one in PLANS if one.planned.n[0] <= ALL_SPLITS.get(one.name, 10**9)]


@pytest.mark.parametrize("plan", TIED_PLANS, ids=lambda one: one.name)
def test_planned_designs_are_decided_as_the_engine_does(plan: Plan) -> None:
    """At the planned truth, too, each draw has the same conclusion by both ways."""
    size = 20 if isinstance(plan.planned, PlannedSequential) else 100
    data = plan.setup.draw(np.random.default_rng([SEED, 2]), size)
    simulated, engine = words(plan.setup, data, size)
    assert simulated == engine
    assert "CONFIRMED" in engine


@pytest.mark.parametrize("test", RANDOM_SPLITS)
def test_splits_drawn_at_random_decide_as_all_of_them(test: str) -> None:
    """With seven per arm the simulated permutation test decides as the engine's, but near ties."""
    experiment = next(one for one in EXPERIMENTS if one.test == test)
    cell = Cell(7, alpha=0.3)
    setup = experiment.make(cell)
    data = setup.draw(generator(experiment.name, cell, SEED), 8)
    simulated, engine = words(setup, data, 8)
    assert sum(one != other for one, other in zip(simulated, engine, strict=True)) <= 1
