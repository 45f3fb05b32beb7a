"""Rules about points: correlations, their size, and trends and orders of several arms."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations, permutations
from typing import Literal

import numpy as np
from scipy.special import ndtr

from benchmarks.levels.cells import Array, Data, Mask, Outcome, Rule
from benchmarks.levels.means import p_above, rare_p, sample, welch_kernel
from repro.expectations.decision_rules import by_p, by_sign
from repro.expectations.verdict_words import Finding
from repro.stats.coefficients import (
    PERFECT,
    Method,
    concordance,
    correlate,
    p_beyond,
    p_within,
    standard_error,
)
from repro.stats.coefficients import p_above as z_above
from repro.stats.correlation import MOST_PERMUTED, association, magnitude, p_by_student
from repro.stats.trends import (
    TrendTest,
    jonckheere,
    jonckheere_p,
    largest_holm,
    linear_trend,
    ordering,
    slope_weights,
    smallest_holm,
    trend,
)

Sign = Literal["positive", "different"]


def associated(method: Method, sign: Sign, alpha: float) -> Rule:
    """Two variables go together; ``alpha`` is two-sided."""

    def judge(row: Data) -> Finding:
        x, y = sample(row[0]), sample(row[1])
        result = association(x, y, method=method, direction=sign, alpha=alpha)
        claimed = {"positive": 1, "negative": -1, "different": None}[sign]
        return by_sign(result, sign=claimed)

    def decide(data: Data) -> Outcome:
        r = correlate(data[0], data[1], method)
        found = _p_of_association(r, data, method) <= alpha
        if sign == "different":
            return Outcome(found, np.zeros(len(r), bool))
        return Outcome(found & (r > 0), found & (r < 0))

    def covers(data: Data, truth: float) -> Mask:
        r = np.clip(correlate(data[0], data[1], method), -PERFECT, PERFECT)
        n = data[0].shape[-1]
        spread = np.vectorize(lambda one: standard_error(method, n, one))(r)
        z = np.abs(np.arctanh(r) - math.atanh(truth)) / spread
        return np.asarray(ndtr(-z) >= alpha / 2)

    return Rule(decide, judge, covers)


def size(method: Method, side: Literal["at_most", "at_least"], bound: float, alpha: float) -> Rule:
    """The size of the coefficient is below, or above, a bound; ``alpha`` is one-sided."""

    def judge(row: Data) -> Finding:
        x, y = sample(row[0]), sample(row[1])
        if side == "at_most":
            return by_p(magnitude(x, y, method=method, at_most=bound, alpha=alpha))
        return by_p(magnitude(x, y, method=method, at_least=bound, alpha=alpha))

    def decide(data: Data) -> Outcome:
        r, n = correlate(data[0], data[1], method), data[0].shape[-1]
        refused = np.abs(r) >= PERFECT
        r = np.clip(r, -PERFECT, PERFECT)
        inside = (p_within(r, n, bound, method) <= alpha) & ~refused
        beyond = (p_beyond(r, n, bound, method) <= alpha) & ~refused
        return Outcome(inside, beyond) if side == "at_most" else Outcome(beyond, inside)

    def covers(data: Data, truth: float) -> Mask:
        r = np.clip(correlate(data[0], data[1], method), -PERFECT, PERFECT)
        p = z_above(r, data[0].shape[-1], truth, method)
        return (p >= alpha) & (p <= 1 - alpha)

    return Rule(decide, judge, covers)


def rising(test: TrendTest, alpha: float) -> Rule:
    """Values rise from arm to arm."""

    def judge(row: Data) -> Finding:
        groups = [sample(one) for one in row]
        return by_p(trend(groups, direction="increasing", test=test, alpha=alpha))

    def decide(data: Data) -> Outcome:
        sizes = tuple(one.shape[-1] for one in data)
        values = np.concatenate(data, axis=-1)
        if test == "jonckheere":
            up, down = jonckheere_p(jonckheere(values, sizes), sizes)
        else:
            up, down = _kendall_trend(values, sizes)
        return Outcome(up <= alpha, down <= alpha)

    return Rule(decide, judge)


def sloping(alpha: float) -> Rule:
    """The means rise along the arms: the slope of the line through them, Welch."""

    def judge(row: Data) -> Finding:
        groups = [sample(one) for one in row]
        return by_p(linear_trend(groups, direction="increasing", alpha=alpha))

    def moments(data: Data) -> tuple[Array, Array, Array]:
        effect = total = square = np.zeros(len(data[0]))
        for weight, arm in zip(slope_weights(len(data)), data, strict=True):
            part = weight**2 * arm.var(-1, ddof=1) / arm.shape[-1]
            effect = effect + weight * arm.mean(-1)
            total, square = total + part, square + part**2 / (arm.shape[-1] - 1)
        return effect, np.sqrt(total), total**2 / square

    def decide(data: Data) -> Outcome:
        effect, se, df = moments(data)
        t = effect / se
        return Outcome(rare_p(t, df, alpha) <= alpha, rare_p(-t, df, alpha) <= alpha)

    def covers(data: Data, truth: float) -> Mask:
        effect, se, df = moments(data)
        return np.asarray(p_above(np.abs(effect - truth) / se, df) >= alpha)

    return Rule(decide, judge, covers)


def ordered(alpha: float) -> Rule:
    """Every arm lies above each one before it."""

    def judge(row: Data) -> Finding:
        groups = [sample(one) for one in row]
        return by_p(ordering(groups, direction="increasing", alpha=alpha))

    def decide(data: Data) -> Outcome:
        up, down = [], []
        for i, j in combinations(range(len(data)), 2):
            effect, se, df = welch_kernel(data[j], data[i])
            up.append(rare_p(effect / se, df, alpha))
            down.append(rare_p(-effect / se, df, alpha))
        reverse = smallest_holm(np.stack(down, axis=-1)) <= alpha
        return Outcome(largest_holm(np.stack(up, axis=-1)) <= alpha, reverse)

    return Rule(decide, judge)


def _p_of_association(r: Array, data: Data, method: Method) -> Array:
    n = data[0].shape[-1]
    if method == "kendall":
        return _kendall_p(concordance(data[0], data[1]), n)
    if method == "spearman" and n <= MOST_PERMUTED:
        sums = np.rint((1 - r) * n * (n * n - 1) / 6).astype(int)  # of squared differences
        if 2 / math.factorial(n) > 0.5:
            return np.ones(len(r))
        return np.asarray(_spearman_null(n)[sums])
    return p_by_student(r, n)


def _kendall_p(s: Array, n: int) -> Array:
    """Exact two-sided p of Kendall's S without ties (Kendall 1970: counts of inversions)."""
    chances = np.ones(1)
    for m in range(2, n + 1):
        chances = np.convolve(chances, np.ones(m) / m)
    pairs = n * (n - 1) // 2
    concordant = np.rint((s + pairs) / 2).astype(int)
    fewer = np.minimum(concordant, pairs - concordant)
    return np.asarray(np.minimum(2 * np.cumsum(chances)[fewer], 1.0))


@lru_cache(maxsize=8)
def _spearman_null(n: int) -> Array:
    """Two-sided p of Spearman's coefficient, by the sum of squared differences of ranks."""
    ranks = np.arange(n)
    sums = np.sum((np.array(list(permutations(range(n)))) - ranks) ** 2, axis=-1)
    largest = n * (n * n - 1) // 3
    counts = np.bincount(sums, minlength=largest + 1) / len(sums)
    fewer, more = np.cumsum(counts), np.cumsum(counts[::-1])[::-1]
    return np.asarray(np.minimum(2 * np.minimum(fewer, more), 1.0))


def _kendall_trend(values: Array, sizes: tuple[int, ...]) -> tuple[Array, Array]:
    """One-sided normal p of Kendall's S of the values with the number of the arm.

    The variance is that of ties in one variable only (Kendall 1970, chapter 4).
    """
    index = np.repeat(np.arange(len(sizes)), sizes).astype(float)
    s = concordance(np.broadcast_to(index, values.shape), values)
    n = sum(sizes)
    spread = n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in sizes)
    z = s / math.sqrt(spread / 18)
    return np.asarray(ndtr(-z)), np.asarray(ndtr(z))
