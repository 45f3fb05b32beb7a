"""Adam against torch's."""

import torch

from repro.trainers.dialog.corpus import batch_of
from repro.trainers.dialog.training import AdamOptimiser
from tests.trainers import small
from tests.trainers.dialog import tiny

SPLIT = tiny.random_split()
BATCHES = [batch_of(SPLIT, [example]) for example in SPLIT.examples]


def trained(model, optimiser, batches, scale=1.0):
    for batch in batches:
        model.loss(batch).backward()
        optimiser.step(scale)
    return [parameter.detach().clone() for parameter in model.parameters()]


def test_twenty_steps_are_those_of_torch():
    """The same weights to the last digits of float64, where the clip binds and where not."""
    model, theirs = tiny.built(small.MOS), tiny.built(small.MOS)
    recipe = tiny.recipe(clip=0.8, optimiser={"kind": "adam", "learning_rate": 0.01, "beta2": 0.9})
    ours = trained(model, AdamOptimiser(model, recipe), BATCHES)
    reference = torch.optim.Adam(theirs.parameters(), lr=0.01, betas=(0.9, 0.9))
    norms = []
    for batch in BATCHES:
        theirs.zero_grad()
        theirs.loss(batch).backward()
        norms.append(torch.nn.utils.clip_grad_norm_(theirs.parameters(), 0.8).item())
        reference.step()
    assert min(norms) < 0.8 < max(norms)
    for own, other in zip(ours, theirs.parameters(), strict=True):
        torch.testing.assert_close(own, other, rtol=1e-10, atol=1e-12)


def test_it_goes_on_from_saved_moments_bit_for_bit():
    """Weights, moments and the number of steps are all that the continuation depends on."""
    model, recipe = tiny.built(), tiny.recipe()
    whole = trained(model, AdamOptimiser(model, recipe), BATCHES)
    first, second = tiny.built(), tiny.built()
    begun = AdamOptimiser(first, recipe)
    trained(first, begun, BATCHES[:7])
    second.load_state_dict(first.state_dict())
    resumed = AdamOptimiser(second, recipe)
    resumed.restore(begun.steps, {name: m.clone() for name, m in begun.moments.items()})
    for own, other in zip(trained(second, resumed, BATCHES[7:]), whole, strict=True):
        assert torch.equal(own, other)


def test_the_scale_multiplies_every_rate():
    """The first step moves each weight by rate x scale, up to epsilon over the gradient."""
    moved = []
    for scale in (1.0, 0.25):
        model = tiny.built()
        before = model.output.bias.detach().clone()
        trained(model, AdamOptimiser(model, tiny.recipe()), BATCHES[:1], scale)
        moved.append(model.output.bias.detach() - before)
    torch.testing.assert_close(moved[1], moved[0] / 4)
    torch.testing.assert_close(moved[0].abs().max().item(), 1e-3, rtol=1e-4, atol=0)


def test_slopes_have_their_own_rate_and_frozen_ones_none():
    """PLIF slopes move by 0.02 in the first step, and frozen ones stay."""
    for output, rate in ((small.PLIF, 0.02), (small.FROZEN, 0.0)):
        model = tiny.built(output)
        slopes = model.get_parameter("output.slopes")
        before = slopes.detach().clone()
        trained(model, AdamOptimiser(model, tiny.recipe()), BATCHES[:1])
        moved = (slopes.detach() - before).abs().max().item()
        assert abs(moved - rate) <= 1e-3 * rate
