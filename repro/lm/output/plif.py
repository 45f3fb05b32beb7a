"""The PLIF output layer: a monotonic piecewise-linear function of each logit, then Softmax."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from repro.lm.fused_loss import chunked_loss
from repro.lm.initialisation import Distribution, normal
from repro.lm.output.base import OutputLayer
from repro.lm.regularisation import QUIET, Regularisation
from repro.specs.model import Plif


class PlifOutput(OutputLayer):
    """p(v) proportional to exp(f(w_v . h + b_v)), f increasing and linear on each of many pieces.

    f(-bound) = 0; its slopes are softplus(v), v the parameter ``slopes``, and beyond the bounds
    it goes on with the slope of the end piece. ``frozen`` slopes stay as they were drawn.
    On a GPU the slopes' gradient is summed in no fixed order, so learned slopes do not repeat
    bit for bit there. Reference: Ganea et al. 2019 and the supplement of Parthiban et al. 2021.
    """

    def __init__(
        self, vocabulary: int, embedding_size: int, spec: Plif, dtype: torch.dtype
    ) -> None:
        super().__init__(vocabulary, embedding_size, dtype)
        self.bound = spec.bound
        self.initial_deviation = spec.initial_sd
        self.learning_rate = spec.learning_rate
        self.slopes = nn.Parameter(
            torch.empty(spec.pieces, dtype=dtype), requires_grad=not spec.frozen
        )

    def initial(self) -> Mapping[str, Distribution]:
        """Normal around ln(e - 1), where softplus, the slope, is 1."""
        mean = math.log(math.e - 1)
        return {**super().initial(), "slopes": normal(mean, self.initial_deviation)}

    def loss(
        self, context_TBD: Tensor, targets_TB: Tensor, regularisation: Regularisation = QUIET
    ) -> Tensor:
        """Mean negative log-probability of the targets, a scalar in nats."""
        del regularisation  # nothing to drop

        def loss_of_rows(
            rows_NE: Tensor, targets_N: Tensor, weight: Tensor, bias: Tensor, slopes: Tensor
        ) -> Tensor:
            z_NV = piecewise_linear(F.linear(rows_NE, weight, bias), slopes, self.bound)
            return F.cross_entropy(z_NV, targets_N, reduction="sum")

        return chunked_loss(
            loss_of_rows,
            context_TBD.flatten(0, 1),
            targets_TB.flatten(),
            (self.weight, self.bias, F.softplus(self.slopes)),
            len(self.weight),
        )

    def log_probabilities(self, context_TBD: Tensor) -> Tensor:
        """(T, B, D) -> (T, B, V), in nats."""
        z_TBV = self.logits(context_TBD)
        return F.log_softmax(piecewise_linear(z_TBV, F.softplus(self.slopes), self.bound), dim=-1)


def piecewise_linear(x: Tensor, slopes_P: Tensor, bound: float) -> Tensor:
    """f(x) with f(-bound) = 0 and slope ``slopes_P[i]`` on the i-th of P equal pieces of ±bound.

    Any shape of ``x``; differentiable by ``x`` (the slope of its piece) and by the slopes.
    """
    result: Tensor = _PiecewiseLinear.apply(x, slopes_P, bound)  # type: ignore[no-untyped-call]
    return result


class _PiecewiseLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, slopes_P: Tensor, bound: float) -> Tensor:
        pieces = len(slopes_P)
        width = 2 * bound / pieces
        # nan_to_num: a diverged model's loss is to become NaN, not an index out of range
        piece = ((x + bound) / width).clamp_(0, pieces - 1).nan_to_num_(0.0).flatten().long()
        within = (x + bound).sub_(piece.view_as(x).to(x.dtype), alpha=width)  # from its left end
        rise_P = slopes_P.double().cumsum(0) * width  # at the right end of each piece
        left_P = F.pad(rise_P[:-1], (1, 0)).to(x.dtype)
        slope = slopes_P.index_select(0, piece).view_as(x)  # flat: indexing is 3 times slower
        ctx.save_for_backward(piece, within, slope)
        ctx.width, ctx.pieces = width, pieces
        return left_P.index_select(0, piece).view_as(x).addcmul_(within, slope)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        piece, within, slope = ctx.saved_tensors
        by_x = gradient * slope
        if not ctx.needs_input_grad[1]:
            return by_x, None, None
        # a slope acts within its own piece, and lifts everything to the right of it
        own_P = torch.bincount(piece, (gradient * within).flatten().double(), ctx.pieces)
        mass_P = torch.bincount(piece, gradient.flatten().double(), ctx.pieces)
        right_P = mass_P.flip(0).cumsum(0).flip(0) - mass_P
        return by_x, (own_P + ctx.width * right_P).to(slope.dtype), None
