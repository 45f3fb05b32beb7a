"""Do the means of several arms stand in the claimed order, each pair of them?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from repro.errors import ClaimError
from repro.stats.coefficients import Array
from repro.stats.multiplicity import holm
from repro.stats.paired import mean_difference
from repro.stats.pairs import match
from repro.stats.result import Interval, TestResult, check_alpha
from repro.stats.sample import Arm, summarise

Order: TypeAlias = Literal["increasing", "decreasing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderingResult(TestResult):
    """The result of an order: for each pair of arms, by position, its step and one-sided p.

    ``steps`` and their simultaneous intervals are in the units of the measurement, ``weakest``
    is the pair with the least evidence, which effect and interval belong to.
    """

    weakest: tuple[int, int]
    pairs: tuple[tuple[int, int], ...]
    steps: tuple[float, ...]
    step_intervals: tuple[Interval, ...]
    step_p: tuple[float, ...]
    step_p_adjusted: tuple[float, ...]


def ordering(
    groups: Sequence[Arm], *, direction: Order, alpha: float = 0.05, paired: bool = False
) -> OrderingResult:
    """One-sided t-tests of every two arms, given in their order, adjusted by Holm.

    Welch's tests, or of arms ``paired`` by seed those of the differences within seeds.

    ``p`` is the largest adjusted p: at most ``alpha`` when every mean lies beyond all that
    come before it. ``p_opposite`` is the smallest adjusted p of a pair the other way round,
    so one reversed pair contradicts. ``effect``, with its interval of level ``1 - 2 alpha``,
    is the step of the pair with the least evidence, later minus earlier arm, in the units of
    the measurement; ``weakest`` is that pair by position.
    The other fields hold for each pair the step, its simultaneous interval (each side errs
    ``alpha`` over the number of pairs; Bonferroni), p and adjusted p. Summaries will do.
    ``ClaimError`` for fewer than two arms, and as ``welch`` or ``paired``. Holm 1979.
    """
    check_alpha(alpha)
    if direction not in ("increasing", "decreasing"):
        raise ClaimError(f"direction is increasing or decreasing, not {direction!r}")
    if len(groups) < 2:
        raise ClaimError("an order needs at least two arms")
    if paired:
        match(groups, "ordering")
    pairs = list(combinations(range(len(groups)), 2))
    contrasts = [
        mean_difference(groups[j], groups[i], paired=paired, test="ordering") for i, j in pairs
    ]
    up = [contrast.p_greater() for contrast in contrasts]
    down = [contrast.p_less() for contrast in contrasts]
    p, reverse = (up, down) if direction == "increasing" else (down, up)
    intervals = [contrast.interval(1 - 2 * alpha / len(pairs)) for contrast in contrasts]
    weakest = p.index(max(p))
    return OrderingResult(
        test="ordering",
        effect=contrasts[weakest].effect,
        alpha=alpha,
        n=tuple(summarise(group).n for group in groups),
        interval=contrasts[weakest].interval(1 - 2 * alpha),
        p=float(largest_holm(np.array(p))),
        p_opposite=float(smallest_holm(np.array(reverse))),
        paired=paired,
        weakest=pairs[weakest],
        pairs=tuple(pairs),
        steps=tuple(contrast.effect for contrast in contrasts),
        step_intervals=tuple(intervals),
        step_p=tuple(p),
        step_p_adjusted=holm(p),
    )


def largest_holm(p: Array) -> Array:
    """The largest of Holm's adjusted p-values, along the last axis."""
    count = p.shape[-1]
    return np.asarray(np.clip(np.sort(p, axis=-1) * np.arange(count, 0, -1), 0.0, 1.0).max(axis=-1))


def smallest_holm(p: Array) -> Array:
    """The smallest of Holm's adjusted p-values, along the last axis."""
    return np.asarray(np.minimum(p.min(axis=-1) * p.shape[-1], 1.0))
