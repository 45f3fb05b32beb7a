"""Rows of low rank, reduced to their coordinates in a few directions: far cheaper than V^2 numbers.

The rows of a Softmax of d inputs have d + 2 directions, whatever the vocabulary. An orthonormal
basis of them grows as they are read. What is left out of a row is orthogonal to the basis that the
row met, and the sum of its squares bounds what it can change in a singular value:

- where the basis was the same for all rows, sigma^2 <= true sigma^2 <= sigma^2 + left^2;
- what was left out before the basis grew last adds its norm on either side (Weyl's inequality).

So a count is told with whether it is certain, and is never a guess. Rows with more directions than
a share of the columns go on as a Gram matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self

import numpy as np

Array = np.ndarray[Any, np.dtype[np.floating[Any]]]

LEAST_COLUMNS: Final = 512
"""A matrix with fewer columns has a Gram matrix at once."""

SHARE: Final = 8
"""The basis has a vector per so many columns at most: beyond, a Gram matrix costs less."""

FEWER: Final = 15 / 16
"""Rows of low rank have fewer directions than this share of a first block of several."""

LEFT_OUT: Final = 0.25
"""Share of the least threshold that may be left out of the rows."""

ROUNDS: Final = 5
"""Times that a block may add to the basis; two are enough but for rounding."""

MEANT: Final = 1e-13
"""Squares below this share of the largest are rounding of the others."""


class ManyDirectionsError(Exception):
    """Rows that are not of low rank."""


class LowRank:
    """Rows (M, V) as ``gram`` (R, R) of their coordinates in ``basis`` (R, V), rows orthonormal.

    ``threshold`` is the least, relative to the largest singular value, that is to be counted at.
    ``vectors`` is how many the basis may have (0: a SHARE of the columns); ``whole``: the first
    block may take all of them, and else must have clearly fewer directions than rows.
    ``left_before`` and ``left_since`` are sums of squares of what was left out, before the basis
    grew last and since then.
    """

    def __init__(
        self, columns: int, threshold: float, *, vectors: int = 0, whole: bool = False
    ) -> None:
        self.threshold = threshold
        self.vectors = vectors or columns // SHARE
        self.whole = whole
        self.tolerance = (LEFT_OUT * threshold) ** 2
        self.basis: Array = np.zeros((0, columns))
        self.gram: Array = np.zeros((0, 0))
        self.left_before = 0.0
        self.left_since = 0.0

    @property
    def state(self) -> tuple[Array, ...]:
        """All of it, as arrays."""
        return self.basis, self.gram, np.array([self.left_before, self.left_since])

    @classmethod
    def of(cls, state: Sequence[Array], threshold: float, vectors: int = 0) -> Self:
        """The basis that left this ``state``, which a checkpoint keeps."""
        found = cls(state[0].shape[1], threshold, vectors=vectors)
        found.basis, found.gram = state[:2]
        found.left_before, found.left_since = map(float, state[2])
        return found

    def add(self, block: Array) -> None:
        """Take the rows (M, V) of a block; ManyDirectionsError where they have too many."""
        before = len(self.basis)
        allowed = self.tolerance * _squares(block)
        coordinates, residual = self._split(block)
        few = self.whole or len(self.gram)
        most = self.vectors if few else min(self.vectors, int(FEWER * len(block)))
        for _ in range(ROUNDS):
            if _squares(residual) <= allowed:
                break
            new = _directions(residual, allowed / 2, most - len(self.basis))
            for _ in range(2):  # rounding is taken out of them twice
                new = new - (new @ self.basis.T) @ self.basis
                new = np.linalg.qr(new.T)[0].T
            self.basis = np.concatenate([self.basis, new])
            coordinates, residual = self._split(block)
        else:
            raise ManyDirectionsError
        if added := len(self.basis) - before:
            self.gram = np.pad(self.gram, (0, added))
            self.left_before, self.left_since = self.left_before + self.left_since, 0.0
        self.gram += coordinates.T @ coordinates
        self.left_since += _squares(residual)

    def _split(self, block: Array) -> tuple[Array, Array]:
        """Coordinates (M, R) in the basis, and what is left out of the rows (M, V)."""
        coordinates = block @ self.basis.T
        return coordinates, block - coordinates @ self.basis

    def singular_values(self) -> Array:
        """Those of the rows without what was left out, falling, as many as the basis has."""
        values: Array = np.linalg.eigvalsh(self.gram)[::-1]
        return np.sqrt(np.maximum(values, 0.0))

    def bounds(self, values: Array) -> tuple[Array, Array]:
        """What the true singular values lie between, for these ``values``."""
        moved = np.sqrt(self.left_before)
        most = np.sqrt(values**2 + self.left_since) + moved
        return np.maximum(values - moved, 0.0), most

    def tails(self, values: Array) -> tuple[Array, Array]:
        """What the sums of squares after the first k singular values lie between, k from 0.

        As for ``bounds``: what was left out since the basis grew last is orthogonal to it, and
        what was left out before adds its norm on either side.
        """
        moved = np.sqrt(self.left_before)
        kept = np.append(np.cumsum((values**2)[::-1])[::-1], 0.0)
        most = (np.sqrt(kept + self.left_since) + moved) ** 2
        return np.maximum(np.sqrt(kept) - moved, 0.0) ** 2, most


def _squares(rows: Array) -> float:
    """The sum of the squares of all entries."""
    return float(np.vdot(rows, rows))


def _directions(rows: Array, allowed: float, most: int) -> Array:
    """The fewest unit vectors (R, V) without which the squares of ``rows`` are ``allowed``.

    ManyDirectionsError where there are more than ``most``, which eigenvalues tell without the
    vectors, in a fraction of the time.
    """
    products = rows @ rows.T
    if _enough(np.linalg.eigvalsh(products), allowed) > most:
        raise ManyDirectionsError
    squares, mixtures = np.linalg.eigh(products)
    kept = _enough(squares, allowed)
    if kept > most:
        raise ManyDirectionsError
    squares, mixtures = squares[::-1][:kept], mixtures[:, ::-1][:, :kept]
    found: Array = (mixtures.T @ rows) / np.sqrt(squares[:, None])
    return found


def _enough(rising: Array, allowed: float) -> int:
    """How many of the largest squares leave no more than ``allowed`` of their sum; at least one.

    Squares that are rounding of the largest are none.
    """
    squares = np.maximum(rising[::-1], 0.0)
    left = np.append(np.cumsum(squares[::-1])[::-1], 0.0)
    meant = int(np.count_nonzero(squares > MEANT * squares[0]))
    return max(1, min(int(np.argmax(left <= allowed)), meant))
