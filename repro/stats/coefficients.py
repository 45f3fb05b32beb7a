"""Coefficients of correlation, and their intervals.

The array functions take coefficients of any shape: the same code serves the claims and the
simulations of error rates. Fisher's z, the inverse hyperbolic tangent of a correlation, is almost
normal, of known variance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from repro.errors import ClaimError, TooFewError
from repro.stats.records import (
    ROUND_OFF,
    Interval,
    Sample,
    check_finite,
    levelled,
)

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Method: TypeAlias = Literal["pearson", "spearman", "kendall"]
METHODS: tuple[Method, ...] = ("pearson", "spearman", "kendall")

FEWEST = {"pearson": 4, "spearman": 4, "kendall": 5}
"""Points below which the coefficient has no standard error."""

PERFECT = 1 - 1e-12
"""A coefficient of at least this size is 1 but for the order of floating-point additions."""


def aligned(x: Sample, y: Sample, method: Method) -> tuple[Array, Array]:
    """The values of two samples, point by point, whatever the order of their replicates.

    ``ClaimError`` for an unknown method, samples of different replicates, too few points
    and a variable that does not vary.
    """
    if method not in METHODS:
        raise ClaimError(f"a correlation is {', '.join(METHODS)}, not {method!r}")
    if set(x.replicates) != set(y.replicates):
        raise ClaimError("a correlation needs both variables at the same points, and only there")
    if x.n < FEWEST[method]:
        raise TooFewError(
            f"{method} needs at least {FEWEST[method]} points, not {x.n}", advice="add points"
        )
    if x.constant or y.constant:
        raise ClaimError(
            "a variable that does not vary correlates with nothing",
            advice="use points that differ in both, or a bound on the one",
        )
    if method != "pearson":
        (x,), (y,) = levelled(x), levelled(y)
    partner = dict(zip(y.replicates, y.values, strict=True))
    points = sorted(zip(x.values, (partner[number] for number in x.replicates), strict=True))
    first, second = np.array(points).T
    return first, second


def correlate(x: Array, y: Array, method: Method) -> Array:
    """The coefficient along the last axis, which holds the points; ties have their midrank.

    Kendall's is tau-b. 0 where a variable does not vary.
    """
    if method == "kendall":
        spread = concordance(x, x) * concordance(y, y)
        return _ratio(concordance(x, y), np.sqrt(spread))
    if method == "spearman":
        x, y = midranks(x), midranks(y)
    return _product_moment(x, y, np.ones_like(x))


def correlate_weighted(x: Array, y: Array, weights: Array, method: Method) -> Array:
    """The coefficient of one set of points for each row of weights, ``(rows, points)``.

    A weight is how often the point counts; 0 leaves it out. 0 where a variable does not
    vary among the points that count.
    """
    if method == "kendall":
        sign_x, sign_y = (np.sign(v[:, None] - v) for v in (x, y))
        concordance, spread_x, spread_y = (
            np.einsum("ri,ri->r", weights @ pairs, weights)
            for pairs in (sign_x * sign_y, sign_x**2, sign_y**2)
        )
        return _ratio(concordance, np.sqrt(spread_x * spread_y))
    if method == "spearman":
        x, y = (weights @ ((v[:, None] < v) + (v[:, None] == v) / 2) for v in (x, y))
    else:
        x, y = (np.broadcast_to(v, weights.shape) for v in (x, y))
    return _product_moment(x, y, weights)


def centred(values: Array) -> Array:
    """Deviations from the mean along the last axis, the largest of them 1."""
    return _centre(values, np.ones_like(values))


def midranks(values: Array) -> Array:
    """Ranks from 1 along the last axis; ties share the mean of theirs."""
    from scipy.stats import rankdata  # noqa: PLC0415 - half a second that Pearson does not need

    ranks: Array = rankdata(values, axis=-1)
    return ranks


def concordance(x: Array, y: Array) -> Array:
    """Concordant minus discordant pairs along the last axis (Kendall's S); ties count as 0."""
    total: Array = np.zeros(np.broadcast_shapes(x.shape, y.shape)[:-1])
    for lag in range(1, x.shape[-1]):
        steps = [np.sign(v[..., lag:] - v[..., :-lag]) for v in (x, y)]
        total = total + np.sum(steps[0] * steps[1], axis=-1)
    return total


def _product_moment(x: Array, y: Array, weights: Array) -> Array:
    x, y = _centre(x, weights), _centre(y, weights)
    spread = [np.sum(weights * v * v, axis=-1) for v in (x, y)]
    return _ratio(np.sum(weights * x * y, axis=-1), np.sqrt(spread[0]) * np.sqrt(spread[1]))


def _centre(values: Array, weights: Array) -> Array:
    """Deviations from the weighted mean, the largest of them 1, so that no square overflows."""
    total = np.sum(weights, axis=-1, keepdims=True)
    centred = values - np.sum(weights * values, axis=-1, keepdims=True) / total
    centred = np.where(weights > 0, centred, 0.0)
    largest = np.max(np.abs(centred), axis=-1, keepdims=True)
    scale = np.max(np.abs(values), axis=-1, keepdims=True)
    varies = largest > ROUND_OFF * scale
    scaled: Array = np.divide(centred, largest, out=np.zeros_like(centred), where=varies)
    return scaled


def _ratio(above: Array, below: Array) -> Array:
    ratio: Array = np.divide(above, below, out=np.zeros_like(below, dtype=float), where=below > 0)
    return np.clip(ratio, -1.0, 1.0, out=ratio)


def standard_error(method: Method, n: int, rho: float) -> float:
    """Standard error of z for ``n`` points and a true coefficient ``rho``.

    Pearson: Fisher 1921; Spearman: Bonett & Wright 2000; Kendall: Fieller, Hartley &
    Pearson 1957. For Kendall too small below ten points.
    """
    if method == "kendall":
        return math.sqrt(0.437 / (n - 4))
    if method == "spearman":
        return math.sqrt((1 + rho**2 / 2) / (n - 3))
    return 1 / math.sqrt(n - 3)


def fisher_interval(method: Method, r: float, n: int, level: float) -> Interval | None:
    """The interval of the coefficient, symmetric on the scale of z; none for a perfect one."""
    if abs(r) >= PERFECT:
        return None
    reach = -float(ndtri((1 - level) / 2)) * standard_error(method, n, r)
    return Interval(math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach), level)


def edge(bound: float, n: int) -> float:
    """Where z lies on average when the true coefficient is ``bound``.

    Fisher's z is biased outwards by ``rho / (2 (n - 1))`` (Fisher 1921; Hotelling 1953).
    """
    return math.atanh(bound) + bound / (2 * (n - 1))


def p_above(r: Array, n: int, bound: float, method: Method) -> Array:
    """One-sided p of *the true coefficient is at most* ``bound``."""
    return np.asarray(ndtr((edge(bound, n) - np.arctanh(r)) / standard_error(method, n, bound)))


def p_within(r: Array, n: int, bound: float, method: Method) -> Array:
    """The p of *at least* ``bound`` *in size*: the larger of two one-sided tests."""
    return p_above(-np.abs(r), n, -bound, method)


def p_beyond(r: Array, n: int, bound: float, method: Method) -> Array:
    """The p of *at most* ``bound`` *in size*: the chance of this size with either sign, at it."""
    size = np.abs(r)
    return p_above(size, n, bound, method) + p_above(size, n, -bound, method)


SPLITS_SEED = 1935
OUTCOMES_SEED = 1925
CLUSTERS_SEED = 1937
CONTINUATIONS_SEED = 1952

POWER_SEED = 20210419
"""The constants that each kind of drawing starts from: the same evidence has the same p."""

RESOLUTION = 1e-9
"""Statistics that differ by less, relatively, are equal."""


@dataclass(frozen=True, slots=True)
class RestrictedRange:
    """A correlation inside a window of y, and what the choice of the window alone predicts.

    ``interval`` is that of the observed coefficient; ``None`` for a perfect one.
    """

    full: float
    observed: float
    predicted: float
    n_window: int
    interval: Interval | None


def restricted(
    x: Sample, y: Sample, *, low: float, high: float, level: float = 0.95
) -> RestrictedRange:
    """Pearson's correlation among the points with ``low <= y <= high``.

    Choosing points by y shrinks the correlation mechanically. For a linear relation of even
    scatter the full-range r becomes ``r u / sqrt(1 + r^2 (u^2 - 1))`` (Thorndike 1949,
    case 2, run forwards). ``ClaimError`` as ``association`` for the points, all of them and
    those in the window. statistics.md 1.4; facts.md 6.1 a.
    """
    if not check_finite("low", low) < check_finite("high", high):
        raise ClaimError(f"a window runs from low to high, not {low} to {high}")
    all_x, all_y = aligned(x, y, "pearson")
    kept = (low <= all_y) & (all_y <= high)
    window = [Sample.of(*map(float, values[kept])) for values in (all_x, all_y) if kept.any()]
    if len(window) < 2:
        raise ClaimError(f"no point lies between {low} and {high}")
    full = float(correlate(all_x, all_y, "pearson"))
    observed = float(correlate(*aligned(window[0], window[1], "pearson"), "pearson"))
    u = float(np.std(all_y[kept], ddof=1) / np.std(all_y, ddof=1))
    return RestrictedRange(
        full=full,
        observed=observed,
        predicted=restricted_r(full, u),
        n_window=window[0].n,
        interval=fisher_interval("pearson", observed, window[0].n, level),
    )


def restricted_r(r: float, u: float) -> float:
    """The correlation left when selection makes the standard deviation ``u`` times its size."""
    return r * u / math.sqrt(1 + r**2 * (u**2 - 1))


def leave_one_out(x: Sample, y: Sample, *, method: Method) -> tuple[float, float, int]:
    """Lowest and highest coefficient with one point left out; the most influential replicate.

    ``ClaimError`` as ``association``, and where one point fewer would be too few.
    """
    if x.n <= FEWEST[method]:
        raise ClaimError(f"{method} without one of {x.n} points has too few of them")
    aligned(x, y, method)
    partner = dict(zip(y.replicates, y.values, strict=True))
    first = np.array(x.values)
    second = np.array([partner[number] for number in x.replicates])
    without = correlate_weighted(first, second, 1 - np.eye(x.n), method)
    moved = np.abs(without - correlate(first, second, method))
    return float(without.min()), float(without.max()), x.replicates[int(moved.argmax())]


def tail_p_values(null: Array, observed: Array, *, exact: bool) -> tuple[Array, Array]:
    """Shares of ``null`` (first axis: the resamples) at least, and at most, as large as observed.

    Where it is not exact the observed one counts as one of the draws, so that no p is 0.
    """
    near = RESOLUTION * np.maximum(1.0, np.abs(observed))
    extra = 0 if exact else 1
    greater = (np.sum(null >= observed - near, axis=0) + extra) / (null.shape[0] + extra)
    less = (np.sum(null <= observed + near, axis=0) + extra) / (null.shape[0] + extra)
    return greater, less
