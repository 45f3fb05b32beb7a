"""One task of which a run fails, is cut off, or lacks its data, its disk or sound evidence."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from repro.errors import DataError
from repro.store.run_store import RunStore
from repro.trainers.run import PlannedRun
from tests.running.doing import cut_off, do, forbid_training, statuses
from tests.running.tiny import TEST, TRAIN, tiny_plan, tiny_run


def test_a_failing_run_leaves_the_others(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its message is in the outcome, its traceback in the store until it succeeds."""
    from repro.trainers.language_model import training

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
    from repro.trainers.language_model.measurements.perplexity import Perplexity

    (planned,) = tiny_plan()
    real = Perplexity.measure

    def measure(measurement: Perplexity, subject: Any) -> Any:
        taken = real(measurement, subject)
        return replace(taken, value=math.inf) if measurement == TRAIN else taken

    with monkeypatch.context() as patch:
        patch.setattr(Perplexity, "measure", measure)
        (outcome,) = do(store, planned)
    assert (outcome.status, outcome.error) == ("failed", "StoreError")
    assert store.state(planned.run.key) == "finished"
    forbid_training(monkeypatch)
    assert statuses(do(store, planned)) == ["measured"]


def test_missing_data_is_named(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus that cannot be loaded is told from a run that cannot be done."""

    def load_corpus(*_: Any) -> None:
        raise DataError("no such corpus")

    monkeypatch.setattr("repro.trainers.language_model.corpus.load_corpus", load_corpus)
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

    monkeypatch.setattr("repro.trainers.language_model.training.train", train)
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
    from repro.running.worker import RunLog

    planned = PlannedRun(run=tiny_run(epochs=4), measurements=(TEST, TRAIN))
    key, whole = planned.run.key, RunStore(tmp_path / "whole")
    do(whole, planned)
    epochs: list[int] = []

    def third(state: Any) -> bool:
        epochs.append(state.epoch)
        return state.epoch == 3

    with cut_off(monkeypatch, third):
        do(store, planned)
    assert store.state(key) == "started"
    assert epochs[0] == 1
    epochs.clear()
    monkeypatch.setattr(RunLog, "training", lambda _, state: epochs.append(state.epoch))
    assert statuses(do(store, planned)) == ["trained"]
    assert min(epochs) == 3
    for name in ("record.json", "history.jsonl", "model.safetensors"):
        ours, theirs = (each.folder(key) / name for each in (store, whole))
        assert ours.read_bytes() == theirs.read_bytes()
    for measurement in planned.measurements:
        assert store.measurement(key, measurement) == whole.measurement(key, measurement)
    provenance: Any = store.provenance(key)["training"]
    assert provenance["sessions"] == 2


def test_a_text_too_short_is_the_runs_own_failure(store: RunStore) -> None:
    """A batch that leaves no stream long enough concerns this run, not its corpus."""
    (outcome,) = do(store, PlannedRun(run=tiny_run(tokens=6), measurements=(TEST,)))
    assert (outcome.status, outcome.error) == ("failed", "DataError")
    assert "parallel streams" in outcome.message
