"""The GRU layer against its formula and against torch's module."""

import pytest
import torch
from torch import nn

from repro.trainers.dialog.corpus import packed
from repro.trainers.dialog.model import Gru
from repro.trainers.language_model.randomness import Streams, initialise
from tests.trainers import small

INPUTS, H = 3, 4
LENGTHS = (2, 5, 1, 5)


def layer(directions=1):
    result = Gru(INPUTS, H, torch.float64, directions)
    initialise(result, Streams(small.run()))
    return result


def vectors(length, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(length, INPUTS, dtype=torch.float64, generator=generator)


def sequences():
    return [vectors(length, seed) for seed, length in enumerate(LENGTHS)]


def by_formula(gru, x_TI, h_H, direction="forward", size=H):
    """Cho et al. 2014, with the reset gate after the recurrent product."""
    w, u, b, c = (
        getattr(gru, f"{direction}_{name}")
        for name in ("input_weight", "recurrent_weight", "input_bias", "recurrent_bias")
    )
    for x_I in x_TI:
        of_x, of_h = (w @ x_I + b).split(size), (u @ h_H + c).split(size)
        reset, update = torch.sigmoid(of_x[0] + of_h[0]), torch.sigmoid(of_x[1] + of_h[1])
        new = torch.tanh(of_x[2] + reset * of_h[2])
        h_H = (1 - update) * new + update * h_H
    return h_H


def test_each_sequence_ends_where_the_formula_ends():
    """In float64, from any state, whatever the lengths of the other sequences."""
    gru, states = layer(), torch.linspace(-1, 1, 4 * H, dtype=torch.float64).view(1, 4, H)
    _, after = gru(packed(sequences()), states)
    for number, x in enumerate(sequences()):
        torch.testing.assert_close(after[0, number], by_formula(gru, x, states[0, number]))


def test_the_second_direction_reads_backwards():
    """Its state after a sequence is that of the reversed sequence, by weights of its own."""
    gru, zero = layer(2), torch.zeros(H, dtype=torch.float64)
    _, after = gru(packed(sequences()))
    for number, x in enumerate(sequences()):
        expected = by_formula(gru, x.flip(0), zero, "backward")
        torch.testing.assert_close(after[1, number], expected)
        torch.testing.assert_close(after[0, number], by_formula(gru, x, zero))


@pytest.mark.parametrize("directions", [1, 2])
def test_outputs_and_gradients_are_those_of_torch(directions):
    """The same weights in torch.nn.GRU give the same outputs and gradients."""
    gru = layer(directions)
    theirs = nn.GRU(INPUTS, H, bidirectional=directions == 2, dtype=torch.float64)
    with torch.no_grad():
        for own, other in zip(gru.parameters(), theirs.parameters(), strict=True):
            other.copy_(own)
    for one in (gru, theirs):
        output, after = one(packed(sequences()))
        (output.data.square().sum() + after.sum()).backward()
    torch.testing.assert_close(
        gru(packed(sequences()))[0].data, theirs(packed(sequences()))[0].data
    )
    for own, other in zip(gru.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(own.grad, other.grad)


def test_other_sequences_change_nothing():
    """A sequence has the same outputs alone as beside longer ones, even ones of infinities."""
    gru = layer(2)
    _, alone = gru(packed([vectors(3)]))
    _, beside = gru(packed([torch.full((6, INPUTS), torch.inf).double(), vectors(3)]))
    torch.testing.assert_close(beside[:, 1], alone[:, 0], rtol=1e-14, atol=0)


def test_a_sequence_can_be_read_in_two_parts():
    """The state after the first part is where the second goes on."""
    gru, x = layer(), vectors(5)
    _, whole = gru(packed([x]))
    _, half = gru(packed([x[:2]]))
    torch.testing.assert_close(gru(packed([x[2:]]), half)[1], whole)


def test_initial_values_have_the_range_of_torch():
    """U(±1/sqrt(H)), the default of torch's own layer."""
    gru = Gru(40, 25, torch.float64, 2)
    initialise(gru, Streams(small.run()))
    values = torch.cat([parameter.flatten() for parameter in gru.parameters()])
    assert 0.19 < values.abs().max().item() <= 0.2
    assert abs(values.mean().item()) < 4 * 0.2 / (3 * len(values)) ** 0.5
