"""Killed, interrupted, started twice: the store ends with the same numbers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from repro.running.engine import RunOptions
from repro.running.execute import execute
from repro.running.pool import ENVIRONMENT, ProcessPool
from repro.store.run_store import RunStore
from tests.running.processes import alive, until
from tests.running.tiny import tiny_plan

pytestmark = pytest.mark.slow

EPOCHS = 8
PLAN = tiny_plan(2, epochs=EPOCHS)
KEYS = [planned.run.key for planned in PLAN]


def start(store: RunStore) -> subprocess.Popen[str]:
    arguments = [str(store.root), str(len(PLAN)), str(EPOCHS), "1"]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.running.session", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )


def result(session: subprocess.Popen[str]) -> dict[str, Any]:
    output, _ = session.communicate(timeout=120)
    assert session.returncode == 0
    document: dict[str, Any] = json.loads(output)
    return document


def children(parent: int) -> list[int]:
    """The processes that a process has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(int(stat.parent.name))
    return found


def checkpointed(store: RunStore) -> bool:
    """Whether some run is trained in part."""
    return any((store.folder(key) / "checkpoint.safetensors").exists() for key in KEYS)


def is_free(store: RunStore, key: str) -> bool:
    """Whether no process holds a run."""
    with store.lock(key) as free:
        return free


def evidence(store: RunStore) -> dict[str, bytes]:
    """All that a verdict may depend on."""
    names = ["spec.json", "record.json", "history.jsonl", "model.safetensors"]
    files = {f"{key}/{name}": store.folder(key) / name for key in KEYS for name in names}
    for key in KEYS:
        for path in (store.folder(key) / "measurements").iterdir():
            files[f"{key}/{path.name}"] = path
    return {name: path.read_bytes() for name, path in files.items()}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> RunStore:
    """The store of an execution that ran to its end; its parent had no need of torch."""
    store = RunStore(tmp_path_factory.mktemp("undisturbed") / "runs")
    done = result(start(store))
    assert sorted(done["trained"]) == sorted(KEYS)
    assert done["torch"] is False
    return store


@pytest.fixture(scope="module")
def reference(undisturbed: RunStore) -> dict[str, bytes]:
    """What an execution that nobody disturbed leaves."""
    files = evidence(undisturbed)
    assert len(files) == 2 * (4 + 3 + 1)
    return files


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_execution_goes_on(
    store: RunStore, reference: dict[str, bytes], number: signal.Signals
) -> None:
    """No worker is left, nor a lock; the next one ends bit for bit the same."""
    session = start(store)
    assert until(lambda: checkpointed(store), seconds=60)
    workers = children(session.pid)
    assert workers
    session.send_signal(number)
    session.communicate(timeout=60)
    assert session.returncode == (130 if number == signal.SIGINT else -number)
    assert until(lambda: not any(alive(worker) for worker in workers), seconds=30)
    assert "started" in [store.state(key) for key in KEYS]
    for key in KEYS:  # the last thread of a process may outlive its first by a moment
        assert until(partial(is_free, store, key), seconds=30)
    done = result(start(store))
    assert sorted([*done["trained"], *done["measured"], *done["reused"]]) == sorted(KEYS)
    assert not done["failed"]
    assert evidence(store) == reference


def test_a_killed_worker_costs_an_epoch_at_most(
    store: RunStore, reference: dict[str, bytes]
) -> None:
    """The pool starts another, which goes on from the checkpoint; the numbers are the same."""
    with ProcessPool(1, environment=ENVIRONMENT) as pool:
        killed: list[int] = []

        def kill() -> None:
            if until(lambda: checkpointed(store), seconds=60):
                killed.extend(pool.processes())
                os.kill(killed[0], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        done = execute(PLAN, RunOptions(store, engine=pool, device="cpu"))
        killer.join()
    assert killed
    assert sorted(done.trained) == sorted(KEYS)
    sessions: list[Any] = [store.provenance(key)["training"] for key in KEYS]
    assert sorted(each["sessions"] for each in sessions) == [1, 2]
    assert evidence(store) == reference


def test_two_executions_train_each_run_once(store: RunStore, reference: dict[str, bytes]) -> None:
    """What one trains the other waits for."""
    results = [result(session) for session in [start(store) for _ in range(2)]]
    trained = [key for each in results for key in each["trained"]]
    assert sorted(trained) == sorted(KEYS)
    for each in results:
        assert sorted([*each["trained"], *each["reused"]]) == sorted(KEYS)
    assert evidence(store) == reference
    assert all(store.progress(key) is None for key in KEYS)


def test_a_second_execution_trains_nothing_and_imports_no_torch(undisturbed: RunStore) -> None:
    """It needs nothing that is heavy, and not a byte of the store changes."""
    root = undisturbed.root
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    second = result(start(undisturbed))
    assert (sorted(second["reused"]), second["trained"]) == (sorted(KEYS), [])
    assert second["torch"] is False
    assert before == {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
