"""Rules and draws over a benchmark of tasks, which lie one standard deviation apart."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import ndtri

from benchmarks.levels.cells import Array, Cell, Data, Mask, Outcome, Rule, Setup, noise
from benchmarks.levels.means import rare_p
from repro.expectations.decision_rules import by_interval
from repro.expectations.verdict_words import Finding
from repro.stats.crossed import over_seeds
from repro.stats.records import Sample
from repro.stats.task_aggregates import (
    Aggregate,
    OverTasksResult,
    Region,
    over_tasks,
    resampled,
)

TASKS = 5
SHARED = 0.5
"""The share of the variance of a run that spans the tasks which it has in all of them."""

Kernel = Callable[[Array, Array], tuple[Array, Array, Array]]


def boundary(
    aggregate: Aggregate,
    cell: Cell,
    *,
    tasks: int = TASKS,
    equivalent: bool = False,
    bootstrap: bool = False,
) -> Setup:
    """Arms alike in every task; for *equivalent*, A higher by the margin in each."""
    margin = 4 * cell.se / np.sqrt(tasks) if equivalent else 0.0
    truth = 0.5 if aggregate == "improvement" else float(margin)
    region: Region = (-truth, truth) if equivalent else (truth, None)
    rule = _by_resamples if bootstrap else _by_t
    return Setup(
        rule(aggregate, region, cell.alpha, tasks), _arms(cell, tasks, float(margin)), truth
    )


def gained(aggregate: Aggregate, n: int, gain: float, least: float, tasks: int = TASKS) -> Setup:
    """A better by ``gain`` in every task: is it shown to be better by more than ``least``?"""
    shift = math.sqrt(2) * float(ndtri(gain)) if aggregate == "improvement" else gain
    rule = _by_t(aggregate, (least, None), 0.05, tasks)
    return Setup(rule, _arms(Cell(n), tasks, shift), gain)


def crossed(
    aggregate: Aggregate,
    cell: Cell,
    *,
    tasks: int = TASKS,
    shared: float = SHARED,
    equivalent: bool = False,
) -> Setup:
    """Arms alike, of runs that span the tasks; for *equivalent*, A higher by the margin in each."""
    margin = 4 * cell.se * math.sqrt(shared + (1 - shared) / tasks) if equivalent else 0.0
    truth = 0.5 if aggregate == "improvement" else margin
    region: Region = (-truth, truth) if equivalent else (truth, None)
    rule = _by_t(aggregate, region, cell.alpha, tasks, by_seed=True)
    return Setup(rule, _arms(cell, tasks, margin, shared), truth)


def gained_by_seed(n: int, gain: float) -> Setup:
    """A better with this chance in every task, where those of a run go wholly together."""
    shift = math.sqrt(2) * float(ndtri(gain))
    rule = _by_t("improvement", (0.5, None), 0.05, TASKS, by_seed=True)
    return Setup(rule, _arms(Cell(n), TASKS, shift, 1.0), gain)


def spanning(
    rng: np.random.Generator, distribution: str, shape: tuple[int, int, int], shared: float
) -> Array:
    """Noise of (draws, tasks, n) of which a run has a share of the variance in all its tasks."""
    draws, _, n = shape
    own = math.sqrt(1 - shared) * noise(rng, distribution, shape)
    return own + math.sqrt(shared) * noise(rng, distribution, (draws, 1, n)) if shared else own


def _arms(
    cell: Cell, tasks: int, shift: float, shared: float = 0.0
) -> Callable[[np.random.Generator, int], Data]:
    """The runs of a task side by side, task after task; A has its own spread."""
    levels = ndtri((np.arange(tasks) + 0.5) / tasks)

    def draw(rng: np.random.Generator, draws: int) -> Data:
        arms = []
        for n, sd, own in ((cell.n, cell.sd_ratio, shift), (cell.n_others, 1.0, 0.0)):
            rest = spanning(rng, cell.distribution, (draws, tasks, n), shared)
            values = levels[:, None] + own + sd * rest
            arms.append(values.reshape(draws, tasks * n))
        return tuple(arms)

    return draw


def of_tasks(row: Array, tasks: int) -> Sample:
    """One draw of one arm, as the engine takes it."""
    n = len(row) // tasks
    names = tuple(f"t{task}" for task in range(tasks) for _ in range(n))
    return Sample(tuple(map(float, row)), tuple(range(n)) * tasks, tasks=names)


def _judge(
    aggregate: Aggregate,
    region: Region,
    alpha: float,
    tasks: int,
    test: Callable[..., OverTasksResult],
) -> Callable[[Data], Finding]:
    def judge(row: Data) -> Finding:
        a, b = (of_tasks(arm, tasks) for arm in row)
        result = test(a, b, aggregate=aggregate, better="higher", region=region, alpha=alpha)
        return by_interval(result)

    return judge


def _by_t(
    aggregate: Aggregate, region: Region, alpha: float, tasks: int, *, by_seed: bool = False
) -> Rule:
    kernel = (BY_SEED if by_seed else KERNELS)[aggregate]
    test = over_seeds if by_seed else over_tasks

    def by_task(data: Data) -> tuple[Array, Array]:
        a, b = (arm.reshape(len(arm), tasks, -1) for arm in data)
        return a, b

    def decide(data: Data) -> Outcome:
        effect, se, df = kernel(*by_task(data))
        inside, outside = np.ones(len(effect), bool), np.zeros(len(effect), bool)
        for border, sign in zip(region, (1, -1), strict=True):
            if border is not None:
                t = sign * (effect - border) / se
                inside &= rare_p(t, df, alpha) < alpha
                outside |= rare_p(-t, df, alpha) < alpha
        return Outcome(inside, outside)

    def covers(data: Data, truth: float) -> Mask:
        effect, se, df = kernel(*by_task(data))
        return np.asarray(rare_p(np.abs(effect - truth) / se, df, alpha) >= alpha)

    return Rule(decide, _judge(aggregate, region, alpha, tasks, test), covers)


def _by_resamples(aggregate: Aggregate, region: Region, alpha: float, tasks: int) -> Rule:
    """Percentiles of resamples, draw by draw."""

    def intervals(data: Data) -> Array:
        ends = []
        for a, b in zip(*data, strict=True):
            first, second = (list(np.sort(arm.reshape(tasks, -1))) for arm in (a, b))
            drawn = resampled(aggregate, first, second, "higher")
            ends.append(np.quantile(drawn, (alpha, 1 - alpha)))
        return np.asarray(ends)

    def decide(data: Data) -> Outcome:
        ends = intervals(data)
        low = region[0] or 0.0
        return Outcome(ends[:, 0] > low, ends[:, 1] <= low)

    def covers(data: Data, truth: float) -> Mask:
        ends = intervals(data)
        return np.asarray((ends[:, 0] <= truth) & (truth <= ends[:, 1]))

    test = partial(over_tasks, bootstrap=True)
    return Rule(decide, _judge(aggregate, region, alpha, tasks, test), covers)


def _means(a: Array, b: Array) -> tuple[Array, Array, Array]:
    tasks = a.shape[1]
    parts = [arm.var(-1, ddof=1) / arm.shape[-1] / tasks**2 for arm in (a, b)]
    sizes = [arm.shape[-1] - 1.0 for arm in (a, b)]
    return (a.mean((1, 2)) - b.mean((1, 2)), *_satterthwaite(parts, sizes))


def _interquartile_means(a: Array, b: Array) -> tuple[Array, Array, Array]:
    means, parts, sizes = [], [], []
    for arm in (a, b):
        ordered = np.sort(arm.reshape(len(arm), -1), axis=-1)
        n, size = arm.shape[-1], ordered.shape[-1]
        cut = size // 4
        kept = size - 2 * cut
        means.append(ordered[:, cut : size - cut].mean(-1))
        low, high = (ordered[:, place, None, None] for place in (cut, size - cut - 1))
        parts.append(n * np.clip(arm, low, high).var(-1, ddof=1) / (kept * (kept - 1)))
        sizes.append((n - 1) * kept / size)
    return (means[0] - means[1], *_satterthwaite(parts, sizes))


def _improvement(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """By ranks: a run beats as many as its rank among both arms exceeds that in its own."""
    tasks, n, m = a.shape[1], a.shape[-1], b.shape[-1]
    ordered = [np.sort(arm, axis=-1) for arm in (a, b)]
    both = np.argsort(np.argsort(np.concatenate(ordered, axis=-1), axis=-1), axis=-1)
    above = (both[..., :n] - np.arange(n)) / m
    below = (both[..., n:] - np.arange(m)) / n
    least = 1 / (n * m) ** 2
    parts = [
        np.maximum(placed.var(-1, ddof=1) / placed.shape[-1], least) / tasks**2
        for placed in (above, below)
    ]
    return (above.mean((1, 2)), *_satterthwaite(parts, [n - 1.0, m - 1.0]))


def _satterthwaite(parts: list[Array], sizes: list[float]) -> tuple[Array, Array]:
    """Standard error and degrees of freedom, from one variance a task and arm."""
    total = sum(part.sum(-1) for part in parts)
    weights = sum((part**2).sum(-1) / df for part, df in zip(parts, sizes, strict=True))
    return np.sqrt(total), np.asarray(total**2 / weights)


KERNELS: dict[Aggregate, Kernel] = {
    "mean": _means,
    "iqm": _interquartile_means,
    "improvement": _improvement,
}


def _means_of_seeds(a: Array, b: Array) -> tuple[Array, Array, Array]:
    return _means(a.mean(1, keepdims=True), b.mean(1, keepdims=True))


def _interquartile_means_of_seeds(a: Array, b: Array) -> tuple[Array, Array, Array]:
    cut, tasks = a.shape[1] // 4, a.shape[1]
    return _means_of_seeds(*(np.sort(arm, axis=1)[:, cut : tasks - cut] for arm in (a, b)))


def _mean_ranks_of_seeds(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Ranks from 0 among both arms, as shares of their number; values are never equal."""
    n, m = a.shape[-1], b.shape[-1]
    ranks = np.argsort(np.argsort(np.concatenate((a, b), axis=-1), axis=-1), axis=-1).mean(1)
    first, second = ranks[:, :n] / (n + m), ranks[:, n:] / (n + m)
    parts = [
        np.maximum(arm.var(-1, ddof=1, keepdims=True) / arm.shape[-1], 1 / (n * m) ** 2)
        for arm in (first, second)
    ]
    effect = 0.5 + first.mean(-1) - second.mean(-1)
    return (effect, *_satterthwaite(parts, [n - 1.0, m - 1.0]))


BY_SEED: dict[Aggregate, Kernel] = {
    "mean": _means_of_seeds,
    "iqm": _interquartile_means_of_seeds,
    "improvement": _mean_ranks_of_seeds,
}
"""The same where the seed is the unit."""
