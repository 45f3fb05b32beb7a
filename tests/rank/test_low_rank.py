"""Rows of low rank: counts and bounds against the singular values of the whole matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from repro.rank.low_rank import LowRank, ManyDirectionsError
from repro.rank.matrix_rank import ranks_of
from repro.rank.reduction import BLOCK_ROWS, reduce_rows

Rows = np.ndarray[Any, np.dtype[np.floating[Any]]]
COLUMNS = 640
THRESHOLD = 1e-4


def matrix(rows: int, values: Any, noise: float = 0.0, seed: int = 0) -> Rows:
    """Of these singular values, and white noise of this spectral norm, about."""
    generator = np.random.default_rng(seed)
    left = np.linalg.qr(generator.normal(size=(rows, len(values))))[0]
    right = np.linalg.qr(generator.normal(size=(COLUMNS, len(values))))[0]
    white = generator.normal(size=(rows, COLUMNS)) / (np.sqrt(rows) + np.sqrt(COLUMNS))
    product: Rows = (left * values) @ right.T + noise * white
    return product


def blocks(whole: Rows, size: int = BLOCK_ROWS) -> Iterator[Rows]:
    return (whole[start : start + size] for start in range(0, len(whole), size))


def singular_values(whole: Rows) -> Rows:
    values: Rows = np.linalg.svd(whole, compute_uv=False)
    return values


@pytest.mark.parametrize("noise", [0.0, 1e-7, 1e-6])
@pytest.mark.parametrize("rows", [500, 5000])
def test_counts_and_values_are_those_of_the_matrix(rows: int, noise: float) -> None:
    whole = matrix(rows, np.geomspace(1, 3e-4, 40), noise)
    true = singular_values(whole)
    reduced = reduce_rows(blocks(whole), "basis", threshold=THRESHOLD)
    asked = [0.5, 1e-2, 1e-3, THRESHOLD]
    assert reduced.certain(asked)
    assert reduced.ranks(asked) == [int(np.sum(true > t * true[0])) for t in asked]
    np.testing.assert_allclose(reduced.values()[:40], true[:40], atol=1e-8)
    assert not reduced.values()[60:].any()
    assert reduced.least == THRESHOLD


@pytest.mark.parametrize("seed", range(6))
def test_the_true_values_lie_between_the_bounds(seed: int) -> None:
    """Whatever comes when: rows whose directions are new in every block, and much is left out."""
    generator = np.random.default_rng(seed)
    values = [np.sort(generator.uniform(0, 1, 8) ** 4)[::-1] for _ in range(4)]
    parts = [matrix(300, each, 2e-4, seed=9 * seed + i) for i, each in enumerate(values)]
    reduced = LowRank(COLUMNS, 0.05)
    for part in parts:
        reduced.add(part)
    assert reduced.left_before > 0
    low, high = reduced.bounds(np.append(reduced.singular_values(), 0.0))
    true = singular_values(np.concatenate(parts))
    inside = len(reduced.basis)
    assert np.all(low[:-1] <= true[:inside] * (1 + 1e-9))
    assert np.all(true[:inside] <= high[:-1] * (1 + 1e-9))
    assert true[inside] <= high[-1]


def test_directions_of_a_later_block_are_counted() -> None:
    """Seen in the last rows alone."""
    early, late = matrix(3 * BLOCK_ROWS, np.full(5, 1.0)), matrix(200, np.full(7, 0.01), seed=1)
    reduced = reduce_rows(blocks(np.concatenate([early, late])), "basis", threshold=THRESHOLD)
    assert reduced.certain([0.1, 1e-3])
    assert reduced.ranks([0.1, 1e-3]) == [5, 12]


@pytest.mark.parametrize("values", [np.geomspace(1, 1e-3, 200), np.full(COLUMNS, 1.0)])
def test_many_directions_are_refused(values: Rows) -> None:
    with pytest.raises(ManyDirectionsError):
        LowRank(COLUMNS, THRESHOLD).add(matrix(1000, values))


def test_rows_of_zeros() -> None:
    low_rank = LowRank(COLUMNS, THRESHOLD)
    low_rank.add(np.zeros((3, COLUMNS)))
    assert len(low_rank.basis) == 0
    low_rank.add(matrix(900, np.ones(3)))
    assert low_rank.singular_values() == pytest.approx(np.ones(3))


class Reader:
    """Gives the rows again and again, and counts how often."""

    def __init__(self, whole: Rows) -> None:
        self.whole = whole
        self.times = 0

    def __call__(self, start: int) -> Iterator[Rows]:
        self.times += 1
        return blocks(self.whole[start:], 1000)


def test_what_has_many_directions_is_read_again() -> None:
    whole = matrix(3000, np.geomspace(1, 1e-3, 600)).astype(np.float32)
    read = Reader(whole)
    found = ranks_of(read, rows=3000)
    assert (read.times, found.reduced.reduction) == (2, "gram")
    assert found.press == 600


def test_low_rank_is_read_once() -> None:
    read = Reader(matrix(3000, np.geomspace(1, 1e-3, 30)).astype(np.float32))
    found = ranks_of(read, rows=3000, thresholds=[0.1], counts_only=True)
    assert (read.times, found.reduced.reduction) == (1, "basis")
    assert (found.press, found.at[0.1], found.control) == (30, 10, found.expected)


def test_a_count_in_doubt_is_taken_of_the_whole() -> None:
    """A value within what the basis leaves out: both sides of the threshold are possible."""
    values = np.append(np.ones(3), 0.01)
    whole = matrix(3000, values, noise=1e-4)
    true = singular_values(whole)
    at = float(true[3] / true[0]) * (1 - 1e-9)
    reduced = reduce_rows(blocks(whole), "basis", threshold=at)
    assert not reduced.certain([at])
    read = Reader(whole)
    found = ranks_of(read, rows=3000, precision="float16", thresholds=[at], counts_only=True)
    assert (read.times, found.reduced.reduction, found.at[at]) == (2, "inertia", 4)


def test_fewer_rows_than_a_block_need_no_gram_matrix() -> None:
    """400 rows of 5,000 columns have a basis, which is far smaller than 5,000 x 5,000."""
    rows = np.random.default_rng(0).normal(size=(400, 5000))
    found = reduce_rows(iter([rows]), "basis", threshold=1e-6)
    values = np.linalg.svd(rows, compute_uv=False)
    np.testing.assert_allclose(found.values()[:400], values, rtol=1e-9)
    assert found.certain([1e-6])
    assert found.ranks([1e-6]) == [400]


def test_one_row_of_many_words() -> None:
    """Press's threshold is low, and its control has a basis all the same."""
    row = np.random.default_rng(0).normal(size=(1, 3500)).astype(np.float32)
    found = ranks_of(lambda start: iter([row[start:]]))
    assert (found.reduced.reduction, found.press) == ("basis", 1)
    assert found.control == found.expected == 32
