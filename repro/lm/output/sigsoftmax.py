"""The SigSoftmax output layer."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from repro.lm.output.pointwise import PointwiseOutput


class SigSoftmaxOutput(PointwiseOutput):
    """p(v) proportional to exp(z_v) sigmoid(z_v), z_v = w_v . h + b_v.

    The product is a sum of logarithms here, and log sigmoid(z) = -log(1 + e^-z) is computed
    without overflow: the exponential alone leaves float32 at z = 88. Reference: Kanai et al. 2018.
    """

    def transform(self, z: Tensor, *parameters: Tensor) -> Tensor:
        """Logit + log sigmoid(logit)."""
        del parameters  # there are none
        return z + F.logsigmoid(z)
