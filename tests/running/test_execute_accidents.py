"""A plan of which some run fails, lacks its data or is damaged, and what stops the whole of it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from repro.errors import DataError, DeviceError, StoreUnreachableError
from repro.running.engine import RunOptions, SerialEngine
from repro.running.execute import execute
from repro.running.grouping import Task
from repro.running.pool import ProcessPool
from repro.running.progress import Reporter, Snapshot
from repro.running.worker import Outcome
from repro.store.run_store import RunStore
from repro.trainers.language_model.spec import Digests, SplitTokens, TextCorpus, TrainingSpec
from repro.trainers.run import PlannedRun
from tests.running.stand_ins import Journal, Work, failed, key, trained
from tests.running.tiny import TEST, tiny_plan, tiny_run
from tests.store.filled import put_run

pytestmark = pytest.mark.usefixtures("_quick")


def test_a_failing_run_does_not_stop_the_others(
    store: RunStore, work: Callable[[Work], list[Task]]
) -> None:
    """It is in the result, with its reason."""
    plan = tiny_plan(3)

    def function(task: Task) -> tuple[Outcome, ...]:
        bad = task.runs[0] == plan[1]
        return failed(task, "ZeroDivisionError", "no") if bad else trained(task)

    work(function)
    done = execute(plan, RunOptions(store, engine=SerialEngine(), device="cpu"))
    assert set(done.trained) == {key(plan[0]), key(plan[2])}
    assert done.failed == (Outcome(key(plan[1]), "failed", "no", "ZeroDivisionError"),)


def test_a_lost_task_is_a_failed_run(store: RunStore, work: Callable[[Work], list[Task]]) -> None:
    """What the engine raises becomes the reason."""

    def function(task: Task) -> tuple[Outcome, ...]:
        raise MemoryError("too much")

    work(function)
    done = execute(tiny_plan(2), RunOptions(store, engine=SerialEngine(), device="cpu"))
    assert [(failure.error, failure.message) for failure in done.failed] == [
        ("MemoryError", "too much")
    ] * 2


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
        corpus = TrainingSpec.of(task.runs[0].run).corpus
        if isinstance(corpus, TextCorpus) and corpus.name == missing:
            return failed(task, "CorpusError", f"no {missing}")
        return trained(task)

    return function


def test_missing_data_stops_early(store: RunStore, work: Callable[[Work], list[Task]]) -> None:
    """If no run can be done, its corpus is asked for once, and DataError is raised."""
    tasks = work(without("ptb"))
    with pytest.raises(DataError, match=r"^no ptb$"):
        execute(text_plan("ptb", 9), RunOptions(store, engine=SerialEngine(), device="cpu"))
    assert len(tasks) == 1


def test_missing_data_leaves_other_corpora(
    store: RunStore, work: Callable[[Work], list[Task]]
) -> None:
    """Runs of another corpus are done, and those that cannot be are failures."""
    work(without("ptb"))
    plan = [*text_plan("ptb", 3), *text_plan("wt2", 2)]
    done = execute(plan, RunOptions(store, engine=SerialEngine(), device="cpu"))
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
    done = execute(plan, RunOptions(store, engine=SerialEngine(), device="cpu"))
    assert len(tasks) == 4
    assert set(done.trained) == {key(planned) for planned in plan[1:]}
    assert done.failed == (Outcome(key(plan[0]), "failed", "too short", "DataError"),)


@pytest.mark.parametrize("kind", [DeviceError, StoreUnreachableError])
def test_what_concerns_all_runs_is_raised(
    store: RunStore, work: Callable[[Work], list[Task]], kind: type[Exception]
) -> None:
    """A lost device or a full disk ends the execution at once."""
    tasks = work(lambda task: failed(task, kind.__name__, "gone"))
    journal = Journal()
    with pytest.raises(kind, match="gone"):
        execute(
            tiny_plan(5), RunOptions(store, engine=SerialEngine(), device="cpu"), report=journal
        )
    assert len(tasks) == 1
    assert journal.lines[-1] == "stop"


def test_damaged_evidence_is_a_failure(store: RunStore, work: Callable[[Work], list[Task]]) -> None:
    """It is not trained over, and the rest is done."""
    plan = tiny_plan(2)
    put_run(store, plan[0].run)
    (store.folder(key(plan[0])) / "record.json").write_text("{}")
    tasks = work(trained)
    done = execute(plan, RunOptions(store, engine=SerialEngine(), device="cpu"))
    assert [task.runs[0] for task in tasks] == [plan[1]]
    assert [(failure.key, failure.error) for failure in done.failed] == [
        (key(plan[0]), "StoreError")
    ]


def test_a_store_out_of_reach_is_raised(tmp_path: Path) -> None:
    """Before anything is started."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnreachableError):
        execute(tiny_plan(), RunOptions(RunStore(tmp_path / "file"), device="cpu"))


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

    monkeypatch.setattr("repro.running.pool.ProcessPool.made", make)
    with pytest.raises(KeyboardInterrupt):
        execute(tiny_plan(), RunOptions(store, device="cpu"))
    assert made == ["terminated"]


@pytest.mark.parametrize("mounted", [True, False])
def test_a_store_that_vanishes_in_mid_run(
    store: RunStore, tmp_path: Path, *, mounted: bool
) -> None:
    """It ends the execution, is not made again, and what was finished is in it when it is back."""

    class Unmounts(Reporter):
        def finished(self, key: str, what: str, snapshot: Snapshot) -> None:
            if store.root.exists():
                store.root.rename(tmp_path / "away")
                if mounted:
                    store.root.mkdir()

    plan = tiny_plan(3)
    with pytest.raises(StoreUnreachableError, match="no longer there"):
        execute(
            plan, RunOptions(store, engine="processes", workers=1, device="cpu"), report=Unmounts()
        )
    assert not store.root.exists() or not list(store.root.iterdir())
    if mounted:
        store.root.rmdir()
    (tmp_path / "away").rename(store.root)
    done = execute(plan, RunOptions(RunStore(store.root), engine="serial", device="cpu"))
    assert (len(done.trained), len(done.reused)) == (2, 1)
