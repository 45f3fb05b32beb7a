"""A language model: embedding, trunk and output layer, from its specification.

The trunk is that of AWD-LSTM (Merity et al. 2018): embedded words to contexts, through LSTM layers.

A step of all replicates is one batched product. What waits for no step before, the products with a
layer's inputs and the gradients of its matrices, is done replicate by replicate: no number of one
can reach another. The longest window comes first in the batch, so that those which still run at a
step are its first n.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from repro.plugins import load_object
from repro.trainers.language_model.output.layer import OutputLayer
from repro.trainers.language_model.precision import factor, linear
from repro.trainers.language_model.randomness import (
    Distribution,
    Initialised,
    all_uniform,
    uniform,
)
from repro.trainers.language_model.regularisation import QUIET, LockedPlace, Regularisation
from repro.trainers.language_model.spec import Model

# On a GPU: weights that are masked in each step, or drawn each from its own stream, cannot be kept
# in one block. Here, because a filter for one step is not safe in threads.
warnings.filterwarnings("ignore", "RNN module weights are not part of single")

LayerState = tuple[Tensor, Tensor]
"""Hidden and cell state of one layer, (1, B, H) each."""


def recur(
    inputs_TBG: Sequence[Tensor], states: Sequence[LayerState], weights_GH: Sequence[Tensor]
) -> list[tuple[Tensor, LayerState]]:
    """Run one layer of R replicates over their windows, each of its own number of steps T.

    ``inputs_TBG`` is what the words give to the gates, both biases added: G = 4H, in the order
    input, forget, cell, output. ``weights_GH`` are the recurrent matrices. B and H are those of
    all. For each replicate: its outputs (T, B, H), and its state after its own last step. A
    declared precision holds for the products; states and gates keep their own.
    """
    order = sorted(range(len(inputs_TBG)), key=lambda i: -len(inputs_TBG[i]))
    inputs = [inputs_TBG[i] for i in order]
    lengths = tuple(len(x_TBG) for x_TBG in inputs)
    hidden_RBH, cell_RBH = (torch.cat([states[i][part] for i in order]) for part in (0, 1))
    weight_RGH = factor(torch.stack([weights_GH[i] for i in order]))
    arguments = (lengths, hidden_RBH, cell_RBH, weight_RGH, *inputs)
    output_TRBH, hidden_RBH, cell_RBH = _Recurrence.apply(*arguments)  # type: ignore[no-untyped-call]
    outputs = [x[:length] for x, length in zip(output_TRBH.unbind(1), lengths, strict=True)]
    after = zip(hidden_RBH.split(1), cell_RBH.split(1), strict=True)
    results = dict(zip(order, zip(outputs, after, strict=True), strict=True))
    return [results[i] for i in range(len(order))]


class _Recurrence(torch.autograd.Function):
    """The steps and their way back, with time outermost in memory: a step is one block.

    The places of a replicate that has ended are never written, and no result depends on them.
    """

    @staticmethod
    def forward(
        ctx: Any,
        lengths: tuple[int, ...],
        hidden_RBH: Tensor,
        cell_RBH: Tensor,
        weight_RGH: Tensor,
        *inputs_TBG: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        steps, (replicates, batch, size) = lengths[0], hidden_RBH.shape
        gates_TRBG = hidden_RBH.new_empty(steps, replicates, batch, 4 * size)
        hidden_TRBH = hidden_RBH.new_empty(steps + 1, replicates, batch, size)
        cell_TRBH = torch.empty_like(hidden_TRBH)
        hidden_TRBH[0], cell_TRBH[0] = hidden_RBH, cell_RBH  # entry t is the state before step t
        for i, x_TBG in enumerate(inputs_TBG):
            gates_TRBG[: lengths[i], i] = x_TBG
        weight_RHG = weight_RGH.transpose(1, 2)
        for step in range(steps):
            n = _running(lengths, step)
            _add_product(gates_TRBG[step, :n], hidden_TRBH[step, :n], weight_RHG[:n])
            after = (hidden_TRBH[step + 1, :n], cell_TRBH[step + 1, :n])
            _cell(gates_TRBG[step, :n], cell_TRBH[step, :n], after)
        ctx.save_for_backward(gates_TRBG, hidden_TRBH, cell_TRBH, weight_RGH)
        ctx.lengths = lengths
        ends = [(length, i) for i, length in enumerate(lengths)]
        hidden_RBH, cell_RBH = (
            torch.stack([x_TRBH[end] for end in ends]) for x_TRBH in (hidden_TRBH, cell_TRBH)
        )
        return hidden_TRBH[1:], hidden_RBH, cell_RBH

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(
        ctx: Any, by_output_TRBH: Tensor, by_hidden_RBH: Tensor, by_cell_RBH: Tensor
    ) -> tuple[Tensor | None, ...]:
        gates_TRBG, hidden_TRBH, cell_TRBH, weight_RGH = ctx.saved_tensors
        by_gates_TRB4H, by_cell_TRBH = _slopes(gates_TRBG, cell_TRBH)
        forget_TRBH = gates_TRBG.chunk(4, dim=-1)[1]
        by_cell_RBH = by_cell_RBH.clone()
        by_hidden_TRBH = torch.cat([torch.zeros_like(by_output_TRBH[:1]), by_output_TRBH])
        for i, length in enumerate(ctx.lengths):
            by_hidden_TRBH[length, i] += by_hidden_RBH[i]
        for step in reversed(range(len(gates_TRBG))):
            n = _running(ctx.lengths, step)
            by_hidden_nBH, by_cell_nBH = by_hidden_TRBH[step + 1, :n], by_cell_RBH[:n]
            by_gates_nB4H = by_gates_TRB4H[step, :n]
            by_cell_nBH.addcmul_(by_hidden_nBH, by_cell_TRBH[step, :n])
            by_gates_nB4H[:, :, :3].mul_(by_cell_nBH.unsqueeze(2))
            by_gates_nB4H[:, :, 3].mul_(by_hidden_nBH)
            by_cell_nBH.mul_(forget_TRBH[step, :n])
            _add_product(by_hidden_TRBH[step, :n], by_gates_nB4H.flatten(2), weight_RGH[:n])
        by_inputs = [by_gates_TRB4H[:length, i].flatten(2) for i, length in enumerate(ctx.lengths)]
        by_weights = [
            by_gates_TBG.flatten(0, 1).to(weight_RGH.dtype).t()
            @ hidden_TRBH[: len(by_gates_TBG), i].flatten(0, 1).to(weight_RGH.dtype)
            for i, by_gates_TBG in enumerate(by_inputs)
        ]
        return None, by_hidden_TRBH[0], by_cell_RBH, torch.stack(by_weights), *by_inputs


def _add_product(total: Tensor, a: Tensor, b: Tensor) -> None:
    """``total`` <- ``total`` + a b, batched, with ``a`` rounded to the precision of ``b``."""
    if a.dtype == b.dtype:
        total.baddbmm_(a, b)
    else:
        total.add_(torch.bmm(a.to(b.dtype), b))


def _running(lengths: tuple[int, ...], step: int) -> int:
    """How many replicates have a step of this number."""
    return sum(length > step for length in lengths)


def _cell(gates_RBG: Tensor, cell_RBH: Tensor, after: LayerState) -> None:
    """Into ``after``: c' = f c + i g, h' = o tanh(c'); the gates take their values in place."""
    size = cell_RBH.shape[-1]
    gates_RBG[..., : 2 * size].sigmoid_()
    gates_RBG[..., 2 * size : 3 * size].tanh_()
    gates_RBG[..., 3 * size :].sigmoid_()
    i, f, g, o = gates_RBG.chunk(4, dim=-1)
    hidden_RBH, after_RBH = after
    torch.mul(f, cell_RBH, out=after_RBH).addcmul_(i, g)
    torch.tanh(after_RBH, out=hidden_RBH).mul_(o)


def _slopes(gates_TRBG: Tensor, cell_TRBH: Tensor) -> tuple[Tensor, Tensor]:
    """What the way back multiplies with at each step, for all steps at once.

    (T, R, B, 4, H): dc'/d of the gates i, f and g before their nonlinearity, and dh'/d of o;
    (T, R, B, H): dh'/dc'.
    """
    i, f, g, o = gates_TRBG.chunk(4, dim=-1)
    tanh = cell_TRBH[1:].tanh()
    slopes = (g * i * (1 - i), cell_TRBH[:-1] * f * (1 - f), i * (1 - g * g), tanh * o * (1 - o))
    return torch.stack(slopes, dim=-2), o * (1 - tanh * tanh)


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
        return all_uniform(self, self.hidden_size)

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
        output_TBH, hidden, cell = torch.lstm(x, before, rounded, True, 1, 0.0, train, False, False)
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
        sizes = [layer.hidden_size for layer in self.lstm_layers()]
        return tuple(
            (like.new_zeros(1, batch_size, size), like.new_zeros(1, batch_size, size))
            for size in sizes
        )

    def forward(
        self, vectors_TBE: Tensor, state: State, regularisation: Regularisation = QUIET
    ) -> TrunkOutput:
        (output,) = run_together([self], [vectors_TBE], [state], [regularisation])
        return output

    def lstm_layers(self) -> list[LstmLayer]:
        """The layers that are LSTMs, from the input to the output."""
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
        after = [(*state, last) for state, (_, last) in zip(after, ran, strict=True)]
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


class OwnTrunk(Initialised):
    """Embedded words -> contexts, one per word; what a user's own trunk derives from.

    It is made by ``(embedding_size, hidden_size, context_size, layers, dtype, **options)``. Its
    state is a tensor, or a tuple of states; it may be empty.
    """

    @abstractmethod
    def zero_state(self, batch_size: int, like: Tensor) -> Any:
        """The state at the beginning of a text, of the type and on the device of ``like``."""

    @abstractmethod
    def forward(
        self, vectors_TBE: Tensor, state: Any, regularisation: Regularisation = QUIET
    ) -> TrunkOutput:
        """Run over (T, B, E) embedded words from ``state``: contexts (T, B, D) and the state."""


def detached(state: Any) -> Any:
    """A state, a tensor or a tuple of states, cut off from the graph of its window."""
    return state.detach() if isinstance(state, Tensor) else tuple(map(detached, state))


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
    its own, ``embedding.weight``. Parameters are empty until ``initialise`` or a checkpoint fills
    them. Without a ``regularisation`` every method is evaluation; ``train()`` and ``eval()`` change
    no number.
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


def build_trunk(model: Model, dtype: torch.dtype) -> Trunk | OwnTrunk:
    """The trunk that a specification names, its parameters empty."""
    if model.trunk is None:
        return Trunk(model, dtype)
    own_trunk = load_object("repro.trainers.language_model.custom:own_trunk")
    trunk: OwnTrunk = own_trunk(model, model.trunk, dtype)
    return trunk
