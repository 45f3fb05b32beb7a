"""The Mixture of Softmaxes output layer."""

from __future__ import annotations

import math
from functools import reduce

import torch
from torch import Tensor
from torch.nn import functional as F

from repro.lm.fused_loss import mixture_loss
from repro.lm.mixture import Mixture
from repro.lm.output.base import OutputLayer
from repro.lm.regularisation import QUIET, Regularisation


class MoSOutput(OutputLayer):
    """p = sum_k prior_k softmax(decoder at latent context k).

    The logarithm of a sum of softmaxes has no structural bound on its rank. ``log_epsilon`` is
    the 1e-8 of log(p + 1e-8) in the authors' code, 0 for log p; with it, the probabilities sum
    to 1 + V 1e-8, in the loss as in the log-probabilities. Reference: Yang et al. 2018.
    """

    def __init__(
        self,
        vocabulary: int,
        embedding_size: int,
        context_size: int,
        components: int,
        log_epsilon: float,
        dtype: torch.dtype,
    ) -> None:
        super().__init__(vocabulary, embedding_size, dtype)
        self.mixture = Mixture(context_size, embedding_size, components, dtype)
        self.log_epsilon = log_epsilon

    def loss(
        self, context_TBD: Tensor, targets_TB: Tensor, regularisation: Regularisation = QUIET
    ) -> Tensor:
        """Mean negative log-probability of the targets, a scalar in nats."""
        mixed = self.mixture(context_TBD, regularisation)
        return mixture_loss(
            mixed.latent.flatten(0, 1),
            mixed.log_prior.flatten(0, 1),
            self.weight,
            self.bias,
            targets_TB.flatten(),
            epsilon=self.log_epsilon,
        )

    def log_probabilities(self, context_TBD: Tensor) -> Tensor:
        """(T, B, D) -> (T, B, V), in nats; components are added one at a time."""
        latent_TBKE, log_prior_TBK = self.mixture(context_TBD, QUIET)
        components = zip(latent_TBKE.unbind(2), log_prior_TBK.split(1, dim=2), strict=True)
        total_TBV = reduce(
            torch.logaddexp,
            (
                F.log_softmax(self.logits(latent_TBE), dim=-1) + share_TB1
                for latent_TBE, share_TB1 in components
            ),
        )
        if self.log_epsilon:
            floor = total_TBV.new_full((), math.log(self.log_epsilon))
            total_TBV = torch.logaddexp(total_TBV, floor)
        return total_TBV
