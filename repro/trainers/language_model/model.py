"""A language model: embedding, trunk and output layer, from its specification."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from repro.trainers.language_model.custom import OwnTrunk, own_trunk
from repro.trainers.language_model.output.layer import OutputLayer
from repro.trainers.language_model.randomness import Distribution, Initialised, uniform
from repro.trainers.language_model.regularisation import QUIET, Regularisation
from repro.trainers.language_model.spec import Model
from repro.trainers.language_model.trunk import State, Trunk, TrunkOutput


class Embedding(Initialised):
    """A vector for each word, where the decoder's matrix is not to serve for both."""

    def __init__(self, vocabulary: int, size: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, size, dtype=dtype))

    def initial(self) -> Mapping[str, Distribution]:
        """U(-0.1, 0.1), as the decoder's."""
        return {"weight": uniform(0.1)}


class LanguageModel(nn.Module):
    """Words so far -> distribution of the next word.

    The embedding is the decoder's matrix, ``output.weight``, or with a free decoder a matrix of
    its own, ``embedding.weight``. The trunk is that of AWD-LSTM, a ``Trunk``, or a user's
    ``OwnTrunk``. Parameters are empty until ``initialise`` or a checkpoint fills them. Without a
    ``regularisation`` every method is evaluation: the module has no mode, and ``train()`` and
    ``eval()`` change no number.
    """

    def __init__(self, model: Model, vocabulary: int, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.spec = model
        self.vocabulary = vocabulary
        self.trunk = build_trunk(model, dtype)
        self.output: OutputLayer = model.output.build(
            vocabulary, model.decoder_size, model.context_size, dtype
        )
        free = model.decoder == "free"
        self.embedding = Embedding(vocabulary, model.embedding_size, dtype) if free else None

    @property
    def embedding_matrix(self) -> Tensor:
        """(V, E), one row per word."""
        return self.output.weight if self.embedding is None else self.embedding.weight

    def zero_state(self, batch_size: int) -> State:
        """The state at the beginning of a text, for ``batch_size`` parallel streams."""
        return self.trunk.zero_state(batch_size, self.output.weight)

    def forward(
        self, tokens_TB: Tensor, state: State, regularisation: Regularisation = QUIET
    ) -> TrunkOutput:
        """(T, B) words -> contexts (T, B, D), one per word, and the state after them."""
        output: TrunkOutput = self.trunk(
            regularisation.embed(tokens_TB, self.embedding_matrix), state, regularisation
        )
        return output

    def loss(
        self, context_TBD: Tensor, targets_TB: Tensor, regularisation: Regularisation = QUIET
    ) -> Tensor:
        """Mean negative log-probability of the targets at their contexts, a scalar in nats."""
        return self.output.loss(context_TBD, targets_TB, regularisation)

    def log_probabilities(self, context_TBD: Tensor) -> Tensor:
        """(T, B, D) -> (T, B, V), in nats."""
        return self.output.log_probabilities(context_TBD)


def build_trunk(model: Model, dtype: torch.dtype) -> Trunk | OwnTrunk:
    """The trunk that a specification names, its parameters empty."""
    return Trunk(model, dtype) if model.trunk is None else own_trunk(model, model.trunk, dtype)
