"""Ranks with noise: against the SVD of the held matrix, the supplement's tables, and simulation."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from repro.rank.matrix_rank import ranks_of
from repro.rank.noise import (
    deviation_of,
    ranks_under_noise,
    with_noise,
)
from repro.rank.spectrum import effective_rank, press_threshold

Matrix = np.ndarray[Any, np.dtype[np.float64]]

EPSILONS = (1e-3, 1e-4, 1e-5)

LEADING = np.array(
    [387460, 16533, 12321, 10342, 9607.9, 9271.2, 7627.8, 7478.5, 7188.5, 6828.5]
)  # fmt: skip
"""The ten largest singular values of MoS on Penn Treebank, as Parthiban et al. 2021 drew them."""

TABLE_15 = {
    1e-2: 10000, 1e-4: 10000, 1e-8: 10000, 1e-16: 9998, 1e-20: 9899, 1e-21: 9681, 1e-22: 9001,
    1e-23: 6869, 1e-24: 1159, 1e-25: 10, 1e-26: 10, 1e-28: 10, 1e-32: 10,
}  # fmt: skip
"""Press ranks that the supplement prints: ten singular values of 10,000, by c."""

SIZE = 10_000
THRESHOLD = press_threshold(SIZE, SIZE, 2.0**-52)


def noise_above(size: int, variance: float, limit: float) -> float:
    """Expected number of singular values above ``limit`` of a matrix of noise, size x size.

    By the quarter-circle law, from 0 to 2 sqrt(size variance), for a large ``size``.
    """
    edge = min(limit / float(np.sqrt(size * variance)), 2.0)
    below = (edge * np.sqrt(4 - edge**2) / 2 + 2 * np.arcsin(edge / 2)) / np.pi
    return float(size * (1 - below))


def rank_under_noise(values: Matrix, columns: int, variance: float, threshold: float) -> float:
    """Expected rank of a square matrix with a few singular ``values``, plus white noise, by theory.

    ``values`` that stand above the noise are k outliers, and the other singular values are those of
    noise in the other ``columns`` - k dimensions, for large ``columns`` and small k (Parthiban et
    al. 2021, supplement Tables 15 and 16: 10,000 columns, k = 10). ``threshold`` is relative to the
    largest of ``values``.
    """
    outliers = values > np.sqrt(columns * variance)
    limit = threshold * float(values[0])
    noise = noise_above(columns - int(np.count_nonzero(outliers)), variance, limit)
    return float(np.count_nonzero(values[outliers] > limit) + noise)


@pytest.mark.parametrize("c", TABLE_15)
def test_table_15_by_theory(c: float) -> None:
    """Printed ranks are within 4.5 of theory, and within 3 of noise in all dimensions."""
    values = LEADING / LEADING[0]
    assert abs(rank_under_noise(values, SIZE, c / SIZE**2, THRESHOLD) - TABLE_15[c]) < 4.5
    noise = noise_above(SIZE, c / SIZE**2, THRESHOLD)
    assert abs(max(noise, len(values)) - TABLE_15[c]) < 3


def test_table_14_at_a_smaller_size() -> None:
    """Round-off alone raises no rank: decomposed and composed ten times, Press's rank stays 10.

    The printed mean squared errors rise from 0.97e-28 to 1.28e-28 at 10,000 x 10,000, for values
    over the largest.
    """
    size = 600
    generator = np.random.default_rng(14)
    left, _ = np.linalg.qr(generator.standard_normal((size, 10)))
    right, _ = np.linalg.qr(generator.standard_normal((size, 10)))
    held = (left * LEADING) @ right.T
    composed, errors = held, []
    for _ in range(10):
        u, values, v = np.linalg.svd(composed)
        composed = (u * values) @ v
        assert ranks_of(reading(composed), rows=size, precision="float64").press == 10
        errors.append(float(np.mean(((composed - held) / LEADING[0]) ** 2)))
    assert all(a < b for a, b in pairwise(errors))
    assert errors[-1] < 1e-28


def gaussian_counts(size: int, limits: list[float], seed: int) -> list[int]:
    """Singular values above each limit of a size x size matrix of N(0, 1), exactly in distribution.

    Those of a bidiagonal matrix of chi variates (Dumitriu and Edelman 2002), counted by the signs
    of a Sturm sequence of the tridiagonal matrix with a zero diagonal.
    """
    generator = np.random.default_rng(seed)
    squares = np.empty(2 * size - 1)
    squares[0::2] = generator.chisquare(np.arange(size, 0, -1))
    squares[1::2] = generator.chisquare(np.arange(size - 1, 0, -1))
    counts = []
    for limit in limits:
        pivot, positive = -limit, 0
        for square in squares.tolist():
            pivot = -limit - square / pivot
            positive += pivot > 0
        counts.append(positive)
    return counts


def test_the_reference_counts_what_an_svd_counts() -> None:
    """The counts of the bidiagonal matrix, held."""
    generator = np.random.default_rng(3)
    main = np.sqrt(generator.chisquare(np.arange(60, 0, -1)))
    side = np.sqrt(generator.chisquare(np.arange(59, 0, -1)))
    values = np.linalg.svd(np.diag(main) + np.diag(side, 1), compute_uv=False)
    limits = [0.5, 2.0, 8.0]
    assert gaussian_counts(60, limits, 3) == [int(np.sum(values > limit)) for limit in limits]


@pytest.mark.parametrize(("outliers", "most"), [(0, 3), (10, 4.5)])
def test_table_15_by_simulation_at_full_size(outliers: int, most: float) -> None:
    """The mean of 25 matrices of noise is within 1 of theory, and within 3 of the printed ranks.

    Of the printed ranks it is within 4.5 where ten dimensions are those of outliers.
    """
    some = (1e-16, 1e-20, 1e-21, 1e-22, 1e-23, 1e-24)
    limits = [THRESHOLD / float(np.sqrt(c / SIZE**2)) for c in some]
    counts = [gaussian_counts(SIZE - outliers, limits, seed) for seed in range(25)]
    means = np.mean(counts, axis=0) + outliers
    for c, limit, mean in zip(some, limits, means, strict=True):
        assert abs(noise_above(SIZE - outliers, 1.0, limit) + outliers - mean) < 1
        assert abs(mean - TABLE_15[c]) < most


def reading(held: Matrix, rows: int = 97) -> Any:
    return lambda start: (held[at : at + rows] for at in range(start, len(held), rows))


def test_algorithm_2_at_a_smaller_size() -> None:
    """Ten published values on a diagonal, and noise: Press's rank follows it, the others do not."""
    size = 600
    held = np.diag(np.append(LEADING, np.zeros(size - 10)))
    found = ranks_of(reading(held), rows=size, precision="float64")
    assert found.press == 10
    threshold = press_threshold(size, size, 2.0**-52)
    presses = []
    for c in (1e-18, 1e-22, 1e-24, 1e-25, 1e-29):
        noisy = ranks_under_noise(reading(held), found, c, EPSILONS)
        theory = rank_under_noise(LEADING / LEADING[0], size, c / size**2, threshold)
        assert abs(noisy.press - theory) < 4
        assert noisy.press_before == 10
        assert noisy.effective == noisy.effective_before == {1e-3: 8, 1e-4: 10, 1e-5: 10}
        presses.append(noisy.press)
    assert presses[0] > 590
    assert presses[-1] == 10
    assert all(a > b for a, b in pairwise(presses[:-1]))


@pytest.mark.parametrize("c", [1e-9, 1e-4, 1e-2])
def test_log_probabilities_with_noise_against_the_svd(c: float) -> None:
    generator = np.random.default_rng(1)
    logits = (generator.normal(size=(1500, 8)) @ generator.normal(size=(8, 300))).astype("f4")
    held = (logits - np.log(np.exp(logits.astype("f8")).sum(1, keepdims=True))).astype("f4")
    found = ranks_of(reading(held), rows=1500)
    assert found.press == 9
    values = np.linalg.svd(held.astype("f8"), compute_uv=False)
    deviation = float(np.sqrt(c / held.size) * values[0])
    noise = np.random.default_rng(7).standard_normal(held.shape)
    expected = np.linalg.svd(held + deviation * noise, compute_uv=False)
    noisy = ranks_under_noise(reading(held), found, c, EPSILONS, seed=7)
    assert noisy.deviation == pytest.approx(deviation, rel=1e-9)
    assert noisy.press == np.sum(expected > press_threshold(1500, 300, 2.0**-23) * expected[0])
    assert noisy.effective == {e: effective_rank(expected, e) for e in EPSILONS}
    assert noisy.effective_before == {e: effective_rank(values, e) for e in EPSILONS}


def test_noise_has_the_sum_of_squares_that_c_says() -> None:
    deviation = deviation_of(1e-3, 2000, 500, 40.0)
    (noise,) = with_noise([np.zeros((2000, 500))], deviation)
    assert np.sum(noise**2) == pytest.approx(1e-3 * 40.0**2, rel=0.01)


def test_noise_does_not_depend_on_the_chunks() -> None:
    held = np.zeros((500, 7))
    whole, parts = (
        np.concatenate(list(with_noise(reading(held, rows)(0), 1.0))) for rows in (500, 13)
    )
    assert np.array_equal(whole, parts)
