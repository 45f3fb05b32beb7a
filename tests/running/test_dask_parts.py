"""What the engine of dask decides by itself, without a cluster."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from repro.errors import ClaimError, CodeError, EngineError
from repro.machine import NOT_INSTALLED, package_version
from repro.running import dask_cluster, dask_engine, dask_worker
from repro.running.dask_cluster import Offer, address_of
from repro.running.dask_engine import DaskEngine
from repro.running.dask_worker import answer, difference, own_version, software_of
from repro.running.dispatch import Dispatch, parted
from repro.running.engine import RunOptions
from repro.running.execute import execute
from repro.running.grouping import Task, task_memory
from repro.running.preflight import lacking
from repro.running.progress import Reporter, Snapshot
from repro.running.worker import Outcome, run_task
from repro.store.run_store import RunStore
from repro.trainers.language_model.spec import Own
from repro.trainers.run import PlannedRun
from repro.trainers.trainer import trainer_of
from tests.running.dask_cluster import plan_of, program
from tests.running.stand_ins import failed, trained
from tests.running.test_execute_accidents import text_plan
from tests.running.tiny import tiny_plan, tiny_run

NOWHERE = "tcp://127.0.0.1:1"
WHERE = "a dask worker (tcp://10.0.0.7:40123)"


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
        execute(tiny_plan(), RunOptions(store, engine="dask", device="cpu"))
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
        execute(tiny_plan(), RunOptions(store, engine="dask", scheduler=NOWHERE, limit=1.0))


def test_consent_is_asked_for_before_a_scheduler_is(store: RunStore, folder: Path) -> None:
    """Trust is decided where the command is given, never by a worker."""
    with pytest.raises(CodeError, match="--allow-code"):
        execute(
            plan_of(folder, 1), RunOptions(store, engine="dask", scheduler=NOWHERE, device="cpu")
        )


def test_a_scheduler_that_is_not_there(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its address, why, and what to do; status 5."""
    monkeypatch.setattr(dask_engine, "CONNECT_SECONDS", 0.2)
    with pytest.raises(EngineError, match=f"no dask scheduler answers at {NOWHERE}") as refused:
        execute(tiny_plan(), RunOptions(store, engine="dask", scheduler=NOWHERE, device="cpu"))
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
            answer(call_of(task), keys, WHERE)
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
        answer(call_of(task), [run.key], WHERE)
    missing = own.model_copy(update={"use": "nowhere_at_all:Layer"})
    assert trainer_of(training).changed_here(training) == ""
    model = training.model.model_copy(update={"output": missing})
    run = run.model_copy(update={"training": training.model_copy(update={"model": model})})
    with pytest.raises(EngineError, match="No module named 'nowhere_at_all'"):
        answer(call_of(task_of(store, PlannedRun(run=run, measurements=()))), [run.key], WHERE)


def test_a_run_with_another_key_is_refused(store: RunStore) -> None:
    (planned,) = tiny_plan()
    task = task_of(store, planned)
    with pytest.raises(EngineError, match="has the key"):
        answer(call_of(task), ["0" * 64], WHERE)


def test_a_task_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(EngineError, match="cannot be read here: UnpicklingError"):
        answer(b"nonsense", [], WHERE)


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
    (done,) = pickle.loads(answer(call_of(task), [key], WHERE))  # noqa: S301 - our own
    assert done.status == "trained"
    assert dask_engine._confirmed(task, (done,)) == (done,)
    assert dask_engine._stored(task) == (Outcome(key, "reused"),)


def test_what_dask_says_instead_of_an_answer() -> None:
    """A worker that cannot import this package has no words of ours."""
    future: Future[dask_worker.Answer] = Future()
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
    assert Offer(1, {"GPU": 2.0}).has({"GPU": 2.0})
    assert not Offer(1, {"GPU": 1.0, "MEMORY": 8e9}).has({"GPU": 2.0, "MEMORY": 1e9})
    assert Offer(1, {}).has({})


def blind(monkeypatch: pytest.MonkeyPatch, **found: str) -> None:
    """Let other releases of packages be installed."""
    installed = package_version
    monkeypatch.setattr(
        dask_worker, "package_version", lambda name: found.get(name) or installed(name)
    )


def test_a_worker_with_another_package_that_numbers_depend_on_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever is installed for its GPU: a build is no other release."""
    software = software_of(tiny_run().training)
    assert list(software) == ["python", "numpy", "scipy", "torch"]
    assert difference(*own_version(), software) == ""
    blind(monkeypatch, torch=f"{software['torch']}+cu999")
    assert difference(*own_version(), software) == ""
    blind(monkeypatch, torch="1.13.1")
    told = f"has torch 1.13.1, and this is torch {software['torch']}: install the same there"
    assert difference(*own_version(), software) == told
    blind(monkeypatch, torch=NOT_INSTALLED)
    assert difference(*own_version(), software).startswith("has no torch, and this is torch ")
    told = difference(*own_version(), {"python": "3.8"})
    assert told.endswith(", and this is python 3.8: install the same there")


def test_what_is_not_installed_here_is_not_compared(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was computed with it; and a program brings what it needs."""
    blind(monkeypatch, torch=NOT_INSTALLED)
    assert list(software_of(tiny_run().training)) == ["python", "numpy", "scipy"]
    (planned,) = plan_of(folder, 1)
    assert software_of(planned.run.training) == {}


def test_a_worker_that_lacks_what_trains_refuses(
    store: RunStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch for a model, the program itself for a program: nothing is begun."""
    (model,) = tiny_plan()
    blind(monkeypatch, torch=NOT_INSTALLED)
    with pytest.raises(EngineError, match=r"needs torch, .*: pip install 'repro-verdict\[lm\]'"):
        answer(call_of(task_of(store, model)), [model.run.key], WHERE)
    (program,) = plan_of(folder, 1)
    training: Any = program.run.training.model_copy(update={"command": ("no-such-program",)})
    run = program.run.model_copy(update={"training": training})
    lacks = task_of(store, PlannedRun(run=run, measurements=()))
    with pytest.raises(EngineError, match="needs the program 'no-such-program'"):
        answer(call_of(lacks), [run.key], WHERE)
    assert [store.state(each) for each in (model.run.key, run.key)] == ["missing"] * 2


def test_a_program_is_not_looked_for_here_if_others_run_it(store: RunStore, folder: Path) -> None:
    """The path of the machine where the command is given is not that of a worker."""
    (planned,) = plan_of(folder, 1)
    training: Any = planned.run.training.model_copy(update={"command": ("no-such-program",)})
    run = planned.run.model_copy(update={"training": training})
    lacks = [PlannedRun(run=run, measurements=())]
    (line,) = lacking(lacks, RunOptions(store))
    assert line == "needs the program 'no-such-program', which is not there; install it"
    assert lacking(lacks, RunOptions(store, engine="dask", scheduler=NOWHERE)) == []


def test_what_is_wrong_with_a_machine_is_told_with_its_name(
    store: RunStore, tmp_path: Path
) -> None:
    """A corpus or a store that is not mounted there."""
    (planned,) = text_plan("ptb", 1)
    task = task_of(store, planned)
    call = pickle.dumps((run_task, (replace(task, data=tmp_path / "nowhere"),), {}))
    (lacks,) = pickle.loads(answer(call, [planned.run.key], WHERE))  # noqa: S301 - our own
    assert (lacks.status, lacks.error) == ("failed", "CorpusError")
    assert lacks.message.startswith(f"{WHERE}: cannot read {tmp_path / 'nowhere'}")
    call = call_of(replace(task, store=tmp_path / "unmounted"))
    (lost,) = pickle.loads(answer(call, [planned.run.key], WHERE))  # noqa: S301 - our own
    assert lost.error == "StoreUnreachableError"
    assert lost.message.startswith(f"{WHERE}: {tmp_path / 'unmounted'}: the run store is no longer")


def test_a_scheduler_that_is_starting_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file may not be there yet, or not be whole."""
    file, said = tmp_path / "scheduler.json", list[str]()

    def say(text: str) -> None:
        said.append(text)
        file.write_text('{"address": "tcp:' if len(said) == 1 else '{"address": "tcp://a:1"}')

    dask_cluster.await_address(str(file), say)
    assert address_of(str(file)) == "tcp://a:1"
    assert len(said) == 2
    assert said[0].startswith(f"no scheduler has written {file} yet: waiting up to 30 s")
    monkeypatch.setattr(dask_cluster, "APPEAR_SECONDS", 0.1)
    with pytest.raises(EngineError, match="no such file"):
        dask_cluster.await_address(str(tmp_path / "other.json"), said.append)


@pytest.mark.parametrize("text", ["node-3", "no/such/folder/scheduler.json"])
def test_what_can_be_no_such_file_is_not_waited_for(text: str) -> None:
    said: list[str] = []
    with pytest.raises(EngineError, match="no such file, and this is no address"):
        dask_cluster.await_address(text, said.append)
    assert said == []


class Workers:
    """A client of a scheduler that others join at each look."""

    def __init__(self, *looks: dict[str, Any]) -> None:
        self._looks = list(looks)
        self.scheduler = self
        self.identity = "identity"

    def sync(self, function: Any, *, n_workers: int, callback_timeout: float) -> dict[str, Any]:
        assert (function, n_workers) == ("identity", -1), "all of them, and not the first five"
        return {"workers": self._looks.pop(0) if len(self._looks) > 1 else self._looks[0]}


def workers(cpus: int, gpus: int) -> dict[str, Any]:
    resources = [*[{}] * cpus, *[{"GPU": 1.0}] * gpus]
    return {f"tcp://{i}": {"nthreads": 1, "resources": each} for i, each in enumerate(resources)}


def test_tasks_are_made_for_all_workers_that_join(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not for the first alone, which may have no GPU."""
    monkeypatch.setattr(dask_cluster, "SETTLE_SECONDS", 1.0)
    joining: Any = Workers({}, workers(1, 0), workers(1, 2), workers(1, 7))
    offers = dask_cluster.settled(joining, "auto", lambda _: None)
    assert [sum(each.tasks(device) for each in offers) for device in ("cpu", "cuda")] == [8, 7]


def test_a_worker_takes_as_many_tasks_as_it_has_gpus_for() -> None:
    assert [Offer(2, {"GPU": gpus}).tasks("cuda") for gpus in (0.0, 1.0, 4.0)] == [0, 1, 2]
    assert Offer(2, {"GPU": 1.0}).tasks("cpu") == 2


class Alone(DaskEngine):
    """Its tasks are done as a test says; no cluster is behind it."""

    def __init__(self) -> None:
        self.given: list[tuple[Task, Future[Any]]] = []

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.given.append((args[0], future))
        if len(self.given) == 2:
            task, first = self.given[0]
            first.set_result(failed(task, "CorpusError", "not mounted"))
            threading.Timer(0.3, lambda: future.set_result(trained(args[0]))).start()
        return future

    def slots(self) -> int | None:
        return None

    def waiting(self) -> str:
        return "no dask worker is connected"


@pytest.mark.usefixtures("_quick")
def test_a_worker_without_a_corpus_stops_no_run_of_another_worker(store: RunStore) -> None:
    """What is not there is not there; and while nothing runs it is said for what is waited."""
    plan, ticks = text_plan("ptb", 2), list[str]()

    class Ticks(Reporter):
        def tick(self, snapshot: Snapshot) -> None:
            ticks.append(snapshot.waiting)

    done = execute(plan, RunOptions(store, engine=Alone(), device="cpu"), report=Ticks())
    assert [(each.error, each.message) for each in done.failed] == [("CorpusError", "not mounted")]
    assert len(done.trained) == 1
    assert set(ticks) == {"no dask worker is connected"}


class Joined(Alone):
    """A cluster of GPUs that workers join after the first task was given out."""

    def __init__(self) -> None:
        super().__init__()
        self.workers = 1

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.given.append((args[0], future))
        if len(self.given) == 1:
            self.workers = 4
        if len(self.given) == 4:
            for task, each in self.given:
                each.set_result(trained(task))
        return future

    def slots(self) -> int | None:
        return self.workers


@pytest.mark.usefixtures("_quick")
def test_workers_that_join_later_take_a_part_of_what_was_left(store: RunStore) -> None:
    """What the first worker was not given yet is parted among them."""
    plan, engine = tiny_plan(8), Joined()
    whole = task_of(store, plan[0])
    tasks = [replace(whole, runs=tuple(plan[:4])), replace(whole, runs=tuple(plan[4:]))]
    outcomes = Dispatch(engine, store, tasks, Reporter()).run()
    assert [len(task.runs) for task, _ in engine.given] == [4, 1, 1, 2]
    assert {each.key for each in outcomes} == {planned.run.key for planned in plan}


def test_a_task_of_one_run_is_not_parted(store: RunStore) -> None:
    task = task_of(store, tiny_plan()[0])
    assert parted([task], 3) == [task]
    assert parted([], 3) == []
