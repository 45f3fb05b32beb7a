"""The Softmax output layer."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from repro.trainers.language_model.fused_loss import softmax_loss
from repro.trainers.language_model.output.layer import OutputLayer
from repro.trainers.language_model.regularisation import QUIET, Regularisation


class SoftmaxOutput(OutputLayer):
    """p(v) proportional to exp(w_v . h + b_v).

    The matrix of log-probabilities has rank d + 2 at most, d the size of the decoder (E where it
    is tied, D where it is free): d for the product, one for the bias, one for the normaliser of
    each row.
    """

    def loss(
        self, context_TBD: Tensor, targets_TB: Tensor, regularisation: Regularisation = QUIET
    ) -> Tensor:
        """Mean negative log-probability of the targets, a scalar in nats."""
        del regularisation  # nothing to drop
        rows_NE = context_TBD.flatten(0, 1)
        return softmax_loss(rows_NE, self.weight, self.bias, targets_TB.flatten())

    def log_probabilities(self, context_TBD: Tensor) -> Tensor:
        """(T, B, D) -> (T, B, V), in nats."""
        return F.log_softmax(self.logits(context_TBD), dim=-1)
