"""The training loop: what it computes and records, and what that depends on."""

import math
import random

import numpy as np
import pytest
import torch

from repro.trainers.language_model.corpus import draw_windows, entropy_perplexity, load_corpus
from repro.trainers.language_model.evaluation import mean_loss
from repro.trainers.language_model.randomness import Streams
from repro.trainers.language_model.regularisation import QUIET
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.language_model.training import train
from repro.trainers.trainer import Progress
from tests.trainers import small
from tests.trainers.trainings import CPU, assert_same, trained


@pytest.mark.parametrize("name", small.OUTPUTS)
def test_every_output_layer_learns(name):
    """Training loss falls, and the model that is returned is the best one in validation."""
    result = trained(small.run(small.OUTPUTS[name], small.recipe(epochs=6)))
    assert result.history[-1].train_loss < result.history[0].train_loss < math.log(30)
    losses = [record.valid_loss for record in result.history]
    assert result.best_epoch == 1 + losses.index(min(losses))
    assert not result.model.training
    corpus = load_corpus(small.corpus(), None)
    assert mean_loss(result.model, corpus.valid, 10)[0] == min(losses)


def test_one_epoch_without_regularisation_is_the_plain_loop():
    """History and weights are those of a loop written with torch's own parts."""
    run = small.run(recipe_=small.recipe(epochs=1, precision="float64", decay="linear"))
    corpus = load_corpus(TrainingSpec.of(run).corpus, None)
    model = small.built(TrainingSpec.of(run).model, 30)
    for parameter, source in zip(model.parameters(), fresh(run).parameters(), strict=True):
        parameter.data = source.data.clone()
    text = corpus.train.view(4, 150).t()
    state, total = model.zero_state(4), 0.0
    for start in range(0, 149, 10):
        stop = min(start + 10, 149)
        output = model(text[start:stop], tuple((h.detach(), c.detach()) for h, c in state))
        state = output.state
        log_p = model.output.log_probabilities(output.context).flatten(0, 1)
        loss = torch.nn.functional.nll_loss(log_p, text[start + 1 : stop + 1].flatten())
        total += loss.item() * (stop - start)
        optimiser = torch.optim.SGD(model.parameters(), lr=5.0 * (1 - start / 149))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimiser.step()
    result = trained(run)
    assert result.history[0].train_loss == pytest.approx(total / 149, rel=1e-12)
    assert result.history[0].tokens == 149 * 4
    for ours, theirs in zip(result.model.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)


def fresh(run):
    """The model of a run before its first step."""
    from repro.trainers.language_model.model import LanguageModel
    from repro.trainers.language_model.randomness import initialise

    model = LanguageModel(TrainingSpec.of(run).model, 30, torch.float64)
    initialise(model, Streams(run))
    return model


def test_parts_of_a_batch_add_up_to_the_batch():
    """Without dropout, a batch in two parts gives the numbers of the whole batch."""
    whole, parts = (
        trained(small.run(recipe_=small.recipe(precision="float64", small_batch_size=size)))
        for size in (None, 3)
    )
    # the configurations differ, so the streams do: start both from common numbers
    assert whole.history != parts.history
    whole, parts = (
        trained(
            small.run(
                recipe_=small.recipe(precision="float64", small_batch_size=size), streams="paired"
            )
        )
        for size in (None, 3)
    )
    for one, two in zip(whole.history, parts.history, strict=True):
        assert one.train_loss == pytest.approx(two.train_loss, rel=1e-9)
        assert one.valid_loss == pytest.approx(two.valid_loss, rel=1e-9)


def test_no_model_beats_the_entropy_of_the_language():
    """Test perplexity comes down from that of the vocabulary, and stays above the entropy's."""
    run = small.run(recipe_=small.recipe(epochs=12, learning_rate=10.0, decay="linear"))
    language = small.corpus(tokens={"train": 4000, "valid": 400, "test": 4000})
    training = TrainingSpec.of(run).model_copy(update={"corpus": language})
    run = run.model_copy(update={"training": training})
    loss, _ = mean_loss(trained(run).model, load_corpus(language, None).test, 1)
    assert entropy_perplexity(language) < math.exp(loss) < 25


def test_numbers_depend_on_the_run_alone():
    """With other global seeds and other numbers drawn before, every bit is the same."""
    run = small.run(small.MOS, small.rich_recipe())
    one = trained(run)
    random.seed(9)
    np.random.seed(9)  # noqa: NPY002
    torch.manual_seed(9)
    state = torch.get_rng_state()
    assert_same(one, trained(run))
    assert torch.equal(torch.get_rng_state(), state)


def test_replicates_and_configurations_differ():
    """Another replicate has other numbers from the first epoch on."""
    losses = {trained(small.run(replicate=r)).history[0].train_loss for r in range(3)}
    assert len(losses) == 3


def test_averaging_starts_after_the_switch():
    """With ET at epoch 2, epochs 3 and later are validated on averaged weights."""
    recipe = small.recipe(epochs=4, averaging={"kind": "et", "epoch": 2})
    plain = small.recipe(epochs=4)
    et, sgd = (trained(small.run(recipe_=r, streams="paired")) for r in (recipe, plain))
    assert [record.averaging for record in et.history] == [False, False, True, True]
    for one, two in zip(et.history, sgd.history, strict=True):
        assert one.train_loss == two.train_loss  # the iterates do not see their average
        assert (one.valid_loss == two.valid_loss) == (not one.averaging)


def test_the_two_training_losses_weigh_tokens_and_windows():
    """With windows of 10, 149 steps leave a last one of 9, which counts as much as the others."""
    run = small.run(recipe_=small.recipe(epochs=1))
    corpus, seen = load_corpus(TrainingSpec.of(run).corpus, None), []
    text = corpus.train.view(4, 150).t()
    record = trained(run).history[0]
    short = small.run(recipe_=small.recipe(epochs=1, window={"base": 149}))
    assert trained(short).history[0].window_loss == trained(short).history[0].train_loss
    from repro.trainers.language_model.output.layer import SoftmaxOutput

    original = SoftmaxOutput.loss

    def noting(model, context, targets, regularisation=QUIET):
        loss = original(model, context, targets, regularisation)
        if regularisation is not QUIET:
            seen.append((len(targets), float(loss.detach())))
        return loss

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SoftmaxOutput, "loss", noting)
        trained(run)
    assert [length for length, _ in seen] == [10] * 14 + [9]
    assert record.window_loss == pytest.approx(sum(loss for _, loss in seen) / 15, rel=1e-12)
    by_token = sum(length * loss for length, loss in seen) / (len(text) - 1)
    assert record.train_loss == pytest.approx(by_token, rel=1e-12)


def test_divergence_is_recorded_and_the_others_go_on(tmp_path):
    """A run whose loss is no longer finite says in which epoch; its neighbours are unchanged."""
    wild = small.run(recipe_=small.recipe(learning_rate=1e30, clip=1e30))
    good = small.run()
    corpus = load_corpus(small.corpus(), None)
    folders = [tmp_path / "0", tmp_path / "1", None]
    first, second, third = train([good, wild, good], corpus, device=CPU, folders=folders)
    assert second.diverged == 1
    assert second.history == ()
    assert second.best_epoch == 0
    assert_same(first, trained(good))
    assert_same(third, first)
    assert trained(wild, tmp_path / "1").diverged == 1


@pytest.mark.parametrize("rate", [1e6, 1e30, 3e38])
@pytest.mark.parametrize("name", small.OUTPUTS)
def test_no_output_layer_raises_when_it_diverges(name, rate):
    """Losses without a perplexity, and weights that are no numbers, end a run quietly."""
    run = small.run(small.OUTPUTS[name], small.recipe(learning_rate=rate, clip=1e30))
    assert trained(run).diverged is not None


def test_a_run_that_diverges_late_keeps_its_best_weights(monkeypatch):
    """The model is the best one before the loss was lost, and the history ends there."""
    from repro.trainers.language_model.training import TrainingReplicate

    run, original = small.run(), TrainingReplicate.end_epoch
    expected = trained(small.run(recipe_=small.recipe(epochs=3)))

    def failing(self, losses, valid, tokens):
        lost = losses._replace(by_token=math.inf) if self.epoch == 3 else losses
        original(self, lost, valid, tokens)

    monkeypatch.setattr(TrainingReplicate, "end_epoch", failing)
    result = trained(run)
    assert result.diverged == 3
    assert result.history == expected.history[:2]
    corpus = load_corpus(small.corpus(), None)
    best = min(record.valid_loss for record in result.history)
    assert mean_loss(result.model, corpus.valid, 10)[0] == best


def test_progress_counts_steps_and_tokens():
    """Each epoch begins at step 0, ends with validation, and the last ends with all tokens."""
    run = small.run(recipe_=small.rich_recipe())
    seen: list[Progress] = []
    trained(run, progress=seen.append)
    lengths = Streams(run).open("window_length", 1)
    steps = len(draw_windows(149, TrainingSpec.of(run).recipe.window, lengths))
    first = [where for where in seen if where.epoch == 1]
    assert [where.step for where in first] == [*range(steps + 1), steps]
    assert [where.phase for where in first] == ["train"] * (steps + 1) + ["valid"]
    assert seen[-1].tokens_done == seen[-1].tokens_in_all == 4 * 149 * 4
    assert {where.run_key for where in seen} == {run.key}


def test_linear_decay_falls_to_nothing_step_by_step(monkeypatch):
    """The rate of a step is what is left of the training, in tokens, times its window's factor."""
    from repro.trainers.language_model import optimiser

    scales, original = [], optimiser.Sgd.step

    def step(self, scale):
        scales.append(scale)
        original(self, scale)

    monkeypatch.setattr(optimiser.Sgd, "step", step)
    run = small.run(recipe_=small.recipe(epochs=2, decay="linear"))
    trained(run)
    expected = [1 - (epoch + start / 149) / 2 for epoch in (0, 1) for start in range(0, 149, 10)]
    assert scales == pytest.approx(expected)


def test_a_corpus_of_another_size_is_refused():
    """A run and a corpus that do not belong together are a mistake of the caller."""
    with pytest.raises(ValueError, match="not for a corpus of 31 words"):
        train([small.run()], small.random_corpus(31), device=CPU, folders=[None])
