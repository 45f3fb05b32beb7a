"""Whoever watches an execution cannot harm it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from repro.running import dispatch
from repro.running.engine import RunOptions
from repro.running.execute import execute
from repro.running.grouping import Task
from repro.running.progress import Reporter, Snapshot
from repro.running.worker import Outcome
from repro.store.run_store import RunStore
from tests.running.processes import until
from tests.running.tiny import tiny_plan


class Broken(Reporter):
    """A reporter whose terminal is gone."""

    def __init__(self, calls: list[str]) -> None:
        self.calls = calls

    def start(self, total: int, reused: int, workers: str) -> None:
        self._fail("start")

    def tick(self, snapshot: Snapshot) -> None:
        self._fail("tick")

    def finished(self, key: str, what: str, snapshot: Snapshot) -> None:
        self._fail("finished")

    def stop(self) -> None:
        self._fail("stop")

    def _fail(self, name: str) -> None:
        self.calls.append(name)
        raise OSError(5, "Input/output error")


def test_progress_is_never_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a reporter raises, all runs are done, and it is told of the rest as before."""
    calls: list[str] = []

    def function(task: Task) -> tuple[Outcome, ...]:
        assert until(lambda: calls.count("tick") >= 2)
        return tuple(Outcome(planned.run.key, "trained") for planned in task.runs)

    monkeypatch.setattr(dispatch, "TICK_SECONDS", 0.05)
    monkeypatch.setattr(dispatch, "run_task", function)
    store = RunStore(tmp_path / "runs")
    with ThreadPoolExecutor(1) as executor:
        done = execute(
            tiny_plan(), RunOptions(store, engine=executor, device="cpu"), report=Broken(calls)
        )
    assert len(done.trained) == 1
    assert calls[0] == "start"
    assert calls[-2:] == ["finished", "stop"]
