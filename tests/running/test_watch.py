"""A worker that is stuck is named, and a run that takes too long can be ended."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from repro.errors import ClaimError
from repro.running import dispatch
from repro.running import progress as watch
from repro.running.engine import RunOptions
from repro.running.execute import execute
from repro.running.grouping import Task
from repro.running.pool import ProcessPool
from repro.running.progress import (
    OverLimitError,
    PlainReporter,
    Reporter,
    Stuck,
    Watch,
    process_state,
)
from repro.store.run_store import RunStore
from tests.running import calls
from tests.running.dask_cluster import plan_of
from tests.running.processes import alive, until
from tests.running.test_tracking import Clock, training
from tests.running.tiny import tiny_plan


@dataclass
class Pool:
    """A pool of which tests say what it does."""

    process: int | None = 4242
    ended: list[Exception] = field(default_factory=list)

    def process_of(self, _: Future[Any]) -> int | None:
        return self.process

    def end(self, _: Future[Any], error: Exception) -> None:
        self.ended.append(error)
        self.process = None


class Scene:
    """One task on its way, watched once a second; ``spent`` is its process's processor time."""

    def __init__(
        self, store: RunStore, monkeypatch: pytest.MonkeyPatch, limit: float | None = None
    ) -> None:
        self.clock, self.pool, self.store = Clock(), Pool(), store
        self.spent: float | None = 0.0
        self.watch = Watch(store, self.pool, self.clock, limit)  # type: ignore[arg-type]
        self.task = Task(tuple(tiny_plan(1)), store.root, None, "cpu")
        self.pending: dict[Any, Task] = {Future(): self.task}
        monkeypatch.setattr(watch, "process_state", lambda _: ("stopped", self.spent))

    def wait(self, seconds: int, *, work: float = 0.0) -> list[tuple[float, Stuck]]:
        """What is told meanwhile, and when; ``work`` is processor time each second."""
        told = []
        for _ in range(seconds):
            self.clock.now += 1
            if self.spent is not None:
                self.spent += work
            told += [(self.clock.now - 1000, each) for each in self.watch.look(self.pending)]
        return told

    def progress(self, done: int) -> None:
        self.store.put_progress(self.task.runs[0].run.key, dict(training(1, done, 100)))


@pytest.fixture
def scene(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(store, monkeypatch)


def test_an_idle_worker_is_named_once_a_minute(scene: Scene) -> None:
    """With its process, what that does, and since when."""
    scene.progress(10)
    told = scene.wait(200)
    assert [moment for moment, _ in told] == [61, 121, 181]
    assert [round(each.seconds) for _, each in told] == [60, 120, 180]
    key = scene.task.runs[0].run.key
    assert {(each.key, each.process, each.doing) for _, each in told} == {(key, 4242, "stopped")}


def test_progress_keeps_it_quiet(scene: Scene) -> None:
    """A step every fifty seconds is slow, and no more than that."""
    for step in range(6):
        scene.progress(step)
        assert scene.wait(50) == []
    assert len(scene.wait(20)) == 1


def test_a_worker_that_computes_has_ten_minutes(scene: Scene) -> None:
    """A rank says nothing while it is measured; what computes for ever is named in the end."""
    told = scene.wait(700, work=0.9)
    assert [moment for moment, _ in told] == [601, 661]


def test_where_the_system_does_not_tell(scene: Scene) -> None:
    """Nobody is called idle without a sign of it."""
    scene.spent = None
    assert [moment for moment, _ in scene.wait(650)] == [601]


def test_a_worker_that_stops_after_long_work(scene: Scene) -> None:
    """An idle minute counts from the last work."""
    assert scene.wait(300, work=1.0) == []
    assert [moment for moment, _ in scene.wait(80)] == [360]


def test_time_in_which_nobody_looked_is_nobodys(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-Z or a closed lid stops workers too: neither named nor ended for it."""
    scene = Scene(store, monkeypatch, limit=100.0)
    scene.wait(30)
    scene.clock.now += 3600
    assert scene.wait(20) == []
    assert scene.pool.ended == []
    scene.wait(60)
    assert len(scene.pool.ended) == 1


def test_a_task_that_waits_for_its_turn_is_not_stuck(scene: Scene) -> None:
    """Time counts from when a process works on it."""
    scene.pool.process = None
    assert scene.wait(300) == []
    scene.pool.process = 7
    assert [moment for moment, _ in scene.wait(70)] == [361]


@pytest.fixture
def program(scene: Scene, tmp_path: Path) -> Scene:
    """A program on its way, which says nothing of how far it is."""
    (tmp_path / "train.py").write_text("", encoding="utf-8")
    scene.task = Task(tuple(plan_of(tmp_path, 1)), scene.store.root, None, "cpu")
    scene.pending = {Future(): scene.task}
    return scene


def test_a_program_that_works_is_never_named(program: Scene) -> None:
    """However long it says nothing; its children's time is its own."""
    assert program.wait(3000, work=0.5) == []


def test_a_program_is_named_when_it_has_done_nothing_for_ten_minutes(program: Scene) -> None:
    """And it is said that another attempt begins again."""
    assert program.wait(100, work=0.5) == []
    told = program.wait(620)
    assert [moment for moment, _ in told] == [700]
    assert not told[0][1].resumes
    stream = io.StringIO()
    PlainReporter({}, stream).stuck([told[0][1]])
    assert "starts it again from its beginning" in stream.getvalue()


def test_of_a_program_that_is_ended_no_checkpoint_is_promised(
    program: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.watch = Watch(program.store, program.pool, program.clock, 100.0)  # type: ignore[arg-type]
    program.wait(120, work=1)
    assert "checkpoint" not in str(program.pool.ended[0])


def test_a_limit_is_per_run(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of three runs has three times as long; progress is no excuse."""
    scene = Scene(store, monkeypatch, limit=100.0)
    scene.pending = {Future(): Task(tuple(tiny_plan(3)), store.root, None, "cpu")}
    for step in range(30):
        scene.progress(step)
        scene.wait(10)
    assert scene.pool.ended == []
    scene.wait(2)
    assert "limit of 1.67 min" in str(scene.pool.ended[0])
    assert "checkpoint is kept" in str(scene.pool.ended[0])


def test_the_line_names_run_process_and_time() -> None:
    """A reader knows which, since when, and what to do."""
    stream = io.StringIO()
    reporter = PlainReporter({"k": "MoS, seed 3"}, stream, wall=lambda: "14:04:12")
    reporter.stuck([Stuck("k", 4242, 75.0, "stopped")])
    text = stream.getvalue()
    assert "no progress since " in text
    assert "(75 s): MoS, seed 3, process 4242, stopped; `kill -9 4242`" in text
    reporter.stuck([Stuck("j" * 64, 1, 60.0, "")])
    assert stream.getvalue().count(" jjjjjjjjjjjj, process 1;") == 1


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield process
    process.kill()
    process.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_the_state_of_a_process(sleeper: subprocess.Popen[bytes]) -> None:
    """Waiting, stopped, gone; and how long it has computed."""
    assert until(lambda: process_state(sleeper.pid)[0] == "waiting")
    sleeper.send_signal(signal.SIGSTOP)
    assert until(lambda: process_state(sleeper.pid)[0] == "stopped")
    before = process_state(os.getpid())[1]
    sum(range(3_000_000))
    after = process_state(os.getpid())[1]
    assert before is not None
    assert after is not None
    assert before < after < before + 60
    assert process_state(2**22 + 1) == ("", None)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_the_time_of_a_process_is_that_of_all_below_it() -> None:
    """A worker waits while its program computes, in a child of its own or when that has ended."""
    burn = "sum(range(30_000_000))"
    inner = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])"
    line = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}]); input()"
    with subprocess.Popen([sys.executable, "-c", line], stdin=subprocess.PIPE) as process:
        try:
            assert until(lambda: (process_state(process.pid)[1] or 0) > 0.3)
        finally:
            process.kill()


def test_a_call_that_is_ended_is_not_given_out_again() -> None:
    """Its process is killed, stopped or not; the next call is served by another."""
    pool = ProcessPool(1)
    try:
        future = pool.submit(calls.sleep, 600)
        assert until(lambda: pool.process_of(future) is not None)
        process = pool.process_of(future)
        assert process is not None
        os.kill(process, signal.SIGSTOP)
        pool.end(future, OverLimitError("too long"))
        with pytest.raises(OverLimitError, match="too long"):
            future.result(timeout=30)
        assert not alive(process)
        assert pool.submit(calls.double, 4).result(timeout=60) == 8
        assert pool.process_of(future) is None
        pool.end(future, OverLimitError("it is over already"))
    finally:
        pool.terminate()


class Told(Reporter):
    """What was told of stuck runs, and an event for the first time."""

    def __init__(self) -> None:
        self.runs: list[Stuck] = []
        self.first = threading.Event()

    def stuck(self, stuck: Sequence[Stuck]) -> None:
        self.runs += stuck
        self.first.set()


@pytest.mark.usefixtures("_quick")
def test_a_hung_run_is_named_and_ended_and_the_others_go_on(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a whole execution: its process is stopped, named, and ended at the limit."""
    monkeypatch.setattr(dispatch, "run_task", calls.doze)
    monkeypatch.setattr("repro.running.preflight.try_own_parts", lambda *_: None)
    monkeypatch.setattr(watch, "IDLE_SECONDS", 1.0)
    plan, told = tiny_plan(4), Told()
    done = execute(
        plan,
        RunOptions(store, engine="processes", workers=2, device="cpu", limit=12.0),
        report=told,
    )
    hung = plan[0].run.key
    assert {failure.key for failure in done.failed} == {hung}
    assert "limit of 12 s" in done.failed[0].message
    assert set(done.trained) == {planned.run.key for planned in plan[1:]}
    assert hung in {each.key for each in told.runs}  # others too, while they start
    assert not any(alive(each.process) for each in told.runs)


def test_a_limit_without_processes_is_refused(store: RunStore) -> None:
    """A run in this process could not be ended."""
    with pytest.raises(ClaimError, match="--engine serial"):
        execute(tiny_plan(1), RunOptions(store, engine="serial", device="cpu", limit=60.0))
