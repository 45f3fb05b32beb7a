"""Were log-probabilities rounded on their way? A rank of rounded numbers is that of the rounding.

Rounding to bfloat16 adds noise of about 0.02 nats to every entry, which alone lifts a matrix of
rank 42 to full Press rank. Two signs are looked for, in the first row of every block:

- the row equals its own rounding to bfloat16 or float16: log-probabilities were rounded;
- its values coincide: logits were rounded before their normaliser was subtracted, so that the
  entries are shifted and equal no rounding, but those that were equal still are. Values that many
  entries share, as where a layer clips its logits, are no sign.

An honest row of float32 equals its rounding with a chance of about 2^-13 an entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from repro.errors import DataError

COARSE = {torch.bfloat16: "bfloat16", torch.float16: "float16"}

SHARED = 0.05
"""A value that more than this share of a row has is a tie by construction, not by rounding."""

LEAST_VALUES = 200
"""Rows with fewer values to compare show no coincidences that mean anything."""

LEAST_DISTINCT = 0.9
"""A row has nearly as many values as entries where its precision has room for them."""

ROOM = 50
"""So many times more places than entries between the ends of a row are room for all of them."""


def refuse_rounded(chunks: Iterable[Tensor]) -> Iterator[Tensor]:
    """The same chunks (rows, V); DataError once the first row of one shows that it was rounded."""
    for chunk in chunks:
        if len(chunk):
            sign = rounded(chunk[0])
            if sign:
                message = (
                    f"log-probabilities {sign}: their rank is that of the rounding\n"
                    "  expected: the precision of the model's parameters, in every step up to the "
                    "log-probabilities\n"
                    "  to do: compute logits and log-probabilities without a lower precision, and "
                    "measure again; what was trained is kept"
                )
                raise DataError(message)
        yield chunk


def rounded(row_V: Tensor) -> str:
    """How a row of log-probabilities shows that it was rounded; nothing where it does not."""
    for coarse, name in COARSE.items():
        if row_V.dtype != coarse and torch.equal(row_V.to(coarse).to(row_V.dtype), row_V):
            return f"were rounded to {name}"
    values, counts = torch.unique(row_V, return_counts=True)
    compared = counts <= SHARED * len(row_V)
    entries = int(counts[compared].sum())
    distinct = len(values[compared])
    places = float(values[-1] - values[0]) / (
        torch.finfo(row_V.dtype).eps * float(values.abs().max())
    )
    enough = entries >= LEAST_VALUES and places >= ROOM * entries
    if enough and distinct < LEAST_DISTINCT * entries:
        return f"have {distinct:,} distinct values among {entries:,}, as of rounded logits"
    return ""
