"""Mean KL between next-word distributions, against scipy on the held matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from scipy.special import rel_entr

from repro.errors import DataError
from repro.trainers.dialog.corpus import DialogData
from repro.trainers.dialog.training import OnDialogs
from repro.trainers.language_model.corpus import CorpusData
from repro.trainers.language_model.evaluation import OnText, log_probability_rows
from repro.trainers.language_model.measurements import model_kl
from repro.trainers.language_model.measurements.kl import PairwiseKl
from repro.trainers.language_model.measurements.model_kl import gathered
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.measurement import Measured
from tests.trainers import small
from tests.trainers.dialog import tiny

CPU = torch.device("cpu")
CORPUS = small.random_corpus(vocabulary=30, tokens=203)


def model_of(output: dict[str, Any] = small.MOS, dtype: torch.dtype = torch.float64) -> Any:
    """Its weights scaled up, so that its distributions differ from context to context."""
    model = small.built(small.model(output), 30, dtype).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(15)
    return model


def taken(model: LanguageModel, corpus: CorpusData = CORPUS, **settings: Any) -> Measured:
    spec = PairwiseKl.model_validate({"kind": "pairwise_kl", **settings})
    return spec.measure(OnText(None, model, (), 1, corpus, CPU))


def divergence_of_every_pair(model: LanguageModel, streams: int = 1) -> np.ndarray:
    """(N, N), by scipy, of the whole matrix of probabilities."""
    with torch.no_grad():
        rows = list(log_probability_rows(model, CORPUS.test, streams))
    p = torch.cat(rows).double().exp().numpy()
    return np.array([[rel_entr(one, other).sum() for other in p] for one in p])


@pytest.mark.parametrize("output", ["softmax", "moc", "mos"])
@pytest.mark.parametrize("streams", [1, 4])
def test_every_pair_is_the_mean_of_the_held_matrix(output: str, streams: int) -> None:
    """In one pass, without a pair: what scipy gives for all of them, the diagonal too."""
    model = model_of(small.OUTPUTS[output])
    expected = divergence_of_every_pair(model, streams)
    measured = taken(model, batch_size=streams)
    assert expected.mean() > 0.05
    assert measured.value == pytest.approx(expected.mean(), rel=1e-11)
    assert measured.details == {"contexts": len(expected), "pairs": len(expected) ** 2}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("streams", [1, 3])
def test_drawn_pairs_are_those_of_the_held_matrix(dtype: torch.dtype, streams: int) -> None:
    """Their mean, and the standard error of independent pairs."""
    model = model_of(dtype=dtype)
    every = divergence_of_every_pair(model, streams)
    first, second = model_kl.drawn_pairs(len(every), 500, 7).T
    found = every[first, second]
    measured = taken(model, batch_size=streams, pairs=500, seed=7)
    assert measured.value == pytest.approx(found.mean(), rel=1e-6 if dtype.itemsize == 4 else 1e-11)
    error = found.std(ddof=1) / math.sqrt(500)
    assert measured.details["standard_error"] == pytest.approx(error, rel=1e-6)
    assert measured.details["pairs"] == 500
    assert measured.details["contexts"] == len(every)
    np.testing.assert_allclose(measured.arrays["divergences"], found, rtol=1e-5, atol=1e-6)


def test_the_mean_of_drawn_pairs_scatters_by_its_standard_error() -> None:
    """Over 200 seeds: around the mean over every pair, by one standard error."""
    model = model_of()
    mean = taken(model).value
    draws = [taken(model, pairs=300, seed=seed) for seed in range(200)]
    scores = np.array([(draw.value - mean) / draw.details["standard_error"] for draw in draws])
    assert abs(scores.mean()) < 4 / math.sqrt(200)
    assert scores.std() == pytest.approx(1, abs=4 / math.sqrt(400))


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of()
    before = taken(model, pairs=100), taken(model)
    monkeypatch.setattr(model_kl, "PAIRS_AT_ONCE", 7)
    monkeypatch.setattr("repro.trainers.language_model.evaluation.CHUNK_BYTES", 30 * 8 * 11)
    after = taken(model, pairs=100), taken(model)
    for one, other in zip(before, after, strict=True):
        assert other.value == pytest.approx(one.value, rel=1e-12)


def test_pairs_are_independent_and_uniform() -> None:
    """Every row is drawn about equally often on both sides; the first draws are pinned."""
    pairs = model_kl.drawn_pairs(10, 100_000, 0)
    counts = np.zeros((10, 10))
    np.add.at(counts, (pairs[:, 0], pairs[:, 1]), 1)
    chi_square = ((counts - 1000) ** 2 / 1000).sum()
    assert chi_square < 99 + 4 * math.sqrt(2 * 99)
    assert model_kl.drawn_pairs(82_429, 3, 0).tolist() == PINNED
    assert not np.array_equal(pairs, model_kl.drawn_pairs(10, 100_000, 1))


PINNED = [[14827, 26591], [30159, 23101], [33848, 318]]


def test_one_distribution_everywhere_has_no_divergence() -> None:
    """A model that does not look at its context: 0, whatever is rounded."""
    model = model_of(small.SOFTMAX, torch.float32)
    with torch.no_grad():
        model.output.weight.zero_()
        model.output.bias.copy_(torch.linspace(-9, 9, 30))
    assert taken(model).value == pytest.approx(0, abs=1e-12)
    assert taken(model, pairs=50).value == 0


def test_a_word_without_probability() -> None:
    """Nothing where p is 0; where q alone is, the divergence is infinite and is refused."""
    none, half = -math.inf, math.log(0.5)
    p, q = (
        torch.tensor([[half, half, none]]),
        torch.tensor([[half, math.log(0.25), math.log(0.25)]]),
    )
    expected = rel_entr([0.5, 0.5, 0], [0.5, 0.25, 0.25]).sum()
    assert model_kl.divergences(p, q).item() == pytest.approx(expected)
    assert model_kl.divergences(q, p).item() == math.inf
    both = torch.tensor([[half, half, none]] * 3)
    assert model_kl.over_every_pair([both])[0] == pytest.approx(0, abs=1e-12)
    with pytest.raises(DataError, match="gives some word no probability"):
        model_kl.over_every_pair([torch.cat([p, q])])


def test_rows_are_gathered_in_the_order_of_reading() -> None:
    """Step by step and by stream in a step; nothing after the last is read."""
    read = []

    def windows():
        for start in (0, 6, 12):
            read.append(start)
            numbers = torch.arange(start, start + 6).view(3, 2)
            yield torch.stack([numbers, -numbers], dim=2).float(), numbers

    contexts, targets = gathered(windows(), np.array([1, 5, 8]))
    assert targets.tolist() == [1, 5, 8]
    assert contexts.tolist() == [[1, -1], [5, -5], [8, -8]]
    assert read == [0, 6]


def test_dialogs_have_it_too() -> None:
    """Every predicted word of every response is a context."""
    split = tiny.random_split(3)
    words = ("<pad>", "<unk>", "<s>", "</s>", "<d>", *"abcdefg")
    subject = OnDialogs(
        None, tiny.built(small.MOS), (), 1, DialogData(split, split, split, words), CPU
    )
    rows = torch.cat(list(subject.log_probabilities("test"))).double().exp().numpy()
    every = np.array([[rel_entr(one, other).sum() for other in rows] for one in rows])
    assert PairwiseKl().measure(subject).value == pytest.approx(every.mean(), rel=1e-9)
    first, second = model_kl.drawn_pairs(len(rows), 90, 0).T
    drawn = PairwiseKl(pairs=90).measure(subject)
    assert drawn.value == pytest.approx(every[first, second].mean(), rel=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seed": 1}, "seed changes nothing of the mean over every pair"),
        ({"pairs": 1}, "greater than or equal to 2"),
        ({"pairs": 20_000_000}, "less than or equal to 10000000"),
    ],
)
def test_settings_without_a_meaning(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        PairwiseKl.model_validate(settings)


def test_labels_and_keys() -> None:
    every, drawn = PairwiseKl(split="valid"), PairwiseKl(split="valid", pairs=100_000)
    assert every.label == "validation pairwise KL"
    assert drawn.label == "validation pairwise KL (100,000 pairs)"
    assert len({every.key, drawn.key, PairwiseKl().key}) == 3
    assert every.same_elsewhere(PairwiseKl(split="test"))
    assert not every.same_elsewhere(PairwiseKl(split="train"))
    assert not every.same_elsewhere(drawn)
