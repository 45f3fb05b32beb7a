"""What is measured on a dialog model."""

import math
import statistics

import numpy as np
import pytest
import torch

from repro.errors import DataError
from repro.rank.noise import SEED
from repro.trainers.dialog.bleu import Bleu, bleu
from repro.trainers.dialog.corpus import DialogData, batch_of
from repro.trainers.dialog.model import respond
from repro.trainers.dialog.spec import Beam
from repro.trainers.dialog.training import OnDialogs
from repro.trainers.language_model.checkpoint import EpochRecord
from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.evaluation import OnText, full_precision
from repro.trainers.language_model.measurements.changed_matrix import CentredSpectrum, NoisyRank
from repro.trainers.language_model.measurements.perplexity import Dynamic, Perplexity
from repro.trainers.language_model.measurements.rank import Rank
from repro.trainers.measurement import Measured
from repro.trainers.table import Measurable
from tests.trainers import small
from tests.trainers.dialog import tiny

SPLIT = tiny.random_split(3)
WORDS = ("<pad>", "<unk>", "<s>", "</s>", "<d>", *"abcdefg")
CORPUS = DialogData(SPLIT, SPLIT, SPLIT, WORDS)
CPU = torch.device("cpu")
HISTORY = (EpochRecord(1, 2.0, 1.0, False, 40, 3.0),)


def subject(output: str) -> OnDialogs:
    model = tiny.built({"softmax": small.SOFTMAX, "mos": small.MOS}[output])
    return OnDialogs(None, model, HISTORY, 1, CORPUS, CPU)


def taken(measurement: Measurable, output: str = "softmax") -> Measured:
    return measurement.measure(subject(output))


def log_probabilities(output: str = "softmax") -> torch.Tensor:
    """(N, V), response after response, each read alone."""
    model = tiny.built({"softmax": small.SOFTMAX, "mos": small.MOS}[output])
    with torch.no_grad():
        contexts = [model(batch_of(SPLIT, [example])) for example in SPLIT.examples]
        return torch.cat([model.output.log_probabilities(each).squeeze(0) for each in contexts])


def test_perplexity_is_over_every_word_of_every_response() -> None:
    """``</s>`` counts and ``<s>`` does not (reference: log-probabilities of single responses)."""
    targets = [SPLIT.utterance(example.response)[1:] for example in SPLIT.examples]
    log_p_N = log_probabilities().gather(1, torch.cat(targets).unsqueeze(1))
    measured = taken(Perplexity(split="test"))
    assert measured.value == pytest.approx(math.exp(-float(log_p_N.mean())), rel=1e-12)
    assert measured.details == {"tokens": len(log_p_N)}
    bits = taken(Perplexity(split="test", unit="bits"))
    assert bits.value == pytest.approx(math.log2(measured.value), rel=1e-12)
    assert taken(Perplexity(split="train", mode="training")).value == math.exp(2.0)


@pytest.mark.parametrize("output", ["softmax", "mos"])
def test_rank_is_that_of_all_predicted_words(output: str) -> None:
    """Every predicted word is a row (reference: numpy's singular values of the whole matrix)."""
    measured = taken(Rank(), output)
    spectrum = np.linalg.svd(log_probabilities(output).numpy(), compute_uv=False)
    assert measured.details["rows"] == SPLIT.predicted
    assert measured.details["columns"] == tiny.V
    np.testing.assert_allclose(measured.arrays["singular_values"], spectrum, rtol=1e-7, atol=1e-10)
    # d + 2 but for the bias, which is 0 at first, with d = 8; all of V
    assert measured.value == (9 if output == "softmax" else 12)
    assert measured.details["known_rank"] == {"expected": 6, "measured": 6}


@pytest.mark.parametrize("output", ["softmax", "mos"])
def test_a_spectrum_without_the_mean_row_and_one_with_noise(output: str) -> None:
    """Reference: numpy's singular values of the whole matrix, changed by definition."""
    held = log_probabilities(output).double().numpy()
    centred = np.linalg.svd(held - held.mean(axis=0), compute_uv=False)
    found = taken(CentredSpectrum(), output)
    assert found.value == pytest.approx(centred[0], rel=1e-9)
    np.testing.assert_allclose(found.arrays["singular_values"], centred, atol=3e-7 * centred[0])
    held = torch.cat(list(subject(output).log_probabilities("test"))).double().numpy()
    noise = np.random.default_rng(SEED).standard_normal(held.shape)
    deviation = np.sqrt(0.01 / held.size) * np.linalg.norm(held, 2)
    noisy = np.linalg.svd(held + deviation * noise, compute_uv=False)
    found = taken(NoisyRank(noise=0.01), output)
    np.testing.assert_allclose(found.arrays["singular_values"], noisy, rtol=1e-6)
    assert found.value == held.shape[1]


def test_rank_of_the_first_words() -> None:
    """Fewer rows than there are can be asked for, more cannot."""
    assert taken(Rank(contexts=7)).details["rows"] == 7
    with pytest.raises(DataError, match="a rank of the first 9,999 contexts"):
        taken(Rank(contexts=9999))


@pytest.mark.parametrize("side", ["precision", "recall"])
def test_bleu_is_the_mean_over_responses(side: str) -> None:
    """Mean, or best, over the answers to each (reference: BLEU of every single answer)."""
    beam, model = Beam(size=3, longest=6, kept=2), tiny.built()
    measured = taken(Bleu(order=2, side=side, smoothing="add_one", beam=beam))  # type: ignore[arg-type]
    scores = []
    for example in SPLIT.examples:
        with torch.no_grad(), full_precision():
            begin = model.encode(batch_of(SPLIT, [example]))
        answers = respond(model, begin, beam, start=tiny.BEGIN, end=tiny.END)
        said = SPLIT.utterance(example.response).tolist()[1:-1]
        single = [bleu(answer.words, [said], 2, "add_one") for answer in answers]
        scores.append(statistics.fmean(single) if side == "precision" else max(single))
    assert measured.value == pytest.approx(statistics.fmean(scores), rel=1e-12)
    assert measured.details["responses"] == len(SPLIT.examples)
    assert measured.details["precision"] <= measured.details["recall"]
    assert 0 < measured.value < 1


def test_answers_are_those_of_the_weights_as_they_are() -> None:
    """A second side searches no more; once the weights have changed the answers are others."""
    model = tiny.built()
    subject = OnDialogs(None, model, HISTORY, 1, CORPUS, CPU)
    one = Bleu(order=1, side="recall", smoothing="none", beam=Beam(size=2, longest=4, kept=1))
    first = one.measure(subject)
    other = one.model_copy(update={"side": "precision"}).measure(subject)
    assert first.details == other.details
    with torch.no_grad():
        model.output.bias[tiny.END] += 100
    silent = one.measure(subject)
    assert silent.details["mean_length"] == 0
    assert first.details["mean_length"] > 0


def test_what_such_a_model_has_not_is_refused() -> None:
    """No dynamic evaluation of dialogs, no BLEU of a text."""
    how = Dynamic(scaling="sum", rate=0.1, decay=0.1, epsilon=0.1)
    with pytest.raises(TypeError, match="no dynamic evaluation"):
        taken(Perplexity(split="test", mode="dynamic", dynamic=how))
    text, model = load_corpus(small.corpus(), None), small.built(small.model(small.SOFTMAX), 30)
    one = Bleu(order=1, side="recall", smoothing="none")
    with pytest.raises(ValueError, match="a language model answers nothing"):
        one.measure(OnText(None, model, HISTORY, 1, text, CPU))
