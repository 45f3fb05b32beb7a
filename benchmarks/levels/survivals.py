"""The log-rank test of arms that are alike, or of pairs; two fifths are beyond the budget."""

from __future__ import annotations

import itertools
import math
from typing import Literal

import numpy as np

from benchmarks.levels.cells import SEED, Array, Cell, Data, Mask, Outcome, Rule, Setup, noise
from benchmarks.levels.means import sample, welch_kernel, within
from benchmarks.levels.nulls import arms, quantile
from repro.expectations.decision_rules import by_p
from repro.expectations.verdict_words import Finding
from repro.stats.records import Alternative
from repro.stats.survival import log_rank

LATE = 20.0
"""Where the times lie, in standard deviations: far enough from 0 for all to be above it."""

SHARE = 0.6
"""The share of runs that get there."""

MOST = 1000
"""So many splits are tried; the test itself tries more."""

ALL_EXCHANGES = 10
"""Of so many pairs, or fewer, all exchanges are tried."""


def scores(times: Array, at: float) -> Array:
    """Those of ``log_rank_scores``, row by row, for times without ties below ``at``."""
    n = times.shape[-1]
    order = np.argsort(times, axis=-1)
    reached = np.take_along_axis(times, order, -1) < at
    found = np.empty_like(times)
    hazard = np.cumsum(reached / (n - np.arange(n)), axis=-1)
    np.put_along_axis(found, order, reached - hazard, -1)
    return found


def splits(n_a: int, n: int) -> Array:
    """One column per split, with 1 for a member of the first arm: all of them, or a thousand."""
    if math.comb(n, n_a) <= MOST:
        rows = [np.isin(range(n), chosen) for chosen in itertools.combinations(range(n), n_a)]
        return np.array(rows, dtype=float).T
    order = np.random.default_rng(SEED).permuted(np.tile(np.arange(n), (MOST - 1, 1)), axis=1)
    return np.concatenate([np.arange(n)[None, :] < n_a, order < n_a]).T.astype(float)


def signs(n: int) -> Array:
    """One column per exchange within ``n`` pairs: all of up to ten pairs, or a thousand."""
    if n <= ALL_EXCHANGES:
        return np.array(list(itertools.product((1.0, -1.0), repeat=n))).T
    drawn = np.random.default_rng(SEED).choice((1.0, -1.0), (n, MOST))
    drawn[:, 0] = 1.0
    return np.asarray(drawn)


def p_of_sums(scores: Array, orders: Array) -> tuple[Array, Array]:
    """One-sided p of a high, and of a low, sum of each row in the first of these orders."""
    tails = []
    for part in np.array_split(scores, -(-len(scores) // 500)):
        sums = part @ orders
        seen = sums[:, :1]
        tails.append([np.mean(sums >= seen - 1e-9, -1), np.mean(sums <= seen + 1e-9, -1)])
    higher, lower = np.concatenate(tails, axis=-1)
    return higher, lower


def there(
    direction: Literal["sooner", "later"], at: float, alpha: float, *, paired: bool = False
) -> Rule:
    """The first arm is there sooner, or later."""
    first = direction == "sooner"

    def judge(row: Data) -> Finding:
        a, b = map(sample, row)
        alternative: Alternative = "less" if first else "greater"
        result = log_rank(a, b, at=at, alternative=alternative, alpha=alpha, paired=paired)
        return by_p(result)

    def decide(data: Data) -> Outcome:
        a, b = data
        n_a = a.shape[-1]
        both = scores(np.concatenate([a, b], axis=-1), at)
        if paired:
            higher, lower = p_of_sums(both[:, :n_a] - both[:, n_a:], signs(n_a))
        else:
            higher, lower = p_of_sums(both, splits(n_a, both.shape[-1]))
        found = higher <= alpha, lower <= alpha
        return Outcome(*(found if first else found[::-1]))

    def covers(data: Data, truth: float) -> Mask:
        a, b = (np.minimum(each, at) for each in data)
        if paired:
            a, b = a - b, np.zeros_like(b)
        varies = (np.ptp(a, axis=-1) > 0) | (np.ptp(b, axis=-1) > 0)
        held = np.ones(len(a), dtype=bool)
        held[varies] = within(welch_kernel, 1 - 2 * alpha)((a[varies], b[varies]), truth)
        return held

    return Rule(decide, judge, covers)


def alike(cell: Cell) -> Setup:
    """Times of one distribution."""
    at = LATE + quantile(cell.distribution, SHARE)
    return Setup(there("sooner", at, cell.alpha), arms(cell, LATE, LATE), 0.0)


def pairs_alike(cell: Cell) -> Setup:
    """Times of one distribution, of which half of the variance is that of the pair."""
    at = LATE + quantile(cell.distribution, SHARE)

    def draw(rng: np.random.Generator, draws: int) -> Data:
        shared = noise(rng, cell.distribution, (draws, cell.n))
        a, b = arms(cell, LATE, LATE)(rng, draws)
        return a + shared, b + shared

    return Setup(there("sooner", at, cell.alpha, paired=True), draw, 0.0)


def planned(
    n: int,
    reached: tuple[float, float],
    direction: Literal["sooner", "later"],
    *,
    paired: bool = False,
) -> Setup:
    """Shares of both arms in time, of hazards in a constant ratio that grow with time."""
    shape, at = 3.0, 5.0

    def draw(rng: np.random.Generator, draws: int) -> Data:
        a, b = (
            at * (rng.standard_exponential((draws, n)) / -math.log1p(-share)) ** (1 / shape)
            for share in reached
        )
        return a, b

    return Setup(there(direction, at, 0.05, paired=paired), draw)
