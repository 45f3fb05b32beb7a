"""The trainer of dialog models: what it costs, what it needs, how it trains and measures."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.trainers.dialog.spec import DialogTrainingSpec
from repro.trainers.language_model.cost import ACTIVATIONS, Networks
from repro.trainers.language_model.rules import comparable, idle_dropout
from repro.trainers.language_model.spec import Own
from repro.trainers.language_model.trainer import lacking_files
from repro.trainers.measurement import Measured, MeasurementSpec
from repro.trainers.run import RunSpec
from repro.trainers.trainer import Device, Finished, Idle, Report

if TYPE_CHECKING:
    from repro.trainers.dialog.corpus import DialogData


class DialogModels(Networks):
    """Sequence-to-sequence models on dialogs, trained one after the other."""

    Spec = DialogTrainingSpec

    def recognises(self, document: dict[str, Any]) -> bool:
        """Its corpus or its model is of dialogs."""
        parts = (("corpus", "dialog"), ("model", "seq2seq"))
        found = ((document.get(key), kind) for key, kind in parts)
        return any(isinstance(part, dict) and part.get("kind") == kind for part, kind in found)

    def idle(self, spec: DialogTrainingSpec) -> Iterator[Idle]:
        """Dropout of latent contexts where there are none."""
        return idle_dropout(spec)

    def comparable(self, spec: DialogTrainingSpec) -> Mapping[str, Any]:
        """Corpus and recipe."""
        return comparable(spec)

    def activations(self, spec: DialogTrainingSpec) -> float:
        """Of the utterances that are read, and of the response."""
        utterances = 2 * spec.corpus.context * spec.model.utterance_size
        return ACTIVATIONS * (utterances + spec.model.context_size)

    def reads(self, spec: DialogTrainingSpec) -> Hashable:
        """The dialogs, by their digests."""
        return spec.corpus

    def lacking(self, spec: DialogTrainingSpec, data: Path | None) -> str:
        """What is wrong with the files of the dialogs."""
        corpus = spec.corpus
        return lacking_files(corpus.name, "jsonl", corpus.sha256, data)

    def others_code(self, spec: DialogTrainingSpec) -> dict[str, Own]:
        """An output layer of the user's own."""
        output = spec.model.output
        return {"model.output": output} if isinstance(output, Own) else {}

    def try_out(self, spec: DialogTrainingSpec) -> None:
        """Build the model."""
        from repro.trainers.dialog import training as networks  # noqa: PLC0415 - has torch

        networks.build(spec)

    def load(self, spec: DialogTrainingSpec, data: Path | None) -> DialogData:
        """The dialogs."""
        from repro.trainers.dialog import corpus  # noqa: PLC0415 - has torch

        return corpus.load_dialogs(spec.corpus, data)

    def train(
        self,
        batch: Sequence[RunSpec],
        corpus: Any,
        *,
        device: Device,
        folders: Sequence[Path],
        progress: Report,
        together: bool,  # noqa: ARG002 - in turn in any case
    ) -> Sequence[Finished]:
        """Each run alone."""
        import torch  # noqa: PLC0415 - a plan needs none

        from repro.trainers.dialog import training  # noqa: PLC0415 - has torch

        where = torch.device(device)
        trained = training.train(batch, corpus, device=where, folders=folders, progress=progress)
        return [each.finished() for each in trained]

    def measurer(
        self, finished: Finished, corpus: Any, device: Device
    ) -> Callable[[MeasurementSpec], Measured]:
        """Measurements of the stored weights."""
        import torch  # noqa: PLC0415 - a plan needs none

        from repro.trainers.dialog import training  # noqa: PLC0415 - has torch
        from repro.trainers.language_model.checkpoint import EpochRecord  # noqa: PLC0415 - has torch
        from repro.trainers.language_model.training import restore  # noqa: PLC0415 - has torch

        model = training.build(DialogTrainingSpec.of(finished.run))
        restore(model, finished.weights or {}, torch.device(device))
        history = tuple(EpochRecord(**row) for row in finished.history)
        best = finished.best_epoch or 0
        return lambda measurement: training.measure(
            measurement, model=model, history=history, best_epoch=best, corpus=corpus
        )
