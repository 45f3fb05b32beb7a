"""A pandas frame of results in the same tidy form as a CSV, with the same checks.

Rows are named by their position, from 0, as ``frame.iloc`` counts them.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

from repro.evidence.records import TableSource
from repro.evidence.table import Reader, TidyTable, sha256
from repro.evidence.wanted import TableSchema
from repro.rows import CsvRow, Mistakes

if TYPE_CHECKING:
    import pandas as pd

NAME = "a pandas frame"


def frame_table(frame: pd.DataFrame, schema: TableSchema) -> TidyTable:
    """The table in a frame; SpecError with every mistake in it.

    Its digest is that of the CSV with the same rows, numbers written so that they read back
    exactly.
    """
    header = tuple(str(name) for name in frame.columns)
    starts = tuple(range(1, len(header) + 1))
    rows = [
        CsvRow(position, tuple(cell(value) for value in values), starts)
        for position, values in enumerate(frame.itertuples(index=False, name=None))
    ]
    text = "".join(",".join(line) + "\n" for line in (header, *(row.cells for row in rows)))
    reader = Reader(Mistakes(NAME), schema)
    return reader.table(iter([CsvRow(0, header, starts), *rows]), TableSource(NAME, sha256(text)))


def cell(value: Any) -> str:
    """A value of a frame as the text that a CSV would hold; empty for one that is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return repr(float(value))
    return str(value)
