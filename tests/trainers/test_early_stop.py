"""Early stop: by recorded validation losses, and of runs that are trained."""

from __future__ import annotations

import pytest
import torch

from repro.trainers.language_model.checkpoint import load_checkpoint
from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.language_model.training import train
from repro.trainers.run import PlannedRun
from repro.trainers.trainer import Progress, cost
from tests.trainers import small
from tests.trainers.replicates import plain
from tests.trainers.trainings import Killed, assert_same, killed_after, trained


def end(recipe, losses):
    """The epoch after which nothing is left to train, if these losses come to it."""
    ends = [done for done in range(len(losses) + 1) if recipe.finished(losses[:done])]
    return ends[0] if ends else None


@pytest.mark.parametrize(
    ("losses", "epoch"),
    [
        ([9, 8, 7, 6, 5, 4], None),
        ([5, 6, 7], 3),
        ([5, 6, 4, 6, 7], 5),
        ([5, 5, 5], 3),
        ([5, 6, 4.5, 4.6, 4.4, 4.5, 4.5], 7),
        ([5, 6], None),
        ([9, 8, 7, 6, 5, 4, 3, 2], 8),
    ],
)
def test_it_ends_after_so_many_epochs_without_a_new_best(losses, epoch):
    """With a patience of 2; an equal loss is no new best; the last is the recipe's last epoch."""
    assert end(small.recipe(epochs=8, stop={"patience": 2}), losses) == epoch


def test_without_the_option_training_goes_on_to_its_last_epoch():
    """However validation goes."""
    assert end(small.recipe(epochs=5), [1.0, 2.0, 3.0, 4.0, 5.0]) == 5


@pytest.mark.parametrize(
    ("averaging", "losses", "epoch"),
    [
        # NT with n = 2 switches after epoch 5; 6 and 7 then have their chance
        ({"kind": "nt", "n": 2}, [9, 5, 6, 5.5, 5.7, 5.2, 5.1], None),
        ({"kind": "nt", "n": 2}, [9, 5, 6, 5.5, 5.7, 5.2, 5.1, 5.3, 5.3], 9),
        ({"kind": "nt", "n": 2}, [9, 5, 6, 5.5, 5.7, 5.2, 4.9, 4.95, 4.95, 4.95, 4.95], 11),
        # the switch at an epoch that was fixed, in the middle of the count
        ({"kind": "et", "epoch": 3}, [5, 6, 7, 8, 8, 8, 8], 7),
        # too late: the count was over before it
        ({"kind": "et", "epoch": 6}, [5, 6, 7, 8, 8, 8, 8], 5),
        ({"kind": "none"}, [5, 6, 7, 8, 8, 8, 8], 5),
    ],
)
def test_the_count_begins_anew_at_the_switch(averaging, losses, epoch):
    """With a patience of 4; the best remains that of all epochs."""
    recipe = small.recipe(epochs=20, stop={"patience": 4}, averaging=averaging)
    assert end(recipe, losses) == epoch


def test_there_is_one_switch_and_one_new_beginning():
    """What would be a switch again, were averaging not on, does not put the stop off."""
    recipe = small.recipe(epochs=30, stop={"patience": 3}, averaging={"kind": "nt", "n": 1})
    assert end(recipe, [5, 6, 7, 8, 9, 10, 11, 12]) == 6  # switched after 3


def test_fine_tuning_follows_and_has_its_own_rule():
    """Two epochs proper by the stop, then fine-tuning until its own losses stall (n = 1)."""
    tuning = {"epochs": 9, "n": 1, "learning_rate": 0.5}
    recipe = small.recipe(epochs=6, stop={"patience": 1}, finetuning=tuning)
    losses = [5.0, 6.0, 4.0, 3.0, 3.5, 3.6]
    assert [recipe.proper_epochs(losses[:n]) for n in range(4)] == [6, 6, 2, 2]
    assert [recipe.next_stage(losses[:n]).learning_rate for n in range(4)] == [5, 5, 0.5, 0.5]
    assert end(recipe, losses) == 6
    assert end(recipe, [5.0, 6.0, *[4.0 - 0.1 * n for n in range(12)]]) == 11


def test_fine_tuning_is_not_counted():
    """Where training proper was not stopped, dry epochs after it do not stop it in hindsight."""
    recipe = small.recipe(epochs=3, stop={"patience": 2}, finetuning={"epochs": 5, "n": 5})
    losses = [5.0, 4.0, 3.0, *[3.5] * 5]
    assert [recipe.proper_epochs(losses[:n]) for n in range(9)] == [3] * 9
    assert end(recipe, losses) == 8


def run_of(**changes):
    recipe = small.recipe(**{"learning_rate": 60.0, **changes})
    return small.run(recipe_=recipe, streams="paired")


def losses_of(result):
    return [record.valid_loss for record in result.history]


def test_a_run_stops_where_the_rule_says_and_is_otherwise_the_same_run():
    """Its epochs are the first of those of the run without a stop, up to the first dry spell."""
    stopped, whole = trained(run_of(epochs=12, stop={"patience": 3})), trained(run_of(epochs=12))
    losses = losses_of(whole)
    dry = [n for n in range(4, 13) if min(losses[n - 3 : n]) >= min(losses[: n - 3])]
    assert 4 <= dry[0] < 12
    assert stopped.history == whole.history[: dry[0]]
    assert stopped.best_epoch == 1 + losses.index(min(losses[: dry[0]])) == dry[0] - 3


def test_fine_tuning_begins_at_the_best_after_a_stop():
    """It goes on from the best weights under an average, as after the last epoch."""
    tuning = {"epochs": 2, "learning_rate": 1e-30}
    result = trained(run_of(epochs=12, stop={"patience": 1}, finetuning=tuning))
    losses, averaging = losses_of(result), [record.averaging for record in result.history]
    proper = len(losses) - 2
    assert proper < 12
    assert averaging == [False] * proper + [True] * 2
    assert losses[-2:] == [min(losses[:proper])] * 2  # weights that do not move keep their loss
    assert losses[-1] < losses[proper - 1]


@pytest.mark.parametrize("epoch", [2, 4])
def test_killed_and_started_again_it_stops_at_the_same_epoch(tmp_path, epoch):
    """With averaging from epoch 2 on; the bits are those of a run that was not killed."""
    averaging = {"kind": "et", "epoch": 2}
    run = run_of(epochs=12, learning_rate=5.0, stop={"patience": 2}, averaging=averaging)
    whole = plain(run)
    assert whole.history[-1].averaging
    assert epoch <= len(whole.history) == whole.best_epoch + 2 < 12
    with pytest.raises(Killed):
        trained(run, tmp_path, killed_after(epoch, 3))
    assert_same(trained(run, tmp_path), whole)


def test_a_run_that_has_stopped_does_not_train_on(tmp_path):
    """Started once more from its checkpoint, it takes no step."""
    run, steps = run_of(epochs=12, stop={"patience": 1}), list[Progress]()
    first = trained(run, tmp_path)
    checkpoint, _ = load_checkpoint(tmp_path, run.key)
    assert checkpoint is not None
    assert_same(trained(run, tmp_path, steps.append), first)
    assert steps == []
    assert len(checkpoint.history) == len(first.history) < 12


@pytest.mark.parametrize("together", [False, True])
def test_each_replicate_has_its_own_stop(together):
    """Seeds of one recipe end at different epochs, each by its own losses, alone or together."""
    recipe = small.recipe(learning_rate=60.0, epochs=12, stop={"patience": 1})
    runs = [small.run(recipe_=recipe, replicate=n) for n in range(4)]
    corpus = load_corpus(small.corpus(), None)
    device = torch.device("cpu")
    results = train(runs, corpus, device=device, folders=[None] * 4, together=together)
    assert len({len(result.history) for result in results}) > 1
    for result in results:
        assert end(recipe, losses_of(result)) == len(result.history)


def test_costs_and_keys():
    """A plan counts all epochs, for nobody knows the stop; absent, the option is in no key."""
    plain, stopped = run_of(epochs=12), run_of(epochs=12, stop={"patience": 3})
    assert plain.key != stopped.key
    assert "stop" not in plain.training.identity()["recipe"]
    assert TrainingSpec.of(stopped).recipe.most_epochs == 12
    costs = [cost(PlannedRun(run=run, measurements=())).total for run in (plain, stopped)]
    assert costs[0] == costs[1]
