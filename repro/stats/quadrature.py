"""Gauss-Legendre quadrature, computed when it is first needed."""

from functools import cache

import numpy as np
import numpy.typing as npt


@cache
def legendre(points: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Nodes between -1 and 1, and their weights."""
    return np.polynomial.legendre.leggauss(points)
