"""The optimiser against torch's own, and the switch to averaging."""

import pytest
import torch

from repro.trainers.language_model.optimiser import Average, Sgd
from repro.trainers.language_model.recipe import FromEpoch, NoAveraging, NonMonotonic
from tests.trainers import small


def model_with_gradients(output=small.SOFTMAX, seed=0):
    model = small.built(small.model(output), 30)
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.grad = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return model


def test_a_step_is_that_of_torch_s_sgd():
    """Clipping, then weight decay, then the step: as torch.optim.SGD does it."""
    model, reference = model_with_gradients(), model_with_gradients()
    recipe = small.recipe(weight_decay=0.01, clip=0.25, learning_rate=20.0)
    Sgd(model, recipe).step(0.5)
    torch.nn.utils.clip_grad_norm_(reference.parameters(), 0.25)
    torch.optim.SGD(reference.parameters(), lr=10.0, weight_decay=0.01).step()
    for ours, theirs in zip(model.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-14)
        assert ours.grad is None


def test_slopes_have_their_own_rate_and_the_window_s_factor():
    """PLIF slopes move with their rate times the factor of the step, others with the recipe's."""
    model, before = model_with_gradients(small.PLIF), model_with_gradients(small.PLIF)
    Sgd(model, small.recipe(learning_rate=20.0, clip=1e9)).step(0.5)
    start, gradient = before.output, before.output.slopes.grad
    torch.testing.assert_close(model.output.slopes, start.slopes - 0.02 * 0.5 * gradient)
    torch.testing.assert_close(model.output.bias, start.bias - 20 * 0.5 * start.bias.grad)


def test_frozen_slopes_do_not_move():
    """Frozen slopes take no part in steps, decay or clipping."""
    model, before = model_with_gradients(small.FROZEN), model_with_gradients(small.FROZEN)
    Sgd(model, small.recipe(weight_decay=0.1)).step(1.0)
    assert torch.equal(model.output.slopes, before.output.slopes)


def test_the_average_is_that_of_torch_s_asgd():
    """With constant rates the mean and the iterates are those of ASGD with lambd = 0, t0 = 0."""
    model, reference = model_with_gradients(), model_with_gradients()
    optimiser, average = Sgd(model, small.recipe(clip=1e9, learning_rate=0.1)), Average(model)
    asgd = torch.optim.ASGD(reference.parameters(), lr=0.1, lambd=0, t0=0)
    for step in range(6):
        gradients = model_with_gradients(seed=step)
        for one, two, source in zip(
            model.parameters(), reference.parameters(), gradients.parameters(), strict=True
        ):
            one.grad, two.grad = source.grad.clone(), source.grad.clone()
        optimiser.step(1.0)
        average.update()
        asgd.step()
    for (name, ours), theirs in zip(model.named_parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)
        torch.testing.assert_close(average.weights[name], asgd.state[theirs]["ax"])


def test_the_average_is_the_mean_from_the_second_step_on():
    """The weights after the first step are not in the mean."""
    model = small.built(small.model(), 30)
    average, seen = Average(model), []
    for value in (5.0, 1.0, 2.0, 6.0):
        with torch.no_grad():
            model.output.bias.fill_(value)
        average.update()
        seen.append(average.weights["output.bias"][0].item())
    assert seen == pytest.approx([5, 1, 1.5, 3])


def test_averaged_weights_leave_with_the_block():
    """Inside the block the model is the average; after it, and after an error, itself."""
    model = small.built(small.model(), 30)
    average = Average(model)
    average.update()
    with torch.no_grad():
        model.output.bias.fill_(7)
    with pytest.raises(KeyError), average.in_place():  # noqa: PT012
        assert model.output.bias[0] == 0
        raise KeyError
    assert model.output.bias[0] == 7
    assert average.weights["output.bias"][0] == 0


def test_before_the_first_step_the_average_is_the_model():
    """A block without an average leaves the weights as they are."""
    model = small.built(small.model(), 30)
    before = model.output.weight.clone()
    with Average(model).in_place():
        assert torch.equal(model.output.weight, before)


@pytest.mark.parametrize(
    ("losses", "epoch"),
    [
        ([9, 8, 7, 6, 5, 4, 3], None),
        ([5, 6, 7, 8], 4),
        ([9, 5, 6, 4, 4.5, 4.5, 4.2], 7),
        ([5, 6, 7, 5], None),
    ],
)
def test_nt_switches_when_older_losses_were_better(losses, epoch):
    """With n = 2 the switch comes at the first loss above the best of all but the last two."""
    rule = NonMonotonic(n=2)
    switched = [i + 1 for i, loss in enumerate(losses) if rule.begins(losses[:i], loss)]
    assert (switched[0] if switched else None) == epoch


def test_et_switches_at_its_epoch():
    """The switch comes at the end of the epoch that was fixed, whatever the losses."""
    rule = FromEpoch(epoch=3)
    assert [rule.begins([1.0] * done, 1.0) for done in range(4)] == [False, False, True, False]


def test_no_averaging_never_switches():
    """Plain SGD goes on to the end."""
    assert not NoAveraging().begins([1.0] * 20, 99.0)
