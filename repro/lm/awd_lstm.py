"""The trunk of AWD-LSTM: embedded words to contexts, through LSTM layers (Merity et al. 2018)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from repro.lm.initialisation import Distribution, Initialised, uniform
from repro.lm.precision import factor, linear
from repro.lm.recurrence import LayerState, recur
from repro.lm.regularisation import QUIET, LockedPlace, Regularisation
from repro.specs.model import Model

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
        """Run over a window with one mask on the recurrent matrix.

        Raises ValueError for vectors of another size than I, over which torch would read on.
        """
        if x_TBI.shape[-1] != self.input_weight.shape[1]:
            message = f"vectors of size {x_TBI.shape[-1]} for {self.input_weight.shape[1]} inputs"
            raise ValueError(message)
        recurrent_weight = regularisation.weight(self.recurrent_weight)
        weights = [self.input_weight, recurrent_weight, self.input_bias, self.recurrent_bias]
        rounded = [factor(weight) for weight in weights]
        x, before, train = factor(x_TBI), tuple(map(factor, state)), torch.is_grad_enabled()
        # biases, layers, dropout, train, bidirectional, batch_first; `train` keeps what the
        # backward pass needs, and there is no dropout of its own to switch off
        with warnings.catch_warnings():
            # on a GPU: weights that are masked anew each time cannot be kept in one block
            warnings.filterwarnings("ignore", "RNN module weights are not part of single")
            output_TBH, hidden, cell = torch.lstm(
                x, before, rounded, True, 1, 0.0, train, False, False
            )
        return output_TBH.to(x_TBI.dtype), (hidden.to(x_TBI.dtype), cell.to(x_TBI.dtype))


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
        sizes = [layer.hidden_size for layer in self.lstm_layers()]
        return tuple(
            (like.new_zeros(1, batch_size, size), like.new_zeros(1, batch_size, size))
            for size in sizes
        )

    def forward(
        self, vectors_TBE: Tensor, state: State, regularisation: Regularisation = QUIET
    ) -> TrunkOutput:
        """Run over (T, B, E) embedded words from ``state``."""
        (output,) = run_together([self], [vectors_TBE], [state], [regularisation])
        return output

    def lstm_layers(self) -> list[LstmLayer]:
        """First to last."""
        return [layer for layer in self.layers if isinstance(layer, LstmLayer)]


def run_together(
    trunks: Sequence[Trunk],
    vectors_TBE: Sequence[Tensor],
    states: Sequence[State],
    regularisations: Sequence[Regularisation],
) -> list[TrunkOutput]:
    """Run each of several trunks of one shape over words of its own, layer by layer.

    Windows may differ in length. One trunk alone is the plain case.
    """
    x = [r.locked("input", v) for r, v in zip(regularisations, vectors_TBE, strict=True)]
    raw: list[Tensor] = []
    after: list[State] = [() for _ in trunks]
    stack = list(zip(*(trunk.lstm_layers() for trunk in trunks), strict=True))
    for depth, layers in enumerate(stack):
        before = [state[depth] for state in states]
        ran = _run_layers(layers, x, before, regularisations)
        raw = [output_TBH for output_TBH, _ in ran]
        after = [(*state, own) for state, (_, own) in zip(after, ran, strict=True)]
        place: LockedPlace = "output" if depth == len(stack) - 1 else "hidden"
        x = [r.locked(place, output) for r, output in zip(regularisations, raw, strict=True)]
    return [TrunkOutput(*output) for output in zip(x, raw, after, strict=True)]


def _run_layers(
    layers: Sequence[LstmLayer],
    x_TBI: Sequence[Tensor],
    states: Sequence[LayerState],
    regularisations: Sequence[Regularisation],
) -> list[tuple[Tensor, LayerState]]:
    """One layer of each trunk; of more than one, the recurrence is one batched model."""
    if len(layers) == 1:
        return [layers[0](x_TBI[0], states[0], regularisations[0])]
    inputs_TBG = [
        linear(x, layer.input_weight, layer.input_bias + layer.recurrent_bias)
        for x, layer in zip(x_TBI, layers, strict=True)
    ]
    weights_GH = [
        regularisation.weight(layer.recurrent_weight)
        for regularisation, layer in zip(regularisations, layers, strict=True)
    ]
    return recur(inputs_TBG, states, weights_GH)


def detached(state: Any) -> Any:
    """The same state, cut off from the graph of the window that produced it.

    A tensor, or a tuple of states: that of AWD-LSTM, or of a user's own trunk.
    """
    return state.detach() if isinstance(state, Tensor) else tuple(map(detached, state))
