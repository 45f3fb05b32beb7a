"""Rules about one arm and a constant: its mean, with a scatter estimated or known; its median."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import bdtr, bdtrc, ndtr

from benchmarks.levels.cells import Array, Data, Mask, Outcome, Rule
from benchmarks.levels.means import p_above, rare_p, sample
from repro.expectations.decision_rules import by_interval, by_p
from repro.expectations.verdict_words import Finding
from repro.schema.value_scale import ValueScale
from repro.stats.bounded_mean import p_of_shares
from repro.stats.one_sample import mean_level, mean_level_known_sd, median_level


def mean(limit: float, alpha: float) -> Rule:
    """The mean is at least ``limit``."""

    def judge(row: Data) -> Finding:
        result = mean_level(sample(row[0]), side="at_least", limit=limit, alpha=alpha)
        return by_interval(result, edge_is_claimed=True)

    def statistics(data: Data, at: float) -> tuple[Array, Array]:
        (values,) = data
        se = values.std(-1, ddof=1) / math.sqrt(values.shape[-1])
        se[np.ptp(values, -1) == 0] = np.inf  # no test of values that all agree
        return (values.mean(-1) - at) / se, np.full(len(values), values.shape[-1] - 1.0)

    def decide(data: Data) -> Outcome:
        t, df = statistics(data, limit)
        return Outcome(rare_p(t, df, alpha) < alpha, rare_p(-t, df, alpha) < alpha)

    def covers(data: Data, truth: float) -> Mask:
        t, df = statistics(data, truth)
        return p_above(np.abs(t), df) >= alpha

    return Rule(decide, judge, covers)


def mean_known_sd(limit: float, sd: float, alpha: float) -> Rule:
    """The mean is at least ``limit``, where ``sd`` is known and not estimated."""

    def judge(row: Data) -> Finding:
        result = mean_level_known_sd(
            sample(row[0]), sd=sd, side="at_least", limit=limit, alpha=alpha
        )
        return by_interval(result, edge_is_claimed=True)

    def statistic(data: Data, at: float) -> Array:
        (values,) = data
        return np.asarray((values.mean(-1) - at) / (sd / math.sqrt(values.shape[-1])))

    def decide(data: Data) -> Outcome:
        z = statistic(data, limit)
        return Outcome(ndtr(-z) < alpha, ndtr(z) < alpha)

    def covers(data: Data, truth: float) -> Mask:
        return np.asarray(ndtr(-np.abs(statistic(data, truth))) >= alpha)

    return Rule(decide, judge, covers)


def items(count: int, limit: float, alpha: float) -> Rule:
    """The mean is at least ``limit``, of values that are shares of ``count`` items."""
    scale = ValueScale(0, 1, count)

    def judge(row: Data) -> Finding:
        result = mean_level(sample(row[0]), side="at_least", limit=limit, alpha=alpha, scale=scale)
        return by_p(result) if result.exact else by_interval(result, edge_is_claimed=True)

    def decide(data: Data) -> Outcome:
        above, below = p_of_shares(data[0], count, limit)
        return Outcome(above <= alpha, below <= alpha)

    def covers(data: Data, truth: float) -> Mask:
        above, below = p_of_shares(data[0], count, truth)
        return np.asarray((above >= alpha) & (below >= alpha))

    return Rule(decide, judge, covers)


def median(limit: float, alpha: float) -> Rule:
    """The median is at least ``limit``."""

    def judge(row: Data) -> Finding:
        return by_p(median_level(sample(row[0]), side="at_least", limit=limit, alpha=alpha))

    def chances(above: Array, n: int) -> Array:
        return np.asarray(np.where(above > 0, bdtrc(above - 1.0, n, 0.5), 1.0))

    def decide(data: Data) -> Outcome:
        (values,) = data
        n = values.shape[-1]
        above, below = np.sum(values >= limit, -1), np.sum(values < limit, -1)
        return Outcome(chances(above, n) <= alpha, chances(below, n) <= alpha)

    def covers(data: Data, truth: float) -> Mask:
        values = np.sort(data[0], axis=-1)
        n = values.shape[-1]
        outside = next(k for k in range(n) if bdtr(k, n, 0.5) > alpha)
        return np.asarray((values[:, outside - 1] <= truth) & (truth <= values[:, n - outside]))

    return Rule(decide, judge, covers)
