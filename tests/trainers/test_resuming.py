"""Training that is started again: killed, finished, or with a damaged or foreign checkpoint."""

import shutil

import pytest

from repro.errors import StoreError
from repro.trainers.language_model.checkpoint import FILE_NAME
from repro.trainers.trainer import Progress
from tests.trainers import small
from tests.trainers.replicates import plain
from tests.trainers.trainings import Killed, assert_same, killed_after, resumed, trained


@pytest.mark.parametrize("name", ["softmax", "plif", "mos"])
@pytest.mark.parametrize("epoch", [1, 2, 3, 4])
@pytest.mark.parametrize("step", [0, 7])
def test_killed_and_resumed_equals_uninterrupted(tmp_path, name, epoch, step):
    """Killed at any epoch's beginning or middle and started again, the bits are the same."""
    run = small.run(small.OUTPUTS[name], small.rich_recipe())
    with pytest.raises(Killed):
        trained(run, tmp_path, killed_after(epoch, step))
    assert (tmp_path / FILE_NAME).exists() == (epoch > 1)
    assert_same(trained(run, tmp_path), plain(run))


@pytest.mark.parametrize("name", sorted(small.OUTPUTS.keys() - {"softmax", "plif", "mos"}))
def test_every_output_layer_goes_on_where_it_was_killed(tmp_path, name):
    """Trained twice, and killed in the third epoch and started again: the bits are the same."""
    run = small.run(small.OUTPUTS[name], small.rich_recipe())
    assert_same(trained(run), plain(run))
    assert_same(resumed(run, tmp_path, 3, 7), plain(run))


@pytest.mark.parametrize("name", ["softmax", "moc", "mos"])
def test_a_free_decoder_is_trained_resumed_and_averaged(tmp_path, name):
    """The embedding of its own is in the checkpoint, and learns."""
    tied = small.run(small.OUTPUTS[name], small.rich_recipe())
    model = small.model(small.OUTPUTS[name], decoder="free")
    run = tied.model_copy(update={"training": tied.training.model_copy(update={"model": model})})
    whole = trained(run)
    assert whole.history[-1].train_loss < whole.history[0].train_loss
    assert_same(resumed(run, tmp_path, 3, 7), whole)


def test_resumed_after_the_nt_switch(tmp_path):
    """The history that decides on the switch survives an interruption."""
    rule = {"kind": "nt", "n": 1}
    recipe = small.rich_recipe(epochs=6, averaging=rule, learning_rate=60.0, decay="constant")
    run = small.run(recipe_=recipe)
    whole = trained(run)
    assert [record.averaging for record in whole.history].count(True) in range(1, 6)
    for epoch in (2, 3, 4, 5, 6):
        with pytest.raises(Killed):
            trained(run, tmp_path, killed_after(epoch, 1))
    assert_same(trained(run, tmp_path), whole)


def test_a_finished_run_is_not_trained_again(tmp_path):
    """Started once more, a finished run reports no step and returns the same model."""
    run = small.run()
    first = trained(run, tmp_path)
    steps: list[Progress] = []
    assert_same(trained(run, tmp_path, steps.append), first)
    assert steps == []


def test_a_damaged_checkpoint_means_training_from_the_start(tmp_path):
    """Training starts again, says so in the notes, and ends with the same numbers."""
    run = small.run()
    first = trained(run, tmp_path)
    path = tmp_path / FILE_NAME
    path.write_bytes(path.read_bytes()[:-9])
    again = trained(run, tmp_path)
    assert_same(again, first)
    assert "is damaged" in again.notes[0]
    assert first.notes == ()


def test_the_checkpoint_of_another_run_stops_training(tmp_path):
    """A folder with another run's checkpoint is refused and left as it is."""
    trained(small.run(), tmp_path)
    before = (tmp_path / FILE_NAME).read_bytes()
    with pytest.raises(StoreError, match="belongs to another run"):
        trained(small.run(replicate=1), tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == before


def test_no_temporary_files_are_left(tmp_path):
    """A finished run's folder holds its checkpoint and nothing else."""
    trained(small.run(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]
    shutil.rmtree(tmp_path)
