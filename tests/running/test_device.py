"""Devices and engines by name."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from repro import machine
from repro.errors import DeviceError
from repro.running import execute, grouping
from repro.running.engine import Order, Pool, RunOptions, SerialEngine, engine_of
from repro.running.grouping import make_tasks
from repro.running.pool import ProcessPool
from repro.store.run_store import RunStore
from repro.trainers import devices as device
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.run import PlannedRun
from repro.trainers.trainer import memory
from tests.running import calls
from tests.running.dask_cluster import plan_of, program
from tests.running.tiny import RANK, TEST, tiny_run


def test_cpu_is_always_there() -> None:
    """Nothing is looked for."""
    assert device.resolve_device("cpu") == "cpu"


@pytest.mark.parametrize(
    ("driver", "torch", "found"), [(False, True, "cpu"), (True, False, "cpu"), (True, True, "cuda")]
)
def test_auto_takes_the_gpu_when_there_is_one(
    monkeypatch: pytest.MonkeyPatch, *, driver: bool, torch: bool, found: str
) -> None:
    """A driver and a torch that can use it are both needed."""
    monkeypatch.setattr(device, "has_driver", lambda: driver)
    monkeypatch.setattr(device, "torch_sees_gpu", lambda: torch)
    assert device.resolve_device("auto") == found
    if found == "cuda":
        assert device.resolve_device("cuda") == "cuda"
    else:
        with pytest.raises(DeviceError, match="--device cpu"):
            device.resolve_device("cuda")


def test_an_unknown_device() -> None:
    """The known ones are named."""
    with pytest.raises(DeviceError, match="auto, cpu or cuda"):
        device.resolve_device("tpu")


@pytest.mark.parametrize("hidden", ["", "-1"])
def test_hidden_gpus_are_not_there(monkeypatch: pytest.MonkeyPatch, hidden: str) -> None:
    """CUDA_VISIBLE_DEVICES hides them."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    assert not device.has_driver()


def test_looking_for_a_device_imports_no_torch() -> None:
    """On a machine without a driver the answer takes no second."""
    code = (
        "import sys\n"
        "from repro.trainers.devices import resolve_device\n"
        "resolve_device('auto')\n"
        "print('torch' in sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_the_serial_engine_runs_here() -> None:
    """Each call is done when submit returns; its exception is in the future."""
    with SerialEngine() as executor:
        assert executor.submit(calls.process).result() == os.getpid()
        future = executor.submit(calls.refuse, "no")
        assert isinstance(future.exception(), ValueError)


def test_one_worker_a_core_and_one_a_gpu() -> None:
    """Unless it is said otherwise."""
    for name, workers, expected in (
        ("cpu", None, machine.cores()),
        ("cuda", None, 1),
        ("cpu", 3, 3),
        ("cuda", 2, 2),
    ):
        assert grouping.pool_size(workers, name, ()) == expected


def test_a_probe_without_an_answer_is_not_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with a driver on which torch does not answer is an error that names a way out."""
    monkeypatch.setattr(device, "has_driver", lambda: True)
    monkeypatch.setattr(device, "PROBE_SECONDS", 0.01)
    with pytest.raises(DeviceError, match="--device cpu"):
        device.resolve_device("auto")


@pytest.mark.parametrize(("seconds", "said"), [(0.0, 0), (0.3, 1)])
def test_a_long_look_for_a_device_is_told(
    monkeypatch: pytest.MonkeyPatch, seconds: float, said: int
) -> None:
    """Nobody waits for torch without knowing; a quick answer needs no words."""
    lines: list[str] = []
    monkeypatch.setattr(device, "NOTICE_SECONDS", 0.1)
    monkeypatch.setattr(device, "has_driver", lambda: True)

    def look() -> bool:
        time.sleep(seconds)
        return False

    monkeypatch.setattr(device, "torch_sees_gpu", look)
    assert device.resolve_device("auto", lines.append) == "cpu"
    assert len(lines) == said


def test_the_probe_does_not_look_into_the_current_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A torch.py in the folder of the user is not executed."""
    (tmp_path / "json.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'w')\n")
    (tmp_path / "torch.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in {"", "."}])
    device.torch_sees_gpu()
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize(
    ("needs", "available", "workers"),
    [
        ([], 0.0, 8),
        ([1.0] * 20, 100.0, 8),
        ([1.0, 9.0, 9.0, 9.0], 20.0, 2),
        ([9.0], 1.0, 1),
        ([1.0, 1.0], 2.0, 8),
    ],
)
def test_memory_limits_the_workers(needs: list[float], available: float, workers: int) -> None:
    """As many as fit with the largest tasks at once, at least one, at most one a core."""
    assert grouping.fitting(needs, available, 8) == workers


def test_the_pool_is_as_large_as_memory_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the number of workers was asked for."""
    monkeypatch.setattr(grouping, "cores", lambda: 8)
    monkeypatch.setattr(grouping, "available_memory", lambda: 3.5)
    for asked, expected in ((None, 3), (6, 6)):
        size = grouping.pool_size(asked, "cpu", [1.0] * 9)
        assert size == expected
        pool = engine_of("processes").made(Order(size, "cpu", "", print))
        assert isinstance(pool, ProcessPool)
        assert pool.workers == size
        pool.terminate()


@pytest.mark.parametrize(
    ("each", "workers"),
    [([1] * 20, 8), ([4] * 20, 2), ([3] * 20, 2), ([16] * 2, 1), ([6, 1, 1], 8)],
)
def test_declared_cores_limit_the_workers(
    monkeypatch: pytest.MonkeyPatch, each: list[int], workers: int
) -> None:
    """Runs that keep several cores busy do not crowd each other, unless workers were asked for."""
    monkeypatch.setattr(grouping, "cores", lambda: 8)
    monkeypatch.setattr(grouping, "available_memory", lambda: 100.0)
    needs = [1.0] * len(each)
    assert grouping.pool_size(None, "cpu", needs, each) == workers
    assert grouping.pool_size(8, "cpu", needs, each) == 8


@pytest.mark.parametrize(
    ("each", "workers"), [([1] * 20, 4), ([2] * 20, 2), ([0] * 20, 8), ([3, 0, 0], 8), ([9], 1)]
)
@pytest.mark.parametrize("name", ["cpu", "cuda"])
def test_runs_with_gpus_of_their_own_are_as_many_as_there_are_gpus_for(
    monkeypatch: pytest.MonkeyPatch, name: str, each: list[int], workers: int
) -> None:
    """On a machine with GPUs too, of which a run that takes none needs none."""
    monkeypatch.setattr(grouping, "cores", lambda: 8)
    monkeypatch.setattr(grouping, "available_memory", lambda: 100.0)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3")
    ones = [1] * len(each)
    assert grouping.pool_size(None, name, [1.0] * len(each), ones, each) == workers
    assert grouping.pool_size(3, name, [1.0] * len(each), ones, each) == 3


def test_programs_alone_have_gpus_of_their_own(store: RunStore, tmp_path: Path) -> None:
    """Beside a model, which has the GPU of its process, they wait for it."""
    programs = plan_of(program(tmp_path / "code"), 2, gpus=2)
    model = PlannedRun(run=tiny_run(), measurements=(TEST,))
    assert grouping.own_gpus(programs) == [2, 2]
    assert grouping.own_gpus([*programs, model]) is None
    pool = Pool(SerialEngine(), 4, "cuda")
    found = make_tasks(programs, store, None, "auto", pool, lambda _: None)
    assert [len(task.runs) for task in found] == [1, 1]
    assert {task.device for task in found} == {"cuda"}
    assert len(found) == 2


def test_a_rank_needs_square_matrices() -> None:
    """Three of the vocabulary's size in float64 more than a run that is not ranked needs."""
    corpus = TrainingSpec.of(tiny_run()).corpus.model_copy(update={"vocabulary": 10_000})
    training = tiny_run().training.model_copy(update={"corpus": corpus})
    run = tiny_run().model_copy(update={"training": training})
    ranked = memory(PlannedRun(run=run, measurements=(TEST, RANK)))
    assert 2.4e9 < ranked < 3.5e9
    assert memory(PlannedRun(run=run, measurements=(TEST,))) < 1e9


def fake_driver(folder: Path, monkeypatch: pytest.MonkeyPatch, gpus: int) -> None:
    """An nvidia-smi that lists so many GPUs."""
    memory = "${1##*memory.free*}"  # nothing where the free memory is asked for
    listed = "".join(
        f'[ -n "{memory}" ] && echo {number} || echo "{number}, {(number + 1) * 1000} MiB"\n'
        for number in range(gpus)
    )
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{listed}", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.mark.parametrize(("gpus", "shared_out"), [(0, ()), (1, ()), (2, ("0", "1"))])
def test_each_worker_sees_one_gpu_of_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gpus: int, shared_out: tuple[str, ...]
) -> None:
    """As the driver lists them; programs choose theirs themselves."""
    fake_driver(tmp_path, monkeypatch, gpus)
    model = PlannedRun(run=tiny_run(), measurements=(TEST,))
    programs = plan_of(program(tmp_path / "code"), 2, gpus=2)
    assert grouping.gpus_to_share_out([model], "cuda") == shared_out
    assert grouping.gpus_to_share_out([model], "cpu") == ()
    assert grouping.gpus_to_share_out([model, *programs], "cuda") == ()


def test_there_is_a_process_for_each_gpu_unless_workers_are_asked_for() -> None:
    """More workers than GPUs share a GPU's memory, as many as there are on one."""
    assert grouping.pool_size(None, "cuda", [1.0], on_gpus=4) == 4
    assert grouping.pool_size(8, "cuda", [1.0], on_gpus=4) == 8


@pytest.mark.parametrize(
    ("shown", "each", "processes"),
    [("0,1", 100e6, 8), ("0,1", 150e6, 5), ("1", 200e6, 8), ("0", 1e12, 1), ("GPU-5f", 1.0, 1)],
)
def test_mps_lets_as_many_processes_share_a_gpu_as_its_memory_and_the_cores_allow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: str, each: float, processes: int
) -> None:
    """Of 1,000 MiB on the first GPU and 2,000 on the second a fifth stays free; without MPS one."""
    fake_driver(tmp_path, monkeypatch, 2)
    monkeypatch.setattr(grouping, "cores", lambda: 8 * len(shown.split(",")))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", shown)
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", str(tmp_path))
    needs, gpus = [each] * 20, len(shown.split(","))
    assert grouping.processes_on_a_gpu("cuda", needs, gpus) == 1
    (tmp_path / "control").touch()
    assert grouping.processes_on_a_gpu("cuda", needs, gpus) == processes
    assert grouping.processes_on_a_gpu("cpu", needs, gpus) == 1
    sharing = [Pool(SerialEngine(), n, "cuda", gpus=4).sharing for n in (4, 8, 9)]
    assert sharing == [1, 2, 3]


def test_a_worker_and_whatever_takes_its_place_have_one_gpu() -> None:
    """Named by the driver; a process that died is followed by one on the same GPU."""
    pool = engine_of("processes").made(Order(2, "cuda", "", print, ("3", "GPU-5")))
    try:
        asked = [pool.submit(calls.slowly_visible) for _ in range(2)]
        assert {future.result(60) for future in asked} == {"3", "GPU-5"}
        assert isinstance(pool, ProcessPool)
        for number in pool.processes():
            os.kill(number, signal.SIGKILL)
        asked = [pool.submit(calls.slowly_visible) for _ in range(2)]
        assert {future.result(60) for future in asked} == {"3", "GPU-5"}
    finally:
        pool.terminate()


def test_an_execution_on_two_gpus_has_two_processes(
    tmp_path: Path, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And replicates are divided into as many models."""
    fake_driver(tmp_path, monkeypatch, 2)
    monkeypatch.setattr(execute, "resolve_device", lambda *_: "cuda")
    plan = [PlannedRun(run=tiny_run(n), measurements=(TEST,)) for n in range(4)]
    pool = execute._pool(RunOptions(store, device="cuda"), plan, print)
    try:
        monkeypatch.setattr(grouping, "_memory", lambda _: 1e12)
        tasks = make_tasks(plan, store, None, "auto", pool, lambda _: None)
        assert (pool.at_once, pool.gpus, [len(task.runs) for task in tasks]) == (2, 2, [2, 2])
    finally:
        pool.engine.terminate()
