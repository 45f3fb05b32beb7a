"""What every output layer is: a decoder, a loss, log-probabilities."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from repro.trainers.language_model.precision import linear
from repro.trainers.language_model.randomness import Distribution, Initialised, uniform, zeros
from repro.trainers.language_model.regularisation import QUIET, Regularisation


class OutputLayer(Initialised):
    """Contexts -> distributions over the vocabulary.

    ``weight`` (V, E) is the decoder's matrix and, tied, the embedding of the words; ``bias``
    (V,) is the decoder's. E is the size of the decoder: where it is free (``decoder: free``, and
    in dialog models) that may be another than the embedding's, and is D but for mixtures and a
    user's own. Subclasses are finite for logits up to 1e4 in size, in the precision
    of their parameters.
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
