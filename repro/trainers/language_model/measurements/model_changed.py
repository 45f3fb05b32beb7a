"""Log-probabilities of a model that are changed before they are reduced: by noise, or centred.

By the kernel's definitions (`repro.rank.noise`, `repro.rank.matrix_rank`), on its device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from torch import Tensor, finfo, from_numpy

from repro.rank.noise import deviation_of, with_noise
from repro.rank.reduction import GRAM_RESOLUTION, reduce_rows
from repro.rank.resume import array_of
from repro.rank.spectrum import Spectrum, press_threshold
from repro.trainers.language_model.measurements.model_rank import (
    TORCH,
    first,
    rank_of,
    refuse_rounded,
    refuse_without_room,
    rows_asked,
)
from repro.trainers.language_model.output.layer import OutputLayer

Read = Callable[[], Iterable[Tensor]]
"""All rows, read again in chunks (?, V)."""


def noisy_rank_of(
    read: Read, output: OutputLayer, rows: int, contexts: int | None, c: float
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

    def noisy() -> Iterator[Tensor]:
        for chunk in with_noise(map(array_of, read()), deviation):
            yield from_numpy(chunk).to(device)

    value, details, spectrum = rank_of(noisy(), output, rows, contexts)
    return value, {**details, "deviation": deviation}, spectrum


def centred_spectrum_of(
    read: Read, output: OutputLayer, rows: int, contexts: int | None
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
