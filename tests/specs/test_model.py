"""Models as specifications: what their options mean for sizes, bounds and identities."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from repro.specs.configuration import Configuration, read_sheet
from repro.specs.load import load_claim
from repro.trainers.language_model.recipe import Dropout
from repro.trainers.language_model.spec import Model, TextCorpus, TrainingSpec

BAD = Path(__file__).parent / "bad"
YANG = Path(__file__).parents[2] / "claims/configurations/yang2018"
PARTHIBAN = Path(__file__).parents[2] / "claims/configurations/parthiban2021"


def model(output: dict[str, Any], **changes: Any) -> Model:
    sizes = {"embedding_size": 400, "hidden_size": 1150, "context_size": 400}
    return Model.model_validate_json(json.dumps({**sizes, "output": output, **changes}))


def configuration(name: str) -> Configuration:
    found = read_sheet(PARTHIBAN / f"{name}.yaml").configuration
    assert isinstance(found, Configuration)
    return found


def resolved(found: Configuration) -> TrainingSpec:
    training = found.training()
    assert isinstance(training, TrainingSpec)
    return training


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
    found = resolved(configuration(name))
    softmax = resolved(configuration(f"{name[:3]}/softmax"))
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


@pytest.mark.parametrize(
    ("name", "parameters", "printed"),
    [
        ("mos_7", 8_448_517, 8.45),
        ("mos_10", 8_432_711, 8.43),
        ("mos_10_equal", 8_434_394, 8.43),
    ],
)
def test_the_mixtures_on_text8_have_the_printed_parameters(
    name: str, parameters: int, printed: float
) -> None:
    """Yang et al. 2018, text8: the sizes of a row give its count in millions."""
    found = text8(name)
    assert found.training().parameters == parameters
    assert round(parameters / 1e6, 2) == printed


def test_one_row_of_text8_does_not_have_its_printed_parameters() -> None:
    """MoS-7 with 750 units has 8.47M; the printed 8.45M are those of 749."""
    found = resolved(text8("mos_7_equal"))
    sizes = {"embedding_size": 749, "hidden_size": 749, "context_size": 749}
    fewer = found.model.model_copy(update=sizes).parameters(27)
    assert (found.parameters, fewer) == (8_474_277, 8_451_743)


def test_text8_is_a_blank_of_characters_trained_alike() -> None:
    """90, 5 and 5 million of 27 characters, no digests, and one recipe for every output layer."""
    found = [text8(path.stem) for path in sorted((YANG / "text8").glob("*.yaml"))]
    assert len(found) == 5
    for one in found:
        assert isinstance(one.corpus, TextCorpus)
        assert (one.corpus.unit, one.corpus.vocabulary) == ("characters", 27)
        assert one.corpus.tokens.model_dump() == {
            "train": 90_000_000,
            "valid": 5_000_000,
            "test": 5_000_000,
        }
        assert one.corpus.sha256 is None
        assert one.recipe == found[0].recipe
        assert "recipe" in one.assumed
        assert one.model.layers == 1
    assert text8("softmax").model.hidden_size == 1024


def test_one_billion_words_have_models_of_like_size_without_dropout() -> None:
    """Yang et al. 2018: two layers, no dropout, 100,000 words; MoS has 113M parameters."""
    found = {name: yang(f"one_billion/{name}") for name in ("softmax", "mos")}
    counts = {name: one.training().parameters for name, one in found.items()}
    assert counts == {"softmax": 119_293_600, "mos": 112_850_364}
    assert found["mos"].recipe == found["softmax"].recipe
    for one in found.values():
        assert (one.model.layers, one.corpus.vocabulary) == (2, 100_000)
        assert one.recipe.dropout == Dropout()
        assert {"model", "recipe"} <= set(one.assumed)


def test_an_override_fills_the_blank(tmp_path: Path) -> None:
    """With digests in the arm's override the claim that was refused for want of them is read."""
    text = (BAD / "corpus_without_digests.yaml").read_text(encoding="utf-8")
    digests = ", ".join(f"{split}: {'a' * 64}" for split in ("train", "valid", "test"))
    filled = f"text8/mos_7, override: {{corpus: {{sha256: {{{digests}}}}}}}}}"
    (tmp_path / "claim.yaml").write_text(text.replace("text8/mos_7}", filled), encoding="utf-8")
    for folder in ("yang2018/text8", "tiny"):
        source = YANG.parent if folder != "tiny" else BAD / "configurations"
        shutil.copytree(source / folder, tmp_path / "configurations" / folder)
    found = load_claim(tmp_path / "claim.yaml", "quick").arms["mos"].configuration
    assert isinstance(found, Configuration)
    assert isinstance(found.corpus, TextCorpus)
    assert found.corpus.sha256 is not None
    assert found.corpus.unit == "characters"


def text8(name: str) -> Configuration:
    return yang(f"text8/{name}")


def yang(name: str) -> Configuration:
    found = read_sheet(YANG / f"{name}.yaml").configuration
    assert isinstance(found, Configuration)
    return found
