"""Fine-tuning: averaged SGD from the best weights on, with a stop of its own."""

import pytest

from repro.trainers.language_model.checkpoint import FILE_NAME, load_checkpoint
from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.evaluation import mean_loss
from repro.trainers.language_model.measurements.perplexity import Perplexity
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.run import PlannedRun
from repro.trainers.trainer import Progress, cost
from tests.trainers import small
from tests.trainers.asgd import losses_by_asgd
from tests.trainers.replicates import plain
from tests.trainers.trainings import Killed, assert_same, killed_after, trained

RANDOM = {"base": 10, "random": True}


def run_of(tuning, output=small.SOFTMAX, **recipe):
    """A run whose streams do not depend on the recipe."""
    tuned = small.recipe(**recipe, **({} if tuning is None else {"finetuning": tuning}))
    return small.run(output, tuned, streams="paired")


def test_it_is_torch_s_asgd_from_the_best_weights():
    """With a rate and windows of its own, each epoch's average is that of ASGD from the best."""
    plain = {"precision": "float64", "learning_rate": 60.0}
    tuning = {"epochs": 3, "n": 5, "learning_rate": 2.5, "window": RANDOM, "rate": "late"}
    before, run = trained(run_of(None, **plain)), run_of(tuning, **plain)
    after = trained(run)
    assert before.best_epoch < 3  # so the best is not where training ended
    assert after.history[:3] == before.history
    window = TrainingSpec.of(run).recipe.stage(4).window
    expected = losses_by_asgd(before.model, run, [4, 5, 6], 2.5, window)
    found = [record.valid_loss for record in after.history[3:]]
    assert found == pytest.approx(expected, rel=1e-12)
    assert [record.averaging for record in after.history] == [False] * 3 + [True] * 3


def test_the_best_of_all_epochs_is_what_is_returned():
    """Fine-tuning replaces the best weights only where it improves on them."""
    corpus = load_corpus(small.corpus(), None)
    for rate in (1e-9, 2.0):
        result = trained(run_of({"epochs": 2, "learning_rate": rate}, learning_rate=40.0))
        losses = [record.valid_loss for record in result.history]
        assert result.best_epoch == 1 + losses.index(min(losses))
        assert mean_loss(result.model, corpus.valid, 10)[0] == min(losses)


def test_a_new_average_begins_after_averaging():
    """Where training was averaging already, its mean is left behind with its iterates."""
    averaged = {"averaging": {"kind": "et", "epoch": 1}, "precision": "float64"}
    before, run = trained(run_of(None, **averaged)), run_of({"epochs": 1}, **averaged)
    after = trained(run)
    assert [record.averaging for record in after.history] == [False, True, True, True]
    window = TrainingSpec.of(run).recipe.window
    expected = losses_by_asgd(before.model, run, [4], 5.0, window)
    assert after.history[3].valid_loss == pytest.approx(expected[0], rel=1e-12)


def test_no_late_rate_is_taken_along():
    """The first step has its own rate, as a new ASGD has, not that of the step before the best."""
    rule = {"kind": "et", "epoch": 1, "rate": "late"}
    averaged = {"averaging": rule, "precision": "float64", "window": RANDOM}
    before = trained(run_of(None, **averaged))
    run = run_of({"epochs": 1, "rate": "late"}, **averaged)
    window = TrainingSpec.of(run).recipe.window
    (expected,) = losses_by_asgd(before.model, run, [4], 5.0, window)
    assert trained(run).history[3].valid_loss == pytest.approx(expected, rel=1e-12)


def test_the_rate_decays_before_it_and_not_in_it(monkeypatch):
    """A linear decay ends with the epochs of training proper; fine-tuning has a constant rate."""
    from repro.trainers.language_model import optimiser

    scales, original = [], optimiser.Sgd.step

    def step(self, scale):
        scales.append(scale)
        original(self, scale)

    monkeypatch.setattr(optimiser.Sgd, "step", step)
    trained(run_of({"epochs": 1}, epochs=2, decay="linear"))
    falling = [1 - (epoch + start / 149) / 2 for epoch in (0, 1) for start in range(0, 149, 10)]
    assert scales == pytest.approx(falling + [1.0] * 15)


@pytest.mark.parametrize(
    ("own", "ends"),
    [
        ([], False),
        ([9.0], False),
        ([5, 6, 7], False),
        ([5, 6, 7, 8], True),
        ([5, 6, 7, 5], False),
        ([5, 4, 3, 6], True),
        ([5, 6, 7, 4, 4.5], False),
        ([9, 8, 7, 6, 5, 4, 3], True),
    ],
)
def test_it_ends_by_its_own_epochs_alone(own, ends):
    """With n = 2, seven epochs at most: the losses of training proper do not count in the rule."""
    recipe = small.recipe(epochs=3, finetuning={"epochs": 7, "n": 2})
    assert recipe.finished([1.0, 1.0, 1.0, *own]) == ends
    assert not recipe.finished([1.0, 2.0])


def test_without_it_training_ends_with_its_epochs():
    """No stop rule applies, however validation goes."""
    recipe = small.recipe(epochs=8)
    assert [recipe.finished([1.0 + done for done in range(n)]) for n in (7, 8)] == [False, True]


STOPS = {"epochs": 30, "n": 1, "learning_rate": 60.0}


def test_it_stops_when_validation_no_longer_improves():
    """The last epoch, and no epoch before it, is above the best of all but the one before it."""
    result = trained(run_of(STOPS))
    own = [record.valid_loss for record in result.history[3:]]
    stalled = [i > 1 and own[i] > min(own[: i - 1]) for i in range(len(own))]
    assert 3 <= len(own) < 30
    assert stalled == [False] * (len(own) - 1) + [True]


@pytest.mark.parametrize(("epoch", "step"), [(4, 0), (4, 6), (5, 0), (5, 9), (6, 3)])
@pytest.mark.parametrize("name", ["softmax", "plif", "mos"])
def test_killed_and_started_again_the_bits_are_the_same(tmp_path, name, epoch, step):
    """At the border to fine-tuning and inside it, with everything that can be forgotten."""
    tuning = {"epochs": 3, "learning_rate": 7.0, "window": RANDOM, "rate": "late"}
    recipe = small.rich_recipe(epochs=3, finetuning=tuning)
    run = small.run(small.OUTPUTS[name], recipe)
    with pytest.raises(Killed):
        trained(run, tmp_path, killed_after(epoch, step))
    checkpoint, note = load_checkpoint(tmp_path, run.key)
    assert note is None
    assert checkpoint is not None
    assert len(checkpoint.history) == epoch - 1
    assert_same(trained(run, tmp_path), plain(run))


def test_a_run_that_has_stopped_is_not_trained_again(tmp_path):
    """Started once more, it knows from its history that it had ended."""
    run = run_of(STOPS)
    first = trained(run, tmp_path)
    steps: list[Progress] = []
    assert_same(trained(run, tmp_path, steps.append), first)
    assert steps == []
    assert (tmp_path / FILE_NAME).exists()


def test_divergence_in_fine_tuning_is_recorded():
    """The run diverged in the first epoch after training proper, which is in its history."""
    result = trained(run_of({"epochs": 2, "learning_rate": 1e30}, clip=1e30, learning_rate=1e-30))
    assert result.diverged == 4
    assert len(result.history) == 3


def test_progress_and_cost_count_the_epochs_that_there_are_at_most():
    """Three epochs and two of fine-tuning are five, told from the beginning."""
    seen: list[Progress] = []
    run = run_of({"epochs": 2})
    trained(run, progress=seen.append)
    assert {where.epochs for where in seen} == {5}
    assert seen[-1].tokens_done == seen[-1].tokens_in_all == 5 * 149 * 4
    both = PlannedRun(run=run, measurements=(Perplexity(split="test"),))
    plain = PlannedRun(run=run_of(None), measurements=both.measurements)
    assert cost(both).training == pytest.approx(cost(plain).training * 5 / 3)
