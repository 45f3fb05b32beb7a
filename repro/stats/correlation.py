"""Do two variables go together, and how closely? Also where points belong to clusters.

And do values follow each other? Checkpoints of one run, windows of one evaluation and sorted rows
resemble their neighbours; seeds do not. Tests take replicates for independent, and err far more
often where they follow each other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtr

from repro.errors import ClaimError, TooFewError
from repro.stats.coefficients import (
    CLUSTERS_SEED,
    PERFECT,
    Array,
    Method,
    aligned,
    centred,
    concordance,
    correlate,
    fisher_interval,
    midranks,
    p_above,
    p_beyond,
    p_within,
    standard_error,
    tail_p_values,
)
from repro.stats.records import Interval, Sample, TestResult, check_alpha

Sign: TypeAlias = Literal["positive", "negative", "different"]

MOST_PERMUTED = 9
"""Points up to which all orders (362,880) are tried where scipy has no exact p."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssociationResult(TestResult):
    """The result of an association: its coefficient, how p was computed, clusters."""

    method: Method
    p_method: str
    clusters: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MagnitudeResult(TestResult):
    """The result of a bound on a correlation's size."""

    method: Method


def association(
    x: Sample,
    y: Sample,
    *,
    method: Method = "pearson",
    direction: Sign = "different",
    clusters: Sequence[int] | None = None,
    alpha: float = 0.05,
) -> AssociationResult:
    """Two-sided test of no association; the sign of the effect decides about a direction.

    ``x`` and ``y`` hold one value for each point, and ``effect`` is the coefficient. p is
    exact for Pearson with normal data, for Spearman up to nine points (then Student's t,
    which errs in .054 of cases at ten and .053 at fifteen) and for Kendall without ties. The
    interval of level ``1 - alpha`` is symmetric in Fisher's z; a perfect correlation has none.
    ``clusters`` names for each point of ``x`` what it belongs to: then p is
    ``cluster_permutation_p``, and there is neither interval nor standard error.

    ``ClaimError`` for points that do not match, a constant variable, fewer than four points
    (Kendall: five) or five clusters, clusters of different sizes, and where no order of the
    points, or of the clusters, could reach alpha.
    Fisher 1921; Bonett & Wright 2000; statistics.md 1.4.
    """
    check_alpha(alpha)
    if direction not in ("positive", "negative", "different"):
        raise ClaimError(f"direction is positive, negative or different, not {direction!r}")
    first, second = aligned(x, y, method)
    _refuse_undecidable(method, x.n, alpha)
    r = float(correlate(first, second, method))
    if clusters is not None:
        p, exact = cluster_permutation_p(x, y, clusters, method, alpha)
        ends, p_method = None, f"cluster permutation, {'exact' if exact else 'drawn'}"
    else:
        p, p_method = _p_value(first, second, r, method)
        ends = fisher_interval(method, r, x.n, 1 - alpha)
    return AssociationResult(
        test="association",
        effect=r,
        alpha=alpha,
        n=(x.n,),
        interval=ends,
        p=p,
        se=standard_error(method, x.n, r) if clusters is None else None,
        alternative="two-sided",
        method=method,
        p_method=p_method,
        clusters=None if clusters is None else len(set(clusters)),
    )


def p_by_student(r: Array, n: int) -> Array:
    """Two-sided p of a product-moment coefficient, from Student's t with ``n - 2``."""
    r = np.clip(r, -PERFECT, PERFECT)
    return np.asarray(2 * stdtr(n - 2, -np.abs(r) * np.sqrt((n - 2) / (1 - r**2))))


def _p_value(x: Array, y: Array, r: float, method: Method) -> tuple[float, str]:
    n = len(x)
    if method == "pearson" or (method == "spearman" and n > MOST_PERMUTED):
        return float(p_by_student(np.array(r), n)), "t"
    untied = len(set(x)) == len(set(y)) == n
    if n <= MOST_PERMUTED and (method == "spearman" or not untied):
        return _permutation_p(x, y, method), "exact"
    from scipy.stats import kendalltau  # noqa: PLC0415 - half a second that Pearson does not need

    p = float(kendalltau(x, y).pvalue)
    return p, "exact" if untied and n <= 33 else "normal"


def _permutation_p(x: Array, y: Array, method: Method) -> float:
    from scipy.stats import permutation_test  # noqa: PLC0415 - half a second, seldom needed

    def statistic(order: Array, axis: int) -> Array:
        order = np.moveaxis(order, axis, -1)
        return concordance(order, y) if method == "kendall" else np.sum(order * y, axis=-1)

    if method == "spearman":  # doubled, so that all sums are whole and equal ones compare equal
        x, y = 2 * midranks(x), 2 * midranks(y)
    outcome = permutation_test(
        (x,),
        statistic,
        permutation_type="pairings",
        n_resamples=math.factorial(len(x)),
        batch=50_000,
        vectorized=True,
    )
    return float(outcome.pvalue)


def _refuse_undecidable(method: Method, n: int, alpha: float) -> None:
    smallest = 2 / math.factorial(n)
    if method != "pearson" and smallest > alpha:
        raise TooFewError(
            f"{n} points cannot decide: even a perfect order has p = {smallest:.3g}, "
            f"above alpha = {alpha:g}",
            advice="add points",
        )


def magnitude(
    x: Sample,
    y: Sample,
    *,
    method: Method = "pearson",
    at_most: float | None = None,
    at_least: float | None = None,
    alpha: float = 0.05,
) -> MagnitudeResult:
    """Is the size of the true coefficient below ``at_most``, or above ``at_least``?

    *Below* is an equivalence, two one-sided tests; *above* is tested against the bound with
    either sign. Both are one-sided at ``alpha`` with the bias of z taken off, and p and
    ``p_opposite`` decide. The interval, of level ``1 - 2 alpha``, is that of the equivalence.
    ``low`` and ``high`` bound the claimed coefficient for ``at_most``; for ``at_least`` ``low``
    bounds its size.

    Meant for normal data: with t4 tails a Pearson bound of .5 errs in .08 to .135 of cases,
    and Kendall's with ten normal points in .07. ``ClaimError`` unless exactly one bound lies
    between 0 and 1, for a perfect correlation, and as ``association`` for the points.
    Fisher 1921; Schuirmann 1987; statistics.md 1.4, 2.2.
    """
    check_alpha(alpha)
    bound = _only_bound(at_most, at_least)
    r, n = float(correlate(*aligned(x, y, method), method)), x.n
    if abs(r) >= PERFECT:
        raise ClaimError("a perfect correlation has an infinite z, so its size cannot be tested")
    size = np.array(r)
    inside = float(p_within(size, n, bound, method))
    beyond = float(p_beyond(size, n, bound, method))
    if at_most is not None:
        p, opposite, low, high = inside, beyond, -bound, bound
    else:
        p, opposite, low, high = beyond, inside, bound, None
    return MagnitudeResult(
        test="magnitude",
        effect=r,
        alpha=alpha,
        n=(n,),
        interval=_interval(r, n, method, alpha),
        p=p,
        p_opposite=opposite,
        se=standard_error(method, n, bound),
        low=low,
        high=high,
        method=method,
    )


def _only_bound(at_most: float | None, at_least: float | None) -> float:
    given = [bound for bound in (at_most, at_least) if bound is not None]
    if len(given) != 1 or not 0 < given[0] < 1:
        raise ClaimError(f"the size of a correlation has one bound between 0 and 1, not {given}")
    return given[0]


def _interval(r: float, n: int, method: Method, alpha: float) -> Interval:
    """The coefficients that neither one-sided test rejects."""
    from scipy.optimize import brentq  # noqa: PLC0415 - a quarter of a second, seldom needed

    def end(target: float) -> float:
        def excess(rho: float) -> float:
            return float(p_above(np.array(r), n, rho, method)) - target

        return float(brentq(excess, -PERFECT, PERFECT, xtol=math.ulp(1.0)))

    return Interval(end(alpha), end(1 - alpha), 1 - 2 * alpha)


DRAWS = 9999
"""Orders drawn where there are more than this; up to seven clusters (5,040) all are tried."""

FEWEST_CLUSTERS = 5
"""Fewer clusters say too little about others."""


def cluster_permutation_p(
    x: Sample, y: Sample, clusters: Sequence[int], method: Method, alpha: float
) -> tuple[float, bool]:
    """Two-sided p when whole clusters of ``y`` change places, and whether all orders were tried.

    ``clusters`` holds one number for each point of ``x``. The points of a cluster stay together
    and in the order of their replicates; p is the share of orders whose coefficient is at least
    as large in size: of all of them up to 9,999, else of 9,999 drawn from a fixed seed,
    ``p = (b + 1) / (m + 1)``. It is valid where the two variables are independent and the
    clusters of one of them are exchangeable; that the correlation is 0 is not enough.

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
            f"p = {smallest:.3g}, above alpha = {alpha:g}",
            advice="add clusters",
        )


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
        most, draws = found + 1e-9, math.ceil(200 / level)
        chance = share_of_orders(ranks, draws, lambda orders: _steps(orders) <= most)
    return ratio if chance <= level * (1 + 1e-9) else None


def _steps(ranks: Array) -> Array:
    """The sum of the squared differences of neighbours, in each row."""
    return np.asarray((np.diff(ranks) ** 2).sum(-1))


@lru_cache(maxsize=16)
def _all_steps(ranks: tuple[float, ...]) -> npt.NDArray[np.float32]:
    """What ``_steps`` gives for every order of these ranks, the smallest first."""
    orders = np.array(list(itertools.permutations(range(len(ranks)))), dtype=np.int8)
    return np.sort(_steps(np.array(ranks, dtype=np.float32)[orders]))


def share_of_orders(
    ranks: Array, draws: int, counted: Callable[[Array], npt.NDArray[np.bool_]]
) -> float:
    """The share of orders that are ``counted``, among so many at random; the same ones always."""
    draws, found = min(MOST_ORDERS, draws), 0
    rng = np.random.default_rng(0)
    for first in range(0, draws, AT_ONCE):
        orders = rng.permuted(np.tile(ranks, (min(AT_ONCE, draws - first), 1)), axis=1)
        found += int(counted(orders).sum())
    return (1 + found) / (1 + draws)
