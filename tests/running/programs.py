"""Runs of a program, for tests in which none is started."""

from __future__ import annotations

from repro.trainers.command.spec import CommandTraining, Results
from repro.trainers.run import PlannedRun, RunSpec


def programs(count: int, *, resume: bool = False, name: str = "train") -> list[PlannedRun]:
    training = CommandTraining(
        command=(name,), results=Results(stdout="(?P<loss>.+)"), resume=resume
    )
    runs = [RunSpec(training=training, replicate=number) for number in range(count)]
    return [PlannedRun(run=run, measurements=(), arm=name) for run in runs]
