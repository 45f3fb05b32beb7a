"""The interval of a correlation by resampling its points.

The generator starts from a constant and the points are put in order first, so that the same
points always give the same interval.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.errors import ClaimError
from repro.stats.coefficients import Array, Method, correlate_weighted
from repro.stats.result import Interval

SPLITS_SEED = 1935
OUTCOMES_SEED = 1925
CLUSTERS_SEED = 1937
BOOTSTRAP_SEED = 1992
CONTINUATIONS_SEED = 1952
POWER_SEED = 20210419
"""The constants that each kind of drawing starts from: the same evidence has the same p."""

RESAMPLES = 9999


def bootstrap_interval(x: Array, y: Array, method: Method, level: float) -> Interval:
    """BCa interval of resampled points; ``ClaimError`` where they are too regular for it.

    A resample that does not vary has coefficient 0. Efron 1987. Too short with ten points.
    """
    from scipy.stats import bootstrap  # noqa: PLC0415 - half a second, seldom needed

    count = len(x)

    def statistic(drawn: npt.NDArray[np.integer[Any]], axis: int) -> Array:
        rows = np.moveaxis(drawn, axis, -1).reshape(-1, drawn.shape[axis])
        cells = rows + count * np.arange(len(rows))[:, None]
        weights = np.bincount(cells.ravel(), minlength=count * len(rows)).reshape(-1, count)
        coefficients = correlate_weighted(x, y, weights.astype(float), method)
        return coefficients.reshape(np.delete(drawn.shape, axis))

    with warnings.catch_warnings():  # scipy warns of an interval that it cannot compute
        warnings.simplefilter("ignore", RuntimeWarning)
        outcome = bootstrap(
            (np.arange(count),),
            statistic,
            n_resamples=RESAMPLES,
            batch=1000,
            vectorized=True,
            confidence_level=level,
            method="BCa",
            rng=np.random.default_rng(BOOTSTRAP_SEED),
        )
    own = outcome.confidence_interval
    if not own.low <= own.high:
        raise ClaimError("these points are too regular for a BCa bootstrap; use fisher_z")
    return Interval(float(own.low), float(own.high), level)
