"""Rows that are read several times must be the same each time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from repro.errors import MatrixError
from repro.rank.resume import same_row

Rows = np.ndarray[Any, np.dtype[np.floating[Any]]]


class SameRows:
    """Reads as ``read`` does, and knows again what it gave.

    Raises MatrixError where the last row that was read is another one later, or none, and where
    there are more or fewer rows than before.
    """

    def __init__(self, read: Callable[[int], Iterable[Rows]]) -> None:
        self.read = read
        self.rows = 0
        self.last: Rows | None = None
        self.ended = False

    def __call__(self, start: int) -> Iterator[Rows]:
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
