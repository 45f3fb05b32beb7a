"""What a run trains: a language model on a text, or a dialog model on dialogs.

For those to whom it makes no difference; nothing here is imported by either of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import assert_never

import torch

from repro.lm import corpus as texts
from repro.lm import training as language
from repro.lm.corpus import CorpusData
from repro.lm.dialog import training as dialog
from repro.lm.dialog.corpus import DialogData, load_dialogs
from repro.lm.dialog.model import DialogModel
from repro.lm.model import LanguageModel
from repro.lm.optimiser import learning_rates
from repro.lm.records import Progress, TrainedRun
from repro.lm.replicates import DTYPES
from repro.specs.dialog import DialogCorpus
from repro.specs.run import AnyCorpus, AnyTraining, DialogTrainingSpec, RunSpec, TrainingSpec

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
