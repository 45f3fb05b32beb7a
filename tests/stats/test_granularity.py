"""The step between values is the same in every unit."""

from __future__ import annotations

import pytest

from repro.schema.base import LARGEST, SMALLEST
from repro.stats.data_signs import granularity

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
