"""What tells the runs of an arm in a table apart: a seed, its task, or an evaluation of a unit."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from repro.results.readings import short


class TaskSeed(NamedTuple):
    """A seed of one task, in a table whose rows are of several."""

    task: str
    seed: int

    def __str__(self) -> str:
        return f"{self.seed} of task '{short(self.task)}'"


class Evaluation(NamedTuple):
    """One of several evaluations of a unit, such as a training run; ``task`` is empty for none."""

    task: str
    unit: int
    number: int

    @property
    def key(self) -> int | TaskSeed:
        """What the unit is known by among the others of its arm."""
        return TaskSeed(self.task, self.unit) if self.task else self.unit

    def __str__(self) -> str:
        return f"{self.number} of unit {self.key}"


SeedKey: TypeAlias = int | TaskSeed | Evaluation


def in_order(key: SeedKey) -> tuple[str, int, int]:
    """The place of a run among those of its arm: by task, by seed or unit, by evaluation."""
    if isinstance(key, Evaluation):
        return key.task, key.unit, key.number
    return (key.task, key.seed, 0) if isinstance(key, TaskSeed) else ("", key, 0)


def unit_of(key: SeedKey) -> SeedKey:
    """What a row counts as: the unit of an evaluation, else the run itself."""
    return key.key if isinstance(key, Evaluation) else key
