"""Replicates of one configuration, alone and as one model, and their numbers compared."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from repro.running.grouping import Choice, Group, Task
from repro.running.worker import Outcome, run_task
from repro.store.run_store import RunStore
from repro.trainers.language_model.recipe import Dropout, FromEpoch, WindowLength
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.run import PlannedRun
from tests.running.tiny import TEST, tiny_run

TOLERANCE = {"float64": 1e-12, "float32": 2e-6}
"""Relative, of every number in the history: some round-off errors."""


def group_of(count: int, **changes: Any) -> Group:
    """So many replicates of one configuration."""
    runs = tuple(
        PlannedRun(run=tiny_run(number, **changes), measurements=()) for number in range(count)
    )
    return Group(runs)


def plan_of(
    replicates: int, precision: Literal["float32", "float64"] = "float32", epochs: int = 3
) -> list[PlannedRun]:
    """Replicates with windows, masks and an averaging switch of their own."""
    plan = []
    for replicate in range(replicates):
        run = tiny_run(replicate, epochs=epochs, tokens=800, precision=precision)
        recipe = TrainingSpec.of(run).recipe.model_copy(
            update={
                "dropout": Dropout(embedding=0.1, input=0.2, output=0.2, weight=0.3),
                "window": WindowLength(base=10, random=True),
                "averaging": FromEpoch(epoch=1),
            }
        )
        training = run.training.model_copy(update={"recipe": recipe})
        run = run.model_copy(update={"training": training})
        plan.append(PlannedRun(run=run, measurements=(TEST,)))
    return plan


def together(store: RunStore, *plan: PlannedRun) -> tuple[Outcome, ...]:
    """One batched task."""
    return run_task(Task(plan, store.root, None, "cpu", Choice("batched", len(plan))))


def training_of(store: RunStore, planned: PlannedRun) -> Any:
    return store.provenance(planned.run.key)["training"]


def assert_close(ours: RunStore, theirs: RunStore, plan: list[PlannedRun], bound: float) -> None:
    """Every number of the history and of the measurements, relatively; what is counted, exactly."""
    for planned in plan:
        key = planned.run.key
        assert ours.record(key).best_epoch == theirs.record(key).best_epoch
        for one, other in zip(ours.history(key), theirs.history(key), strict=True):
            assert one == pytest.approx(other, rel=bound)
        for measurement in planned.measurements:
            one_value, other_value = (each.measurement(key, measurement) for each in (ours, theirs))
            assert one_value is not None
            assert other_value is not None
            assert one_value.value == pytest.approx(other_value.value, rel=bound)
