"""The trainer of language models: what it costs, what it needs, how it trains and measures."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.files import NotRegularError, opened
from repro.schema.messages import Words
from repro.schema.yaml import Steps
from repro.trainers.language_model import rules
from repro.trainers.language_model.cost import ACTIVATIONS, Networks
from repro.trainers.language_model.spec import Digests, Own, SyntheticCorpus, TrainingSpec
from repro.trainers.measurement import Measured, MeasurementSpec
from repro.trainers.run import RunSpec
from repro.trainers.trainer import Device, Effort, Finished, Idle, Report

if TYPE_CHECKING:
    from repro.trainers.language_model.corpus import CorpusData

SPLITS = ("train", "valid", "test")


class LanguageModels(Networks):
    """Recurrent language models on a text."""

    Spec = TrainingSpec

    def misnamed(self, spec: TrainingSpec) -> Iterator[tuple[Steps, Words]]:
        """Learning rates for parts that the model does not have."""
        return rules.unknown_parts(spec)

    def mistakes(self, spec: TrainingSpec, whose: str, where: str) -> Iterator[Words]:
        """A text that is not named by its files, or that is too short to be read in batches."""
        yield from rules.unnamed_files(spec, whose, where)
        yield from rules.short_texts(spec, whose)

    def idle(self, spec: TrainingSpec) -> Iterator[Idle]:
        """Settings that change no number."""
        return rules.idle_settings(spec)

    def comparable(self, spec: TrainingSpec) -> Mapping[str, Any]:
        """Corpus and recipe."""
        return rules.comparable(spec)

    def effort(self, spec: TrainingSpec) -> Effort:
        """Epochs over the text; settings are ranked by validation loss."""
        ranked_by = {"recipe.valid_batch_size": spec.recipe.valid_batch_size}
        return Effort(spec.recipe.most_epochs, spec.corpus.tokens.train, ranked_by)

    def activations(self, spec: TrainingSpec) -> float:
        """Of every LSTM layer."""
        return ACTIVATIONS * sum(size for _, size in spec.model.layer_sizes())

    def at_once(self, spec: TrainingSpec) -> float:
        """Less where a part of the batch is taken at a time."""
        recipe = spec.recipe
        share = (recipe.small_batch_size or recipe.batch_size) / recipe.batch_size
        return super().at_once(spec) * share

    def batched(self, spec: TrainingSpec) -> bool:
        """Only the trunk of AWD-LSTM has a batched recurrence."""
        return spec.model.trunk is None

    def reads(self, spec: TrainingSpec) -> Hashable:
        """The text, by its digests."""
        return spec.corpus

    def lacking(self, spec: TrainingSpec, data: Path | None) -> str:
        """What is wrong with the files of the text."""
        corpus = spec.corpus
        if isinstance(corpus, SyntheticCorpus):
            return ""
        return lacking_files(corpus.name, "txt", corpus.sha256, data)

    def others_code(self, spec: TrainingSpec) -> dict[str, Own]:
        """A trunk and an output layer of the user's own."""
        model = spec.model
        parts = {"model.trunk": model.trunk, "model.output": model.output}
        return {place: part for place, part in parts.items() if isinstance(part, Own)}

    def try_out(self, spec: TrainingSpec) -> None:
        """Build the model, and its optimiser as far as its recipe can be wrong about it."""
        from repro.trainers.language_model import training as networks  # noqa: PLC0415 - has torch

        networks.try_out(spec)

    def load(self, spec: TrainingSpec, data: Path | None) -> CorpusData:
        """The text."""
        from repro.trainers.language_model import corpus  # noqa: PLC0415 - has torch

        return corpus.load_corpus(spec.corpus, data)

    def train(
        self,
        batch: Sequence[RunSpec],
        corpus: Any,
        *,
        device: Device,
        folders: Sequence[Path],
        progress: Report,
        together: bool,
    ) -> Sequence[Finished]:
        """Each run by itself, or all of them as one batched model."""
        import torch  # noqa: PLC0415 - a plan needs none

        from repro.trainers.language_model import training  # noqa: PLC0415 - has torch

        where = torch.device(device)
        trained = training.train(
            batch, corpus, device=where, folders=folders, progress=progress, together=together
        )
        return [each.finished() for each in trained]

    def measurer(
        self, finished: Finished, corpus: Any, device: Device
    ) -> Callable[[MeasurementSpec], Measured]:
        """Measurements of the stored weights."""
        import torch  # noqa: PLC0415 - a plan needs none

        from repro.trainers.language_model import training  # noqa: PLC0415 - has torch
        from repro.trainers.language_model.checkpoint import EpochRecord  # noqa: PLC0415 - has torch

        where = torch.device(device)
        model = training.build(TrainingSpec.of(finished.run))
        history = tuple(EpochRecord(**row) for row in finished.history)
        training.restore(model, finished.weights or {}, where)
        return lambda measurement: training.measure(
            measurement,
            model=model,
            history=history,
            best_epoch=finished.best_epoch or 0,
            corpus=corpus,
            device=where,
            run=finished.run,
        )


def lacking_files(name: str, ending: str, sha256: Digests | None, data: Path | None) -> str:
    """What is wrong with the files of a corpus, the first thing only."""
    need = f"needs the corpus {name}"
    names = [f"{name}/{split}.{ending}" for split in SPLITS]
    if data is None:
        first, second, third = names
        return f"{need}: set REPRO_DATA to the folder that has {first}, {second} and {third}"
    if sha256 is None:
        place = data / name
        return f"{need}: its configuration does not say which files it is; see repro corpus {place}"
    wrong = (_file(data / each, str(getattr(sha256, Path(each).stem))) for each in names)
    return next((f"{need}: {line}" for line in wrong if line), "")


def _file(path: Path, expected: str) -> str:
    """Why a file is not the one that a corpus names; empty if it is."""
    try:
        with opened(path) as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except NotRegularError:
        return f"{path} is not a regular file; put the corpus there"
    except OSError as error:
        reason = error.strerror or error
        return f"{path} cannot be read ({reason}); put it there, or set REPRO_DATA to its folder"
    if found != expected:
        return (
            f"{path} is another file: its SHA-256 begins with {found[:12]}, that of the corpus "
            f"with {expected[:12]}; restore the original"
        )
    return ""
