"""Settings of training and measuring that change nothing, or that no text is long enough for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from repro.errors import Problem
from repro.specs.configuration import AnyConfiguration, Configuration
from repro.specs.corpus import TextCorpus
from repro.specs.draft import Draft
from repro.specs.measurement import Bleu, Measurable, Perplexity, Rank
from repro.specs.model import Model
from repro.specs.recipe import Recipe, Window
from repro.specs.wording import Words
from repro.specs.yaml import Steps

LEAST_TOKENS = 2
"""A stream of fewer tokens has no pair of a word and its successor, so nothing to predict."""


class Idle(NamedTuple):
    """A setting that changes no number of a training."""

    setting: str
    why: str
    advice: str = "leave it out, or change the model"


def _no_idle_settings(draft: Draft) -> Iterator[Problem]:
    """A setting that changes nothing would look like a difference between arms."""
    for name, steps, configuration in configured(draft):
        for idle in idle_settings(configuration):
            what = f"{idle.setting} of arm '{name}' has no effect: {idle.why}"
            yield draft.problem(steps, what, "only settings that have an effect", idle.advice)


def configured(draft: Draft) -> Iterator[tuple[str, Steps, AnyConfiguration]]:
    """The arms that are trained and could be read: name, where each is written, configuration."""
    for name, part in draft.arms.items():
        if part.value is not None and part.value.configuration is not None:
            yield name, part.steps, part.value.configuration


def _on_text(draft: Draft) -> Iterator[tuple[str, Steps, Configuration]]:
    """Those that train a language model, on a text that is read in parallel streams."""
    for name, steps, configuration in configured(draft):
        if isinstance(configuration, Configuration):
            yield name, steps, configuration


def idle_settings(configuration: AnyConfiguration) -> Iterator[Idle]:
    """Settings that change no number of this training, why, and what to do."""
    model = configuration.model
    if configuration.recipe.dropout.latent and not model.mixes():
        yield Idle("recipe.dropout.latent", f"output {model.output.kind} has no latent contexts")
    if isinstance(configuration, Configuration):
        yield from _idle_on_text(configuration.model, configuration.recipe)


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


def _files_named(draft: Draft) -> Iterator[Problem]:
    for name, steps, configuration in _on_text(draft):
        for words in unnamed_files(configuration, f"of arm '{name}'", "the arm's override"):
            yield draft.problem(steps, *words)


def unnamed_files(configuration: Configuration, whose: str, where: str) -> Iterator[Words]:
    """A corpus without digests is a blank: whatever lies in its place would be trained on."""
    corpus = configuration.corpus
    if isinstance(corpus, TextCorpus) and corpus.sha256 is None:
        unit = "" if corpus.unit is None else f" --unit {corpus.unit}"
        what = f"corpus '{corpus.name}' {whose} does not say which files it is"
        advice = f"write in {where} what `repro corpus {corpus.name}{unit}` prints"
        yield what, "sha256, the digest of each file", advice


def _batches_fit(draft: Draft) -> Iterator[Problem]:
    for name, steps, configuration in _on_text(draft):
        for words in short_texts(configuration, f"of arm '{name}'"):
            yield draft.problem(steps, *words)


def short_texts(configuration: Configuration, whose: str) -> Iterator[Words]:
    """A batch reads the text in as many parallel streams; each needs something to predict."""
    tokens, recipe = configuration.corpus.tokens, configuration.recipe
    for key, size, count, split in (
        ("batch_size", recipe.batch_size, tokens.train, "train"),
        ("valid_batch_size", recipe.valid_batch_size, tokens.valid, "valid"),
    ):
        if count // size < LEAST_TOKENS:
            yield _too_short(f"recipe.{key} {whose}", size, count, split)


def _measured_batches_fit(draft: Draft) -> Iterator[Problem]:
    for steps, measurement in taken(draft):
        for key, size, split in _streams(measurement):
            for name, _, configuration in _on_text(draft):
                count = getattr(configuration.corpus.tokens, split)
                if count // size < LEAST_TOKENS:
                    subject = f"{key}, for arm '{name}',"
                    words = _too_short(subject, size, count, split)
                    yield draft.problem(steps, *words)
                    break


def _contexts_fit(draft: Draft) -> Iterator[Problem]:
    for steps, measurement in taken(draft):
        if not isinstance(measurement, Rank) or measurement.contexts is None:
            continue
        for name, _, configuration in _on_text(draft):
            rows = measurement.rows(getattr(configuration.corpus.tokens, measurement.split))
            if 0 < rows < measurement.contexts:
                what = (
                    f"contexts is {measurement.contexts:,}, and the {measurement.split} split of "
                    f"arm '{name}' has {rows:,}"
                )
                advice = "take fewer, or leave it out for all"
                yield draft.problem((*steps, "contexts"), what, f"at most {rows:,}", advice)
                break


def _streams(measurement: Measurable) -> Iterator[tuple[str, int, str]]:
    """What says in how many streams a split is read, how many, and of which split."""
    if isinstance(measurement, Bleu):
        return
    yield "batch_size", measurement.batch_size, measurement.split
    if isinstance(measurement, Perplexity) and measurement.dynamic is not None:
        size = measurement.dynamic.statistics_batch_size
        yield "dynamic.statistics_batch_size", size, "train"


def taken(draft: Draft) -> Iterator[tuple[Steps, Measurable]]:
    """The measurements that are taken here and could be read, and where each is written."""
    for part in draft.measurements.values():
        if isinstance(part.value, Perplexity | Rank | Bleu):
            yield part.steps, part.value


def _too_short(subject: str, size: int, count: int, split: str) -> Words:
    what = (
        f"{subject} is {size:,}: the {count:,} tokens of the {split} split leave "
        f"{count // size} a stream, and a prediction needs {LEAST_TOKENS}"
    )
    expected = f"at most {max(1, count // LEAST_TOKENS):,}"
    return what, expected, "choose a smaller batch, or a longer text"


def _training_mode(draft: Draft) -> Iterator[Problem]:
    for steps, value in taken(draft):
        if isinstance(value, Perplexity) and value.mode == "training" and value.split != "train":
            what = f"nothing is trained on the {value.split} split, so mode training has no value"
            advice = "write `split: train`, or leave the mode out"
            yield draft.problem((*steps, "split"), what, "train", advice)


RULES = (
    _no_idle_settings,
    _files_named,
    _batches_fit,
    _measured_batches_fit,
    _contexts_fit,
    _training_mode,
)
