"""Models as specifications: what their options mean for sizes, bounds and identities."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from repro.specs.configuration import Configuration
from repro.specs.configurations import read_sheet
from repro.specs.model import Model

PARTHIBAN = Path(__file__).parents[2] / "claims/configurations/parthiban2021"


def model(output: dict[str, Any], **changes: Any) -> Model:
    sizes = {"embedding_size": 400, "hidden_size": 1150, "context_size": 400}
    return Model.model_validate_json(json.dumps({**sizes, "output": output, **changes}))


def configuration(name: str) -> Configuration:
    found = read_sheet(PARTHIBAN / f"{name}.yaml").configuration
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "output", "parameters"),
    [
        ("ptb/sigsoftmax", {"kind": "sigsoftmax"}, 24_221_600),
        ("ptb/gss", {"kind": "gss", "c": -1.5, "k": 2.5}, 24_221_600),
        ("wt2/sigsoftmax", {"kind": "sigsoftmax"}, 33_556_078),
        ("wt2/gss", {"kind": "gss", "c": -1.5, "k": 3.0}, 33_556_078),
    ],
)
def test_sigsoftmax_and_gss_are_softmax_s_training_with_the_printed_bend(
    name: str, output: dict[str, Any], parameters: int
) -> None:
    """Parthiban et al. 2021: the pair (c, k) and the counts are printed, the rest is Softmax's."""
    found = configuration(name).training()
    softmax = configuration(f"{name[:3]}/softmax").training()
    assert found.model.output.model_dump() == output
    assert found.parameters == parameters
    assert found.recipe == softmax.recipe
    assert found.corpus == softmax.corpus
    assert found.model.model_copy(update={"output": softmax.model.output}) == softmax.model


def test_the_pair_of_gss_was_chosen_on_the_test_set_from_a_grid() -> None:
    """9 values of c by 8 of k on Penn Treebank, by 4 on WikiText-2."""
    for name, settings in (("ptb/gss", 9 * 8), ("wt2/gss", 9 * 4)):
        tuning = configuration(name).tuning
        assert tuning is not None
        assert (tuning.settings, tuning.selected_on) == (settings, "test")


@pytest.mark.parametrize("k", [0, -1])
def test_gss_falls_nowhere(k: float) -> None:
    """A slope below the bend that is not positive would not be increasing."""
    with pytest.raises(ValidationError, match="greater than 0"):
        model({"kind": "gss", "c": 0, "k": k})


@pytest.mark.parametrize(
    ("output", "bound"),
    [
        ({"kind": "softmax"}, 402),
        ({"kind": "moc", "components": 15}, 402),
        ({"kind": "plif", "frozen": True, "only": "temperature"}, 402),
        ({"kind": "plif", "frozen": True, "only": "gradient_noise"}, 402),
        ({"kind": "plif", "frozen": True, "only": "jitter"}, None),
        ({"kind": "plif"}, None),
        ({"kind": "sigsoftmax"}, None),
        ({"kind": "gss", "c": 0, "k": 2}, None),
        ({"kind": "mos", "components": 15}, None),
    ],
)
def test_only_linear_logits_have_a_structural_bound(
    output: dict[str, Any], bound: int | None
) -> None:
    """The bound is d + 2 where the logits are changed by one factor at most."""
    assert model(output).rank_bound() == bound


def test_the_bound_is_that_of_the_decoder_s_size() -> None:
    """With a free decoder Softmax's is the context's size, that of a mixture the embedding's."""
    softmax = model({"kind": "softmax"}, context_size=300, decoder="free")
    moc = model({"kind": "moc", "components": 2}, context_size=300, decoder="free")
    assert (softmax.rank_bound(), moc.rank_bound()) == (302, 402)


def test_a_tied_decoder_has_the_embedding_s_size() -> None:
    """Softmax of a context of another size needs a free decoder."""
    with pytest.raises(ValidationError, match="ties the decoder to the embedding"):
        model({"kind": "softmax"}, context_size=300)


def test_one_effect_of_plif_is_of_frozen_slopes() -> None:
    """With learned slopes there is no fixed mean, noise or path to take apart."""
    with pytest.raises(ValidationError, match="frozen: true"):
        model({"kind": "plif", "only": "jitter"})


def test_options_that_are_absent_are_not_in_the_identity() -> None:
    """Without them the document is that of a version that did not know them."""
    document = model({"kind": "plif", "frozen": True}).model_dump(mode="json", exclude_none=True)
    assert "decoder" not in document
    assert "only" not in document["output"]
