"""The PLIF output layer: a monotonic piecewise-linear function of each logit, then Softmax."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from repro.trainers.language_model.output.layer import PointwiseOutput
from repro.trainers.language_model.randomness import Distribution, normal
from repro.trainers.language_model.spec import Effect, Plif


class PlifOutput(PointwiseOutput):
    """p(v) proportional to exp(f(w_v . h + b_v)), f increasing and linear on each of many pieces.

    f(-bound) = 0; its slopes are softplus(v), v the parameter ``slopes``, and beyond the bounds
    it goes on with the slope of the end piece. ``frozen`` slopes stay as they were drawn.
    Reference: Ganea et al. 2019 and the supplement of Parthiban et al. 2021.
    ``only`` keeps one of three effects; see ``effect``.
    """

    def __init__(
        self, vocabulary: int, embedding_size: int, spec: Plif, dtype: torch.dtype
    ) -> None:
        super().__init__(vocabulary, embedding_size, dtype)
        self.bound = spec.bound
        self.initial_deviation = spec.initial_sd
        self.learning_rate = spec.learning_rate
        self.only = spec.only
        self.slopes = nn.Parameter(
            torch.empty(spec.pieces, dtype=dtype), requires_grad=not spec.frozen
        )

    def initial(self) -> Mapping[str, Distribution]:
        """Normal around ln(e - 1), where softplus, the slope, is 1."""
        mean = math.log(math.e - 1)
        return {**super().initial(), "slopes": normal(mean, self.initial_deviation)}

    def learning_rates(self) -> Mapping[str, float]:
        return {"slopes": self.learning_rate}

    def parameters_of_transform(self) -> tuple[Tensor, ...]:
        return (F.softplus(self.slopes),)

    def transform(self, z: Tensor, *parameters: Tensor) -> Tensor:
        """The function f of each logit, or the one effect of it that was asked for."""
        (slopes_P,) = parameters
        if self.only is None:
            return piecewise_linear(z, slopes_P, self.bound)
        return effect(self.only, z, slopes_P, self.bound)


def effect(name: Effect, z: Tensor, slopes_P: Tensor, bound: float) -> Tensor:
    """One of the three effects of frozen slopes w with mean m, and nothing of the others.

    =====================  =====================  ===============================
    effect                 forward                backward, gradient times
    =====================  =====================  ===============================
    ``temperature``        m z                    m
    ``gradient_noise``     z                      w / m of the piece that z is in
    ``jitter``             z + f(z) - m (z + b)   1
    =====================  =====================  ===============================

    b is ``bound``. The whole f has m z + jitter forward (but for a constant) and w backward.
    """
    mean = slopes_P.double().mean().to(slopes_P.dtype)
    fixed = z.detach()
    match name:
        case "temperature":
            return mean * z
        case "gradient_noise":
            noisy = piecewise_linear(z, slopes_P / mean, bound)
            return fixed + (noisy - noisy.detach())  # the difference is 0, its gradient is not
        case "jitter":
            return z + (piecewise_linear(fixed, slopes_P, bound) - mean * (fixed + bound))


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
        own_P = _sum_by(piece, gradient * within, ctx.pieces)
        mass_P = _sum_by(piece, gradient, ctx.pieces)
        right_P = mass_P.flip(0).cumsum(0).flip(0) - mass_P
        return by_x, (own_P + ctx.width * right_P).to(slope.dtype), None


def _sum_by(piece: Tensor, values: Tensor, pieces: int) -> Tensor:
    """The sum of the values of each piece, (pieces,) in float64, in an order that repeats.

    On a GPU ``bincount`` asks the device how many pieces there are and adds as it comes;
    ``index_put_`` sorts first. On a CPU ``bincount`` is faster.
    """
    values_N = values.flatten().double()
    if values_N.device.type == "cpu":
        return torch.bincount(piece, values_N, pieces)
    return values_N.new_zeros(pieces).index_put_((piece,), values_N, accumulate=True)
