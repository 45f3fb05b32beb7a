"""Rules about the scatter of two arms, and the arms at the boundary of their null."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy.special import fdtr, fdtrc

from benchmarks.levels.cells import Array, Cell, Data, Mask, Outcome, Rule, Setup
from benchmarks.levels.means import p_above, rare_p, sample
from benchmarks.levels.nulls import arms
from benchmarks.levels.pairs import pairs
from repro.expectations.decision_rules import by_interval
from repro.expectations.verdict_words import Finding
from repro.stats.spreads import TESTS

TestOfSpread = Literal["levene", "f"]


def at_least(test: TestOfSpread, ratio: float, alpha: float, *, paired: bool = False) -> Rule:
    """A scatters at least so many times as much as B."""

    def judge(row: Data) -> Finding:
        a, b = map(sample, row)
        result = TESTS[test](a, b, low=ratio, alpha=alpha, paired=paired)
        return by_interval(result, edge_is_claimed=True)

    def tails(data: Data, k: float) -> tuple[Array, Array]:
        a, b = data
        if test == "f":
            squared = a.var(-1, ddof=1) / (k**2 * b.var(-1, ddof=1))
            df = a.shape[-1] - 1, b.shape[-1] - 1
            return np.asarray(fdtrc(*df, squared)), np.asarray(fdtr(*df, squared))
        lowest, highest, df_t = _statistics(a, b, k, paired=paired)
        return rare_p(lowest, df_t, alpha), rare_p(-highest, df_t, alpha)

    def decide(data: Data) -> Outcome:
        above, below = tails(data, ratio)
        return Outcome(above < alpha, below < alpha)

    def covers(data: Data, truth: float) -> Mask:
        if test == "levene":
            lowest, highest, df = _statistics(data[0], data[1], truth, paired=paired)
            return (p_above(lowest, df) >= alpha) & (p_above(-highest, df) >= alpha)
        above, below = tails(data, truth)
        return np.asarray((above >= alpha) & (below >= alpha))

    return Rule(decide, judge, covers)


def _statistics(a: Array, b: Array, k: float, *, paired: bool) -> tuple[Array, Array, Array]:
    """Lowest t of any ratio up to ``k``, highest of any from ``k`` on, and degrees of freedom.

    t is Student's of the absolute deviations from the medians.
    """
    far_a, far_b = (np.abs(x - np.median(x, axis=-1, keepdims=True)) for x in (a, b))
    n_a, n_b = a.shape[-1], b.shape[-1]
    if paired:
        return *_turning(far_a, far_b, k), np.full(len(a), n_a - 1.0)
    far_b = k * far_b
    df = n_a + n_b - 2
    pooled = (n_a * far_a.var(-1) + n_b * far_b.var(-1)) / df * (1 / n_a + 1 / n_b)
    t = (far_a.mean(-1) - far_b.mean(-1)) / np.sqrt(pooled)
    return t, t, np.full(len(a), float(df))


def _turning(a: Array, b: Array, k: float) -> tuple[Array, Array]:
    """As ``_statistics``, of pairs, where t may rise before it falls."""

    def t(ratio: Array) -> Array:
        gap = a - ratio[:, None] * b
        return np.asarray(gap.mean(-1) / (gap.std(-1, ddof=1) / math.sqrt(a.shape[-1])))

    (mean_a, mean_b), cov = (a.mean(-1), b.mean(-1)), _covariance(a, b)
    turn = (mean_b * _covariance(a, a) - mean_a * cov) / (mean_b * cov - mean_a * _covariance(b, b))
    at = t(np.full(len(a), k))
    at_turn = t(np.where(turn > 0, turn, k))
    from_zero, to_infinity = t(np.zeros(len(a))), t(np.full(len(a), 1e9))
    lowest = np.minimum(np.minimum(from_zero, at), np.where(turn <= k, at_turn, np.inf))
    highest = np.maximum(np.maximum(to_infinity, at), np.where(turn >= k, at_turn, -np.inf))
    return lowest, highest


def _covariance(a: Array, b: Array) -> Array:
    far_a, far_b = (x - x.mean(-1, keepdims=True) for x in (a, b))
    return np.asarray((far_a * far_b).mean(-1))


def boundary(test: TestOfSpread, cell: Cell) -> Setup:
    """The ratio of standard deviations is the limit."""
    rule = at_least(test, cell.sd_ratio, cell.alpha)
    return Setup(rule, arms(cell, 0.0, 0.0), cell.sd_ratio)


def boundary_of_pairs(cell: Cell) -> Setup:
    """Both arms of a pair scatter alike."""
    return Setup(at_least("levene", 1.0, cell.alpha, paired=True), pairs(cell, 0.0), 1.0)
