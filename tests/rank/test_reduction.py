"""Reductions of streamed rows, against the float64 singular values of the whole matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import pytest

from repro.errors import MatrixError
from repro.rank.reduction import (
    GRAM_RESOLUTION,
    NUMPY,
    QR_RESOLUTION,
    Reduction,
    reduce_rows,
    reduction_for,
)

Matrix = np.ndarray[Any, np.dtype[np.float64]]
THRESHOLDS = [1e-1, 1e-3, 1e-5, 1e-6]


def matrix(rows: int, columns: int, least: float = 1e-7, seed: int = 0) -> Matrix:
    """Singular values from 1 down to ``least``, in equal steps of their logarithm."""
    generator = np.random.default_rng(seed)
    size = min(rows, columns)
    left, right = (np.linalg.qr(generator.normal(size=(n, size)))[0] for n in (rows, columns))
    product: Matrix = (left * np.geomspace(1, least, size)) @ right.T
    return product


def chunks(whole: Matrix, size: int) -> Iterator[Matrix]:
    """Its rows, ``size`` at a time."""
    return (whole[start : start + size] for start in range(0, len(whole), size))


@pytest.mark.parametrize("reduction", ["inertia", "gram", "qr"])
@pytest.mark.parametrize("shape", [(700, 90), (90, 300), (2500, 301), (5, 5), (4, 1), (1, 7)])
def test_counts_are_those_of_the_singular_values(
    reduction: Reduction, shape: tuple[int, int]
) -> None:
    whole = matrix(*shape)
    values = np.linalg.svd(whole, compute_uv=False)
    reduced = reduce_rows(chunks(whole, 333), reduction)
    assert (reduced.rows, reduced.columns) == shape
    assert reduced.sigma_1 == pytest.approx(values[0], rel=1e-12)
    expected = [int(np.sum(values > t * values[0])) for t in THRESHOLDS]
    assert reduced.ranks(THRESHOLDS) == expected
    assert reduced.ranks(THRESHOLDS[::-1]) == expected[::-1]


@pytest.mark.parametrize(("reduction", "accuracy"), [("gram", 1e-7), ("qr", 1e-13)])
def test_the_spectrum_falls_and_has_a_value_per_column(
    reduction: Literal["gram", "qr"], accuracy: float
) -> None:
    whole = matrix(60, 100)
    spectrum = reduce_rows(chunks(whole, 7), reduction).spectrum
    assert spectrum is not None
    values = np.append(np.linalg.svd(whole, compute_uv=False), np.zeros(40))
    assert np.all(np.diff(spectrum) <= 0)
    np.testing.assert_allclose(spectrum, values, atol=accuracy)


@pytest.mark.parametrize("reduction", ["inertia", "gram", "qr"])
def test_chunks_do_not_matter(reduction: Reduction) -> None:
    """One row at a time, all at once, and with empty chunks between: the same to the last bit."""
    whole = matrix(2100, 40)
    pieces = [whole[:0], *chunks(whole, 1), whole[:0]]
    one, other = (reduce_rows(rows, reduction) for rows in (pieces, [whole]))
    assert one.sigma_1 == other.sigma_1
    assert np.array_equal(
        one.gram if one.spectrum is None else one.spectrum,
        other.gram if other.spectrum is None else other.spectrum,
    )


def test_inertia_counts_indefinite_blocks_of_two() -> None:
    """A shifted matrix whose factorisation needs pivots of two rows and columns."""
    gram = np.asfortranarray([[0.0, 2.0], [2.0, 0.0]])
    assert NUMPY.counts(gram, [0.0, 1.9, 2.1, -2.1]) == [1, 1, 0, 2]


def test_no_rows() -> None:
    with pytest.raises(ValueError, match="no rows"):
        reduce_rows([np.empty((0, 3))], "gram")


@pytest.mark.parametrize(
    ("least", "spectrum", "expected"),
    [
        (1e-5, True, "gram"),
        (1e-5, False, "inertia"),
        (GRAM_RESOLUTION, True, "gram"),
        (GRAM_RESOLUTION / 2, True, "qr"),
        (GRAM_RESOLUTION / 2, False, "qr"),
        (QR_RESOLUTION, True, "qr"),
    ],
)
def test_the_cheapest_reduction_that_resolves_a_threshold(
    least: float, spectrum: bool, expected: str
) -> None:
    assert reduction_for(least, spectrum=spectrum) == expected


def test_a_threshold_below_float64_is_refused() -> None:
    with pytest.raises(MatrixError, match=r"1e-16 of the largest .*\n  expected: at least"):
        reduction_for(1e-16, spectrum=True)


def test_a_gram_matrix_does_not_resolve_what_is_refused() -> None:
    """Why the limit is there: far below it the count is wrong, and that of QR is right."""
    whole = matrix(400, 60, least=1e-10)
    exact, wrong = (reduce_rows([whole], reduction).ranks([1e-9]) for reduction in ("qr", "gram"))
    assert exact == [int(np.sum(np.geomspace(1, 1e-10, 60) > 1e-9))] != wrong
