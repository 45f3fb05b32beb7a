"""Rules and draws over data sets whose true effects differ, too: a mean effect at its border."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from benchmarks.levels.cells import Array, Cell, Data, Mask, Outcome, Rule, Setup, noise
from benchmarks.levels.means import rare_p
from benchmarks.levels.tasks import SHARED, TASKS, of_tasks, spanning
from repro.expectations.decision_rules import by_interval, by_p
from repro.expectations.verdict_words import Finding
from repro.stats.crossed import meta_analysis_over_seeds
from repro.stats.data_sets import ByOrder, surely_above
from repro.stats.random_effects import Weights, meta_analysis
from repro.stats.task_aggregates import Region

TAU = 0.5
"""The standard deviation of the true effects, over that of the runs of B."""

HALVINGS = 100
"""So many leave nothing of an interval of tau squared."""


def alike_on_average(cell: Cell, *, weights: Weights = "equal", equivalent: bool = False) -> Setup:
    """A mean effect of 0 over five tasks, or of the margin where they are to be equivalent."""
    margin = 4 * math.sqrt((TAU**2 + cell.se**2) / TASKS) if equivalent else 0.0
    region: Region = (-margin, margin) if equivalent else (0.0, None)

    def draw(rng: np.random.Generator, draws: int) -> Data:
        effects = margin + TAU * rng.standard_normal((draws, TASKS, 1))
        a = effects + cell.sd_ratio * noise(rng, cell.distribution, (draws, TASKS, cell.n))
        b = noise(rng, cell.distribution, (draws, TASKS, cell.n_others))
        return a.reshape(draws, -1), b.reshape(draws, -1)

    return Setup(_rule(weights, region, cell.alpha), draw, margin)


def crossed(cell: Cell, *, shared: float = SHARED, tasks: int = TASKS) -> Setup:
    """A mean effect of 0 by runs that span the tasks, each with a share in all of them."""

    def draw(rng: np.random.Generator, draws: int) -> Data:
        own = TAU * rng.standard_normal((draws, tasks, 1))
        a = spanning(rng, cell.distribution, (draws, tasks, cell.n), shared)
        b = spanning(rng, cell.distribution, (draws, tasks, cell.n_others), shared)
        return (own + cell.sd_ratio * a).reshape(draws, -1), b.reshape(draws, -1)

    return Setup(_rule("by_seed", (0.0, None), cell.alpha, tasks), draw, 0.0)


def one_value_each(cell: Cell, *, test: ByOrder) -> Setup:
    """Effects of ``n`` data sets, one value each, about 0: half of them lie above it."""

    def draw(rng: np.random.Generator, draws: int) -> Data:
        return (noise(rng, cell.distribution, (draws, cell.n)),)

    return Setup(_rule_by_order(test, 0.0, cell.alpha), draw, 0.0)


def gained_by_order(test: ByOrder, tasks: int, gain: float) -> Setup:
    """Normal effects about ``gain``: are they shown to lie above 0?"""

    def draw(rng: np.random.Generator, draws: int) -> Data:
        return (gain + rng.standard_normal((draws, tasks)),)

    return Setup(_rule_by_order(test, 0.0, 0.05), draw, gain)


def _rule_by_order(test: ByOrder, least: float, alpha: float) -> Rule:
    def judge(row: Data) -> Finding:
        tasks = len(row[0])
        a, b = (of_tasks(values, tasks) for values in (row[0], np.zeros(tasks)))
        return by_p(meta_analysis(a, b, region=(least, None), test=test, alpha=alpha))

    def decide(data: Data) -> Outcome:
        effects = data[0] - least
        return Outcome(surely_above(test, effects, alpha), surely_above(test, -effects, alpha))

    def covers(data: Data, truth: float) -> Mask:
        effects = data[0] - truth
        return ~(surely_above(test, effects, alpha) | surely_above(test, -effects, alpha))

    return Rule(decide, judge, covers)


def gained(n: int, gain: float, least: float) -> Setup:
    """A better by ``gain`` on average: is it shown to be better by more than ``least``?"""

    def draw(rng: np.random.Generator, draws: int) -> Data:
        effects = gain + TAU * rng.standard_normal((draws, TASKS, 1))
        a, b = rng.standard_normal((2, draws, TASKS, n))
        return (effects + a).reshape(draws, -1), b.reshape(draws, -1)

    return Setup(_rule("equal", (least, None), 0.05), draw, gain)


def _rule(
    weights: Weights | Literal["by_seed"], region: Region, alpha: float, tasks: int = TASKS
) -> Rule:
    def judge(row: Data) -> Finding:
        a, b = (of_tasks(arm, tasks) for arm in row)
        if weights == "by_seed":
            return by_interval(meta_analysis_over_seeds(a, b, region=region, alpha=alpha))
        return by_interval(meta_analysis(a, b, region=region, weights=weights, alpha=alpha))

    def kernel(data: Data) -> tuple[Array, Array, Array]:
        return _of_both(data, tasks) if weights == "by_seed" else _kernel(data, weights)

    def decide(data: Data) -> Outcome:
        effect, se, df = kernel(data)
        inside, outside = np.ones(len(effect), bool), np.zeros(len(effect), bool)
        for border, sign in zip(region, (1, -1), strict=True):
            if border is not None:
                t = sign * (effect - border) / se
                inside &= rare_p(t, df, alpha) < alpha
                outside |= rare_p(-t, df, alpha) < alpha
        return Outcome(inside, outside)

    def covers(data: Data, truth: float) -> Mask:
        effect, se, df = kernel(data)
        return np.asarray(rare_p(np.abs(effect - truth) / se, df, alpha) >= alpha)

    return Rule(decide, judge, covers)


def _kernel(data: Data, weights: Weights) -> tuple[Array, Array, Array]:
    """Mean effect, its standard error and degrees of freedom, of each draw."""
    a, b = (arm.reshape(len(arm), TASKS, -1) for arm in data)
    effects = a.mean(-1) - b.mean(-1)
    shares = np.ones_like(effects)
    if weights == "inverse_variance":
        within = sum(arm.var(-1, ddof=1) / arm.shape[-1] for arm in (a, b))
        shares = 1 / (within + _paule_mandel(effects, np.asarray(within))[:, None])
    mean, squares = _spread(effects, shares)
    df = TASKS - 1
    return mean, np.sqrt(squares / df / shares.sum(-1)), np.full(len(mean), float(df))


def _of_both(data: Data, tasks: int) -> tuple[Array, Array, Array]:
    """The same by runs that span the tasks: what tasks and seeds each make, less what both hold."""
    arms = [arm.reshape(len(arm), tasks, -1) for arm in data]
    effects = arms[0].mean(-1) - arms[1].mean(-1)
    parts = [(effects.var(-1, ddof=1) / tasks, tasks - 1.0)]
    rest = np.zeros(len(effects))
    for arm in arms:
        n = arm.shape[-1]
        parts.append((arm.mean(1).var(-1, ddof=1) / n, n - 1.0))
        left = arm - arm.mean(1, keepdims=True) - arm.mean(2, keepdims=True)
        left += arm.mean((1, 2), keepdims=True)
        rest += (left**2).sum((1, 2)) / ((tasks - 1) * (n - 1) * tasks * n)
    of_seeds = parts[1][0] + parts[2][0]
    variance = np.maximum(parts[0][0], np.maximum(of_seeds, parts[0][0] + of_seeds - rest))
    weights = sum(part**2 / df for part, df in parts)
    return effects.mean(-1), np.sqrt(variance), np.asarray(variance**2 / weights)


def _spread(effects: Array, shares: Array) -> tuple[Array, Array]:
    """The weighted mean of the effects of each draw, and their weighted squares about it."""
    mean = (shares * effects).sum(-1) / shares.sum(-1)
    return mean, (shares * (effects - mean[:, None]) ** 2).sum(-1)


def _paule_mandel(effects: Array, within: Array) -> Array:
    """By halving the interval in which Q reaches its degrees of freedom."""
    low, high = np.zeros(len(effects)), effects.var(-1, ddof=1)

    def large(at: Array) -> Mask:
        return np.asarray(_spread(effects, 1 / (within + at[:, None]))[1] > TASKS - 1)

    while large(high).any():
        high = np.where(large(high), 2 * high, high)
    none = ~large(low)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        more = large(middle)
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return np.where(none, 0.0, high)
