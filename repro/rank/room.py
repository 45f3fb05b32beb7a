"""What a reduction needs of memory, against what there is, and the room that a basis has."""

from __future__ import annotations

from typing import Final

from repro.errors import MatrixError
from repro.machine import available_memory
from repro.rank.low_rank import SHARE
from repro.rank.reduction import BLOCK_ROWS, Reduction

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
