"""The trunk against torch's own LSTM and against its equations."""

import pytest
import torch
from torch import nn

from repro.trainers.language_model.model import LstmLayer, Trunk, detached, run_together
from repro.trainers.language_model.randomness import Streams
from repro.trainers.language_model.regularisation import QUIET, Regularisation
from tests.trainers import small

T, B = 7, 3


def trunk(**changes):
    return small.built(small.model(**changes), 30).trunk


def reference(layer):
    """torch.nn.LSTM with the weights of a layer."""
    lstm = nn.LSTM(layer.input_weight.shape[1], layer.hidden_size, dtype=torch.float64)
    lstm.load_state_dict(
        {
            "weight_ih_l0": layer.input_weight,
            "weight_hh_l0": layer.recurrent_weight,
            "bias_ih_l0": layer.input_bias,
            "bias_hh_l0": layer.recurrent_bias,
        }
    )
    return lstm


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_without_dropout_it_is_a_stack_of_lstms(layers):
    """Contexts, states and their continuation are those of torch.nn.LSTM layers in a row."""
    own = trunk(layers=layers)
    x = torch.rand(2 * T, B, 6, dtype=torch.float64)
    state = own.zero_state(B, x)
    outputs = []
    for window in x.split(T):
        output = own(window, state)
        state = output.state
        outputs.append(output.context)
    expected = x
    for layer in own.layers:
        expected, last = reference(layer)(expected)
    torch.testing.assert_close(torch.cat(outputs), expected)
    torch.testing.assert_close(state[-1], last)


def test_one_step_is_the_equations_of_the_lstm():
    """c' = f c + i g, h' = o tanh(c'), gates in the order input, forget, cell, output."""
    layer = trunk(layers=1).layers[0]
    x, h, c = (torch.rand(1, B, size, dtype=torch.float64) for size in (6, 6, 6))
    gates = (
        x @ layer.input_weight.T + layer.input_bias + h @ layer.recurrent_weight.T
    ) + layer.recurrent_bias
    i, f, g, o = gates.chunk(4, dim=-1)
    cell = f.sigmoid() * c + i.sigmoid() * g.tanh()
    output, (_, after) = layer(x, (h, c), QUIET)
    torch.testing.assert_close(after, cell)
    torch.testing.assert_close(output, o.sigmoid() * cell.tanh())


def test_weight_drop_is_live():
    """The masked recurrent matrix is the one that is used, and masked entries get no gradient."""
    layer = trunk(layers=1).layers[0]
    streams = Streams(small.run())

    def regularisation():
        return Regularisation.of_epoch(small.recipe(dropout={"weight": 0.5}), streams, 1)

    x, state = (
        torch.rand(T, B, 6, dtype=torch.float64),
        trunk(layers=1).zero_state(B, torch.rand(1).double()),
    )
    output, _ = layer(x, state[0], regularisation())
    output.square().sum().backward()
    mask = regularisation().weight(torch.ones_like(layer.recurrent_weight)).detach()
    assert ((layer.recurrent_weight.grad == 0) == (mask == 0)).all()
    with torch.no_grad():
        masked = LstmLayer(6, 6, torch.float64)
        masked.load_state_dict(layer.state_dict())
        masked.recurrent_weight.mul_(mask)
    expected, _ = masked(x, state[0], QUIET)
    torch.testing.assert_close(output, expected)


def test_dropout_is_applied_where_the_papers_apply_it():
    """Input before the first layer, hidden between layers, output after the last; raw is before."""

    class Recorder:
        def __init__(self):
            self.places = []

        def locked(self, place, x):
            self.places.append((place, tuple(x.shape)))
            return x + 1 if place == "output" else x

        def weight(self, weight):
            self.places.append(("weight", tuple(weight.shape)))
            return weight

    own, recorder = trunk(layers=3), Recorder()
    output = own(torch.rand(T, B, 6).double(), own.zero_state(B, torch.rand(1).double()), recorder)
    assert [place for place, _ in recorder.places] == [
        "input", "weight", "hidden", "weight", "hidden", "weight", "output",
    ]  # fmt: skip
    torch.testing.assert_close(output.context, output.raw + 1)


def test_trunks_run_together_as_each_runs_alone():
    """Contexts, raw outputs and states, each with masks and a window of its own."""
    recipe = small.recipe(dropout=small.DROPOUT)
    generator = torch.Generator().manual_seed(0)
    trunks, words, states = [], [], []
    for steps in (T, 2 * T, 1):
        own = trunk(layers=3)
        for parameter in own.parameters():
            parameter.data += 0.1 * torch.randn(parameter.shape, generator=generator).double()
        trunks.append(own)
        words.append(torch.randn(steps, B, 6, generator=generator, dtype=torch.float64))
        states.append(own(words[-1], own.zero_state(B, words[-1])).state)

    def regularisations():
        streams = [Streams(small.run(replicate=replicate)) for replicate in range(3)]
        return [Regularisation.of_epoch(recipe, stream, 1) for stream in streams]

    found = run_together(trunks, words, states, regularisations())
    expected = [
        own(x, state, masks)
        for own, x, state, masks in zip(trunks, words, states, regularisations(), strict=True)
    ]
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


def test_detached_states_have_no_history():
    """The state that is carried to the next window belongs to no graph."""
    own = Trunk(small.model(), torch.float32)
    for parameter in own.parameters():
        nn.init.zeros_(parameter)
    output = own(torch.rand(T, B, 6), own.zero_state(B, torch.rand(1)))
    assert output.state[0][0].requires_grad
    assert not any(part.requires_grad for layer in detached(output.state) for part in layer)


def test_vectors_of_another_size_are_refused():
    """In float32 torch's own LSTM reads on in memory that is not the vectors'."""
    layer = LstmLayer(6, 8, torch.float32)
    state = (torch.zeros(1, 2, 8), torch.zeros(1, 2, 8))
    with pytest.raises(ValueError, match="vectors of size 10 for 6 inputs"):
        layer(torch.zeros(5, 2, 10), state, QUIET)
