"""Do values follow each other? The rank von Neumann ratio of a sample in its order.

Checkpoints of one run, windows of one evaluation and sorted rows resemble their neighbours; seeds
do not. Tests take replicates for independent, and err far more often where they follow each other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from repro.stats.coefficients import midranks

Array: TypeAlias = npt.NDArray[np.floating[Any]]

FEWEST = 6
"""With five values the rarest order has a chance of 1 in 60."""

EXACT = 9
"""Up to so many values all orders are counted: 362,880."""

DRAWN = 200
"""Up to so many, orders are drawn, always the same; with more the ratio is all but normal."""

MOST_ORDERS = 100_000
AT_ONCE = 1_000

HARDLY = 0.1
"""Where the normal approximation has a p above this, no order is drawn."""


def following(values: Sequence[float], level: float) -> float | None:
    """The rank von Neumann ratio, where so small a one has a chance of ``level`` at most.

    The sum of the squared differences of neighbouring ranks over that of their deviations: about 2
    for values in any order, near 0 for sorted ones. One-sided, by permutation, ties (as midranks)
    included. ``None`` also for fewer than six values, and for values that all agree. Bartels 1982.
    """
    n = len(values)
    if n < FEWEST:
        return None
    ranks = midranks(np.asarray(values, dtype=float))
    squares = float(((ranks - ranks.mean()) ** 2).sum())
    if squares == 0:
        return None
    found = float(_steps(ranks))
    ratio = found / squares
    approximate = (ratio - 2) / math.sqrt(20 / (5 * n + 7))
    if approximate > float(ndtri(HARDLY if n <= DRAWN else level)):
        return None
    chance = 0.0
    if n <= EXACT:
        every = _all_steps(tuple(map(float, np.sort(ranks))))
        chance = float(np.searchsorted(every, found + 1e-6)) / len(every)
    elif n <= DRAWN:
        chance = _drawn(ranks, found, level)
    return ratio if chance <= level * (1 + 1e-9) else None


def _steps(ranks: Array) -> Array:
    """The sum of the squared differences of neighbours, in each row."""
    return np.asarray((np.diff(ranks) ** 2).sum(-1))


@lru_cache(maxsize=16)
def _all_steps(ranks: tuple[float, ...]) -> npt.NDArray[np.float32]:
    """What ``_steps`` gives for every order of these ranks, the smallest first."""
    orders = np.array(list(itertools.permutations(range(len(ranks)))), dtype=np.int8)
    return np.sort(_steps(np.array(ranks, dtype=np.float32)[orders]))


def _drawn(ranks: Array, found: float, level: float) -> float:
    """The share of orders, among some at random, with steps as small."""
    draws = min(MOST_ORDERS, math.ceil(200 / level))
    rng = np.random.default_rng(0)
    as_small = 0
    for first in range(0, draws, AT_ONCE):
        orders = rng.permuted(np.tile(ranks, (min(AT_ONCE, draws - first), 1)), axis=1)
        as_small += int((_steps(orders) <= found + 1e-9).sum())
    return (1 + as_small) / (1 + draws)
