"""Overhead of a replicate in a warm pool: from the task's submission to its first step.

The worker has done one replicate before, so that its modules are imported and its corpus is
held; the model has just under a million parameters. The time that the task takes through the
pipe is counted too: the clock starts before it is sent.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.speed.contest import WARM_UPS
from benchmarks.speed.rows import Found, Goal, Row, Settings
from benchmarks.speed.together import write_text
from repro.running.grouping import Task
from repro.running.pool import ENVIRONMENT, ProcessPool
from repro.running.worker import run_task
from repro.trainers.language_model.recipe import Recipe, WindowLength
from repro.trainers.language_model.spec import Model, Softmax, TrainingSpec
from repro.trainers.run import PlannedRun, RunSpec

LIMIT = Goal(50.0, at_most=True)


def measure(settings: Settings) -> Found:
    """As many replicates as samples, one after the other."""
    with TemporaryDirectory() as folder:
        data = Path(folder)
        spec = specification(data)
        with ProcessPool(1, environment=ENVIRONMENT) as pool:
            seconds = [
                pool.submit(overhead, _task(spec, data, number), time.monotonic()).result()
                for number in range(WARM_UPS + settings.samples)
            ][WARM_UPS:]
    milliseconds = [1000 * each for each in seconds]
    what = f"from submission to the first step, {spec.parameters:,} parameters"
    low, high = min(milliseconds), max(milliseconds)
    row = Row(what, statistics.median(milliseconds), "ms", LIMIT, low, high)
    return Found([row], numbers={"milliseconds": milliseconds})


def overhead(task: Task, submitted: float) -> float:
    """Do a task; seconds from ``submitted`` to its first step (both by the machine's clock)."""
    from unittest.mock import patch

    from repro.trainers.language_model import training

    started: list[float] = []
    original = training.train

    def train(*arguments: Any, progress: Any, **options: Any) -> Any:
        def tell(state: Any) -> None:
            progress(state)
            started.append(time.monotonic())  # the first time: before the first step

        return original(*arguments, progress=tell, **options)

    with patch.object(training, "train", train):
        (outcome,) = run_task(task)
    assert outcome.status == "trained", outcome.message
    return started[0] - submitted


def specification(data: Path) -> TrainingSpec:
    """A model of 0.99 million parameters, trained for a few steps."""
    return TrainingSpec(
        model=Model(
            embedding_size=140, hidden_size=280, context_size=140, layers=2, output=Softmax()
        ),
        corpus=write_text(data, 2_000, train=20 * (1 + 4 * 35), valid=10 * 36),
        recipe=Recipe(epochs=1, batch_size=20, learning_rate=20, window=WindowLength(base=35)),
    )


def _task(spec: TrainingSpec, data: Path, number: int) -> Task:
    planned = PlannedRun(run=RunSpec(training=spec, replicate=number), measurements=())
    return Task((planned,), data / "store", data, "cpu")
