"""A plan is done whatever happens on the way, and done once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from repro.errors import DataError, DeviceError, StoreUnreachableError
from repro.execution import dispatch
from repro.execution.engine import SerialEngine
from repro.execution.execute import Failure, execute
from repro.execution.pool import ProcessPool
from repro.execution.progress import SilentReporter
from repro.execution.tracking import Snapshot
from repro.execution.worker import Outcome, Task
from repro.specs.corpus import Digests, SplitTokens, TextCorpus
from repro.specs.run import PlannedRun
from repro.store import RunStore
from tests.execution.tiny import RANK, TEST, tiny_plan, tiny_run
from tests.store.filled import put_run

Work = Callable[[Task], tuple[Outcome, ...]]


class Journal(SilentReporter):
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def start(self, total: int, reused: int, workers: str) -> None:
        self.lines.append(f"start {total} {reused} {workers}")

    def finished(self, key: str, what: str, snapshot: Snapshot) -> None:
        self.lines.append(f"{key[:4]} {snapshot.done}/{snapshot.total} {what}")

    def stop(self) -> None:
        self.lines.append("stop")


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "BUSY_SECONDS", 0.05)
    monkeypatch.setattr(dispatch, "TICK_SECONDS", 0.05)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Callable[[Work], list[Task]]:
    """Stand in for the worker; the tasks that it got."""

    def install(function: Work) -> list[Task]:
        tasks: list[Task] = []

        def stand_in(task: Task) -> tuple[Outcome, ...]:
            tasks.append(task)
            return function(task)

        monkeypatch.setattr(dispatch, "run_task", stand_in)
        return tasks

    return install


def trained(task: Task) -> tuple[Outcome, ...]:
    return tuple(Outcome(planned.run.key, "trained", seconds=3.0) for planned in task.runs)


def failed(task: Task, error: str, message: str) -> tuple[Outcome, ...]:
    return tuple(Outcome(planned.run.key, "failed", message, error) for planned in task.runs)


def key(planned: PlannedRun) -> str:
    return planned.run.key


def test_what_is_complete_is_not_given_out(
    store: RunStore, work: Callable[[Work], list[Task]]
) -> None:
    """Finished and diverged runs are left; one that lacks a measurement is not."""
    plan = tiny_plan(4)
    for planned in plan[:2]:
        put_run(store, planned.run)
        store.put_measurement(key(planned), TEST, value=2.0)
    for measurement in plan[0].measurements:
        store.put_measurement(key(plan[0]), measurement, value=2.0)
    store.put_run(plan[2].run, history=[], weights=None, best_epoch=None, diverged=1)
    tasks = work(trained)
    journal = Journal()
    done = execute(plan, store, engine=SerialEngine(), device="cpu", report=journal)
    assert done.reused == (key(plan[0]),)
    assert done.diverged == (key(plan[2]),)
    assert [key(task.runs[0]) for task in tasks] == [key(plan[3]), key(plan[1])]
    assert set(done.done) == {key(plan[1]), key(plan[3])}
    assert journal.lines[0] == "start 2 2 cpu"
    assert journal.lines[1:] == [
        f"{key(plan[3])[:4]} 1/2 trained in 3 s",
        f"{key(plan[1])[:4]} 2/2 trained in 3 s",
        "stop",
    ]


def test_nothing_to_do_starts_nothing(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """No device is looked for, no engine made, nothing said."""
    monkeypatch.setattr("repro.execution.execute.resolve_device", None)
    monkeypatch.setattr("repro.execution.execute.make_engine", None)
    journal = Journal()
    assert execute([], store, report=journal).done == ()
    assert journal.lines == []
    assert not store.root.exists()


def test_the_longest_run_goes_first(store: RunStore, work: Callable[[Work], list[Task]]) -> None:
    """So that the last worker is not left with it."""
    plan = [
        PlannedRun(run=tiny_run(epochs=epochs), measurements=(TEST, RANK)) for epochs in (2, 9, 5)
    ]
    tasks = work(trained)
    execute(plan, store, engine=SerialEngine(), device="cpu")
    assert [task.runs[0].run.training.recipe.epochs for task in tasks] == [9, 5, 2]


def test_a_failing_run_does_not_stop_the_others(
    store: RunStore, work: Callable[[Work], list[Task]]
) -> None:
    """It is in the result, with its reason."""
    plan = tiny_plan(3)

    def function(task: Task) -> tuple[Outcome, ...]:
        bad = task.runs[0] == plan[1]
        return failed(task, "ZeroDivisionError", "no") if bad else trained(task)

    work(function)
    done = execute(plan, store, engine=SerialEngine(), device="cpu")
    assert set(done.trained) == {key(plan[0]), key(plan[2])}
    assert done.failed == (Failure(key(plan[1]), "ZeroDivisionError", "no"),)


def test_a_lost_task_is_a_failed_run(store: RunStore, work: Callable[[Work], list[Task]]) -> None:
    """What the engine raises becomes the reason."""

    def function(task: Task) -> tuple[Outcome, ...]:
        raise MemoryError("too much")

    work(function)
    done = execute(tiny_plan(2), store, engine=SerialEngine(), device="cpu")
    assert [(failure.error, failure.message) for failure in done.failed] == [
        ("MemoryError", "too much")
    ] * 2


def test_a_busy_run_is_waited_for(store: RunStore, work: Callable[[Work], list[Task]]) -> None:
    """Others are done meanwhile; when it is free it is taken as the other process left it."""
    plan = tiny_plan(2)
    count = 0

    def function(task: Task) -> tuple[Outcome, ...]:
        nonlocal count
        if task.runs[0] == plan[1]:
            return trained(task)
        count += 1
        return (Outcome(key(plan[0]), "busy" if count < 4 else "reused"),)

    work(function)
    done = execute(plan, store, engine=SerialEngine(), device="cpu")
    assert (done.reused, done.trained) == ((key(plan[0]),), (key(plan[1]),))
    assert count == 4


def text_plan(name: str, replicates: int) -> list[PlannedRun]:
    corpus = TextCorpus(
        name=name,
        vocabulary=50,
        tokens=SplitTokens(train=9, valid=9, test=9),
        sha256=Digests(train="0" * 64, valid="0" * 64, test="0" * 64),
    )
    run = tiny_run()
    training = run.training.model_copy(update={"corpus": corpus})
    return [
        PlannedRun(
            run=run.model_copy(update={"training": training, "replicate": replicate}),
            measurements=(TEST,),
        )
        for replicate in range(replicates)
    ]


def without(missing: str) -> Work:
    def function(task: Task) -> tuple[Outcome, ...]:
        corpus = task.runs[0].run.training.corpus
        if isinstance(corpus, TextCorpus) and corpus.name == missing:
            return failed(task, "CorpusError", f"no {missing}")
        return trained(task)

    return function


def test_missing_data_stops_early(store: RunStore, work: Callable[[Work], list[Task]]) -> None:
    """If no run can be done, its corpus is asked for once, and DataError is raised."""
    tasks = work(without("ptb"))
    with pytest.raises(DataError, match=r"^no ptb$"):
        execute(text_plan("ptb", 9), store, engine=SerialEngine(), device="cpu")
    assert len(tasks) == 1


def test_missing_data_leaves_other_corpora(
    store: RunStore, work: Callable[[Work], list[Task]]
) -> None:
    """Runs of another corpus are done, and those that cannot be are failures."""
    work(without("ptb"))
    plan = [*text_plan("ptb", 3), *text_plan("wt2", 2)]
    done = execute(plan, store, engine=SerialEngine(), device="cpu")
    assert set(done.trained) == {key(planned) for planned in plan[3:]}
    assert {failure.key for failure in done.failed} == {key(planned) for planned in plan[:3]}
    assert {failure.error for failure in done.failed} == {"CorpusError"}


def test_a_text_too_short_for_one_recipe_stops_nothing(
    store: RunStore, work: Callable[[Work], list[Task]]
) -> None:
    """A DataError of one run leaves the other runs of the same corpus to be done."""
    plan = tiny_plan(4)

    def function(task: Task) -> tuple[Outcome, ...]:
        bad = task.runs[0] == plan[0]
        return failed(task, "DataError", "too short") if bad else trained(task)

    tasks = work(function)
    done = execute(plan, store, engine=SerialEngine(), device="cpu")
    assert len(tasks) == 4
    assert set(done.trained) == {key(planned) for planned in plan[1:]}
    assert done.failed == (Failure(key(plan[0]), "DataError", "too short"),)


@pytest.mark.parametrize("kind", [DeviceError, StoreUnreachableError])
def test_what_concerns_all_runs_is_raised(
    store: RunStore, work: Callable[[Work], list[Task]], kind: type[Exception]
) -> None:
    """A lost device or a full disk ends the execution at once."""
    tasks = work(lambda task: failed(task, kind.__name__, "gone"))
    journal = Journal()
    with pytest.raises(kind, match="gone"):
        execute(tiny_plan(5), store, engine=SerialEngine(), device="cpu", report=journal)
    assert len(tasks) == 1
    assert journal.lines[-1] == "stop"


def test_damaged_evidence_is_a_failure(store: RunStore, work: Callable[[Work], list[Task]]) -> None:
    """It is not trained over, and the rest is done."""
    plan = tiny_plan(2)
    put_run(store, plan[0].run)
    (store.folder(key(plan[0])) / "record.json").write_text("{}")
    tasks = work(trained)
    done = execute(plan, store, engine=SerialEngine(), device="cpu")
    assert [task.runs[0] for task in tasks] == [plan[1]]
    assert [(failure.key, failure.error) for failure in done.failed] == [
        (key(plan[0]), "StoreError")
    ]


def test_a_store_out_of_reach_is_raised(tmp_path: Path) -> None:
    """Before anything is started."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnreachableError):
        execute(tiny_plan(), RunStore(tmp_path / "file"), device="cpu")


def test_an_executor_of_the_callers_stays_open(
    store: RunStore, work: Callable[[Work], list[Task]]
) -> None:
    """Any executor will do, and who made it closes it."""
    work(trained)
    with ThreadPoolExecutor(1) as executor:
        assert len(execute(tiny_plan(3), store, engine=executor, device="cpu").trained) == 3
        assert executor.submit(int, "3").result() == 3


def test_an_interrupt_ends_the_workers(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """It passes through, and the pool that was made for the execution is terminated."""
    made: list[Any] = []

    class Pool(ProcessPool):
        def submit(self, *_: Any, **__: Any) -> Future[Any]:
            raise KeyboardInterrupt

        def terminate(self) -> None:
            made.append("terminated")
            super().terminate()

    def make(*_: Any, **__: Any) -> Executor:
        return Pool(1)

    monkeypatch.setattr("repro.execution.execute.make_engine", make)
    with pytest.raises(KeyboardInterrupt):
        execute(tiny_plan(), store, device="cpu")
    assert made == ["terminated"]
