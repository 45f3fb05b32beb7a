"""How many eigenvalues of a symmetric matrix are above a limit, without any of them.

By Sylvester's law: the matrix less the limit on its diagonal is factorised into L D L^T, and has as
many positive eigenvalues as D, whose blocks have one column or two. The pivots are those of Bunch
and Kaufman (1977), as in LAPACK's dsytrf, whose panels of 64 columns take an eighth longer here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from scipy.linalg.lapack import dsytrf

from repro.rank.in_place import Array, Pivots, factorise_columns

PANEL: Final = 128
"""Columns that are factorised before the others are updated."""

MIRRORED: Final = 512
"""Columns that are copied at a time."""


def counts_above(matrix: Array, limits: Sequence[float]) -> list[int]:
    """How many eigenvalues of a ``matrix`` (V, V) are above each of the ``limits``.

    It is float64, in Fortran's order and symmetric; its lower triangle is read. The upper one keeps
    it while the lower one is factorised: it comes back with both.
    """
    diagonal = matrix.diagonal().copy()
    _mirror(matrix.T)
    found = []
    for limit in limits:
        np.fill_diagonal(matrix, diagonal - limit)
        found.append(_count_positive(matrix))
        _mirror(matrix)
    np.fill_diagonal(matrix, diagonal)
    return found


def _mirror(matrix: Array) -> None:
    """Copy what is above the diagonal to below it."""
    for start in range(0, len(matrix), MIRRORED):
        end = min(start + MIRRORED, len(matrix))
        matrix[end:, start:end] = matrix[start:end, end:].T
        square = matrix[start:end, start:end]
        above = np.triu_indices(end - start, 1)
        square.T[above] = square[above]


def _count_positive(matrix: Array) -> int:
    """The positive eigenvalues of a matrix, whose lower triangle and diagonal are used up."""
    size = len(matrix)
    room = np.empty((size, PANEL), order="F")
    found = start = 0
    while size - start > PANEL:
        rest = matrix[start:, start:]
        pivots = factorise_columns(rest, room[start:])
        found += _positive(rest.diagonal()[: len(pivots)], pivots)
        start += len(pivots)
    factor, pivots, _ = dsytrf(matrix[start:, start:], lower=1)
    return found + _positive(factor.diagonal(), pivots)


def _positive(diagonal: Array, pivots: Pivots) -> int:
    """Positive eigenvalues of D: positive pivots, and one per block of two, which has both."""
    single = pivots > 0
    return int(np.count_nonzero(diagonal[single] > 0)) + int(np.count_nonzero(~single)) // 2
