"""Designs whose power is promised, with draws at the planned truth."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from benchmarks.levels import (
    data_sets,
    exact,
    folds,
    items,
    looks,
    means,
    one_sample,
    points,
    references,
    spreads,
    survivals,
    tasks,
)
from benchmarks.levels.cells import Cell, Data, Draw, Setup
from benchmarks.levels.experiments import BY_ORDER
from benchmarks.levels.nulls import arms, shares
from repro.stats import stopping
from repro.stats.bounded_mean import PlannedItems
from repro.stats.crossed import PlannedBySeed
from repro.stats.data_sets import ByOrder
from repro.stats.one_sample import PlannedMedian
from repro.stats.planning import (
    PlannedCorrelation,
    PlannedDifference,
    PlannedLevel,
    PlannedMargin,
    PlannedProportion,
    PlannedRatio,
    PlannedSeparation,
    PlannedSequential,
    PlannedShare,
    PlannedTest,
)
from repro.stats.power import power_above
from repro.stats.random_effects import PlannedMetaAnalysis
from repro.stats.reference_runs import PlannedWithin, ReferenceUse
from repro.stats.spreads import PlannedSpread
from repro.stats.survival import PlannedSurvivals
from repro.stats.task_aggregates import HALF, Aggregate, PlannedOverTasks


@dataclass(frozen=True, slots=True)
class Plan:
    """A planned test, and draws at the planned truth. ``level`` is the interval's coverage.

    ``level`` is exact where the power function gives it, nominal else (then ``at_least``).
    """

    name: str
    planned: PlannedTest
    setup: Setup
    level: float | None = None
    at_least: bool = False
    most_draws: int = 10**9
    of: str = ""

    @property
    def kind(self) -> str:
        """The kind of expectation, as a claim file calls it."""
        if self.of:
            return self.of
        names = {
            PlannedShare: "bound",
            PlannedSequential: "sequential",
            PlannedOverTasks: "over_tasks",
            PlannedBySeed: "over_tasks_crossed",
            PlannedMetaAnalysis: "meta_analysis",
            PlannedSurvivals: "survivals",
            PlannedMedian: "level",
            PlannedItems: "level",
            PlannedWithin: "within",
        }
        if getattr(self.planned, "test", "t") in BY_ORDER:
            return "data_sets"
        return names.get(type(self.planned), self.planned.name.replace("-", "_"))


def _welch_coverage(planned: PlannedTest, tails: int) -> float:
    """The exact coverage of Welch's interval: on each side it errs as a one-sided test does."""
    side = replace(planned.arms, alpha=planned.alpha / tails)
    return 1 - 2 * power_above(side, 0.0, 0.0)


def _difference(test: str, n: int, effect: float, sd: float = 1.0) -> Plan:
    """A higher by ``effect``, two-sided; sd of A to B's 1."""
    spread = (math.hypot(sd, 1),) if test.startswith("paired") else (sd, 1.0)
    paired = test.startswith("paired")
    planned = PlannedDifference((n,), spread, test=test, effect=effect, paired=paired)
    setup = Setup(means.difference(test, "higher", 0.05), arms(Cell(n, sd), effect, 0.0), effect)
    level = None
    if test == "welch":
        level = _welch_coverage(planned, 2)
    elif test == "paired" or (test == "student" and sd == 1):
        level = 0.95
    return Plan(
        f"{test}, difference",
        planned,
        setup,
        level,
        most_draws=10_000 if test == "permutation" else 10**9,
    )


def _least(n: int, effect: float, least: float) -> Plan:
    planned = PlannedDifference((n,), (1.0, 1.0), effect=effect, low=least)
    rule = means.difference("welch", "higher", 0.05, least)
    setup = Setup(rule, arms(Cell(n), effect, 0.0), effect)
    return Plan(
        "welch, difference above a smallest effect", planned, setup, _welch_coverage(planned, 2)
    )


def _margin(kind: str, n: int, effect: float, margin: float, sd: float = 1.0) -> Plan:
    low = None if kind == "non_superiority" else -margin
    high = None if kind == "non_inferiority" else margin
    planned = PlannedMargin((n,), (sd, 1.0), effect=effect, low=low, high=high)
    setup = Setup(means.region(kind, 0.05, low, high), arms(Cell(n, sd), effect, 0.0), effect)
    return Plan(kind, planned, setup, _welch_coverage(planned, 1))


def _ratio(n: int, ratio: float, sd: float) -> Plan:
    planned = PlannedRatio((n,), (0.1 * sd, 0.1), effect=ratio, low=3.0)

    def draw(rng: np.random.Generator, draws: int) -> Data:
        a, b = arms(Cell(n, sd), 0.0, 0.0)(rng, draws)
        return 10.0 * ratio * np.exp(0.1 * a), 10.0 * np.exp(0.1 * b)

    setup = Setup(means.ratio(3.0, 0.05), draw, ratio)
    return Plan("ratio", planned, setup, _welch_coverage(planned, 1))


def _spread(test: spreads.TestOfSpread, n: int, ratio: float) -> Plan:
    planned = PlannedSpread((n,), effect=ratio, low=1.0, test=test)
    setup = Setup(spreads.at_least(test, 1.0, 0.05), arms(Cell(n, ratio), 0.0, 0.0), ratio)
    return Plan(f"{test}, spread", planned, setup, 0.90, at_least=test == "levene")


def _over_tasks(aggregate: Aggregate, n: int, gain: float, least: float = 0.0) -> Plan:
    sd = () if aggregate == "improvement" else (1.0,)
    planned = PlannedOverTasks(
        (n,), sd, effect=gain, low=least, tasks=tasks.TASKS, aggregate=aggregate
    )
    return Plan(f"{aggregate} over tasks", planned, tasks.gained(aggregate, n, gain, least))


def _improvement_by_seed(n: int, gain: float) -> Plan:
    planned = PlannedBySeed((n,), effect=gain, low=HALF)
    return Plan("improvement by seed", planned, tasks.gained_by_seed(n, gain))


def _meta_analysis(n: int, gain: float, least: float = 0.0) -> Plan:
    sd = math.hypot(data_sets.TAU, math.sqrt(2 / n))
    planned = PlannedMetaAnalysis((n,), (sd,), effect=gain, low=least, tasks=tasks.TASKS)
    return Plan("mean effect over tasks", planned, data_sets.gained(n, gain, least), 0.90)


def _effects(test: ByOrder, tasks: int, gain: float) -> Plan:
    """Those of data sets with one value each, in their standard deviation."""
    planned = PlannedMetaAnalysis((1,), (1.0,), effect=gain, low=0.0, tasks=tasks, test=test)
    setup = data_sets.gained_by_order(test, tasks, gain)
    return Plan(f"{test} of {tasks} effects", planned, setup, 0.90, at_least=True)


def _survivals(n: int, a: float, b: float, *, paired: bool = False) -> Plan:
    planned = PlannedSurvivals((n,), effect=a, low=b, paired=paired)
    direction: Literal["sooner", "later"] = "sooner" if a > b else "later"
    setup = survivals.planned(n, (a, b), direction, paired=paired)
    return Plan("log-rank of pairs" if paired else "log-rank", planned, setup)


def _separation(n: int, distance: float, sd: float) -> Plan:
    planned = PlannedSeparation((n,), (sd, 1.0), effect=distance)
    return Plan(
        "separation",
        planned,
        Setup(exact.separated(0.05), arms(Cell(n, sd), distance, 0.0)),
    )


def _share(kind: str, n: int, share: float, of: float) -> Plan:
    plan = PlannedShare if kind == "share" else PlannedProportion
    planned = plan((n,), effect=share, low=of)

    def draw(rng: np.random.Generator, draws: int) -> Data:
        inside = np.where(rng.random((draws, n)) < share, 1.0, 0.0)
        return (1 - inside,) if kind == "share" else (inside, np.full((draws, n), 0.5))

    rule = exact.share_within(0.5, of, 0.05) if kind == "share" else exact.wins(of, 0.05)
    return Plan(f"{kind}", planned, Setup(rule, draw, share), 0.90, at_least=True)


def _level(n: int, effect: float) -> Plan:
    """A mean above its limit by ``effect`` standard deviations."""
    planned = PlannedLevel((n,), (1.0,), effect=effect, paired=True)
    setup = Setup(one_sample.mean(0.0, 0.05), arms(Cell(n), effect), effect)
    return Plan("level", planned, setup, 0.90)


def _level_of_items(n: int, effect: float, limit: float, items: int) -> Plan:
    """A mean share above its limit by ``effect``, of so many items a seed."""
    planned = PlannedItems((n,), effect=effect, low=limit, items=items)
    draw = shares(items, limit + effect, Cell(n))
    setup = Setup(one_sample.items(items, limit, 0.05), draw, limit + effect)
    return Plan("level, items", planned, setup, 0.90, at_least=True)


def _level_known_sd(n: int, effect: float) -> Plan:
    """As ``_level``, of the z-test."""
    planned = PlannedLevel((n,), (1.0,), effect=effect, paired=True, known=True)
    rule = one_sample.mean_known_sd(0.0, 1.0, 0.05)
    return Plan("level, known sd", planned, Setup(rule, arms(Cell(n), effect), effect), 0.90)


def _level_median(n: int, effect: float) -> Plan:
    """As ``_level``, of the median."""
    planned = PlannedMedian((n,), (1.0,), effect=effect, paired=True)
    setup = Setup(one_sample.median(0.0, 0.05), arms(Cell(n), effect), effect)
    return Plan("level, median", planned, setup, 0.90, at_least=True)


def _within(k: int, n: int, margin: float, truth: float = 0.0) -> Plan:
    """``k`` runs against ``n``, shifted by ``truth`` and held within the margin."""
    watch = ReferenceUse(n, k)
    planned = PlannedWithin((k, n), (1.0,), watch.tail, truth, -margin, margin)
    setup = Setup(
        references.within_margin(margin, 0.05), references.draws_of(Cell(n), k, truth), truth
    )
    return Plan(f"within, margin{' of a mean' * (k > 1)}", planned, setup, 0.95)


def _found_outside(k: int, n: int, shift: float) -> Plan:
    """A run below by so much, found on the side where it is bad."""
    planned = PlannedWithin((k, n), (1.0,), ReferenceUse(n, k, "lower").tail, shift)
    setup = Setup(references.one_side(0.05), references.draws_of(Cell(n), k, -shift), -shift)
    return Plan("within, outside", planned, setup)


def _beyond_tolerance(n: int, shift: float) -> Plan:
    """As ``_found_outside``, of a limit of tolerance, which lies further off."""
    watch = ReferenceUse(n, 1, "lower", confidence=references.CONFIDENCE)
    planned = PlannedWithin((1, n), (1.0,), watch.tail, shift)
    rule = references.one_side(0.05, references.CONFIDENCE)
    setup = Setup(rule, references.draws_of(Cell(n), 1, -shift), -shift)
    return Plan("within, beyond tolerance", planned, setup)


def _items(n: int, effect: float, size: int = 1) -> Plan:
    """A difference of scores on ``n`` items, or on ``n`` clusters of so many, by their means."""
    sd = 1.0 if size == 1 else math.sqrt(1 + 1 / size)
    planned = PlannedDifference((n,), (sd,), test="paired", effect=effect, paired=True)
    if size == 1:
        return Plan("items", planned, items.scores(Cell(n), shift=effect), 0.95, of="items")
    setup = items.clusters((size,), Cell(n), effect)
    return Plan("items, clusters", planned, setup, 0.95, of="items")


def _mcnemar(count: int, share: float) -> Plan:
    """Of 200 items so many that one model alone has right: a binomial, on the side that is won."""
    planned = PlannedProportion((count,), alpha=0.025, effect=share, low=0.5)
    setup = items.apart(count, share, Cell(200))
    return Plan("items, mcnemar", planned, setup, of="items")


def _folds(n: int, effect: float) -> Plan:
    """Of one cross-validation, whose differences have an sd of 1 and correlate by 1 / n."""
    sd = math.sqrt(2 - 1 / n)  # of so many independent pairs with the same noncentral t
    planned = PlannedDifference((n,), (sd,), test="paired", effect=effect, paired=True)
    return Plan("folds", planned, folds.correlated(None, Cell(n), effect), 0.95)


def _correlation(n: int, rho: float) -> Plan:
    """A positive correlation, two-sided: planned one-sided at half the level."""
    planned = PlannedCorrelation((n,), alpha=0.025, effect=rho, low=0.0)
    rule = points.associated("pearson", "positive", 0.05)
    return Plan("association, positive", planned, Setup(rule, _points(n, rho), rho))


def _size(side: str, n: int, rho: float, bound: float) -> Plan:
    at_most = side == "at_most"
    planned = PlannedCorrelation(
        (n,),
        effect=rho,
        low=-bound if at_most else bound,
        high=bound if at_most else None,
    )
    rule = points.size("pearson", "at_most" if at_most else "at_least", bound, 0.05)
    return Plan(
        f"association, {side.replace('_', ' ')}", planned, Setup(rule, _points(n, rho), rho)
    )


def _points(n: int, rho: float) -> Draw:
    def draw(rng: np.random.Generator, draws: int) -> Data:
        x = rng.standard_normal((draws, n))
        return x, rho * x + math.sqrt(1 - rho**2) * rng.standard_normal((draws, n))

    return draw


def _nightly(n: int, effect: float) -> Plan:
    """Looked at after every pair from the second on."""
    planned = PlannedSequential((n,), (1.0, 1.0), effect=effect)
    rule = looks.nightly(stopping.difference("higher"), 0.05, range(2, n + 1))
    setup = Setup(rule, arms(Cell(n), effect, 0.0), effect)
    return Plan("sequential, every pair", planned, setup, 0.95, at_least=True)


def _paired_margin(kind: str, n: int, margin: float, sd: float) -> Plan:
    """As ``_margin`` of arms whose seeds are pairs; sd of A to B's 1."""
    low = None if kind == "non_superiority" else -margin
    high = None if kind == "non_inferiority" else margin
    spread = (math.hypot(sd, 1),)
    planned = PlannedMargin((n,), spread, effect=0.0, low=low, high=high, paired=True)
    rule = means.region(kind, 0.05, low, high, paired=True)
    setup = Setup(rule, arms(Cell(n, sd), 0.0, 0.0), 0.0)
    return Plan(f"paired {kind}", planned, setup, 0.90)


def _paired_ratio(n: int, ratio: float, sd: float) -> Plan:
    """As ``_ratio`` of arms whose seeds are pairs."""
    plan = _ratio(n, ratio, sd)
    spread = (0.1 * math.hypot(sd, 1),)
    planned = PlannedRatio((n,), spread, effect=ratio, low=3.0, paired=True)
    setup = replace(plan.setup, rule=means.ratio(3.0, 0.05, paired=True))
    return Plan("paired ratio", planned, setup, 0.90)


def _paired_nightly(n: int, effect: float) -> Plan:
    """As ``_nightly`` of arms whose seeds are pairs."""
    spread = (math.sqrt(2.0),)
    planned = PlannedSequential((n,), spread, effect=effect, paired=True)
    rule = looks.nightly(stopping.difference("higher"), 0.05, range(2, n + 1), paired=True)
    setup = Setup(rule, arms(Cell(n), effect, 0.0), effect)
    return Plan("paired sequential", planned, setup, 0.95, at_least=True)


BY_TEST = ("student", "paired", "permutation", "paired_permutation", "brunner_munzel", "yuen")
"""Tests of a difference beside Welch's whose promises of power are simulated here."""

PLANNED = ((5, 2.2), (10, 1.3))

PLANS: tuple[Plan, ...] = (
    _difference("welch", 5, 2.0),
    _difference("welch", 10, 3.0, 3.0),
    _least(10, 2.0, 0.5),
    _least(20, 1.5, 0.5),
    *(
        _difference(test, n, effect)
        for test in BY_TEST
        for n, effect in (((6, 2.2), (10, 1.3)) if test == "paired_permutation" else PLANNED)
    ),
    *(
        _margin(kind, n, 0.0, margin, sd)
        for kind in ("equivalence", "non_inferiority", "non_superiority")
        for n, margin, sd in ((10, 1.4, 1.0), (20, 2.0, 3.0))
    ),
    _ratio(5, 3.6, 1.0),
    _ratio(10, 4.0, 3.0),
    _separation(5, 3.0, 1.0),
    _separation(5, 6.0, 3.0),
    _share("share", 10, 0.99, 0.7),
    _share("share", 30, 0.9, 0.7),
    _share("proportion", 10, 0.9, 0.5),
    _share("proportion", 30, 0.75, 0.5),
    _level(5, 1.5),
    _spread("levene", 10, 2.0),
    _spread("levene", 20, 2.0),
    _spread("f", 6, 3.0),
    _spread("f", 12, 2.0),
    _over_tasks("mean", 3, 0.9),
    _over_tasks("mean", 5, 0.0, -0.7),
    _over_tasks("iqm", 3, 0.9),
    _over_tasks("iqm", 10, 0.5),
    _over_tasks("improvement", 5, 0.7, HALF),
    _over_tasks("improvement", 10, 0.63, HALF),
    _improvement_by_seed(5, 0.9),
    _improvement_by_seed(10, 0.8),
    _survivals(6, 0.95, 0.3),
    _survivals(20, 0.5, 0.9),
    _survivals(8, 0.95, 0.3, paired=True),
    _survivals(20, 0.5, 0.9, paired=True),
    _meta_analysis(3, 1.5),
    _meta_analysis(10, 0.0, -1.0),
    _effects("wilcoxon", 12, 0.8),
    _effects("wilcoxon", 60, 0.4),
    _effects("sign", 12, 0.8),
    _effects("sign", 20, 0.6),
    _level(10, 0.8),
    _level(30, 0.5),
    _within(1, 10, 4.0),
    _within(3, 10, 2.5, 0.5),
    _found_outside(1, 10, 3.0),
    _found_outside(3, 5, 2.0),
    _beyond_tolerance(10, 4.0),
    _beyond_tolerance(30, 3.5),
    _folds(5, 2.2),
    _folds(10, 1.4),
    _items(20, 0.7),
    _items(200, 0.2),
    _items(10, 1.1, 5),
    _items(40, 0.5, 5),
    _mcnemar(20, 0.8),
    _mcnemar(60, 0.7),
    _level_median(8, 1.5),
    _level_median(30, 0.6),
    _level_of_items(5, 0.04, 0.95, 50),
    _level_of_items(10, 0.02, 0.97, 100),
    _level_known_sd(3, 1.5),
    _level_known_sd(10, 0.8),
    _correlation(20, 0.6),
    _correlation(50, 0.4),
    _size("at_most", 72, 0.0, 0.3),
    _size("at_most", 200, 0.1, 0.3),
    _size("at_least", 30, 0.8, 0.5),
    _size("at_least", 72, 0.7, 0.5),
    _nightly(20, 1.0),
    _nightly(30, 1.0),
    *(
        _paired_margin(kind, n, margin, sd)
        for kind in ("equivalence", "non_inferiority", "non_superiority")
        for n, margin, sd in ((10, 1.4, 1.0), (20, 2.0, 3.0))
    ),
    _paired_ratio(5, 3.8, 1.0),
    _paired_ratio(10, 4.0, 3.0),
    _paired_nightly(20, 1.5),
    _paired_nightly(30, 1.2),
)
"""At least two designs for each kind that has a power function."""
