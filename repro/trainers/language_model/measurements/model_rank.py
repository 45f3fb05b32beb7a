"""The rank of a model's log-probabilities: the rank kernel, with torch's linear algebra.

On the device of the model, in float64, whatever the precision of the model. Which reduction is
exact where is said in `repro.rank.reduction`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from repro.errors import DataError
from repro.rank.measure import CONTROL_CHUNK, control_factors, known_rank_of
from repro.rank.reduction import QR_RESOLUTION, Reduction, reduce_rows, reduction_for
from repro.rank.rounded import POOLED, precision_of, rounded, telling_rows, tells
from repro.rank.spectrum import Spectrum, curve_tolerances, press_threshold
from repro.trainers.language_model.evaluation import full_precision, rows_of
from repro.trainers.language_model.output.layer import OutputLayer

COLUMN_BLOCK = 1024


class Torch:
    """Of the kernel's `Backend`; the tensors say on which device."""

    def blocks(self, chunks: Iterable[Tensor], rows: int) -> Iterator[Tensor]:
        """As in Backend; each block is overwritten by the next."""
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

    def add(self, gram: Tensor | None, block: Tensor) -> Tensor:
        """As in Backend, in place."""
        columns = block.shape[1]
        if gram is None:
            gram = block.new_zeros(columns, columns)
        for start in range(0, columns, COLUMN_BLOCK):
            end = min(start + COLUMN_BLOCK, columns)
            gram[start:, start:end].addmm_(block[:, start:].T, block[:, start:end])
        return gram

    def eigenvalues(self, gram: Tensor) -> Spectrum:
        """As in Backend."""
        return np.asarray(torch.linalg.eigvalsh(gram, UPLO="L").cpu().numpy())

    def largest(self, gram: Tensor) -> float:
        """As in Backend."""
        return float(self.eigenvalues(gram)[-1])

    def counts(self, gram: Tensor, limits: Sequence[float]) -> list[int]:
        """As in Backend."""
        values = self.eigenvalues(gram)
        return [int(np.count_nonzero(values > limit)) for limit in limits]

    def triangle(self, factor: Tensor | None, block: Tensor) -> Tensor:
        """As in Backend."""
        stacked = block if factor is None else torch.cat([factor, block])
        return torch.linalg.qr(stacked, mode="r").R

    def singular_values(self, factor: Tensor) -> Spectrum:
        """As in Backend."""
        return np.asarray(torch.linalg.svdvals(factor).cpu().numpy())


TORCH: Final = Torch()


class KnownRankLayer(OutputLayer):
    """An output layer whose log-probabilities are its logits: a matrix of known rank."""

    def __init__(self, weight_VE: Tensor) -> None:
        super().__init__(len(weight_VE), weight_VE.shape[1], weight_VE.dtype)
        with torch.no_grad():
            self.weight.copy_(weight_VE)
            self.bias.zero_()

    def loss(self, *_: object) -> Tensor:
        """None: it is never trained."""
        raise NotImplementedError("the control of known rank has no loss")

    def log_probabilities(self, context_TBD: Tensor) -> Tensor:
        """(T, B, E) -> (T, B, V), by the product that every output layer takes."""
        return self.logits(context_TBD)


def known_rank_rows(
    threshold: float, columns: int, dtype: torch.dtype, device: torch.device
) -> Iterator[Tensor]:
    """Rows of the kernel's control, by the road of a model's: through an output layer."""
    factors = control_factors(threshold, columns)
    contexts, words = (torch.from_numpy(factor).to(dtype) for factor in factors)
    chunks = contexts.to(device).split(CONTROL_CHUNK)
    return rows_of(KnownRankLayer(words).to(device), (chunk.unsqueeze(0) for chunk in chunks))


@lru_cache(maxsize=4)
def known_rank(
    threshold: float, columns: int, dtype: torch.dtype, device: torch.device
) -> dict[str, int]:
    """Expected and measured rank of the control, by the reduction and threshold of a measurement.

    The same numbers for every model of one shape, so it is computed once in a process.
    """
    with full_precision():
        rows = known_rank_rows(threshold, columns, dtype, device)
        reduced = reduce_rows(rows, reduction_of(threshold), TORCH)
    return {"expected": known_rank_of(columns), "measured": reduced.ranks([threshold])[0]}


def reduction_of(threshold: float) -> Reduction:
    """The cheaper one that resolves a tenth of the ``threshold``, as far as float64 does."""
    return reduction_for(max(threshold / 10, QR_RESOLUTION), spectrum=True)


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

    Of all, or of as many as ``contexts``, those that are read first; DataError if there are fewer,
    or if they were rounded to a lower precision. Facts: shape, threshold, counts at a
    tenth (if resolved) and at ten times the threshold, the curve rank(tolerance), and the control:
    a matrix of known rank through the same reduction.
    """
    dtype, columns = output.weight.dtype, len(output.weight)
    if contexts is not None and rows < contexts:
        raise DataError(
            f"a rank of the first {contexts:,} contexts: the text has {rows:,}\n"
            f"  expected: at most {rows:,}\n  to do: take fewer, or leave `contexts` out for all"
        )
    rows = rows if contexts is None else contexts
    threshold = press_threshold(rows, columns, torch.finfo(dtype).eps)
    reduced = reduce_rows(refuse_rounded(first(chunks, rows)), reduction_of(threshold), TORCH)
    tolerances = [float(t) for t in curve_tolerances(threshold, reduced.least)]
    press, tenth, tenfold, *curve = reduced.ranks(
        [threshold, threshold / 10, threshold * 10, *tolerances]
    )
    resolved = {"tenth": tenth} if threshold / 10 >= reduced.least else {}
    details: dict[str, Any] = {
        "rows": rows,
        "columns": columns,
        "reduction": reduced.reduction,
        "largest_singular_value": reduced.sigma_1,
        "relative_threshold": threshold,
        **resolved,
        "tenfold": tenfold,
        "tolerances": tolerances,
        "curve": curve,
        "known_rank": known_rank(threshold, columns, dtype, output.weight.device),
    }
    return float(press), details, reduced.values()


def _rounded(chunk: Tensor) -> str:
    """How the first rows of a chunk (rows, V) show that they were rounded; empty: they do not."""
    rows = telling_rows(chunk[:POOLED].cpu().numpy())[0]
    if sign := rounded(rows):
        return sign
    if tells(rows) and chunk.dtype == torch.float64 and precision_of(rows) != "float64":
        return f"have the precision of {precision_of(rows)} in a model of float64"
    return ""


def refuse_rounded(chunks: Iterable[Tensor]) -> Iterator[Tensor]:
    """The same chunks (rows, V); DataError once the first row of one shows that it was rounded."""
    for chunk in chunks:
        if len(chunk) and (sign := _rounded(chunk)):
            raise DataError(
                f"log-probabilities {sign}: their rank is that of the rounding\n"
                "  expected: the precision of the model's parameters, in every step up to the "
                "log-probabilities\n"
                "  to do: compute logits and log-probabilities without a lower precision, and "
                "measure again; what was trained is kept"
            )
        yield chunk
