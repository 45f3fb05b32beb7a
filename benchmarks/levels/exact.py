"""Rules that count: separation, a bound with a share, the sign test, with clusters or without."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import bdtr, bdtrc

from benchmarks.levels.cells import Array, Data, Mask, Outcome, Rule
from benchmarks.levels.means import sample
from repro.expectations.decision_rules import by_interval, by_p
from repro.expectations.verdict_words import Finding
from repro.stats.counts import clopper_pearson, paired_outcomes, share
from repro.stats.ranks import separation

CLUSTER = 3
"""Units in a cluster: an odd number, so that without ties no cluster is undecided."""


def separated(alpha: float) -> Rule:
    """Every replicate of A above every replicate of B; refused where that proves nothing."""

    def judge(row: Data) -> Finding:
        a, b = sample(row[0]), sample(row[1])
        return by_p(separation(a, b, direction="higher", alpha=alpha))

    def decide(data: Data) -> Outcome:
        a, b = data
        possible = 1 / math.comb(a.shape[-1] + b.shape[-1], a.shape[-1]) <= alpha
        up, down = a.min(-1) > b.max(-1), b.min(-1) > a.max(-1)
        return Outcome(up & possible, down & possible)

    return Rule(decide, judge)


def share_within(limit: float, of: float, alpha: float) -> Rule:
    """More than the share ``of`` of all replicates is at most ``limit``."""

    def judge(row: Data) -> Finding:
        return by_interval(
            share(sample(row[0]), of=of, at_most=limit, alpha=alpha), edge_is_claimed=True
        )

    def inside(data: Data) -> tuple[Array, int]:
        return np.sum(data[0] <= limit, axis=-1), data[0].shape[-1]

    def decide(data: Data) -> Outcome:
        k, n = inside(data)
        lows, highs = _clopper_pearson(n, 1 - 2 * alpha)
        return Outcome(lows[k] > of, highs[k] < of)

    def covers(data: Data, truth: float) -> Mask:
        k, n = inside(data)
        lows, highs = _clopper_pearson(n, 1 - 2 * alpha)
        return np.asarray((lows[k] <= truth) & (truth <= highs[k]))

    return Rule(decide, judge, covers)


def wins(more_than: float, alpha: float) -> Rule:
    """A beats B in more than a share of the units; no ties."""

    def judge(row: Data) -> Finding:
        a, b = sample(row[0]), sample(row[1])
        return by_p(paired_outcomes(a, b, more_than=more_than, alpha=alpha))

    def decide(data: Data) -> Outcome:
        n = data[0].shape[-1]
        possible = min(more_than, 1 - more_than) ** n <= alpha
        k = np.arange(n + 1)
        p = np.where(k > 0, bdtrc(k - 1, n, more_than), 1.0)
        count = np.sum(data[0] > data[1], axis=-1)
        return Outcome(
            (p <= alpha)[count] & possible, (bdtr(k, n, more_than) <= alpha)[count] & possible
        )

    def covers(data: Data, truth: float) -> Mask:
        n = data[0].shape[-1]
        lows, highs = _clopper_pearson(n, 1 - 2 * alpha)
        count = np.sum(data[0] > data[1], axis=-1)
        return np.asarray((lows[count] <= truth) & (truth <= highs[count]))

    return Rule(decide, judge, covers)


def clustered_wins(alpha: float) -> Rule:
    """The same for one half, where each ``CLUSTER`` units in a row belong together."""

    def judge(row: Data) -> Finding:
        a, b = sample(row[0]), sample(row[1])
        clusters = [unit // CLUSTER for unit in range(a.n)]
        return by_p(paired_outcomes(a, b, clusters=clusters, alpha=alpha))

    def decide(data: Data) -> Outcome:
        signs = np.where(data[0] > data[1], 1, -1)
        sums = signs.reshape(len(signs), -1, CLUSTER).sum(-1)
        count = sums.shape[-1]
        large = np.sum(np.abs(sums) == CLUSTER, axis=-1)
        possible = 0.5**count <= alpha
        total = sums.sum(-1)
        up = _flips(count)[large, total + CLUSTER * count] <= alpha
        down = _flips(count)[large, CLUSTER * count - total] <= alpha
        return Outcome(up & possible, down & possible)

    return Rule(decide, judge)


@lru_cache(maxsize=64)
def _clopper_pearson(n: int, level: float) -> tuple[Array, Array]:
    ends = [clopper_pearson(k, n, level=level) for k in range(n + 1)]
    return np.array([one.low for one in ends]), np.array([one.high for one in ends])


@lru_cache(maxsize=64)
def _flips(count: int) -> Array:
    """The chance of a sum at least so large, by how many of the clusters are unanimous.

    Row: unanimous clusters (their sum is 3 in size, that of the others 1); column: the sum,
    shifted so that the smallest is 0.
    """
    rows = []
    for large in range(count + 1):
        chances = np.zeros(2 * CLUSTER * count + 1)
        chances[CLUSTER * count] = 1.0
        for step in [CLUSTER] * large + [1] * (count - large):
            chances = (np.roll(chances, step) + np.roll(chances, -step)) / 2
        rows.append(np.cumsum(chances[::-1])[::-1])
    return np.array(rows)
