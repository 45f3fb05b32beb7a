"""From an engine to tasks: the default of each device, how many are one model, what is said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from repro.running import grouping
from repro.running.engine import Pool, SerialEngine
from repro.running.grouping import GPU_SHARE, Choice, Task, make_tasks, sentences
from repro.store.run_store import RunStore
from repro.trainers.run import PlannedRun
from repro.trainers.trainer import replicate_memory, trainer_of
from tests.running.dask_cluster import plan_of, program
from tests.running.tiny import tiny_plan
from tests.store.filled import put_run
from tests.trainers.dialog.test_training import run as dialog_run

PLENTY = 1e15
CPU = Pool(SerialEngine(), 2, "cpu")
GPU = Pool(SerialEngine(), 1, "cuda")


@pytest.fixture(autouse=True)
def _room(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with room, whether it has a GPU or not."""
    monkeypatch.setattr(grouping, "free_on_gpu", lambda: PLENTY)
    monkeypatch.setattr(grouping, "available_memory", lambda: PLENTY)


def made(
    store: RunStore, engine: Any, pool: Pool, plan: Any = None
) -> tuple[list[Task], list[str]]:
    """The tasks, and what was said."""
    said: list[str] = []
    return make_tasks(plan or tiny_plan(5), store, None, engine, pool, said.append), said


@pytest.mark.parametrize(
    ("engine", "pool", "name", "sizes"),
    [
        ("serial", CPU, "serial", [1] * 5),
        ("processes", CPU, "processes", [1] * 5),
        ("processes", GPU, "processes", [1] * 5),
        ("batched", CPU, "batched", [3, 2]),
        ("batched", GPU, "batched", [5]),
    ],
)
def test_the_engine_that_is_asked_for_is_taken(
    store: RunStore, engine: str, pool: Pool, name: str, sizes: list[int]
) -> None:
    """One run a task, or as many replicates as fit, the largest first; nothing is said."""
    found, said = made(store, engine, pool)
    assert [len(task.runs) for task in found] == sizes
    assert [task.choice.together for task in found] == sizes
    assert {(task.choice.engine, task.choice.why) for task in found} == {(name, "asked for")}
    assert said == []


@pytest.mark.parametrize(
    ("pool", "sizes", "line"),
    [
        (CPU, [1] * 5, "processes (2 at once, one thread each): the default on a CPU"),
        (GPU, [5], "batched (5 replicates in a model, 1 at once): the default on a GPU"),
    ],
)
def test_the_default_depends_on_the_device_alone(
    store: RunStore, pool: Pool, sizes: list[int], line: str
) -> None:
    """Processes on a CPU, one model on a GPU; it is said in a line, and in the provenance."""
    found, said = made(store, "auto", pool)
    assert [len(task.runs) for task in found] == sizes
    assert said == [f"engine: {line}; --engine overrides"]
    assert {task.choice.why for task in found} == {line.rpartition(": ")[2]}


@pytest.mark.parametrize(
    ("at_once", "sizes", "line"),
    [
        (
            4,
            [1] * 5,
            "processes (4 at once, one thread each): the default on a GPU that MPS shares",
        ),
        (
            2,
            [3, 2],
            "batched (3 replicates in a model, 2 at once, one thread each): the default on a GPU",
        ),
    ],
)
def test_several_processes_that_mps_lets_share_a_gpu_are_the_default(
    store: RunStore, at_once: int, sizes: list[int], line: str
) -> None:
    """One for each GPU has nothing to share, and trains replicates as one model."""
    found, said = made(store, "auto", Pool(SerialEngine(), at_once, "cuda", gpus=2, mps=True))
    assert [len(task.runs) for task in found] == sizes
    assert said == [f"engine: {line}; --engine overrides"]


def test_one_replicate_is_trained_alone_on_a_gpu(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its memory is not even asked for."""
    monkeypatch.setattr(grouping, "free_on_gpu", None)
    found, said = made(store, "auto", GPU, tiny_plan(1))
    assert [(task.choice.engine, task.choice.together) for task in found] == [("processes", 1)]
    why = "no replicates that could be trained as one model"
    assert said == [f"engine: processes (1 at once): {why}; --engine overrides"]


def test_dialog_models_are_trained_alone_on_a_gpu(store: RunStore) -> None:
    """Their replicates have no batched recurrence; those of language models are one model."""
    dialogs = [PlannedRun(run=dialog_run(replicate=each), measurements=()) for each in range(3)]
    found, said = made(store, "auto", GPU, [*tiny_plan(2), *dialogs])
    assert sorted((len(task.runs), task.choice.engine) for task in found) == [
        *[(1, "processes")] * 3,
        (2, "batched"),
    ]
    assert [line.partition(":")[0] for line in said] == ["engine for 1 of 2 configurations"] * 2


def room_for(replicates: float, plan: Sequence[PlannedRun]) -> float:
    """Bytes for a model of so many replicates in a process on a GPU."""
    training = plan[0].run.training
    process = trainer_of(training).process_memory(training, "cuda")
    return process + replicates * replicate_memory(training)


@pytest.mark.parametrize("engine", ["auto", "batched"])
def test_the_memory_of_a_gpu_bounds_a_model(
    store: RunStore, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """Of what is free, a fifth is left."""
    plan = tiny_plan(10)
    room = room_for(5.5, plan)
    monkeypatch.setattr(grouping, "free_on_gpu", lambda: room / GPU_SHARE)
    found, _ = made(store, engine, GPU, plan)
    assert [len(task.runs) for task in found] == [5, 5]
    assert {task.choice.engine for task in found} == {"batched"}


def test_each_worker_of_a_cluster_has_the_memory_of_a_gpu(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one machine with one GPU, tasks share it."""
    plan = tiny_plan(12)
    room = room_for(3.5, plan)
    monkeypatch.setattr(grouping, "free_on_gpu", lambda: room / GPU_SHARE)
    found, _ = made(store, "dask", Pool(SerialEngine(), 4, "cuda", shared=False), plan)
    assert [len(task.runs) for task in found] == [3] * 4
    found, _ = made(store, "dask", Pool(SerialEngine(), 4, "cuda"), plan)
    assert [len(task.runs) for task in found] == [1] * 12


@pytest.mark.parametrize(("gpus", "device"), [(0, "cpu"), (1, "cuda")])
def test_a_program_is_on_a_gpu_if_it_declares_one(
    store: RunStore, tmp_path: Path, gpus: int, device: str
) -> None:
    """A worker without a GPU may take one that declares none."""
    found, _ = made(store, "auto", GPU, plan_of(program(tmp_path / "code"), 2, gpus))
    assert [task.device for task in found] == [device] * 2


@pytest.mark.parametrize(("engine", "name"), [("auto", "processes"), ("batched", "batched")])
def test_a_gpu_that_does_not_answer_stops_nothing(
    store: RunStore, monkeypatch: pytest.MonkeyPatch, engine: str, name: str
) -> None:
    """Runs are given out one by one, and the first of them says what is wrong."""

    def free_on_gpu() -> float:
        raise RuntimeError("no CUDA")

    monkeypatch.setattr(grouping, "free_on_gpu", free_on_gpu)
    found, _ = made(store, engine, GPU)
    assert [(len(task.runs), task.choice.engine) for task in found] == [(1, name)] * 5


def test_what_is_trained_already_is_measured_by_itself(store: RunStore) -> None:
    """Even where the others are one model."""
    plan = tiny_plan(5)
    put_run(store, plan[2].run)
    found, _ = made(store, "auto", GPU, plan)
    assert [len(task.runs) for task in found] == [4, 1]
    assert found[1].runs == (plan[2],)
    assert found[1].choice == Choice("processes", 1, 1, "asked for")


@pytest.mark.parametrize(
    ("choices", "lines"),
    [
        ([], []),
        (
            [Choice("batched", 3, 2, "here"), Choice("batched", 5, 2, "here")],
            ["batched (5 replicates in a model, 2 at once, one thread each): here"],
        ),
        (
            [Choice("batched", 5, 1, "here"), Choice("processes", 1, 1, "no replicates")],
            [
                "batched (5 replicates in a model, 1 at once): here",
                "processes (1 at once): no replicates",
            ],
        ),
    ],
)
def test_the_choice_is_told_in_a_line(choices: list[Choice], lines: list[str]) -> None:
    """One for each engine and reason, with the largest model."""
    share = " for 1 of 2 configurations" if len(lines) > 1 else ""
    told = [f"engine{share}: {line}; --engine overrides" for line in lines]
    assert sentences(choices) == told


def test_the_choice_is_provenance() -> None:
    """The engine, how many were really trained together, and why."""
    assert Choice("batched", 5, 2, "the default on a GPU").facts(4) == {
        "name": "batched",
        "together": 4,
        "at_once": 2,
        "why": "the default on a GPU",
    }
