"""Arms that go up and down together by seed, though they were declared independent."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.special import stdtr
from scipy.stats import rankdata

from repro.stats.sample import Sample

FEWEST = 5
"""With four shared seeds one order in twelve is perfect, which says nothing."""

EXACT = 8
"""Up to so many shared seeds all orders are tried: 40,320."""

DRAWN = 200
"""Up to so many, orders are drawn, always the same; with more, ties do no harm to Student's t."""

MOST_ORDERS = 100_000


def correlated(a: Sample, b: Sample, level: float) -> tuple[float, int] | None:
    """Pearson's r over the seeds that both arms have, and how many, where it is no chance.

    Two tests must agree, so that neither tails nor one seed that collapsed in both make an
    alarm: Pearson's at ``level``, and Spearman's at twice that, by permutation (of 5 seeds
    2 orders in 120 are perfect). ``None`` for fewer than five shared seeds or a constant arm.
    """
    partner = dict(zip(b.replicates, b.values, strict=True))
    pairs = [
        (value, partner[number])
        for number, value in zip(a.replicates, a.values, strict=True)
        if number in partner
    ]
    if len(pairs) < FEWEST:
        return None
    x, y = np.array(pairs, dtype=float).T
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    r = _r(x, y)
    if _p(r, len(pairs)) > level or _rank_p(x, y, level) > 2 * level:
        return None
    return r, len(pairs)


def _r(x: np.ndarray, y: np.ndarray) -> float:
    u, v = x - x.mean(), y - y.mean()
    return float(u @ v / math.sqrt((u @ u) * (v @ v)))


def _p(r: float, n: int) -> float:
    """Two-sided p of Student's t for a correlation."""
    rest = 1 - r * r
    t = math.inf if rest <= 0 else abs(r) * math.sqrt((n - 2) / rest)
    return float(2 * stdtr(n - 2, -t))


def _rank_p(x: np.ndarray, y: np.ndarray, level: float) -> float:
    """Two-sided p of Spearman's correlation by permutation, so that ties do no harm."""
    u, v = rankdata(x), rankdata(y)
    u, v = u - u.mean(), v - v.mean()
    reached = abs(float(u @ v)) * (1 - 1e-9)
    if len(u) > DRAWN:
        return _p(_r(u, v), len(u))
    if len(u) <= EXACT:
        orders = np.array(list(itertools.permutations(v)))
        return float((np.abs(orders @ u) >= reached).mean())
    draws = min(MOST_ORDERS, math.ceil(50 / level))
    rng = np.random.default_rng(0)
    found = sum(abs(float(rng.permutation(v) @ u)) >= reached for _ in range(draws))
    return (1 + found) / (1 + draws)
