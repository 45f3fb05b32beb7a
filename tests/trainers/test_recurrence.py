"""The batched recurrence against torch's own LSTM, one replicate at a time."""

from typing import Any

import pytest
import torch

from repro.trainers.language_model.model import recur
from repro.trainers.language_model.precision import products_in

B, H = 3, 4
RAGGED = (5, 7, 1, 7)
EXACT: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12}


def batch(lengths, dtype=torch.float64):
    """Inputs, states and weights of replicates, all leaves of a graph."""
    generator = torch.Generator().manual_seed(len(lengths))

    def leaf(*shape):
        return torch.randn(*shape, generator=generator, dtype=dtype).requires_grad_()

    inputs = [leaf(steps, B, 4 * H) for steps in lengths]
    states = [(leaf(1, B, H), leaf(1, B, H)) for _ in lengths]
    return inputs, states, [leaf(4 * H, H) for _ in lengths]


def flat(results):
    """Outputs and states in one list, replicate by replicate."""
    return [x for output, (hidden, cell) in results for x in (output, hidden, cell)]


def by_torch(inputs, states, weights):
    """Each replicate alone, by torch's LSTM with an identity for the input's matrix."""
    identity, zero = torch.eye(4 * H).to(inputs[0]), torch.zeros(4 * H).to(inputs[0])
    results = []
    for x, state, weight in zip(inputs, states, weights, strict=True):
        parameters = [identity, weight, zero, zero]
        output, *after = torch.lstm(x, state, parameters, True, 1, 0.0, True, False, False)
        results.append((output, tuple(after)))
    return results


def gradients(results, leaves):
    """Of a sum in which every number of the results has a weight of its own."""
    generator = torch.Generator().manual_seed(1)
    total = sum(
        (x * torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x)).sum()
        for x in flat(results)
    )
    return torch.autograd.grad(total, leaves)


def leaves_of(inputs, states, weights):
    return [*inputs, *(part for state in states for part in state), *weights]


@pytest.mark.parametrize("lengths", [RAGGED, (6, 6, 6), (1, 1), (9,)])
def test_each_replicate_is_torch_s_lstm(lengths):
    """Outputs, last states and all gradients, for windows of different lengths and of one."""
    arguments = batch(lengths)
    ours, theirs = recur(*arguments), by_torch(*arguments)
    assert [len(output) for output, _ in ours] == list(lengths)
    for one, two in zip(flat(ours), flat(theirs), strict=True):
        torch.testing.assert_close(one, two, **EXACT)
    leaves = leaves_of(*arguments)
    for one, two in zip(gradients(ours, leaves), gradients(theirs, leaves), strict=True):
        torch.testing.assert_close(one, two, **EXACT)


def test_one_step_is_the_equations_of_the_lstm():
    """c' = f c + i g, h' = o tanh(c'), gates in the order input, forget, cell, output."""
    inputs, states, weights = batch((1, 1))
    for x, (h, c), weight, result in zip(
        inputs, states, weights, recur(inputs, states, weights), strict=True
    ):
        i, f, g, o = (x + h @ weight.T).chunk(4, dim=-1)
        cell = f.sigmoid() * c + i.sigmoid() * g.tanh()
        output, (hidden, after) = result
        torch.testing.assert_close(after, cell, **EXACT)
        torch.testing.assert_close(output, o.sigmoid() * cell.tanh(), **EXACT)
        assert torch.equal(hidden, output)


def test_the_gradients_are_those_of_finite_differences():
    """Of everything that has one, in float64."""
    inputs, states, weights = batch((2, 3))

    def outputs(*leaves):
        x, state, weight = leaves[:2], leaves[2:6], leaves[6:]
        return tuple(flat(recur(x, [state[:2], state[2:]], weight)))

    assert torch.autograd.gradcheck(outputs, leaves_of(inputs, states, weights))


def test_float32_is_as_near_to_float64_as_torch_s():
    """The largest error over 70 steps is at most twice that of torch's own LSTM."""
    exact = batch((70, 64))
    inputs, states, weights = exact
    single = (
        [x.float() for x in inputs],
        [(h.float(), c.float()) for h, c in states],
        [weight.float() for weight in weights],
    )

    def error(results):
        pairs = zip(flat(results), flat(by_torch(*exact)), strict=True)
        return max(float((one.double() - two).abs().max().detach()) for one, two in pairs)

    assert 0 < error(recur(*single)) < 2 * error(by_torch(*single))


def test_a_declared_precision_holds_for_the_products_alone():
    """With bf16, states and gradients are those of steps whose factors are rounded to bfloat16."""
    arguments = inputs, states, weights = batch((6, 4), torch.float32)
    leaves = leaves_of(*arguments)

    def rounded(x, state, weight):
        hidden, cell = state
        outputs = []
        for x_1BG in x.split(1):
            product = hidden.bfloat16().float() @ weight.bfloat16().float().t()
            i, f, g, o = (x_1BG + product).chunk(4, dim=-1)
            cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
            hidden = o.sigmoid() * cell.tanh()
            outputs.append(hidden)
        return torch.cat(outputs), (hidden, cell)

    expected = list(map(rounded, inputs, states, weights))
    with products_in("bf16"):
        found = recur(*arguments)
    full = recur(*arguments)
    assert all(x.dtype == torch.float32 for x in flat(found))

    def distance(one, two):
        return max(float((a - b).abs().max().detach()) for a, b in zip(one, two, strict=True))

    # the product itself is rounded too, to 8 bits: that is all that is between them
    assert distance(flat(found), flat(expected)) < 0.02 < 20 * distance(flat(found), flat(full))
    by_found, by_expected = gradients(found, leaves), gradients(expected, leaves)
    largest = max(float(x.abs().max()) for x in by_expected)
    assert 0 < distance(by_found, by_expected) < 0.03 * largest


def test_no_result_depends_on_the_steps_after_a_window():
    """With NaN in all memory that is not written, results and gradients keep every bit."""
    arguments = batch(RAGGED)
    leaves = leaves_of(*arguments)
    clean = recur(*arguments)
    expected = [*flat(clean), *gradients(clean, leaves)]
    torch.use_deterministic_algorithms(True)  # torch then fills new memory with NaN
    try:
        assert torch.zeros(1).new_empty(1).isnan()
        poisoned = recur(*arguments)
        found = [*flat(poisoned), *gradients(poisoned, leaves)]
    finally:
        torch.use_deterministic_algorithms(False)
    assert all(torch.equal(one, two) for one, two in zip(expected, found, strict=True))


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_what_is_no_number_stays_in_its_replicate(bad):
    """NaN in one replicate's inputs, state and weights changes no bit of another's gradients."""
    arguments = batch(RAGGED)
    inputs, states, weights = arguments
    clean = recur(*arguments)
    others = [i for i in range(len(RAGGED)) if i != bad]
    kept = [x for i in others for x in (inputs[i], *states[i], weights[i])]
    expected = [*flat(clean[i] for i in others), *gradients(clean, kept)]
    with torch.no_grad():
        for leaf in (inputs[bad], *states[bad], weights[bad]):
            leaf.fill_(torch.nan)
    spoiled = recur(*arguments)
    assert all(x.isnan().all() for x in flat([spoiled[bad]]))
    found = [*flat(spoiled[i] for i in others), *gradients(spoiled, kept)]
    assert all(torch.equal(one, two) for one, two in zip(expected, found, strict=True))


def test_the_order_of_the_batch_does_not_matter():
    """Replicates in another order have the same results, in that order."""
    inputs, states, weights = batch(RAGGED)
    order = [2, 0, 3, 1]
    moved = recur(*([each[i] for i in order] for each in (inputs, states, weights)))
    straight = recur(inputs, states, weights)
    for one, two in zip(flat(moved), flat(straight[i] for i in order), strict=True):
        torch.testing.assert_close(one, two, **EXACT)
