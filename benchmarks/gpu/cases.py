"""Small configurations of every output layer, with everything on, for checks on a device."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch

from benchmarks.speed.shapes import random_words
from repro.trainers.language_model.corpus import CorpusData
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.randomness import Streams, initialise
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.run import RunSpec

OUTPUTS: Final[dict[str, dict[str, Any]]] = {
    "softmax": {"kind": "softmax"},
    "sigsoftmax": {"kind": "sigsoftmax"},
    "gss": {"kind": "gss", "c": -1.5, "k": 2.5},
    "plif": {"kind": "plif", "pieces": 200, "initial_sd": 0.1},
    "moc": {"kind": "moc", "components": 3},
    "mos": {"kind": "mos", "components": 3, "log_epsilon": 1e-8},
}
DROPOUT: Final = {
    "embedding": 0.1,
    "input": 0.2,
    "hidden": 0.2,
    "output": 0.3,
    "latent": 0.2,
    "weight": 0.5,
}
EPOCHS, WINDOWS = 2, 6


@dataclass(frozen=True)
class Size:
    """V, E, H, the layers, and the steps and streams of a window."""

    words: int
    embedding: int
    hidden: int
    layers: int
    steps: int
    batch: int


TINY: Final = Size(words=40, embedding=6, hidden=8, layers=2, steps=10, batch=4)
SMALL: Final = Size(words=1_000, embedding=64, hidden=96, layers=2, steps=35, batch=8)
PAPER: Final = Size(words=10_000, embedding=400, hidden=1_150, layers=3, steps=70, batch=20)
"""The papers' Softmax on Penn Treebank."""


def training(output: str, size: Size, **recipe: Any) -> TrainingSpec:
    """A configuration with all dropouts, noise, penalties and random windows."""
    document = {
        "model": {
            "embedding_size": size.embedding,
            "hidden_size": size.hidden,
            "context_size": size.embedding,
            "layers": size.layers,
            "output": OUTPUTS[output],
        },
        "corpus": {
            "kind": "synthetic",
            "vocabulary": size.words,
            "dimension": 4,
            "components": 2,
            "sharpness": 2.0,
            "tokens": {"train": 2, "valid": 2, "test": 2},
        },
        "recipe": {
            "epochs": EPOCHS,
            "batch_size": size.batch,
            "learning_rate": 5.0,
            "window": {"base": size.steps, "random": True, "max_delta": 8},
            "dropout": DROPOUT,
            "embedding_noise": 0.1,
            "activation": 2.0,
            "temporal": 1.0,
            "weight_decay": 1e-6,
            "averaging": {"kind": "et", "epoch": 1},
            "valid_batch_size": 4,
            **recipe,
        },
    }
    return TrainingSpec.model_validate_json(json.dumps(document))


def runs_of(spec: TrainingSpec, count: int) -> list[RunSpec]:
    """The first replicates."""
    return [RunSpec(training=spec, replicate=number) for number in range(count)]


def corpus_of(spec: TrainingSpec) -> CorpusData:
    """A text of random words, a few windows long, and shorter ones to validate and test on."""
    recipe, words = spec.recipe, spec.corpus.vocabulary
    length = recipe.batch_size * (1 + WINDOWS * recipe.window.base)
    texts = (random_words(n, words, seed) for seed, n in enumerate((length, length // 3, length)))
    train, valid, test = texts
    return CorpusData(train, valid, test, tuple(map(str, range(words))))


@torch.no_grad()
def spread_model(run: RunSpec) -> LanguageModel:
    """A model with initial weights in float32, its logits spread as training spreads them.

    With the initial values as they are every distribution is flat, and hides an error.
    """
    spec = TrainingSpec.of(run)
    model = LanguageModel(spec.model, spec.corpus.vocabulary)
    initialise(model, Streams(run))
    bias = np.random.default_rng(0).normal(size=spec.corpus.vocabulary)
    model.output.weight.mul_(5)
    model.output.bias.copy_(torch.from_numpy(bias))
    return model
