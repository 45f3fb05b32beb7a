"""A pool of processes that survives the death of its workers, and they not its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future, wait
from pathlib import Path

import pytest

from repro.running.pool import ENVIRONMENT, ProcessPool, WorkerLostError
from tests.running import calls
from tests.running.processes import alive, until


@pytest.fixture
def pool() -> Iterator[ProcessPool]:
    pool = ProcessPool(2, environment=ENVIRONMENT)
    yield pool
    pool.terminate()


def test_calls_are_answered_by_other_processes(pool: ProcessPool) -> None:
    """Values come back, in futures, from at most as many processes as there are workers."""
    assert list(pool.map(calls.double, range(20))) == [2 * number for number in range(20)]
    processes = {pool.submit(calls.process).result() for _ in range(6)}
    assert os.getpid() not in processes
    assert 1 <= len(processes) <= 2
    assert set(pool.processes()) >= processes


def test_workers_start_when_they_are_needed(pool: ProcessPool) -> None:
    """A pool without tasks has no process."""
    assert pool.processes() == ()
    pool.submit(calls.process).result()
    assert len(pool.processes()) == 1


def test_the_environment_is_the_workers_alone(pool: ProcessPool) -> None:
    """Threads and allocator are set in the workers and left alone here."""
    before = dict(os.environ)
    for name, value in ENVIRONMENT.items():
        assert pool.submit(calls.environment, name).result() == value
    assert dict(os.environ) == before


def test_exceptions_come_back(pool: ProcessPool) -> None:
    """What a call raises is raised by its future, also if it cannot be pickled both ways."""
    with pytest.raises(ValueError, match="no thanks"):
        pool.submit(calls.refuse, "no thanks").result()
    with pytest.raises(RuntimeError, match="StubbornError: this and that"):
        pool.submit(calls.refuse_stubbornly).result()
    with pytest.raises(RuntimeError):
        pool.submit(calls.unpicklable).result()
    with pytest.raises((TypeError, AttributeError)):
        pool.submit(lambda: None).result()
    assert pool.submit(calls.double, 4).result() == 8


def test_a_killed_worker_is_replaced(pool: ProcessPool, tmp_path: Path) -> None:
    """Its task is done by another, and the tasks of other workers are left alone."""
    other = pool.submit(calls.sleep, 1.0, tmp_path / "other")
    assert until((tmp_path / "other").exists)
    assert pool.submit(calls.die, tmp_path / "mark", 2).result() == 3
    assert other.result() == int((tmp_path / "other").read_text())


def test_a_task_that_kills_every_worker_fails(pool: ProcessPool, tmp_path: Path) -> None:
    """After three times it is given up, and the message names memory; the pool goes on."""
    future = pool.submit(calls.die, tmp_path / "mark", 99)
    with pytest.raises(WorkerLostError, match=r"killed 3 times.*memory\n.*fewer --workers") as lost:
        future.result()
    assert lost.value.killed
    assert (tmp_path / "mark").read_text() == "xxx"
    assert pool.submit(calls.double, 4).result() == 8


def test_a_crash_names_its_signal(pool: ProcessPool, tmp_path: Path) -> None:
    """Only a kill speaks of memory."""
    future = pool.submit(calls.die, tmp_path / "mark", 99, signal.SIGTERM)
    with pytest.raises(WorkerLostError, match="died of SIGTERM") as lost:
        future.result()
    assert not lost.value.killed
    with pytest.raises(WorkerLostError, match="ended with status 7"):
        pool.submit(calls.leave, 7).result()


def test_a_worker_that_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not tried three times, and memory is not blamed."""
    pool = ProcessPool(1)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(WorkerLostError, match="ended with status 1"):
        pool.submit(calls.process).result()
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(FileNotFoundError):
        pool.submit(calls.process).result()
    pool.terminate()


def test_workers_ignore_interrupts(pool: ProcessPool) -> None:
    """Ctrl-C is the parent's business."""
    assert pool.submit(calls.interrupted).result() == "nothing"


def test_terminate_is_prompt(pool: ProcessPool, tmp_path: Path) -> None:
    """What runs is killed, what waits is cancelled, and no process is left."""
    running = [pool.submit(calls.sleep, 60, tmp_path / str(number)) for number in range(2)]
    assert until(lambda: len(list(tmp_path.iterdir())) == 2)
    waiting = pool.submit(calls.double, 1)
    processes = pool.processes()
    start = time.monotonic()
    pool.terminate()
    assert time.monotonic() - start < 30  # what runs would sleep for 60 seconds
    assert waiting.cancelled()
    assert all(isinstance(future.exception(), BrokenExecutor) for future in running)
    assert not any(alive(process) for process in processes)
    with pytest.raises(RuntimeError):
        pool.submit(calls.double, 1)


def test_shutdown_finishes_what_was_given_out() -> None:
    """As a context manager the pool waits for its tasks and leaves no process and no thread."""
    before = threading.active_count()
    with ProcessPool(2) as pool:
        futures: list[Future[int]] = [pool.submit(calls.double, number) for number in range(5)]
        wait(futures[:1])
        processes = pool.processes()
    assert [future.result() for future in futures] == [0, 2, 4, 6, 8]
    assert not any(alive(process) for process in processes)
    assert threading.active_count() == before


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    """When the parent is killed, busy and idle workers are gone within three seconds."""
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from repro.running.pool import ProcessPool\n"
        "from tests.running import calls\n"
        "pool = ProcessPool(2)\n"
        "mark = Path(sys.argv[1])\n"
        "pool.submit(calls.sleep, 60, mark / 'busy')\n"
        "pool.submit(calls.sleep, 0, mark / 'idle').result()\n"
        "time.sleep(60)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], env=environment) as parent:
        marks = [tmp_path / "busy", tmp_path / "idle"]
        assert until(lambda: all(mark.exists() and mark.read_text() for mark in marks))
        workers = [int(mark.read_text()) for mark in marks]
        assert all(alive(worker) for worker in workers)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert until(lambda: not any(alive(worker) for worker in workers), seconds=30)


def test_workers_do_not_look_into_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module in the folder of the user is not executed by a worker."""
    for name in ("json", "sys", "pickle", "random"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(9)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in {"", "."}])
    with ProcessPool(1) as pool:
        assert pool.submit(calls.double, 4).result() == 8


def test_workers_start_without_standard_streams(tmp_path: Path) -> None:
    """With stdin, stdout and stderr closed, calls are answered, also if workers start together."""
    script = (
        "import os, sys, time\n"
        "inheritable = os.set_inheritable\n"
        "def slow(*arguments):\n"
        "    time.sleep(0.1)\n"
        "    inheritable(*arguments)\n"
        "os.set_inheritable = slow\n"
        "from repro.running.pool import ProcessPool\n"
        "from tests.running import calls\n"
        "for number in range(3):\n"
        "    os.close(number)\n"
        "with ProcessPool(2) as pool:\n"
        "    answers = list(pool.map(calls.loud, range(4)))\n"
        "open(sys.argv[1], 'w').write(str(answers))\n"
        "os._exit(0)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    answers = tmp_path / "answers"
    subprocess.run(
        [sys.executable, "-c", script, str(answers)], env=environment, check=True, timeout=60
    )
    assert answers.read_text() == "[0, 2, 4, 6]"
