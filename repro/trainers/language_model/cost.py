"""What the trainers of language models and of dialog models have in common: work, memory, disk."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from repro.trainers.base import STEP
from repro.trainers.measurement import MeasurementSpec
from repro.trainers.trainer import PROCESS_MEMORY, Cost, Device, Facts, Trainer

KEPT = 6.0
"""Copies of the weights while one replicate is trained: gradients, average, best, two to write."""

ACTIVATIONS = 10.0
"""Numbers that one LSTM layer keeps for each output and token: gates, cell, masks, gradients."""


class Networks(Trainer[Any]):
    """A trainer of networks, whose configurations have a model, a corpus and a recipe."""

    @abstractmethod
    def activations(self, spec: Any) -> float:
        """Numbers that training keeps for each token before the output layer."""

    def cost(self, spec: Any, measurements: Sequence[MeasurementSpec]) -> Cost:
        """The text through the network, forward and back."""
        weights, tokens = spec.multiplied_weights, spec.corpus.tokens
        steps = tokens.train / spec.step_tokens
        epoch = 6 * weights * tokens.train + 2 * weights * tokens.valid + STEP * steps
        measured = {each.key: each.cost(spec) for each in measurements}
        return Cost(spec.recipe.most_epochs * float(epoch), measured)

    def memory(self, spec: Any, measurements: Sequence[MeasurementSpec]) -> float:
        """Bytes that a process needs for a run, roughly, on the generous side.

        Training holds the weights, their gradients, average and best, and two copies to write a
        checkpoint; dynamic evaluation holds less.
        """
        held = max((each.memory(spec) for each in measurements), default=0.0)
        return PROCESS_MEMORY + max(6 * self.disk(spec), self.disk(spec) + held)

    def disk(self, spec: Any) -> float:
        """Bytes of the weights."""
        return float(spec.parameters * _number(spec))

    def replicate_memory(self, spec: Any) -> float:
        """Weights, and what is kept for the tokens of a step."""
        model = spec.model
        latent = 4.0 * model.output.latent_contexts * model.decoder_size
        kept = self.activations(spec) + latent
        return float(_number(spec) * (KEPT * spec.parameters + self.at_once(spec) * kept))

    def at_once(self, spec: Any) -> float:
        """How many tokens go through the network at once, with a margin."""
        return float(1.5 * spec.step_tokens)

    @contextmanager
    def numerics(self, device: Device) -> Iterator[Facts]:
        """One thread and deterministic algorithms on a CPU; no TF32 unless a recipe declares it."""
        from repro.trainers.devices import numerics  # noqa: PLC0415 - has torch

        with numerics(device) as facts:
            yield facts


def _number(spec: Any) -> float:
    """Bytes of one number."""
    return {"float32": 4.0, "float64": 8.0}[spec.recipe.precision]
