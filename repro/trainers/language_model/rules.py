"""Settings of a training that change nothing, or that no text is long enough for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from repro.schema.messages import Words, choose
from repro.schema.yaml import Steps
from repro.trainers.base import LEAST_TOKENS, too_short
from repro.trainers.language_model.recipe import Recipe, WindowLength
from repro.trainers.language_model.spec import Model, Own, TextCorpus, TrainingSpec, parts
from repro.trainers.trainer import Idle


def idle_dropout(training: Any) -> Iterator[Idle]:
    """Dropout of latent contexts that no output layer but a mixture has."""
    if training.recipe.dropout.latent and not training.model.mixes():
        kind = training.model.output.kind
        yield Idle("recipe.dropout.latent", f"output {kind} has no latent contexts")


def idle_settings(training: TrainingSpec) -> Iterator[Idle]:
    """Settings that change no number of this training, why, and what to do."""
    yield from idle_dropout(training)
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


def _idle_of_window(place: str, window: WindowLength) -> Iterator[Idle]:
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


def unknown_parts(training: TrainingSpec) -> Iterator[tuple[Steps, Words]]:
    """Learning rates for parts that the model does not have, where its specification can tell."""
    model, rates = training.model, training.recipe.learning_rates or {}
    own = [name for name in ("output", "trunk") if isinstance(getattr(model, name), Own)]
    known = parts(model)
    for name in rates:
        if name in known or name.partition(".")[0] in own:
            continue
        what = f"recipe.learning_rates: the model has no part '{name}' that is trained"
        shown = ", ".join(part for part in known if part.count(".") < 3)
        steps: Steps = ("recipe", "learning_rates", name)
        yield steps, (what, f"one of {shown}", choose(name, known))


SCHEDULE = (
    *("epochs", "batch_size", "learning_rate", "decay", "window", "clip", "averaging"),
    *("finetuning", "stop", "learning_rates", "optimiser"),
)
"""The settings of a recipe that say how steps are taken, where it has them."""

PRECISION = ("precision", "products")
"""The settings of a recipe that say how numbers are rounded."""


def comparable(training: Any) -> dict[str, Any]:
    """What arms may be declared to have the same, by the name that a claim gives it."""
    recipe = training.recipe
    return {
        "corpus": training.corpus,
        "precision": {name: getattr(recipe, name) for name in PRECISION},
        "epochs": recipe.most_epochs,
        "averaging": recipe.averaging,
        "schedule": {name: getattr(recipe, name, None) for name in SCHEDULE},
    }
