"""The step between values is the same in every unit."""

from __future__ import annotations

import numpy as np
import pytest

from repro.schema.base import LARGEST, SMALLEST
from repro.stats.shapes import granularity

VALUES = (9.013, 8.127, 8.961, 9.344, 8.589)


@pytest.mark.parametrize(
    "unit", [SMALLEST, 1e-30, 1e-13, 1e-12, 1e-11, 1e-4, 1.0, 1e3, LARGEST / 16]
)
def test_the_last_decimal_counts_at_every_size(unit: float) -> None:
    """Values far below 1 are no share 0 of 1: three decimals stay three decimals."""
    values = [unit * value for value in VALUES]
    assert granularity(values, values) <= 1.0001e-3 * unit


@pytest.mark.parametrize("n", [100, 1319, 10_000])
@pytest.mark.parametrize("counts", [(1, 2, 3, 5, 7), (11, 13, 17, 29, 97)])
def test_small_shares_of_a_set_are_recognised(n: int, counts: tuple[int, ...]) -> None:
    """Error rates k/N have a step of 1/N, also where they were taken from accuracies."""
    for values in ([k / n for k in counts], [1 - (n - k) / n for k in counts]):
        assert granularity(values, values) == pytest.approx(1 / n)


@pytest.mark.parametrize("percent", [1.0, 100.0])
@pytest.mark.parametrize("n", [797, 1597, 10_000])
def test_shares_of_float32_are_recognised(n: int, percent: float) -> None:
    """A mean of float32, with or without a factor of 100 in float64, as torch gives an error."""
    counts = [round(n * part) for part in (0.041, 0.0617, 0.0511, 0.0563, 0.1229, 0.104)]
    shares = [float(np.float32(k / n)) for k in counts]
    values = [percent * share for share in shares]
    assert granularity(values, values) == pytest.approx(percent / n)


def test_factors_of_100_in_float32_are_recognised_too() -> None:
    values = [float(np.float32(100) * np.float32(k / 797)) for k in (32, 41, 49, 45)]
    assert granularity(values, values) == pytest.approx(100 / 797)


def test_float32_values_that_are_no_shares_keep_their_step() -> None:
    """Losses: no set of up to 10,000 examples fits them, but for chance."""
    drawn = np.random.default_rng(0).uniform(0.2, 0.9, (200, 6)).astype(np.float32)
    coarse = [row for row in drawn.astype(float).tolist() if granularity(row, row) > 1e-6]
    assert len(coarse) <= 2
