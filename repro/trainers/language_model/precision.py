"""The precision of the matrix products in training, where a recipe declares one.

``bf16`` rounds both factors and the product to bfloat16 (8 significant bits). ``tf32`` rounds both
factors to TF32 (11 bits) on a GPU, and changes nothing on a CPU. Only products of the trunk and of
the output layer in training steps are rounded: a matrix of rounded log-probabilities looks like one
of full rank. Parameters, sums of gradients, log-sum-exp and losses keep their precision; sums
inside a product are float32.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor
from torch.nn import functional as F

from repro.trainers.language_model.recipe import Products

_in_force: ContextVar[Products | None] = ContextVar("products", default=None)


@contextmanager
def products_in(precision: Products | None) -> Iterator[None]:
    """Matrix products in this precision inside the block, with None in their factors'."""
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    tf32 = matmul.allow_tf32, cudnn.allow_tf32
    rounded_sums = matmul.allow_bf16_reduced_precision_reduction
    token = _in_force.set(precision)
    try:
        matmul.allow_tf32 = cudnn.allow_tf32 = precision == "tf32"
        matmul.allow_bf16_reduced_precision_reduction = False
        yield
    finally:
        _in_force.reset(token)
        matmul.allow_tf32, cudnn.allow_tf32 = tf32
        matmul.allow_bf16_reduced_precision_reduction = rounded_sums


def factor(x: Tensor) -> Tensor:
    """A factor of a product, rounded to bfloat16 where the precision in force is ``bf16``.

    Differentiable; ``x`` itself where there is nothing to round.
    """
    return x.bfloat16() if _in_force.get() == "bf16" else x


def store_product(out: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """``out`` <- a b, by a product in the precision of the factors; ``out`` itself."""
    return torch.mm(a, b, out=out) if a.dtype == out.dtype else out.copy_(torch.mm(a, b))


def add_product(total: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """``total`` <- ``total`` + a b, summed in the precision of ``total``; ``total`` itself."""
    return total.addmm_(a, b) if a.dtype == total.dtype else total.add_(torch.mm(a, b))


def linear(x: Tensor, weight_OI: Tensor, bias_O: Tensor | None = None) -> Tensor:
    """An affine map by a product in the precision in force: (..., I) -> (..., O), typed as ``x``.

    The bias is added in the type of ``x``.
    """
    if factor(x) is x:
        return F.linear(x, weight_OI, bias_O)
    product = F.linear(factor(x), factor(weight_OI)).to(x.dtype)
    return product if bias_O is None else product + bias_O
