"""The rank of a model's log-probabilities: the rank kernel, with torch's linear algebra.

On the device of the model, in float64, whatever the precision of the model. Which reduction is
exact where is said in `repro.rank.reduction`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, finfo, from_numpy

from repro.errors import DataError
from repro.rank.matrix_rank import CONTROL_CHUNK, control_factors, known_rank_of, ranks_of
from repro.rank.noise import SEED, deviation_of, with_noise
from repro.rank.reduction import (
    GRAM_RESOLUTION,
    QR_RESOLUTION,
    Reduced,
    Reduction,
    needed,
    reduce_rows,
    reduction_for,
    refuse_without_memory,
)
from repro.rank.resume import SavedReading, array_of
from repro.rank.rounded import POOLED, precision_of, rounded, telling_rows, tells
from repro.rank.spectrum import Spectrum, curve_tolerances, numpy_threshold, press_threshold
from repro.trainers.language_model.evaluation import full_precision, rows_of
from repro.trainers.language_model.output.layer import OutputLayer
from repro.trainers.language_model.randomness import Ahead

COLUMN_BLOCK = 1024

KEPT_EVERY_S: Final = 600.0
"""Seconds from one save of what was read to the next."""


@dataclass(frozen=True)
class Torch:
    """Of the kernel's `Backend`; the tensors say on which device, and ``device`` where to go on."""

    device: str = "cpu"

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
        return np.asarray(torch.linalg.eigvalsh(gram, UPLO="L").cpu().numpy())

    def largest(self, gram: Tensor) -> float:
        return float(self.eigenvalues(gram)[-1])

    def counts(self, gram: Tensor, limits: Sequence[float]) -> list[int]:
        values = self.eigenvalues(gram)
        return [int(np.count_nonzero(values > limit)) for limit in limits]

    def triangle(self, factor: Tensor | None, block: Tensor) -> Tensor:
        stacked = block if factor is None else torch.cat([factor, block])
        return torch.linalg.qr(stacked, mode="r").R

    def singular_values(self, factor: Tensor) -> Spectrum:
        return np.asarray(torch.linalg.svdvals(factor).cpu().numpy())

    def restored(self, saved: Spectrum) -> Tensor:
        """As in Backend, row by row in one piece, as it was."""
        found = torch.empty(saved.shape, dtype=torch.float64, device=self.device)
        for start in range(0, len(saved), COLUMN_BLOCK):
            rows = np.ascontiguousarray(saved[start : start + COLUMN_BLOCK])
            found[start : start + COLUMN_BLOCK] = torch.from_numpy(rows)
        return found


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
    rows = rows_asked(rows, contexts)
    threshold = press_threshold(rows, columns, torch.finfo(dtype).eps)
    refuse_without_room(threshold, columns, output.weight.device)
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


Read = Callable[[int], Iterable[Tensor]]
"""The rows of a matrix from one of them on, in chunks (?, V)."""


def counts_of(
    read: Read,
    output: OutputLayer,
    rows: int,
    contexts: int | None,
    thresholds: Sequence[float],
    kept: SavedReading | None = None,
) -> tuple[float, dict[str, Any]]:
    """Press rank and facts as ``rank_of``, without a spectrum; ``read(0)`` gives all rows again.

    Counted at Press's threshold, ten times it, numpy's and each of ``thresholds``. On a processor
    by the kernel itself, in the room of one matrix of columns squared; on a GPU by the spectrum
    that ``rank_of`` takes, of which the counts are kept. What was read is ``kept``, and taken up
    from there.

    Raises as ``rank_of``, and MatrixError where memory has no room, or where other rows are kept.
    """
    rows = rows_asked(rows, contexts)
    counted = _on_processor if output.weight.device.type == "cpu" else _on_device

    def some(start: int) -> Iterator[Tensor]:
        return refuse_rounded(first(read(start), rows - start))

    return counted(some, output, rows, thresholds, kept)


@contextmanager
def kept_reading(place: Path | None, device: torch.device) -> Iterator[SavedReading | None]:
    """What a stop left of a reading in the folder ``place``; None where there can be no folder.

    A GPU and a processor reduce rows otherwise, so each kind of device has a folder of its own.
    """
    folder = None if place is None else place / device.type
    with suppress(OSError):  # a disk that is full: the reading is not kept
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
    if folder is None or not folder.is_dir():
        yield None
        return
    with SavedReading(folder, KEPT_EVERY_S, optional=True) as kept:
        yield kept


def _on_processor(
    read: Read,
    output: OutputLayer,
    rows: int,
    asked: Sequence[float],
    kept: SavedReading | None,
) -> tuple[float, dict[str, Any]]:
    weight = output.weight

    def arrays(start: int) -> Iterator[Any]:
        for chunk in read(start):
            yield chunk.numpy()

    def control(threshold: float, columns: int, _: str) -> Iterator[Any]:
        for chunk in known_rank_rows(threshold, columns, weight.dtype, weight.device):
            yield chunk.numpy()

    precision = str(weight.dtype).removeprefix("torch.")
    with full_precision():
        found = ranks_of(
            arrays, rows=rows, precision=precision, thresholds=asked, counts_only=True,
            control=control, checkpoint=kept, sure=True,
        )  # fmt: skip
    reduced, eps = found.reduced, torch.finfo(weight.dtype).eps
    numpys = numpy_threshold(rows, reduced.columns, eps)
    at = {found.threshold: found.press, 10 * found.threshold: found.tenfold, numpys: found.numpy}
    known = {"expected": found.expected, "measured": found.control}
    return float(found.press), _counted(reduced, found.threshold, at | found.at, known)


def _on_device(
    read: Read,
    output: OutputLayer,
    rows: int,
    asked: Sequence[float],
    kept: SavedReading | None,
) -> tuple[float, dict[str, Any]]:
    weight, columns = output.weight, len(output.weight)
    eps = torch.finfo(weight.dtype).eps
    threshold = press_threshold(rows, columns, eps)
    refuse_without_room(threshold, columns, weight.device)
    reduction = reduction_of(threshold)
    chunks: Iterable[Tensor] = kept.rest(read) if kept else read(0)
    if kept:
        kept.agree(reduction, str(weight.dtype).removeprefix("torch."))
    reduced = reduce_rows(chunks, reduction, Torch(str(weight.device)), checkpoint=kept)
    limits = [threshold, 10 * threshold, numpy_threshold(rows, columns, eps), *asked]
    at = dict(zip(limits, reduced.ranks(limits), strict=True))
    known = known_rank(threshold, columns, weight.dtype, weight.device)
    return float(at[threshold]), _counted(reduced, threshold, at, known)


def _counted(
    reduced: Reduced, threshold: float, at: dict[float, int], known: dict[str, int]
) -> dict[str, Any]:
    """The facts of counts alone, at thresholds below 1: above, none is counted."""
    limits = sorted(limit for limit in at if limit < 1)
    return {
        "rows": reduced.rows,
        "columns": reduced.columns,
        "reduction": reduced.reduction,
        "largest_singular_value": reduced.sigma_1,
        "relative_threshold": threshold,
        "tenfold": at[10 * threshold],
        "tolerances": limits,
        "curve": [at[limit] for limit in limits],
        "counts_only": True,
        "known_rank": known,
    }


def rows_asked(rows: int, contexts: int | None) -> int:
    """The rows to be read; DataError where there are fewer."""
    if contexts is not None and rows < contexts:
        raise DataError(
            f"a rank of the first {contexts:,} contexts: the text has {rows:,}\n"
            f"  expected: at most {rows:,}\n  to do: take fewer, or leave `contexts` out for all"
        )
    return rows if contexts is None else contexts


def refuse_without_room(
    threshold: float, columns: int, device: torch.device, *, counts_too: bool = True
) -> None:
    """MatrixError where the memory of a device has no room for a spectrum to a ``threshold``.

    ``counts_too``: counts alone could be asked for instead.
    """
    free = None
    if device.type == "cuda":
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        free = float(torch.cuda.mem_get_info(device)[0] + kept)
    reduction = reduction_of(threshold)
    counts = reduction_for(max(threshold, QR_RESOLUTION), spectrum=False)
    takes, less = needed(reduction, columns, copies=1), needed(counts, columns)
    do = "take fewer words, or a machine with more memory"
    if counts_too and less < takes:
        do = f"say `spectrum: false`: counts alone take {less / 1e9:.3g} GB on a processor; or {do}"
    refuse_without_memory(reduction, columns, free=free, copies=1, do=do)


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


ReadAll = Callable[[], Iterable[Tensor]]
"""All rows, read again in chunks (?, V)."""


def noisy_rank_of(
    read: ReadAll, output: OutputLayer, rows: int, contexts: int | None, c: float
) -> tuple[float, dict[str, Any], Spectrum]:
    """Press rank with noise, facts and the spectrum, as `rank_of` has them without.

    ``c`` is as in `repro.rank.noise.ranks_under_noise`; the rows are read twice. Facts: those of a
    rank, and the standard deviation of the noise per entry, in nats. Raises as ``rank_of``.
    """
    asked, columns, device = rows_asked(rows, contexts), len(output.weight), output.weight.device
    threshold = press_threshold(asked, columns, finfo(output.weight.dtype).eps)
    refuse_without_room(threshold, columns, device, counts_too=False)
    exact = refuse_rounded(first(read(), asked))
    deviation = deviation_of(c, asked, columns, reduce_rows(exact, "inertia", TORCH).sigma_1)

    noisy = _noisy_on_processor if device.type == "cpu" else _noisy_on_device
    value, details, spectrum = rank_of(noisy(read(), deviation), output, rows, contexts)
    return value, {**details, "deviation": deviation}, spectrum


def _noisy_on_processor(chunks: Iterable[Tensor], deviation: float) -> Iterator[Tensor]:
    return map(from_numpy, with_noise(map(array_of, chunks), deviation))


def _noisy_on_device(chunks: Iterable[Tensor], deviation: float) -> Iterator[Tensor]:
    """The same numbers, drawn ahead, so that no chunk waits for its noise."""
    noise: Ahead | None = None
    for chunk in chunks:
        noise = noise or Ahead(
            np.random.default_rng(SEED), np.random.Generator.standard_normal, chunk.device
        )
        yield chunk.double() + deviation * noise.take(chunk.numel()).view_as(chunk)


def centred_spectrum_of(
    read: ReadAll, output: OutputLayer, rows: int, contexts: int | None
) -> tuple[dict[str, Any], Spectrum]:
    """Shape and singular values of the rows less their mean, which are read twice.

    Raises as ``rank_of``.
    """
    asked, columns = rows_asked(rows, contexts), len(output.weight)
    refuse_without_room(10 * GRAM_RESOLUTION, columns, output.weight.device, counts_too=False)
    total_V = output.weight.new_zeros(columns).double()
    for chunk_NV in refuse_rounded(first(read(), asked)):
        total_V += chunk_NV.double().sum(dim=0)
    mean_V = total_V / asked
    centred = (chunk_NV.double() - mean_V for chunk_NV in first(read(), asked))
    spectrum = reduce_rows(centred, "gram", TORCH).values()
    return {"rows": asked, "columns": columns}, spectrum
