"""Their side: the published training and evaluation, on the same words."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from benchmarks.published import Published, published_step
from benchmarks.references import Name, Reference, copy_weights, load_reference
from benchmarks.speed.metronome import Metronome
from benchmarks.speed.ours import CPU, EVALUATION_BATCH, evaluated_words
from benchmarks.speed.shapes import (
    QUIET_DROPOUT,
    Shape,
    random_corpus,
    random_words,
    run_of,
    training,
)
from repro.trainers.language_model.corpus import CorpusData, batchify
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.randomness import Streams, initialise
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.language_model.training import train

NAMES: dict[Shape, Name] = {"mos": "mos", "awd": "awd-lstm-lm"}
TOLERANCE = 1e-5
"""Relative difference that float32 may make between two ways to compute one loss."""


FEW = 20


class DifferentLossError(Exception):
    """Ours and theirs do not compute the same: to compare their speed would mean nothing."""


def training_steps(metronome: Metronome, *, references: str, shape: Shape) -> None:
    """Their ``train``, window by window."""
    spec = training(shape)
    text_LB = batchify(random_corpus(spec, windows=1).train, spec.recipe.batch_size)
    reference, model = _build(references, shape, spec)
    step = published_step(reference, model, spec.recipe, text_LB)
    model.train()
    while True:
        metronome.tick()
        step()


def evaluation(metronome: Metronome, *, references: str, shape: Shape) -> None:
    """Their ``evaluate``, in which no gradient is prepared."""
    spec = training(shape)
    reference, model = _build(references, shape, spec)
    words = random_words(evaluated_words(), spec.corpus.vocabulary, seed=1)
    text_LB = batchify(words, EVALUATION_BATCH)
    published = Published(reference, model, spec.recipe, text_LB)
    with torch.no_grad():
        while True:
            metronome.tick()
            published.evaluate(text_LB)


def losses(references: str, shape: Shape) -> dict[str, tuple[float, float]]:
    """Ours and theirs, in nats a word: of the same weights, and after the same training step.

    Without dropout, whose masks both draw in their own ways; over few words, so that one step
    is felt.
    """
    spec = training(shape, recipe={"dropout": QUIET_DROPOUT, "epochs": 1})
    run, corpus = run_of(spec), _few_words(random_corpus(spec, windows=1))
    own = LanguageModel(spec.model, spec.corpus.vocabulary)
    initialise(own, Streams(run))
    reference, model = _build(references, shape, spec)
    copy_weights(own, model)
    train_LB = batchify(corpus.train, spec.recipe.batch_size)
    valid_LB = batchify(corpus.valid, spec.recipe.valid_batch_size)
    step = published_step(reference, model, spec.recipe, train_LB)
    before = _their_loss(reference, model, spec, train_LB)
    step()
    after = _their_loss(reference, model, spec, valid_LB)
    (trained,) = train([run], corpus, device=CPU, folders=[None])
    (epoch,) = trained.history
    return {
        "before a step": (epoch.train_loss, before),
        "after a step": (epoch.valid_loss, after),
    }


def _few_words(corpus: CorpusData) -> CorpusData:
    train, valid, test = (words % FEW for words in (corpus.train, corpus.valid, corpus.test))
    return CorpusData(train, valid, test, corpus.words)


def checked_losses(references: str, shape: Shape) -> dict[str, tuple[float, float]]:
    """The losses; raises DifferentLossError unless each pair agrees."""
    found = losses(references, shape)
    require_equal(found)
    return found


def require_equal(found: dict[str, tuple[float, float]]) -> None:
    """Raises DifferentLossError unless each pair agrees to the precision of float32."""
    for moment, (own, other) in found.items():
        if not abs(own - other) <= TOLERANCE * abs(other):
            message = f"{moment}, our loss is {own:.7f} and theirs {other:.7f} nats a word"
            raise DifferentLossError(message)


def _their_loss(reference: Reference, model: nn.Module, spec: TrainingSpec, text: Tensor) -> float:
    with torch.no_grad():
        return Published(reference, model, spec.recipe, text).evaluate(text)


def _build(references: str, shape: Shape, spec: TrainingSpec) -> tuple[Reference, nn.Module]:
    reference = load_reference(Path(references), NAMES[shape])
    return reference, reference.build(spec.model, spec.corpus.vocabulary, spec.recipe)
