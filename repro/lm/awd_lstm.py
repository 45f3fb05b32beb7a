"""The trunk of AWD-LSTM: embedded words to contexts, through LSTM layers (Merity et al. 2018)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

from repro.lm.initialisation import Distribution, Initialised, uniform
from repro.lm.regularisation import QUIET, Regularisation
from repro.specs.model import Model

LayerState = tuple[Tensor, Tensor]
"""Hidden and cell state of one layer, (1, B, H) each."""

State = tuple[LayerState, ...]
"""The states of all layers, first to last."""


class LstmLayer(Initialised):
    """One LSTM layer with two bias vectors, gates in the order input, forget, cell, output.

    Shapes: ``(T, B, I)`` and a state of ``(1, B, H)`` pairs -> ``(T, B, H)`` and a state.
    """

    def __init__(self, input_size: int, hidden_size: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.input_weight = nn.Parameter(torch.empty(4 * hidden_size, input_size, dtype=dtype))
        self.recurrent_weight = nn.Parameter(torch.empty(4 * hidden_size, hidden_size, dtype=dtype))
        self.input_bias = nn.Parameter(torch.empty(4 * hidden_size, dtype=dtype))
        self.recurrent_bias = nn.Parameter(torch.empty(4 * hidden_size, dtype=dtype))

    @property
    def hidden_size(self) -> int:
        """H, the size of the output."""
        return self.recurrent_weight.shape[1]

    def initial(self) -> Mapping[str, Distribution]:
        """U(-1/sqrt(H), 1/sqrt(H)) for every parameter."""
        bound = self.hidden_size**-0.5
        return {name: uniform(bound) for name, _ in self.named_parameters()}

    def forward(
        self, x_TBI: Tensor, state: LayerState, regularisation: Regularisation
    ) -> tuple[Tensor, LayerState]:
        """Run over a window with one mask on the recurrent matrix."""
        recurrent_weight = regularisation.weight(self.recurrent_weight)
        weights = [self.input_weight, recurrent_weight, self.input_bias, self.recurrent_bias]
        # biases, layers, dropout, train, bidirectional, batch_first; `train` keeps what the
        # backward pass needs, and there is no dropout of its own to switch off
        with warnings.catch_warnings():
            # on a GPU: weights that are masked anew each time cannot be kept in one block
            warnings.filterwarnings("ignore", "RNN module weights are not part of single")
            output_TBH, hidden, cell = torch.lstm(
                x_TBI, state, weights, True, 1, 0.0, torch.is_grad_enabled(), False, False
            )
        return output_TBH, (hidden, cell)


class TrunkOutput(NamedTuple):
    """What the trunk makes of a window."""

    context: Tensor
    """(T, B, D), output of the last layer after dropout: what the output layer sees."""
    raw: Tensor
    """(T, B, D), output of the last layer before dropout."""
    state: State
    """Where the next window goes on."""


class Trunk(nn.Module):
    """LSTM layers with locked dropout before, between and after them."""

    def __init__(self, model: Model, dtype: torch.dtype) -> None:
        super().__init__()
        self.layers = nn.ModuleList(LstmLayer(i, h, dtype) for i, h in model.layer_sizes())

    def zero_state(self, batch_size: int, like: Tensor) -> State:
        """The state at the beginning of a text."""
        sizes = [layer.hidden_size for layer in self._lstm_layers()]
        return tuple(
            (like.new_zeros(1, batch_size, size), like.new_zeros(1, batch_size, size))
            for size in sizes
        )

    def forward(
        self, vectors_TBE: Tensor, state: State, regularisation: Regularisation = QUIET
    ) -> TrunkOutput:
        """Run over (T, B, E) embedded words from ``state``."""
        x = regularisation.locked("input", vectors_TBE)
        layers = self._lstm_layers()
        raw, after = x, []
        for depth, (layer, before) in enumerate(zip(layers, state, strict=True), start=1):
            raw, layer_state = layer(x, before, regularisation)
            after.append(layer_state)
            x = regularisation.locked("output" if depth == len(layers) else "hidden", raw)
        return TrunkOutput(x, raw, tuple(after))

    def _lstm_layers(self) -> list[LstmLayer]:
        return [layer for layer in self.layers if isinstance(layer, LstmLayer)]


def detached(state: State) -> State:
    """The same state, cut off from the graph of the window that produced it."""
    return tuple((hidden.detach(), cell.detach()) for hidden, cell in state)
