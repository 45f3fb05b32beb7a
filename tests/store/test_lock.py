"""A run is trained by one process at a time."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from repro.store.run_store import RunStore
from tests.store.filled import RUN

HOLD = (
    "import sys, time\n"
    "from repro.store.run_store import RunStore\n"
    "with RunStore(sys.argv[1]).lock(sys.argv[2]) as held:\n"
    "    print(held, flush=True)\n"
    "    time.sleep(60)\n"
)


def test_a_lock_is_held_once_and_given_back(tmp_path: Path) -> None:
    """While one holds it, another is told so at once; afterwards it is free."""
    store = RunStore(tmp_path / "store")
    with store.lock(RUN.key) as first, RunStore(store.root).lock(RUN.key) as second:
        assert first
        assert not second
    with store.lock(RUN.key) as third:
        assert third


def test_a_lock_says_nothing_about_other_runs(tmp_path: Path) -> None:
    """Two runs are held at the same time."""
    store = RunStore(tmp_path / "store")
    other = RUN.model_copy(update={"replicate": 5})
    with store.lock(RUN.key) as first, store.lock(other.key) as second:
        assert first
        assert second


def test_the_lock_of_a_dead_process_is_free(tmp_path: Path) -> None:
    """The kernel takes it back when its holder is killed."""
    store = RunStore(tmp_path / "store")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", HOLD, str(store.root), RUN.key]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        with store.lock(RUN.key) as held:
            assert not held
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        deadline = time.monotonic() + 30
        free = False
        while not free and time.monotonic() < deadline:
            with store.lock(RUN.key) as free:
                pass
        assert free


def test_a_lock_alone_is_no_run(tmp_path: Path) -> None:
    """A folder with a lock and nothing else was not started."""
    store = RunStore(tmp_path / "store")
    with store.lock(RUN.key):
        assert store.state(RUN.key) == "missing"


def test_a_lock_that_was_removed_meanwhile_is_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that was removed and made again is locked as it is now: one process has it."""
    store = RunStore(tmp_path / "store")
    real, calls = fcntl.flock, 0

    def flock(handle: int, operation: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            shutil.rmtree(store.folder(RUN.key))
        real(handle, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    with store.lock(RUN.key) as held, store.lock(RUN.key) as second:
        assert held
        assert not second
    assert calls == 3
