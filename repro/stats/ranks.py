"""Ranks and permutations: Brunner-Munzel, separation, what chance alone would have given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from repro.errors import ClaimError, TooFewError
from repro.stats.coefficients import SPLITS_SEED
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

MOST_SPLITS = 200_000
"""With no more splits than this all are tried (184,756 for ten and ten); else some are drawn."""

DRAWS = 99_999
"""Splits drawn where there are too many to try."""

_ROUND_OFF = 1e-9  # statistics that differ by less, relatively, are equal


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
    splits = math.comb(first.n + second.n, first.n)
    refuse_few(first.n, second.n, splits, alternative, alpha)
    x, y = sorted(first.values), sorted(second.values)
    if (len(y), y) < (len(x), x):  # one drawing for both orders of the arms
        less, greater = permutation_p_values(np.array(y), np.array(x))
    else:
        greater, less = permutation_p_values(np.array(x), np.array(y))
    p = p_values(alternative, float(greater), float(less))
    return _permuted("permutation", contrast, (first.n, second.n), p, alternative, alpha, splits)


def _permuted(
    test: str,
    contrast: Contrast,
    n: tuple[int, int],
    p: tuple[float, float | None],
    alternative: Alternative,
    alpha: float,
    splits: int,
) -> TestResult:
    return TestResult(
        test=test,
        effect=contrast.effect,
        alpha=alpha,
        n=n,
        p=p[0],
        p_opposite=p[1],
        statistic=contrast.statistic(),
        alternative=alternative,
        paired=test == "paired_permutation",
        exact=splits <= MOST_SPLITS,
    )


def permutation_p_values(x: Array, y: Array) -> tuple[Array, Array]:
    """One-sided p of *x greater* and of *x less*, along the last axis; ``(..., n) -> (...)``.

    Arms that do not vary at all have none (nan).
    """
    from scipy.stats import permutation_test  # noqa: PLC0415 - slow to import

    centre = (x.mean(-1, keepdims=True) + y.mean(-1, keepdims=True)) / 2
    x, y = x - centre, y - centre
    exact = math.comb(x.shape[-1] + y.shape[-1], x.shape[-1]) <= MOST_SPLITS
    found = permutation_test(
        (x, y),
        welch_statistic,
        vectorized=True,
        n_resamples=MOST_SPLITS if exact else DRAWS,
        batch=10_000,
        axis=-1,
        rng=np.random.default_rng(SPLITS_SEED),
    )
    return tail_p_values(found.null_distribution, np.asarray(found.statistic), exact=exact)


def welch_statistic(x: Array, y: Array, axis: int = -1) -> Array:
    """Welch's t along an axis; infinite where both arms are constant and differ."""
    errors = x.var(axis, ddof=1) / x.shape[axis] + y.var(axis, ddof=1) / y.shape[axis]
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic: Array = (x.mean(axis) - y.mean(axis)) / np.sqrt(errors)
    return statistic


def tail_p_values(null: Array, observed: Array, *, exact: bool) -> tuple[Array, Array]:
    """Shares of ``null`` (first axis: the resamples) at least, and at most, as large as observed.

    Where it is not exact the observed one counts as one of the draws, so that no p is 0.
    """
    near = _ROUND_OFF * np.maximum(1.0, np.abs(observed))
    extra = 0 if exact else 1
    greater = (np.sum(null >= observed - near, axis=0) + extra) / (null.shape[0] + extra)
    less = (np.sum(null <= observed + near, axis=0) + extra) / (null.shape[0] + extra)
    return greater, less


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
    greater, less = sign_flip_p_values(np.array(differences.values))
    p = p_values(alternative, float(greater), float(less))
    return _permuted("paired_permutation", contrast, (n, n), p, alternative, alpha, flips)


def sign_flip_p_values(differences: Array) -> tuple[Array, Array]:
    """One-sided p of a mean *above 0* and *below 0*, along the last axis; ``(..., n) -> (...)``."""
    n = differences.shape[-1]
    exact = 2**n <= MOST_SPLITS
    if exact:
        bits = np.arange(2**n)[:, None] >> np.arange(n) & 1
    else:
        bits = np.random.default_rng(SPLITS_SEED).integers(0, 2, (DRAWS, n))
    size = np.max(np.abs(differences), axis=-1, keepdims=True)
    unit = differences / np.where(size > 0, size, 1.0)
    null = np.moveaxis(unit @ (1 - 2 * bits.T), -1, 0)
    return tail_p_values(null, unit.sum(axis=-1), exact=exact)


def brunner_munzel(
    a: Arm, b: Arm, *, alternative: Alternative = "two-sided", alpha: float = 0.05
) -> TestResult:
    """Brunner and Munzel's test that P(A > B) + P(A = B) / 2 is not one half.

    ``effect`` is that probability and ``interval`` (levels as ``welch``) its own, cut at 0 and
    1. Where one arm lies wholly beyond the other the variance of the ranks is 0; then p is that
    of the exact permutation test of the ranks, ``1 / C(n_A + n_B, n_A)`` one-sided, which can be
    larger than one just short of separation, there is no interval, and ``exact`` is true.
    Not safe below ten replicates (level 0 to .14 at n = 3, .08 at n = 5, .054 at n = 10).
    ``ClaimError`` for a summary, fewer than two values in an arm, and where all values agree.
    Brunner & Munzel 2000; statistics.md 1.1, 2.2.
    """
    check_alpha(alpha)
    first, second = _checked(a, b)
    x, y = np.array(first.values), np.array(second.values)
    greater, less = brunner_munzel_p(x, y, "greater"), brunner_munzel_p(x, y, "less")
    p, p_opposite = p_values(alternative, float(greater), float(less))
    exact = bool(separated(x, y))
    wins, ties = np.sum(x[:, None] > y), np.sum(x[:, None] == y)
    return TestResult(
        test="brunner_munzel",
        effect=float(wins + ties / 2) / (first.n * second.n),
        alpha=alpha,
        n=(first.n, second.n),
        interval=rank_interval(x, y, interval_level(alternative, alpha)),
        p=p,
        p_opposite=p_opposite,
        alternative=alternative,
        exact=exact,
    )


def brunner_munzel_p(x: Array, y: Array, side: Literal["greater", "less"]) -> Array:
    """One-sided p of *x tends to be greater* (or *less*), along the last axis; exact if separated.

    Shapes ``(..., n) -> (...)``.
    """
    from scipy.stats import brunnermunzel  # noqa: PLC0415 - slow to import

    chance = 1 / math.comb(x.shape[-1] + y.shape[-1], x.shape[-1])
    p = np.where((x.mean(-1) > y.mean(-1)) == (side == "greater"), chance, 1.0)
    rest = ~separated(x, y)
    if rest.any():
        p[rest] = brunnermunzel(x[rest], y[rest], alternative=side, axis=-1).pvalue
    return p


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


Direction: TypeAlias = Literal["higher", "lower"]


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
