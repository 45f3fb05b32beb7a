"""A model of several replicates, of which one fails, diverges, is busy or is cut off."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from repro.running import dispatch
from repro.running.engine import RunOptions
from repro.running.execute import execute
from repro.running.grouping import Task
from repro.running.pool import WorkerLostError
from repro.running.worker import Outcome, RunLog, run_task
from repro.store.run_store import RunStore
from tests.running.doing import cut_off, statuses
from tests.running.replicates import TOLERANCE, assert_close, plan_of, together, training_of


@pytest.mark.usefixtures("_here")
def test_one_that_fails_leaves_the_others(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The batch is halved until the guilty run is alone; the others go on from where they were."""
    from repro.trainers.language_model import training

    plan, real = plan_of(4, epochs=2), training.train
    guilty = plan[2].run.key
    batches: list[int] = []

    def train(batch: Any, *args: Any, **kwargs: Any) -> Any:
        batches.append(len(batch))
        assert kwargs["together"] == (len(batch) > 1)
        if guilty in [run.key for run in batch]:
            raise MemoryError("a replicate too many")
        return real(batch, *args, **kwargs)

    monkeypatch.setattr(training, "train", train)
    done = execute(plan, RunOptions(store, engine="batched", workers=1, device="cpu"))
    assert [failure.key for failure in done.failed] == [guilty]
    assert "a replicate too many" in done.failed[0].message
    assert sorted(done.trained) == sorted(each.run.key for each in plan if each != plan[2])
    assert batches == [4, 2, 2, 1, 1]
    assert training_of(store, plan[0])["engine"]["together"] == 2
    assert training_of(store, plan[3])["engine"]["together"] == 1
    assert not (store.folder(plan[0].run.key) / "error.txt").exists()


@pytest.mark.usefixtures("_here")
def test_what_is_committed_is_not_trained_again(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that cannot be stored halves the batch; those before it are measured, no step more."""
    plan, real = plan_of(4, epochs=2), RunStore.put_run
    guilty, begun = plan[2].run.key, list[str]()

    def put_run(self: RunStore, run: Any, **kwargs: Any) -> bool:
        if run.key == guilty:
            raise MemoryError("no room for the weights")
        return real(self, run, **kwargs)

    real_begin = RunLog.begin_training

    def begin_training(self: RunLog) -> None:
        begun.append(self._key)
        real_begin(self)

    monkeypatch.setattr(RunStore, "put_run", put_run)
    monkeypatch.setattr(RunLog, "begin_training", begin_training)
    done = execute(plan, RunOptions(store, engine="batched", workers=1, device="cpu"))
    assert [failure.key for failure in done.failed] == [guilty]
    assert sorted(done.trained) == sorted(each.run.key for each in plan if each != plan[2])
    assert [begun.count(plan[number].run.key) for number in (0, 1)] == [1, 1]
    assert training_of(store, plan[0])["engine"]["together"] == 4


@pytest.mark.usefixtures("_here")
def test_a_batch_that_kills_its_process_is_given_out_in_halves(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Out of memory on a processor: smaller batches, and only what is too large alone fails."""
    plan, guilty = plan_of(4, epochs=2), plan_of(4, epochs=2)[3].run.key
    sizes = list[int]()

    def task_of(task: Task) -> tuple[Outcome, ...]:
        sizes.append(len(task.runs))
        if len(task.runs) > 2 or guilty in [planned.run.key for planned in task.runs]:
            raise WorkerLostError("its process was killed 3 times", killed=True)
        return run_task(task)

    monkeypatch.setattr(dispatch, "run_task", task_of)
    done = execute(plan, RunOptions(store, engine="batched", workers=1, device="cpu"))
    assert [failure.key for failure in done.failed] == [guilty]
    assert "killed 3 times" in done.failed[0].message
    assert len(done.trained) == 3
    assert sorted(sizes) == [1, 1, 2, 2, 4]


@pytest.mark.usefixtures("_here")
def test_a_missing_corpus_is_asked_for_once(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is wrong for every run is not tried again in smaller batches."""
    from repro.errors import DataError

    asked: list[Any] = []

    def load_corpus(*arguments: Any) -> None:
        asked.append(arguments)
        raise DataError("no such corpus")

    monkeypatch.setattr("repro.trainers.language_model.corpus.load_corpus", load_corpus)
    with pytest.raises(DataError, match="no such corpus"):
        execute(plan_of(4), RunOptions(store, engine="batched", workers=1, device="cpu"))
    assert len(asked) == 1


@pytest.mark.usefixtures("_here")
def test_one_that_diverges_is_recorded(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others end with the numbers that they have without it (reference: alone)."""
    from repro.trainers.language_model.training import TrainingReplicate

    plan = plan_of(3, "float64")
    alone = RunStore(tmp_path / "alone")
    for planned in (plan[0], plan[2]):
        together(alone, planned)
    real, guilty = TrainingReplicate.begin, plan[1].run.key

    def begin(run: Any, *arguments: Any) -> Any:
        replicate = real(run, *arguments)
        if run.key == guilty:
            for parameter in replicate.model.parameters():
                parameter.data.fill_(math.nan)
        return replicate

    monkeypatch.setattr(TrainingReplicate, "begin", begin)
    done = execute(plan, RunOptions(store, engine="batched", workers=1, device="cpu"))
    assert done.diverged == (guilty,)
    assert sorted(done.trained) == sorted([plan[0].run.key, plan[2].run.key])
    assert store.record(guilty).diverged == 1
    assert_close(store, alone, [plan[0], plan[2]], TOLERANCE["float64"])


@pytest.mark.usefixtures("_here")
def test_busy_ones_are_done_later(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replicate that another process holds is left out of the model, and waited for."""
    plan = plan_of(4, epochs=2)
    held = store.lock(plan[1].run.key)
    held.__enter__()
    tasks: list[list[int]] = []

    def task_of(task: Task) -> tuple[Outcome, ...]:
        tasks.append([planned.run.replicate for planned in task.runs])
        if len(tasks) == 3:
            held.__exit__(None, None, None)
        return run_task(task)

    monkeypatch.setattr(dispatch, "run_task", task_of)
    done = execute(plan, RunOptions(store, engine="batched", workers=1, device="cpu"))
    assert len(done.trained) == 4
    assert sorted(tasks[0]) == [0, 1, 2, 3]
    assert tasks[1:] == [[1], [1]]
    assert training_of(store, plan[0])["engine"]["together"] == 3
    assert training_of(store, plan[1])["engine"]["together"] == 1


def test_members_at_different_epochs_go_on_together(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut off in different epochs, alone or together, they end as if nobody had disturbed them."""
    plan = plan_of(3, "float64", epochs=4)
    whole = RunStore(tmp_path / "whole")
    together(whole, *plan)
    with cut_off(monkeypatch, lambda state: state.epoch == 2):
        together(store, plan[0])
    with cut_off(monkeypatch, lambda state: state.epoch == 4):
        together(store, plan[2])
    begun, real = dict[str, int](), RunLog.training

    def training(self: RunLog, state: Any) -> None:
        begun.setdefault(state.run_key, state.epoch)
        real(self, state)

    monkeypatch.setattr(RunLog, "training", training)
    assert statuses(together(store, *plan)) == ["trained"] * 3
    assert [begun[planned.run.key] for planned in plan] == [2, 1, 4]
    assert_close(store, whole, plan, TOLERANCE["float64"])
    sessions = training_of(store, plan[2])["sessions_list"]
    assert [each["engine"]["together"] for each in sessions] == [1, 3]
    assert [each["from_epoch"] for each in sessions] == [1, 4]


@pytest.mark.usefixtures("_here")
def test_an_interrupted_batch_goes_on(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C passes through; the next start loses an epoch at most (reference: undisturbed)."""
    plan = plan_of(3, "float64", epochs=4)
    whole = RunStore(tmp_path / "whole")
    together(whole, *plan)
    with cut_off(monkeypatch, lambda state: (state.epoch, state.step) == (3, 7)):
        execute(plan, RunOptions(store, engine="batched", workers=1, device="cpu"))
    assert {store.state(planned.run.key) for planned in plan} == {"started"}
    done = execute(plan, RunOptions(store, engine="batched", workers=1, device="cpu"))
    assert len(done.trained) == 3
    assert [training_of(store, planned)["sessions"] for planned in plan] == [2, 2, 2]
    assert_close(store, whole, plan, TOLERANCE["float64"])
