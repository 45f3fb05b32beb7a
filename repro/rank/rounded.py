"""The precision that numbers have, whatever the type they are stored in.

Rounding to bfloat16 adds noise of about 0.02 nats to every log-probability, which alone lifts a
matrix of rank 42 to full Press rank: the rank of rounded numbers is that of the rounding. Three
signs are looked for in rows:

- no entry uses more than some leading bits of its significand: the numbers were rounded to so many;
- values coincide: the entries were rounded in equal steps, or logits were before their normaliser
  was subtracted, so that entries are shifted and use all bits, but those that were equal still are.
  Values that many entries share, as where a layer clips its logits, are no sign, and neither are
  those that lie as closely as the precision allows, as next to the least of log(p + 1e-8);
- differences within a row lie on a grid: logits were rounded, however few. A log-probability is a
  logit less a number that its whole row shares, so the difference of two of them is that of two
  logits, and logits that were rounded to a few bits lie on a grid of powers of two, coarser the
  larger they are. Honest differences lie on a much finer one: of 256 places of float32 between two
  points of the grid that is asked for, five are taken for a point, for rounding after the
  normaliser was subtracted.

What is no sum any more has no mark: products that were rounded before they were added (TF32), and
logits that were rounded before a mixture or log(p + c).

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
"""So many times more places than entries about a value are room for all of them."""

ABOUT: Final = 10
"""Values on either side of one that are about it."""

POOLED: Final = 2000
"""Numbers that are looked at together where a row has fewer."""

ALIKE: Final = 1024
"""Places of the precision up to which rows are one: contexts alike share entries, unrounded."""


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


def precision_of(rows: Row) -> str:
    """The least precision in BITS that holds rows, (M, V) or one (V,); their type's for few.

    float64 that came from float32 has the precision of float32, and so its eps: also where the
    logits alone were float32, and their normaliser was not.
    """
    given = rows.dtype.name
    if _tells_nothing(rows.ravel()):
        return given
    used = bits_used(rows)
    holding = [name for name, bits in BITS.items() if used <= bits <= BITS.get(given, 52)]
    found = holding[-1] if holding else given
    if found == "float64" and on_grid(rows, BITS[found], SINGLE_STEP):
        return "float32"
    return found


def tells(chunk: Row) -> bool:
    """Whether some row of a chunk (M, V) shows its precision."""
    return not _tells_nothing(telling_rows(chunk)[0].ravel())


def _tells_nothing(row: Row, least: int = LEAST_ENTRIES) -> bool:
    return bool(np.count_nonzero(row) < least or np.all(row == row[0]))


def telling_rows(chunk: Row) -> tuple[Row, int]:
    """Rows (?, V) of a chunk (M, V) that show its precision, and the index of the first of them.

    They are the first that are not of zeros or of equal entries, and differ, until they have
    enough numbers. Where there is none, the first row.
    """
    found: dict[bytes, Row] = {}
    first, most = 0, -(-POOLED // chunk.shape[1])
    for index, row in enumerate(chunk):
        if not _tells_nothing(row, min(LEAST_ENTRIES, len(row))):
            first = first if found else index
            found[row.tobytes()] = row
            if len(found) == most:
                break
    return (np.stack(list(found.values())) if found else chunk[:1]), first


def coarse_rows(chunk: Row, precision: str) -> list[int]:
    """The indices of rows of a chunk (M, V) that have no bits beyond the precision below this one.

    Of float64 that below is float32, and of float32 float16, which has the bits of TF32; of others
    nothing is said. One pass over the bits of all entries; of rows that show their precision alone.
    """
    below = {"float64": "float32", "float32": "float16"}.get(precision)
    spare = BITS[chunk.dtype.name] - BITS[below or chunk.dtype.name]
    if below is None or spare <= 0:
        return []
    held = np.ascontiguousarray(chunk, chunk.dtype.newbyteorder("="))
    used = np.bitwise_or.reduce(held.view(f"u{held.itemsize}"), axis=1)
    few = np.flatnonzero(used % 2**spare == 0)
    return [int(row) for row in few if not _tells_nothing(held[row])]


def rounded(rows: Row) -> str:
    """How rows, (M, V) or one (V,), show that they were rounded: `were rounded to ...`.

    Empty where they do not.
    """
    rows = np.atleast_2d(rows)
    found = precision_of(rows)
    if found in COARSE and rows.dtype.name != found:
        return f"were rounded to {found}"
    eps = eps_of(found)
    compared = rows[0] if rows.shape[1] >= LEAST_VALUES else _unlike(rows, eps).ravel()
    distinct, entries = _coincidences(compared, eps)
    if entries >= LEAST_VALUES and distinct < LEAST_DISTINCT * entries:
        return f"have {distinct:,} distinct values among {entries:,}, as of rounded logits"
    if found not in COARSE and (step := on_grid(rows, BITS[found], COARSE_STEP)):
        return f"differ within a row by multiples of {step:.3g}, as of rounded logits"
    return ""


def _unlike(rows: Row, eps: float) -> Row:
    """The rows that differ from each one before by more than ALIKE places in some entry."""
    apart = ALIKE * eps * float(np.max(np.abs(rows)))
    kept: list[Row] = []
    for row in rows:
        if not kept or np.abs(np.stack(kept) - row).max(axis=1).min() > apart:
            kept.append(row)
    return np.stack(kept)


def _coincidences(row: Row, eps: float) -> tuple[int, int]:
    """How many values, and entries that have them, are to be compared: those that have room.

    About such a value there are ROOM times as many places of this precision as entries.
    """
    values, counts = np.unique(row, return_counts=True)
    largest = float(np.max(np.abs(values)))
    if len(values) < 2 or not largest:
        return 0, 0
    places = np.arange(len(values))
    low = np.maximum(places - ABOUT, 0)
    high = np.minimum(places + ABOUT, len(values) - 1)
    before = np.append(0, np.cumsum(counts))
    entries = before[high + 1] - before[low]
    room = (values[high] - values[low]).astype(np.float64) / (eps * largest)
    compared = (counts <= SHARED * len(row)) & (room >= ROOM * entries)
    return int(np.count_nonzero(compared)), int(counts[compared].sum())


COARSE_STEP: Final = 16
"""The grid that half precision leaves has a step of 2^-16 of the largest entry, or more.

Logits of float32 leave a finer one below some 1,000. A finer one is too small to change a rank.
"""

SINGLE_STEP: Final = 38
"""The same of logits in float32 among numbers in float64."""

APART: Final = 4.0
"""Places of the precision that two values must be apart to be two."""

NEAR: Final = 2.0
"""Places of it within which a difference is a multiple of a step."""

LEAST_DIFFERENCES: Final = 100
LEAST_SHARE: Final = 0.35
"""Of honest differences 2 % are multiples: with 100 of them, a third is one in 10^25."""


def on_grid(rows: Row, bits: int, step: int) -> float:
    """The step of the grid on which differences within rows, (M, V) or one (V,), lie; 0 for none.

    ``bits`` are those of their precision. The step of a row is 2^-``step`` of the power of two
    above its largest entry; the largest of them is returned.
    """
    held = np.sort(np.atleast_2d(rows).astype(np.float64), axis=1)
    _, exponents = np.frexp(np.abs(held[:, [0, -1]]).max(axis=1, keepdims=True))
    place, steps = np.exp2(exponents - 1.0 - bits), np.exp2(1.0 * exponents - step)
    differences = np.diff(held, axis=1)
    compared = differences > APART * place
    multiples = np.rint(differences / steps)
    near = compared & (multiples > 0) & (np.abs(differences - multiples * steps) <= NEAR * place)
    among = int(np.count_nonzero(compared))
    if among < LEAST_DIFFERENCES or np.count_nonzero(near) < LEAST_SHARE * among:
        return 0.0
    return float(steps.max())
