"""Do two measurements go together where points belong to clusters? Whole clusters are permuted."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from repro.errors import ClaimError, TooFewError
from repro.stats.coefficients import Array, Method, centred, concordance, midranks
from repro.stats.permutation import tail_p_values
from repro.stats.resampling import CLUSTERS_SEED
from repro.stats.sample import Sample

DRAWS = 9999
"""Orders drawn where there are more than this; up to seven clusters (5,040) all are tried."""

FEWEST_CLUSTERS = 5
"""Fewer clusters say too little about others."""


def cluster_permutation_p(
    x: Sample, y: Sample, clusters: Sequence[int], method: Method, alpha: float
) -> tuple[float, bool]:
    """Two-sided p when whole clusters of ``y`` change places, and whether all orders were tried.

    ``clusters`` holds one number for each point of ``x``. The points of a cluster stay together
    and in the order of their replicates, and meet those of another cluster of ``x``; p is the
    share of orders whose coefficient is at least as large in size, the observed one included:
    of all of them up to 9,999, else of 9,999 drawn from a fixed seed, ``p = (b + 1) / (m + 1)``.
    p is valid where the two variables are independent and the clusters of one of them are
    exchangeable; points of a cluster may depend on each other in any way. That the correlation
    is 0 is not enough.

    ``ClaimError`` where a point has no cluster, for fewer than five clusters, clusters of
    different sizes, and where even the most extreme order could not reach ``alpha``.
    Pitman 1937; Phipson & Smyth 2010.
    """
    if len(clusters) != x.n:
        raise ClaimError(f"{len(clusters)} clusters for {x.n} points: each point belongs to one")
    _refuse_few(len(set(clusters)), alpha)
    first, second = blocks(x, y, clusters)
    orders = math.factorial(len(first))
    p = _share(first, second, method, exact=orders <= DRAWS)
    return p, orders <= DRAWS


def blocks(x: Sample, y: Sample, clusters: Sequence[int]) -> tuple[Array, Array]:
    """Both variables, ``(cluster, point)``: clusters in the order of their values alone.

    ``ClaimError`` unless every cluster has the same number of points.
    """
    partner = dict(zip(y.replicates, y.values, strict=True))
    found: dict[int, list[tuple[int, float]]] = {}
    for number, value, cluster in zip(x.replicates, x.values, clusters, strict=True):
        found.setdefault(cluster, []).append((number, value))
    sizes = sorted({len(points) for points in found.values()})
    if len(sizes) > 1:
        raise ClaimError(
            f"clusters have {sizes[0]} to {sizes[-1]} points: whole clusters change places only "
            "where all have equally many"
        )
    groups = sorted(
        [(value, partner[number]) for number, value in sorted(points)] for points in found.values()
    )
    both = np.array(groups)
    return both[..., 0], both[..., 1]


def _share(x: Array, y: Array, method: Method, *, exact: bool) -> float:
    """The share of orders of the rows of ``y`` with a coefficient at least as large in size.

    Neither mean nor spread depends on the order, so that the sum of products stands for the
    coefficient; it is that of the products of whichever rows meet.
    """
    from scipy.stats import permutation_test  # noqa: PLC0415 - half a second, seldom needed

    count = len(x)
    if method == "spearman":
        x, y = (midranks(v.ravel()).reshape(v.shape) for v in (x, y))
    if method != "kendall":
        x, y = (centred(v.ravel()).reshape(v.shape) for v in (x, y))
    products = x @ y.T / x.size

    def statistic(order: Array, axis: int) -> Array:
        rows = np.moveaxis(order, axis, -1).astype(int)
        if method == "kendall":
            moved = y[rows].reshape(*rows.shape[:-1], -1)
            return np.abs(concordance(x.ravel(), moved))
        return np.asarray(np.abs(products[np.arange(count), rows].sum(axis=-1)))

    outcome = permutation_test(
        (np.arange(count),),
        statistic,
        permutation_type="pairings",
        n_resamples=DRAWS,
        batch=1000,
        vectorized=True,
        rng=np.random.default_rng(CLUSTERS_SEED),
    )
    greater, _ = tail_p_values(outcome.null_distribution, np.array(outcome.statistic), exact=exact)
    return float(greater)


def _refuse_few(count: int, alpha: float) -> None:
    if count < FEWEST_CLUSTERS:
        raise TooFewError(
            f"{count} clusters say too little about others; at least {FEWEST_CLUSTERS} are needed"
        )
    smallest = max(1 / math.factorial(count), 1 / (DRAWS + 1))
    if smallest > alpha:
        raise TooFewError(
            f"{count} clusters cannot decide: even the most extreme order of them has "
            f"p = {smallest:.3g}, above alpha = {alpha:g}; add clusters"
        )
