"""Tasks given out by dask: accidents cost nothing that was finished, and no number changes."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import distributed
import pytest

import repro
from repro.errors import EngineError
from repro.running import dask_engine
from repro.running.engine import RunOptions
from repro.running.execute import execute
from repro.store.run_store import RunStore
from tests.running.dask_cluster import (
    Cluster,
    Session,
    all_below,
    all_dead,
    cluster_in,
    left_in,
    plan_of,
    program,
    started,
)
from tests.running.processes import until
from tests.running.tiny import tiny_plan

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _ends() -> Iterator[None]:
    """No session outlives a test that failed."""
    yield
    Session.end_all()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return program(tmp_path / "code")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler that has no worker yet."""
    with cluster_in(tmp_path) as cluster:
        yield cluster


def held(folder: Path) -> int:
    """How many programs have started and wait."""
    return sum(seed > 0 for seed, _, _ in started(folder))


def begun(folder: Path, store: RunStore, count: int, busy: int, **options: Any) -> Session:
    """A command whose programs wait, so many of them started."""
    (folder / "hold").touch()
    session = Session(store.root, folder, count, engine="dask", **options)
    assert until(lambda: held(folder) == busy, 60)
    return session


def as_serial(store: RunStore, folder: Path, count: int) -> bool:
    """Whether a store has what `serial` leaves, to the last byte."""
    plan = plan_of(folder, count)
    serial = RunStore(store.root.with_name("serial"))
    done = execute(plan, RunOptions(serial, engine="serial", device="cpu", allow_code=True))
    assert len(done.trained) == count
    expected = left_in(serial, plan)
    assert len(expected) == 7 * count
    return left_in(store, plan) == expected


def test_a_cluster_of_this_machine_trains_as_serial_does(store: RunStore, tmp_path: Path) -> None:
    """Language models: weights, history, spectra, all to the last bit."""
    plan = tiny_plan(2)
    done = execute(plan, RunOptions(store, engine="dask", workers=2, device="cpu"))
    serial = RunStore(tmp_path / "serial")
    execute(plan, RunOptions(serial, engine="serial", device="cpu"))
    assert sorted(done.trained) == sorted(planned.run.key for planned in plan)
    assert left_in(store, plan) == left_in(serial, plan)
    training: Any = store.provenance(plan[0].run.key)["training"]
    assert training["engine"] == {
        "name": "processes",
        "together": 1,
        "at_once": 2,
        "why": "the default on a CPU, given out by dask",
    }


def test_ctrl_c_leaves_no_process(store: RunStore, folder: Path) -> None:
    """Neither of the cluster, nor a worker, nor a program, nor a lock."""
    session = begun(folder, store, 3, 2, workers=2)
    below = all_below(session.process.pid)
    assert {process for seed, process, _ in started(folder) if seed} <= {*below}
    session.interrupt()
    assert session.end()[0] == 130
    assert all_dead(below)
    (folder / "hold").unlink()
    status, done, _ = Session(store.root, folder, 3, engine="serial").end()
    assert (status, len(done["trained"]), len(done["reused"])) == (0, 2, 1)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_is_killed_costs_its_task_alone(
    cluster: Cluster, store: RunStore, folder: Path, number: signal.Signals
) -> None:
    """What it had below it ends with it; another worker does the task."""
    workers = [cluster.worker(), cluster.worker()]
    session = begun(folder, store, 4, 2, scheduler=str(cluster.file))
    victim = workers[0]
    below = all_below(victim.pid)
    assert {process for seed, process, _ in started(folder) if seed} & {*below}
    victim.send_signal(number)
    assert all_dead(below)
    (folder / "hold").unlink()
    status, done, told = session.end()
    assert (status, len(done["trained"]), done["failed"]) == (0, 4, []), told
    assert len(started(folder)) == 5
    assert as_serial(store, folder, 4)


def test_a_run_whose_workers_die_each_time_has_failed(
    tmp_path: Path, store: RunStore, folder: Path
) -> None:
    """After as many deaths as the scheduler allows; the others are trained."""
    with cluster_in(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0") as cluster:
        worker = cluster.worker()
        session = begun(folder, store, 2, 1, scheduler=str(cluster.file))
        worker.kill()
        status, done, _ = session.end()
    assert (status, len(done["trained"])) == (0, 1)
    (failed,) = done["failed"]
    assert failed["error"] == "WorkerLostError"
    assert failed["message"].startswith("1 dask workers died while they were at it")


def test_a_command_outlives_its_scheduler(cluster: Cluster, store: RunStore, folder: Path) -> None:
    """It waits for another, of the same file; what was finished is not done again."""
    worker = cluster.worker()
    session = begun(folder, store, 3, 1, scheduler=str(cluster.file))
    cluster.kill_scheduler()
    assert worker.wait(timeout=60) is not None  # by itself
    (folder / "hold").unlink()
    cluster.start_scheduler()
    cluster.worker()
    status, done, told = session.end()
    assert (status, done["failed"]) == (0, []), told
    about = [line for line in told.splitlines() if "the dask scheduler" in line]
    assert [line.split("(")[0] for line in about] == [
        "lost the dask scheduler ", "the dask scheduler is back",
    ]  # fmt: skip
    assert sorted(seed for seed, _, _ in started(folder)) == [0, 1, 1, 2]
    assert as_serial(store, folder, 3)


def test_a_scheduler_that_stays_away_ends_the_command_which_then_goes_on(
    cluster: Cluster, store: RunStore, folder: Path
) -> None:
    """One sentence and status 5; the same command, given again, does what is left."""
    (folder / "hold").touch()
    cluster.worker()
    options = {"engine": "dask", "scheduler": str(cluster.file)}
    session = Session(store.root, folder, 2, patience=0, **options)
    assert until(lambda: held(folder) == 1, 60)
    cluster.kill_scheduler()
    status, _, told = session.end()
    assert status == 5
    assert f"no dask scheduler answers at {cluster.file}" in told
    assert "Traceback" not in told
    (folder / "hold").unlink()
    cluster.start_scheduler()
    cluster.worker()
    status, done, _ = Session(store.root, folder, 2, **options).end()
    assert (status, len(done["trained"]), len(done["reused"])) == (0, 1, 1)


def test_ctrl_c_ends_what_runs_at_a_cluster_and_leaves_its_workers(
    cluster: Cluster, store: RunStore, folder: Path
) -> None:
    """The program at the worker ends although the worker goes on."""
    worker = cluster.worker()
    session = begun(folder, store, 2, 1, scheduler=str(cluster.file))
    session.interrupt()
    assert session.end()[0] == 130
    assert all_dead([started(folder)[1][1]])
    assert worker.poll() is None


def test_a_run_with_a_gpu_waits_for_a_worker_that_has_one(
    cluster: Cluster, store: RunStore, folder: Path
) -> None:
    """GPUs and memory are resources of workers, and a program sees the GPUs of its worker."""
    cluster.worker("--resources", "MEMORY=5e7")
    session = Session(store.root, folder, 1, gpus=1, engine="dask", scheduler=str(cluster.file))
    told = session.told_until("was started")
    lack = "no dask worker was started with --resources 'GPU=1 MEMORY=5e+08': waiting for one"
    assert lack in told
    assert started(folder) == []
    cluster.worker("--resources", "GPU=1 MEMORY=1e9", CUDA_VISIBLE_DEVICES="7")
    status, done, _ = session.end()
    assert (status, len(done["trained"])) == (0, 1)
    assert [gpu for _, _, gpu in started(folder)] == ["7"]


def test_a_task_that_only_waited_is_not_to_blame(
    tmp_path: Path, store: RunStore, folder: Path
) -> None:
    """Where tasks ask for memory dask gives them all to workers at once, and blames all of them."""
    with cluster_in(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0") as cluster:
        memory = ("--resources", "MEMORY=1e9")
        worker = cluster.worker(*memory)
        session = begun(folder, store, 4, 1, scheduler=str(cluster.file))
        worker.kill()
        (folder / "hold").unlink()
        cluster.worker(*memory)
        status, done, told = session.end()
    assert (status, len(done["trained"]), len(done["failed"])) == (0, 3, 1), told
    assert [each["error"] for each in done["failed"]] == ["WorkerLostError"]


def test_an_answer_that_is_lost_with_its_scheduler_costs_nothing(
    cluster: Cluster, store: RunStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scheduler says that a task is done, and is gone before the answer is fetched."""
    plan = plan_of(folder, 1)
    fetch, lost = distributed.Client._gather_remote, list[str]()

    async def dies(client: Any, *args: Any, **options: Any) -> Any:
        if not lost and store.committed(plan[0].run.key):
            lost.append("an answer")
            cluster.kill_scheduler()
            raise OSError("connection reset")
        return await fetch(client, *args, **options)

    monkeypatch.setattr(distributed.Client, "_gather_remote", dies)
    monkeypatch.setattr(dask_engine, "ABSENT_SECONDS", 1.0)
    cluster.worker()
    options: Any = {"engine": "dask", "scheduler": str(cluster.file), "device": "cpu"}
    done = execute(plan, RunOptions(store, allow_code=True, **options))
    assert lost == ["an answer"]
    assert (done.reused, done.failed) == ((plan[0].run.key,), ())


def test_a_command_says_that_its_last_worker_has_left(
    cluster: Cluster, store: RunStore, folder: Path
) -> None:
    """And goes on with the next one."""
    worker = cluster.worker()
    session = begun(folder, store, 2, 1, scheduler=str(cluster.file))
    worker.kill()
    told = session.told_until("is connected")
    assert told.splitlines()[-1] == "no dask worker is connected: waiting for one"
    (folder / "hold").unlink()
    cluster.worker()
    status, done, _ = session.end()
    assert (status, len(done["trained"])) == (0, 2)


def test_a_command_waits_for_the_file_of_its_scheduler(
    cluster: Cluster, store: RunStore, folder: Path
) -> None:
    """Which may be given before the scheduler has begun."""
    cluster.kill_scheduler()
    cluster.file.unlink()
    session = Session(store.root, folder, 1, engine="dask", scheduler=str(cluster.file))
    told = session.told_until("yet")
    line = f"no scheduler has written {cluster.file} yet: waiting up to 30 s"
    assert told.splitlines()[-1] == line
    cluster.start_scheduler()
    cluster.worker()
    status, done, told = session.end()
    assert (status, len(done["trained"])) == (0, 1)
    assert "the dask cluster has 1 worker now: 1 task at once on cpu" in told


def test_a_worker_with_another_numpy_trains_no_model(
    cluster: Cluster, store: RunStore, folder: Path, tmp_path: Path
) -> None:
    """It would give other numbers, silently; a program does not depend on it."""
    record = tmp_path / "other" / "numpy-0.9.dist-info" / "METADATA"
    record.parent.mkdir(parents=True)
    record.write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 0.9\n", encoding="ascii")
    others = [str(record.parents[1]), *sys.path]
    cluster.worker(PYTHONPATH=os.pathsep.join(others))
    options: Any = {"engine": "dask", "scheduler": str(cluster.file), "device": "cpu"}
    with pytest.raises(EngineError, match=r"a dask worker \(.*\) has numpy 0\.9, and this is"):
        execute(tiny_plan(), RunOptions(store, **options))
    done = execute(plan_of(folder, 1), RunOptions(store, allow_code=True, **options))
    assert len(done.trained) == 1


def test_a_worker_with_other_code_refuses(
    cluster: Cluster, store: RunStore, folder: Path, tmp_path: Path
) -> None:
    """One sentence that names both; nothing was read there and nothing run."""
    other = tmp_path / "other"
    source = Path(repro.__file__).parent
    shutil.copytree(source, other / "repro", ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "repro" / "digest.py").open("a", encoding="utf-8") as module:
        module.write("\n# edited\n")
    cluster.worker(PYTHONPATH=os.pathsep.join([str(other), os.environ.get("PYTHONPATH", "")]))
    session = Session(store.root, folder, 2, engine="dask", scheduler=str(cluster.file))
    status, _, told = session.end()
    assert status == 5
    (line,) = [line for line in told.splitlines() if "dask worker" in line]
    assert "has repro" in line
    assert line.endswith("install the same there")
    assert started(folder) == []
