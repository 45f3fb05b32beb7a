"""Arms, or seeds of an arm, that are written in different units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

AGREE = {10: 0.05, 100: 0.15, 1000: 0.15}
"""factor -> in one unit the means of two arms differ by less than this share."""

LIKE = {10: 2.5, 100: 5.0, 1000: 5.0}
"""factor -> in one unit the standard deviations differ by less than this factor."""

PERCENT = (0.7, 1.45)
"""Fractions and percents: once in one unit, the larger mean over the smaller is in this range."""

NARROW = 0.15
"""Arms that scatter more than this share of their mean can differ tenfold in one unit."""


@dataclass(frozen=True, slots=True)
class Level:
    """The mean of an arm, the standard deviation of its seeds, and the step of their values."""

    mean: float
    sd: float
    step: float


def factor_between(a: Level, b: Level) -> int | None:
    """The factor, 10, 100 or 1000, by which the larger arm is probably in another unit.

    Its mean and its standard deviation must both be about so many times those of the other:
    different means in one unit mostly come with like deviations. Where one arm lies between 0
    and 1 and the other between 1 and 100, percents beside fractions are likely enough that the
    means may differ by two fifths. A factor of 10 between arms that are rounded to the same decimal
    is taken for a difference. ``None`` for arms of two signs, wide arms and constant ones.
    """
    small, large = sorted((a, b), key=lambda one: abs(one.mean))
    if small.mean * large.mean <= 0 or small.sd == 0:
        return None
    if any(one.sd > NARROW * abs(one.mean) for one in (a, b)):
        return None
    for factor, agree in AGREE.items():
        ratio = large.mean / small.mean / factor
        near = abs(ratio - 1) <= agree
        if factor == 100 and 0 < small.mean <= 1 < large.mean <= 100:
            near = PERCENT[0] <= ratio <= PERCENT[1]
        like = 1 / LIKE[factor] <= large.sd / small.sd / factor <= LIKE[factor]
        if near and like and (factor > 10 or a.step != b.step):
            return factor
    return None


def factor_within(values: Sequence[float]) -> tuple[int, tuple[int, ...]] | None:
    """The factor, 100 or 1000, between two groups of seeds of one arm, and the smaller group.

    The places of the smaller group are told (of two alike, those of the small values). Each
    group lies within 15 % of its median, and the medians are a factor apart to within 15 %.
    A factor of 10 is what a seed that collapsed may be off by.
    """
    sizes = np.abs(np.asarray(values, dtype=float))
    if len(values) < 3 or min(values) * max(values) <= 0:
        return None
    low = sizes < math.sqrt(float(sizes.min()) * float(sizes.max()))
    if not low.any() or low.all():
        return None
    medians = [float(np.median(group)) for group in (sizes[low], sizes[~low])]
    for group, median in zip((sizes[low], sizes[~low]), medians, strict=True):
        if float(np.abs(group / median - 1).max()) > NARROW:
            return None
    for factor in (100, 1000):
        if abs(medians[1] / medians[0] / factor - 1) <= AGREE[factor]:
            fewer = low if low.sum() <= len(values) / 2 else ~low
            return factor, tuple(map(int, np.flatnonzero(fewer)))
    return None
