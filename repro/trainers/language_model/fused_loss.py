"""Losses over a large vocabulary whose memory does not grow with tokens x components x words.

In the *forward* pass each chunk of rows has its logits, probabilities and gradients computed in a
buffer that the next chunk uses again; only the gradients of the inputs are kept, and the backward
pass scales them. The arithmetic is that of the plain formula.

Where ``products: bf16`` is in force, factors and products are rounded to 8 significant bits, by
up to 2^-8 of their size. A token's loss is then wrong by up to 3 x 2^-7 of its largest
sum |h w|, to no side, so that a mean is right to three digits; gradients by 0.2 to 4 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from repro.trainers.language_model.precision import add_product, factor, store_product
from repro.trainers.language_model.recipe import CHUNK_ELEMENTS

ALIGNMENT = 16
"""Rows of logits begin at multiples of this many: into others, a product is a third slower."""

AUTOGRAD_CHUNK_ELEMENTS = {"cpu": 2**21, "cuda": 2**24}
"""Logits held at a time where autograd keeps several tensors of their size: 8 or 64 MiB each."""


def softmax_loss(
    context_NE: Tensor, weight_VE: Tensor, bias_V: Tensor, targets_N: Tensor
) -> Tensor:
    """Mean over N rows of -log softmax(context weight' + bias)[target], in nats.

    The mixture of one component.
    """
    share_N1 = context_NE.new_zeros(len(context_NE), 1)
    return mixture_loss(context_NE.unsqueeze(1), share_N1, weight_VE, bias_V, targets_N)


def mixture_loss(
    latent_NKE: Tensor,
    log_prior_NK: Tensor,
    weight_VE: Tensor,
    bias_V: Tensor,
    targets_N: Tensor,
    *,
    epsilon: float = 0.0,
) -> Tensor:
    """Mean over N rows of -log(p + epsilon), p = sum_k prior_k softmax(latent_k weight' + bias).

    In nats, a scalar of the inputs' precision. log p is made of the targets' logits and each
    row's log-sum-exp, so it is exact however small p is.
    """
    arguments = (latent_NKE, log_prior_NK, weight_VE, bias_V)
    differentiate = torch.is_grad_enabled() and any(a.requires_grad for a in arguments)
    loss: Tensor = _MixtureLoss.apply(*arguments, targets_N, _Options(epsilon, differentiate))  # type: ignore[no-untyped-call]
    return loss


def chunked_loss(
    loss_of_rows: Callable[..., Tensor],
    rows_NE: Tensor,
    targets_N: Tensor,
    parameters: Sequence[Tensor],
    vocabulary: int,
) -> Tensor:
    """Mean over N rows of a loss that autograd differentiates, with the memory of one chunk.

    ``loss_of_rows(rows, targets, *parameters)`` returns the sum of the losses of some rows and
    depends on no other tensor. For output layers that have no gradient written by hand.
    """
    request = _Request(loss_of_rows, vocabulary, torch.is_grad_enabled())
    loss: Tensor = _ChunkedLoss.apply(request, targets_N, rows_NE, *parameters)  # type: ignore[no-untyped-call]
    return loss


def rows_per_chunk(elements_per_row: int, limit: int) -> int:
    """How many rows fit in a chunk; at least one."""
    return max(1, limit // elements_per_row)


class _Inputs(NamedTuple):
    """Tensors that a mixture loss is differentiated by, or their gradients."""

    latent: Tensor  # (N, K, E)
    log_prior: Tensor  # (N, K)
    weight: Tensor  # (V, E)
    bias: Tensor  # (V,)


class _Options(NamedTuple):
    """What is not a tensor."""

    epsilon: float
    differentiate: bool


class _MixtureLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        latent_NKE: Tensor,
        log_prior_NK: Tensor,
        weight_VE: Tensor,
        bias_V: Tensor,
        targets_N: Tensor,
        options: _Options,
    ) -> Tensor:
        inputs = _Inputs(latent_NKE.contiguous(), log_prior_NK, weight_VE, bias_V)
        gradients = _Inputs(*map(torch.zeros_like, inputs)) if options.differentiate else None
        inputs = inputs._replace(weight=factor(weight_VE))
        N, K, V = *log_prior_NK.shape, len(weight_VE)
        limit = CHUNK_ELEMENTS[latent_NKE.device.type] * (1 if options.differentiate else 2)
        size = min(N, rows_per_chunk(K * V, limit))
        buffer = latent_NKE.new_empty(size * K, math.ceil(V / ALIGNMENT) * ALIGNMENT)[:, :V]
        total = torch.zeros((), dtype=torch.float64, device=latent_NKE.device)
        for start in range(0, N, size):
            rows = slice(start, min(start + size, N))
            total += _mixture_chunk(rows, inputs, targets_N, options.epsilon, buffer, gradients)
        if gradients is not None:
            ctx.save_for_backward(*gradients)
        return (total / N).to(latent_NKE.dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor | None, ...]:
        return (*(gradient * scale for gradient in ctx.saved_tensors), None, None)


def _mixture_chunk(
    rows: slice,
    inputs: _Inputs,
    targets_N: Tensor,
    epsilon: float,
    buffer: Tensor,
    gradients: _Inputs | None,
) -> Tensor:
    """Sum of the losses of n rows (float64); adds their part to ``gradients``.

    With c_k the share of component k in p(y) + epsilon, the derivative of a row's loss by the
    logits of component k is c_k (softmax_k - onehot(y)), and by log prior_k it is -c_k.
    """
    latent_NKE, log_prior_NK, weight_VE, bias_V = inputs
    N, K, E = latent_NKE.shape
    n = rows.stop - rows.start
    latent_RE = factor(latent_NKE[rows].reshape(n * K, E))  # R = n K, the rows of logits
    words_R1 = targets_N[rows].repeat_interleave(K).unsqueeze(1)
    z_RV = store_product(buffer[: n * K], latent_RE, weight_VE.t()).add_(bias_V)
    if gradients is None:
        log_p_R1 = F.log_softmax(z_RV, dim=1).gather(1, words_R1)
    else:
        log_p_R1, sum_R1 = _exponentiate(z_RV, words_R1)
    joint_nK = log_prior_NK[rows] + log_p_R1.view(n, K)
    log_p_n1 = torch.logsumexp(joint_nK, dim=1, keepdim=True)
    if epsilon:
        log_p_n1 = torch.logaddexp(log_p_n1, torch.full_like(log_p_n1, math.log(epsilon)))
    if gradients is not None:
        share_nK = (joint_nK - log_p_n1).exp_().div_(N)
        scale_R1 = share_nK.view(n * K, 1) / sum_R1
        slope_RV = factor(z_RV.scatter_add_(1, words_R1, -sum_R1))  # times scale, dloss / dlogits
        by_latent_RE = gradients.latent[rows].view(n * K, E)
        store_product(by_latent_RE, slope_RV, weight_VE).mul_(scale_R1)
        add_product(gradients.weight, slope_RV.t(), factor(latent_RE * scale_R1))
        gradients.bias.add_(torch.mv(z_RV.t(), scale_R1.squeeze(1)))
        gradients.log_prior[rows] = -share_nK
    return -log_p_n1.sum(dtype=torch.float64)


def _exponentiate(z_RV: Tensor, words_R1: Tensor) -> tuple[Tensor, Tensor]:
    """Logits become their exponentials, the largest of a row 1, in place.

    Returns the words' log-probabilities and the sums of the exponentials, (R, 1) each.
    """
    target_R1 = z_RV.gather(1, words_R1)
    peak_R1 = z_RV.amax(dim=1, keepdim=True)
    z_RV.sub_(peak_R1).exp_()
    sum_R1 = z_RV.sum(dim=1, keepdim=True)
    return target_R1 - peak_R1 - sum_R1.log(), sum_R1


class _Request(NamedTuple):
    """A loss to be differentiated in chunks."""

    loss_of_rows: Callable[..., Tensor]
    vocabulary: int
    differentiate: bool


class _ChunkedLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, request: _Request, targets_N: Tensor, *inputs: Tensor) -> Tensor:
        """``inputs``: the rows (N, E), then the parameters."""
        needed = [request.differentiate and x.requires_grad for x in inputs]
        sums = [torch.zeros_like(x) for x, need in zip(inputs, needed, strict=True) if need]
        total = torch.zeros((), dtype=torch.float64, device=targets_N.device)
        limit = AUTOGRAD_CHUNK_ELEMENTS[targets_N.device.type]
        N, size = len(targets_N), rows_per_chunk(request.vocabulary, limit)
        for start in range(0, N, size):
            rows = slice(start, min(start + size, N))
            leaves = [inputs[0][rows].detach(), *(x.detach() for x in inputs[1:])]
            asked = [x.requires_grad_() for x, need in zip(leaves, needed, strict=True) if need]
            with torch.set_grad_enabled(bool(asked)):
                loss = request.loss_of_rows(leaves[0], targets_N[rows], *leaves[1:]) / N
            total += loss.detach()
            if asked:
                parts = [sums[0][rows], *sums[1:]] if needed[0] else sums
                for part, gradient in zip(parts, torch.autograd.grad(loss, asked), strict=True):
                    part.add_(gradient)
        gradients = iter(sums)
        ctx.save_for_backward(*(next(gradients) if need else None for need in needed))
        return total.to(inputs[0].dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor | None, ...]:
        return (None, None, *(None if g is None else g * scale for g in ctx.saved_tensors))
