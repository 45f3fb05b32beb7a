"""The Mixture of Contexts output layer."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from repro.lm.fused_loss import softmax_loss
from repro.lm.mixture import Mixture
from repro.lm.output.base import OutputLayer
from repro.lm.regularisation import QUIET, Regularisation


class MoCOutput(OutputLayer):
    """p = softmax of the decoder at one context, the mixture of K latent contexts.

    As many parameters as the Mixture of Softmaxes, and the rank bound E + 2 of Softmax.
    Reference: Yang et al. 2018, section 2.4.
    """

    def __init__(
        self,
        vocabulary: int,
        embedding_size: int,
        context_size: int,
        components: int,
        dtype: torch.dtype,
    ) -> None:
        super().__init__(vocabulary, embedding_size, dtype)
        self.mixture = Mixture(context_size, embedding_size, components, dtype)

    def mixed_context(self, context_TBD: Tensor, regularisation: Regularisation) -> Tensor:
        """sum_k prior_k latent_k: (T, B, D) -> (T, B, E)."""
        latent_TBKE, log_prior_TBK = self.mixture(context_TBD, regularisation)
        return torch.einsum("tbk,tbke->tbe", log_prior_TBK.exp(), latent_TBKE)

    def loss(
        self, context_TBD: Tensor, targets_TB: Tensor, regularisation: Regularisation = QUIET
    ) -> Tensor:
        """Mean negative log-probability of the targets, a scalar in nats."""
        rows_NE = self.mixed_context(context_TBD, regularisation).flatten(0, 1)
        return softmax_loss(rows_NE, self.weight, self.bias, targets_TB.flatten())

    def log_probabilities(self, context_TBD: Tensor) -> Tensor:
        """(T, B, D) -> (T, B, V), in nats."""
        return F.log_softmax(self.logits(self.mixed_context(context_TBD, QUIET)), dim=-1)
