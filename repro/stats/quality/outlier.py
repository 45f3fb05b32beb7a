"""A seed that lies far from all others of its arm."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from repro.stats.sample import ROUND_OFF

LIMITS = {3: 290.0, 4: 33.0, 5: 18.5, 6: 14.5, 7: 12.6, 8: 11.8, 9: 11.3}
"""Distance, in standard deviations of the rest, that 1 % of arms of so many seeds reach."""

LARGER = 15.5
"""The same for 10 to 30 seeds, where a fifth of the seeds is set aside."""

TAIL = 4
"""Moments of the heaviest honest tail, t4: how fast limits grow as the level falls."""


def limit(n: int, level: float) -> float:
    """The distance that at most ``level`` of honest arms with ``n`` seeds reach.

    The largest of those of normal, uniform, t4 and lognormal(0.5) arms, simulated. The others
    may be near each other by chance, so it is wide where they are few: with n - 1 of them its
    tail falls as the power n - 2, until that of the values themselves is the heavier.
    """
    at = LIMITS.get(n, LARGER * math.pow(max(1.0, n / 30), 1 / TAIL))
    return at * math.pow(0.01 / level, 1 / min(n - 2, TAIL))


def outlier(values: Sequence[float], step: float, level: float) -> tuple[int, float] | None:
    """The place of the value farthest from the median, and how far, where it is beyond the limit.

    The distance is from the mean of the rest, in standard deviations of the rest, which are at
    least half a ``step``. A fifth of the values (at least one, the farthest from the median) are
    not of the rest, so that two seeds that collapsed do not hide each other. Nothing is said of
    fewer than three values.
    """
    n = len(values)
    if n < 3:
        return None
    every = np.asarray(values, dtype=float)
    order = np.argsort(np.abs(every - np.median(every)), kind="stable")
    rest = every[order[: n - max(1, n // 5)]]
    scale = max(float(rest.std(ddof=1)), step / 2, ROUND_OFF * float(np.abs(every).max()))
    far = abs(float(every[order[-1]] - rest.mean()))
    if scale == 0 or far <= limit(n, level) * scale:
        return None
    return int(order[-1]), far / scale
