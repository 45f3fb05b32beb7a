"""Runs of one configuration, parted into tasks: how many may be trained as one model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repro.specs.model import latent_contexts
from repro.specs.run import AnyTraining, DialogTrainingSpec, PlannedRun
from repro.store import RunStore
from repro.store.work import PROCESS_MEMORY, memory, remaining

MOST_TOGETHER = 16
"""Replicates in one model at most: more wait for each other, and win little."""

KEPT = 6.0
"""Copies of the weights while one replicate is trained: see ``repro.store.work.memory``."""

ACTIVATIONS = 10.0
"""Numbers that one LSTM layer keeps for each output and token: gates, cell, masks, gradients."""


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that differ in their replicate alone and are to be trained, the longest first."""

    runs: tuple[PlannedRun, ...]
    flops: float

    @property
    def training(self) -> AnyTraining:
        """Their configuration."""
        return self.runs[0].run.training

    def together(self, at_once: int, available: float) -> int:
        """Replicates in a model: as many as ``at_once`` tasks may have, in equal parts.

        ``available`` is in bytes, for each of the tasks. 1 for dialog models and for a trunk of the
        user's own, whose replicates are trained in turn in any case.
        """
        training = self.training
        if isinstance(training, DialogTrainingSpec) or training.model.trunk is not None:
            return 1
        each = replicate_memory(self.training)
        room = max(0.0, available - PROCESS_MEMORY) / each
        most = max(1, int(min(room, MOST_TOGETHER)))
        parts = max(-(-len(self.runs) // most), min(at_once, len(self.runs)))
        return -(-len(self.runs) // parts)

    def parts(self, together: int) -> list[tuple[PlannedRun, ...]]:
        """The runs in parts of at most ``together``, whose sizes differ by one at most."""
        count = -(-len(self.runs) // together)
        return [self.runs[index::count] for index in range(count)]


def grouped(
    todo: Sequence[PlannedRun], store: RunStore
) -> tuple[list[Group], list[tuple[PlannedRun, ...]]]:
    """What is to be trained, by configuration; and each run that is only to be measured."""
    found: dict[tuple[str, int, str], list[tuple[PlannedRun, float]]] = {}
    trained: list[tuple[PlannedRun, ...]] = []
    for planned in todo:
        run, flops = planned.run, remaining(store, planned).training
        if flops == 0:
            trained.append((planned,))
        else:
            name = (run.training.digest(), run.root, run.streams)
            found.setdefault(name, []).append((planned, flops))
    groups = [
        Group(tuple(planned for planned, _ in each), sum(flops for _, flops in each))
        for each in found.values()
    ]
    return groups, trained


def replicate_memory(training: AnyTraining) -> float:
    """Bytes that one more replicate needs while it is trained, roughly, on the generous side."""
    recipe, model = training.recipe, training.model
    tokens = 1.5 * training.step_tokens
    if isinstance(training, DialogTrainingSpec):
        utterances = 2 * training.corpus.context * training.model.utterance_size
        numbers = ACTIVATIONS * (utterances + model.context_size)
    else:
        tokens *= (training.recipe.small_batch_size or recipe.batch_size) / recipe.batch_size
        numbers = ACTIVATIONS * sum(size for _, size in training.model.layer_sizes())
    numbers += 4.0 * latent_contexts(model.output) * model.decoder_size
    size = 8.0 if recipe.precision == "float64" else 4.0
    return size * (KEPT * training.parameters + tokens * numbers)


def task_memory(runs: Sequence[PlannedRun]) -> float:
    """Bytes that a process needs to train these runs as one model, and then to measure each."""
    training = PROCESS_MEMORY + len(runs) * replicate_memory(runs[0].run.training)
    return max(training, *(memory(each) for each in runs))
