"""Output layers: what each is; Softmax, and Softmax of a function of each logit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from repro.trainers.language_model.fused_loss import chunked_loss, softmax_loss
from repro.trainers.language_model.precision import linear
from repro.trainers.language_model.randomness import Distribution, Initialised, uniform, zeros
from repro.trainers.language_model.regularisation import QUIET, Regularisation
from repro.trainers.language_model.spec import Gss


class OutputLayer(Initialised):
    """Contexts -> distributions over the vocabulary.

    ``weight`` (V, E) is the decoder's matrix and, tied, the embedding of the words; ``bias``
    (V,) is the decoder's. E is the size of the decoder: D but for mixtures and a user's own.
    Subclasses are finite for logits up to 1e4 in size, in the precision of their parameters.
    """

    def __init__(self, vocabulary: int, embedding_size: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, embedding_size, dtype=dtype))
        self.bias = nn.Parameter(torch.empty(vocabulary, dtype=dtype))

    def initial(self) -> Mapping[str, Distribution]:
        """U(-0.1, 0.1) for the matrix, 0 for the bias."""
        return {"weight": uniform(0.1), "bias": zeros()}

    def learning_rates(self) -> Mapping[str, float]:
        """Rates of parameters that do not have the recipe's, by name in this layer; none."""
        return {}

    def logits(self, context: Tensor) -> Tensor:
        """(..., E) -> (..., V)."""
        return linear(context, self.weight, self.bias)

    @abstractmethod
    def loss(
        self, context_TBD: Tensor, targets_TB: Tensor, regularisation: Regularisation = QUIET
    ) -> Tensor:
        """Mean negative log-probability of the targets, a scalar in nats."""

    @abstractmethod
    def log_probabilities(self, context_TBD: Tensor) -> Tensor:
        """(T, B, D) -> (T, B, V), in nats."""


class SoftmaxOutput(OutputLayer):
    """p(v) proportional to exp(w_v . h + b_v).

    The matrix of log-probabilities has rank d + 2 at most; see ``spec.linear_bound``.
    """

    def loss(
        self, context_TBD: Tensor, targets_TB: Tensor, regularisation: Regularisation = QUIET
    ) -> Tensor:
        rows_NE = context_TBD.flatten(0, 1)
        return softmax_loss(rows_NE, self.weight, self.bias, targets_TB.flatten())

    def log_probabilities(self, context_TBD: Tensor) -> Tensor:
        return F.log_softmax(self.logits(context_TBD), dim=-1)


class PointwiseOutput(OutputLayer):
    """p(v) proportional to exp(f(z_v)), z_v = w_v . h + b_v, with one f for all words.

    An f that is not linear lifts the bound E + 2 on the rank. No more than one chunk of logits
    is held in training; autograd differentiates ``transform``.
    """

    def parameters_of_transform(self) -> tuple[Tensor, ...]:
        """Tensors that f depends on besides the logit; none by default."""
        return ()

    @abstractmethod
    def transform(self, z: Tensor, *parameters: Tensor) -> Tensor:
        """f(z) of any shape, given the ``parameters_of_transform`` and no other tensor."""

    def loss(
        self, context_TBD: Tensor, targets_TB: Tensor, regularisation: Regularisation = QUIET
    ) -> Tensor:

        def loss_of_rows(
            rows_NE: Tensor, targets_N: Tensor, weight: Tensor, bias: Tensor, *parameters: Tensor
        ) -> Tensor:
            z_NV = self.transform(linear(rows_NE, weight, bias), *parameters)
            return F.cross_entropy(z_NV, targets_N, reduction="sum")

        return chunked_loss(
            loss_of_rows,
            context_TBD.flatten(0, 1),
            targets_TB.flatten(),
            (self.weight, self.bias, *self.parameters_of_transform()),
            len(self.weight),
        )

    def log_probabilities(self, context_TBD: Tensor) -> Tensor:
        z_TBV = self.transform(self.logits(context_TBD), *self.parameters_of_transform())
        return F.log_softmax(z_TBV, dim=-1)


class SigSoftmaxOutput(PointwiseOutput):
    """p(v) proportional to exp(z_v) sigmoid(z_v), z_v = w_v . h + b_v.

    The product is a sum of logarithms here, and log sigmoid(z) = -log(1 + e^-z) is computed
    without overflow: the exponential alone leaves float32 at z = 88. Reference: Kanai et al. 2018.
    """

    def transform(self, z: Tensor, *parameters: Tensor) -> Tensor:
        return z + F.logsigmoid(z)


class GssOutput(PointwiseOutput):
    """p(v) proportional to exp(f(w_v . h + b_v)), f increasing with a smooth bend at c.

    f(z) = z + (k - 1) log sigmoid(z - c), which is the published k (z - c) + c -
    (k - 1) log(1 + e^(z - c)) with nothing that overflows. Reference: Parthiban et al. 2021.
    """

    def __init__(self, vocabulary: int, embedding_size: int, spec: Gss, dtype: torch.dtype) -> None:
        super().__init__(vocabulary, embedding_size, dtype)
        self.c = spec.c
        self.k = spec.k

    def transform(self, z: Tensor, *parameters: Tensor) -> Tensor:
        return z + (self.k - 1) * F.logsigmoid(z - self.c)
