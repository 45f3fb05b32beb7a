"""A language model: embedding, trunk and output layer, from its specification."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from repro.lm.awd_lstm import State, Trunk, TrunkOutput
from repro.lm.output.base import OutputLayer
from repro.lm.output.moc import MoCOutput
from repro.lm.output.mos import MoSOutput
from repro.lm.output.plif import PlifOutput
from repro.lm.output.softmax import SoftmaxOutput
from repro.lm.regularisation import QUIET, Regularisation
from repro.specs.model import MoC, Model, MoS, Plif


class LanguageModel(nn.Module):
    """Words so far -> distribution of the next word.

    The embedding is the decoder's matrix, ``output.weight``. Parameters are empty until
    ``initialise`` or a checkpoint fills them. Without a ``regularisation`` every method is
    evaluation: the module has no mode, and ``train()`` and ``eval()`` change no number.
    """

    def __init__(self, model: Model, vocabulary: int, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.spec = model
        self.vocabulary = vocabulary
        self.trunk = Trunk(model, dtype)
        self.output = build_output(model, vocabulary, dtype)

    def zero_state(self, batch_size: int) -> State:
        """The state at the beginning of a text, for ``batch_size`` parallel streams."""
        return self.trunk.zero_state(batch_size, self.output.weight)

    def forward(
        self, tokens_TB: Tensor, state: State, regularisation: Regularisation = QUIET
    ) -> TrunkOutput:
        """(T, B) words -> contexts (T, B, D), one a word, and the state after them."""
        output: TrunkOutput = self.trunk(
            regularisation.embed(tokens_TB, self.output.weight), state, regularisation
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


def build_output(model: Model, vocabulary: int, dtype: torch.dtype) -> OutputLayer:
    """The output layer that a specification names, its parameters empty."""
    size, spec = model.embedding_size, model.output
    match spec:
        case MoC():
            return MoCOutput(vocabulary, size, model.context_size, spec.components, dtype)
        case MoS():
            return MoSOutput(
                vocabulary, size, model.context_size, spec.components, spec.log_epsilon, dtype
            )
        case Plif():
            return PlifOutput(vocabulary, size, spec, dtype)
        case _:
            return SoftmaxOutput(vocabulary, size, dtype)
