"""Ranks that singular values give, against closed forms, definitions and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from repro.rank.spectrum import (
    count_above,
    cumulative_share,
    curve_tolerances,
    effective_rank,
    empirical_bound,
    empirical_rank,
    entropy_rank,
    numpy_threshold,
    press_threshold,
    stable_rank,
)

SPECTRA = arrays(np.float64, st.integers(1, 30), elements=st.floats(1e-3, 1e3)).map(
    lambda values: np.sort(values)[::-1]
)


def test_press_of_penn_treebank() -> None:
    """The papers: 82,429 x 10,000 in float32, a threshold of 6.6 to 7.0 at 3.63e5 to 3.87e5."""
    threshold = press_threshold(82_429, 10_000, float(np.finfo(np.float32).eps))
    assert threshold == pytest.approx(0.5 * np.sqrt(92_430) * 2**-23, rel=1e-12)
    assert round(threshold * 3.63e5, 1) == 6.6
    assert round(threshold * 3.87e5, 1) == 7.0


def test_numpys_threshold_is_that_of_matrix_rank() -> None:
    values = np.array([1.0, 2e-5, 1e-5])
    matrix = np.zeros((300, 3), dtype=np.float32)
    matrix[:3] = np.diag(values)
    threshold = numpy_threshold(300, 3, float(np.finfo(np.float32).eps))
    assert 1e-5 < threshold < 4e-5
    assert count_above(values, threshold) == np.linalg.matrix_rank(matrix) == 1


def test_lims_bound_counts_what_the_reference_should_not_have() -> None:
    """By construction the reference itself has as many as it may."""
    reference = np.array([10.0, 5.0, 2.0, 0.5, 0.1])
    other = np.array([20.0, 3.0, 1.0, 0.6, 0.4])
    assert empirical_bound(reference, 3) == 0.5
    assert empirical_rank(reference, 0.5) == 3
    assert empirical_rank(other, 0.5) == 4


@pytest.mark.parametrize("rank", [-1, 5])
def test_lims_bound_needs_a_value_in_the_reference(rank: int) -> None:
    with pytest.raises(ValueError, match="a rank from 0 to 4"):
        empirical_bound(np.ones(5), rank)


@pytest.mark.parametrize("size", [1, 7, 100])
def test_ranks_without_a_threshold_of_equal_values_are_their_number(size: int) -> None:
    values = np.full(size, 3.0)
    assert effective_rank(values, 0.0) == size
    assert stable_rank(values) == pytest.approx(size)
    assert entropy_rank(values) == pytest.approx(size)
    assert cumulative_share(values)[-1] == pytest.approx(1.0)


def test_entropy_rank_of_two_shares() -> None:
    p = 0.2
    expected = p**-p * (1 - p) ** (p - 1)
    assert entropy_rank(np.array([0.8, 0.2, 0.0])) == pytest.approx(expected, rel=1e-14)


@given(SPECTRA, st.floats(0, 0.99))
def test_effective_rank_is_the_least_that_holds_enough(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], epsilon: float
) -> None:
    k = effective_rank(values, epsilon)
    energy = values**2
    assert energy[k:].sum() <= epsilon * energy.sum() * (1 + 1e-12)
    assert energy[k - 1 :].sum() > epsilon * energy.sum() * (1 - 1e-12)


@given(SPECTRA)
def test_order_of_the_ranks(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    """1 <= stable <= entropy <= number of values; more tolerance never counts more."""
    assert 1 <= stable_rank(values) <= entropy_rank(values) * (1 + 1e-9)
    assert entropy_rank(values) <= len(values) * (1 + 1e-9)
    counts = [count_above(values, t) for t in curve_tolerances(1e-4)]
    assert counts == sorted(counts, reverse=True)


def test_the_curve_stays_above_what_is_resolved() -> None:
    assert curve_tolerances(1e-5, 1e-6).min() >= 1e-6


@pytest.mark.parametrize("epsilon", [-0.1, 1.0])
def test_effective_rank_of_an_impossible_epsilon(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon from 0"):
        effective_rank(np.ones(3), epsilon)
