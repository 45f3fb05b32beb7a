"""What chance alone would have given to pairs: the permutation test of their signs."""

from __future__ import annotations

import numpy as np

from repro.errors import TooFewError
from repro.stats.alternative import Alternative, p_values, tails
from repro.stats.paired import difference_of_pairs, weighted_sum
from repro.stats.permutation import (
    DRAWS,
    MOST_SPLITS,
    Array,
    PermutationResult,
    tail_p_values,
)
from repro.stats.resampling import SPLITS_SEED
from repro.stats.result import check_alpha
from repro.stats.sample import Arm


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
