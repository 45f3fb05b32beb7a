"""SigSoftmax, GSS and PLIF: what becomes of a single logit."""

import pytest
import torch
from torch.nn import functional as F

from repro.trainers.language_model.output.plif import effect, piecewise_linear
from tests.trainers import small
from tests.trainers.test_output import B, T, V, contexts, layer, naive_plif


def gss(c, k):
    return {"kind": "gss", "c": c, "k": k}


def test_gss_0_2_is_sigsoftmax():
    """SigSoftmax is the member of the family with a bend at 0 and slope 2 below it."""
    h = contexts() * 30
    expected = layer(small.SIGSOFTMAX).log_probabilities(h)
    torch.testing.assert_close(layer(gss(0, 2)).log_probabilities(h), expected)


@pytest.mark.parametrize("c", [-1.5, 0, 2])
def test_gss_with_k_1_is_softmax(c):
    """Without a bend the logits stay as they are, bit for bit."""
    h, targets = contexts(), torch.arange(T * B).view(T, B)
    bent, softmax = layer(gss(c, 1)), layer(small.SOFTMAX)
    assert torch.equal(bent.log_probabilities(h), softmax.log_probabilities(h))
    torch.testing.assert_close(bent.loss(h, targets), softmax.loss(h, targets))


@pytest.mark.parametrize(("c", "k"), [(-1.5, 2.5), (-1.5, 3.0), (2, 1.25), (0, 0.5)])
def test_slopes_of_gss_are_1_above_the_bend_and_k_below_it(c, k):
    """Far from c the function is linear: slope 1 to the right, k to the left, (1 + k)/2 at c."""
    z = torch.tensor([c - 60, c, c + 60], dtype=torch.float64, requires_grad=True)
    layer(gss(c, k)).transform(z).sum().backward()
    torch.testing.assert_close(z.grad, torch.tensor([k, (1 + k) / 2, 1], dtype=torch.float64))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("spec", [small.SIGSOFTMAX, gss(-1.5, 2.5), gss(2, 3)])
def test_bent_logits_are_right_where_the_product_leaves_the_numbers(spec, dtype):
    """At ±1e4 the values are those of the asymptotes; exp(z) sigmoid(z) is infinite or 0 there."""
    c, k = spec.get("c", 0), spec.get("k", 2)
    z = torch.tensor([-1e4, -800, 800, 1e4], dtype=dtype)
    expected = torch.where(z < c, k * (z - c) + c, z)
    torch.testing.assert_close(layer(spec, dtype).transform(z), expected)
    assert not (z.exp() * torch.sigmoid(z)).log().isfinite().any()


@pytest.mark.parametrize("name", ["sigsoftmax", "gss", "plif", "jitter"])
def test_a_loss_in_several_chunks_is_the_mean_of_all_rows(name):
    """With 2^18 words a chunk holds 4 of the 12 rows; the loss is that of all log-probabilities."""
    output = small.built(small.model(small.OUTPUTS[name]), 2**18, torch.float32).output
    h, targets = contexts().float(), torch.arange(T * B).view(T, B)
    with torch.no_grad():
        log_p = output.log_probabilities(h).gather(-1, targets.unsqueeze(-1))
        torch.testing.assert_close(output.loss(h, targets), -log_p.mean())


@pytest.mark.parametrize("frozen", [True, False])
def test_the_way_back_through_plif_is_the_slope_of_the_piece(frozen):
    """A logit's gradient is multiplied by the slope where it is; only learned slopes have one."""
    output = layer({"kind": "plif", "pieces": 50, "frozen": frozen})
    z = torch.linspace(-25, 25, 40, dtype=torch.float64).requires_grad_()
    output.transform(z, *output.parameters_of_transform()).sum().backward()
    piece = ((z.detach() + 20) / 0.8).long().clamp(0, 49)
    torch.testing.assert_close(z.grad, F.softplus(output.slopes.detach())[piece])
    assert (output.slopes.grad is None) == frozen


def published_slopes():
    """100,000 slopes as they are drawn, and 20,000 logits of the usual size."""
    model = small.built(small.model({"kind": "plif", "frozen": True}), V)
    slopes = F.softplus(model.get_parameter("output.slopes").detach())
    generator = torch.Generator().manual_seed(8)
    z = 3 * torch.randn(20_000, dtype=torch.float64, generator=generator) - 4
    return slopes, z.requires_grad_()


def test_temperature_is_one_number_there_and_back():
    """Every logit, and its gradient, is multiplied by 1.107, the mean slope."""
    slopes, z = published_slopes()
    forward = effect("temperature", z, slopes, 20.0)
    (back,) = torch.autograd.grad(forward.sum(), z)
    torch.testing.assert_close(forward, slopes.mean() * z)
    assert back.unique().tolist() == pytest.approx([1.107], abs=0.006)


def test_gradient_noise_leaves_the_logits_and_multiplies_their_gradients():
    """Forward not a bit is changed; backward the factors have mean 1 and CV 0.57 (0.626/1.107)."""
    slopes, z = published_slopes()
    forward = effect("gradient_noise", z, slopes, 20.0)
    (back,) = torch.autograd.grad(forward.sum(), z)
    assert torch.equal(forward, z)
    assert back.mean().item() == pytest.approx(1, abs=0.02)
    assert back.std().item() == pytest.approx(0.626 / 1.107, abs=0.02)


def test_jitter_moves_the_logits_a_little_and_leaves_their_gradients():
    """Forward a fixed path is added whose steps over one logit have sd 0.0125; backward nothing."""
    slopes, z = published_slopes()
    forward = effect("jitter", z, slopes, 20.0)
    (back,) = torch.autograd.grad(forward.sum(), z)
    assert (back == 1).all()
    whole = torch.arange(-20, 21, dtype=torch.float64)
    steps = (effect("jitter", whole, slopes, 20.0) - whole).diff()
    assert steps.std().item() == pytest.approx(0.0125, rel=0.35)  # 40 steps: 3 standard errors
    assert (forward - z).abs().max() < 0.3


def test_the_effects_together_are_plif():
    """Temperature plus jitter is f but for a constant; temperature times noise is its slope."""
    slopes, z = published_slopes()
    parts = {n: effect(n, z, slopes, 20.0) for n in ("temperature", "gradient_noise", "jitter")}
    back = {n: torch.autograd.grad(part.sum(), z)[0] for n, part in parts.items()}
    f = piecewise_linear(z, slopes, 20.0)
    constant = f - (parts["temperature"] + parts["jitter"] - z)
    torch.testing.assert_close(constant, torch.full_like(z, 20 * slopes.mean().item()))
    (slope,) = torch.autograd.grad(f.sum(), z)
    torch.testing.assert_close(back["temperature"] * back["gradient_noise"] * back["jitter"], slope)


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
