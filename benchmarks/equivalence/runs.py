"""One training of each: the validation perplexity of its best weights, from a seed of its own."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final, Literal

import numpy as np
import torch

from benchmarks.published import Published
from benchmarks.references import load_reference, take_weights
from repro.specs.configuration import read_sheet
from repro.trainers.language_model.corpus import CorpusData, batchify
from repro.trainers.language_model.evaluation import mean_loss
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.language_model.training import train
from repro.trainers.run import RunSpec

Arm = Literal["ours", "theirs"]
ARMS: Final[tuple[Arm, ...]] = ("ours", "theirs")
CONFIGURATION: Final = Path(__file__).with_name("softmax.yaml")
AGREEMENT: Final = 1e-5
"""Two evaluations of the same weights differ by no more than this share, in float32."""


def training_spec() -> TrainingSpec:
    """The configuration that both train."""
    sheet = read_sheet(CONFIGURATION)
    training = None if sheet.configuration is None else sheet.configuration.training()
    if isinstance(training, TrainingSpec):
        return training
    raise ValueError("; ".join(map(str, sheet.problems)))


def ours(seed: int, spec: TrainingSpec, corpus: CorpusData) -> float:
    """Validation perplexity of replicate ``seed``, by ``language_model.training.train``."""
    run = RunSpec(training=spec, replicate=seed)
    (trained,) = train([run], corpus, device=torch.device("cpu"), folders=[None])
    return _perplexity(trained.model, spec, corpus)


def theirs(seed: int, spec: TrainingSpec, corpus: CorpusData, root: Path) -> float:
    """Validation perplexity of the published training, seeded as its own script does it.

    Their ``model``, their ``train`` and their loop over epochs as they stand. The weights that
    they would have saved last are evaluated by the function that evaluates ours, and their own
    function must agree. Raises ArithmeticError where it does not.
    """
    published = begin(seed, spec, corpus, root)
    best = LanguageModel(spec.model, spec.corpus.vocabulary)
    published.when_saving(lambda: take_weights(best, published.model))
    published.run_epochs()
    perplexity = _perplexity(best, spec, corpus)
    own = math.exp(published.best_loss)
    if abs(own / perplexity - 1) > AGREEMENT:
        message = f"the same weights have perplexity {own} by their function, {perplexity} by ours"
        raise ArithmeticError(message)
    return perplexity


def begin(seed: int, spec: TrainingSpec, corpus: CorpusData, root: Path) -> Published:
    """The published training before its first step, its weights drawn."""
    np.random.seed(seed)  # noqa: NPY002
    torch.manual_seed(seed)
    reference, recipe = load_reference(root, "awd-lstm-lm"), spec.recipe
    model = reference.build(spec.model, spec.corpus.vocabulary, recipe)
    train_LB = batchify(corpus.train, recipe.batch_size)
    valid_LB = batchify(corpus.valid, recipe.valid_batch_size)
    return Published(reference, model, recipe, train_LB, valid_LB)


def _perplexity(model: LanguageModel, spec: TrainingSpec, corpus: CorpusData) -> float:
    loss, _ = mean_loss(model, corpus.valid, spec.recipe.valid_batch_size)
    return math.exp(loss)
