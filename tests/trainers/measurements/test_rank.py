"""Numerical rank without holding the matrix."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
import torch

from repro.errors import DataError
from repro.rank.matrix_rank import known_rank_of
from repro.rank.reduction import GRAM_RESOLUTION, reduce_rows
from repro.rank.spectrum import Spectrum, count_above, press_threshold
from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.evaluation import log_probability_rows
from repro.trainers.language_model.measurements.model_rank import TORCH, known_rank, known_rank_rows
from repro.trainers.language_model.measurements.rank import Rank
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.precision import products_in
from repro.trainers.language_model.randomness import Streams, initialise
from repro.trainers.language_model.recipe import Recipe, WindowLength
from repro.trainers.language_model.spec import (
    MoC,
    Model,
    MoS,
    Softmax,
    SplitTokens,
    SyntheticCorpus,
    TrainingSpec,
)
from repro.trainers.run import RunSpec
from tests.trainers.small import measured_rank

CPU = torch.device("cpu")
FLOAT32 = torch.finfo(torch.float32).eps
CORPUS = SyntheticCorpus(
    vocabulary=60,
    dimension=8,
    components=2,
    sharpness=3.0,
    tokens=SplitTokens(train=500, valid=100, test=700),
)


MODEL = Model(embedding_size=6, hidden_size=9, context_size=6, layers=2, output=Softmax())
RECIPE = Recipe(epochs=1, batch_size=2, learning_rate=1.0, window=WindowLength(base=5))


def gram_spectrum(chunks: Iterable[torch.Tensor]) -> Spectrum:
    """By eigenvalues of the Gram matrix."""
    return reduce_rows(chunks, "gram", TORCH).values()


def qr_spectrum(chunks: Iterable[torch.Tensor]) -> Spectrum:
    """By streamed QR."""
    return reduce_rows(chunks, "qr", TORCH).values()


def low_rank(rows: int, columns: int, rank: int, seed: int = 0) -> torch.Tensor:
    """A float64 matrix whose singular values fall from 1 to 1e-5, and are 0 after ``rank``."""
    generator = torch.Generator().manual_seed(seed)
    left = torch.linalg.qr(torch.randn(rows, rank, generator=generator, dtype=torch.float64)).Q
    right = torch.linalg.qr(torch.randn(columns, rank, generator=generator, dtype=torch.float64)).Q
    return left @ torch.diag(torch.logspace(0, -5, rank, dtype=torch.float64)) @ right.T


def model_of(
    output: Softmax | MoC | MoS,
    precision: str = "float32",
    vocabulary: int = CORPUS.vocabulary,
) -> LanguageModel:
    """A model with the weights that training would start from, scaled up to spread its logits."""
    spec = MODEL.model_copy(update={"output": output})
    run = RunSpec(training=TrainingSpec(model=spec, corpus=CORPUS, recipe=RECIPE), replicate=0)
    dtype = torch.float64 if precision == "float64" else torch.float32
    model = LanguageModel(spec, vocabulary, dtype)
    initialise(model, Streams(run))
    bias = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1 and len(parameter) == vocabulary:
                parameter.copy_(torch.randn(len(parameter), generator=bias, dtype=dtype))
            else:
                parameter.mul_(8)
    return model.eval()


@pytest.mark.parametrize("chunk", [1, 7, 50, 333])
def test_rows_are_regrouped_without_loss(chunk: int) -> None:
    """Blocks hold every row exactly once and in order, however the rows arrive."""
    matrix = torch.arange(333 * 4, dtype=torch.float32).reshape(333, 4)
    blocks = [block.clone() for block in TORCH.blocks(matrix.split(chunk), 50)]
    assert [len(block) for block in blocks] == [50] * 6 + [33]
    assert torch.equal(torch.cat(blocks), matrix.double())


@pytest.mark.parametrize("reduction", [gram_spectrum, qr_spectrum])
@pytest.mark.parametrize("shape", [(500, 80), (60, 80), (2100, 40)])
def test_the_spectrum_is_that_of_the_held_matrix(reduction, shape) -> None:
    """Both reductions give one value a column, those that NumPy's SVD finds and zeros."""
    matrix = torch.randn(*shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    spectrum = reduction(matrix.split(64))
    reference = np.linalg.svd(matrix.numpy(), compute_uv=False)
    assert len(spectrum) == shape[1]
    np.testing.assert_allclose(spectrum[: len(reference)], reference, rtol=1e-9)
    assert np.all(spectrum[len(reference) :] < 1e-6 * spectrum[0])


def test_the_gram_matrix_counts_what_svd_counts_down_to_its_resolution() -> None:
    """Counts agree with float64 SVD at every relative tolerance from 1e-2 to 3e-7."""
    matrix = low_rank(900, 200, 120) + 1e-9 * low_rank(900, 200, 200, seed=5)
    spectrum = gram_spectrum(matrix.split(100))
    reference = np.linalg.svd(matrix.numpy(), compute_uv=False)
    for tolerance in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, GRAM_RESOLUTION):
        assert count_above(spectrum, tolerance) == np.sum(reference > tolerance * reference[0])


def test_streamed_qr_resolves_what_the_gram_matrix_cannot() -> None:
    """A singular value of 1e-11 is counted by QR and lost in the Gram matrix."""
    matrix = low_rank(300, 50, 20)
    extra = torch.zeros(50, dtype=torch.float64)
    u, s, vh = torch.linalg.svd(matrix, full_matrices=False)
    s = torch.where(torch.arange(50) == 20, torch.tensor(1e-11, dtype=torch.float64), s)
    matrix = u @ torch.diag(torch.where(torch.arange(50) > 20, extra, s)) @ vh
    assert count_above(qr_spectrum(matrix.split(64)), 3e-12) == 21
    assert count_above(gram_spectrum(matrix.split(64)), 3e-12) != 21


PTB = press_threshold(82_429, 10_000, FLOAT32)


@pytest.mark.parametrize(
    ("threshold", "dtype"),
    [(1.2e-5, torch.float32), (PTB, torch.float32), (3.4e-14, torch.float64)],
)
def test_the_control_comes_out_exactly(threshold: float, dtype: torch.dtype) -> None:
    """A matrix of known rank is counted exactly, by the reduction that its threshold needs."""
    found = known_rank(threshold, 90, dtype, CPU)
    assert found == {"expected": 32, "measured": 32}


@pytest.mark.parametrize("factor", [1 / 4, 4])
def test_the_control_notices_a_wrong_threshold(factor: float) -> None:
    """Counted at a threshold that is wrong by a factor of four, the control's rank is wrong."""
    spectrum = gram_spectrum(known_rank_rows(PTB, 90, torch.float32, CPU))
    assert count_above(spectrum, PTB) == known_rank_of(90)
    assert count_above(spectrum, factor * PTB) != known_rank_of(90)


def test_the_control_notices_rounding_to_half_precision() -> None:
    """Entries rounded to bfloat16 make the control's rank too high."""
    rows = (chunk.bfloat16().float() for chunk in known_rank_rows(PTB, 90, torch.float32, CPU))
    assert count_above(gram_spectrum(rows), PTB) > known_rank_of(90)


def test_the_control_takes_the_products_of_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were evaluation to round products to bfloat16, the control would come out wrong too."""
    monkeypatch.setattr(
        "repro.trainers.language_model.evaluation.full_precision", lambda: products_in("bf16")
    )
    spectrum = gram_spectrum(known_rank_rows(PTB, 90, torch.float32, CPU))
    assert count_above(spectrum, PTB) != known_rank_of(90)


@pytest.mark.parametrize("where", ["logits", "log_probabilities"])
def test_a_layer_that_rounds_has_no_rank(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """A user's layer that computes in bfloat16 on the way would read nearly full rank."""
    model = model_of(Softmax(), vocabulary=1_000)
    exact = getattr(model.output, where)
    monkeypatch.setattr(model.output, where, lambda x: exact(x).bfloat16().float())
    tokens = torch.randint(1_000, (400,), generator=torch.Generator().manual_seed(1))
    with pytest.raises(DataError, match="their rank is that of the rounding"):
        measured_rank(model, tokens, 1)


def test_the_control_notices_lost_rows() -> None:
    """A reduction that forgets all but its last block gives another spectrum, and so does ours."""
    chunks = list(known_rank_rows(PTB, 90, torch.float32, CPU))
    whole = gram_spectrum(chunks)
    last = gram_spectrum([torch.cat(chunks)[2 * 2048 :]])
    assert whole[0] == pytest.approx(1.0, abs=1e-6)
    assert last[0] < 0.6


def test_press_threshold_is_the_papers() -> None:
    """On Penn Treebank's shape it is 1.81e-5 of the largest singular value (float32)."""
    assert press_threshold(82_430, 10_000, FLOAT32) == pytest.approx(1.81e-5, rel=2e-3)
    assert press_threshold(82_430, 10_000, 2**-52) == pytest.approx(3.4e-14, rel=1e-2)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("output", [Softmax(), MoC(components=3)])
def test_softmax_and_moc_have_the_structural_rank(output, precision: str) -> None:
    """A model with one Softmax over d dimensions has rank d + 2, whatever its weights."""
    model = model_of(output, precision)
    tokens = load_corpus(CORPUS, None).test
    rank, details, spectrum = measured_rank(model, tokens, 1)
    assert rank == 8
    assert details["rows"] == 699
    assert details["known_rank"]["measured"] == details["known_rank"]["expected"]
    assert len(spectrum) == CORPUS.vocabulary


def test_mos_exceeds_the_structural_rank_and_equals_the_svd_count() -> None:
    """MoS is not bounded by d + 2, and its count is that of NumPy's SVD of the held matrix."""
    model = model_of(MoS(components=3))
    tokens = load_corpus(CORPUS, None).test
    rank, details, _ = measured_rank(model, tokens, 1)
    held = torch.cat(list(log_probability_rows(model, tokens, 1))).double().numpy()
    reference = np.linalg.svd(held, compute_uv=False)
    threshold = press_threshold(len(held), held.shape[1], FLOAT32) * reference[0]
    assert rank == np.sum(reference > threshold) > 8
    assert details["tenfold"] == np.sum(reference > 10 * threshold)
    assert details["tenth"] == np.sum(reference > threshold / 10)


def test_contexts_and_words_are_counted_even_where_words_outnumber_contexts() -> None:
    """Rows and columns are those of the matrix, whichever is larger."""
    model, tokens = model_of(Softmax()), load_corpus(CORPUS, None).test[:41]
    _, details, spectrum = measured_rank(model, tokens, 4)
    held = torch.cat(list(log_probability_rows(model, tokens, 4)))
    assert (details["rows"], details["columns"]) == tuple(held.shape) == (36, 60)
    assert len(spectrum) == 60


@pytest.mark.parametrize(("streams", "contexts"), [(1, 1), (1, 70), (1, 333), (4, 150)])
def test_the_first_contexts_are_the_first_rows(streams: int, contexts: int, monkeypatch) -> None:
    """Spectrum and count are those of NumPy's SVD of so many rows of the held matrix."""
    model, tokens = model_of(MoS(components=3)), load_corpus(CORPUS, None).test
    monkeypatch.setattr(
        "repro.trainers.language_model.evaluation.CHUNK_BYTES", 60 * 4 * 64
    )  # blocks of 64 rows
    rank, details, spectrum = measured_rank(model, tokens, streams, contexts)
    held = torch.cat(list(log_probability_rows(model, tokens, streams)))[:contexts].double().numpy()
    reference = np.linalg.svd(held, compute_uv=False)
    threshold = press_threshold(contexts, 60, FLOAT32) * reference[0]
    assert rank == np.sum(reference > threshold)
    assert details["rows"] == contexts
    np.testing.assert_allclose(spectrum[: len(reference)], reference, rtol=1e-4, atol=threshold / 9)


def test_no_more_text_is_read_than_the_contexts_need(monkeypatch) -> None:
    """A rank of the first 70 contexts runs one window of the model."""
    model, tokens = model_of(Softmax()), load_corpus(CORPUS, None).test
    monkeypatch.setattr("repro.trainers.language_model.evaluation.CHUNK_BYTES", 60 * 4 * 70)
    windows = []
    model.register_forward_hook(lambda *_: windows.append(1))
    measured_rank(model, tokens, 1, 70)
    assert len(windows) == 1


def test_as_many_contexts_as_there_are_is_all_of_them() -> None:
    """It gives the numbers of a rank that says nothing of contexts; one more is refused."""
    model, tokens = model_of(MoS(components=3)), load_corpus(CORPUS, None).test
    assert measured_rank(model, tokens, 1, 699)[:2] == measured_rank(model, tokens, 1)[:2]
    with pytest.raises(DataError, match="first 700 contexts: the text has 699"):
        measured_rank(model, tokens, 1, 700)


def test_the_papers_contexts_of_wikitext_2_are_whole_windows_until_rows_outnumber_words() -> None:
    """476 windows of 70 is the least number with more rows than the 33,278 words."""
    text = CORPUS.model_copy(update={"tokens": SplitTokens(train=1, valid=1, test=245_569)})
    windows = next(n for n in range(1, 1000) if 70 * n > 33_278)
    assert (windows, 70 * windows) == (476, 33_320)
    rank = Rank(contexts=70 * windows)
    assert rank.label == "test rank (first 33,320 contexts)"
    training = TrainingSpec(model=MODEL, corpus=text, recipe=RECIPE)
    assert training.predicted("test", rank.batch_size) == 245_568
    assert rank.key != Rank().key
    assert "contexts" not in Rank().model_dump(exclude_none=True)


def test_the_curve_surrounds_the_threshold_and_falls() -> None:
    """rank(tolerance) falls, from above the measured rank to below it."""
    rank, details, _ = measured_rank(model_of(MoS(components=3)), load_corpus(CORPUS, None).test, 1)
    curve, tolerances = details["curve"], details["tolerances"]
    assert curve == sorted(curve, reverse=True)
    assert tolerances[0] < details["relative_threshold"] < tolerances[-1]
    assert curve[0] >= rank >= curve[-1]


def test_the_matrix_is_never_held() -> None:
    """The largest block that the reduction sees is bounded, whatever the number of rows."""
    seen = 0

    def rows(blocks: int):
        nonlocal seen
        generator = torch.Generator().manual_seed(9)
        for _ in range(blocks):
            seen += 500
            yield torch.randn(500, 20, generator=generator)

    largest = max(len(block) for block in TORCH.blocks(rows(40), 2048))
    assert seen == 20_000
    assert largest == 2048


def test_no_rows_is_an_error() -> None:
    """A rank of nothing is refused, by both reductions."""
    for reduction in (gram_spectrum, qr_spectrum):
        with pytest.raises(ValueError, match="no rows"):
            reduction(iter(()))
