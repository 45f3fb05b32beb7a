"""Are all replicates of one arm beyond all replicates of the other?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from repro.errors import ClaimError, TooFewError
from repro.stats.pairs import match
from repro.stats.result import TestResult, check_alpha
from repro.stats.sample import Arm, Sample, beyond, require_sample

Direction: TypeAlias = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeparationResult(TestResult):
    """The result of a separation; ``gap`` (below 0: overlap) is in the units of the measurement."""

    separated: bool
    gap: float


def separation(
    a: Arm,
    b: Arm,
    *,
    direction: Direction,
    factor: float = 1.0,
    alpha: float = 0.05,
    paired: bool = False,
) -> SeparationResult:
    """Exact test that every replicate of A lies beyond every replicate of B.

    ``higher``: the smallest of A exceeds ``factor`` times the largest of B; ``lower``:
    ``factor`` times the largest of A is below the smallest of B. A tie separates nothing.
    Were both arms alike, either order would have the chance ``1 / C(n_A + n_B, n_A)``, which
    is ``p`` when separated (else 1), and ``p_opposite`` when all of B lies beyond all of A,
    whatever the factor. Arms that are ``paired`` by seed may be exchanged only within seeds:
    then A is above B in every one of n pairs, as separation implies, with a chance of at most
    ``2 ** -n``, and that is the p. ``effect`` is the share of pairs in which A is beyond B.

    ``ClaimError`` for a summary, a factor below 1, values not above 0 under a factor, and
    where even complete separation could not reach ``alpha``. METHODS.md 1.3, 2.1; not safe
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
            f"p = {chance:.3g}, above alpha = {alpha:g}; add replicates"
        )
    upper, lower = (first, second) if direction == "higher" else (second, first)
    separated = beyond(min(upper.values), factor * max(lower.values))
    reversed_ = beyond(min(lower.values), max(upper.values))
    pairs = _pairs_beyond(upper.values, [factor * y for y in lower.values])
    return SeparationResult(
        test="separation",
        effect=pairs / (first.n * second.n),
        alpha=alpha,
        n=(first.n, second.n),
        p=chance if separated else 1.0,
        p_opposite=chance if reversed_ else 1.0,
        paired=paired,
        exact=True,
        separated=separated,
        gap=min(upper.values) - factor * max(lower.values),
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
