"""Associations of points that belong to clusters: whole clusters are permuted."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from repro.stats.coefficients import Array
from repro.stats.correlation import association
from repro.stats.records import Sample, known
from tests.stats.correlated import ALL, SCIPY

SEED = 1937
POINTS = 5


def clustered(rng: np.random.Generator, count: int, *, draws: int = 1) -> tuple[Array, Array]:
    """Two independent variables whose points share an effect of their cluster."""
    shared, own = rng.normal(size=(2, draws, count, 1)), rng.normal(size=(2, draws, count, POINTS))
    x, y = shared + own / 2
    return x, y


def samples(*variables: Array) -> tuple[Sample, Sample, list[int]]:
    """Blocks as two samples, with the cluster of each point."""
    x, y = (Sample.of(*map(float, one.ravel())) for one in variables)
    return x, y, [place // POINTS for place in range(x.n)]


@ALL
def test_p_is_the_share_of_all_orders_of_the_clusters(method):
    """
    With five clusters p counts the orders of blocks whose scipy coefficient is as large in size.
    """
    x, y = (np.round(3 * one[0]) for one in clustered(np.random.default_rng(SEED), 5))
    sizes = [
        abs(SCIPY[method](x.ravel(), y[list(order)].ravel()).statistic)
        for order in permutations(range(5))
    ]
    reference = np.mean(np.array(sizes) >= sizes[0] - 1e-9)
    first, second, clusters = samples(x, y)
    result = association(first, second, method=method, clusters=clusters)
    assert 0.02 < reference < 1
    assert result.p == pytest.approx(reference, rel=1e-12)
    assert result.effect == pytest.approx(SCIPY[method](x.ravel(), y.ravel()).statistic)
    assert result.interval is None
    assert result.se is None
    assert (result.n, result.clusters) == ((25,), 5)


@ALL
def test_drawn_orders_are_near_all_of_them(method):
    """
    With eight clusters 9,999 orders are drawn: p is near that of 2,000 others by scipy.
    """
    x, y = np.random.default_rng(SEED).normal(size=(2, 8))
    y += 0.5 * x
    result = association(
        Sample.of(*map(float, x)), Sample.of(*map(float, y)), method=method, clusters=range(8)
    )
    others = stats.permutation_test(
        (x,),
        lambda order: abs(SCIPY[method](order, y).statistic),
        permutation_type="pairings",
        n_resamples=2000,
        alternative="greater",
        rng=np.random.default_rng(SEED + 1),
    )
    p = others.pvalue
    assert result.p_method == "cluster permutation, drawn"
    assert result.p == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) * (1 / 2000 + 1 / 9999)))
    assert known(result.p) * 10_000 == pytest.approx(round(known(result.p) * 10_000))


@pytest.mark.parametrize("count", [5, 9])
def test_the_order_of_points_and_the_names_of_clusters_do_not_matter(count):
    """
    Clusters in another order, and points with their numbers in another, give the same p.
    """
    x, y = (one[0] for one in clustered(np.random.default_rng(SEED), count))
    first, second, clusters = samples(x, y)
    own = association(first, second, clusters=clusters)
    turned = np.random.default_rng(SEED).permutation(count)
    other = association(*samples(x[turned], y[turned])[:2], clusters=[9 - c for c in clusters])
    assert other.p == own.p
    order = np.random.default_rng(SEED).permutation(first.n)
    moved = Sample(tuple(first.values[i] for i in order), tuple(int(i) for i in order))
    assert association(moved, second, clusters=[clusters[i] for i in order]) == own


def test_the_points_of_a_cluster_keep_their_partners():
    """
    An effect of the replicate that all clusters share is in every order, and so no evidence.
    """
    x, y = (one[0] + 9 * np.arange(POINTS) for one in clustered(np.random.default_rng(SEED), 5))
    first, second, clusters = samples(x, y)
    assert known(association(first, second).p) < 1e-6
    assert known(association(first, second, clusters=clusters).p) > 0.05


def test_points_counted_three_times_are_no_news():
    """
    Copies of the points of a cluster change its p as little as they change the coefficient.
    """
    x, y = np.random.default_rng(SEED).normal(size=(2, 6))
    once = association(Sample.of(*map(float, x)), Sample.of(*map(float, y)), clusters=range(6))
    copies = [Sample.of(*map(float, np.repeat(one, 3))) for one in (x, y)]
    thrice = association(*copies, clusters=[place // 3 for place in range(18)])
    assert thrice.p == once.p
    assert known(association(*copies).p) < known(thrice.p)


@pytest.mark.parametrize("count", [5, 8])
def test_the_clustered_test_holds_its_level(count):
    """
    Of independent variables with effects of clusters at most .05 are called associated, within
    four sd; taken as independent points, far more are.
    """
    draws, alpha = 2000, 0.05
    x, y = clustered(np.random.default_rng([SEED, count]), count, draws=draws)
    found = [samples(*row) for row in zip(x, y, strict=True)]
    errors = [known(association(a, b, clusters=c).p) <= alpha for a, b, c in found]
    assert 0.03 < np.mean(errors) <= alpha + 4 * math.sqrt(alpha * (1 - alpha) / draws)
    naive = [known(association(a, b).p) <= alpha for a, b, _ in found[:500]]
    assert np.mean(naive) > 0.2
