"""Numerical rank of a matrix of log-probabilities that is never held.

The matrix, contexts x vocabulary (M x V), is reduced as its rows are produced:

- Gram matrix in float64, then its eigenvalues. Exact to count singular values above 3e-7 of the
  largest, whatever M; holds V^2 numbers twice. For float32 log-probabilities, whose threshold
  is 1e-6 and more. A Gram matrix in float32 is always wrong, and so is anything after rounding
  log-probabilities to bf16.
- Streamed QR in float64, then singular values of the factor. Exact for every threshold, at
  about twice the work; for float64 log-probabilities.

Threshold: Press et al. (2007), 1/2 sqrt(M + V + 1) sigma_1 eps, with the eps of the precision
in which the log-probabilities were produced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from repro.lm.evaluation import log_probability_rows
from repro.lm.synthetic import true_rank
from repro.specs.corpus import Corpus, SyntheticCorpus

if TYPE_CHECKING:
    from repro.lm.model import LanguageModel

GRAM_RESOLUTION = 3e-7
"""Relative singular value below which the eigenvalues of a float64 Gram matrix are noise."""

CURVE_TOLERANCES = np.logspace(np.log10(GRAM_RESOLUTION), -2, 49)
"""Relative tolerances of the curve rank(tolerance), eleven a decade."""

BUFFER_ROWS = 2048
COLUMN_BLOCK = 1024

Spectrum = np.ndarray[Any, np.dtype[np.float64]]


def press_threshold(rows: int, columns: int, dtype: torch.dtype) -> float:
    """Press's threshold relative to the largest singular value."""
    return 0.5 * float(np.sqrt(rows + columns + 1.0)) * torch.finfo(dtype).eps


def buffered(chunks: Iterable[torch.Tensor], rows: int) -> Iterator[torch.Tensor]:
    """Regroup chunks of rows (?, V) into float64 blocks of ``rows`` rows, the last one shorter."""
    buffer: torch.Tensor | None = None
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


def gram_spectrum(chunks: Iterable[torch.Tensor]) -> tuple[Spectrum, int]:
    """Singular values, falling, and number of rows, by the Gram matrix in float64."""
    gram_VV: torch.Tensor | None = None
    rows = 0
    for block_MV in buffered(chunks, BUFFER_ROWS):
        columns = block_MV.shape[1]
        if gram_VV is None:
            gram_VV = block_MV.new_zeros(columns, columns)
        for start in range(0, columns, COLUMN_BLOCK):
            end = min(start + COLUMN_BLOCK, columns)
            gram_VV[start:, start:end].addmm_(block_MV[:, start:].T, block_MV[:, start:end])
        rows += block_MV.shape[0]
    if gram_VV is None:
        message = "no rows: a rank needs at least one context"
        raise ValueError(message)
    eigenvalues = torch.linalg.eigvalsh(gram_VV, UPLO="L")
    return _falling(eigenvalues.clamp_(min=0).sqrt_()), rows


def qr_spectrum(chunks: Iterable[torch.Tensor]) -> tuple[Spectrum, int]:
    """Singular values, falling, and number of rows, by streamed QR in float64."""
    factor: torch.Tensor | None = None
    rows = 0
    for block_MV in buffered(chunks, BUFFER_ROWS):
        stacked = block_MV if factor is None else torch.cat([factor, block_MV])
        factor = torch.linalg.qr(stacked, mode="r").R
        rows += block_MV.shape[0]
    if factor is None:
        message = "no rows: a rank needs at least one context"
        raise ValueError(message)
    return _falling(torch.linalg.svdvals(factor)), rows


def _falling(values: torch.Tensor) -> Spectrum:
    spectrum: Spectrum = np.sort(values.cpu().numpy())[::-1].copy()
    return spectrum


def count_above(spectrum: Spectrum, relative: float) -> int:
    """Number of singular values above ``relative`` times the largest."""
    return int(np.count_nonzero(spectrum > relative * spectrum[0]))


def known_rank_rows(
    rank: int, rows: int, columns: int, dtype: torch.dtype, device: torch.device
) -> Iterator[torch.Tensor]:
    """Log-probabilities of random logits H W + b with H of ``rank`` columns: rank ``rank`` + 2.

    One for the bias and one for the normaliser of each row, whenever rows, columns > rank + 2.
    """
    generator = torch.Generator().manual_seed(20180430)
    w_DV = torch.randn(rank, columns, generator=generator, dtype=torch.float64)
    b_V = torch.randn(columns, generator=generator, dtype=torch.float64)
    h_MD = torch.randn(rows, rank, generator=generator, dtype=torch.float64)
    scale = 2.0 / float(np.sqrt(rank))
    w_DV, b_V = w_DV.to(device, dtype), b_V.to(device, dtype)
    for h in (scale * h_MD).to(device, dtype).split(BUFFER_ROWS):
        yield torch.log_softmax(torch.addmm(b_V, h, w_DV), dim=-1)


def measure_rank(
    model: LanguageModel, tokens: torch.Tensor, batch_size: int, corpus: Corpus
) -> tuple[float, dict[str, Any], Spectrum]:
    """Press rank over all contexts of ``tokens``, facts about it, and the singular values.

    Facts: shape, threshold, counts at a tenth and at ten times the threshold, the curve
    rank(tolerance), and the control: a matrix of known rank through the same reduction.
    """
    dtype = next(model.parameters()).dtype
    reduce = gram_spectrum if dtype == torch.float32 else qr_spectrum
    spectrum, rows = reduce(log_probability_rows(model, tokens, batch_size))
    columns = len(spectrum)
    threshold = press_threshold(rows, columns, dtype)
    if reduce is gram_spectrum and threshold < GRAM_RESOLUTION:
        reduce = qr_spectrum
        spectrum, rows = reduce(log_probability_rows(model, tokens, batch_size))
    details: dict[str, Any] = {
        "rows": rows,
        "columns": columns,
        "reduction": "gram" if reduce is gram_spectrum else "qr",
        "largest_singular_value": float(spectrum[0]),
        "relative_threshold": threshold,
        "tenth": count_above(spectrum, threshold / 10),
        "tenfold": count_above(spectrum, threshold * 10),
        "tolerances": [float(t) for t in CURVE_TOLERANCES],
        "curve": [count_above(spectrum, t) for t in CURVE_TOLERANCES],
        "known_rank": _known_rank(reduce, columns, dtype, tokens.device),
    }
    if isinstance(corpus, SyntheticCorpus):
        details["language_rank"] = true_rank(corpus, epsilon=torch.finfo(dtype).eps).rank
    return float(count_above(spectrum, threshold)), details, spectrum


def _known_rank(
    reduce: Any, columns: int, dtype: torch.dtype, device: torch.device
) -> dict[str, int]:
    """Expected and measured rank of a synthetic matrix as wide as the model's."""
    rank = max(1, min(columns // 4, 64))
    rows = min(BUFFER_ROWS, 8 * columns)
    spectrum, rows = reduce(known_rank_rows(rank, rows, columns, dtype, device))
    measured = count_above(spectrum, press_threshold(rows, columns, dtype))
    return {"expected": rank + 2, "measured": measured}
