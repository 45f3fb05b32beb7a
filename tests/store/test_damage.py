"""Damaged evidence is never read as if it were whole."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import JsonValue

from repro.errors import StoreError, StoreUnreachableError
from repro.store import reading
from repro.store import sealed as files
from repro.store.run_store import RunStore
from tests.running.tiny import RANK, TEST, VALID, tiny_run
from tests.store.filled import RUN, fill

KEY = RUN.key
READERS: dict[str, Callable[[RunStore], object]] = {
    "spec.json": lambda store: store.spec(KEY),
    "record.json": lambda store: store.state(KEY),
    "history.jsonl": lambda store: store.history(KEY),
    "model.safetensors": lambda store: store.weights(KEY),
    f"measurements/{TEST.key}.json": lambda store: store.measurement(KEY, TEST),
    f"measurements/{RANK.key}.safetensors": lambda store: store.arrays(KEY, RANK),
}


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return fill(RunStore(tmp_path / "store"))


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    middle = next(i for i in range(len(data) // 2, len(data)) if chr(data[i]).isalnum())
    data[middle] = ord("0") if data[middle] != ord("0") else ord("1")
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"{}")


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [flip, cut, lengthen, empty])
@pytest.mark.parametrize("name", READERS)
def test_damage_is_noticed(store: RunStore, name: str, damage: Callable[[Path], None]) -> None:
    """The error names the file, what was expected, and what to do."""
    path = store.folder(KEY) / name
    damage(path)
    with pytest.raises(StoreError) as caught:
        READERS[name](store)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n  expected: " in text
    assert "\n  to do: remove " in text
    assert caught.value.exit_code == 4
    with pytest.raises(StoreError):
        store.check(KEY)


@pytest.mark.parametrize("name", ["history.jsonl", "model.safetensors", "spec.json"])
def test_a_lost_artefact_is_noticed(store: RunStore, name: str) -> None:
    """A file that the record names and that is gone is an error, not an empty result."""
    (store.folder(KEY) / name).unlink()
    with pytest.raises(StoreError, match=name):
        READERS[name](store)


def test_a_damaged_record_is_not_trained_over(store: RunStore) -> None:
    """Putting the run again raises, and the files stay as they are."""
    path = store.folder(KEY) / "record.json"
    flip(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"record\.json"):
        store.put_run(RUN, history=[], weights={}, best_epoch=1)
    assert path.read_bytes() == before


def test_the_folder_to_remove_is_named(store: RunStore) -> None:
    """After removing what the message says, the run is missing and can be trained again."""
    flip(store.folder(KEY) / "history.jsonl")
    with pytest.raises(StoreError) as caught:
        store.history(KEY)
    place = str(caught.value).split("to do: remove ")[1].split(" (")[0]
    shutil.rmtree(place)
    assert store.state(KEY) == "missing"


def test_a_measurement_of_another_run_is_noticed(store: RunStore) -> None:
    """A number that was copied from one run's folder into another's is refused."""
    other = tiny_run(replicate=1)
    fill(store, other)
    name = f"measurements/{TEST.key}.json"
    shutil.copy(store.folder(other.key) / name, store.folder(KEY) / name)
    with pytest.raises(StoreError, match="about another run"):
        store.measurement(KEY, TEST)


def test_a_measurement_under_another_name_is_noticed(store: RunStore) -> None:
    """The number of one split cannot pass for that of another."""
    folder = store.folder(KEY) / "measurements"
    (folder / f"{TEST.key}.json").rename(folder / f"{VALID.key}.json")
    with pytest.raises(StoreError, match="about another run or measurement"):
        store.measurement(KEY, VALID)
    with pytest.raises(StoreError, match="another name"):
        store.check(KEY)


def test_a_record_of_another_run_is_noticed(store: RunStore) -> None:
    """A folder that was copied to another key does not become that run."""
    other = tiny_run(replicate=1).key
    shutil.copytree(store.folder(KEY), store.folder(other), dirs_exist_ok=True)
    with pytest.raises(StoreError, match=f"is the record of run {KEY}"):
        store.state(other)


def test_a_number_of_other_weights_is_noticed(store: RunStore, tmp_path: Path) -> None:
    """A measurement is tied to the weights that it was taken from."""
    other = RunStore(tmp_path / "other")
    weights = {name: array + 1 for name, array in store.weights(KEY).items()}
    other.put_run(RUN, history=[{"epoch": 1}], weights=weights, best_epoch=1)
    shutil.copytree(store.folder(KEY) / "measurements", other.folder(KEY) / "measurements")
    with pytest.raises(StoreError, match="other weights"):
        other.measurement(KEY, TEST)


def test_damaged_progress_is_no_progress(store: RunStore) -> None:
    """What is only shown is never worth an error."""
    path = store.folder(KEY) / "progress.json"
    for text in ("{", "[1]", "NaN", '{"epoch": Infinity}', "x" * 100_000):
        path.write_text(text)
        assert store.progress(KEY) is None


def test_a_newer_store_is_refused(store: RunStore) -> None:
    """Reading and writing both say which schema it is and what to do."""
    marker = store.root / "repro-store.json"
    marker.write_text(json.dumps({"schema": 2}))
    newer = RunStore(store.root)
    for use in (newer.state, newer.provenance, lambda _: newer.working_folder(RUN)):
        with pytest.raises(StoreUnreachableError, match=r"schema 2.*\n.*newer repro"):
            use(KEY)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": "1"}', '{"schema": 0}', "{}"])
def test_a_damaged_marker_is_an_error(store: RunStore, text: str) -> None:
    """A marker that does not say its schema is refused."""
    (store.root / "repro-store.json").write_text(text)
    with pytest.raises(StoreError, match=r"repro-store\.json"):
        RunStore(store.root).state(KEY)


@pytest.mark.parametrize("damage", [flip, cut, lengthen, empty, Path.unlink])
def test_damaged_provenance_is_no_provenance(
    store: RunStore, damage: Callable[[Path], None]
) -> None:
    """It is no evidence: nothing is known then, and a check names it without the loss of a run."""
    assert store.provenance(KEY) == {"training": {"seconds": 1.5}}
    file = store.folder(KEY) / "provenance.json"
    damage(file)
    assert store.provenance(KEY) == {}
    if file.exists():
        with pytest.raises(StoreError, match=rf"to do: remove {file} \(its run stays as it is"):
            store.check(KEY)
        file.unlink()
    store.check(KEY)


@pytest.mark.parametrize(
    "document",
    [
        {"training": []},
        {"training": {"seconds": "1"}},
        {"training": {"seconds": -1}},
        {"training": {"settings": {"threads": "one"}}},
        {"training": {"sessions_list": [1]}},
        {"training": {"engine": {"together": 0}}},
        {"training": {"sessions_list": [{"engine": {"together": "2"}}]}},
        {"measurements": []},
        {"measurements": {"x": 1}},
    ],
)
def test_provenance_of_the_wrong_shape_is_no_provenance(
    store: RunStore, document: dict[str, JsonValue]
) -> None:
    """Whoever reads it finds numbers where numbers belong, or nothing at all."""
    store.put_provenance(KEY, document)
    assert store.provenance(KEY) == {}


@pytest.mark.parametrize("text", ["", "{", "{}"])
def test_the_advice_for_a_damaged_marker_helps(store: RunStore, text: str) -> None:
    """After removing it the runs are there as before, and the next write restores it."""
    marker = store.root / "repro-store.json"
    marker.write_text(text)
    with pytest.raises(StoreError, match="no run is lost") as caught:
        RunStore(store.root).state(KEY)
    Path(str(caught.value).split("to do: remove ")[1].split(" (")[0]).unlink()
    again = RunStore(store.root)
    assert again.state(KEY) == "finished"
    assert list(again.keys()) == [KEY]
    assert not marker.exists()
    again.put_progress(KEY, {})
    assert marker.exists()


def test_a_file_that_the_record_does_not_name_is_not_read(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights beside the record of a run that diverged are no part of it, however large."""
    other = tiny_run(replicate=1)
    store.put_run(other, history=[], weights=None, best_epoch=None, diverged=1)
    path = store.folder(other.key) / "model.safetensors"
    path.write_text("")
    names: list[str] = []
    real = files.read_bytes

    def note(path: Path, *limit: int) -> bytes | None:
        names.append(path.name)
        return real(path, *limit)

    monkeypatch.setattr(reading, "read_bytes", note)
    with pytest.raises(StoreError, match="is missing from the record"):
        store.weights(other.key)
    assert path.name not in names


def test_a_run_that_cannot_be_looked_at_is_out_of_reach(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refusal of the system is an error of the store, not one that nobody catches."""
    (store.folder(KEY) / "record.json").unlink()

    def refuse(self: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if self.name == "spec.json":
            raise PermissionError(13, "Permission denied")
        return os.stat(self, follow_symlinks=follow_symlinks)  # noqa: PTH116 - it stands for Path's

    monkeypatch.setattr(Path, "stat", refuse)
    monkeypatch.setattr(Path, "lstat", lambda self: refuse(self, follow_symlinks=False))
    with pytest.raises(StoreUnreachableError, match="Permission denied"):
        store.state(KEY)
