"""Counts alone of a trained model go on after a kill, in the run's folder, to the same numbers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from repro.rank.reduction import BLOCK_ROWS
from repro.rank.resume import PROGRESS, SavedReading
from repro.running.grouping import Task
from repro.running.worker import run_task
from repro.store.run_store import RunStore
from repro.trainers.language_model import evaluation
from repro.trainers.language_model.evaluation import OnText, log_probability_rows
from repro.trainers.language_model.measurements import model_rank
from repro.trainers.language_model.measurements.perplexity import Perplexity
from repro.trainers.language_model.measurements.rank import Rank
from repro.trainers.language_model.spec import SplitTokens, TrainingSpec
from repro.trainers.run import PlannedRun, RunSpec
from tests.running.tiny import tiny_run
from tests.trainers.small import MOS, built, model

ROOT = Path(__file__).parents[3]
COUNTS = Rank(spectrum=False, thresholds=(1e-2, 1e-3))
ROWS = 3 * BLOCK_ROWS + 50
CHUNK_BYTES = 50 * 4 * 300
"""Of 300 rows."""


def run_of() -> RunSpec:
    """A mixture on fifty words whose test text fills three blocks."""
    run = tiny_run(epochs=1, components=3)
    corpus = TrainingSpec.of(run).corpus.model_copy(
        update={"tokens": SplitTokens(train=2000, valid=300, test=ROWS + 1)}
    )
    return run.model_copy(update={"training": run.training.model_copy(update={"corpus": corpus})})


def planned() -> PlannedRun:
    return PlannedRun(run=run_of(), measurements=(COUNTS,))


def measured(store: RunStore) -> str:
    (outcome,) = run_task(Task((planned(),), store.root, None, "cpu"))
    return outcome.message or outcome.status


def train(store: RunStore) -> None:
    run = PlannedRun(run=run_of(), measurements=(Perplexity(split="test"),))
    run_task(Task((run,), store.root, None, "cpu"))


def small_steps(monkeypatch: Any, *, torch_alone: bool) -> None:
    """Small chunks, a save after each block, and torch's reduction if asked, as on a GPU."""
    monkeypatch.setattr(evaluation, "CHUNK_BYTES", CHUNK_BYTES)
    monkeypatch.setattr(model_rank, "KEPT_EVERY_S", 0.0)
    if torch_alone:
        monkeypatch.setattr(model_rank, "_on_processor", model_rank._on_device)


def killed(store: RunStore, *, torch_alone: bool) -> None:
    """A process that measures, and is killed by itself in the third block."""
    argv = [sys.executable, "-c", KILLED, str(store.root), str(int(torch_alone))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(argv, check=False, env=environment, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


KILLED = f"""
import os, signal, sys
import pytest
from repro.store.run_store import RunStore
from repro.trainers.language_model.evaluation import OnText
from tests.trainers.measurements import test_counts_after_a_stop as here

read = OnText.log_probabilities

def until_killed(self, *where):
    rows = 0
    for chunk in read(self, *where):
        rows += len(chunk)
        if rows > {2 * BLOCK_ROWS + 700}:
            os.kill(os.getpid(), signal.SIGKILL)
        yield chunk

OnText.log_probabilities = until_killed
here.small_steps(pytest.MonkeyPatch(), torch_alone=sys.argv[2] == "1")
print(here.measured(RunStore(sys.argv[1])))
"""


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """From which rows on log-probabilities are asked for."""
    found: list[int] = []
    read = OnText.log_probabilities

    def told(self: OnText, split: Any, streams: int, start: int) -> Iterator[torch.Tensor]:
        found.append(start)
        return read(self, split, streams, start)

    monkeypatch.setattr(OnText, "log_probabilities", told)
    return found


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    found = RunStore(tmp_path / "store")
    train(found)
    return found


@pytest.mark.parametrize("torch_alone", [False, True])
def test_after_a_kill_the_numbers_are_those_of_one_reading(
    store: RunStore,
    tmp_path: Path,
    starts: list[int],
    monkeypatch: pytest.MonkeyPatch,
    *,
    torch_alone: bool,
) -> None:
    key = run_of().key
    killed(store, torch_alone=torch_alone)
    assert store.measurement(key, COUNTS) is None
    assert (store.measuring_folder(key) / COUNTS.key / "cpu" / PROGRESS).exists()
    small_steps(monkeypatch, torch_alone=torch_alone)
    assert measured(store) == "measured"
    assert starts == [2 * BLOCK_ROWS - 1]
    whole = RunStore(tmp_path / "whole")
    train(whole)
    assert measured(whole) == "measured"
    assert starts[1:] == [0]
    again = store.measurement(key, COUNTS)
    assert again == whole.measurement(key, COUNTS)
    assert again is not None
    assert again.details["reduction"] == ("gram" if torch_alone else "inertia")
    assert again.value is not None
    assert again.value > 4
    assert not store.measuring_folder(key).exists()
    assert not whole.measuring_folder(key).exists()


def test_what_was_read_of_other_weights_is_not_taken_up(
    store: RunStore, starts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lies in a folder of their digest, and goes with the rest once the run is measured."""
    killed(store, torch_alone=False)
    folder = store.measuring_folder(run_of().key)
    other = folder.rename(folder.with_name(f"measuring-{'0' * 16}"))
    small_steps(monkeypatch, torch_alone=False)
    assert measured(store) == "measured"
    assert starts == [0]
    assert not other.exists()


def test_other_rows_in_the_place_of_those_that_were_read_are_refused(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(store, torch_alone=False)
    path = store.measuring_folder(run_of().key) / COUNTS.key / "cpu" / PROGRESS
    progress = json.loads(path.read_text())
    path.write_text(json.dumps({**progress, "last": [-1.0] * 50}))
    small_steps(monkeypatch, torch_alone=False)
    message = measured(store)
    assert message.startswith(f"{path.parent}: was begun with other rows: row 4,096 differs\n")
    assert "delete this one to begin again" in message


def test_another_measurement_of_the_run_leaves_what_was_read(store: RunStore) -> None:
    killed(store, torch_alone=False)
    folder = store.measuring_folder(run_of().key) / COUNTS.key
    run = PlannedRun(run=run_of(), measurements=(Perplexity(split="valid"),))
    run_task(Task((run,), store.root, None, "cpu"))
    assert (folder / "cpu" / PROGRESS).exists()


def test_what_takes_no_minutes_writes_nothing(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    monkeypatch.setattr(SavedReading, "keep", lambda *_: written.append(1))
    assert measured(store) == "measured"
    assert written == []


def test_a_full_disk_costs_no_measurement(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def full(*_: Any) -> None:
        tried.append(1)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numpy.savez", full)
    small_steps(monkeypatch, torch_alone=False)
    assert measured(store) == "measured"
    assert len(tried) > 2


def test_a_place_that_cannot_be_made_costs_no_measurement(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with model_rank.kept_reading(tmp_path / "file" / "place", torch.device("cpu")) as kept:
        assert kept is None


@pytest.mark.parametrize("start", [0, 1, 299, 300, 301, 649, 650])
def test_rows_have_the_same_bits_wherever_reading_starts(
    start: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "CHUNK_BYTES", CHUNK_BYTES)  # blocks of 300 rows
    known = built(model(MOS), 50, torch.float32).eval()
    text = torch.randint(50, (651,), generator=torch.Generator().manual_seed(0))
    whole = torch.cat(list(log_probability_rows(known, text, 1)))
    rest = list(log_probability_rows(known, text, 1, start))
    assert torch.equal(torch.cat(rest) if rest else whole[:0], whole[start:])
