"""The rate of an averaged step as torch's ASGD has it: that of the step before."""

import pytest

from repro.trainers.language_model.checkpoint import FILE_NAME
from repro.trainers.language_model.spec import TrainingSpec
from tests.trainers import small
from tests.trainers.asgd import losses_by_asgd
from tests.trainers.replicates import plain
from tests.trainers.trainings import Killed, assert_same, killed_after, trained

WINDOW = {"base": 10, "random": True, "last_rate": "drawn"}


def recipe(rate, **changes):
    rule = {"kind": "et", "epoch": 1, "rate": rate}
    values = {"epochs": 3, "precision": "float64", "averaging": rule, "window": WINDOW}
    return small.recipe(**{**values, **changes})


def test_late_averaging_is_torch_s_asgd_with_the_rates_of_its_windows():
    """From the switch on, the averaged weights are those of ASGD, whose rates come a step late."""
    run = small.run(recipe_=recipe("late"), streams="paired")
    first = trained(small.run(recipe_=recipe("late", epochs=1), streams="paired")).model
    expected = losses_by_asgd(first, run, [2, 3], 5.0, TrainingSpec.of(run).recipe.window)
    found = [record.valid_loss for record in trained(run).history[1:]]
    assert found == pytest.approx(expected, rel=1e-12)
    own = trained(small.run(recipe_=recipe(None), streams="paired"))
    assert [record.valid_loss for record in own.history[1:]] != pytest.approx(found, rel=1e-6)


def test_before_the_switch_every_step_has_its_own_rate():
    """The option changes nothing of plain SGD."""
    late, own = (trained(small.run(recipe_=recipe(r), streams="paired")) for r in ("late", None))
    assert late.history[0] == own.history[0]
    assert late.history[1] != own.history[1]


@pytest.mark.parametrize("epoch", [2, 3, 4])
def test_a_late_rate_survives_an_interruption(tmp_path, epoch):
    """The first step of a resumed epoch takes the rate of the last step before it was cut off."""
    rule = {"kind": "et", "epoch": 1, "rate": "late"}
    run = small.run(small.MOS, small.rich_recipe(averaging=rule, window=WINDOW))
    with pytest.raises(Killed):
        trained(run, tmp_path, killed_after(epoch, 4))
    assert (tmp_path / FILE_NAME).exists()
    assert_same(trained(run, tmp_path), plain(run))
