"""Small runs trained here, killed where a test wants it, and compared bit for bit."""

import pytest
import torch

from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.language_model.training import train

CPU = torch.device("cpu")


class Killed(BaseException):
    """What a signal would do."""


def trained(run, folder=None, progress=None):
    corpus = load_corpus(TrainingSpec.of(run).corpus, None)
    (result,) = train([run], corpus, device=CPU, folders=[folder], progress=progress)
    return result


def assert_same(one, two):
    """Bit for bit."""
    assert one.history == two.history
    assert one.best_epoch == two.best_epoch
    assert one.diverged == two.diverged
    ours, theirs = one.model.state_dict(), two.model.state_dict()
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def killed_after(epoch, step):
    def progress(where):
        if (where.epoch, where.step) == (epoch, step):
            raise Killed

    return progress


def resumed(run, folder, epoch, step):
    """What a run ends with that is killed at this step and started again."""
    with pytest.raises(Killed):
        trained(run, folder, killed_after(epoch, step))
    return trained(run, folder)
