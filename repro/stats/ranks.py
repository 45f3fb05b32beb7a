"""Ranks and permutations: Brunner-Munzel, separation, what chance alone would have given."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from repro.errors import ClaimError, TooFewError
from repro.stats.coefficients import RESOLUTION, SPLITS_SEED
from repro.stats.contrast import (
    Contrast,
    difference_of_pairs,
    pair_differences,
    welch_contrast,
)
from repro.stats.records import (
    Alternative,
    Arm,
    Interval,
    Sample,
    TestResult,
    beyond,
    check_alpha,
    interval_level,
    levelled,
    match,
    p_values,
    require_sample,
    tails,
)

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Orders: TypeAlias = npt.NDArray[Any]
"""Ways to exchange values: one column each."""

MOST_SPLITS = 200_000
"""With no more splits than this all are tried (184,756 for ten and ten); else some are drawn."""

DRAWS = 99_999
"""Splits drawn where there are too many to try."""

_PARTS, _AT_ONCE = 8, 62_500  # orders are tried in parts, with so many statistics at once
INTERVAL_DIGITS = 8
"""Decimals of an interval that is cut at a statistic: it often ends at 1/2, to within round-off."""


def permutation(
    a: Arm, b: Arm, *, alternative: Alternative = "two-sided", alpha: float = 0.05
) -> TestResult:
    """Permutation test: is the difference of the means larger than splits at random give it?

    The statistic is Welch's t; exact only if the arms are alike but for their place (3:1
    standard deviations: level .067 at n = 5). Up to 200,000 splits all are tried; beyond, 99,999
    are drawn from a fixed seed and ``p = (b + 1) / (m + 1)``. Two-sided p is twice the smaller
    one-sided p; there is no interval. ``ClaimError`` for a summary, as for ``welch``, and where
    even the most extreme split could not reach ``alpha`` (3 and 3, two-sided: 0.10).
    Pitman 1937; Janssen 1997; Phipson & Smyth 2010; statistics.md 1.1, 2.2.
    """
    check_alpha(alpha)
    first, second = require_sample(a, "permutation"), require_sample(b, "permutation")
    contrast = welch_contrast(first, second)
    n, ways = (first.n, second.n), math.comb(first.n + second.n, first.n)
    refuse_few(*n, ways, alternative, alpha)
    x, y = sorted(first.values), sorted(second.values)
    sign = 1 if (len(x), x) <= (len(y), y) else -1  # one drawing for both orders of the arms
    fewer, more = (np.array([values]) for values in ((x, y) if sign == 1 else (y, x)))
    in_x = splits(fewer.size, sum(n))
    found = [float(welch_p(s * fewer, s * more, in_x)[0]) for s in (sign, -sign)]
    return _permuted("permutation", contrast, n, found, alternative, alpha, ways)


def _permuted(
    test: str,
    contrast: Contrast,
    n: tuple[int, int],
    found: Sequence[float],
    alternative: Alternative,
    alpha: float,
    ways: int,
) -> TestResult:
    """The result of ``ways`` to exchange, from the p of *greater* and of *less*."""
    p, p_opposite = p_values(alternative, *found)
    return TestResult(
        test=test,
        effect=contrast.effect,
        alpha=alpha,
        n=n,
        p=p,
        p_opposite=p_opposite,
        statistic=contrast.statistic(),
        alternative=alternative,
        paired=test == "paired_permutation",
        exact=ways <= MOST_SPLITS,
    )


def welch_p(x: Array, y: Array, in_x: Orders, *, most: float = 1.0) -> Array:
    """One-sided p of *x greater* by Welch's t, row by row: ``(R, n), (R, m) -> (R,)``.

    ``in_x`` (n + m, S) has the splits, as ``splits``; ``most`` as ``share_as_large``.
    """
    values = np.concatenate([x, y], axis=1)
    values = values - values.mean(axis=1, keepdims=True)
    return share_as_large(values, in_x, partial(_welch_of_splits, n=x.shape[1]), most=most)


def _welch_of_splits(values: Array, in_x: Orders, *, n: int) -> Array:
    """Welch's t of centred rows (R, N) in each split, with ``n`` values in x: ``(R, S)``."""
    m = len(in_x) - n
    sums, squares = values @ in_x, values**2 @ in_x
    total = (values**2).sum(axis=1, keepdims=True)
    mean_x, mean_y = sums / n, -sums / m
    variance_x = (squares - n * mean_x**2) / (n - 1)
    variance_y = (total - squares - m * mean_y**2) / (m - 1)
    error = np.sqrt(np.maximum(variance_x / n + variance_y / m, np.finfo(float).tiny))
    return np.asarray((mean_x - mean_y) / error)


def share_as_large(
    rows: Array,
    orders: Orders,
    statistic: Callable[[Array, Orders], Array] = np.matmul,
    *,
    most: float = 1.0,
) -> Array:
    """One-sided p of each row: the share of ``orders`` that give at least what the first gives.

    ``rows`` (R, n) are values, and ``orders`` (n, S) the ways to exchange them, a column each, of
    which the first is the one observed. ``statistic`` makes (R, S) of both: sums, unless given.
    Rows whose share exceeds ``most`` after a part of the orders go without the rest, so theirs is
    only known to exceed it.
    """
    parts = min(_PARTS, 1 + orders.shape[1] // 125)
    at_once = max(1, _AT_ONCE * parts // orders.shape[1])
    if len(rows) > at_once:
        blocks = np.array_split(rows, -(-len(rows) // at_once))
        return np.concatenate([share_as_large(r, orders, statistic, most=most) for r in blocks])
    observed = statistic(rows, orders[:, :1])
    least = observed - RESOLUTION * np.maximum(1.0, np.abs(observed))
    larger, left = np.ones(len(rows)), np.arange(len(rows))
    for part in np.array_split(orders[:, 1:], parts, axis=1):
        larger[left] += np.count_nonzero(statistic(rows[left], part) >= least[left], axis=1)
        left = left[larger[left] / orders.shape[1] <= most]
    return np.asarray(larger / orders.shape[1])


def splits(n_x: int, n: int) -> Orders:
    """The splits of ``n`` values that a test tries: ``(n, S)``, true for a member of x.

    Up to 200,000 all of them, else 99,999 from a fixed seed after the one observed, x first.
    """
    if math.comb(n, n_x) <= MOST_SPLITS:
        return every_split(n_x, n)
    rng = np.random.default_rng(SPLITS_SEED)
    in_x = np.zeros((DRAWS + 1, n), dtype=bool)
    in_x[0, :n_x] = True
    for part in np.array_split(in_x[1:], _PARTS):
        drawn = rng.permuted(np.tile(np.arange(n), (len(part), 1)), axis=1)
        np.put_along_axis(part, drawn[:, :n_x], values=True, axis=1)
    return in_x.T


def every_split(n_x: int, n: int) -> Orders:
    """All splits of ``n`` values, as ``splits``."""
    members = itertools.chain.from_iterable(itertools.combinations(range(n), n_x))
    chosen = np.fromiter(members, np.intp).reshape(-1, n_x)
    in_x = np.zeros((len(chosen), n), dtype=bool)
    np.put_along_axis(in_x, chosen, values=True, axis=1)
    return in_x.T


def refuse_few_pairs(n: int, alternative: Alternative, alpha: float) -> None:
    """TooFewError where even differences of one sign could not reach ``alpha``."""
    flips = 2**n
    smallest = tails(alternative) / (flips if flips <= MOST_SPLITS else DRAWS + 1)
    if smallest > alpha:
        raise TooFewError(
            f"{n} pairs cannot decide: differences of one sign have p = "
            f"{smallest:.3g} ({alternative}), above alpha = {alpha:g}",
            advice="add pairs",
        )


def refuse_few(n_a: int, n_b: int, splits: int, alternative: Alternative, alpha: float) -> None:
    """TooFewError where even the most extreme split could not reach ``alpha``."""
    chances = splits if splits <= MOST_SPLITS else DRAWS + 1
    smallest = tails(alternative) / chances
    if smallest > alpha:
        raise TooFewError(
            f"{n_a} and {n_b} replicates cannot decide: the most extreme of {chances} splits has "
            f"p = {smallest:.3g} ({alternative}), above alpha = {alpha:g}",
            advice="add replicates",
        )


def paired_permutation(
    a: Arm, b: Arm, *, alternative: Alternative = "two-sided", alpha: float = 0.05
) -> TestResult:
    """Is the mean difference larger than exchanging the arms within pairs gives it?

    Exact where without a difference the differences within pairs are symmetric; they need not be
    normal. All exchanges are tried up to 17 pairs; beyond, p as for ``permutation``. There is no
    interval. ``ClaimError`` as for ``paired``, and where even differences of one sign could not
    reach ``alpha`` (5 pairs, two-sided: 0.0625). Fisher 1935; Phipson & Smyth 2010.
    """
    check_alpha(alpha)
    contrast = difference_of_pairs(a, b)
    differences = pair_differences(a, b)
    n, flips = differences.n, 2**differences.n
    refuse_few_pairs(n, alternative, alpha)
    row, signs = np.array([differences.values]), exchanges(n)
    found = [float(exchange_p(sign * row, signs)[0]) for sign in (1, -1)]
    return _permuted("paired_permutation", contrast, (n, n), found, alternative, alpha, flips)


def exchange_p(differences: Array, signs: Orders, *, most: float = 1.0) -> Array:
    """One-sided p of a mean above 0, row by row, by exchanges within pairs: ``(R, n) -> (R,)``.

    ``signs`` (n, S) are as ``exchanges``, ``most`` as ``share_as_large``.
    """
    size = np.max(np.abs(differences), axis=1, keepdims=True)
    return share_as_large(differences / np.where(size > 0, size, 1.0), signs, most=most)


def exchanges(n: int) -> Orders:
    """The exchanges within ``n`` pairs that a test tries: ``(n, S)``, -1 for a pair that is turned.

    Up to 17 pairs all of them, else 99,999 from a fixed seed after the one observed.
    """
    if 2**n <= MOST_SPLITS:
        return every_exchange(n)
    turned = np.random.default_rng(SPLITS_SEED).integers(0, 2, (DRAWS, n))
    return 1.0 - 2 * np.concatenate([np.zeros((1, n)), turned]).T


def every_exchange(n: int) -> Orders:
    """All exchanges within ``n`` pairs, as ``exchanges``."""
    return 1.0 - 2 * (np.arange(2**n) >> np.arange(n)[:, None] & 1)


FEW = 10
"""With no more replicates than this in the smaller arm ranks are permuted; beyond, t is near."""

AT_ONCE = 10_000
"""Rows that are permuted together, in memory."""

SEPARATED = 1e9
"""The statistic where one arm lies wholly beyond the other: none is more extreme."""


def brunner_munzel(
    a: Arm, b: Arm, *, alternative: Alternative = "two-sided", alpha: float = 0.05
) -> TestResult:
    """Brunner and Munzel's test that P(A > B) + P(A = B) / 2 is not one half.

    ``effect`` is that probability. Up to ten replicates in the smaller arm the statistic is held
    against what splits of the same ranks at random give it: up to 200,000 splits all (``exact``),
    else 99,999 of them, as for ``permutation``. Complete separation is the most extreme split, and
    its one-sided p, ``1 / C(n_A + n_B, n_A)``, the least that ranks can give; with more replicates,
    too, where p is that of Student's t (levels .05 to .055), none is less. ``interval`` (levels as
    ``welch``), cut at 0 and 1, holds every value that the same test does not reject, at the
    standard error that was found: it excludes one half exactly where p is at most alpha. There is
    none where that error is 0. ``ClaimError`` for a summary, fewer than two values in an arm, and
    where all values agree. Brunner & Munzel 2000; Neubert & Brunner 2007; statistics.md 1.1, 2.2.
    """
    check_alpha(alpha)
    first, second = _checked(a, b)
    x, y = np.array(first.values), np.array(second.values)
    greater, less = brunner_munzel_p(x, y, "greater"), brunner_munzel_p(x, y, "less")
    p, p_opposite = p_values(alternative, float(greater), float(less))
    wins, ties = np.sum(x[:, None] > y), np.sum(x[:, None] == y)
    few = min(first.n, second.n) <= FEW
    every = math.comb(first.n + second.n, first.n) <= MOST_SPLITS
    return TestResult(
        test="brunner_munzel",
        effect=float(wins + ties / 2) / (first.n * second.n),
        alpha=alpha,
        n=(first.n, second.n),
        interval=rank_interval(x, y, interval_level(alternative, alpha)),
        p=p,
        p_opposite=p_opposite,
        alternative=alternative,
        exact=(few and every) or bool(separated(x, y)),
    )


def brunner_munzel_p(x: Array, y: Array, side: Literal["greater", "less"]) -> Array:
    """One-sided p of *x tends to be greater* (or *less*), along the last axis; ``(..., n)``."""
    if side == "less":
        return brunner_munzel_p(y, x, "greater")
    n, m = x.shape[-1], y.shape[-1]
    if min(n, m) > FEW:
        return _p_by_t(x, y)
    together = np.concatenate([x, y], axis=-1).reshape(-1, n + m)
    parts = np.array_split(together, -(-len(together) // AT_ONCE))
    return np.concatenate([_p_by_splits(part, n) for part in parts]).reshape(x.shape[:-1])


def _p_by_splits(together: Array, n: int) -> Array:
    """The p of rows (R, n + m), the first n of which are x; rows tied alike share their splits."""
    beyond = _beyond(together)
    observed = _rank_statistic(beyond, np.arange(together.shape[1]) < n)[-1]
    ties, of = np.unique(np.sort(beyond.sum(-1), axis=-1), axis=0, return_inverse=True)
    p = np.empty(len(together))
    for index, ranks in enumerate(ties.tolist()):
        p[of == index] = _share_at_least(_null(tuple(ranks), n), observed[of == index])
    return p


def _p_by_t(x: Array, y: Array) -> Array:
    """By Student's t, and never less than that of complete separation."""
    from scipy.stats import brunnermunzel  # noqa: PLC0415 - slow to import

    least = separation_p(x.shape[-1], y.shape[-1])
    p = np.where(x.mean(-1) > y.mean(-1), least, 1.0)
    rest = ~separated(x, y)
    if rest.any():
        by_t = brunnermunzel(x[rest], y[rest], alternative="greater", axis=-1).pvalue
        p[rest] = np.maximum(by_t, least)
    return p


def _beyond(ranks: Array) -> Array:
    """1 where an entry is above another, 1/2 where equal: ``(..., N) -> (..., N, N)``."""
    return (np.sign(ranks[..., :, None] - ranks[..., None, :]) + 1) / 2


def _rank_statistic(
    beyond: Array, in_x: Array | npt.NDArray[np.bool_]
) -> tuple[Array, Array, Array]:
    """P(X > Y) + P(X = Y) / 2, its standard error, and Brunner and Munzel's statistic.

    Of entries by what they are ``beyond``, (..., N, N).

    ``in_x`` says which entries are of x: (N,), or (S, N) for S splits of one (N, N).
    """
    x = np.asarray(in_x, dtype=float)
    n = float(x.reshape(-1, x.shape[-1])[0].sum())
    m = x.shape[-1] - n
    of_x, of_y = (beyond @ other if x.ndim == 1 else other @ beyond.T for other in (1 - x, x))
    effect = (of_x * x).sum(-1) / (n * m)
    scatter_x = ((of_x - m * effect[..., None]) ** 2 * x).sum(-1) / (n - 1)
    scatter_y = ((of_y - n * (1 - effect[..., None])) ** 2 * (1 - x)).sum(-1) / (m - 1)
    error = np.sqrt(scatter_x / (n * m**2) + scatter_y / (m * n**2))
    far = np.asarray(SEPARATED * np.sign(effect - 0.5))
    return effect, error, np.divide(effect - 0.5, error, out=far, where=error > RESOLUTION)


@lru_cache(maxsize=64)
def _null(ranks: tuple[float, ...], n: int) -> Array:
    """The statistic of all splits of sorted ranks, n of them in x, or of drawn ones; it rises."""
    in_x = splits(n, len(ranks)).T
    if math.comb(len(ranks), n) > MOST_SPLITS:
        in_x = in_x[1:]  # the first was not drawn
    return np.sort(_rank_statistic(_beyond(np.array(ranks)), in_x)[-1])


def _share_at_least(null: Array, t: Array) -> Array:
    """The share of splits with a statistic of ``t`` or more; of drawn ones it is one itself."""
    near = RESOLUTION * np.maximum(1.0, np.abs(t))
    drawn = int(len(null) == DRAWS)
    above = len(null) - np.searchsorted(null, t - near) + drawn
    return np.asarray(above / (len(null) + drawn))


def _most(null: Array, tail: float) -> float:
    """The largest statistic with a share of more than ``tail`` at or above it."""
    drawn = int(len(null) == DRAWS)
    rarer = math.floor((len(null) + drawn) * tail + RESOLUTION) - drawn
    most = SEPARATED if rarer < 0 else float(null[len(null) - 1 - rarer])
    return most + RESOLUTION * max(1.0, abs(most))


def separated(x: Array, y: Array) -> npt.NDArray[np.bool_]:
    """Whether one arm lies wholly beyond the other, along the last axis."""
    return np.asarray((x.min(-1) > y.max(-1)) | (y.min(-1) > x.max(-1)))


def rank_interval(x: Array, y: Array, level: float) -> Interval | None:
    """Interval of P(X > Y) + P(X = Y) / 2, cut at 0 and 1; none where its variance is 0."""
    from statsmodels.stats.nonparametric import (  # noqa: PLC0415 - slow to import
        rank_compare_2indep,
    )

    if separated(x, y) or len({*x.tolist(), *y.tolist()}) == 1:
        return None
    if min(len(x), len(y)) <= FEW:
        beyond = _beyond(np.concatenate([x, y]))
        effect, error, _ = _rank_statistic(beyond, np.arange(len(beyond)) < len(x))
        ranks = tuple(np.sort(beyond.sum(-1)).tolist())
        far_below, far_above = (
            float(error) * _most(_null(ranks, n), (1 - level) / 2) for n in (len(x), len(y))
        )
        low, high = (
            round(end, INTERVAL_DIGITS)
            for end in (float(effect) - far_below, float(effect) + far_above)
        )
        return Interval(max(0.0, low), min(1.0, high), level)
    low, high = rank_compare_2indep(x, y, use_t=True).conf_int(alpha=1 - level)
    return Interval(max(0.0, float(low)), min(1.0, float(high)), level)


def _checked(a: Arm, b: Arm) -> tuple[Sample, Sample]:
    given = require_sample(a, "brunner_munzel"), require_sample(b, "brunner_munzel")
    first, second = arms = levelled(*given)
    if min(arm.n for arm in arms) < 2:
        raise TooFewError(
            "a test of ranks needs at least two replicates in each arm", advice="add replicates"
        )
    if len({*first.values, *second.values}) == 1:
        raise ClaimError(
            "all values of both arms agree, so that there are no ranks to compare",
            advice="use a bound on each arm",
        )
    return first, second


Direction: TypeAlias = Literal["lower", "higher"]


def separation(
    a: Arm,
    b: Arm,
    *,
    direction: Direction,
    factor: float = 1.0,
    alpha: float = 0.05,
    paired: bool = False,
) -> TestResult:
    """Exact test that every replicate of A lies beyond every replicate of B.

    ``higher``: the smallest of A exceeds ``factor`` times the largest of B; ``lower``:
    ``factor`` times the largest of A is below the smallest of B. A tie separates nothing.
    Were both arms alike, either order would have the chance ``1 / C(n_A + n_B, n_A)``, which
    is ``p`` when separated (else 1), and ``p_opposite`` when all of B lies beyond all of A,
    whatever the factor. Arms that are ``paired`` by seed may be exchanged only within seeds:
    then A is above B in every one of n pairs, as separation implies, with a chance of at most
    ``2 ** -n``, and that is the p. ``effect`` is the share of pairs in which A is beyond B.

    ``ClaimError`` for a summary, a factor below 1, values not above 0 under a factor, and
    where even complete separation could not reach ``alpha``. statistics.md 1.3, 2.1; not safe
    at n = 3 with unequal spreads (2.2).
    """
    check_alpha(alpha)
    first, second = require_sample(a, "separation"), require_sample(b, "separation")
    _check(first, second, direction, factor)
    if paired:
        match((first, second), "separation")
    chance = separation_p(first.n, second.n, paired=paired)
    if chance > alpha:
        raise TooFewError(
            f"{first.n} and {second.n} replicates cannot decide: even complete separation has "
            f"p = {chance:.3g}, above alpha = {alpha:g}",
            advice="add replicates",
        )
    upper, lower = (first, second) if direction == "higher" else (second, first)
    separated = beyond(min(upper.values), factor * max(lower.values))
    reversed_ = beyond(min(lower.values), max(upper.values))
    pairs = _pairs_beyond(upper.values, [factor * y for y in lower.values])
    return TestResult(
        test="separation",
        effect=pairs / (first.n * second.n),
        alpha=alpha,
        n=(first.n, second.n),
        p=chance if separated else 1.0,
        p_opposite=chance if reversed_ else 1.0,
        paired=paired,
        exact=True,
    )


def _pairs_beyond(upper: Sequence[float], lower: Sequence[float]) -> int:
    """Pairs whose first value is beyond the second: one pass over both, sorted."""
    below, rest = 0, sorted(lower)
    pairs = 0
    for value in sorted(upper):
        while below < len(rest) and beyond(value, rest[below]):
            below += 1
        pairs += below
    return pairs


def separation_p(n_a: int, n_b: int, *, paired: bool = False) -> float:
    """The p of complete separation, one-sided: one order among all, or every pair one way."""
    return 0.5**n_a if paired else 1 / math.comb(n_a + n_b, n_a)


def _check(a: Sample, b: Sample, direction: Direction, factor: float) -> None:
    if direction not in ("higher", "lower"):
        raise ClaimError(f"direction is higher or lower, not {direction!r}")
    if not (math.isfinite(factor) and factor >= 1):
        raise ClaimError(f"a factor of separation is finite and at least 1, not {factor}")
    if factor != 1 and min(*a.values, *b.values) <= 0:
        raise ClaimError("separation by a factor needs values above 0")
