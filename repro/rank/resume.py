"""What was read of a matrix, in a folder, so that a reduction goes on after a kill.

It holds the basis, the Gram matrix or the factor of the rows so far, and the last of these rows,
by which the same matrix is known again. A block of rows ends where it would have ended, so what
comes out has the same bits as without the kill. What was read stays: other thresholds can be asked
for later.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from repro.errors import MatrixError
from repro.files import read_bytes, try_lock, write_atomically
from repro.rank.rounded import Row

EVERY_S: Final = 1200.0
"""Seconds from one save to the next."""

PROGRESS: Final = "progress.json"
FINER: Final = "finer"
MAX_PROGRESS: Final = 100_000_000
CLOSE: Final = 1e-4
"""Relative difference from the last row, computed again, that is not another row."""

SYMMETRIC: Final = ("gram", "inertia")
"""Reductions to a Gram matrix, of which the lower triangle is saved."""

COLUMNS: Final = 512
"""Columns of it in a part of the file."""

OTHERS: Final = "its parts are not of one matrix"


class SavedReading:
    """A folder with the reduction of the first ``rows`` rows; empty, and 0, at first.

    A context manager: within it no other command may use the folder. It is saved to after ``every``
    seconds and at the end. ``optional``: at the end only where a save was due before, and not at
    all where the folder cannot be written.

    Raises MatrixError for a folder that holds something else, or cannot be written.
    """

    def __init__(self, folder: Path, every: float = EVERY_S, *, optional: bool = False) -> None:
        self.folder = folder
        self.every = every
        self.optional = optional
        self.saved_at = time.monotonic()
        self.rows = 0
        self.precision = ""
        self.reduction = ""
        self.last: Row | None = None
        self.state: Any = None
        self._lock = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                handle = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
                opened.callback(os.close, handle)
                self._take(handle)
                if (self.folder / PROGRESS).exists():
                    self._load()
            except MatrixError:
                raise
            except Exception as error:  # of json, zip and numpy, for whatever the files hold
                why = str(error) or type(error).__name__
                raise self._refused(f"cannot be used: {why}", "an empty folder") from error
            self._lock = opened.pop_all()
        return self

    def _take(self, handle: int) -> None:
        if not try_lock(handle):
            raise self._refused("another command uses it", "a folder of its own")

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def _load(self) -> None:
        progress = json.loads(read_bytes(self.folder / PROGRESS, MAX_PROGRESS))
        self.rows = int(progress["rows"])
        self.precision, self.reduction = str(progress["precision"]), str(progress["reduction"])
        self.last = np.array(progress["last"], dtype=np.float64)
        with (
            self._file(self.rows).open("rb") as file,
            np.load(file, allow_pickle=False) as saved,
        ):
            parts = (saved[name] for name in saved.files)
            if self.reduction in SYMMETRIC:
                columns = len(self.last)
                matrix = np.zeros((columns, columns), order="F")
                for place in _lower(matrix):
                    part = next(parts, None)
                    if part is None or part.shape != place.shape:
                        raise ValueError(OTHERS)
                    place[:] = part
                if next(parts, None) is not None:
                    raise ValueError(OTHERS)
                self.state = matrix
            else:
                self.state = _parts_of(self.reduction, tuple(parts), len(self.last))

    def _file(self, rows: int) -> Path:
        return self.folder / f"rows-{rows}.npz"

    def beside(self) -> SavedReading:
        """A folder within this one for a finer reading, without loss of what was read."""
        return SavedReading(self.folder / FINER, self.every, optional=self.optional)

    def begin_again(self) -> None:
        """Forget what was read, which was not all."""
        (self.folder / PROGRESS).unlink(missing_ok=True)
        for file in self.folder.glob("rows-*.npz"):
            file.unlink(missing_ok=True)
        self.rows, self.last, self.state, self.reduction = 0, None, None, ""

    def _refused(self, mistake: str, expected: str) -> MatrixError:
        return MatrixError(
            f"{self.folder}: {mistake}\n  expected: {expected}\n"
            "  to do: name another folder, or delete this one to begin again"
        )

    def rest(self, read: Callable[[int], Iterable[Any]]) -> Iterator[Any]:
        """The rows that were not read yet; ``read(start)`` gives them from row ``start``, from 0.

        In arrays (?, N), or in tensors of torch.

        Raises MatrixError where the last row that was read is another one now.
        """
        chunks = iter(read(max(self.rows - 1, 0)))
        if self.last is not None:
            first = next((chunk for chunk in chunks if len(chunk)), None)
            if first is None or not same_row(first[0], self.last):
                mistake = f"was begun with other rows: row {self.rows:,} differs"
                raise self._refused(mistake, "the matrix that it was begun with")
            yield first[1:]
        yield from chunks

    def agree(self, reduction: str, precision: str) -> None:
        """MatrixError where the rows so far were reduced otherwise."""
        if self.rows and (self.reduction, self.precision) != (reduction, precision):
            mistake = f"was begun by {self.reduction} in {self.precision}"
            raise self._refused(mistake, f"the same, and not {reduction} in {precision}")
        self.reduction, self.precision = reduction, precision

    def taken(self) -> tuple[Any, int]:
        """What is left of the rows so far (None at first) and how many they are; only once."""
        state, self.state = self.state, None
        return state, self.rows

    @property
    def due(self) -> bool:
        """Whether the last save is long enough ago."""
        return time.monotonic() - self.saved_at >= self.every

    @property
    def due_at_end(self) -> bool:
        """Whether all that was read is worth a save, too."""
        return not self.optional or self.rows > 0 or self.due

    def keep(self, state: Any, rows: int, last: Row) -> None:
        """Save; MatrixError where the folder cannot be written, unless this is optional."""
        self.saved_at = time.monotonic()
        try:
            self._write(state, rows, last)
        except OSError as error:
            if self.optional:
                self._file(rows).unlink(missing_ok=True)
                return
            raise self._refused(f"cannot be written: {error.strerror}", "room on disk") from error
        self.rows, self.saved_at = rows, time.monotonic()

    def _write(self, state: Any, rows: int, last: Row) -> None:
        progress = {
            "rows": rows,
            "precision": self.precision,
            "reduction": self.reduction,
            "last": array_of(last).astype(np.float64).tolist(),
        }
        if self.reduction in SYMMETRIC:
            parts: Iterable[Row] = _lower(state)
        else:
            parts = state.state if self.reduction == "basis" else (state,)
        with self._file(rows).open("wb") as file:
            np.savez(file, *map(array_of, parts))
            file.flush()
            os.fsync(file.fileno())
        write_atomically(self.folder / PROGRESS, json.dumps(progress).encode())
        for earlier in set(self.folder.glob("rows-*.npz")) - {self._file(rows)}:
            earlier.unlink(missing_ok=True)


def array_of(values: Any) -> Row:
    """An array, or a tensor of torch wherever it is, as an array."""
    return np.asarray(values.cpu() if hasattr(values, "cpu") else values)


def _lower(matrix: Row) -> list[Row]:
    """The lower triangle of a matrix (V, V), some columns at a time, as rows."""
    return [matrix.T[start : start + COLUMNS, start:] for start in range(0, len(matrix), COLUMNS)]


def _parts_of(reduction: str, parts: tuple[Row, ...], columns: int) -> Any:
    """A basis (R, V) with its Gram matrix and what was left out, or a factor (?, V)."""
    shapes = [part.shape for part in parts]
    size = shapes[0][0] if shapes and len(shapes[0]) == 2 else -1
    others: list[tuple[int, ...]] = [(size, size), (2,)] if reduction == "basis" else []
    expected = [(size, columns), *others]
    if shapes != expected or not all(np.isfinite(part).all() for part in parts):
        raise ValueError(OTHERS)
    return parts if reduction == "basis" else parts[0]


def same_row(row: Any, last: Row) -> bool:
    """Whether a row is the last one that was read, computed again."""
    row = array_of(row)
    return row.shape == last.shape and np.allclose(
        row, last, rtol=CLOSE, atol=CLOSE, equal_nan=True
    )


class SameRows:
    """Reads as ``read`` does, and knows again what it gave.

    Raises MatrixError where the last row that was read is another one later, or none, and where
    there are more or fewer rows than before.
    """

    def __init__(self, read: Callable[[int], Iterable[Row]]) -> None:
        self.read = read
        self.rows = 0
        self.last: Row | None = None
        self.ended = False

    def __call__(self, start: int) -> Iterator[Row]:
        at = start
        for chunk in self.read(start):
            known = self.rows - 1 - at
            at += len(chunk)
            here = 0 <= known < len(chunk)
            if here and self.last is not None and not same_row(chunk[known], self.last):
                raise _other(f"row {self.rows:,} is another one when it is read again")
            if at > self.rows:
                if self.ended:
                    raise _other(f"{self.rows:,} rows at first, and more when they are read again")
                self.rows, self.last = at, np.array(chunk[-1])
            yield chunk
        if at < self.rows and start < self.rows:
            raise _other(f"{self.rows:,} rows at first, and {at:,} when they are read again")
        self.ended = True


def _other(mistake: str) -> MatrixError:
    return MatrixError(
        f"{mistake}\n  expected: the same rows in each reading\n"
        "  to do: set the seed of what is random where the reading begins"
    )
