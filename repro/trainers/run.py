"""What running receives: resolved runs, their keys, and the plan.

A run is one configuration with one seed. Its key is the SHA-256 of everything that determines
its numbers and of nothing else: no host, no path, no device, no name of a claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import Field

from repro.digest import digest
from repro.schema.base import Spec
from repro.trainers.base import RUN_SCHEMA, older_revisions
from repro.trainers.dialog.spec import DialogCorpus, DialogTrainingSpec
from repro.trainers.language_model.spec import Corpus, Own, TrainingSpec
from repro.trainers.measurement import Measurable

AnyTraining = TrainingSpec | DialogTrainingSpec


AnyCorpus = Corpus | DialogCorpus


def code_of(training: AnyTraining) -> dict[str, Own]:
    """The parts of a model that are code of others, `trunk` before `output`."""
    trunk = training.model.trunk if isinstance(training, TrainingSpec) else None
    parts = {"trunk": trunk, "output": training.model.output}
    return {name: part for name, part in parts.items() if isinstance(part, Own)}


class RunSpec(Spec):
    """One replicate of one configuration.

    ``streams`` says what the random streams are keyed by: ``independent`` (configuration and
    replicate: arms share no randomness) or ``paired`` (replicate only: common random numbers).
    """

    training: AnyTraining
    replicate: int = Field(ge=0, lt=10**6)
    root: int = Field(default=0, ge=0, lt=2**32)
    streams: Literal["independent", "paired"] = "independent"

    def identity(self, revisions: Mapping[str, int] | None = None) -> dict[str, Any]:
        """The document that is hashed into the key."""
        return {
            "schema": RUN_SCHEMA,
            "training": self.training.identity(revisions),
            "replicate": self.replicate,
            "root": self.root,
            "streams": self.streams,
        }

    @property
    def language(self) -> TrainingSpec:
        """Its configuration, which is that of a language model; ValueError if it is not."""
        match self.training:
            case TrainingSpec() as training:
                return training
            case _:
                raise ValueError(f"run {self.key} trains a dialog model, and no language model")

    @property
    def dialog(self) -> DialogTrainingSpec:
        """Its configuration, which is that of a dialog model; ValueError if it is not."""
        match self.training:
            case DialogTrainingSpec() as training:
                return training
            case _:
                raise ValueError(f"run {self.key} trains a language model, and no dialog model")

    @property
    def key(self) -> str:
        """64 hexadecimal digits that name this run in every store in the world."""
        return digest(self.identity())

    def older_keys(self) -> Iterator[str]:
        """The keys that this run had under earlier revisions of its components."""
        for revisions in older_revisions(self.training.components):
            yield digest(self.identity(revisions))


class PlannedRun(Spec):
    """A run and the measurements that are asked for.

    ``label`` is what a reader calls it, ``arm`` its arm and the name of its configuration.
    """

    run: RunSpec
    measurements: tuple[Measurable, ...]
    label: str = ""
    arm: str = ""
