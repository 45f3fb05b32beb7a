"""The numbers of parameters by part are those of the tensors that a model is built of."""

from __future__ import annotations

import pytest
import torch

from repro.trainers.dialog.model import DialogModel
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.spec import Model, MoS
from tests.trainers import small
from tests.trainers.dialog import tiny

PART = {
    "output.bias": "decoder bias",
    "output.slopes": "slopes",
    "output.mixture.latent_weight": "latent projection",
    "output.mixture.latent_bias": "latent projection",
    "output.mixture.prior_weight": "mixture weights",
    "embedding.weight": "embedding",
}


def sums(model: torch.nn.Module, decoder: str, rest: dict[str, str]) -> dict[str, int]:
    """The sizes of a model's tensors, added up by part; ``rest`` is by the beginning of a name."""
    found: dict[str, int] = {}
    for name, tensor in model.named_parameters():
        part = {**PART, "output.weight": decoder}.get(name) or rest[name.partition(".")[0]]
        found[part] = found.get(part, 0) + tensor.numel()
    return found


@pytest.mark.parametrize("decoder", ["tied", "free"])
@pytest.mark.parametrize("output", small.OUTPUTS)
def test_of_a_language_model(output: str, decoder: str) -> None:
    spec = small.model(small.OUTPUTS[output], **({"decoder": "free"} if decoder == "free" else {}))
    with torch.device("meta"):
        model = LanguageModel(spec, 30)
    matrix = "decoder" if decoder == "free" else "embedding, tied to the decoder"
    found = sums(model, matrix, {"trunk": "recurrent layers"})
    assert spec.parameters_by_part(30) == found


@pytest.mark.parametrize("output", small.OUTPUTS)
def test_of_a_dialog_model(output: str) -> None:
    spec = tiny.seq2seq(small.OUTPUTS[output])
    found: dict[str, int] = {}
    for name, size in spec.parameters_by_part(tiny.V).items():
        found["GRUs" if name.startswith("recurrent") else name] = size + (
            found.get("GRUs", 0) if name.startswith("recurrent") else 0
        )
    model = DialogModel(spec, tiny.V)
    rest = {name.partition(".")[0]: "GRUs" for name, _ in model.named_parameters()}
    assert found == sums(model, "decoder", rest)


def test_what_mos_adds_to_penn_treebank() -> None:
    """Yang et al. 2018, Table 1: 22M with 15 components; 620 * 280 * 15 and more are latent."""
    spec = Model(embedding_size=280, hidden_size=960, context_size=620, output=MoS(components=15))
    parts = spec.parameters_by_part(10_000)
    assert parts["embedding, tied to the decoder"] == 2_800_000
    assert parts["latent projection"] == 15 * 280 * 621
    assert parts["mixture weights"] == 15 * 620
    assert sum(parts.values()) == spec.parameters(10_000) == 21_500_620
