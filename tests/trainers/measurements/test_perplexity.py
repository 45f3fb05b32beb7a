"""Perplexity in evaluation mode, and the papers' with dropout on."""

from __future__ import annotations

import math
from typing import Literal

import pytest
import torch
from pydantic import ValidationError
from torch.nn import functional as F

from repro.errors import StoreError
from repro.trainers.language_model.checkpoint import EpochRecord
from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.evaluation import OnText
from repro.trainers.language_model.measurements.perplexity import Perplexity, training_perplexity
from repro.trainers.language_model.spec import MoS
from repro.trainers.measurement import NAMES, Split
from tests.trainers.measurements.test_rank import CORPUS, CPU, model_of

HISTORY = (
    EpochRecord(epoch=1, train_loss=3.0, valid_loss=2.0, averaging=False, tokens=10),
    EpochRecord(
        epoch=2, train_loss=2.5, valid_loss=1.5, averaging=False, tokens=10, window_loss=2.75
    ),
    EpochRecord(epoch=3, train_loss=1.0, valid_loss=1.9, averaging=False, tokens=10),
)


@pytest.mark.parametrize("split", ["valid", "test"])
@pytest.mark.parametrize("batch_size", [1, 4])
def test_perplexity_is_that_of_the_plain_formula(split: Split, batch_size: int) -> None:
    """exp of the mean negative log-probability of all tokens with a context, and no others."""
    model, corpus = model_of(MoS(components=3)), load_corpus(CORPUS, None)
    spec = Perplexity(split=split, batch_size=batch_size)
    found = spec.measure(OnText(None, model, HISTORY, 2, corpus, CPU))
    tokens = getattr(corpus, split)
    streams = tokens[: len(tokens) // batch_size * batch_size].view(batch_size, -1).T
    with torch.no_grad():
        context, _, _ = model(streams[:-1], model.zero_state(batch_size))
        log_p = model.output.log_probabilities(context).double()
    expected = F.nll_loss(log_p.flatten(0, 1), streams[1:].flatten())
    assert found.value == pytest.approx(math.exp(expected), rel=1e-5)
    assert found.details["tokens"] == streams[1:].numel()


def test_training_perplexity_is_that_of_the_best_checkpoints_epoch() -> None:
    """The papers' train perplexity belongs to the epoch of the best validation, not the last."""
    assert training_perplexity(HISTORY, best_epoch=2) == pytest.approx(math.exp(2.5))


def test_training_perplexity_by_windows_is_that_of_the_record() -> None:
    """With ``weight: window`` it is exp of the mean over windows; older histories have none."""
    spec = Perplexity(split="train", mode="training", weight="window")
    corpus = load_corpus(CORPUS, None)
    model = model_of(MoS(components=3))

    def taken(best_epoch: int) -> float:
        return spec.measure(OnText(None, model, HISTORY, best_epoch, corpus, CPU)).value

    assert taken(2) == pytest.approx(math.exp(2.75))
    with pytest.raises(StoreError, match="trained before that was recorded"):
        taken(1)


def test_a_weight_has_its_own_key_and_belongs_to_mode_training() -> None:
    """Weighing windows is another measurement; in mode evaluation it would change nothing."""
    plain = Perplexity(split="train", mode="training")
    weighed = Perplexity(split="train", mode="training", weight="window")
    assert plain.key == "perplexity-f47d0c2eed26d35b"
    assert plain.key != weighed.key
    assert weighed.label == "training perplexity in training mode, each window counted alike"
    with pytest.raises(ValidationError, match="weight changes nothing"):
        Perplexity(split="train", weight="window")


@pytest.mark.parametrize("mode", ["evaluation", "training"])
def test_bits_are_the_mean_in_base_2(mode: Literal["evaluation", "training"]) -> None:
    """``unit: bits`` is log2 of the perplexity, in every mode, under a key and name of its own."""
    model, corpus = model_of(MoS(components=3)), load_corpus(CORPUS, None)
    split: Split = "train" if mode == "training" else "test"
    plain = Perplexity(split=split, mode=mode)
    bits = Perplexity(split=split, mode=mode, unit="bits")
    subject = OnText(None, model, HISTORY, 2, corpus, CPU)
    values = [each.measure(subject).value for each in (plain, bits)]
    assert values[1] == pytest.approx(math.log(values[0]) / math.log(2), rel=1e-12)
    assert plain.key != bits.key
    assert bits.label.startswith(f"{NAMES[split]} bits per token")
    assert "unit" not in plain.model_dump(exclude_none=True)
