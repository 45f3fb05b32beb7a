"""What chance alone would have given: permutation tests of groups, and of the signs of pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from repro.errors import TooFewError
from repro.stats.coefficients import SPLITS_SEED
from repro.stats.contrast import welch_contrast
from repro.stats.paired import difference_of_pairs, weighted_sum
from repro.stats.records import (
    Alternative,
    Arm,
    TestResult,
    check_alpha,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationResult(TestResult):
    """The result of a permutation test: ``splits`` were tried, all of them where it is exact."""

    splits: int


def permutation(
    a: Arm, b: Arm, *, alternative: Alternative = "two-sided", alpha: float = 0.05
) -> PermutationResult:
    """Permutation test: is the difference of the means larger than splits at random give it?

    The statistic is Welch's t, so that unequal variances disturb as little as they can; exact
    only if the arms are alike but for their place (3:1 standard deviations: level .067 at
    n = 5). Up to 200,000 splits all are tried; beyond, 99,999 are drawn from a fixed seed and
    ``p = (b + 1) / (m + 1)``. Two-sided p is twice the smaller one-sided p. There is no
    interval: every point of it would take all the splits again, and under unequal variances
    no shift makes the arms alike. ``ClaimError`` for a summary, as for ``welch``, and where
    even the most extreme split could not reach ``alpha`` (3 and 3, two-sided: 0.10).
    Pitman 1937; Janssen 1997; Phipson & Smyth 2010; statistics.md 1.1, 2.2.
    """
    check_alpha(alpha)
    first, second = require_sample(a, "permutation"), require_sample(b, "permutation")
    contrast = welch_contrast(first, second)
    splits = math.comb(first.n + second.n, first.n)
    _refuse_few(first.n, second.n, splits, alternative, alpha)
    x, y = sorted(first.values), sorted(second.values)
    if (len(y), y) < (len(x), x):  # one drawing for both orders of the arms
        less, greater = permutation_p_values(np.array(y), np.array(x))
    else:
        greater, less = permutation_p_values(np.array(x), np.array(y))
    p, p_opposite = p_values(alternative, float(greater), float(less))
    return PermutationResult(
        test="permutation",
        effect=contrast.effect,
        alpha=alpha,
        n=(first.n, second.n),
        p=p,
        p_opposite=p_opposite,
        statistic=contrast.statistic(),
        alternative=alternative,
        exact=splits <= MOST_SPLITS,
        splits=splits if splits <= MOST_SPLITS else DRAWS,
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


def _refuse_few(n_a: int, n_b: int, splits: int, alternative: Alternative, alpha: float) -> None:
    chances = splits if splits <= MOST_SPLITS else DRAWS + 1
    smallest = tails(alternative) / chances
    if smallest > alpha:
        raise TooFewError(
            f"{n_a} and {n_b} replicates cannot decide: the most extreme of {chances} splits has "
            f"p = {smallest:.3g} ({alternative}), above alpha = {alpha:g}; add replicates"
        )


def paired_permutation(
    a: Arm, b: Arm, *, alternative: Alternative = "two-sided", alpha: float = 0.05
) -> PermutationResult:
    """Is the mean difference larger than exchanging the arms within pairs gives it?

    Exact where without a difference either arm of a pair may be the larger as well as the other,
    by as much: the differences are symmetric, and need not be normal. The mean orders the
    exchanges as the paired t does. Up to 200,000 of them all are tried (17 pairs); beyond,
    99,999 are drawn from a fixed seed and ``p = (b + 1) / (m + 1)``. Two-sided p is twice the
    smaller one-sided p; there is no interval. ``ClaimError`` as for ``paired``, and where even
    differences of one sign could not reach ``alpha`` (5 pairs, two-sided: 0.0625). Fisher 1935;
    Phipson & Smyth 2010.
    """
    check_alpha(alpha)
    contrast = difference_of_pairs(a, b)
    differences = weighted_sum((a, b))
    exact = 2**differences.n <= MOST_SPLITS
    flips = 2**differences.n if exact else DRAWS
    smallest = tails(alternative) / (flips if exact else flips + 1)
    if smallest > alpha:
        raise TooFewError(
            f"{differences.n} pairs cannot decide: differences of one sign have p = "
            f"{smallest:.3g} ({alternative}), above alpha = {alpha:g}; add pairs"
        )
    greater, less = sign_flip_p_values(np.array(differences.values))
    p, p_opposite = p_values(alternative, float(greater), float(less))
    return PermutationResult(
        test="paired_permutation",
        effect=contrast.effect,
        alpha=alpha,
        n=(differences.n, differences.n),
        p=p,
        p_opposite=p_opposite,
        statistic=contrast.statistic(),
        alternative=alternative,
        paired=True,
        exact=exact,
        splits=flips,
    )


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
