"""BLAS and LAPACK on a part of an array, in place; scipy's wrappers would copy it.

The routines are those that scipy hands out to compiled code (`scipy.linalg.cython_blas`,
`scipy.linalg.cython_lapack`).

With them it is counted how many eigenvalues of a symmetric matrix are above a limit, without any of
them. By Sylvester's law: the matrix less the limit on its diagonal is factorised into L D L^T, and
has as many positive eigenvalues as D, whose blocks have one column or two. The pivots are those of
Bunch and Kaufman (1977), as in LAPACK's dsytrf, whose panels of 64 columns take an eighth longer.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from scipy.linalg import cython_blas, cython_lapack
from scipy.linalg.lapack import dsytrf

Array = np.ndarray[Any, np.dtype[np.floating[Any]]]
Pivots = np.ndarray[Any, np.dtype[np.intc]]


INTEGERS: Final = {"dgemm": 6, "dlasyf": 7}
"""Arguments of a routine that are integers."""


def _routine(module: Any, name: str) -> Any:
    """A routine, which takes addresses alone, from the capsule in which a module hands it out."""
    capsule = module.__pyx_capi__[name]
    named, address = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    named.argtypes, named.restype = [ctypes.py_object], ctypes.c_char_p
    _check_integers(name, named(capsule).decode())
    address.argtypes, address.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    return ctypes.CFUNCTYPE(None)(address(capsule, named(capsule)))


def _check_integers(name: str, signature: str) -> None:
    """ImportError for a routine that does not take its sizes as int, which has four bytes."""
    if len(re.findall(r"\bint \*", signature)) != INTEGERS[name]:
        raise ImportError(
            f"scipy hands out {name} as {signature}\n"
            f"  expected: {INTEGERS[name]} arguments of int *, which have four bytes\n"
            "  to do: install scipy from PyPI, whose integers are of that size"
        )


_DGEMM: Final = _routine(cython_blas, "dgemm")
_DLASYF: Final = _routine(cython_lapack, "dlasyf")


def add_product(total: Array, left: Array, right: Array) -> None:
    """Add ``left`` (M, K) times ``right`` (N, K) transposed to ``total`` (M, N), all float64.

    ``total`` is in Fortran's order, or a part of an array that is. A tenth faster than numpy, which
    makes the product first.

    Raises ValueError for other arrays.
    """
    (m, n), k = total.shape, left.shape[1]
    if left.shape != (m, k) or right.shape != (n, k):
        raise ValueError(f"{left.shape} times {right.shape} transposed is not {total.shape}")
    if k == 0 or total.size == 0:
        return
    _check(total)
    left, right = (
        x if _is_by_columns(x) or _is_by_columns(x.T) else np.array(x, np.float64, order="F")
        for x in (left, right)
    )
    _DGEMM(
        b"N" if _is_by_columns(left) else b"T",
        b"T" if _is_by_columns(right) else b"N",
        *_sizes(m, n, k),
        ctypes.byref(ctypes.c_double(1)),
        *_place(left),
        *_place(right),
        ctypes.byref(ctypes.c_double(1)),
        *_place(total),
    )


def factorise_columns(matrix: Array, room: Array) -> Pivots:
    """The next columns of the factorisation L D L^T of a ``matrix`` (V, V), and what is left of it.

    Its lower triangle is used and overwritten, as LAPACK's dlasyf does; it is float64 and in
    Fortran's order, or a part of an array that is. There are as many columns as ``room`` (V, N) has
    (N < V), or one less. Returns their pivots: below 0 for the two columns of a block of two.

    Raises ValueError for other arrays.
    """
    _check(matrix)
    _check(room)
    rows, most = room.shape
    if matrix.shape != (rows, rows) or not 1 < most < rows:
        raise ValueError(f"no room of {room.shape} for a matrix {matrix.shape}")
    pivots = np.empty(most, dtype=np.intc)
    done, failed = ctypes.c_int(), ctypes.c_int()
    _DLASYF(
        b"L",
        *_sizes(rows, most),
        ctypes.byref(done),
        *_place(matrix),
        ctypes.c_void_p(pivots.ctypes.data),
        *_place(room),
        ctypes.byref(failed),
    )
    return pivots[: done.value]


def _check(array: Array) -> None:
    """ValueError where a routine could not write into an array."""
    if not (_is_by_columns(array) and array.flags.writeable):
        raise ValueError("not float64 in Fortran's order, or read-only")


def _is_by_columns(array: Array) -> bool:
    """Whether each column is in one piece, and lies behind the one before, in float64."""
    within, between = array.strides
    apart = between >= 8 * len(array) or array.shape[1] == 1
    return array.dtype == np.float64 and apart and (within == 8 or len(array) == 1)


def _sizes(*sizes: int) -> list[Any]:
    return [ctypes.byref(ctypes.c_int(size)) for size in sizes]


def _place(array: Array) -> list[Any]:
    """Where an array begins, and the distance of its columns, or of its rows."""
    given = array if _is_by_columns(array) else array.T
    return [ctypes.c_void_p(array.ctypes.data), *_sizes(max(given.strides[1] // 8, len(given)))]


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
