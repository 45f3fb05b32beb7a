"""The Generalised SigSoftmax output layer, GSS(c, k)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from repro.lm.output.pointwise import PointwiseOutput
from repro.specs.model import Gss


class GssOutput(PointwiseOutput):
    """p(v) proportional to exp(f(w_v . h + b_v)), f increasing with a smooth bend at c.

    f(z) = z + (k - 1) log sigmoid(z - c). That is the published k (z - c) + c -
    (k - 1) log(1 + e^(z - c)), by log sigmoid(x) = x - log(1 + e^x), with nothing that overflows.
    The slope of f is 1 far above c and k far below it. k = 1 is Softmax, (c, k) = (0, 2) is
    SigSoftmax. Reference: Parthiban et al. 2021.
    """

    def __init__(self, vocabulary: int, embedding_size: int, spec: Gss, dtype: torch.dtype) -> None:
        super().__init__(vocabulary, embedding_size, dtype)
        self.c = spec.c
        self.k = spec.k

    def transform(self, z: Tensor, *parameters: Tensor) -> Tensor:
        """The bent logit."""
        del parameters  # c and k are not learned
        return z + (self.k - 1) * F.logsigmoid(z - self.c)
