"""A store of a test's own, and executions that stay in this process and lose no time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from repro.running import dispatch
from repro.running.engine import SerialEngine
from repro.running.grouping import Task
from repro.running.worker import Outcome
from repro.store.run_store import RunStore
from tests.running.stand_ins import Work


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that is busy or to be shown is waited for long."""
    monkeypatch.setattr(dispatch, "BUSY_SECONDS", 0.05)
    monkeypatch.setattr(dispatch, "TICK_SECONDS", 0.05)


@pytest.fixture
def _here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks are done in this process: what they are is another matter."""
    request.getfixturevalue("_quick")
    monkeypatch.setattr("repro.running.pool.ProcessPool.made", lambda _: SerialEngine())


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Callable[[Work], list[Task]]:
    """Stand in for the worker; the tasks that it got."""

    def install(function: Work) -> list[Task]:
        tasks: list[Task] = []

        def stand_in(task: Task) -> tuple[Outcome, ...]:
            tasks.append(task)
            return function(task)

        monkeypatch.setattr(dispatch, "run_task", stand_in)
        return tasks

    return install
