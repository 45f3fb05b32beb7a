"""The perplexity of responses."""

import math

import pytest
import torch

from repro.trainers.dialog.corpus import batch_of
from repro.trainers.dialog.training import contexts, mean_loss
from tests.trainers import small
from tests.trainers.dialog import tiny

SPLIT = tiny.random_split()


@pytest.mark.parametrize("batch_size", [1, 3, 7, 100])
def test_the_mean_is_over_tokens_whatever_the_batch(batch_size):
    """Every token of every response counts once, </s> too."""
    model, total = tiny.built(small.MOS), 0.0
    for example in SPLIT.examples:
        batch = batch_of(SPLIT, [example])
        log_p = model.output.log_probabilities(model(batch)).squeeze(0)
        total -= log_p.gather(1, batch.targets.unsqueeze(1)).sum().item()
    loss, count = mean_loss(model, SPLIT, batch_size)
    assert count == SPLIT.predicted
    assert loss == pytest.approx(total / count, rel=1e-12)


def test_a_uniform_model_has_the_perplexity_of_the_vocabulary():
    """With a decoder of zeros every word has probability 1 / V."""
    model = tiny.built()
    with torch.no_grad():
        model.output.weight.zero_()
    assert math.exp(mean_loss(model, SPLIT)[0]) == pytest.approx(tiny.V)


def test_evaluation_leaves_no_trace():
    """No gradient is kept, and TF32 settings are afterwards what they were."""
    model = tiny.built()
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    mean_loss(model, SPLIT)
    context, targets = next(contexts(model, SPLIT))
    assert (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32) == before
    assert not context.requires_grad
    assert context.shape == (*targets.shape, 8)
