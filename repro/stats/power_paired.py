"""How often do tests of pairs decide? The one-sample t-test of differences seed by seed.

The standard deviation is always that of the differences: those of the arms do not tell it. Given
the estimated standard deviation, which is chi distributed, each power is a normal probability;
so it is one smooth integral, and for one border the noncentral t of the textbooks.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr, stdtrit

from repro.errors import ClaimError
from repro.stats.power import Array, chi_nodes
from repro.stats.result import check_alpha, check_finite

_FAR = 9.0
"""Standard errors beyond which a normal chance is nothing."""


def power_paired(
    sd: float, n: int, effect: float, *, smallest_effect: float = 0.0, alpha: float = 0.05
) -> float:
    """Chance that the two-sided paired t-test confirms a mean difference of positive sign.

    ``sd`` is that of the ``n`` differences; the whole interval must lie above
    ``smallest_effect``. ``ClaimError`` for fewer than two pairs and an ``sd`` not above 0.
    """
    return power_paired_above(sd, n, effect, smallest_effect, alpha=alpha / 2)


def power_paired_above(
    sd: float, n: int, effect: float, border: float, *, alpha: float = 0.05
) -> float:
    """Chance that the one-sided paired t-test finds the mean difference above ``border``.

    Errors as ``power_paired``.
    """
    distance = check_finite("the effect", effect) - check_finite("the border", border)
    error = sd / math.sqrt(max(n, 1))
    reach, weights = _reach(sd, n, alpha, widest=max(distance, 0.0) + _FAR * error)
    return _chance(weights, ndtr((distance - reach) / error))


def power_paired_equivalence(
    sd: float, n: int, effect: float, *, low: float, high: float, alpha: float = 0.05
) -> float:
    """Chance that two one-sided paired t-tests place the mean difference in ``low`` to ``high``.

    Errors as ``power_paired``, and unless ``low < high``.
    """
    if not low < high:
        raise ClaimError(f"margins run from low to high, not {low} to {high}")
    reach, weights = _reach(sd, n, alpha, widest=(high - low) / 2)
    error = sd / math.sqrt(n)
    inside = ndtr((high - effect - reach) / error) - ndtr((low - effect + reach) / error)
    return _chance(weights, np.maximum(inside, 0.0))


def _reach(sd: float, n: int, tail: float, widest: float = math.inf) -> tuple[Array, Array]:
    """Nodes and weights of the half-width of the interval, up to ``widest``."""
    check_alpha(tail)
    if n < 2:
        raise ClaimError("a paired test needs at least two pairs")
    if check_finite("a standard deviation", sd) <= 0:
        raise ClaimError(f"the standard deviation of the differences lies above 0, not at {sd}")
    unit = -float(stdtrit(n - 1, tail)) * sd / math.sqrt(n * (n - 1))
    radius, weights = chi_nodes((n - 1) / 2, np.array([widest / unit]))
    return unit * radius[0], weights[0]


def _chance(weights: Array, chances: Array) -> float:
    return min(1.0, max(0.0, float(np.sum(weights * chances))))
