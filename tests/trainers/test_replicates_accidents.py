"""Replicates trained together, of which one diverges, is damaged or was killed."""

import shutil

import pytest
import torch

from repro.trainers.language_model.checkpoint import DAMAGED_NAME, FILE_NAME
from repro.trainers.language_model.training import TrainingReplicate
from repro.trainers.trainer import Progress
from tests.trainers import small
from tests.trainers.replicates import assert_close, plain, runs_of, together
from tests.trainers.trainings import Killed, assert_same, killed_after, trained


@pytest.mark.parametrize("epoch", [1, 3])
def test_one_that_diverges_leaves_the_others_alone(monkeypatch, epoch):
    """NaN in the weights of one replicate, from the first epoch or later, is its own affair."""
    runs = runs_of(3, epochs=4)
    expected = [plain(run) for run in runs]
    begin = TrainingReplicate.begin_epoch

    def poisoned(self):
        stage = begin(self)
        if (self.run.replicate, self.epoch) == (1, epoch):
            for parameter in self.model.parameters():
                parameter.data.fill_(torch.nan)
        return stage

    monkeypatch.setattr(TrainingReplicate, "begin_epoch", poisoned)
    first, second, third = together(runs)
    assert second.diverged == epoch
    assert len(second.history) == epoch - 1
    assert_close(first, expected[0])
    assert_close(third, expected[2])


def test_a_rate_that_one_cannot_bear_is_its_own_affair(monkeypatch):
    """Weights that grow beyond all bounds step by step end one run and no other."""
    runs = runs_of(3)
    expected = [plain(run) for run in runs]
    factor = TrainingReplicate.factor

    def wild(self, stage, own):
        return factor(self, stage, own) * (1e200 if self.run.replicate == 0 else 1.0)

    monkeypatch.setattr(TrainingReplicate, "factor", wild)
    results = together(runs)
    assert results[0].diverged == 1
    for result, alone in zip(results[1:], expected[1:], strict=True):
        assert_close(result, alone)


def test_checkpoints_go_from_plain_to_together_and_back(tmp_path):
    """Begun plain and ended together, or the other way round, at different epochs of each."""
    runs = runs_of(3)
    expected = [plain(run) for run in runs]
    folders = [tmp_path / str(run.replicate) for run in runs]
    for run, folder, epoch in zip(runs[:2], folders, (2, 3), strict=False):
        with pytest.raises(Killed):
            trained(run, folder, killed_after(epoch, 2))
    for result, alone in zip(together(runs, folders), expected, strict=True):
        assert_close(result, alone)
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    with pytest.raises(Killed):
        together(runs, folders, killed_after(3, 2))
    for run, folder, alone in zip(runs, folders, expected, strict=True):
        assert (folder / FILE_NAME).exists()
        assert_close(trained(run, folder), alone)


def test_killed_and_resumed_together_the_bits_are_the_same(tmp_path):
    """Killed in any epoch, a batch ends with the bits of one that was not interrupted."""
    runs = runs_of(3, small.MOS)
    whole = together(runs)
    folders = [tmp_path / str(run.replicate) for run in runs]
    for epoch in (1, 2, 3):
        with pytest.raises(Killed):
            together(runs, folders, killed_after(epoch, 2))
    for one, two in zip(together(runs, folders), whole, strict=True):
        assert_same(one, two)
    seen: list[Progress] = []
    together(runs, folders, seen.append)
    assert seen == []


def test_a_damaged_checkpoint_is_the_damage_of_one(tmp_path):
    """One replicate starts again and says so; the others go on from where they were."""
    runs = runs_of(2)
    folders = [tmp_path / str(run.replicate) for run in runs]
    with pytest.raises(Killed):
        together(runs, folders, killed_after(3, 2))
    path = folders[0] / FILE_NAME
    path.write_bytes(path.read_bytes()[:-9])
    seen: list[Progress] = []
    first, second = together(runs, folders, seen.append)
    assert "is damaged" in first.notes[0]
    assert (folders[0] / DAMAGED_NAME).exists()
    assert second.notes == ()
    assert {where.epoch for where in seen if where.run_key == runs[1].key} == {3}
    assert_close(first, plain(runs[0]))
    assert_close(second, plain(runs[1]))
