"""The matrix on which full-size ranks are timed: its rank is known, its rows come from anywhere."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.rank.__main__ import predicted
from benchmarks.rank.rows import BLOCK, softmax
from repro.rank.matrix_rank import ranks_of


def test_its_rank_is_d_plus_2() -> None:
    """One more for the normaliser, one for the bias; exponentials of each row sum to 1."""
    blocks = list(softmax(1500, 300, dimensions=40))
    assert ranks_of(lambda _: blocks).press == 42
    np.testing.assert_allclose(np.exp(np.concatenate(blocks)).sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("start", [0, 1, BLOCK - 1, BLOCK, 1400])
def test_it_can_be_read_from_any_row(start: int) -> None:
    whole = np.concatenate(list(softmax(1500, 60, dimensions=5)))
    rest = np.concatenate(list(softmax(1500, 60, start, dimensions=5)))
    assert np.array_equal(whole[start:], rest)


def test_what_the_rate_of_products_predicts() -> None:
    """PTB's Gram matrix, its control and four factorisations at 50 GFLOP/s: about three minutes."""
    assert predicted((82_429, 10_000), 4, 5e10) == pytest.approx(201.8, abs=0.1)
