"""The rule about points that belong to clusters: whole clusters change places."""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations

import numpy as np
from scipy.stats import permutation_test

from benchmarks.levels.cells import Array, Data, Mask, Outcome, Rule
from benchmarks.levels.means import sample
from repro.expectations.decision_rules import by_sign
from repro.expectations.verdict_words import Finding
from repro.stats.coefficients import CLUSTERS_SEED
from repro.stats.correlation import DRAWS, association

POINTS = 5
"""Points in a cluster."""

BATCH = 500
"""Draws judged at once."""

PARTS = 10
"""The orders are tried in so many parts; draws that are no longer rare go without the rest."""


def associated(alpha: float) -> Rule:
    """Two variables go together, Pearson; each ``POINTS`` points in a row belong together."""

    def judge(row: Data) -> Finding:
        x, y = sample(row[0]), sample(row[1])
        clusters = [point // POINTS for point in range(x.n)]
        result = association(x, y, clusters=clusters, alpha=alpha)
        return by_sign(result, sign=None)

    def decide(data: Data) -> Outcome:
        draws = len(data[0])
        found = [
            _rare(data[0][start : start + BATCH], data[1][start : start + BATCH], alpha)
            for start in range(0, draws, BATCH)
        ]
        return Outcome(np.concatenate(found), np.zeros(draws, bool))

    return Rule(decide, judge)


def _rare(x: Array, y: Array, alpha: float) -> Mask:
    """Whether two-sided p is at most alpha, from the products of whichever clusters meet."""
    x, y = (v - v.mean(-1, keepdims=True) for v in (x, y))
    x, y = (v.reshape(len(v), -1, POINTS) for v in (x, y))
    first = np.argsort(x[:, :, 0], axis=-1)[:, :, None]  # the order in which clusters are drawn
    x, y = (np.take_along_axis(v, first, axis=1) for v in (x, y))
    products = x @ np.swapaxes(y, 1, 2)
    count = x.shape[1]
    own = np.abs(np.trace(products, axis1=1, axis2=2))[:, None] * (1 - 1e-9)
    products = products.reshape(len(x), -1)
    orders = _meetings(count)
    drawn = int(len(orders) >= DRAWS)  # then the order observed is one more
    hits, left = np.full(len(x), drawn), np.arange(len(x))
    for part in np.array_split(orders, PARTS):
        hits[left] += np.sum(np.abs(products[left] @ part.T) >= own[left], axis=-1)
        left = left[hits[left] / (len(orders) + drawn) <= alpha]
    return np.asarray(hits / (len(orders) + drawn) <= alpha)


@lru_cache(maxsize=8)
def _meetings(count: int) -> Array:
    """One row an order: 1 for each pair of clusters of x and y that meet, else 0."""
    orders = np.array(list(permutations(range(count)))) if count < 8 else _drawn(count)
    rows = np.zeros((len(orders), count, count))
    rows[np.arange(len(orders))[:, None], np.arange(count), orders] = 1.0
    return rows.reshape(len(orders), -1)


def _drawn(count: int) -> np.ndarray:
    """The orders that the engine draws."""
    found: list[np.ndarray] = []

    def note(order: np.ndarray, axis: int) -> np.ndarray:
        found.append(np.moveaxis(order, axis, -1).reshape(-1, count).astype(int))
        return np.asarray(order.sum(axis))

    permutation_test(
        (np.arange(count),),
        note,
        permutation_type="pairings",
        n_resamples=DRAWS,
        batch=1000,
        vectorized=True,
        rng=np.random.default_rng(CLUSTERS_SEED),
    )
    return np.concatenate(found)[1:]  # the first is the order observed
