"""Counts of eigenvalues by a factorisation in place, against the eigenvalues themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg.lapack import dsytrf

from repro.rank import in_place
from repro.rank.in_place import PANEL, _check_integers, add_product, counts_above, factorise_columns

Matrix = np.ndarray[Any, np.dtype[np.float64]]


def symmetric(size: int, seed: int, rank: int | None = None) -> Matrix:
    """A Gram matrix of many scales, in Fortran's order."""
    generator = np.random.default_rng(seed)
    rows = (
        generator.normal(size=(rank or size, size)) * np.geomspace(1, 1e-3, rank or size)[:, None]
    )
    return np.asfortranarray(rows.T @ rows)


SIZES = [1, 2, PANEL - 1, PANEL, PANEL + 1, PANEL + 2, 3 * PANEL + 5, 5 * PANEL]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_counts_are_those_of_the_eigenvalues(size: int, share: float) -> None:
    matrix = symmetric(size, seed=size, rank=max(1, int(share * size)))
    values = np.linalg.eigvalsh(matrix)
    ends = np.sort(values[values > 1e-9 * values[-1]])
    limits = [*np.sqrt(ends[1:] * ends[:-1])[:: max(1, len(ends) // 7)], 1e-9 * values[-1], -1.0]
    assert counts_above(matrix, limits) == [int(np.sum(values > limit)) for limit in limits]


@pytest.mark.parametrize("size", SIZES)
def test_indefinite_matrices_and_blocks_of_two(size: int) -> None:
    """Zeros on the diagonal alone need pivots of two columns, also across the end of a panel."""
    generator = np.random.default_rng(size)
    half = generator.normal(size=(size, size))
    matrix = np.asfortranarray(half + half.T)
    np.fill_diagonal(matrix, 0.0)
    values = np.linalg.eigvalsh(matrix)
    assert counts_above(matrix, [0.0, 1.0]) == [np.sum(values > limit) for limit in (0.0, 1.0)]
    assert size < PANEL or np.count_nonzero(dsytrf(matrix, lower=1)[1] < 0) > 2


def test_the_lower_triangle_is_read_and_the_matrix_comes_back() -> None:
    matrix = symmetric(3 * PANEL, seed=1)
    whole = matrix.copy()
    matrix[np.triu_indices(len(matrix), 1)] = np.nan
    values = np.linalg.eigvalsh(whole)
    limit = float(values[200] + values[201]) / 2
    expected = len(whole) - 201
    assert counts_above(matrix, [limit, limit]) == [expected, expected]
    assert np.array_equal(np.tril(matrix), np.tril(whole))
    assert np.array_equal(matrix, matrix.T)


def test_columns_are_factorised_as_by_lapack() -> None:
    """The diagonal of D, for a matrix that needs no pivots of two."""
    matrix = symmetric(300, seed=2) + np.diag(np.full(300, 50.0))
    matrix = np.asfortranarray(matrix)
    expected, pivots, _ = dsytrf(matrix, lower=1)
    found = factorise_columns(matrix, np.empty((300, 40), order="F"))
    assert len(found) in {39, 40}
    assert np.array_equal(found, pivots[: len(found)])
    np.testing.assert_allclose(
        matrix.diagonal()[: len(found)], expected.diagonal()[: len(found)], rtol=1e-12
    )


@pytest.mark.parametrize("left", ["C", "F", "part", "steps"])
@pytest.mark.parametrize("right", ["C", "F", "part", "steps"])
def test_a_product_is_added_to_a_part_and_to_nothing_else(left: str, right: str) -> None:
    generator = np.random.default_rng(3)

    def given(rows: int, form: str) -> Matrix:
        whole = generator.normal(size=(2 * rows + 3, 40))
        forms = {"part": whole[3 : 3 + rows, 5:22], "steps": whole[: 2 * rows : 2, 2:36:2]}
        return forms.get(form, np.array(whole[:rows, :17], order="C" if form == "C" else "F"))

    a, b = given(30, left), given(11, right)
    total = np.asfortranarray(generator.normal(size=(50, 60)))
    expected = total.copy()
    expected[7:37, 20:31] += a @ b.T
    add_product(total[7:37, 20:31], a, b)
    np.testing.assert_allclose(total, expected, rtol=1e-13, atol=1e-13)
    outside = np.ones(total.shape, dtype=bool)
    outside[7:37, 20:31] = False
    assert np.array_equal(total[outside], expected[outside])


@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 0, 3), (4, 3, 0), (1, 1, 1), (1, 5, 1)])
def test_small_and_empty_products(shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    total = np.ones((m, n), order="F")
    add_product(total, np.full((m, k), 2.0), np.full((n, k), 3.0))
    assert np.array_equal(total, np.full((m, n), 1.0 + 6 * k))


def test_what_a_routine_would_misread_is_refused() -> None:
    total = np.zeros((4, 4), order="F")
    fixed = total.copy("F")
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="transposed is not"):
        add_product(total, np.ones((4, 2)), np.ones((3, 2)))
    for wrong in (
        np.zeros((4, 4)),
        np.zeros((4, 4), np.float32, order="F"),
        total[::2, ::2],
        fixed,
    ):
        n = len(wrong)
        with pytest.raises(ValueError, match="Fortran's order"):
            add_product(wrong, np.ones((n, 2)), np.ones((n, 2)))
        with pytest.raises(ValueError, match="Fortran's order"):
            factorise_columns(wrong, np.ones((n, 2), order="F"))
    for room in ((4, 4), (4, 1), (3, 2)):
        with pytest.raises(ValueError, match="no room"):
            factorise_columns(total, np.ones(room, order="F"))


def test_integers_and_float32_are_taken_as_float64() -> None:
    total = np.zeros((3, 2), order="F")
    add_product(total, np.ones((3, 4), np.float32), np.full((2, 4), 2))
    assert np.array_equal(total, np.full((3, 2), 8.0))


def test_panels_of_another_width_count_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = symmetric(300, seed=4)
    values = np.linalg.eigvalsh(matrix)
    limits = [float(np.sqrt(values[k] * values[k + 1])) for k in (100, 200, 298)]
    expected = counts_above(matrix.copy("F"), limits)
    for panel in (2, 3, 64, 299):
        monkeypatch.setattr(in_place, "PANEL", panel)
        assert counts_above(matrix.copy("F"), limits) == expected == [199, 99, 1]


def test_routines_with_integers_of_another_size_are_refused() -> None:
    """As those of a scipy that was built for integers of eight bytes."""
    with pytest.raises(ImportError, match="6 arguments of int"):
        _check_integers("dgemm", "void (char *, char *, blas_int *, blas_int *, blas_int *)")
