"""Training and measuring by the kind of a configuration: language models and dialog models.

What a run trains: a language model on a text, or a dialog model on dialogs.

For those to whom it makes no difference; nothing here is imported by either of the two.

Measurements: from a trained model, or its training history, to a number.

`measure` takes any measurement's specification to its value. `details` are small facts that
belong to the value (a curve, a threshold, a control), `arrays` larger ones (a spectrum).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

import torch

from repro.trainers.dialog import training as dialog
from repro.trainers.dialog.corpus import DialogData, load_dialogs
from repro.trainers.dialog.evaluation import dialog_bleu, dialog_perplexity, dialog_rank
from repro.trainers.dialog.model import DialogModel
from repro.trainers.dialog.spec import DialogCorpus, DialogTrainingSpec
from repro.trainers.language_model import corpus as texts
from repro.trainers.language_model import training as language
from repro.trainers.language_model.checkpoint import Progress, TrainedRun
from repro.trainers.language_model.corpus import CorpusData
from repro.trainers.language_model.measurements.perplexity import (
    dynamic_perplexity,
    evaluation_perplexity,
    training_perplexity,
)
from repro.trainers.language_model.measurements.rank import measure_rank
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.optimiser import learning_rates
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.language_model.training import DTYPES
from repro.trainers.measurement import Measurable, Perplexity, Rank
from repro.trainers.run import AnyCorpus, AnyTraining, RunSpec

if TYPE_CHECKING:
    import numpy as np

    from repro.trainers.language_model.checkpoint import EpochRecord


AnyData = CorpusData | DialogData


AnyModel = LanguageModel | DialogModel


AnyTrained = TrainedRun[LanguageModel] | TrainedRun[DialogModel]


def load(spec: AnyCorpus, data: Path | None) -> AnyData:
    """Read a corpus; DataError when a file is missing or is not what ``spec`` states."""
    if isinstance(spec, DialogCorpus):
        return load_dialogs(spec, data)
    return texts.load_corpus(spec, data)


def train(
    batch: Sequence[RunSpec],
    corpus: AnyData,
    *,
    device: torch.device,
    folders: Sequence[Path | None],
    progress: Callable[[Progress], None] | None = None,
    together: bool = False,
) -> Sequence[AnyTrained]:
    """Train runs of one configuration, as one batched model if they are to be ``together``.

    Dialog models are trained in turn in any case. Raises what the training of each of the two
    raises.
    """
    if isinstance(corpus, DialogData):
        return dialog.train(batch, corpus, device=device, folders=folders, progress=progress)
    return language.train(
        batch, corpus, device=device, folders=folders, progress=progress, together=together
    )


def build(training: AnyTraining) -> AnyModel:
    """The model of a configuration, its parameters empty."""
    dtype, vocabulary = DTYPES[training.recipe.precision], training.corpus.vocabulary
    match training:
        case TrainingSpec():
            return LanguageModel(training.model, vocabulary, dtype)
        case DialogTrainingSpec():
            return DialogModel(training.model, vocabulary, dtype)
        case _:
            assert_never(training)


def try_out(training: AnyTraining) -> None:
    """Build the model, and its optimiser as far as its recipe can be wrong about it: DataError."""
    model = build(training)
    if isinstance(training, TrainingSpec) and isinstance(model, LanguageModel):
        learning_rates(model, training.recipe)


@dataclass(frozen=True, slots=True)
class Measured:
    """A number, small facts about it (JSON), and arrays worth keeping."""

    value: float
    details: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)


def measure(
    measurement: Measurable,
    *,
    model: AnyModel,
    history: Sequence[EpochRecord],
    best_epoch: int,
    corpus: AnyData,
    device: torch.device,
    run: RunSpec | None = None,
) -> Measured:
    """The value of ``measurement`` on a trained model (best checkpoint, evaluation mode).

    The model is as it was afterwards. Only a measurement that draws random numbers needs to know
    the ``run``; ValueError if it does not, and for a measurement that such a model has not.
    """
    if isinstance(measurement, Perplexity) and measurement.mode == "training":
        value = training_perplexity(history, best_epoch, measurement.weight)
        return Measured(measurement.in_unit(value))
    if isinstance(model, DialogModel) and isinstance(corpus, DialogData):
        return _of_dialogs(measurement, model, corpus)
    if isinstance(model, LanguageModel) and isinstance(corpus, CorpusData):
        return _of_text(measurement, model, corpus, device, run)
    raise ValueError("the model is not for this corpus: one of them is of dialogs")


def _of_text(
    measurement: Any,
    model: LanguageModel,
    corpus: CorpusData,
    device: torch.device,
    run: RunSpec | None,
) -> Measured:
    tokens = corpus.split(measurement.split).to(device)
    match measurement:
        case Perplexity(mode="dynamic"):
            value, details = dynamic_perplexity(measurement, model, corpus, run)
            return Measured(measurement.in_unit(value), details)
        case Perplexity(batch_size=streams):
            value, counted = evaluation_perplexity(model, tokens, streams)
            return Measured(measurement.in_unit(value), {"tokens": counted})
        case Rank(batch_size=streams, contexts=first):
            value, details, spectrum = measure_rank(model, tokens, streams, first)
            return Measured(value, details, {"singular_values": spectrum})
        case _:
            raise ValueError("a language model answers nothing: it has no BLEU")


def _of_dialogs(measurement: Any, model: DialogModel, corpus: DialogData) -> Measured:
    split = corpus.split(measurement.split)
    match measurement:
        case Perplexity(mode="dynamic"):
            raise ValueError("there is no dynamic evaluation of a dialog model")
        case Perplexity():
            value, counted = dialog_perplexity(model, split)
            return Measured(measurement.in_unit(value), {"tokens": counted})
        case Rank(contexts=first):
            value, details, spectrum = dialog_rank(model, split, first)
            return Measured(value, details, {"singular_values": spectrum})
        case _:
            return Measured(*dialog_bleu(measurement, model, split, corpus.words))
