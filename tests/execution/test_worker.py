"""One task: what a worker does with runs that are missing, begun, finished, busy or broken."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repro.errors import DataError
from repro.execution.worker import Outcome, Task, run_task
from repro.specs.measurement import Dynamic, Perplexity, measurement_key
from repro.specs.recipe import Dropout
from repro.specs.run import PlannedRun
from repro.store import RunStore
from tests.execution.tiny import RANK, TEST, TRAIN, VALID, tiny_plan, tiny_run


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


def do(store: RunStore, *planned: PlannedRun) -> tuple[Outcome, ...]:
    return run_task(Task(planned, store.root, None, "cpu"))


def statuses(outcomes: tuple[Outcome, ...]) -> list[str]:
    return [outcome.status for outcome in outcomes]


def forbid_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def train(*_: Any, **__: Any) -> None:
        pytest.fail("it was trained again")

    monkeypatch.setattr("repro.lm.training.train", train)


def test_a_missing_run_is_trained_and_measured(store: RunStore) -> None:
    """Everything that the plan wants is in the store, nothing that training needed is."""
    plan = tiny_plan(2)
    outcomes = do(store, *plan)
    assert statuses(outcomes) == ["trained", "trained"]
    assert [outcome.key for outcome in outcomes] == [planned.run.key for planned in plan]
    for planned in plan:
        key = planned.run.key
        store.check(key)
        assert store.record(key).epochs == 2
        for measurement in (TEST, TRAIN, RANK):
            stored = store.measurement(key, measurement)
            assert stored is not None
            assert stored.value > 1
        names = {path.name for path in store.folder(key).iterdir()}
        assert names == {
            ".lock",
            "spec.json",
            "record.json",
            "history.jsonl",
            "model.safetensors",
            "measurements",
            "provenance.json",
        }


def test_replicates_differ_and_repeat(store: RunStore, tmp_path: Path) -> None:
    """Two seeds give two numbers; one seed gives one number, alone or in company."""
    first, second = tiny_plan(2)
    do(store, first, second)
    alone = RunStore(tmp_path / "alone")
    do(alone, second)
    values = [store.measurement(planned.run.key, TEST) for planned in (first, second)]
    again = alone.measurement(second.run.key, TEST)
    assert values[0] is not None
    assert values[1] is not None
    assert again is not None
    assert values[0].value != values[1].value
    assert values[1].value == again.value


def test_a_complete_run_is_left_alone(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second time nothing is trained, measured or written."""
    (planned,) = tiny_plan()
    do(store, planned)
    forbid_training(monkeypatch)
    monkeypatch.setattr("repro.measurements.measure", None)
    before = {path: path.read_bytes() for path in store.root.rglob("*") if path.is_file()}
    assert statuses(do(store, planned)) == ["reused"]
    assert before == {path: path.read_bytes() for path in store.root.rglob("*") if path.is_file()}


def test_a_new_measurement_trains_nothing(
    store: RunStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is taken of the stored weights, and equals what it would have been at first."""
    run = tiny_run()
    do(store, PlannedRun(run=run, measurements=(TEST,)))
    at_once = RunStore(tmp_path / "at-once")
    do(at_once, PlannedRun(run=run, measurements=(TEST, VALID, TRAIN, RANK)))
    forbid_training(monkeypatch)
    later = PlannedRun(run=run, measurements=(TEST, VALID, TRAIN, RANK))
    assert statuses(do(store, later)) == ["measured"]
    for measurement in later.measurements:
        assert store.measurement(run.key, measurement) == at_once.measurement(run.key, measurement)
    assert store.provenance(run.key).keys() == {"schema", "training", "measurements"}
    measured = store.provenance(run.key)["measurements"]
    assert isinstance(measured, dict)
    assert set(measured) == {measurement_key(each) for each in later.measurements}


def test_dynamic_evaluation_leaves_the_stored_weights(store: RunStore) -> None:
    """Taken last or first, with masks of the run's own, it changes no other number."""
    run = tiny_run()
    recipe = run.training.recipe.model_copy(update={"dropout": Dropout(weight=0.5)})
    run = run.model_copy(update={"training": run.training.model_copy(update={"recipe": recipe})})
    how = Dynamic(scaling="sum", rate=0.05, decay=0.1, epsilon=0.01, weight_dropout="live")
    dynamic = Perplexity(split="valid", mode="dynamic", dynamic=how)
    do(store, PlannedRun(run=run, measurements=(VALID,)))
    before, static = store.weights(run.key), store.measurement(run.key, VALID)
    assert statuses(do(store, PlannedRun(run=run, measurements=(dynamic, TEST)))) == ["measured"]
    stored = store.measurement(run.key, dynamic)
    assert stored is not None
    assert static is not None
    assert stored.value != static.value
    after = store.weights(run.key)
    assert all(np.array_equal(before[name], after[name]) for name in before)
    again = RunStore(store.root.parent / "again")
    do(again, PlannedRun(run=run, measurements=(TEST, dynamic)))
    for measurement in (TEST, dynamic):
        assert again.measurement(run.key, measurement) == store.measurement(run.key, measurement)


def test_a_busy_run_is_reported_at_once(store: RunStore) -> None:
    """The others of the task are done."""
    first, second = tiny_plan(2)
    with store.lock(first.run.key):
        assert statuses(do(store, first, second)) == ["busy", "trained"]
    assert store.state(first.run.key) == "missing"
    assert statuses(do(store, first)) == ["trained"]


def test_a_diverged_run_is_recorded(store: RunStore) -> None:
    """It has no measurements, and it is not tried again."""
    run = tiny_run(learning_rate=1e307, precision="float64")
    planned = PlannedRun(run=run, measurements=(TEST,))
    assert statuses(do(store, planned)) == ["diverged"]
    assert store.state(planned.run.key) == "diverged"
    assert store.record(planned.run.key).diverged is not None
    assert store.measurement(planned.run.key, TEST) is None
    assert statuses(do(store, planned)) == ["diverged"]


def test_a_failing_run_leaves_the_others(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its message is in the outcome, its traceback in the store until it succeeds."""
    from repro.lm import training

    plan, real = tiny_plan(3), training.train
    guilty = plan[1].run.key

    def train(batch: Any, *args: Any, **kwargs: Any) -> Any:
        if guilty in [run.key for run in batch]:
            raise ZeroDivisionError("a seed too many")
        return real(batch, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(training, "train", train)
        outcomes = do(store, *plan)
    assert statuses(outcomes) == ["trained", "failed", "trained"]
    assert outcomes[1].message == "ZeroDivisionError: a seed too many"
    assert outcomes[1].error == "ZeroDivisionError"
    error = store.folder(guilty) / "error.txt"
    assert "Traceback" in error.read_text()
    assert "a seed too many" in error.read_text()
    assert statuses(do(store, plan[1])) == ["trained"]
    assert not error.exists()


def test_a_failing_measurement_keeps_the_run(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is committed, and the next time only the measurement is taken."""
    import repro.measurements

    (planned,) = tiny_plan()
    real = repro.measurements.measure

    def measure(measurement: Any, **kwargs: Any) -> Any:
        if measurement == TRAIN:
            return replace(real(measurement, **kwargs), value=math.inf)
        return real(measurement, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(repro.measurements, "measure", measure)
        (outcome,) = do(store, planned)
    assert (outcome.status, outcome.error) == ("failed", "StoreError")
    assert store.state(planned.run.key) == "finished"
    forbid_training(monkeypatch)
    assert statuses(do(store, planned)) == ["measured"]


def test_missing_data_is_named(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus that cannot be loaded is told from a run that cannot be done."""

    def load_corpus(*_: Any) -> None:
        raise DataError("no such corpus")

    monkeypatch.setattr("repro.lm.corpus.load_corpus", load_corpus)
    (outcome,) = do(store, *tiny_plan())
    assert (outcome.status, outcome.error, outcome.message) == (
        "failed",
        "CorpusError",
        "no such corpus",
    )


def test_a_full_disk_is_the_stores(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint that cannot be written is an error of the store, with advice."""

    def train(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("repro.lm.training.train", train)
    (outcome,) = do(store, *tiny_plan())
    assert outcome.error == "StoreUnreachableError"
    assert "free some space" in outcome.message


def test_damaged_evidence_is_not_trained_over(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails with the message of the store, and the files stay."""
    (planned,) = tiny_plan()
    do(store, planned)
    record = store.folder(planned.run.key) / "record.json"
    record.write_text("{}")
    forbid_training(monkeypatch)
    (outcome,) = do(store, planned)
    assert (outcome.status, outcome.error) == ("failed", "StoreError")
    assert str(record) in outcome.message
    assert record.read_text() == "{}"


def test_an_interrupted_run_goes_on(
    store: RunStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Cut off after an epoch and done again, it ends with the same bits, in two sessions."""
    from repro.execution.ledger import Ledger

    planned = PlannedRun(run=tiny_run(epochs=4), measurements=(TEST, TRAIN))
    key, whole = planned.run.key, RunStore(tmp_path / "whole")
    do(whole, planned)
    real = Ledger.training
    epochs: list[int] = []

    def training(self: Ledger, state: Any) -> None:
        epochs.append(state.epoch)
        if state.epoch == 3:
            raise KeyboardInterrupt
        real(self, state)

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "training", training)
        with pytest.raises(KeyboardInterrupt):
            do(store, planned)
    assert store.state(key) == "started"
    assert epochs[0] == 1
    epochs.clear()
    monkeypatch.setattr(Ledger, "training", lambda _, state: epochs.append(state.epoch))
    assert statuses(do(store, planned)) == ["trained"]
    assert min(epochs) == 3
    for name in ("record.json", "history.jsonl", "model.safetensors"):
        ours, theirs = (each.folder(key) / name for each in (store, whole))
        assert ours.read_bytes() == theirs.read_bytes()
    for measurement in planned.measurements:
        assert store.measurement(key, measurement) == whole.measurement(key, measurement)
    provenance: Any = store.provenance(key)["training"]
    assert provenance["sessions"] == 2


def test_progress_is_written_at_most_every_two_seconds(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step is not worth a write, the beginning of a phase is."""
    written: list[dict[str, Any]] = []
    monkeypatch.setattr(
        RunStore, "put_progress", lambda _, key, document: written.append({"key": key, **document})
    )
    (planned,) = tiny_plan()
    do(store, planned)
    assert [each["phase"] for each in written].count("measuring") == len(planned.measurements)
    assert 1 <= [each["phase"] for each in written].count("training") < 20
    json.dumps(written)


def test_provenance_tells_machine_from_settings(store: RunStore) -> None:
    """What may differ between machines stands apart from what may not."""
    (planned,) = tiny_plan()
    do(store, planned)
    training: Any = store.provenance(planned.run.key)["training"]
    assert training["settings"] == {
        "device": "cpu",
        "threads": 1,
        "deterministic_algorithms": True,
        "tf32": False,
    }
    assert training["software"]["torch"]
    assert training["machine"].keys() == {"host", "platform", "processor", "device"}
    assert training["seconds"] > 0
    assert training["sessions"] == 1


def test_a_text_too_short_is_the_runs_own_failure(store: RunStore) -> None:
    """A batch that leaves no stream long enough concerns this run, not its corpus."""
    (outcome,) = do(store, PlannedRun(run=tiny_run(tokens=6), measurements=(TEST,)))
    assert (outcome.status, outcome.error) == ("failed", "DataError")
    assert "parallel streams" in outcome.message
