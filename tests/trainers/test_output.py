"""Each output layer against its formula in float64."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from repro.trainers.language_model.randomness import Streams
from repro.trainers.language_model.regularisation import QUIET, Regularisation
from tests.trainers import small

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
    if name in POINTWISE:
        return torch.softmax(POINTWISE[name](h @ weight.T + bias, output), dim=-1)
    latent, prior = mixture_parts(output, h)
    if name == "moc":
        return torch.softmax((prior.unsqueeze(-1) * latent).sum(2) @ weight.T + bias, dim=-1)
    return (prior.unsqueeze(-1) * torch.softmax(latent @ weight.T + bias, dim=-1)).sum(2)


def naive_effect(name, z, output):
    """The effects of frozen slopes by their table; ``fixed`` has no way back."""
    slopes, fixed = F.softplus(output.slopes), z.detach()
    if name == "temperature":
        return slopes.mean() * z
    if name == "jitter":
        return z + naive_plif(fixed, slopes, 20.0) - slopes.mean() * (fixed + 20)
    piece = ((fixed + 20) / (40 / len(slopes))).long().clamp(0, len(slopes) - 1)
    return fixed + (z - fixed) * (slopes[piece] / slopes.mean())


POINTWISE: dict[str, Callable[..., torch.Tensor]] = {
    "softmax": lambda z, _: z,
    "sigsoftmax": lambda z, _: (z.exp() * torch.sigmoid(z)).log(),
    "gss": lambda z, _: 2.5 * (z + 1.5) - 1.5 - 1.5 * (1 + (z + 1.5).exp()).log(),
    "plif": lambda z, output: naive_plif(z, F.softplus(output.slopes), 20.0),
    "frozen": lambda z, output: naive_plif(z, F.softplus(output.slopes), 20.0),
    **{name: partial(naive_effect, name) for name in ("temperature", "gradient_noise", "jitter")},
}


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


@pytest.mark.parametrize("name", sorted(small.OUTPUTS.keys() - {"gradient_noise", "jitter"}))
def test_finite_differences_confirm_the_gradients_of_the_loss(name):
    """The gradients by the contexts and by every trained parameter are those of the loss."""
    output, h = layer(small.OUTPUTS[name]), contexts().requires_grad_()
    targets = torch.arange(T * B).view(T, B)
    trained = [p for p in output.parameters() if p.requires_grad]
    assert torch.autograd.gradcheck(lambda h, *_: output.loss(h, targets), [h, *trained])


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


@pytest.mark.parametrize("name", ["moc", "mos"])
def test_a_mixture_of_one_is_softmax_after_tanh(name):
    """K = 1 is Softmax of one more layer with tanh, whose share is 1."""
    output, h = layer({"kind": name, "components": 1}), contexts()
    mixture, targets = output.mixture, torch.arange(T * B).view(T, B)
    latent = torch.tanh(h @ mixture.latent_weight.T + mixture.latent_bias)
    expected = F.log_softmax(latent @ output.weight.T + output.bias, dim=-1)
    torch.testing.assert_close(output.log_probabilities(h), expected)
    loss = F.nll_loss(expected.flatten(0, 1), targets.flatten())
    torch.testing.assert_close(output.loss(h, targets), loss)


def test_epsilon_alone_lifts_the_rank_of_a_mixture_of_one():
    """K = 1 has rank d + 2 by log p, and far more by log(p + 1e-8): a floor is not linear."""
    one = {"kind": "mos", "components": 1}
    assert rank(one) == 6 + 2
    assert rank({**one, "log_epsilon": 1e-8}) > 20


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
    dropped = mixture(contexts(), regularisation)[0] == 0
    assert (dropped == dropped[0]).all()
    assert 0.2 < dropped.double().mean() < 0.8
    assert not (mixture(contexts(), QUIET)[0] == 0).any()


def test_shares_are_a_distribution_without_bias():
    """The prior has no bias: at a context of zero all components have equal shares."""
    mixture = layer(small.MOS).mixture
    torch.testing.assert_close(
        mixture(torch.zeros(1, 1, 6).double(), QUIET)[1].exp(),
        torch.full((1, 1, 3), 1 / 3).double(),
    )


@pytest.mark.parametrize("name", ["softmax", "moc", "temperature", "gradient_noise"])
def test_rank_of_logits_that_are_left_as_they_are_is_exactly_the_bound(name):
    """With more contexts than dimensions the log-probabilities have rank d + 2."""
    spec = small.OUTPUTS[name]
    assert rank(spec) == 6 + 2 == small.model(spec).rank_bound()


@pytest.mark.parametrize("name", ["mos", "sigsoftmax", "gss", "plif", "frozen", "jitter"])
def test_rank_of_the_others_is_above_the_bound(name):
    """Neither a sum of softmaxes nor a bend in the logits is bound by d + 2."""
    assert rank(small.OUTPUTS[name]) > 20
    assert small.model(small.OUTPUTS[name]).rank_bound() is None


def rank(spec):
    output = layer(spec)
    with torch.no_grad():
        output.weight.mul_(20)
        output.bias.copy_(torch.linspace(-1, 1, V).square())
        h = torch.randn(200, 1, 6, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
        log_p = output.log_probabilities(4 * h).squeeze(1)
    return int(torch.linalg.matrix_rank(log_p))
