"""The index of the runs of a store: never another answer than reading all of them gives."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repro import kept
from repro.running.plan import make_plan
from repro.store import run_index
from repro.store.run_store import RunStore
from repro.trainers.run import PlannedRun
from tests.running.tiny import RANK, TEST, tiny_run
from tests.store.filled import fill

RUNS = [tiny_run(replicate=number) for number in range(3)]
PLAN = [PlannedRun(run=run, measurements=(TEST, RANK)) for run in RUNS]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunStore:
    """Two whole runs, which are in the index; a third is asked for, and missing."""
    monkeypatch.setattr(run_index, "SETTLED_NS", 0)
    made = RunStore(tmp_path / "runs")
    for run in RUNS[:2]:
        fill(made, run)
    assert states(made) == ["complete", "complete", "missing"]
    return made


def states(store: RunStore) -> list[str]:
    return [each.state for each in make_plan(PLAN, RunStore(store.root)).runs]


def read(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of the runs that a plan reads."""
    keys: list[str] = []
    real = RunStore.whole

    def whole(self: RunStore, key: str, measurements: Any) -> Any:
        keys.append(key)
        return real(self, key, measurements)

    monkeypatch.setattr(RunStore, "whole", whole)
    states(store)
    return keys


def test_a_run_in_the_index_is_not_read(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is missing is looked for in the store."""
    assert read(store, monkeypatch) == [RUNS[2].key]


def test_a_run_that_is_added_is_found(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is in the index from then on."""
    fill(store, RUNS[2])
    assert states(store) == ["complete"] * 3
    assert read(store, monkeypatch) == []


def test_more_measurements_than_before_are_looked_for(store: RunStore) -> None:
    """A run that was whole with one measurement may lack another."""
    one = make_plan([PlannedRun(run=RUNS[0], measurements=(RANK,))], store)
    path = store._measurement_path(RUNS[0].key, TEST)
    path.unlink()
    again = make_plan([PlannedRun(run=RUNS[0], measurements=(RANK,))], store)
    assert [one.runs[0].state, again.runs[0].state] == ["complete", "complete"]
    assert states(store)[0] == "missing"


def same_times(path: Path, content: bytes) -> None:
    """Give a file other content of the same size, and its times back."""
    before = path.stat()
    with path.open("r+b") as stream:
        stream.write(content[: before.st_size].ljust(before.st_size))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def behind_a_link(folder: Path) -> None:
    shutil.move(folder, folder.with_name("moved"))
    folder.symlink_to("moved")


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "removed": (shutil.rmtree, "missing"),
    "its record removed": (lambda run: (run / "record.json").unlink(), "missing"),
    "its record damaged": (lambda run: (run / "record.json").write_text("{}"), "damaged"),
    "damaged, its times kept": (lambda run: same_times(run / "record.json", b"{}"), "damaged"),
    "its specification damaged": (lambda run: same_times(run / "spec.json", b"{}"), "damaged"),
    "its weights removed": (lambda run: (run / "model.safetensors").unlink(), "damaged"),
    "its weights cut off": (lambda run: os.truncate(run / "model.safetensors", 5), "damaged"),
    "its measurements removed": (lambda run: shutil.rmtree(run / "measurements"), "missing"),
    "a measurement damaged": (
        lambda run: same_times(next(run.glob("measurements/*.json")), b"[]"),
        "damaged",
    ),
    "behind a link": (behind_a_link, "damaged"),
    "its shard behind a link": (lambda run: behind_a_link(run.parent), "damaged"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_run_that_was_touched_is_read_again(change: str, store: RunStore) -> None:
    """The plan says what it says without an index."""
    make, expected = CHANGES[change]
    make(store.folder(RUNS[0].key))
    found = states(store)
    assert found[0] == expected
    shutil.rmtree(store.root.parent / "cache")
    assert states(store) == found


def test_a_store_without_its_marker_or_of_a_newer_version_is_refused(store: RunStore) -> None:
    """The index does not stand in for the store."""
    marker = store.root / "repro-store.json"
    marker.write_text('{"schema": 99}')
    with pytest.raises(Exception, match="schema 99"):
        states(store)
    shutil.rmtree(store.root)
    assert states(store) == ["missing"] * 3


def test_a_damaged_index_is_made_again(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the folders of the runs."""
    (note,) = (store.root.parent / "cache").glob("runs-*")
    note.write_bytes(note.read_bytes()[:-5])
    assert len(read(store, monkeypatch)) == 3
    assert kept.read("runs", store.root).keys() == {run.key for run in RUNS[:2]}


def test_a_run_that_was_touched_just_now_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its next change could have the same time."""
    store = fill(RunStore(tmp_path / "runs"), RUNS[0])
    states(store)
    assert kept.read("runs", store.root) == {}
