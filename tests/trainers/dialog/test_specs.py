"""Specifications of dialogs."""

import json

import pytest
from pydantic import ValidationError

from repro.trainers.dialog.spec import Beam, DialogRecipe
from tests.trainers import small
from tests.trainers.dialog import tiny
from tests.trainers.dialog.test_corpus import spec


def test_absent_options_are_absent_from_the_identity():
    """What is not stated and has no value leaves no key behind."""
    document = spec().model_dump(mode="json", exclude_none=True)
    assert "last" not in document
    assert document["longest"] == 40
    assert document["context"] == 9
    assert "latent_size" not in tiny.seq2seq(small.MOS).model_dump(exclude_none=True)


def test_defaults_are_those_of_the_papers():
    """Zhao et al. 2017: Adam at 1e-3, clip 5, batches of 30; Yang et al. 2018: beam 10, 30, 5."""
    recipe = DialogRecipe(epochs=1)
    assert (recipe.optimiser.learning_rate, recipe.clip, recipe.batch_size) == (1e-3, 5.0, 30)
    assert Beam() == Beam(size=10, longest=30, kept=5)


def test_a_size_without_effect_is_refused():
    """Softmax has no latent contexts."""
    with pytest.raises(ValidationError, match="latent_size changes nothing of output 'softmax'"):
        tiny.seq2seq(latent_size=4)


@pytest.mark.parametrize("changes", [{"vocabulary": 5}, {"longest": 2}, {"context": 0}])
def test_a_corpus_needs_its_marks(changes):
    """Fewer words or tokens than there are marks leave nothing to be said."""
    with pytest.raises(ValidationError):
        spec(**changes)


@pytest.mark.parametrize(
    ("output", "bound"),
    [(small.SOFTMAX, 10), (small.MOC, 8), (small.MOS, None), (small.GSS, None)],
)
def test_rank_bounds_follow_the_decoder(output, bound):
    """d + 2, d the context's size for Softmax and the latent contexts' for a mixture."""
    assert tiny.seq2seq(output).rank_bound() == bound


def test_unknown_keys_are_refused():
    """A misspelt option is an error."""
    with pytest.raises(ValidationError, match="Extra inputs"):
        DialogRecipe.model_validate_json(json.dumps({"epochs": 1, "learning_rate": 0.1}))
