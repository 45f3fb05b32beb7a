"""What is timed: the papers' configurations on Penn Treebank, over random words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from repro.specs.configuration import read_sheet
from repro.trainers.language_model.corpus import CorpusData
from repro.trainers.language_model.spec import MoC, Model, MoS, TrainingSpec
from repro.trainers.run import RunSpec

Shape = Literal["mos", "awd"]

CONFIGURATIONS = Path(__file__).parents[2] / "claims" / "configurations"
PAPERS: dict[Shape, str] = {"mos": "yang2018/ptb/mos.yaml", "awd": "merity2018/ptb/softmax.yaml"}
STEPS = 70
WINDOWS = 200
QUIET_DROPOUT = dict.fromkeys(("embedding", "input", "hidden", "output", "latent", "weight"), 0.0)


def training(
    shape: Shape,
    *,
    vocabulary: int = 10_000,
    components: int | None = None,
    recipe: Mapping[str, Any] | None = None,
) -> TrainingSpec:
    """The paper's configuration with windows of 70 steps each, and with what is changed of it."""
    configuration = read_sheet(CONFIGURATIONS / PAPERS[shape]).configuration
    assert configuration is not None, PAPERS[shape]
    document = configuration.training().model_dump(mode="json", exclude_none=True)
    document["corpus"]["vocabulary"] = vocabulary
    document["recipe"] |= {"window": {"base": STEPS}, **(recipe or {})}
    if components is not None:
        document["model"]["output"]["components"] = components
    return TrainingSpec.model_validate(document)


def run_of(spec: TrainingSpec, replicate: int = 0) -> RunSpec:
    """A run to be timed."""
    return RunSpec(training=spec, replicate=replicate)


def tokens_per_step(spec: TrainingSpec) -> int:
    """Predicted words of one training step."""
    return spec.recipe.batch_size * STEPS


def flop_per_token(model: Model, vocabulary: int) -> float:
    """6 x the weights that a matrix product touches; the decoder of MoS counts K times."""
    trunk = sum(4 * h * (i + h) for i, h in model.layer_sizes())
    latent, products = 0, 1
    if isinstance(model.output, MoC | MoS):
        components = model.output.components
        latent = model.context_size * components * (model.embedding_size + 1)
        products = components if isinstance(model.output, MoS) else 1
    return 6.0 * (trunk + latent + products * vocabulary * model.decoder_size)


def random_words(count: int, vocabulary: int, seed: int) -> Tensor:
    """Words without the last of the vocabulary, whose lookup the published code does not train."""
    generator = np.random.default_rng(seed)
    return torch.from_numpy(generator.integers(0, vocabulary - 1, count))


def random_corpus(spec: TrainingSpec, windows: int = WINDOWS) -> CorpusData:
    """A text of so many windows, and short ones to validate and to test on."""
    vocabulary, recipe = spec.corpus.vocabulary, spec.recipe
    length = recipe.batch_size * (1 + windows * STEPS)
    short = recipe.valid_batch_size * (1 + STEPS)
    train, valid, test = (
        random_words(count, vocabulary, seed) for seed, count in enumerate((length, short, short))
    )
    return CorpusData(train, valid, test, tuple(map(str, range(vocabulary))))
