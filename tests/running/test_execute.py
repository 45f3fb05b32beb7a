"""A plan is done once: what is given out, in which order, and what is waited for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from repro.running.engine import RunOptions, SerialEngine
from repro.running.execute import execute
from repro.running.grouping import Task
from repro.running.worker import Outcome
from repro.store.run_store import RunStore
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.run import PlannedRun
from tests.running.stand_ins import Journal, Work, key, trained
from tests.running.tiny import RANK, TEST, tiny_plan, tiny_run
from tests.store.filled import put_run

pytestmark = pytest.mark.usefixtures("_quick")


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
    done = execute(plan, RunOptions(store, engine=SerialEngine(), device="cpu"), report=journal)
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
    monkeypatch.setattr("repro.trainers.devices.resolve_device", None)
    monkeypatch.setattr("repro.running.pool.ProcessPool.made", None)
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
    execute(plan, RunOptions(store, engine=SerialEngine(), device="cpu"))
    assert [TrainingSpec.of(task.runs[0].run).recipe.epochs for task in tasks] == [9, 5, 2]


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
    done = execute(plan, RunOptions(store, engine=SerialEngine(), device="cpu"))
    assert (done.reused, done.trained) == ((key(plan[0]),), (key(plan[1]),))
    assert count == 4


def test_an_executor_of_the_callers_stays_open(
    store: RunStore, work: Callable[[Work], list[Task]]
) -> None:
    """Any executor will do, and who made it closes it."""
    work(trained)
    with ThreadPoolExecutor(1) as executor:
        assert (
            len(execute(tiny_plan(3), RunOptions(store, engine=executor, device="cpu")).trained)
            == 3
        )
        assert executor.submit(int, "3").result() == 3
