"""Tasks done in this process, what became of them, and how they are cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from repro.running.grouping import Task
from repro.running.worker import Outcome, RunLog, run_task
from repro.store.run_store import RunStore
from repro.trainers.run import PlannedRun


def do(store: RunStore, *planned: PlannedRun) -> tuple[Outcome, ...]:
    return run_task(Task(planned, store.root, None, "cpu"))


def statuses(outcomes: tuple[Outcome, ...]) -> list[str]:
    return [outcome.status for outcome in outcomes]


def forbid_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def train(*_: Any, **__: Any) -> None:
        pytest.fail("it was trained again")

    monkeypatch.setattr("repro.trainers.language_model.training.train", train)


@contextmanager
def cut_off(monkeypatch: pytest.MonkeyPatch, where: Callable[[Any], bool]) -> Iterator[None]:
    """Ctrl-C where training comes to a state of which this holds; it must come to one."""
    real = RunLog.training

    def training(self: RunLog, state: Any) -> None:
        if where(state):
            raise KeyboardInterrupt
        real(self, state)

    with monkeypatch.context() as patch:
        patch.setattr(RunLog, "training", training)
        with pytest.raises(KeyboardInterrupt):
            yield
