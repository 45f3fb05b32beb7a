"""How much work a run is, and how much memory: for an order and an estimate."""

from __future__ import annotations

from dataclasses import dataclass, field

from repro.trainers.measurement import STEP
from repro.trainers.run import PlannedRun

PROCESS_MEMORY = 0.5e9
"""Bytes of a process that has imported torch and loaded a corpus, roughly."""


FLOPS_PER_CORE = 3e10
"""Rate assumed where nothing was measured: half of what small models reach on a recent core."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Floating-point operations, roughly: of training, and of each measurement by its name."""

    training: float
    measurements: dict[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """All of it."""
        return self.training + sum(self.measurements.values())


def cost(planned: PlannedRun) -> Cost:
    """What a run costs from nothing. Good for an order and for an ETA, for nothing finer."""
    spec = planned.run.training
    weights, tokens = spec.multiplied_weights, spec.corpus.tokens
    steps = tokens.train / spec.step_tokens
    epoch = 6 * weights * tokens.train + 2 * weights * tokens.valid + STEP * steps
    return Cost(
        spec.recipe.most_epochs * float(epoch),
        {each.key: each.cost(spec) for each in planned.measurements},
    )


def memory(planned: PlannedRun) -> float:
    """Bytes that a process needs for a run, roughly, on the generous side.

    Training holds the weights, their gradients, average and best, and two copies to write a
    checkpoint; dynamic evaluation holds less.
    """
    spec = planned.run.training
    weights = spec.parameters * {"float32": 4.0, "float64": 8.0}[spec.recipe.precision]
    held = max((each.memory(spec) for each in planned.measurements), default=0.0)
    return PROCESS_MEMORY + max(6 * weights, weights + held)
