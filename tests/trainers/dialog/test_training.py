"""Training on dialogs: the steps, the epochs, and going on after an interruption."""

import json
import math

import pytest
import torch

from repro.trainers.dialog.corpus import DialogData, batch_of, shuffled
from repro.trainers.dialog.model import DialogModel, begin
from repro.trainers.dialog.spec import DialogTrainingSpec
from repro.trainers.dialog.trainer import DialogModels
from repro.trainers.dialog.training import mean_loss, train
from repro.trainers.language_model.checkpoint import load_checkpoint
from repro.trainers.language_model.randomness import Streams
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.run import RunSpec
from repro.trainers.trainer import Progress
from tests.trainers import small
from tests.trainers.dialog import tiny

CPU = torch.device("cpu")
WORDS = ("<pad>", "<unk>", "<s>", "</s>", "<d>", *"abcdefg")
CORPUS = DialogData(
    train=tiny.random_split(6), valid=tiny.random_split(2), test=tiny.random_split(2), words=WORDS
)


def run(output=small.SOFTMAX, replicate=0, **recipe):
    tokens, responses = CORPUS.train.predicted, len(CORPUS.train.examples)
    corpus = {
        "kind": "dialog",
        "name": "tiny",
        "vocabulary": tiny.V,
        "responses": {"train": responses, "valid": 1, "test": 1},
        "tokens": {"train": tokens, "valid": 1, "test": 1},
        "sha256": dict.fromkeys(("train", "valid", "test"), "0" * 64),
    }
    document = {
        "model": tiny.seq2seq(output).model_dump(mode="json"),
        "corpus": corpus,
        "recipe": {"epochs": 3, "batch_size": 7, "dropout": {"output": 0.2}, **recipe},
    }
    training = DialogTrainingSpec.model_validate_json(json.dumps(document))
    return RunSpec(training=training, replicate=replicate)


def trained(one, folder=None, progress=None):
    (result,) = train([one], CORPUS, device=CPU, folders=[folder], progress=progress)
    return result


def same(one, other):
    """The same bits: weights, history, best epoch."""
    a, b = one.model.state_dict(), other.model.state_dict()
    weights = all(torch.equal(a[name], b[name]) for name in a)
    return weights and (one.history, one.best_epoch) == (other.history, other.best_epoch)


def test_an_epoch_is_torchs_adam_on_every_batch_once():
    """Weights and mean losses of an epoch without dropout (reference: torch.optim.Adam)."""
    one = run(epochs=1, dropout={}, precision="float64")
    result, spec, streams = trained(one), DialogTrainingSpec.of(one), Streams(one)
    model = DialogModel(spec.model, tiny.V, torch.float64)
    begin(model, spec.recipe, streams, CORPUS.train)
    adam = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses, tokens = [], []
    for examples in shuffled(CORPUS.train, 7, streams.open("batch_order", 1)):
        batch = batch_of(CORPUS.train, examples)
        loss = model.loss(batch)
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        adam.step()
        losses.append(float(loss.detach()))
        tokens.append(batch.tokens)
    (record,) = result.history
    assert record.tokens == sum(tokens) == CORPUS.train.predicted
    by_token = sum(x * n for x, n in zip(losses, tokens, strict=True)) / sum(tokens)
    assert record.train_loss == pytest.approx(by_token, rel=1e-12)
    assert record.window_loss == pytest.approx(sum(losses) / len(losses), rel=1e-12)
    assert record.valid_loss == pytest.approx(mean_loss(model, CORPUS.valid)[0], rel=1e-9)
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(result.model.state_dict()[name], tensor, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("output", [small.SOFTMAX, small.MOS])
@pytest.mark.parametrize(("epoch", "step"), [(1, 2), (2, 0), (3, 4)])
def test_an_interrupted_training_ends_with_the_same_bits(tmp_path, output, epoch, step):
    """Stopped in any epoch it goes on from the last one's end: moments and their count too."""
    one = run(output)
    expected = trained(one)

    def stop(state):
        if (state.epoch, state.step) == (epoch, step):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(one, tmp_path, stop)
    saved, _ = load_checkpoint(tmp_path, one.key)
    assert (saved is None) == (epoch == 1)
    if saved is not None:
        assert saved.optimiser_steps == (epoch - 1) * math.ceil(len(CORPUS.train.examples) / 7)
        assert any(float(moment.abs().sum()) > 0 for moment in saved.optimiser.values())
    assert same(trained(one, tmp_path), expected)


def test_one_run_does_not_depend_on_the_others(tmp_path):
    """Asked for together they are trained in turn: the same bits as alone."""
    runs = [run(replicate=number) for number in range(2)]
    places = [tmp_path / str(number) for number in range(2)]
    both = DialogModels().train(
        runs, CORPUS, device="cpu", folders=places, progress=lambda _: None, together=True
    )
    alone = [trained(one).finished() for one in runs]
    for result, one in zip(both, alone, strict=True):
        assert (result.history, result.best_epoch) == (one.history, one.best_epoch)
        assert result.weights is not None
        assert one.weights is not None
        assert all((result.weights[name] == one.weights[name]).all() for name in one.weights)
    assert both[0].history != both[1].history


def test_the_best_epoch_is_kept():
    """The model that comes back has the lowest validation loss of the history."""
    result = trained(run(epochs=6, optimiser={"kind": "adam", "learning_rate": 0.05}))
    losses = [record.valid_loss for record in result.history]
    assert result.best_epoch == losses.index(min(losses)) + 1
    assert mean_loss(result.model, CORPUS.valid)[0] == min(losses)


def test_a_training_that_diverges_is_recorded():
    """A rate beyond all bounds ends the run in the epoch that had no finite perplexity."""
    result = trained(run(optimiser={"kind": "adam", "learning_rate": 1e30}))
    assert result.diverged == 1
    assert result.history == ()


def test_progress_counts_tokens_to_the_end():
    """Every step is told, and the last one has all tokens of all epochs."""
    told: list[Progress] = []
    trained(run(), progress=told.append)
    steps = math.ceil(len(CORPUS.train.examples) / 7)
    assert [state.step for state in told] == [*range(steps + 1), steps] * 3
    assert told[-1].tokens_done == told[-1].tokens_in_all == 3 * CORPUS.train.predicted


def test_a_corpus_of_another_size_is_refused():
    """A run is for a corpus of its own number of words."""
    other = DialogData(CORPUS.train, CORPUS.valid, CORPUS.test, WORDS[:-1])
    with pytest.raises(ValueError, match="not for a corpus of 11 words"):
        train([run()], other, device=CPU, folders=[None])


def test_a_language_model_is_no_dialog_model():
    """Each kind of run is refused where the other is trained."""
    with pytest.raises(ValueError, match="trains a language model"):
        train([small.run()], CORPUS, device=CPU, folders=[None])
    with pytest.raises(ValueError, match="trains a dialog model"):
        TrainingSpec.of(run())
