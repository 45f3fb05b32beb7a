"""The precision that numbers have, whatever the type they are stored in.

Rounding to bfloat16 adds noise of about 0.02 nats to every log-probability, which alone lifts a
matrix of rank 42 to full Press rank: the rank of rounded numbers is that of the rounding. Two signs
are looked for in a row:

- no entry uses more than some leading bits of its significand: the numbers were rounded to so many;
- values coincide: logits were rounded before their normaliser was subtracted, so that the entries
  are shifted and use all bits, but those that were equal still are. Values that many entries
  share, as where a layer clips its logits, are no sign.

An honest row of float32 uses 10 bits at most with a chance of 2^-13 per entry.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

Row = np.ndarray[Any, np.dtype[np.floating[Any]]]

BITS: Final = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7}
"""Bits of the significand after its first, by the name of a precision."""

COARSE: Final = ("float16", "bfloat16")
"""Precisions in which no log-probability is computed, unless its type says so."""

LEAST_ENTRIES: Final = 8
"""Rows with fewer entries that are not zero, or equal entries alone, may use few bits by chance."""

SHARED: Final = 0.05
"""A value that more than this share of a row has is a tie by construction, not by rounding."""

LEAST_VALUES: Final = 200
"""Rows with fewer values to compare show no coincidences that mean anything."""

LEAST_DISTINCT: Final = 0.9
"""A row has nearly as many values as entries where its precision has room for them."""

ROOM: Final = 50
"""So many times more places than entries between the ends of a row are room for all of them."""


POOLED: Final = 2000
"""Numbers that are looked at together where a row has fewer than LEAST_VALUES."""


def eps_of(precision: str) -> float:
    """The distance from 1 to the next number of a precision in BITS."""
    return 2.0 ** -BITS[precision]


def bits_used(row: Row) -> int:
    """The most bits after the first that the significand of an entry uses; 0 for powers of two."""
    significands, _ = np.frexp(row[np.isfinite(row)].astype(np.float64))
    whole = np.abs(significands * 2.0**53).astype(np.int64)
    whole = whole[whole > 0]
    if not len(whole):
        return 0
    trailing = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
    return int(52 - trailing.min())


def precision_of(row: Row) -> str:
    """The least precision in BITS that holds every entry of a row (V,); its type's for a short row.

    float64 that came from float32 has the precision of float32, and so its eps.
    """
    given = row.dtype.name
    if _tells_nothing(row):
        return given
    used = bits_used(row)
    holding = [name for name, bits in BITS.items() if used <= bits <= BITS.get(given, 52)]
    return holding[-1] if holding else given


def _tells_nothing(row: Row) -> bool:
    return bool(np.count_nonzero(row) < LEAST_ENTRIES or np.all(row == row[0]))


def telling_rows(chunk: Row) -> tuple[Row, int]:
    """Numbers of a chunk (M, V) that show its precision, and the index of the first row of them.

    They are the first row that is not of zeros or of equal entries; of narrow rows, several that
    differ. Where there is none, the first row.
    """
    found: dict[bytes, Row] = {}
    first, most = 0, 1 if chunk.shape[1] >= LEAST_VALUES else -(-POOLED // chunk.shape[1])
    for index, row in enumerate(chunk):
        if not _tells_nothing(row):
            first = first if found else index
            found[row.tobytes()] = row
            if len(found) == most:
                break
    return (np.concatenate(list(found.values())) if found else chunk[0]), first


def rounded(row: Row) -> str:
    """How a row (V,) shows that it was rounded: `were rounded to ...`; empty where it does not."""
    found = precision_of(row)
    if found in COARSE and row.dtype.name != found:
        return f"were rounded to {found}"
    values, counts = np.unique(row, return_counts=True)
    compared = counts <= SHARED * len(row)
    entries = int(counts[compared].sum())
    distinct = int(np.count_nonzero(compared))
    largest = float(np.max(np.abs(values)))
    places = float(values[-1] - values[0]) / (eps_of(found) * largest) if largest else 0.0
    enough = entries >= LEAST_VALUES and places >= ROOM * entries
    if enough and distinct < LEAST_DISTINCT * entries:
        return f"have {distinct:,} distinct values among {entries:,}, as of rounded logits"
    return ""
