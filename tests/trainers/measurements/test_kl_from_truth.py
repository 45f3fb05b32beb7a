"""KL from the language that made a text: against scipy, and of a model that is the truth."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import rel_entr

from repro.errors import DataError
from repro.specs.configuration import read_sheet
from repro.trainers.control import ControlledArm
from repro.trainers.language_model import corpus as synthetic
from repro.trainers.language_model.evaluation import OnText
from repro.trainers.language_model.measurements import model_kl
from repro.trainers.language_model.measurements.kl import (
    EntropyFloor,
    KlFromTruth,
    KlFromTruthDetails,
)
from repro.trainers.language_model.spec import SyntheticCorpus, TextCorpus, TrainingSpec
from repro.trainers.measurement import Measured
from tests.trainers import small

CPU = torch.device("cpu")
LANGUAGE = small.corpus(tokens={"train": 200, "valid": 60, "test": 20_000})


def taken(dtype: torch.dtype = torch.float64, **settings: Any) -> tuple[Measured, OnText]:
    model = small.built(small.model(small.MOS), 30, dtype).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(10)
    run = SimpleNamespace(training=SimpleNamespace(corpus=LANGUAGE))
    text = synthetic.load_corpus(LANGUAGE, None)
    subject = OnText(run, model, (), 1, text, CPU)
    return KlFromTruth(**settings).measure(subject), subject


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("streams", [1, 4])
def test_it_is_the_mean_over_the_contexts(dtype: torch.dtype, streams: int, monkeypatch) -> None:
    """By scipy, context by context; each row of the model meets the row of the word before it."""
    monkeypatch.setattr("repro.trainers.language_model.evaluation.CHUNK_BYTES", 30 * 8 * 17)
    measured, subject = taken(dtype, split="valid", batch_size=streams)
    rows = torch.cat(list(subject.log_probabilities("valid", streams))).double().numpy()
    text, truth = subject.corpus.valid.numpy(), synthetic.conditional_matrix(LANGUAGE)
    length = len(text) // streams
    places = [b * length + t for t in range(length - 1) for b in range(streams)]
    found = [
        rel_entr(truth[text[place]], np.exp(row)).sum()
        for place, row in zip(places, rows, strict=True)
    ]
    assert measured.value == pytest.approx(
        np.mean(found), rel=1e-6 if dtype.itemsize == 4 else 1e-12
    )
    assert measured.value > 0.1
    words = text[[place + 1 for place in places]]
    of_truth = np.log(truth[text[places], words])
    of_model = rows[np.arange(len(rows)), words]
    facts = KlFromTruthDetails.model_validate(measured.details)
    assert facts.contexts == len(places)
    assert facts.truth == pytest.approx(math.exp(-of_truth.mean()), rel=1e-12)
    assert facts.model == pytest.approx(math.exp(-of_model.mean()), rel=1e-12)
    assert facts.excess == pytest.approx((of_truth - of_model).mean(), rel=1e-10)
    error = (of_truth - of_model).std(ddof=1) / math.sqrt(len(places))
    assert facts.excess_error == pytest.approx(error, rel=1e-10)


def test_its_perplexity_is_that_of_the_measurement_of_perplexity() -> None:
    measured, subject = taken(batch_size=4)
    loss, counted = subject.mean_loss("test", 4)
    assert measured.details["model"] == pytest.approx(math.exp(loss), rel=1e-10)
    assert measured.details["contexts"] == counted


def test_it_is_what_a_model_loses_on_the_words() -> None:
    """On 20,000 words the loss above the truth's is the divergence, within its error."""
    measured, _ = taken()
    details = measured.details
    assert details["excess"] == pytest.approx(math.log(details["model"] / details["truth"]))
    assert measured.value == pytest.approx(details["excess"], abs=4 * details["excess_error"])
    assert details["excess_error"] < measured.value / 20


def test_the_floor_is_the_truths_own_perplexity() -> None:
    """The truth, as a model, is at no distance; on many words its perplexity is the floor."""
    text = synthetic.load_corpus(LANGUAGE, None).test
    log_truth = torch.tensor(synthetic.log_conditional_matrix(LANGUAGE))
    value, details = model_kl.from_truth(log_truth[text[:-1]].split(999), text, 1, LANGUAGE)
    assert value == 0
    assert details["model"] == details["truth"]
    assert (details["excess"], details["excess_error"]) == (0, 0)
    q = synthetic.stationary_distribution(LANGUAGE)
    truth = synthetic.conditional_matrix(LANGUAGE)
    entropy = sum(q[w] * -sum(p * math.log(p) for p in truth[w]) for w in range(30))
    assert details["floor"] == pytest.approx(math.exp(entropy), rel=1e-10)
    spread = float(log_truth[text[:-1], text[1:]].std()) / math.sqrt(len(text))
    assert math.log(details["truth"]) == pytest.approx(entropy, abs=4 * spread)


def test_the_page_states_the_floor_of_quick() -> None:
    """What docs/reference/measurements.md says of the language of the scale quick."""
    root = Path(__file__).parents[3]
    sheet = read_sheet(root / "claims/configurations/quick/mos.yaml").configuration
    assert sheet is not None
    training = sheet.training()
    assert isinstance(training, TrainingSpec)
    assert isinstance(training.corpus, SyntheticCorpus)
    floor = synthetic.entropy_perplexity(training.corpus)
    page = (root / "docs/reference/measurements.md").read_text(encoding="utf-8")
    assert f"the language of `quick` is a perplexity of {floor:.2f}." in page


def test_a_word_without_probability_is_refused() -> None:
    text = synthetic.load_corpus(LANGUAGE, None).valid
    rows = torch.full((59, 30), math.log(1 / 29))
    rows[:, 3] = -math.inf
    with pytest.raises(DataError, match="gives some word no probability"):
        model_kl.from_truth([rows], text, 1, LANGUAGE)


def test_only_a_synthetic_language_is_known() -> None:
    training = small.run().training
    assert list(KlFromTruth().unsuited(training, "arm a")) == []
    digests = dict.fromkeys(("train", "valid", "test"), "0" * 64)
    text = TextCorpus.model_validate(
        {"name": "ptb", "vocabulary": 30, "tokens": LANGUAGE.tokens, "sha256": digests}
    )
    known = list(KlFromTruth().unsuited(training.model_copy(update={"corpus": text}), "arm a"))
    assert [key for key, _ in known] == ["kind"]
    assert "nobody knows its true distribution" in known[0][1][0]
    short = list(KlFromTruth(batch_size=100).unsuited(training, "arm a"))
    assert len(short) == 1


def details(excess: float) -> dict[str, Any]:
    facts = {"contexts": 9, "floor": 39.4, "truth": 40.0, "model": 40 * math.exp(excess)}
    return {**facts, "excess": excess, "excess_error": 0.01}


def arm(label: str, *excesses: float) -> ControlledArm:
    values = tuple(max(0.0, each) for each in excesses)
    return ControlledArm(label, None, values, tuple(map(details, excesses)))


CANARY = EntropyFloor(kind="entropy_floor", id="floor", measurement="kl")


@pytest.mark.parametrize(
    ("excess", "uncontrolled", "state"),
    [(0.1, False, "passed"), (-0.04, False, "passed"), (-0.06, False, "failed"),
     (0.1, True, "missing"), (-0.06, True, "failed")],
)  # fmt: skip
def test_the_control_sees_a_model_that_knows_the_words(excess, uncontrolled, state) -> None:
    """Better than the truth by more than five standard errors."""
    arms = {"mos": arm("MoS", 0.2, excess), "softmax": arm("Softmax", 0.3)}
    outcome = CANARY.outcome(arms, uncontrolled=uncontrolled)
    assert outcome.state == state
    assert outcome.expected == "perplexity 39.40 at least, 40.00 on these words"
    if excess == 0.1:
        assert outcome.measured == "MoS 44.21 to 48.86; Softmax 53.99"


def test_the_control_without_numbers() -> None:
    assert CANARY.outcome({"mos": arm("MoS")}, uncontrolled=False).state == "missing"
    assert CANARY.without_effect(trained=False)
    assert not CANARY.without_effect(trained=True)
    assert CANARY.controls(arm("MoS"))
    assert not CANARY.controls(arm("MoS", 0.1))
