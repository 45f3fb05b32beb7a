"""One task: what a worker does with runs that are missing, finished, busy or diverging."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repro.rank.spectrum import effective_rank, stable_rank
from repro.running import worker
from repro.running.grouping import Task
from repro.running.worker import run_task
from repro.store.run_store import RunStore
from repro.trainers.language_model.measurements.perplexity import (
    Dynamic,
    GeneralisationGap,
    Perplexity,
)
from repro.trainers.language_model.measurements.spectral import Spectral
from repro.trainers.language_model.recipe import Dropout
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.measurement import with_sources
from repro.trainers.run import PlannedRun
from tests.running.dask_cluster import plan_of, program
from tests.running.doing import do, forbid_training, statuses
from tests.running.tiny import RANK, TEST, TRAIN, VALID, tiny_plan, tiny_run


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
            assert stored.value is not None
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


def test_what_follows_from_a_rank_reads_no_model(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rank is taken first, and once; of a stored one neither model nor text is loaded."""
    (planned,) = tiny_plan()
    effective = Spectral(kind="spectral", statistic="effective", epsilon=1e-3)
    stable = Spectral(kind="spectral", statistic="stable")
    do(store, planned.model_copy(update={"measurements": with_sources([TEST, effective])}))
    key = planned.run.key
    values = store.arrays(key, RANK)["singular_values"]
    found = store.measurement(key, effective)
    assert found is not None
    assert found.value == effective_rank(values, 1e-3)

    forbid_training(monkeypatch)
    monkeypatch.setattr("repro.trainers.language_model.trainer.LanguageModels.measurer", None)
    monkeypatch.setattr("repro.trainers.language_model.trainer.LanguageModels.load", None)
    outcomes = do(store, planned.model_copy(update={"measurements": with_sources([stable])}))
    assert statuses(outcomes) == ["measured"]
    found = store.measurement(key, stable)
    assert found is not None
    assert found.value == stable_rank(values)


def test_a_gap_follows_from_two_perplexities(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a run whose perplexities are stored no model is read; the gap is their difference."""
    (planned,) = tiny_plan()
    train = Perplexity(split="train")
    do(store, planned.model_copy(update={"measurements": (TEST, train)}))
    monkeypatch.setattr("repro.trainers.language_model.trainer.LanguageModels.measurer", None)
    gap = GeneralisationGap()
    outcomes = do(store, planned.model_copy(update={"measurements": with_sources([gap])}))
    assert statuses(outcomes) == ["measured"]
    key = planned.run.key
    found = [store.measurement(key, each) for each in (TEST, train, gap)]
    values = [each.value for each in found if each is not None and each.value is not None]
    held_out, training, difference = values
    assert difference == held_out - training
    store.check(key)


def test_a_complete_run_is_left_alone(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second time nothing is trained, measured or written."""
    (planned,) = tiny_plan()
    do(store, planned)
    forbid_training(monkeypatch)
    monkeypatch.setattr(
        "repro.trainers.language_model.measurements.perplexity.Perplexity.measure", None
    )
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
    training = store.provenance(run.key)["training"]
    assert isinstance(training, dict)
    peak = training["peak_memory"]
    assert isinstance(peak, int)
    assert 50e6 < peak < 5e10
    measured = store.provenance(run.key)["measurements"]
    assert isinstance(measured, dict)
    assert set(measured) == {each.key for each in later.measurements}


def test_a_program_has_no_tensors_on_a_gpu(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch is not asked for their peak: it may not be there, and would open the GPU."""
    monkeypatch.setitem(sys.modules, "torch", None)
    (planned,) = plan_of(program(tmp_path / "code"), 1)
    (outcome,) = run_task(Task((planned,), store.root, None, "cuda"))
    assert (outcome.status, outcome.message) == ("trained", "")
    training: Any = store.provenance(planned.run.key)["training"]
    assert "peak_memory" not in training


def test_dynamic_evaluation_leaves_the_stored_weights(store: RunStore) -> None:
    """Taken last or first, with masks of the run's own, it changes no other number."""
    run = tiny_run()
    recipe = TrainingSpec.of(run).recipe.model_copy(update={"dropout": Dropout(weight=0.5)})
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


def test_the_start_of_a_process_is_no_part_of_its_first_run(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is imported once for all runs is not in the seconds of one; nor done for nothing."""
    warm = []

    def warm_up(task: Task) -> None:
        warm.append(task)
        time.sleep(2.0)

    monkeypatch.setattr(worker, "_warm_up", warm_up)
    (planned,) = tiny_plan()
    start = time.monotonic()
    (outcome,) = do(store, planned)
    assert outcome.status == "trained"
    assert outcome.seconds < time.monotonic() - start - 1.9
    assert do(store, planned)[0].status == "reused"
    assert len(warm) == 1
