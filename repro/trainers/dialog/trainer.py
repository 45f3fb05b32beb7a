"""The trainer of dialog models, as far as it differs from that of language models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from repro.trainers.dialog.spec import DialogTrainingSpec
from repro.trainers.language_model.trainer import ACTIVATIONS, Networks


class DialogModels(Networks):
    """Sequence-to-sequence models on dialogs, trained one after the other."""

    Spec = DialogTrainingSpec
    ending = "jsonl"

    def networks(self) -> Any:
        from repro.trainers.dialog import training  # noqa: PLC0415 - has torch

        return training

    def recognises(self, document: dict[str, Any]) -> bool:
        """Its corpus or its model is of dialogs."""
        parts = (("corpus", "dialog"), ("model", "seq2seq"))
        found = ((document.get(key), kind) for key, kind in parts)
        return any(isinstance(part, dict) and part.get("kind") == kind for part, kind in found)

    def activations(self, spec: DialogTrainingSpec) -> float:
        """Of the utterances that are read, and of the response."""
        utterances = 2 * spec.corpus.context * spec.model.utterance_size
        return ACTIVATIONS * (utterances + spec.model.context_size)

    def describe(self, folder: Path, *, unit: str, last: str) -> dict[str, Any]:
        """``last`` is written out, so that it replaces that of a configuration."""
        from repro.trainers.dialog import corpus  # noqa: PLC0415 - has numpy

        found = corpus.describe_dialogs(folder, last_unused=last == "unused")
        document = {**found.model_dump(exclude_defaults=True), "kind": found.kind}
        return {**document, "last": "unused" if last == "unused" else "null"}

    def load(self, spec: DialogTrainingSpec, data: Path | None) -> Any:
        from repro.trainers.dialog import corpus  # noqa: PLC0415 - has torch

        return corpus.load_dialogs(spec.corpus, data)
