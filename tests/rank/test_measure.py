"""All ranks of a matrix: known ranks, precisions that are found out, what is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from repro.errors import MatrixError
from repro.rank.measure import centred_spectrum, column_means, known_rank_of, ranks_of
from repro.rank.spectrum import press_threshold

Rows = np.ndarray[Any, np.dtype[np.floating[Any]]]


def log_probabilities(
    rows: int = 900, columns: int = 400, rank: int = 20, dtype: str = "float32"
) -> Rows:
    """Of a Softmax over ``rank`` dimensions: rank + 1 by its normaliser, computed in ``dtype``."""
    generator = np.random.default_rng(3)
    contexts = generator.normal(size=(rows, rank)).astype(dtype)
    logits = contexts @ (0.3 * generator.normal(size=(rank, columns))).astype(dtype)
    exact = np.log(np.exp(logits.astype(np.float64)).sum(axis=1, keepdims=True))
    result: Rows = logits - exact.astype(dtype)
    return result


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("counts_only", [False, True])
def test_a_softmax_has_rank_d_plus_1(dtype: str, counts_only: bool) -> None:
    whole = log_probabilities(dtype=dtype)
    found = ranks_of(lambda _: [whole[:500], whole[500:]], rows=900, counts_only=counts_only)
    assert (found.press, found.tenfold, found.numpy) == (21, 21, 21)
    assert found.precision == dtype
    assert found.threshold == press_threshold(900, 400, float(np.finfo(dtype).eps))
    assert (found.expected, found.control) == (32, 32)
    assert found.tenth == (None if counts_only or dtype == "float64" else 21)


def test_float32_in_float64_has_the_threshold_of_float32() -> None:
    """Its rounding is that of float32: by the threshold of float64 it has full rank."""
    whole = log_probabilities().astype(np.float64)
    found = ranks_of(lambda _: [whole])
    assert (found.precision, found.press) == ("float32", 21)
    assert ranks_of(lambda _: [whole], precision="float64").press == 400


def test_data_of_half_precision_have_its_threshold() -> None:
    found = ranks_of(lambda _: [log_probabilities().astype(np.float16)])
    assert found.precision == "float16"
    assert found.threshold == press_threshold(900, 400, 2**-10)
    assert found.press <= 21


def test_further_thresholds() -> None:
    found = ranks_of(lambda _: [log_probabilities()], thresholds=(0.5, 1e-3))
    assert found.at == {0.5: 1, 1e-3: 21}


def test_rounded_rows_are_refused_unless_they_are_said_to_be() -> None:
    rows = log_probabilities().astype(np.float16).astype(np.float32)
    with pytest.raises(MatrixError, match="row 1: its numbers were rounded to float16, so"):
        ranks_of(lambda _: [rows])
    assert ranks_of(lambda _: [rows], precision="float16").precision == "float16"


def test_rounded_logits_are_refused_where_they_come() -> None:
    """A later chunk, whose normaliser hides the rounding of its logits."""
    honest = log_probabilities(columns=3000)
    logits = honest[:300].astype(np.float16).astype(np.float32)
    rounded = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)) + np.float32(0.123)
    with pytest.raises(MatrixError, match=r"row 901: its numbers have [\d,]+ distinct values"):
        ranks_of(lambda _: [honest, rounded])


def test_a_finer_row_later_is_refused() -> None:
    """Press's threshold is that of the coarsest rows, and would count the rounding of others."""
    coarse, fine = log_probabilities(dtype="float32"), log_probabilities(dtype="float64")
    chunks = [coarse.astype(np.float64), fine]
    with pytest.raises(MatrixError, match="row 901: its numbers are finer than the float32 of"):
        ranks_of(lambda _: chunks)
    assert ranks_of(lambda _: chunks, precision="float32").press == 21


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ([], "no rows"),
        ([np.empty((0, 4))], "no rows"),
        ([np.ones((2, 4)), np.ones((1, 5))], "row 3: 5 numbers, and 4 before"),
        ([np.ones((2, 4)), np.full((2, 4), -np.inf)], "row 3, column 1: -inf"),
        ([np.array([[1.0, np.nan]])], "row 1, column 2: nan"),
    ],
)
def test_what_has_no_rank(chunks: list[Rows], message: str) -> None:
    with pytest.raises(MatrixError, match=message) as caught:
        ranks_of(lambda _: chunks)
    assert "\n  expected: " in str(caught.value)
    assert "\n  to do: " in str(caught.value)


def test_the_mean_row_is_most_of_a_matrix() -> None:
    """As in the papers: what is left without it has another effective rank."""
    whole = log_probabilities(dtype="float64")
    means = column_means([whole[:100], whole[100:]])
    np.testing.assert_allclose(means, whole.mean(axis=0), rtol=1e-12)
    values = np.linalg.svd(whole - whole.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(centred_spectrum([whole], means), values, atol=1e-7 * values[0])


@pytest.mark.parametrize(("columns", "rank"), [(10_000, 32), (64, 32), (20, 10), (3, 1), (1, 0)])
def test_the_control_fits_its_width(columns: int, rank: int) -> None:
    assert known_rank_of(columns) == rank


def test_rows_are_read_once_and_not_kept() -> None:
    """A generator will do, and what it gives may be overwritten."""
    whole = log_probabilities()

    def rows() -> Iterator[Rows]:
        buffer = np.empty((100, 400), dtype=np.float32)
        for start in range(0, 900, 100):
            buffer[:] = whole[start : start + 100]
            yield buffer

    assert ranks_of(lambda _: rows(), rows=900).press == 21


def test_no_torch() -> None:
    """The kernel, its files and its command are for people without it."""
    code = "import sys; sys.modules['torch'] = None; import repro.rank.matrix, repro.rank.measure"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("rank", [3, 40])
def test_a_number_added_to_each_row_changes_the_rank_by_one_at_most(rank: int) -> None:
    """Property 2 of Yang et al. (2018): logits and log-probabilities differ by their normaliser."""
    generator = np.random.default_rng(rank)
    logits = generator.normal(size=(700, rank)) @ generator.normal(size=(rank, 90))
    shifts = generator.normal(size=(700, 1))
    assert press(logits) == rank
    assert press(logits + shifts) == rank + 1
    log_probabilities = logits - logsumexp(logits, axis=1, keepdims=True)
    assert abs(press(log_probabilities) - rank) <= 1


def press(rows: Any) -> int:
    """Press's rank of rows that are held."""
    return ranks_of(lambda start: iter([rows[start:]]), rows=len(rows)).press
