"""Each output layer against its formula in float64."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from repro.lm.output.plif import piecewise_linear
from repro.lm.randomness import Streams
from repro.lm.regularisation import QUIET, Regularisation
from tests.lm import small

T, B, V = 4, 3, 30


def layer(output, dtype=torch.float64, **changes):
    return small.built(small.model(output, **changes), V, dtype).output


def contexts(size=6):
    return torch.randn(T, B, size, dtype=torch.float64, generator=torch.Generator().manual_seed(3))


def mixture_parts(output, h):
    mixture = output.mixture
    latent = torch.tanh(h @ mixture.latent_weight.T + mixture.latent_bias)
    prior = torch.softmax(h @ mixture.prior_weight.T, dim=-1)
    return latent.view(T, B, 3, 6), prior


def direct(name, output, h):
    """Probabilities by the formula of the paper, without any care for extreme values."""
    weight, bias = output.weight, output.bias
    if name == "softmax":
        return torch.softmax(h @ weight.T + bias, dim=-1)
    if name in {"plif", "frozen"}:
        return torch.softmax(naive_plif(h @ weight.T + bias, F.softplus(output.slopes), 20.0), -1)
    latent, prior = mixture_parts(output, h)
    if name == "moc":
        return torch.softmax((prior.unsqueeze(-1) * latent).sum(2) @ weight.T + bias, dim=-1)
    return (prior.unsqueeze(-1) * torch.softmax(latent @ weight.T + bias, dim=-1)).sum(2)


def naive_plif(x, slopes, bound):
    """The integral of the slopes from -bound to x, one number at a time."""
    edges = np.linspace(-bound, bound, len(slopes) + 1)
    heights = torch.cat([torch.zeros(1).double(), (slopes * (edges[1] - edges[0])).cumsum(0)])
    values = []
    for z in x.flatten():
        piece = min(max(int((z.item() + bound) / (edges[1] - edges[0])), 0), len(slopes) - 1)
        values.append(heights[piece] + (z - edges[piece]) * slopes[piece])
    return torch.stack(values).view(x.shape)


@pytest.mark.parametrize("name", small.OUTPUTS)
def test_log_probabilities_are_the_logarithm_of_the_formula(name):
    """In float64 each layer agrees with its formula, and each row sums to 1."""
    output, h = layer(small.OUTPUTS[name]), contexts()
    log_p = output.log_probabilities(h)
    torch.testing.assert_close(log_p, direct(name, output, h).log())
    torch.testing.assert_close(log_p.exp().sum(-1), torch.ones(T, B).double())


@pytest.mark.parametrize("name", small.OUTPUTS)
def test_the_loss_is_the_mean_negative_log_probability(name):
    """The loss agrees with the log-probabilities, and its gradients with autograd's."""
    output, h = layer(small.OUTPUTS[name]), contexts().requires_grad_()
    targets = torch.arange(T * B).view(T, B)
    loss = output.loss(h, targets)
    expected = -direct(name, output, h).log().gather(-1, targets.unsqueeze(-1)).mean()
    torch.testing.assert_close(loss, expected)
    tensors = [h, *(p for p in output.parameters() if p.requires_grad)]
    for ours, theirs in zip(
        torch.autograd.grad(loss, tensors), torch.autograd.grad(expected, tensors), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", small.OUTPUTS)
def test_extreme_logits_are_finite(name, dtype):
    """Logits of ±10,000 give finite log-probabilities, losses and gradients."""
    output = layer(small.OUTPUTS[name], dtype)
    with torch.no_grad():
        output.weight.zero_()
        output.bias.copy_(torch.linspace(-1e4, 1e4, V))
    h, targets = contexts().to(dtype), torch.zeros(T, B, dtype=torch.int64)
    assert output.log_probabilities(h).isfinite().all()
    loss = output.loss(h, targets)
    assert loss.item() == pytest.approx(-output.log_probabilities(h)[..., 0].mean().item())
    loss.backward()
    for parameter in output.parameters():
        assert parameter.grad is None or parameter.grad.isfinite().all()


def test_mos_with_epsilon_is_the_papers_log_p_plus_epsilon():
    """The option adds epsilon to the probability, in the loss and in the log-probabilities."""
    epsilon = 1e-4
    output, h = layer({**small.MOS, "log_epsilon": epsilon}), contexts()
    p, targets = direct("mos", output, h), torch.ones(T, B, dtype=torch.int64)
    torch.testing.assert_close(output.log_probabilities(h), (p + epsilon).log())
    torch.testing.assert_close(output.loss(h, targets), -(p[..., 1] + epsilon).log().mean())


@pytest.mark.parametrize("name", ["moc", "mos"])
def test_latent_dropout_is_locked_in_time(name):
    """One mask drops entries of the K latent contexts at every step of a window."""
    recipe = small.recipe(dropout={"latent": 0.5})
    regularisation = Regularisation.of_epoch(recipe, Streams(small.run()), 1)
    mixture = layer(small.OUTPUTS[name]).mixture
    dropped = mixture(contexts(), regularisation).latent == 0
    assert (dropped == dropped[0]).all()
    assert 0.2 < dropped.double().mean() < 0.8
    assert not (mixture(contexts(), QUIET).latent == 0).any()


def test_shares_are_a_distribution_without_bias():
    """The prior has no bias: at a context of zero all components have equal shares."""
    mixture = layer(small.MOS).mixture
    torch.testing.assert_close(
        mixture(torch.zeros(1, 1, 6).double(), QUIET).log_prior.exp(),
        torch.full((1, 1, 3), 1 / 3).double(),
    )


@pytest.mark.parametrize("name", ["softmax", "moc"])
def test_rank_of_softmax_and_moc_is_exactly_the_bound(name):
    """With more contexts than dimensions the log-probabilities have rank d + 2."""
    assert rank(name) == 6 + 2 == small.model(small.OUTPUTS[name]).rank_bound()


def test_rank_of_mos_is_above_the_bound():
    """The logarithm of a sum of softmaxes is not bound by d + 2."""
    assert rank("mos") > 20


def rank(name):
    output = layer(small.OUTPUTS[name])
    with torch.no_grad():
        output.weight.mul_(20)
        output.bias.copy_(torch.linspace(-1, 1, V).square())
        h = torch.randn(200, 1, 6, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
        log_p = output.log_probabilities(4 * h).squeeze(1)
    return int(torch.linalg.matrix_rank(log_p))


def test_piecewise_linear_is_the_integral_of_its_slopes():
    """Inside, at the edges and beyond them the function follows the slope of its piece."""
    slopes = torch.rand(8, dtype=torch.float64) + 0.1
    x = torch.tensor([-50, -20, -19.9, -15, 0, 0.1, 14.9, 20, 50], dtype=torch.float64)
    values = piecewise_linear(x, slopes, 20.0)
    torch.testing.assert_close(values, naive_plif(x, slopes, 20.0))
    assert values[1] == 0
    assert (values.diff() > 0).all()


def test_piecewise_linear_gradients():
    """Finite differences confirm the gradients by the argument and by the slopes."""
    x = torch.linspace(-24, 24, 13, dtype=torch.float64).requires_grad_()
    slopes = (torch.rand(7, dtype=torch.float64) + 0.1).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, s: piecewise_linear(x, s, 20.0), [x, slopes])


def test_plif_starts_with_the_published_slopes():
    """The initial slopes have mean 1.107, standard deviation 0.626 and median 1."""
    model = small.built(small.model({"kind": "plif"}), V)
    slopes = F.softplus(model.get_parameter("output.slopes").detach())
    assert slopes.mean().item() == pytest.approx(1.107, abs=0.01)
    assert slopes.std().item() == pytest.approx(0.626, abs=0.01)
    assert slopes.median().item() == pytest.approx(1, abs=0.01)


def test_unit_slopes_are_softmax():
    """With every slope 1 the layer is Softmax."""
    output = layer({"kind": "plif", "pieces": 64, "initial_sd": 0.0})
    h = contexts()
    expected = F.log_softmax(output.logits(h), dim=-1)
    torch.testing.assert_close(output.log_probabilities(h), expected)


def test_a_diverged_plif_has_a_loss_of_nan():
    """Logits that are not numbers give a loss that is none, not an exception."""
    output = layer(small.PLIF)
    loss = output.loss(contexts() * float("nan"), torch.zeros(T, B, dtype=torch.int64))
    assert loss.isnan()
