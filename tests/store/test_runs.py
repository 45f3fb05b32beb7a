"""What is put into a store comes out of it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from repro.errors import StoreError
from repro.store.run_store import RunStore, copy_run
from repro.store.sealed import MARKER
from tests.running.tiny import RANK, TEST, VALID, tiny_run
from tests.store.filled import DETAILS, HISTORY, RUN, SPECTRUM, WEIGHTS, fill, put_run


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "store")


def test_opening_a_store_touches_nothing(store: RunStore) -> None:
    """A store that nobody has written to is not on the disk, and every run is missing from it."""
    assert store.state(RUN.key) == "missing"
    assert store.measurement(RUN.key, TEST) is None
    assert store.provenance(RUN.key) == {}
    assert store.progress(RUN.key) is None
    assert list(store.keys()) == []
    assert not store.root.exists()


def test_a_run_comes_back_bit_for_bit(store: RunStore) -> None:
    """Record, specification, history and weights are what was put in."""
    assert put_run(store)
    record = store.record(RUN.key)
    assert (record.state, record.best_epoch, record.epochs) == ("finished", 2, 2)
    assert store.state(RUN.key) == "finished"
    assert store.spec(RUN.key) == RUN
    assert list(store.history(RUN.key)) == HISTORY
    weights = store.weights(RUN.key)
    assert weights.keys() == WEIGHTS.keys()
    for name, array in WEIGHTS.items():
        assert weights[name].dtype == array.dtype
        assert weights[name].tobytes() == array.tobytes()
    store.check(RUN.key)


def test_measurements_come_back_bit_for_bit(store: RunStore) -> None:
    """Value, details and arrays are what was put in; what was not measured is None."""
    fill(store)
    test, rank = store.measurement(RUN.key, TEST), store.measurement(RUN.key, RANK)
    assert test is not None
    assert rank is not None
    assert (test.value, test.details, test.arrays) == (49.125, {"tokens": 299}, None)
    assert rank.details == DETAILS
    arrays = store.arrays(RUN.key, RANK)
    assert arrays["singular_values"].tobytes() == SPECTRUM["singular_values"].tobytes()
    assert store.arrays(RUN.key, TEST) == {}
    assert store.measurement(RUN.key, VALID) is None
    with pytest.raises(StoreError, match="was not measured"):
        store.arrays(RUN.key, VALID)


def test_a_finished_run_is_never_overwritten(store: RunStore) -> None:
    """A second run of the same key is refused, says so, and leaves every file as it was."""
    fill(store)
    before = {path: path.read_bytes() for path in store.root.rglob("*") if path.is_file()}
    assert not store.put_run(RUN, history=[], weights={}, best_epoch=1)
    assert not store.put_measurement(RUN.key, TEST, value=1.0)
    assert before == {path: path.read_bytes() for path in store.root.rglob("*") if path.is_file()}


def test_equal_runs_give_equal_files(store: RunStore, tmp_path: Path) -> None:
    """Two stores that were filled alike hold the same bytes; their markers tell them apart."""
    other = fill(RunStore(tmp_path / "other"))
    fill(store)
    files = [path.relative_to(other.root) for path in other.root.rglob("*") if path.is_file()]
    assert len(files) >= 8
    for name in files:
        same = (store.root / name).read_bytes() == (other.root / name).read_bytes()
        assert same == (name.name != MARKER)


def test_a_diverged_run_is_recorded_without_weights(store: RunStore) -> None:
    """It has a state, an epoch and its history, in which NaN is None; nothing can be measured."""
    history = [{"epoch": 1, "train_loss": math.nan, "valid_loss": math.inf}]
    assert store.put_run(RUN, history=history, weights=None, best_epoch=None, diverged=2)
    assert store.state(RUN.key) == "diverged"
    assert store.record(RUN.key).diverged == 2
    assert store.history(RUN.key) == ({"epoch": 1, "train_loss": None, "valid_loss": None},)
    with pytest.raises(StoreError, match="diverged"):
        store.put_measurement(RUN.key, TEST, value=1.0)
    store.check(RUN.key)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_measurement_is_a_number(store: RunStore, value: float) -> None:
    """NaN and infinity are refused, and nothing is written."""
    put_run(store)
    with pytest.raises(StoreError, match="cannot be stored"):
        store.put_measurement(RUN.key, TEST, value=value)
    with pytest.raises(StoreError, match="cannot be stored"):
        store.put_measurement(RUN.key, TEST, value=1.0, details={"curve": [value]})
    assert store.measurement(RUN.key, TEST) is None


def test_a_measurement_in_which_a_run_diverged_has_no_value(
    store: RunStore, tmp_path: Path
) -> None:
    """It was taken, and is not taken again; what else was measured of the run stays."""
    fill(store)
    assert store.put_measurement(RUN.key, VALID, value=None)
    assert not store.put_measurement(RUN.key, VALID, value=1.0)
    found = store.measurement(RUN.key, VALID)
    assert found is not None
    assert found.value is None
    store.check(RUN.key)
    other = RunStore(tmp_path / "other")
    assert copy_run(store, RUN.key, other)
    assert other.measurement(RUN.key, VALID) == found


def test_a_run_that_was_begun_is_started(store: RunStore) -> None:
    """The working folder holds the specification, which hashes to the key."""
    folder = store.working_folder(RUN)
    assert store.state(RUN.key) == "started"
    assert json.loads((folder / "spec.json").read_text()) == RUN.identity()
    assert store.spec(RUN.key) == RUN
    with pytest.raises(StoreError, match="no finished run"):
        store.record(RUN.key)


def test_tidy_leaves_what_is_evidence(store: RunStore) -> None:
    """Checkpoints, progress, errors and cut-off writes go once the run is committed, not before."""
    folder = store.working_folder(RUN)
    rubbish = ("checkpoint.safetensors", "progress.json", "error.txt", ".record.json.1-1.tmp")
    for name in rubbish:
        (folder / name).write_text("{}")
    store.tidy(RUN.key)
    assert all((folder / name).exists() for name in rubbish)
    fill(store).tidy(RUN.key)
    assert not any((folder / name).exists() for name in rubbish)
    store.check(RUN.key)
    assert store.measurement(RUN.key, RANK) is not None


def test_keys_lists_runs_in_order(store: RunStore) -> None:
    """Every run that was begun is listed; other files and folders are passed over."""
    runs = [tiny_run(replicate) for replicate in range(5)]
    for run in runs:
        put_run(store, run)
    (store.root / "ab").mkdir(exist_ok=True)
    (store.root / "ab" / "notes.txt").write_text("mine")
    assert list(store.keys()) == sorted(run.key for run in runs)


def test_progress_and_provenance(store: RunStore) -> None:
    """Progress is what was last said; provenance is replaced as a whole."""
    store.put_progress(RUN.key, {"epoch": 1})
    store.put_progress(RUN.key, {"epoch": 2})
    assert store.progress(RUN.key) == {"epoch": 2}
    store.put_provenance(RUN.key, {"training": {"seconds": 1.5}})
    assert store.provenance(RUN.key) == {"training": {"seconds": 1.5}}


def test_default_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """$REPRO_STORE decides; without it, or empty, the user's data directory does."""
    monkeypatch.setenv("REPRO_STORE", str(tmp_path / "here"))
    assert RunStore.default().root == tmp_path / "here"
    monkeypatch.setenv("REPRO_STORE", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert RunStore.default().root == tmp_path / "data" / "repro" / "store"


def test_the_store_is_light(store: RunStore) -> None:
    """Reading a number out of a store imports neither torch nor numpy."""
    fill(store)
    code = (
        "import sys\n"
        "from repro.store.run_store import RunStore\n"
        "from repro.trainers.language_model.measurements.perplexity import Perplexity\n"
        f"store, key = RunStore({str(store.root)!r}), {RUN.key!r}\n"
        "assert store.measurement(key, Perplexity(split='test')).value == 49.125\n"
        "store.history(key)\n"
        "print([name for name in ('torch', 'numpy', 'safetensors') if name in sys.modules])\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_arrays_need_not_be_contiguous(store: RunStore) -> None:
    """A transposed view is stored as the matrix that it shows."""
    matrix = np.arange(6.0).reshape(2, 3).T
    store.put_run(RUN, history=HISTORY, weights={"w": matrix}, best_epoch=1)
    assert np.array_equal(store.weights(RUN.key)["w"], matrix)
