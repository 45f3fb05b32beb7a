"""What stands in for workers, and for whoever is told what they do."""

from __future__ import annotations

from collections.abc import Callable

from repro.running.grouping import Task
from repro.running.progress import Reporter, Snapshot
from repro.running.worker import Outcome
from repro.trainers.run import PlannedRun

Work = Callable[[Task], tuple[Outcome, ...]]


class Journal(Reporter):
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def start(self, total: int, reused: int, workers: str) -> None:
        self.lines.append(f"start {total} {reused} {workers}")

    def finished(self, key: str, what: str, snapshot: Snapshot) -> None:
        self.lines.append(f"{key[:4]} {snapshot.done}/{snapshot.total} {what}")

    def stop(self) -> None:
        self.lines.append("stop")


def trained(task: Task) -> tuple[Outcome, ...]:
    return tuple(Outcome(planned.run.key, "trained", seconds=3.0) for planned in task.runs)


def failed(task: Task, error: str, message: str) -> tuple[Outcome, ...]:
    return tuple(Outcome(planned.run.key, "failed", message, error) for planned in task.runs)


def key(planned: PlannedRun) -> str:
    return planned.run.key
