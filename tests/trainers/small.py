"""Specifications small enough to be trained in a test."""

from __future__ import annotations

import json
from typing import Any

import torch

from repro.rank.spectrum import Spectrum
from repro.trainers.language_model.corpus import CorpusData
from repro.trainers.language_model.evaluation import log_probability_rows
from repro.trainers.language_model.measurements.model_rank import rank_of
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.randomness import Streams, initialise
from repro.trainers.language_model.recipe import Recipe
from repro.trainers.language_model.spec import Model, SyntheticCorpus, TrainingSpec
from repro.trainers.run import RunSpec

SOFTMAX: dict[str, Any] = {"kind": "softmax"}
SIGSOFTMAX: dict[str, Any] = {"kind": "sigsoftmax"}
GSS: dict[str, Any] = {"kind": "gss", "c": -1.5, "k": 2.5}
PLIF: dict[str, Any] = {"kind": "plif", "pieces": 50}
FROZEN: dict[str, Any] = {"kind": "plif", "pieces": 50, "frozen": True}
MOC: dict[str, Any] = {"kind": "moc", "components": 3}
MOS: dict[str, Any] = {"kind": "mos", "components": 3}
OUTPUTS: dict[str, dict[str, Any]] = {
    "softmax": SOFTMAX,
    "sigsoftmax": SIGSOFTMAX,
    "gss": GSS,
    "plif": PLIF,
    "frozen": FROZEN,
    "temperature": {**FROZEN, "only": "temperature"},
    "gradient_noise": {**FROZEN, "only": "gradient_noise"},
    "jitter": {**FROZEN, "only": "jitter"},
    "moc": MOC,
    "mos": MOS,
}

DROPOUT = {
    "embedding": 0.1,
    "input": 0.2,
    "hidden": 0.2,
    "output": 0.3,
    "latent": 0.2,
    "weight": 0.5,
}


def model(output: dict[str, Any] = SOFTMAX, **changes: Any) -> Model:
    values = {"embedding_size": 6, "hidden_size": 8, "context_size": 6, "layers": 2}
    return Model.model_validate_json(json.dumps({**values, "output": output, **changes}))


def corpus(**changes: Any) -> SyntheticCorpus:
    values: dict[str, Any] = {"vocabulary": 30, "dimension": 4, "components": 2, "sharpness": 2.0}
    values["tokens"] = {"train": 600, "valid": 120, "test": 150}
    return SyntheticCorpus.model_validate_json(json.dumps({**values, **changes}))


def recipe(**changes: Any) -> Recipe:
    values = {"epochs": 3, "batch_size": 4, "learning_rate": 5.0, "window": {"base": 10}}
    return Recipe.model_validate_json(json.dumps({**values, **changes}))


def rich_recipe(**changes: Any) -> Recipe:
    """Everything at once that a resumed training could forget."""
    values: dict[str, Any] = {
        "epochs": 4,
        "window": {"base": 10, "random": True, "max_delta": 8},
        "decay": "linear",
        "dropout": DROPOUT,
        "embedding_noise": 0.1,
        "activation": 2.0,
        "temporal": 1.0,
        "weight_decay": 1e-4,
        "averaging": {"kind": "et", "epoch": 2},
        "small_batch_size": 2,
    }
    return recipe(**{**values, **changes})


def run(output: dict[str, Any] = SOFTMAX, recipe_: Recipe | None = None, **changes: Any) -> RunSpec:
    training = TrainingSpec(model=model(output), corpus=corpus(), recipe=recipe_ or recipe())
    return RunSpec(**{"training": training, "replicate": 0, **changes})


def built(spec: Model, vocabulary: int, dtype: torch.dtype = torch.float64) -> LanguageModel:
    """A model with the initial values of replicate 0."""
    result = LanguageModel(spec, vocabulary, dtype)
    initialise(result, Streams(run()))
    return result


def random_corpus(vocabulary: int = 30, tokens: int = 600) -> CorpusData:
    generator = torch.Generator().manual_seed(0)
    train, valid, test = torch.randint(vocabulary, (3, tokens), generator=generator).unbind()
    return CorpusData(train, valid, test, tuple(f"w{number}" for number in range(vocabulary)))


def measured_rank(
    model: LanguageModel, tokens: torch.Tensor, streams: int, contexts: int | None = None
) -> tuple[float, dict[str, Any], Spectrum]:
    """The Press rank of a text, facts, and the singular values."""
    rows = (len(tokens) // streams - 1) * streams
    return rank_of(log_probability_rows(model, tokens, streams), model.output, rows, contexts)
