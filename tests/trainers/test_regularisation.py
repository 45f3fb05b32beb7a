"""Dropout, noise and penalties."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from repro.trainers.language_model.randomness import Streams
from repro.trainers.language_model.regularisation import (
    QUIET,
    Regularisation,
    activation_penalty,
    temporal_penalty,
)
from tests.trainers import small


def of_epoch(epoch=1, **changes):
    return Regularisation.of_epoch(small.recipe(**changes), Streams(small.run()), epoch)


@pytest.mark.parametrize("place", ["input", "hidden", "output", "latent"])
@pytest.mark.parametrize("p", [0.3, 0.5])
def test_locked_masks_are_constant_in_time(place, p):
    """A locked mask differs between streams and is one and the same at each step of a window."""
    dropped = of_epoch(dropout={place: p}).locked(place, torch.ones(7, 40, 50))
    assert (dropped == dropped[0]).all()
    assert not torch.equal(dropped[0, 0], dropped[0, 1])
    assert sorted(dropped.unique().tolist()) == pytest.approx([0, 1 / (1 - p)])
    assert (dropped[0] == 0).double().mean().item() == pytest.approx(p, abs=0.05)


@pytest.mark.parametrize("p", [0.3, 0.5])
def test_masks_are_numpy_s_own_draws(p):
    """Its uniform numbers, or for one half its bytes, of which each mask begins a new word."""
    stream = Streams(small.run()).open("weight_dropout", 1)
    regularisation = of_epoch(dropout={"weight": p})
    for shape in ((9, 5), (3, 7), (40, 10)):
        size = shape[0] * shape[1]
        kept = (
            np.unpackbits(np.frombuffer(stream.bytes((size + 7) // 8), np.uint8))[:size] == 1
            if p == 0.5
            else stream.random(size, dtype=np.float32) >= np.float32(p)
        )
        found = regularisation.weight(torch.ones(shape)) != 0
        assert np.array_equal(found.numpy(), kept.reshape(shape))


def test_masks_are_fresh_at_each_window():
    """Two windows of an epoch have different masks."""
    regularisation = of_epoch(dropout={"input": 0.5})
    ones = torch.ones(1, 4, 50)
    assert not torch.equal(
        regularisation.locked("input", ones), regularisation.locked("input", ones)
    )


def test_masks_depend_on_the_epoch_alone():
    """The masks of an epoch are the same whatever was drawn before it."""
    ones = torch.ones(1, 4, 50)
    one, again, other = (
        of_epoch(n, dropout={"input": 0.5}).locked("input", ones) for n in (1, 1, 2)
    )
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_embedding_dropout_drops_whole_words():
    """A dropped word is zero wherever it occurs; a kept one is scaled by 1 / (1 - p)."""
    tokens = torch.tensor([[0, 1, 2, 3], [3, 2, 1, 0]])
    embedding = torch.rand(40, 5) + 1
    looked_up = of_epoch(dropout={"embedding": 0.5}).embed(tokens, embedding)
    assert torch.equal(looked_up[0], looked_up[1].flip(0))
    ratio = looked_up[0] / embedding[:4]
    assert (ratio == ratio[:, :1]).all()
    assert set(ratio.unique().tolist()) <= {0.0, 2.0}


def test_embedding_noise_is_not_masked():
    """Noise of the stated deviation is added after the dropout, to dropped words too."""
    tokens = torch.arange(2000).view(100, 20)
    noisy = of_epoch(dropout={"embedding": 0.5}, embedding_noise=0.1).embed(
        tokens, torch.zeros(2000, 10)
    )
    assert noisy.std().item() == pytest.approx(0.1, rel=0.02)
    assert (noisy != 0).all()


@pytest.mark.parametrize("p", [0.25, 0.5])
def test_weight_drop_masks_the_matrix_and_its_gradient(p):
    """Dropped entries are zero and get no gradient; the others are scaled both ways."""
    weight = torch.full((80, 50), 2.0, requires_grad=True)
    dropped = of_epoch(dropout={"weight": p}).weight(weight)
    dropped.sum().backward()
    kept = dropped != 0
    assert kept.double().mean().item() == pytest.approx(1 - p, abs=0.03)
    torch.testing.assert_close(dropped, kept * 2.0 / (1 - p))
    torch.testing.assert_close(weight.grad, kept / (1 - p))


def test_quiet_returns_its_input():
    """Evaluation changes no tensor and draws nothing."""
    x = torch.rand(3, 2, 4)
    assert QUIET.locked("input", x) is x
    assert QUIET.weight(x) is x
    tokens = torch.zeros(3, 2, dtype=torch.int64)
    assert torch.equal(QUIET.embed(tokens, x[0]), x[0][tokens])


def test_penalties_are_the_published_formulas():
    """AR is alpha mean(h^2); TAR is beta times the mean of the squared differences in time."""
    h = torch.rand(5, 3, 4, dtype=torch.float64)
    loops = [
        (h[t + 1, b, i] - h[t, b, i]) ** 2 for t in range(4) for b in range(3) for i in range(4)
    ]
    assert activation_penalty(h, 2.0).item() == pytest.approx(2 * (h.numpy() ** 2).mean())
    assert temporal_penalty(h, 3.0).item() == pytest.approx(3 * float(np.mean(loops)))


def test_a_window_of_one_step_has_no_temporal_penalty():
    """There is no difference to take the mean of, and no NaN."""
    assert temporal_penalty(torch.rand(1, 3, 4), 1.0).item() == 0


def test_random_numbers_in_evaluation_are_a_defect():
    """The quiet instance has no stream to open."""
    with pytest.raises(AssertionError, match="evaluation asked for random numbers"):
        QUIET._stream("input_dropout")
    assert SimpleNamespace(**QUIET._probabilities) == SimpleNamespace()
