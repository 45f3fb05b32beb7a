"""Losses and log-probabilities of a text."""

import math

import pytest
import torch

from repro.errors import DataError
from repro.trainers.language_model import evaluation
from repro.trainers.language_model.evaluation import log_probability_rows, mean_loss
from tests.trainers import small

V = 30


@pytest.fixture(scope="module")
def model():
    return small.built(small.model(small.MOS), V)


@pytest.fixture(scope="module")
def tokens():
    return small.random_corpus(V, 203).test


def direct(model, tokens, batch_size):
    """One pass over whole columns; (L - 1, B) log-probabilities of the targets and the rows."""
    length = len(tokens) // batch_size
    text = tokens[: length * batch_size].view(batch_size, length).t()
    log_p = model.output.log_probabilities(model(text[:-1], model.zero_state(batch_size)).context)
    return log_p, log_p.gather(-1, text[1:].unsqueeze(-1)).squeeze(-1)


@pytest.mark.parametrize("batch_size", [1, 3])
def test_the_mean_is_over_predicted_tokens(model, tokens, batch_size):
    """The sum of losses is divided by the number of predictions, B less than the tokens used."""
    _, chosen = direct(model, tokens, batch_size)
    loss, count = mean_loss(model, tokens, batch_size)
    assert count == len(tokens) // batch_size * batch_size - batch_size == chosen.numel()
    assert loss == pytest.approx(-chosen.mean().item(), rel=1e-12)


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_every_position_has_one_row(model, tokens, rows, monkeypatch):
    """Blocks hold the rows of all positions once, in order, whatever the size of a block."""
    monkeypatch.setattr(evaluation, "CHUNK_BYTES", rows * V * 8)
    blocks = list(log_probability_rows(model, tokens, 3))
    assert max(map(len, blocks)) <= rows
    log_p, _ = direct(model, tokens, 3)
    torch.testing.assert_close(torch.cat(blocks), log_p.flatten(0, 1))
    assert not blocks[0].requires_grad


def test_blocks_stay_below_the_stated_size():
    """With a large vocabulary a block has at most 64 MiB."""
    model = small.built(small.model(), 20_000, torch.float32)
    sizes = [block.numel() * 4 for block in log_probability_rows(model, torch.arange(1000), 1)]
    assert max(sizes) <= 64 * 2**20
    assert sum(sizes) == 999 * 20_000 * 4


def test_rows_and_loss_agree(model, tokens):
    """The mean of the targets' entries in the rows is the mean loss."""
    rows = torch.cat(list(log_probability_rows(model, tokens, 1)))
    chosen = rows.gather(1, tokens[1:].unsqueeze(1))
    assert mean_loss(model, tokens, 1)[0] == pytest.approx(-chosen.mean().item())


def test_a_uniform_model_has_the_perplexity_of_the_vocabulary(tokens):
    """With a decoder of zeros every word has probability 1 / V."""
    model = small.built(small.model(), V)
    with torch.no_grad():
        model.output.weight.zero_()
    assert math.exp(mean_loss(model, tokens, 1)[0]) == pytest.approx(V)


def test_evaluation_leaves_no_trace(model, tokens):
    """TF32 settings and the weights are afterwards what they were."""
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    mean_loss(model, tokens, 1)
    next(log_probability_rows(model, tokens, 1))
    assert (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32) == before
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_text_too_short_is_an_error(model):
    """More parallel streams than words predict nothing."""
    with pytest.raises(DataError, match="parallel streams"):
        mean_loss(model, torch.arange(5), 5)
