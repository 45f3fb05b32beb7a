"""Which engine: when measuring pays, what is measured and kept, and the tasks that come of it."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from repro.execution import measuring
from repro.execution.choice import Choice, sentences
from repro.execution.engine import SerialEngine
from repro.execution.grouping import Group, replicate_memory
from repro.execution.measured import Cache
from repro.execution.measuring import (
    Pool,
    choose,
    choose_batched,
    circumstances,
    is_worth_measuring,
)
from repro.execution.probe import Accelerator
from repro.execution.tasks import make_tasks
from repro.specs.recipe import Dropout, NonMonotonic, Stop
from repro.store import RunStore
from repro.store.work import FLOPS_PER_CORE, PROCESS_MEMORY
from tests.execution.replicates import group_of
from tests.execution.tiny import tiny_plan

PLENTY = 1e15


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache" / "engines.json", lambda _: None)


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[float]]:
    """Stand in for the measurement: steps a second, by engine; what was timed is in ``timed``."""
    found: dict[str, list[float]] = {"processes": [10.0], "batched": [10.0], "timed": []}

    def rate(_: Group, pool: Pool, together: int) -> float:
        found["timed"].append(together)
        return found["processes" if together == 1 else "batched"][0]

    monkeypatch.setattr(measuring, "_rate", rate)
    monkeypatch.setattr(measuring, "warm", lambda _: Accelerator("GPU of a test", PLENTY))
    monkeypatch.setattr(measuring, "PAYS", 0.0)
    return found


def cpu(at_once: int = 2) -> Pool:
    return Pool(SerialEngine(), at_once, "cpu")


def gpu() -> Pool:
    return Pool(SerialEngine(), 1, "cuda")


def chosen(groups: Sequence[Group], pool: Pool, cache: Cache) -> list[Choice]:
    return choose(groups, pool, cache, lambda _: None)


@pytest.mark.parametrize(
    ("batched", "engine", "together", "ratio"),
    [(5.0, "processes", 1, 2.0), (10.4, "processes", 1, 1 / 1.04), (15.0, "batched", 5, 1.5)],
)
def test_the_faster_engine_is_chosen(
    cache: Cache,
    rates: dict[str, list[float]],
    batched: float,
    engine: str,
    together: int,
    ratio: float,
) -> None:
    """By the ratio of steps a second; ``batched`` must be ahead by a twentieth."""
    rates["batched"] = [batched]
    (choice,) = chosen([group_of(10)], cpu(), cache)
    assert (choice.engine, choice.together, choice.at_once) == (engine, together, 2)
    assert choice.ratio == pytest.approx(ratio)
    assert rates["timed"] == [1, 5, 1, 5]


def test_a_measurement_is_made_once(cache: Cache, rates: dict[str, list[float]]) -> None:
    """A shape that was measured is not measured again, in this process or another."""
    rates["batched"] = [30.0]
    first = chosen([group_of(10)], cpu(), cache)
    count = len(rates["timed"])
    same_shape = group_of(10, epochs=9, learning_rate=1.0)
    assert chosen([same_shape], cpu(), cache) == first
    assert chosen([same_shape], cpu(), Cache(cache._path, lambda _: None)) == first
    assert len(rates["timed"]) == count


@pytest.mark.parametrize("what", ["shape", "together", "at_once", "code", "processor", "torch"])
def test_other_circumstances_are_measured(
    cache: Cache, rates: dict[str, list[float]], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Another model, number of replicates, machine, torch or code of training is another speed."""
    chosen([group_of(10)], cpu(), cache)
    count = len(rates["timed"])
    group, pool = group_of(10), cpu()
    match what:
        case "shape":
            group = group_of(10, components=2)
        case "together":
            group = group_of(8)
        case "at_once":
            group, pool = group_of(15), cpu(3)
        case "torch":
            monkeypatch.setattr(measuring, "package_version", lambda _: "another")
        case _:
            monkeypatch.setattr(measuring, what, lambda: "another")
    chosen([group], pool, cache)
    assert len(rates["timed"]) == 2 * count


@pytest.mark.parametrize(("pool", "engine"), [(cpu(), "processes"), (gpu(), "batched")])
def test_what_is_too_short_to_measure_has_a_default(
    cache: Cache,
    rates: dict[str, list[float]],
    monkeypatch: pytest.MonkeyPatch,
    pool: Pool,
    engine: str,
) -> None:
    """Processes on a processor, one model on a GPU, and nothing is timed."""
    monkeypatch.setattr(measuring, "PAYS", 1e9)
    (choice,) = chosen([group_of(10)], pool, cache)
    assert (choice.engine, choice.ratio) == (engine, None)
    assert rates["timed"] == []
    assert "too short" in sentences([choice])[0]


def test_measuring_must_pay() -> None:
    """Thirty times what it costs: a long training is measured, a short one is not."""
    assert not is_worth_measuring(group_of(10), cpu(), 5)
    assert is_worth_measuring(group_of(10, epochs=10_000), cpu(), 5)
    long = group_of(10, epochs=10_000)
    costs = 2 * measuring.ROUNDS * measuring.SECONDS
    flops = measuring.PAYS * costs * FLOPS_PER_CORE * 2
    assert is_worth_measuring(Group(long.runs, 1.2 * flops), cpu(), 5)
    assert not is_worth_measuring(Group(long.runs, 0.9 * flops), cpu(), 5)


def test_a_gpu_is_asked_for_its_name_and_memory(
    cache: Cache, rates: dict[str, list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its free memory bounds the batch; one process alone is the other engine."""
    rates["batched"] = [40.0]
    group = group_of(10)
    (choice,) = chosen([group], gpu(), cache)
    assert (choice.engine, choice.together, choice.at_once) == ("batched", 10, 1)
    assert rates["timed"] == [1, 10, 1, 10]
    room = PROCESS_MEMORY + 5.5 * replicate_memory(group.training)
    small = Accelerator("a smaller one", room / measuring.GPU_SHARE)
    monkeypatch.setattr(measuring, "warm", lambda _: small)
    (choice,) = chosen([group], gpu(), cache)
    assert choice.together == 5
    assert choose_batched([group], gpu())[0].together == 5


def test_a_gpu_that_does_not_answer_stops_nothing(
    cache: Cache, rates: dict[str, list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs are given out one by one, and the first of them says what is wrong."""

    def warm(_: str) -> Accelerator:
        raise RuntimeError("no CUDA")

    monkeypatch.setattr(measuring, "warm", warm)
    (choice,) = chosen([group_of(10)], gpu(), cache)
    assert (choice.engine, choice.together) == ("processes", 1)
    assert choose_batched([group_of(10)], gpu())[0].together == 1
    assert rates["timed"] == []


def test_a_measurement_that_fails_is_said_and_not_kept(
    cache: Cache, rates: dict[str, list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default is taken, and the next time it is tried again."""

    def fail(*_: Any) -> float:
        raise MemoryError("too many replicates")

    with monkeypatch.context() as patch:
        patch.setattr(measuring, "_rate", fail)
        said: list[str] = []
        (choice,) = choose([group_of(10)], cpu(), cache, said.append)
    assert (choice.engine, choice.ratio) == ("processes", None)
    assert said[-1] == "engine: could not be measured: MemoryError: too many replicates"
    assert chosen([group_of(10)], cpu(), cache)[0].ratio == 1.0


def test_a_rate_of_nothing_is_a_measurement_that_failed(
    cache: Cache, rates: dict[str, list[float]]
) -> None:
    """No step within the time: said in a line, and the default is taken."""
    rates["batched"], said = [0.0], list[str]()
    (choice,) = choose([group_of(10)], cpu(), cache, said.append)
    assert (choice.engine, choice.ratio) == ("processes", None)
    assert said[-1].startswith("engine: could not be measured: ValidationError")
    assert "\n" not in said[-1]


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"stop": Stop(patience=3)}, True),
        ({"learning_rates": {"trunk": 1.0}}, True),
        ({"averaging": NonMonotonic(n=3)}, True),
        ({"small_batch_size": 2}, False),
        ({"dropout": Dropout(weight=0.5)}, False),
    ],
)
def test_only_what_changes_the_time_of_a_step_is_another_shape(
    changes: dict[str, Any], same: bool
) -> None:
    """When training ends, and with which rates, is no reason to measure again."""
    first = group_of(4).training
    other = first.model_copy(update={"recipe": first.recipe.model_copy(update=changes)})
    one, two = (circumstances(each, cpu(), None, 2) for each in (first, other))
    assert (one == two) == same


def test_an_interrupt_passes_through_a_measurement(
    cache: Cache, rates: dict[str, list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while engines are timed ends the command."""

    class Interrupted(Executor):
        def submit(self, *_: Any, **__: Any) -> Future[Any]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        chosen([group_of(10)], Pool(Interrupted(), 2, "cpu"), cache)


@pytest.mark.parametrize(
    ("engine", "sizes"),
    [("serial", [1] * 5), ("processes", [1] * 5), ("batched", [3, 2]), ("auto", [3, 2])],
)
def test_tasks_of_an_engine(
    tmp_path: Path,
    rates: dict[str, list[float]],
    monkeypatch: pytest.MonkeyPatch,
    engine: Any,
    sizes: list[int],
) -> None:
    """One run a task, or as many replicates as were chosen, the largest first."""
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path / "cache"))
    rates["batched"] = [20.0]
    store, said = RunStore(tmp_path / "runs"), list[str]()
    tasks = make_tasks(tiny_plan(5), store, None, engine, cpu(), said.append)
    assert [len(task.runs) for task in tasks] == sizes
    assert {task.choice.engine for task in tasks} == {"batched" if engine == "auto" else engine}
    assert [task.choice.together for task in tasks] == sizes
    assert len(said) == (2 if engine == "auto" else 0)
    assert (tmp_path / "cache" / "engines.json").exists() == (engine == "auto")
