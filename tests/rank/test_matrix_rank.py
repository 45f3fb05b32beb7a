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
from repro.rank.matrix_rank import (
    centred_spectrum,
    column_means,
    control_rows,
    known_rank_of,
    ranks_of,
)
from repro.rank.reduction import reduce_rows, vectors_for
from repro.rank.resume import SameRows
from repro.rank.spectrum import effective_rank, entropy_rank, press_threshold, stable_rank

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
    assert ranks_of(lambda _: [whole], precision="float64", sure=True).press == 400


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


def cut(rows: Rows, bits: int) -> Rows:
    """Rows of float32 rounded to so many bits after the first."""
    significands, exponents = np.frexp(rows.astype(np.float64))
    return np.ldexp(np.rint(significands * 2.0 ** (bits + 1)) / 2.0 ** (bits + 1), exponents)


HONEST = log_probabilities()
LOGITS = np.random.default_rng(3).normal(size=(300, 20)) @ np.random.default_rng(4).normal(
    size=(20, 3000)
)
SHOWN: dict[str, tuple[list[Rows], str, str]] = {
    "bfloat16 in float32": ([cut(HONEST, 7).astype("f4")], "float32", "rounded to bfloat16"),
    "bfloat16 in float64": ([cut(HONEST, 7)], "float64", "rounded to bfloat16"),
    "float16 in float32": ([HONEST.astype("f2").astype("f4")], "float32", "rounded to float16"),
    "bfloat16, declared float16": ([cut(HONEST, 7)], "float16", "have the precision of bfloat16"),
    "float32 in float64": ([HONEST.astype("f8")], "float64", "have the precision of float32"),
    "float32": ([HONEST], "float64", "have the precision of float32"),
    "float16": ([HONEST.astype("f2")], "float32", "have the precision of float16"),
    "logits of bfloat16": (
        [cut(LOGITS, 7) - logsumexp(cut(LOGITS, 7), axis=1, keepdims=True)],
        "float32", "as of rounded logits",
    ),
    "a later chunk": ([HONEST, cut(HONEST, 7).astype("f4")], "float32", "row 901: its numbers"),
    "a later row": (
        [np.concatenate([HONEST, cut(HONEST[:1], 7).astype("f4")])],
        "float32", "row 901: its numbers have the precision of bfloat16",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
def test_a_declared_precision_finer_than_the_rows_is_refused(name: str) -> None:
    """The rank would be that of the rounding: 400 of a Softmax over 20 dimensions."""
    chunks, declared, said = SHOWN[name]
    with pytest.raises(MatrixError, match=said) as caught:
        ranks_of(lambda _: chunks, precision=declared)
    assert f", though {declared} is declared, so the rank" in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "declared"),
    [
        (cut(HONEST, 7).astype("f4"), "bfloat16"),
        (HONEST, "bfloat16"),
        (HONEST.astype("f8"), "float32"),
        (log_probabilities(dtype="float64"), "float64"),
        (np.zeros((5, 400)), "float64"),
    ],
)
def test_a_precision_that_the_rows_have_is_honoured(rows: Rows, declared: str) -> None:
    found = ranks_of(lambda _: [rows], precision=declared)
    assert found.precision == declared
    assert found.press <= 21


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
    code = "import sys; sys.modules['torch'] = None; import repro.rank.matrix_rank"
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


def geometric(rows: int, columns: int, ratio: float) -> Rows:
    """Singular values that fall by a ratio, in float32."""
    generator = np.random.default_rng(8)
    size = min(rows, columns)
    left = np.linalg.qr(generator.normal(size=(rows, size)))[0]
    right = np.linalg.qr(generator.normal(size=(columns, size)))[0]
    product: Rows = (left * ratio ** np.arange(size)) @ right.T
    return product.astype(np.float32)


@pytest.mark.parametrize("precision", ["bfloat16", "float32"])
def test_ranks_without_a_threshold_count_what_a_coarse_threshold_does_not(precision: str) -> None:
    """Press's threshold of bfloat16 lets a basis drop more than an epsilon of the sum."""
    whole = geometric(3000, 600, 10 ** (-4 / 100))
    values = np.linalg.svd(whole.astype(np.float64), compute_uv=False)
    epsilons = (1e-3, 1e-4, 1e-5, 1e-6)
    found = ranks_of(lambda _: [whole], rows=3000, precision=precision, epsilons=epsilons)
    spectrum = found.reduced.values()
    for epsilon in epsilons:
        assert effective_rank(spectrum, epsilon) == effective_rank(values, epsilon)
    assert stable_rank(spectrum) == pytest.approx(stable_rank(values), rel=1e-3)
    assert entropy_rank(spectrum) == pytest.approx(entropy_rank(values), rel=2e-3)


def test_an_epsilon_below_rounding_is_refused() -> None:
    with pytest.raises(MatrixError, match="epsilon 0: rounding in float64 hides"):
        ranks_of(lambda _: [log_probabilities()], epsilons=(0.0,))


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.58, 0.9])
def test_the_control_of_a_large_threshold_comes_out(threshold: float) -> None:
    rows = np.concatenate(list(control_rows(threshold, 200, "float32"))).astype(np.float64)
    assert reduce_rows([rows], "gram").ranks([threshold]) == [32]


def test_a_threshold_that_nothing_passes_is_refused() -> None:
    """PTB's contexts and words in bfloat16: 1.19 of the largest singular value."""
    whole = log_probabilities().astype(np.float32)
    with pytest.raises(MatrixError, match=r"Press's threshold is 1\.1\d of the largest"):
        ranks_of(lambda _: [whole], rows=82_429, precision="bfloat16")


def test_a_first_chunk_that_tells_nothing_leaves_the_precision_to_others() -> None:
    """Float32 in float64 after rows of zeros, whose type says nothing."""
    whole = log_probabilities().astype(np.float64)
    found = ranks_of(lambda _: [np.zeros((2048, 400)), whole])
    assert (found.precision, found.press) == ("float32", 21)


def test_a_coarser_row_later_is_refused() -> None:
    """By the threshold of float64 the rounding of float32 would be counted."""
    fine, coarse = log_probabilities(dtype="float64"), log_probabilities(dtype="float32")
    with pytest.raises(MatrixError, match="row 901: its numbers are coarser than the float64"):
        ranks_of(lambda _: [fine, coarse.astype(np.float64)])


@pytest.mark.parametrize(
    ("later", "message"),
    [
        (lambda rows: rows[:, ::-1], "row 900 is another one when it is read again"),
        (lambda rows: rows[:-1], "900 rows at first, and 899 when they are read again"),
        (lambda rows: np.concatenate([rows, rows[:2]]), "900 rows at first, and more"),
    ],
)
def test_rows_that_differ_when_they_are_read_again_are_refused(later: Any, message: str) -> None:
    whole = log_probabilities()
    given = iter([whole, later(whole)])
    read = SameRows(lambda _: [next(given)])
    list(read(0))
    with pytest.raises(MatrixError, match=message):
        list(read(0))


@pytest.mark.parametrize(("rows", "inputs", "words"), [(1, 1100, 9000), (2100, 2100, 4400)])
def test_more_directions_than_half_a_block_need_no_gram_matrix(
    rows: int, inputs: int, words: int
) -> None:
    """A Softmax of 1,100 inputs, or fewer rows than half the words, each its own direction."""
    generator = np.random.default_rng(4)
    parts = [generator.normal(size=size).astype("f4") for size in ((2100, inputs), (inputs, words))]
    held = (parts[0] @ parts[1]).astype(np.float64)
    press = press_threshold(2100, words, 2.0**-23)
    low_rank = reduce_rows(
        [held], "basis", threshold=press, room=vectors_for(rows, words, "inertia")
    )
    assert low_rank.certain([press])
    assert low_rank.ranks([press]) == [min(inputs, 2100)]


@pytest.mark.parametrize("row", [1, 700, 899])
@pytest.mark.parametrize(("held", "coarse"), [("float32", "f2"), ("float64", "f4")])
def test_one_coarser_row_anywhere_is_refused(row: int, held: str, coarse: str) -> None:
    """It adds a direction, so the rank would be one too large; a chunk has many rows before it."""
    whole = log_probabilities(dtype=held)
    whole[row] = whole[row].astype(coarse)
    with pytest.raises(MatrixError, match=rf"row {row + 1}: its numbers are coarser than the"):
        ranks_of(lambda _: [whole], rows=900)


def test_rows_that_may_be_short_of_bits_are_no_sign() -> None:
    """Of zeros, of one number, of fewer than eight numbers: none shows a precision."""
    whole = log_probabilities()
    whole[5], whole[6], whole[7] = 0.0, -100.0, 0.0
    whole[7, :7] = -2.0
    held = np.linalg.svd(whole.astype(np.float64), compute_uv=False)
    found = ranks_of(lambda _: [whole], rows=900)
    assert found.press == np.count_nonzero(held > found.threshold * held[0])


def test_what_memory_has_no_room_for_is_refused_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repro.rank.reduction.available_memory", lambda: 4e6)
    whole = np.random.default_rng(0).normal(size=(2500, 700)).astype(np.float32)
    with pytest.raises(MatrixError, match=r"700 columns, .* takes [\d.]+ GB") as caught:
        ranks_of(lambda _: [whole], rows=2500, counts_only=True)
    assert "\n  to do: take fewer words" in str(caught.value)
