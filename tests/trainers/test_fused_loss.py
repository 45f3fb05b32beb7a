"""The fused losses against the plain formulas."""

import pytest
import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from repro.trainers.language_model import fused_loss
from repro.trainers.language_model.fused_loss import chunked_loss, mixture_loss, softmax_loss
from repro.trainers.language_model.recipe import CHUNK_ELEMENTS

N, K, E, V = 23, 3, 5, 17
PADDED_V = 32


def inputs(scale=1.0, dtype=torch.float64, *, rows=N, components=K, size=E, vocabulary=V):
    N, K, E, V = rows, components, size, vocabulary
    generator = torch.Generator().manual_seed(1)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    latent, weight, bias = normal(N, K, E) * scale, normal(V, E), normal(V)
    log_prior = F.log_softmax(normal(N, K), dim=-1)
    targets = torch.randint(V, (N,), generator=generator)
    return [*(x.to(dtype).requires_grad_() for x in (latent, log_prior, weight, bias)), targets]


def naive(latent, log_prior, weight, bias, targets, epsilon=0.0):
    """-log of the probability that the formula gives, everything held at once."""
    log_p_NKV = F.log_softmax(latent @ weight.T + bias, dim=-1)
    p_NV = (log_prior.unsqueeze(-1) + log_p_NKV).exp().sum(dim=1)
    return -(p_NV.gather(1, targets[:, None]) + epsilon).log().mean()


def assert_agree(fused, plain, tensors):
    torch.testing.assert_close(fused, plain, rtol=1e-12, atol=0)
    for ours, theirs in zip(
        torch.autograd.grad(fused * 3, tensors),
        torch.autograd.grad(plain * 3, tensors),
        strict=True,
    ):
        largest = max(1.0, theirs.abs().max().item())
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-14 * largest)


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    """Four rows a chunk, so that a small case has many chunks and an incomplete one."""
    monkeypatch.setitem(CHUNK_ELEMENTS, "cpu", 4 * K * V)
    monkeypatch.setitem(fused_loss.AUTOGRAD_CHUNK_ELEMENTS, "cpu", 4 * K * V)


@pytest.mark.parametrize("epsilon", [0.0, 1e-8, 1e-3])
def test_loss_and_gradients_are_those_of_the_formula(epsilon):
    """In float64 loss and all four gradients agree with autograd on the plain formula."""
    arguments = inputs()
    assert_agree(
        mixture_loss(*arguments, epsilon=epsilon), naive(*[*arguments, epsilon]), arguments[:4]
    )


def test_float32_is_accurate_to_a_millionth():
    """Single precision is within 1e-6 of the float64 formula, loss and gradients."""
    *tensors, targets = arguments = inputs(scale=3, dtype=torch.float32)
    exact = [x.detach().double().requires_grad_() for x in tensors]
    fused, plain = mixture_loss(*arguments), naive(*[*exact, targets])
    assert abs(fused.item() - plain.item()) < 1e-6 * plain.item()
    for ours, theirs in zip(
        torch.autograd.grad(fused, tensors), torch.autograd.grad(plain, exact), strict=True
    ):
        assert (ours.double() - theirs).abs().max() < 1e-6 * max(1.0, theirs.abs().max().item())
        assert (ours.double() - theirs).norm() < 1e-6 * theirs.norm()


@pytest.mark.parametrize("epsilon", [0.0, 1e-2])
def test_gradcheck(epsilon):
    """Finite differences confirm the gradients that were written by hand."""
    latent, log_prior, weight, bias, targets = inputs()
    few = [latent[:6], log_prior[:6], weight, bias]
    assert torch.autograd.gradcheck(
        lambda *x: mixture_loss(*[*x, targets[:6]], epsilon=epsilon),
        [x.detach().requires_grad_() for x in few],
        atol=1e-7,
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("sign", [1, -1])
def test_extreme_logits_are_exact(dtype, sign):
    """With logits of ±10,000 the loss is their difference and the gradients are finite."""
    latent = torch.full((1, 1, 1), 1e4 * sign, dtype=dtype, requires_grad=True)
    weight = torch.tensor([[1.0], [-1.0], [0.0]], dtype=dtype, requires_grad=True)
    bias = torch.zeros(3, dtype=dtype)
    log_prior = torch.zeros(1, 1, dtype=dtype, requires_grad=True)
    loss = mixture_loss(latent, log_prior, weight, bias, torch.tensor([0]))
    assert loss.item() == (0 if sign == 1 else 2e4)
    for gradient in torch.autograd.grad(loss, [latent, log_prior, weight]):
        assert gradient.isfinite().all()


def test_softmax_is_the_mixture_of_one():
    """The Softmax loss is cross-entropy, with its gradients."""
    latent, _, weight, bias, targets = inputs()
    rows = latent[:, 0].detach().requires_grad_()
    tensors = [rows, weight, bias]
    fused, plain = (
        softmax_loss(rows, weight, bias, targets),
        F.cross_entropy(rows @ weight.T + bias, targets),
    )
    torch.testing.assert_close(fused, plain)
    for ours, theirs in zip(
        torch.autograd.grad(fused, tensors), torch.autograd.grad(plain, tensors), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


class Largest(TorchDispatchMode):
    """Records the number of elements of the largest tensor that any operation returns."""

    elements = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else [result]:
            if isinstance(tensor, torch.Tensor):
                self.elements = max(self.elements, tensor.numel())
        return result


@pytest.mark.parametrize("differentiate", [True, False])
def test_nothing_of_the_size_of_all_logits_is_ever_created(differentiate):
    """The largest tensor is a chunk of logits; the plain formula creates one of N K V."""
    arguments = inputs()
    with Largest() as plain:
        naive(*arguments).backward()
    with Largest() as fused, torch.set_grad_enabled(differentiate):
        loss = mixture_loss(*arguments)
        if differentiate:
            loss.backward()
    assert plain.elements >= N * K * V
    rows = 4 if differentiate else 8
    assert fused.elements <= max(rows * K * PADDED_V, N * K * E) < N * K * V


@pytest.mark.parametrize("components", [1, 5, 15, 30])
def test_the_largest_tensor_is_the_same_for_any_number_of_components(components, monkeypatch):
    """From K = 1 to 30 a chunk has the stated number of logits; all of them would be 40 K V."""
    monkeypatch.setitem(CHUNK_ELEMENTS, "cpu", 2**14)
    arguments = inputs(rows=40, components=components, size=3, vocabulary=512)
    with Largest() as largest:
        mixture_loss(*arguments).backward()
    assert 0.9 * 2**14 <= largest.elements <= 2**14 < 40 * components * 512


@pytest.mark.parametrize("components", [1, 2, 15, 30])
@pytest.mark.parametrize("rows", [1, 2, 22, 23, 24])
def test_chunks_have_no_edge(components, rows, monkeypatch):
    """Whatever the rows of a chunk, loss and gradients in float64 are those of the formula."""
    monkeypatch.setitem(CHUNK_ELEMENTS, "cpu", rows * components * V)
    arguments = inputs(components=components)
    assert_agree(mixture_loss(*arguments, epsilon=1e-8), naive(*[*arguments, 1e-8]), arguments[:4])


def test_extreme_logits_of_a_mixture():
    """Logits of ±10,000 in three components: loss and gradients are those of log-sum-exp."""
    generator = torch.Generator().manual_seed(2)
    signs = torch.randint(2, (N, K, 1), generator=generator, dtype=torch.float64) * 2 - 1
    _, log_prior, weight, bias, targets = inputs()
    latent = (1e4 * signs).requires_grad_()
    weight = (weight[:, :1] / weight[:, :1].abs().max()).detach().requires_grad_()
    tensors = [latent, log_prior, weight, bias]
    log_p_NKV = F.log_softmax(latent @ weight.T + bias, dim=-1) + log_prior.unsqueeze(-1)
    plain = -log_p_NKV.logsumexp(dim=1).gather(1, targets[:, None]).mean()
    assert plain > 1e3
    assert_agree(mixture_loss(*[*tensors, targets]), plain, tensors)


@pytest.mark.parametrize("epsilon", [0.0, 1e-8])
@pytest.mark.parametrize("size", [1.0, 10.0])
def test_without_gradients_nothing_is_kept(epsilon, size):
    """Under no_grad the loss is that of the formula and belongs to no graph."""
    latent, *rest = inputs()
    arguments = [latent.detach() * size, *rest]
    with torch.no_grad():
        loss = mixture_loss(*arguments, epsilon=epsilon)
        plain = naive(*[*arguments, epsilon])
    assert not loss.requires_grad
    assert loss.item() == pytest.approx(mixture_loss(*arguments, epsilon=epsilon).item(), rel=1e-13)
    assert loss.item() == pytest.approx(plain.item(), rel=1e-12)


def test_chunked_loss_is_the_loss_of_all_rows():
    """A loss differentiated chunk by chunk has the value and gradients of the whole."""
    latent, _, weight, bias, targets = inputs()
    rows = latent[:, 0].detach().requires_grad_()
    frozen = bias.detach()

    def loss_of_rows(rows, targets, weight, bias):
        return F.cross_entropy((rows @ weight.T + bias).sin(), targets, reduction="sum")

    chunked = chunked_loss(loss_of_rows, rows, targets, [weight, frozen], V)
    plain = loss_of_rows(rows, targets, weight, frozen) / N
    torch.testing.assert_close(chunked, plain)
    for ours, theirs in zip(
        torch.autograd.grad(chunked, [rows, weight]),
        torch.autograd.grad(plain, [rows, weight]),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs)


def test_chunked_loss_with_frozen_rows():
    """Parameters get their gradient when the rows need none."""
    latent, _, weight, bias, targets = inputs()
    rows = latent[:, 0].detach()

    def loss_of_rows(rows, targets, weight, bias):
        return F.cross_entropy(rows @ weight.T + bias, targets, reduction="sum")

    chunked = chunked_loss(loss_of_rows, rows, targets, [weight, bias], V)
    plain = F.cross_entropy(rows @ weight.T + bias, targets)
    torch.testing.assert_close(
        torch.autograd.grad(chunked, bias)[0], torch.autograd.grad(plain, bias)[0]
    )
