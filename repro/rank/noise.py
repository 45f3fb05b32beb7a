"""How far a rank withstands noise: the same matrix, with independent noise in every entry.

Parthiban et al. (2021), supplement, Algorithm 2 and Tables 15 and 16: of an n x n matrix whose
largest singular value is 1, ten singular values are kept, noise of variance c / n^2 is added to
every entry, and the ranks are taken again. Here every singular value is kept, and for M x N the
variance is c / (M N) times the square of the largest: c is the expected sum of squares of the
noise relative to that of the first direction, whatever the shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from repro.rank.matrix_rank import Ranks, Read, ranks_of
from repro.rank.reduction import Rows
from repro.rank.spectrum import Spectrum, effective_rank

SEED: Final = 20210426


@dataclass(frozen=True)
class UnderNoise:
    """Ranks with noise of this standard deviation per entry, and without it.

    ``effective`` and ``effective_before`` map each epsilon to its effective rank.
    """

    deviation: float
    press: int
    press_before: int
    effective: dict[float, int]
    effective_before: dict[float, int]


def deviation_of(c: float, rows: int, columns: int, largest: float) -> float:
    """Standard deviation of noise in each entry of a matrix whose ``largest`` singular value it is.

    The square root of c / (rows columns), times ``largest``.
    """
    return float(np.sqrt(c / (rows * columns)) * largest)


def with_noise(chunks: Iterable[Rows], deviation: float, seed: int = SEED) -> Iterator[Rows]:
    """The chunks (?, N) plus independent N(0, deviation^2), in float64.

    The noise of a row is the same however the rows are cut into chunks.
    """
    generator = np.random.default_rng(seed)
    for chunk in chunks:
        yield chunk + deviation * generator.standard_normal(chunk.shape)


def ranks_under_noise(
    read: Read, found: Ranks, c: float, epsilons: Sequence[float], seed: int = SEED
) -> UnderNoise:
    """Press's and the effective ranks of a matrix with noise, against those ``found`` without.

    ``read`` is as for `repro.rank.matrix_rank.ranks_of`; the rows are read again, once or twice.
    Press's threshold keeps the eps of the precision of the data, and is relative to the largest
    singular value with noise.

    Raises ValueError where ``found`` has no spectrum.
    """
    reduced = found.reduced
    deviation = deviation_of(c, reduced.rows, reduced.columns, reduced.sigma_1)
    before = _effective(reduced.values(), epsilons)
    noisy = ranks_of(
        lambda _: with_noise(read(0), deviation, seed),
        rows=reduced.rows,
        precision=found.precision,
        epsilons=epsilons,
    )
    after = _effective(noisy.reduced.values(), epsilons)
    return UnderNoise(deviation, noisy.press, found.press, after, before)


def _effective(values: Spectrum, epsilons: Sequence[float]) -> dict[float, int]:
    return {epsilon: effective_rank(values, epsilon) for epsilon in epsilons}


def with_noise_of(under: UnderNoise) -> dict[str, Any]:
    """Ranks with noise, and how much each changes by it."""
    before = under.effective_before
    return {
        "deviation": under.deviation,
        "press": under.press,
        "press_change": under.press - under.press_before,
        "effective": {f"{e:g}": rank for e, rank in under.effective.items()},
        "effective_change": {f"{e:g}": rank - before[e] for e, rank in under.effective.items()},
    }
