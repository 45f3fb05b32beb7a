"""Numerical rank of a matrix of log-probabilities that is never held.

The matrix, contexts x vocabulary (M x V), is reduced as its rows are produced:

- to its Gram matrix in float64, then eigenvalues: exact to count singular values above 3e-7 of the
  largest; holds V^2 numbers two to three times. For float32 log-probabilities, whose threshold is
  1e-6 and more. A Gram matrix in float32 is always wrong.
- by streamed QR in float64, then singular values of the factor: exact for every threshold, at a
  multiple of the work. For float64, and for matrices so small that a tenth of the threshold is
  beyond the Gram matrix.

A rank of rounded numbers is that of the rounding: bfloat16 adds noise of about 0.02 nats to every
entry, which alone lifts a matrix of rank 42 to full Press rank. The first row of every block shows
it: it equals its own rounding (log-probabilities were rounded; an honest row of float32 does with a
chance of about 2^-13 an entry), or its values coincide (logits were rounded before their normaliser
was subtracted; values that many entries share, as where a layer clips its logits, are no sign).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from repro.errors import DataError
from repro.trainers.language_model.evaluation import full_precision, rows_of
from repro.trainers.language_model.output.layer import OutputLayer

GRAM_RESOLUTION = 3e-7
"""Relative singular value below which the eigenvalues of a float64 Gram matrix are noise."""

CURVE_POINTS = 55
"""Relative tolerances of the curve rank(tolerance): a dozen a decade, around the threshold."""

CPU: Final = torch.device("cpu")
NO_ROWS = "no rows: a rank needs at least one context"
BUFFER_ROWS = 2048
COLUMN_BLOCK = 1024
Spectrum = np.ndarray[Any, np.dtype[np.float64]]


def press_threshold(rows: int, columns: int, dtype: torch.dtype) -> float:
    """Press's threshold relative to the largest singular value (Press et al. 2007).

    1/2 sqrt(M + V + 1) eps, eps that of the precision in which log-probabilities were produced.
    """
    return 0.5 * float(np.sqrt(rows + columns + 1.0)) * torch.finfo(dtype).eps


def buffered(chunks: Iterable[Tensor], rows: int) -> Iterator[Tensor]:
    """Regroup chunks of rows (?, V) into float64 blocks of ``rows`` rows, the last one shorter."""
    buffer: Tensor | None = None
    filled = 0
    for chunk in chunks:
        if buffer is None:
            buffer = torch.empty(rows, chunk.shape[1], dtype=torch.float64, device=chunk.device)
        for part in chunk.split(rows):
            taken = min(rows - filled, part.shape[0])
            buffer[filled : filled + taken] = part[:taken]
            filled += taken
            if filled == rows:
                yield buffer
                filled = part.shape[0] - taken
                buffer[:filled] = part[taken:]
    if buffer is not None and filled:
        yield buffer[:filled]


def gram_spectrum(chunks: Iterable[Tensor]) -> Spectrum:
    """The V singular values, falling, of the rows (?, V) in ``chunks``, by a Gram matrix."""
    gram_VV: Tensor | None = None
    for block_MV in buffered(chunks, BUFFER_ROWS):
        columns = block_MV.shape[1]
        if gram_VV is None:
            gram_VV = block_MV.new_zeros(columns, columns)
        for start in range(0, columns, COLUMN_BLOCK):
            end = min(start + COLUMN_BLOCK, columns)
            gram_VV[start:, start:end].addmm_(block_MV[:, start:].T, block_MV[:, start:end])
    if gram_VV is None:
        raise ValueError(NO_ROWS)
    eigenvalues = torch.linalg.eigvalsh(gram_VV, UPLO="L")
    return _falling(eigenvalues.clamp_(min=0).sqrt_(), len(gram_VV))


def qr_spectrum(chunks: Iterable[Tensor]) -> Spectrum:
    """The V singular values, falling, of the rows (?, V) in ``chunks``, by streamed float64 QR."""
    factor: Tensor | None = None
    for block_MV in buffered(chunks, BUFFER_ROWS):
        stacked = block_MV if factor is None else torch.cat([factor, block_MV])
        factor = torch.linalg.qr(stacked, mode="r").R
    if factor is None:
        raise ValueError(NO_ROWS)
    return _falling(torch.linalg.svdvals(factor), factor.shape[1])


def _falling(values: Tensor, columns: int) -> Spectrum:
    """Sorted, and filled with the zeros that fewer rows than columns leave."""
    spectrum: Spectrum = np.zeros(columns)
    spectrum[: len(values)] = np.sort(values.cpu().numpy())[::-1]
    return spectrum


def count_above(spectrum: Spectrum, relative: float) -> int:
    """Number of singular values above ``relative`` times the largest."""
    return int(np.count_nonzero(spectrum > relative * spectrum[0]))


class KnownRankLayer(OutputLayer):
    """An output layer whose log-probabilities are its logits: a matrix of known rank."""

    @torch.no_grad()
    def __init__(self, weight_VE: Tensor, dtype: torch.dtype) -> None:
        super().__init__(len(weight_VE), weight_VE.shape[1], dtype)
        self.weight.copy_(weight_VE)
        self.bias.zero_()

    def loss(self, *_: object) -> Tensor:
        raise NotImplementedError("the control of known rank is never trained")

    def log_probabilities(self, context_TBD: Tensor) -> Tensor:
        return self.logits(context_TBD)


def known_rank_rows(
    threshold: float, columns: int, dtype: torch.dtype, device: torch.device = CPU
) -> Iterator[Tensor]:
    """Rows of a matrix whose numerical rank at the relative ``threshold`` is known.

    It has that many singular values from 1 down to three times the threshold, as many again from
    a third of it down, and nothing else: a threshold that is wrong by a factor of three, lost
    rows, or rounding give another count. Its rows come as a model's do: contexts times a decoder's
    matrix. Two and a half blocks of rows, from chunks that are no divisor of a block.
    """
    generator = torch.Generator().manual_seed(20180430)
    rank = known_rank_of(columns)
    rows = 5 * BUFFER_ROWS // 2 + 17
    above = np.geomspace(1.0, 3 * threshold, rank)
    below = np.geomspace(threshold / 3, threshold / 30, rank)
    sigma_R = torch.from_numpy(np.concatenate([above, below]))
    left_MR, right_VR = (
        torch.linalg.qr(torch.randn(n, 2 * rank, generator=generator, dtype=torch.float64)).Q
        for n in (rows, columns)
    )
    output = KnownRankLayer(right_VR, dtype).to(device)
    chunks = (left_MR * sigma_R).to(device, dtype).split(999)
    return rows_of(output, (chunk_MR.unsqueeze(0) for chunk_MR in chunks))


def known_rank_of(columns: int) -> int:
    """The rank of the control of this width: 32, or less where there is no room for it."""
    return min(32, columns // 2)


@lru_cache(maxsize=4)
def known_rank(
    threshold: float, columns: int, dtype: torch.dtype, device: torch.device
) -> dict[str, int]:
    """Expected and measured rank of the control, by the reduction and threshold of a measurement.

    The same numbers for every model of one shape, so it is computed once in a process.
    """
    with full_precision():
        rows = known_rank_rows(threshold, columns, dtype, device)
        spectrum = reduction_for(threshold)(rows)
    return {"expected": known_rank_of(columns), "measured": count_above(spectrum, threshold)}


def reduction_for(threshold: float) -> Callable[[Iterable[Tensor]], Spectrum]:
    """The cheaper reduction that still resolves a tenth of the relative ``threshold``."""
    return gram_spectrum if threshold / 10 >= GRAM_RESOLUTION else qr_spectrum


def first(chunks: Iterable[Tensor], rows: int) -> Iterator[Tensor]:
    """The first ``rows`` rows of chunks (?, V); nothing more is asked for than they need."""
    for chunk in chunks:
        yield chunk[:rows]
        rows -= len(chunk)
        if rows <= 0:
            return


def rank_of(
    chunks: Iterable[Tensor], output: OutputLayer, rows: int, contexts: int | None
) -> tuple[float, dict[str, Any], Spectrum]:
    """Press rank of ``rows`` rows of log-probabilities that ``output`` gives, facts, the spectrum.

    Of all, or of the first ``contexts``; DataError if there are fewer, or if they were rounded.
    """
    dtype, columns = output.weight.dtype, len(output.weight)
    if contexts is not None and rows < contexts:
        raise DataError(
            f"a rank of the first {contexts:,} contexts: the text has {rows:,}\n"
            f"  expected: at most {rows:,}\n  to do: take fewer, or leave `contexts` out for all"
        )
    rows = rows if contexts is None else contexts
    threshold = press_threshold(rows, columns, dtype)
    reduction = reduction_for(threshold)
    spectrum = reduction(refuse_rounded(first(chunks, rows)))
    tolerances = np.logspace(np.log10(threshold) - 1.5, np.log10(threshold) + 3, CURVE_POINTS)
    if reduction is gram_spectrum:
        tolerances = tolerances[tolerances >= GRAM_RESOLUTION]
    details: dict[str, Any] = {
        "rows": rows,
        "columns": columns,
        "reduction": "gram" if reduction is gram_spectrum else "qr",
        "largest_singular_value": float(spectrum[0]),
        "relative_threshold": threshold,
        "tenth": count_above(spectrum, threshold / 10),
        "tenfold": count_above(spectrum, threshold * 10),
        "tolerances": [float(t) for t in tolerances],
        "curve": [count_above(spectrum, t) for t in tolerances],
        "known_rank": known_rank(threshold, columns, dtype, output.weight.device),
    }
    return float(count_above(spectrum, threshold)), details, spectrum


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
        if len(chunk) and (sign := rounded(chunk[0])):
            raise DataError(
                f"log-probabilities {sign}: their rank is that of the rounding\n"
                "  expected: the precision of the model's parameters, in every step up to the "
                "log-probabilities\n"
                "  to do: compute logits and log-probabilities without a lower precision, and "
                "measure again; what was trained is kept"
            )
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
