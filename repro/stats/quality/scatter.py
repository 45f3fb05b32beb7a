"""How far the seeds of an arm scatter, whatever a minority of them does."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

SHARPEST = 0.44
"""Largest density of a value times the scale of ``scatter``: that of the lognormal(0.5)."""

NORMAL = 1.349
"""Length of the shortest half of a normal distribution, in standard deviations."""

SMALL_SAMPLE = (1.6, 1.27)
"""The shortest half of n values is shorter by this over the root of n: even n, odd n."""


def scatter(values: Sequence[float] | np.ndarray, step: float = 0.0) -> float:
    """The length of the shortest interval with half of the values, as a standard deviation.

    0 for fewer than three values and where half of them are equal. Up to half of the values may
    lie anywhere, as seeds do that collapsed. What different values on a grid of this ``step``
    are apart in any case is taken off. Rousseeuw & Leroy 1988.
    """
    n = len(values)
    if n < 3:
        return 0.0
    ordered = np.sort(np.asarray(values, dtype=float))
    half = (n + 1) // 2
    length = float((ordered[half - 1 :] - ordered[: n - half + 1]).min())
    beyond = max(0.0, length - (half - 1) * step)
    return beyond / (NORMAL * (1 - SMALL_SAMPLE[n % 2] / math.sqrt(n)))
