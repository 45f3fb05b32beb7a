"""Replicates of one configuration, trained together and each by itself, and compared."""

from functools import cache

import torch

from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.training import train
from tests.trainers import small
from tests.trainers.trainings import CPU, trained

TIGHT = {"rtol": 1e-11, "atol": 1e-11}


def runs_of(count=3, output=small.SOFTMAX, decoder=None, tokens=240, **changes):
    """Replicates in float64, with everything at once that they could share by mistake."""
    values = {"epochs": 3, "precision": "float64", "averaging": {"kind": "et", "epoch": 1}}
    first = small.run(output, small.rich_recipe(**{**values, **changes}))
    parts = {
        "model": small.model(output, decoder=decoder),
        "corpus": small.corpus(tokens={"train": tokens, "valid": 60, "test": 60}),
    }
    training = first.training.model_copy(update=parts)
    return [
        first.model_copy(update={"training": training, "replicate": replicate})
        for replicate in range(count)
    ]


@cache
def plain(run):
    """A run by itself; no test changes it."""
    return trained(run)


def together(runs, folders=None, progress=None):
    corpus = load_corpus(runs[0].training.corpus, None)
    folders = folders or [None] * len(runs)
    return train(runs, corpus, device=CPU, folders=folders, progress=progress, together=True)


def assert_close(one, two, **tolerance):
    """The same epochs and decisions, and numbers within a tolerance (by default a tight one)."""
    tolerance = tolerance or TIGHT
    assert one.run.key == two.run.key
    assert (one.best_epoch, one.diverged) == (two.best_epoch, two.diverged)
    for ours, theirs in zip(one.history, two.history, strict=True):
        for name in ("epoch", "averaging", "tokens"):
            assert getattr(ours, name) == getattr(theirs, name)
        for name in ("train_loss", "valid_loss", "window_loss"):
            torch.testing.assert_close(getattr(ours, name), getattr(theirs, name), **tolerance)
    torch.testing.assert_close(one.model.state_dict(), two.model.state_dict(), **tolerance)
