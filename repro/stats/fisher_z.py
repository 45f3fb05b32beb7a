"""Fisher's z, the inverse hyperbolic tangent of a correlation: almost normal, of known variance.

The array functions take coefficients of any shape, so that a simulation of the error rates
runs the very code that judges a claim.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr, ndtri

from repro.stats.coefficients import PERFECT, Array, Method
from repro.stats.result import Interval


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
    Without it ten normal points would exceed a bound of .5 in .056 of cases instead of .05.
    """
    return math.atanh(bound) + bound / (2 * (n - 1))


def p_above(r: Array, n: int, bound: float, method: Method) -> Array:
    """One-sided p of *the true coefficient is at most* ``bound``."""
    return np.asarray(ndtr((edge(bound, n) - np.arctanh(r)) / standard_error(method, n, bound)))


def p_within(r: Array, n: int, bound: float, method: Method) -> Array:
    """The p of *at least* ``bound`` *in size*: the larger of two one-sided tests."""
    return p_above(-np.abs(r), n, -bound, method)


def p_beyond(r: Array, n: int, bound: float, method: Method) -> Array:
    """The p of *at most* ``bound`` *in size*, where that is hardest to reject: at the bound.

    The chance of a coefficient this large with either sign, so that the level holds for a
    bound near 0 too.
    """
    size = np.abs(r)
    return p_above(size, n, bound, method) + p_above(size, n, -bound, method)
