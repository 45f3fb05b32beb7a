"""Rows of a matrix, block by block, reduced to its singular values or to counts of them.

The matrix, M contexts x V words, is never held. Four reductions, each with the least threshold
(relative to the largest singular value) that it resolves:

- ``basis``: an orthonormal basis of the rows so far, and the Gram matrix of their coordinates in
  it (`repro.rank.low_rank`): the spectrum. For rows of low rank alone, and far cheaper.
- ``inertia``: the Gram matrix in float64, then the signs of a symmetric factorisation of it,
  shifted by the threshold: counts, and no spectrum. In place: V^2 numbers.
- ``gram``: the Gram matrix, then its eigenvalues: the spectrum. Two to three times V^2 numbers.
- ``qr``: a QR factorisation in float64, updated with each block, then the singular values of its
  factor: the spectrum at every threshold, at a multiple of the work.

A Gram matrix holds squares, so its rounding hides singular values below 3e-7 of the largest: half
the digits of float64 and a factor for thousands of columns. In float32 a Gram matrix is always
wrong, and no reduction here has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, Protocol

import numpy as np
from scipy.linalg import eigvalsh
from scipy.linalg.blas import dsymv
from scipy.sparse.linalg import LinearOperator, eigsh

from repro.errors import MatrixError
from repro.machine import available_memory
from repro.rank.in_place import add_product, counts_above
from repro.rank.low_rank import SHARE, LowRank
from repro.rank.resume import SavedReading
from repro.rank.spectrum import Spectrum, count_above, empirical_rank

Rows = np.ndarray[Any, np.dtype[np.floating[Any]]]
Reduction = Literal["basis", "inertia", "gram", "qr"]

GRAM_RESOLUTION: Final = 3e-7
"""Relative singular value below which the eigenvalues of a float64 Gram matrix are noise."""

QR_RESOLUTION: Final = 1e-15
"""The same of a QR factorisation in float64, for up to some 10,000 columns."""

BLOCK_ROWS: Final = 2048
"""Rows that are gathered before they are reduced: enough for a fast product."""


BLOCK_COLUMNS: Final = 512
"""Columns of a Gram matrix that are added to at a time."""

SMALL: Final = 256
"""A matrix with fewer columns has its eigenvalues taken at once."""

LEAST_DIGIT: Final = 1e-3
"""Relative change of a stable or entropy rank that what is left out may make."""

NO_ROWS: Final = "no rows: a rank needs at least one context"


class Backend(Protocol):
    """The linear algebra of a device: numpy's below, and torch's with the language models."""

    def blocks(self, chunks: Iterable[Any], rows: int) -> Iterator[Any]:
        """Regroup chunks (?, V) into float64 blocks of ``rows`` rows, the last one shorter."""

    def add(self, gram: Any | None, block: Any) -> Any:
        """The Gram matrix (V, V) so far, lower triangle, plus that of a block (M, V)."""

    def eigenvalues(self, gram: Any) -> Spectrum:
        """All eigenvalues of a Gram matrix, in any order; the matrix is used up."""

    def largest(self, gram: Any) -> float:
        """The largest eigenvalue of a Gram matrix, which stays as it is."""

    def counts(self, gram: Any, limits: Sequence[float]) -> list[int]:
        """How many eigenvalues of a Gram matrix are above each limit; they can be asked again."""

    def triangle(self, factor: Any | None, block: Any) -> Any:
        """The triangular factor (at most V, V) of the rows so far and of a block (M, V)."""

    def singular_values(self, factor: Any) -> Spectrum:
        """The singular values of a factor, in any order."""

    def restored(self, saved: Rows) -> Any:
        """A Gram matrix or a factor that was saved as an array, to go on from."""


class Numpy:
    """LAPACK and BLAS through numpy and scipy."""

    def blocks(self, chunks: Iterable[Rows], rows: int) -> Iterator[Rows]:
        """As in Backend; each block is overwritten by the next."""
        buffer: Rows | None = None
        filled = 0
        for chunk in chunks:
            if buffer is None:
                buffer = np.empty((rows, chunk.shape[1]))
            for start in range(0, len(chunk), rows):
                part = chunk[start : start + rows]
                taken = min(rows - filled, len(part))
                buffer[filled : filled + taken] = part[:taken]
                filled += taken
                if filled == rows:
                    yield buffer
                    filled = len(part) - taken
                    buffer[:filled] = part[taken:]
        if buffer is not None and filled:
            yield buffer[:filled]

    def add(self, gram: Spectrum | None, block: Rows) -> Spectrum:
        """As in Backend, in place, some columns at a time: dsyrk of OpenBLAS dies at 33,278."""
        columns = block.shape[1]
        if gram is None:
            gram = np.zeros((columns, columns), order="F")
        for start in range(0, columns, BLOCK_COLUMNS):
            end = start + BLOCK_COLUMNS
            add_product(gram[start:, start:end], block[:, start:].T, block[:, start:end].T)
        return gram

    def eigenvalues(self, gram: Spectrum) -> Spectrum:
        return np.asarray(eigvalsh(gram, lower=True, overwrite_a=True, check_finite=False), float)

    def largest(self, gram: Spectrum) -> float:
        """As in Backend, by Lanczos' iteration."""
        size = len(gram)
        if size < SMALL:
            return float(eigvalsh(gram, lower=True)[-1])
        product = LinearOperator((size, size), lambda x: dsymv(1.0, gram, x, lower=1), dtype=float)
        found = eigsh(product, k=1, which="LA", v0=np.ones(size), return_eigenvectors=False)
        return float(found[0])

    def counts(self, gram: Spectrum, limits: Sequence[float]) -> list[int]:
        """As in Backend, by a symmetric factorisation in place (`counts_above`)."""
        return counts_above(gram, limits)

    def triangle(self, factor: Rows | None, block: Rows) -> Rows:
        stacked = block if factor is None else np.concatenate([factor, block])
        return np.asarray(np.linalg.qr(stacked, mode="r"))

    def singular_values(self, factor: Rows) -> Spectrum:
        return np.asarray(np.linalg.svd(factor, compute_uv=False), float)

    def restored(self, saved: Rows) -> Rows:
        return saved


NUMPY: Final = Numpy()


def reduction_for(least: float, *, spectrum: bool) -> Reduction:
    """The cheapest reduction that resolves the ``least`` threshold, and gives a spectrum if asked.

    Raises MatrixError where none resolves it.
    """
    if least >= GRAM_RESOLUTION:
        return "gram" if spectrum else "inertia"
    if least >= QR_RESOLUTION:
        return "qr"
    message = (
        f"a threshold of {least:.2g} of the largest singular value: rounding in float64 hides what "
        f"is so small\n  expected: at least {QR_RESOLUTION:g}\n  to do: ask for a larger one"
    )
    raise MatrixError(message)


@dataclass
class Reduced:
    """What is left of a matrix of ``rows`` x ``columns``: its spectrum, or its Gram matrix.

    The Gram matrix may be let go (None) once the counts are taken. After ``basis`` the spectrum is
    0 beyond the basis ``low_rank``.
    """

    rows: int
    columns: int
    reduction: Reduction
    backend: Backend
    sigma_1: float
    spectrum: Spectrum | None = None
    gram: Any = None
    low_rank: LowRank | None = None

    @property
    def least(self) -> float:
        """The least threshold that the reduction resolves."""
        if self.low_rank is not None:
            return max(GRAM_RESOLUTION, self.low_rank.threshold)
        return QR_RESOLUTION if self.reduction == "qr" else GRAM_RESOLUTION

    def certain(self, thresholds: Sequence[float]) -> bool:
        """Whether what a basis leaves out changes no rank at the ``thresholds``."""
        if self.low_rank is None:
            return True
        low, high = self.low_rank.bounds(self.values())
        return all(np.sum(low > t * high[0]) == np.sum(high > t * low[0]) for t in thresholds)

    def smooth_certain(self, epsilons: Sequence[float]) -> bool:
        """Whether what a basis leaves out changes no effective rank, and hardly the others."""
        if self.low_rank is None:
            return True
        values = self.values()
        low, high = self.low_rank.tails(values)
        kept = float(np.sum(values**2))
        left = self.low_rank.left_before + self.low_rank.left_since
        effective = all(
            np.argmax(low <= e * (kept + left)) == np.argmax(high <= e * kept)
            and np.any(high <= e * kept)
            for e in epsilons
        )
        if not kept:
            return not left
        share = np.sqrt(len(values) * left) / float(np.sum(values))
        entropy = share * np.log(len(values) / share) if share else 0.0
        return bool(effective and entropy < LEAST_DIGIT and left < LEAST_DIGIT * kept)

    def values(self) -> Spectrum:
        """The spectrum; ValueError after ``inertia``."""
        if self.spectrum is None:
            raise ValueError(f"{self.reduction} gives no spectrum")
        return self.spectrum

    def ranks(self, thresholds: Sequence[float]) -> list[int]:
        """How many singular values are above each threshold times ``sigma_1``."""
        if self.spectrum is not None:
            return [count_above(self.spectrum, threshold) for threshold in thresholds]
        return self.backend.counts(self.gram, [(t * self.sigma_1) ** 2 for t in thresholds])

    def rank_above(self, bound: float) -> int:
        """How many singular values are above a ``bound`` that is not relative.

        Raises MatrixError for one that the reduction does not resolve.
        """
        least = self.least * self.sigma_1
        if bound < least:
            raise MatrixError(
                f"a bound of {bound:.6g}: below {least:.3g} rounding hides singular values of this "
                f"matrix, the largest of which is {self.sigma_1:.6g}\n"
                f"  expected: at least {least:.3g}\n"
                f"  to do: add --threshold {bound / self.sigma_1 / 2:.1g}, which takes a reduction "
                "that resolves it"
            )
        if self.spectrum is not None:
            return empirical_rank(self.spectrum, bound)
        return self.backend.counts(self.gram, [bound**2])[0]


def reduce_rows(
    chunks: Iterable[Any],
    reduction: Reduction,
    backend: Backend = NUMPY,
    checkpoint: SavedReading | None = None,
    threshold: float = GRAM_RESOLUTION,
    room: tuple[int, bool] = (0, False),
) -> Reduced:
    """Read the rows in ``chunks`` (?, V) once; after those that a ``checkpoint`` holds.

    ``threshold`` is the least that a ``basis`` has to resolve, and ``room`` has ``vectors`` and
    ``whole`` of LowRank; a basis is of numpy alone.

    Raises ValueError where there are no rows, ManyDirectionsError where a ``basis`` gets too large.
    """
    vectors, whole = room
    state, rows = checkpoint.taken() if checkpoint else (None, 0)
    if state is not None:
        basis = reduction == "basis"
        state = LowRank.of(state, threshold, vectors) if basis else backend.restored(state)

    extended = partial(_extended, threshold=threshold, vectors=vectors, whole=whole)
    update: Any = {"basis": extended, "qr": backend.triangle}.get(reduction, backend.add)
    block = None
    for block in backend.blocks(chunks, BLOCK_ROWS):
        state = update(state, block)
        rows += len(block)
        if checkpoint and checkpoint.due:
            checkpoint.keep(state, rows, block[-1])
    if state is None:
        raise ValueError(NO_ROWS)
    if checkpoint and block is not None and rows > checkpoint.rows and checkpoint.due_at_end:
        checkpoint.keep(state, rows, block[-1])
    return _reduced(state, rows, reduction, backend)


def _extended(
    low_rank: LowRank | None, block: Rows, *, threshold: float, vectors: int, whole: bool
) -> LowRank:
    """The basis with the rows of a block; a first block that is short is all there is."""
    if low_rank is None:
        whole = whole or len(block) < BLOCK_ROWS
        low_rank = LowRank(block.shape[1], threshold, vectors=vectors, whole=whole)
    low_rank.add(block)
    return low_rank


def _reduced(state: Any, rows: int, reduction: Reduction, backend: Backend) -> Reduced:
    """What is left once all is read."""
    if reduction == "inertia":
        sigma_1 = float(np.sqrt(backend.largest(state)))
        return Reduced(rows, state.shape[1], reduction, backend, sigma_1, gram=state)
    low_rank = state if isinstance(state, LowRank) else None
    if low_rank is not None:
        columns, values = low_rank.basis.shape[1], low_rank.singular_values()
    elif reduction == "qr":
        columns, values = state.shape[1], backend.singular_values(state)
    else:
        columns = state.shape[1]
        values = np.sqrt(np.maximum(backend.eigenvalues(state), 0.0))
    spectrum = np.zeros(columns)
    spectrum[: len(values)] = np.sort(values)[::-1]
    sigma_1 = float(spectrum[0])
    return Reduced(rows, columns, reduction, backend, sigma_1, spectrum, low_rank=low_rank)


SQUARES: Final[dict[Reduction, float]] = {"inertia": 1.02, "gram": 1.02, "qr": 3.5}
"""How many matrices of the columns' size a reduction holds at most, measured as peak memory."""

BLOCKS: Final[dict[Reduction, int]] = {"inertia": 2, "gram": 2, "qr": 6}
"""And how many blocks of rows: at least a chunk of rows as it comes, and the block it goes into."""

COPIES: Final = 3
"""How many times a basis is held while it grows."""


def needed(reduction: Reduction, columns: int, copies: int = 0) -> float:
    """Bytes that a reduction of rows with so many columns takes; with ``copies`` of a Gram matrix.

    LAPACK takes its eigenvalues in place, torch in a copy.
    """
    squares = SQUARES[reduction] + (copies if reduction == "gram" else 0)
    return 8.0 * columns * (squares * columns + BLOCKS[reduction] * BLOCK_ROWS)


def vectors_for(rows: int, columns: int, reduction: Reduction) -> tuple[int, bool]:
    """How many vectors a basis may have, and whether its first block may take all of them.

    An eighth of the columns; as many as there are rows, where these are less than half of the
    columns; and what memory has room for where the other ``reduction`` has none.
    """
    few = columns // SHARE
    memory = available_memory()
    if needed(reduction, columns) > memory:
        room = int(memory / (8.0 * COPIES * columns)) - 2 * BLOCK_ROWS
        return max(few, min(room, columns)), True
    if 1 < rows <= columns // 2:
        return max(few, rows), True
    return few, False


def refuse_without_memory(
    reduction: Reduction, columns: int, *, free: float | None = None, copies: int = 0, do: str = ""
) -> None:
    """MatrixError where memory has no room for a reduction.

    ``free`` are the bytes that there are (absent: this machine's), and ``do`` is what else to do.
    """
    memory = available_memory() if free is None else free
    if (bytes_needed := needed(reduction, columns, copies)) <= memory:
        return
    advice = "take fewer words, fewer rows than half the words, or a machine with more memory"
    raise MatrixError(
        f"{columns:,} columns, and rows of many directions: reducing them ({reduction}) takes "
        f"{bytes_needed / 1e9:.3g} GB of memory, and {memory / 1e9:.3g} GB are free\n"
        f"  expected: at least {bytes_needed / 1e9:.3g} GB\n  to do: {do or advice}"
    )
