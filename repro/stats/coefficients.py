"""Coefficients of correlation, one or a hundred thousand at a time.

The same code serves the claims (one pair of variables), the bootstrap and leave-one-out
(one pair, many weights) and the simulations of error rates (many pairs).
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from repro.errors import ClaimError, TooFewError
from repro.stats.sample import ROUND_OFF, Sample, levelled

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
        raise TooFewError(f"{method} needs at least {FEWEST[method]} points, not {x.n}")
    if x.constant or y.constant:
        raise ClaimError("a variable that does not vary correlates with nothing")
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
