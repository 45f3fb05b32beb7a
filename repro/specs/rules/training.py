"""Settings of training and measuring that change nothing, or that no text is long enough for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from repro.schema.messages import Words
from repro.trainers.base import LEAST_TOKENS, too_short
from repro.trainers.language_model.recipe import Recipe, Window
from repro.trainers.language_model.spec import (
    Model,
    TextCorpus,
    TrainingSpec,
)
from repro.trainers.run import AnyTraining


class Idle(NamedTuple):
    """A setting that changes no number of a training."""

    setting: str
    why: str
    advice: str = "leave it out, or change the model"


def idle_settings(training: AnyTraining) -> Iterator[Idle]:
    """Settings that change no number of this training, why, and what to do."""
    model = training.model
    if training.recipe.dropout.latent and not model.mixes():
        yield Idle("recipe.dropout.latent", f"output {model.output.kind} has no latent contexts")
    if isinstance(training, TrainingSpec):
        yield from _idle_on_text(training.model, training.recipe)


def _idle_on_text(model: Model, recipe: Recipe) -> Iterator[Idle]:
    one_layer = model.layers == 1 and model.trunk is None
    if recipe.dropout.hidden and one_layer:
        yield Idle("recipe.dropout.hidden", "with one layer there is nothing between layers")
    if one_layer and model.hidden_size != model.context_size:
        advice = f"write {model.context_size}, as context_size, or change the model"
        yield Idle("model.hidden_size", "the only layer has the size context_size", advice)
    if recipe.stop is not None and recipe.stop.patience >= recipe.epochs - 1:
        yield Idle("recipe.stop.patience", "training has no more epochs than would be waited for")
    yield from _idle_of_window("recipe.window", recipe.window)
    if recipe.late and _one_rate(recipe):
        yield Idle("recipe.averaging.rate", "all steps have one rate")
    if recipe.finetuning is not None:
        if recipe.finetuning.window is not None:
            yield from _idle_of_window("recipe.finetuning.window", recipe.finetuning.window)
        stage = recipe.stage(recipe.epochs + 1)
        if stage.late and _one_rate(stage):
            yield Idle("recipe.finetuning.rate", "all steps have one rate")


def _idle_of_window(place: str, window: Window) -> Iterator[Idle]:
    if window.max_delta is not None and not window.random:
        yield Idle(f"{place}.max_delta", "the windows are not random")
    if window.last_rate is not None and not window.random:
        yield Idle(f"{place}.last_rate", "the windows are not random, so all have one rate")


def _one_rate(recipe: Recipe) -> bool:
    return recipe.decay == "constant" and not recipe.window.random


def unnamed_files(training: TrainingSpec, whose: str, where: str) -> Iterator[Words]:
    """A corpus without digests is a blank: whatever lies in its place would be trained on."""
    corpus = training.corpus
    if isinstance(corpus, TextCorpus) and corpus.sha256 is None:
        unit = "" if corpus.unit is None else f" --unit {corpus.unit}"
        what = f"corpus '{corpus.name}' {whose} does not say which files it is"
        advice = f"write in {where} what `repro corpus {corpus.name}{unit}` prints"
        yield what, "sha256, the digest of each file", advice


def short_texts(training: TrainingSpec, whose: str) -> Iterator[Words]:
    """A batch reads the text in as many parallel streams; each needs something to predict."""
    tokens, recipe = training.corpus.tokens, training.recipe
    for key, size, count, split in (
        ("batch_size", recipe.batch_size, tokens.train, "train"),
        ("valid_batch_size", recipe.valid_batch_size, tokens.valid, "valid"),
    ):
        if count // size < LEAST_TOKENS:
            yield too_short(f"recipe.{key} {whose}", size, count, split)
