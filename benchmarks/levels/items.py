"""Nulls of two models on the same items: scores, answers, clusters of items, several seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import bdtr

from benchmarks.levels.cells import Array, Cell, Data, Mask, Outcome, Rule, Setup, noise
from benchmarks.levels.means import rare_p
from repro.expectations.decision_rules import conclude_difference
from repro.expectations.verdict_words import Finding
from repro.stats.item_scores import items_crossed, items_t, mcnemar, paired_items
from repro.stats.records import Sample, Scored

EQUAL = (5,)
UNEQUAL = (1, 2, 4, 8, 16)
"""Items of the clusters, in turn."""

LARGE = (50, 50)
"""Items of the two clusters that hold most, where every other has one."""

APART = {
    "often apart": (0.2, 0.2),
    "seldom apart": (0.04, 0.04),
    "unequally hard": (0.02, 0.6),
}
"""The share of items that one of two equally good models alone has right: of the first, and last.
"""


def scores(cell: Cell, *, spread: float = 1.0, step: float = 0.0, shift: float = 0.0) -> Setup:
    """No difference of scores, item by item, but for a ``shift`` of all.

    The last item has ``spread`` times the deviation of the first; scores are multiples of ``step``.
    """
    sd = np.geomspace(1.0, spread, cell.n)

    def draw(rng: np.random.Generator, draws: int) -> Data:
        values = sd * noise(rng, cell.distribution, (draws, cell.n)) + shift
        return (step * np.rint(values / step) if step else values,)

    return Setup(_by_t(cell.alpha, (), cell.n), draw, shift)


def answers(test: str, apart: tuple[float, float], cell: Cell) -> Setup:
    """Items are right or wrong, and each model is alone right on as many of them.

    ``apart`` are the shares of the first and of the last item; those between lie between.
    """
    shares = np.linspace(*apart, cell.n)

    def draw(rng: np.random.Generator, draws: int) -> Data:
        chance = rng.random((draws, cell.n))
        return ((chance < shares / 2).astype(float) - (chance > 1 - shares / 2),)

    rule = _by_mcnemar(cell.alpha) if test == "mcnemar" else _by_t(cell.alpha, (), cell.n)
    return Setup(rule, draw, 0.0)


def apart(count: int, share: float, cell: Cell) -> Setup:
    """``count`` of ``n`` items that one model alone has right, the first of so large a share."""

    def draw(rng: np.random.Generator, draws: int) -> Data:
        won = np.where(rng.random((draws, count)) < share, 1.0, -1.0)
        return (np.concatenate([won, np.zeros((draws, cell.n - count))], axis=1),)

    return Setup(_by_mcnemar(cell.alpha), draw)


def clusters(sizes: Sequence[int], cell: Cell, shift: float = 0.0) -> Setup:
    """No difference of scores but a ``shift``; half of their variance is that of ``n`` clusters."""
    of = [sizes[place % len(sizes)] for place in range(cell.n)]

    def draw(rng: np.random.Generator, draws: int) -> Data:
        shared = np.repeat(noise(rng, cell.distribution, (draws, cell.n)), of, axis=1)
        return (shared + noise(rng, cell.distribution, (draws, sum(of))) + shift,)

    return Setup(_by_t(cell.alpha, of, sum(of)), draw, shift)


def two_large_clusters(cell: Cell) -> Setup:
    """The same where two clusters hold most items."""
    return clusters((*LARGE, *(cell.n - len(LARGE)) * (1,)), cell)


def _arms(row: Data, of: Sequence[int]) -> tuple[Sample, Sample]:
    """Items with these differences: the values of A, against B's."""
    names = np.repeat(np.arange(len(of)), of) if of else None
    both = np.maximum(row[0], 0.0), np.maximum(-row[0], 0.0)
    parts = (
        tuple(
            Scored(str(item), "" if names is None else str(names[item]), 0, float(value))
            for item, value in enumerate(values)
        )
        for values in both
    )
    a, b = (Sample((float(v.mean()),), (0,), parts=p) for v, p in zip(both, parts, strict=True))
    return a, b


def _by_t(alpha: float, of: Sequence[int], items: int) -> Rule:
    starts = np.cumsum([0, *of[:-1]])
    share = np.array(of) / items

    def statistics(data: Data, at: float) -> tuple[Array, Array]:
        (values,) = data
        mean = values.mean(-1, keepdims=True)
        if of:
            sums = np.add.reduceat(values - mean, starts, axis=1)
            se = np.sqrt((sums**2 / (1 - share)).sum(-1)) / items
        else:
            se = values.std(-1, ddof=1) / math.sqrt(items)
        se[np.ptp(values, -1) == 0] = np.inf  # no test of differences that all agree
        return (mean[:, 0] - at) / se, np.full(len(values), _degrees(share, items))

    def judge(row: Data) -> Finding:
        result = items_t(paired_items(*_arms(row, of)), alternative="two-sided", alpha=alpha)
        return conclude_difference(result, direction="higher")

    return _two_sided(alpha, statistics, judge)


def _two_sided(
    alpha: float,
    statistics: Callable[[Data, float], tuple[Array, Array]],
    judge: Callable[[Data], Finding],
) -> Rule:
    """By the t of each draw against a value, with its degrees of freedom."""

    def decide(data: Data) -> Outcome:
        t, df = statistics(data, 0.0)
        up, down = (rare_p(side, df, alpha / 2) <= alpha / 2 for side in (t, -t))
        return Outcome(up, down)

    def covers(data: Data, truth: float) -> Mask:
        t, df = statistics(data, truth)
        return np.asarray(rare_p(np.abs(t), df, alpha / 2) >= alpha / 2)

    return Rule(decide, judge, covers)


def _degrees(share: Array, items: int) -> float:
    """Bell and McCaffrey's: traces of what the errors of the clusters have in common."""
    if not len(share):
        return items - 1.0
    rows = np.repeat(np.eye(len(share)), np.rint(share * items).astype(int), axis=1)
    left = rows - share[:, None] @ np.ones((1, items))
    left /= np.sqrt(1 - share)[:, None]
    gram = left @ left.T
    return float(np.trace(gram) ** 2 / np.sum(gram**2))


def _by_mcnemar(alpha: float) -> Rule:
    def judge(row: Data) -> Finding:
        result = mcnemar(paired_items(*_arms(row, ())), alternative="two-sided", alpha=alpha)
        return conclude_difference(result, direction="higher")

    def decide(data: Data) -> Outcome:
        won, lost = (data[0] > 0).sum(-1), (data[0] < 0).sum(-1)
        apart = won + lost
        up, down = (2 * bdtr(few, apart, 0.5) <= alpha for few in (lost, won))
        return Outcome(up & (apart > 0), down & (apart > 0))

    return Rule(decide, judge)


CROSSED = 30
"""Items that every run answers."""

SCATTER = {"seeds": 1.0, "items": 5.0}
"""What most of the variance is of, by the sd of an item and of an answer over that of a seed."""


def seeds(scatter: float, cell: Cell) -> Setup:
    """Two methods alike on average, whose seeds are crossed with ``CROSSED`` items."""
    sizes = ((cell.n, cell.sd_ratio), (cell.n_others, 1.0))

    def draw(rng: np.random.Generator, draws: int) -> Data:
        arms = []
        for size, sd in sizes:
            runs = sd * noise(rng, cell.distribution, (draws, size, 1))
            items = scatter * rng.standard_normal((draws, 1, CROSSED))
            rest = scatter * rng.standard_normal((draws, size, CROSSED))
            arms.append((runs + items + rest).reshape(draws, -1))
        return tuple(arms)

    def statistics(data: Data, at: float) -> tuple[Array, Array]:
        arms = [values.reshape(len(values), -1, CROSSED) for values in data]
        difference = arms[0].mean(1) - arms[1].mean(1)
        parts, rest = [(difference.var(-1, ddof=1) / CROSSED, CROSSED - 1)], 0.0
        for arm in arms:
            by_run, runs = arm.mean(2, keepdims=True), arm.shape[1]
            left = arm - by_run - arm.mean(1, keepdims=True) + arm.mean((1, 2), keepdims=True)
            parts.append((by_run[:, :, 0].var(-1, ddof=1) / runs, runs - 1))
            rest = rest + (left**2).mean((1, 2)) / ((runs - 1) * (CROSSED - 1))
        of_seeds = parts[1][0] + parts[2][0]
        variance = np.maximum.reduce([parts[0][0] + of_seeds - rest, parts[0][0], of_seeds])
        df = variance**2 / sum(part**2 / size for part, size in parts)
        return (difference.mean(-1) - at) / np.sqrt(variance), df

    def judge(row: Data) -> Finding:
        a, b = (_runs(values.reshape(-1, CROSSED)) for values in row)
        result = items_crossed(a, b, alternative="two-sided", alpha=cell.alpha)
        return conclude_difference(result, direction="higher")

    return Setup(_two_sided(cell.alpha, statistics, judge), draw, 0.0)


def _runs(table: Array) -> Sample:
    """An arm with a run per row and an item per column."""
    parts = (Scored(str(item), "", run, float(x)) for (run, item), x in np.ndenumerate(table))
    return Sample(tuple(map(float, table.mean(1))), tuple(range(len(table))), parts=tuple(parts))
