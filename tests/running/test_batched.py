"""Replicates as one model, through the store: the same runs, whatever happens on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from repro.running.engine import RunOptions, SerialEngine
from repro.running.execute import execute
from repro.running.grouping import Task
from repro.running.progress import Reporter, Snapshot, Tracker
from repro.running.worker import RunLog, run_task
from repro.store.run_store import RunStore
from tests.running.replicates import TOLERANCE, assert_close, plan_of, together, training_of
from tests.running.tiny import TEST, TRAIN, tiny_plan

FILES = ("record.json", "history.jsonl", "model.safetensors")


@pytest.mark.slow
def test_engines_agree(tmp_path: Path) -> None:
    """Serial and processes to the last bit; batched but for round-off (reference: serial)."""
    plan = plan_of(4)
    stores = {name: RunStore(tmp_path / name) for name in ("serial", "processes", "batched")}
    for name, each in stores.items():
        done = execute(plan, RunOptions(each, engine=name, workers=2, device="cpu"))
        assert len(done.trained) == 4
    for planned in plan:
        for file in FILES:
            one, other = (
                (stores[name].folder(planned.run.key) / file).read_bytes()
                for name in ("serial", "processes")
            )
            assert one == other
    assert_close(stores["batched"], stores["serial"], plan, TOLERANCE["float32"])
    engines = {name: training_of(stores[name], plan[0])["engine"] for name in stores}
    assert engines["batched"] == {
        "name": "batched",
        "together": 2,
        "at_once": 2,
        "why": "asked for",
    }
    assert {engines[name]["together"] for name in ("serial", "processes")} == {1}


def test_company_does_not_matter(store: RunStore, tmp_path: Path) -> None:
    """A replicate has the same numbers in a model of two, of three and alone."""
    plan = plan_of(3, "float64", epochs=2)
    pair, alone = RunStore(tmp_path / "pair"), RunStore(tmp_path / "alone")
    together(store, *plan)
    together(pair, plan[2], plan[0])
    together(alone, plan[0])
    assert_close(store, alone, plan[:1], TOLERANCE["float64"])
    assert_close(pair, alone, plan[:1], TOLERANCE["float64"])
    assert_close(pair, store, [plan[2]], TOLERANCE["float64"])
    counts = [training_of(each, plan[0])["engine"]["together"] for each in (store, pair, alone)]
    assert counts == [3, 2, 1]


def test_a_model_of_one_is_a_plain_run(store: RunStore, tmp_path: Path) -> None:
    """To the last bit (reference: the plain loop)."""
    (planned,) = plan_of(1)
    plain = RunStore(tmp_path / "plain")
    together(store, planned)
    run_task(Task((planned,), plain.root, None, "cpu"))
    for name in FILES:
        ours, theirs = (each.folder(planned.run.key) / name for each in (store, plain))
        assert ours.read_bytes() == theirs.read_bytes()


@pytest.mark.usefixtures("_here")
def test_what_is_trained_already_is_measured_alone(store: RunStore) -> None:
    """A batch holds what is to be trained; a measurement that is missing is a task of its own."""
    plan = plan_of(3, epochs=2)
    together(store, plan[0])
    more = [planned.model_copy(update={"measurements": (TEST, TRAIN)}) for planned in plan]
    done = execute(more, RunOptions(store, engine="batched", workers=1, device="cpu"))
    assert done.measured == (plan[0].run.key,)
    assert sorted(done.trained) == sorted(each.run.key for each in plan[1:])
    assert training_of(store, plan[1])["engine"]["together"] == 2


class Journal(Reporter):
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def finished(self, key: str, what: str, snapshot: Snapshot) -> None:
        self.lines.append(f"{snapshot.done}/{snapshot.total} {what}")


@pytest.mark.usefixtures("_here")
def test_every_run_of_a_batch_is_shown(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it runs each is in its epoch; in the end each is told, with how many it shared."""
    plan = tiny_plan(3)
    tracker = Tracker(store, plan, lambda: 0.0)
    monkeypatch.setattr("repro.running.worker.INTERVAL", 0.0)
    seen: list[Snapshot] = []
    real = RunLog.training

    def training(self: RunLog, state: Any) -> None:
        real(self, state)
        if state.epoch == 2 and state.step == 2 and state.run_key == plan[2].run.key:
            seen.append(tracker.snapshot())

    monkeypatch.setattr(RunLog, "training", training)
    journal = Journal()
    execute(plan, RunOptions(store, engine="batched", workers=1, device="cpu"), report=journal)
    assert [running.doing for running in seen[0].running] == ["epoch 2/2"] * 3
    assert 0 < seen[0].fraction < 1
    assert [line.split()[0] for line in journal.lines] == ["1/3", "2/3", "3/3"]
    assert all(line.endswith("s with 2 more") for line in journal.lines)


def test_an_executor_that_is_given_trains_run_by_run(store: RunStore) -> None:
    """Nothing is measured or put together on it, and the provenance says what it is."""
    plan = plan_of(2, epochs=1)
    execute(plan, RunOptions(store, engine=SerialEngine(), device="cpu"))
    engines = [training_of(store, planned)["engine"] for planned in plan]
    assert engines == [{"name": "serial", "together": 1, "at_once": 1, "why": "asked for"}] * 2


def test_plain_tasks_of_several_runs_are_not_one_model(store: RunStore) -> None:
    """Unless it was chosen, a task trains its runs one after the other, and says so."""
    plan = tiny_plan(2)
    outcomes = run_task(Task(tuple(plan), store.root, None, "cpu"))
    assert [outcome.together for outcome in outcomes] == [1, 1]
    assert training_of(store, plan[0])["engine"]["name"] == "processes"
