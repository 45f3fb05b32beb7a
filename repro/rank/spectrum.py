"""What singular values say: thresholds, ranks above them, and ranks without a threshold.

A spectrum is an array of min(M, N) or more singular values, falling, of a matrix of M contexts and
N words. Thresholds are relative to the largest singular value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

Spectrum = np.ndarray[Any, np.dtype[np.floating[Any]]]
Counts = np.ndarray[Any, np.dtype[np.int64]]

CURVE_POINTS: Final = 55
"""Tolerances of the curve rank(tolerance): a dozen per decade, around Press's threshold."""


def press_threshold(rows: int, columns: int, eps: float) -> float:
    """1/2 sqrt(M + N + 1) eps (Press et al. 2007), eps that of the precision of the *data*."""
    return 0.5 * float(np.sqrt(rows + columns + 1.0)) * eps


def numpy_threshold(rows: int, columns: int, eps: float) -> float:
    """max(M, N) eps, the default of numpy.linalg.matrix_rank."""
    return max(rows, columns) * eps


def empirical_bound(reference: Spectrum, rank: int) -> float:
    """The singular value after the first ``rank`` of a ``reference``: a bound on noise.

    Lim et al. (2018), section 2.3, take the first singular value that a model whose rank is known
    to be ``rank`` should not have (the 281st of MoS with one component and 280 dimensions, with
    log(p + 1e-8)), and count the singular values of other models that are above it. It is a
    singular value, not relative to the largest.

    Raises ValueError where the reference has no such singular value.
    """
    if not 0 <= rank < len(reference):
        raise ValueError(f"a rank from 0 to {len(reference) - 1}, not {rank}")
    return float(reference[rank])


def empirical_rank(spectrum: Spectrum, bound: float) -> int:
    """How many singular values are above a ``bound`` that is not relative (Lim et al. 2018)."""
    return int(np.count_nonzero(spectrum > bound))


def count_above(spectrum: Spectrum, threshold: float) -> int:
    """How many singular values are above ``threshold`` times the largest."""
    return int(np.count_nonzero(spectrum > threshold * spectrum[0]))


def curve_tolerances(threshold: float, least: float = 0.0) -> Spectrum:
    """Tolerances of at least ``least``, from 1.5 decades below Press's threshold to 3 above."""
    tolerances = np.logspace(np.log10(threshold) - 1.5, np.log10(threshold) + 3, CURVE_POINTS)
    return tolerances[tolerances >= least]


def effective_rank(spectrum: Spectrum, epsilon: float) -> int:
    """The least k whose first k squared singular values hold 1 - epsilon of their sum.

    Parthiban et al. (2021), supplement 5.4, take it of the matrix as it is, not centred.

    Raises ValueError for an epsilon that is not in [0, 1).
    """
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon from 0 to below 1, not {epsilon}")
    energy = spectrum**2
    left_out = np.append(np.cumsum(energy[::-1])[::-1], 0.0)
    return int(np.argmax(left_out <= epsilon * left_out[0]))


def stable_rank(spectrum: Spectrum) -> float:
    """The sum of squares over the largest square: the squared Frobenius over the spectral norm.

    0 of zeros alone.
    """
    if not spectrum[0]:
        return 0.0
    return float(np.sum((spectrum / spectrum[0]) ** 2))


def entropy_rank(spectrum: Spectrum) -> float:
    """Exp of the entropy of the singular values as shares of their sum (Roy and Vetterli 2007).

    0 of zeros alone.
    """
    if not spectrum[0]:
        return 0.0
    shares = spectrum[spectrum > 0] / np.sum(spectrum)
    return float(np.exp(-np.sum(shares * np.log(shares))))


def cumulative_share(spectrum: Spectrum) -> Spectrum:
    """What share of the sum the first k singular values hold, for k from 1 (Yang et al., v1).

    0 of zeros alone.
    """
    return np.cumsum(spectrum) / (np.sum(spectrum) or 1.0)


def share_places(size: int) -> Counts:
    """Numbers k of first singular values, of ``size``, at which their share is told."""
    return np.unique(np.geomspace(1, size, CURVE_POINTS).astype(np.int64))


def without_threshold(values: Spectrum, epsilons: Sequence[float]) -> dict[str, Any]:
    """The ranks of a spectrum that no threshold on its singular values decides."""
    return {
        "effective": {f"{epsilon:g}": effective_rank(values, epsilon) for epsilon in epsilons},
        "stable": stable_rank(values),
        "entropy": entropy_rank(values),
    }
