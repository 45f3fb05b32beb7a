"""What the engine of dask decides by itself, without a cluster."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from repro.errors import ClaimError, CodeError, EngineError
from repro.running import dask_engine
from repro.running.dask_engine import address_of, answer
from repro.running.engine import RunOptions, task_memory
from repro.running.execute import execute
from repro.running.preflight import lacking
from repro.running.worker import Outcome, Task, run_task
from repro.store.run_store import RunStore
from repro.trainers.language_model.spec import Own
from repro.trainers.run import PlannedRun
from repro.trainers.trainer import trainer_of
from tests.running.dask_cluster import plan_of, program
from tests.running.tiny import tiny_plan, tiny_run

NOWHERE = "tcp://127.0.0.1:1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return program(tmp_path / "code")


def task_of(store: RunStore, planned: PlannedRun) -> Task:
    return Task((planned,), store.root, None, "cpu", identity=store.prepare())


def call_of(task: Task) -> bytes:
    return pickle.dumps((run_task, (task,), {}))


def test_the_address_is_that_in_the_file(tmp_path: Path) -> None:
    """A scheduler that is started again writes another one there."""
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"type": "Scheduler", "address": "tls://10.0.0.7:8786"}))
    assert address_of(str(file)) == "tls://10.0.0.7:8786"
    for address in ("tcp://node-3:8786", "node-3:8786", "tls://[fe80::1]:8786"):
        assert address_of(address) == address


@pytest.mark.parametrize("text", ["", "[]", '{"id": 1}', "\0"])
def test_a_file_that_names_no_scheduler_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "scheduler.json"
    file.write_text(text)
    with pytest.raises(EngineError, match="this file names no scheduler"):
        address_of(str(file))


def test_what_is_neither_file_nor_address_is_refused() -> None:
    with pytest.raises(EngineError, match="no such file, and this is no address"):
        address_of("scheduler.json")


def test_without_the_extra_one_line_says_what_to_install(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is trained, and from Python too."""
    monkeypatch.setattr(dask_engine, "find_spec", lambda _: None)
    options = RunOptions(store, device="cpu", engine="dask")
    line = "--engine dask needs dask.distributed: pip install 'repro-verdict[dask]'"
    assert lacking(tiny_plan(), options) == [line]
    with pytest.raises(EngineError) as refused:
        execute(tiny_plan(), store, engine="dask", device="cpu")
    assert str(refused.value) == line


def test_other_engines_do_not_import_dask() -> None:
    code = (
        "import repro.running.execute, repro.cli.verify, sys\n"
        "print({'dask', 'distributed', 'tornado'} & set(sys.modules))"
    )
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_options_that_exclude_each_other(store: RunStore) -> None:
    with pytest.raises(ClaimError, match="--engine dask"):
        RunOptions(store, scheduler=NOWHERE)
    with pytest.raises(ClaimError, match="workers of its own"):
        RunOptions(store, engine="dask", scheduler=NOWHERE, workers=2)
    with pytest.raises(ClaimError, match="cannot be ended from here"):
        execute(tiny_plan(), store, engine="dask", scheduler=NOWHERE, limit=1.0)


def test_consent_is_asked_for_before_a_scheduler_is(store: RunStore, folder: Path) -> None:
    """Trust is decided where the command is given, never by a worker."""
    with pytest.raises(CodeError, match="--allow-code"):
        execute(plan_of(folder, 1), store, engine="dask", scheduler=NOWHERE, device="cpu")


def test_a_scheduler_that_is_not_there(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its address, why, and what to do; status 5."""
    monkeypatch.setattr(dask_engine, "CONNECT_SECONDS", 0.2)
    with pytest.raises(EngineError, match=f"no dask scheduler answers at {NOWHERE}") as refused:
        execute(tiny_plan(), store, engine="dask", scheduler=NOWHERE, device="cpu")
    assert refused.value.exit_code == 5
    assert not list(store.keys())


def test_a_program_that_is_another_one_at_the_worker_is_refused(
    store: RunStore, folder: Path
) -> None:
    """Edited, or not there: nothing is run."""
    (planned,) = plan_of(folder, 1)
    task, keys = task_of(store, planned), [planned.run.key]
    with (folder / "train.py").open("a") as file:
        file.write("\n")
    for _ in range(2):
        with pytest.raises(EngineError, match=r"not as where the claim was read: .*train\.py"):
            answer(call_of(task), keys)
        (folder / "train.py").unlink(missing_ok=True)
    assert not (folder / "started").exists()


def test_a_layer_of_another_version_is_refused(store: RunStore) -> None:
    """The version that is stated is compared before anything is imported."""
    training: Any = tiny_run().training
    own = Own(use="tests.running.dask_cluster:Session", version="sha256:0123456789abcdef")
    model = training.model.model_copy(update={"output": own})
    run = tiny_run().model_copy(update={"training": training.model_copy(update={"model": model})})
    task = task_of(store, PlannedRun(run=run, measurements=()))
    with pytest.raises(EngineError, match=r"claim was read: tests\.running\.dask_cluster"):
        answer(call_of(task), [run.key])
    missing = own.model_copy(update={"use": "nowhere_at_all:Layer"})
    assert trainer_of(training).changed_here(training) == ""
    model = training.model.model_copy(update={"output": missing})
    run = run.model_copy(update={"training": training.model_copy(update={"model": model})})
    with pytest.raises(EngineError, match="No module named 'nowhere_at_all'"):
        answer(call_of(task_of(store, PlannedRun(run=run, measurements=()))), [run.key])


def test_a_run_with_another_key_is_refused(store: RunStore) -> None:
    (planned,) = tiny_plan()
    task = task_of(store, planned)
    with pytest.raises(EngineError, match="has the key"):
        answer(call_of(task), ["0" * 64])


def test_a_task_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(EngineError, match="cannot be read here: UnpicklingError"):
        answer(b"nonsense", [])


def test_the_store_has_the_last_word(store: RunStore, folder: Path) -> None:
    """What a worker says it trained is not believed; what nobody says and is there counts."""
    (planned,) = plan_of(folder, 1)
    key, task = planned.run.key, task_of(store, planned)
    (told,) = dask_engine._confirmed(task, (Outcome(key, "trained"),))
    assert (told.status, told.key) == ("failed", key)
    assert told.message == f"a worker says 'trained', and it is not in {store.root}"
    busy = (Outcome(key, "busy"),)
    assert dask_engine._confirmed(task, busy) == busy
    assert dask_engine._stored(task) == ()
    (done,) = pickle.loads(answer(call_of(task), [key]))  # noqa: S301 - our own
    assert done.status == "trained"
    assert dask_engine._confirmed(task, (done,)) == (done,)
    assert dask_engine._stored(task) == (Outcome(key, "reused"),)


def test_what_dask_says_instead_of_an_answer() -> None:
    """A worker that cannot import this package has no words of ours."""
    future: Future[dask_engine.Answer] = Future()
    future.set_exception(ModuleNotFoundError("No module named 'repro'"))
    with pytest.raises(EngineError, match=r"No module named 'repro': install repro [0-9.]+ there"):
        dask_engine._answer_in(future)


def test_what_a_run_asks_of_a_worker(folder: Path) -> None:
    """GPUs: as many as a program declares, else one on a GPU; memory: as for any process."""
    (command,) = plan_of(folder, 1, gpus=2)
    (model,) = tiny_plan()
    counted = {
        (each is command, device): trainer_of(each.run.training).gpus(each.run.training, device)
        for each in (command, model)
        for device in ("cpu", "cuda")
    }
    assert counted == {
        (True, "cpu"): 2, (True, "cuda"): 2, (False, "cpu"): 0, (False, "cuda"): 1,
    }  # fmt: skip
    assert task_memory([command]) >= 100e6
    assert dask_engine._has({"threads": 1, "GPU": 2.0}, {"GPU": 2.0})
    assert not dask_engine._has({"GPU": 1.0, "MEMORY": 8e9}, {"GPU": 2.0, "MEMORY": 1e9})
    assert dask_engine._has({"threads": 1}, {})
