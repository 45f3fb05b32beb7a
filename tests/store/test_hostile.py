"""A store that somebody else has filled can neither crash nor mislead, nor lead outside."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from repro.errors import StoreError, StoreUnreachableError
from repro.store import sealed as files
from repro.store.run_store import RunStore
from tests.running.tiny import TEST
from tests.store.filled import RUN, fill, put_run

KEY = RUN.key


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "store")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


def test_a_link_in_place_of_a_run_folder(store: RunStore, outside: Path) -> None:
    """It is refused for reading and for writing, and nothing is written outside."""
    folder = store.working_folder(RUN)
    (folder / "spec.json").unlink()
    folder.rmdir()
    folder.symlink_to(outside, target_is_directory=True)
    for use in (put_run, lambda s: s.state(KEY), lambda s: s.put_progress(KEY, {})):
        with pytest.raises(StoreError, match="symbolic link"):
            use(store)
    with pytest.raises(StoreError, match="symbolic link"), store.lock(KEY):
        pass
    assert store.progress(KEY) is None
    assert list(outside.iterdir()) == []


def test_a_link_in_place_of_a_shard(store: RunStore, outside: Path) -> None:
    """The folder above the run is looked at as well."""
    store.working_folder(RUN.model_copy(update={"replicate": 9}))
    shard = store.folder(KEY).parent
    assert not shard.exists()
    shard.symlink_to(outside, target_is_directory=True)
    with pytest.raises(StoreError, match="symbolic link"):
        put_run(store)
    assert list(outside.iterdir()) == []
    assert KEY not in list(store.keys())


def test_a_link_in_place_of_the_measurements(store: RunStore, outside: Path) -> None:
    """No measurement is written outside, and tidying up removes nothing there."""
    put_run(store)
    (outside / ".mine.tmp").write_text("mine")
    (store.folder(KEY) / "measurements").symlink_to(outside, target_is_directory=True)
    with pytest.raises(StoreError, match="symbolic link"):
        store.put_measurement(KEY, TEST, value=1.0)
    with pytest.raises(StoreError, match="symbolic link"):
        store.tidy(KEY)
    assert [path.name for path in outside.iterdir()] == [".mine.tmp"]


def test_a_link_in_place_of_a_file(store: RunStore, outside: Path) -> None:
    """A file is not read through a link; a write replaces the link and not what it leads to."""
    target = outside / "precious"
    target.write_text("{}")
    fill(store)
    for name in ("record.json", "history.jsonl", "spec.json", ".lock"):
        path = store.folder(KEY) / name
        kept = path.read_bytes() if path.exists() else None
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        with pytest.raises(StoreError), store.lock(KEY):
            store.check(KEY)
        path.unlink()
        if kept is not None:
            path.write_bytes(kept)
    progress = store.folder(KEY) / "progress.json"
    progress.symlink_to(target)
    store.put_progress(KEY, {"epoch": 1})
    assert target.read_text() == "{}"
    assert not progress.is_symlink()


def test_links_where_a_measurement_goes_on_from(store: RunStore, outside: Path) -> None:
    """Nothing is written or removed behind them: what they stand in is given up."""
    put_run(store)
    (outside / TEST.key).mkdir()
    (outside / "precious").write_text("mine")
    place = store.measuring_folder(KEY)
    place.symlink_to(outside, target_is_directory=True)
    store.tidy(KEY)
    assert not place.is_symlink()
    place.symlink_to(outside, target_is_directory=True)
    assert store.place_to_measure(KEY) == place
    assert not place.is_symlink()
    (place / TEST.key / "cpu").mkdir(parents=True)
    (place / TEST.key / "cpu" / "rows-2048.npz").symlink_to(outside / "precious")
    assert not store.place_to_measure(KEY).exists()
    store.put_measurement(KEY, TEST, value=1.0)
    assert sorted(path.name for path in outside.iterdir()) == sorted(["precious", TEST.key])


def folder_instead(path: Path) -> None:
    path.mkdir()


def fifo_instead(path: Path) -> None:
    os.mkfifo(path)


def deep_instead(path: Path) -> None:
    path.write_text('{"a":' * 200_000)


def wide_instead(path: Path) -> None:
    path.write_text('{"a":' * 5_000 + "1" + "}" * 5_000)


def digits_instead(path: Path) -> None:
    path.write_text('{"a": ' + "9" * 10_000 + "}")


def text_instead(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00")


def nan_instead(path: Path) -> None:
    path.write_text('{"value": NaN}')


def infinity_instead(path: Path) -> None:
    path.write_text('{"value": 1e999}')


@pytest.mark.parametrize(
    "hostile",
    [
        folder_instead,
        fifo_instead,
        deep_instead,
        wide_instead,
        digits_instead,
        text_instead,
        nan_instead,
        infinity_instead,
    ],
)
@pytest.mark.parametrize("name", ["record.json", "spec.json"])
def test_a_hostile_document(store: RunStore, name: str, hostile: Callable[[Path], None]) -> None:
    """Folders, pipes, deep nesting, endless digits, NaN and noise are errors of the store."""
    path = fill(store).folder(KEY) / name
    path.unlink()
    hostile(path)
    with pytest.raises(StoreError, match=name):
        store.check(KEY)


@pytest.mark.parametrize(
    "change",
    [
        {"state": "missing"},
        {"state": 1},
        {"epochs": -1},
        {"epochs": True},
        {"best_epoch": "2"},
        {"artefacts": []},
        {"artefacts": {"history.jsonl": {"sha256": "0" * 63, "bytes": 1}}},
        {"artefacts": {"history.jsonl": {"sha256": "0" * 64, "bytes": -1}}},
        {"unknown": 1},
        {"schema": 2},
    ],
)
def test_a_sealed_record_of_the_wrong_shape(store: RunStore, change: dict[str, object]) -> None:
    """A seal proves that nothing changed since, not that it was right: types are checked."""
    path = fill(store).folder(KEY) / "record.json"
    document = files.read_sealed(path)
    assert document is not None
    path.write_bytes(files.seal({**document, **change}))
    with pytest.raises(StoreError, match=r"record\.json"):
        store.state(KEY)


def test_a_sealed_record_without_artefacts(store: RunStore) -> None:
    """A record that names no history has none to show."""
    path = fill(store).folder(KEY) / "record.json"
    document = files.read_sealed(path)
    assert document is not None
    path.write_bytes(files.seal({**document, "artefacts": {}}))
    for read in (store.history, store.weights):
        with pytest.raises(StoreError):
            read(KEY)


def test_a_file_that_is_too_large(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document beyond the limit is not even read."""
    path = fill(store).folder(KEY) / "record.json"
    with path.open("r+b") as stream:
        stream.truncate(files.JSON_LIMIT + 1)
    with pytest.raises(StoreError, match="at most"):
        store.state(KEY)


@pytest.mark.parametrize("key", ["", "abc", "../" * 21 + "a", "A" * 64, "g" * 64, "0" * 65])
def test_a_key_is_64_hexadecimal_digits(store: RunStore, key: str) -> None:
    """Nothing else becomes a path."""
    with pytest.raises(StoreError, match="not the key of a run"):
        store.state(key)


def test_a_root_that_is_a_file(tmp_path: Path) -> None:
    """The message says to name a folder."""
    (tmp_path / "file").write_text("")
    for root in (tmp_path / "file", tmp_path / "file" / "store"):
        with pytest.raises(StoreUnreachableError, match="not a folder"):
            put_run(RunStore(root))
        with pytest.raises(StoreUnreachableError, match="not a folder"):
            RunStore(root).state(KEY)


def test_a_root_that_is_a_link_to_nowhere(tmp_path: Path) -> None:
    """A dangling link is out of reach, not an endless loop."""
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises(StoreUnreachableError, match="leads nowhere"):
        put_run(RunStore(link))


def test_a_root_that_is_somebody_elses(tmp_path: Path) -> None:
    """A folder with other things in it is not turned into a store."""
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(StoreUnreachableError, match=r"thesis\.tex"):
        put_run(RunStore(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_root_that_is_a_link_to_a_folder(tmp_path: Path, outside: Path) -> None:
    """The owner of the store may keep it elsewhere."""
    (tmp_path / "link").symlink_to(outside, target_is_directory=True)
    fill(RunStore(tmp_path / "link")).check(KEY)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_root_that_cannot_be_written(tmp_path: Path) -> None:
    """The message says to make it writable."""
    tmp_path.chmod(0o500)
    with pytest.raises(StoreUnreachableError, match="REPRO_STORE"):
        put_run(RunStore(tmp_path / "store"))


def test_a_refusal_of_the_system(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only file system is out of reach, with advice."""

    def refuse(*_: object, **__: object) -> int:
        raise OSError(30, "Read-only file system")

    store.working_folder(RUN)
    monkeypatch.setattr("repro.store.sealed.os.open", refuse)
    with pytest.raises(StoreUnreachableError, match=r"Read-only.*\n.*REPRO_STORE") as caught:
        store.put_progress(KEY, {})
    assert caught.value.exit_code == 5


@pytest.mark.parametrize("change", [{"\x1b[2J": 1}, {"artefacts": {"\x1b[2J": 1}}])
def test_what_a_file_says_does_not_drive_the_terminal(
    store: RunStore, change: dict[str, object]
) -> None:
    """Control characters in the names of a damaged record are shown as escapes."""
    path = fill(store).folder(KEY) / "record.json"
    document = files.read_sealed(path)
    assert document is not None
    path.write_bytes(files.seal({**document, **change}))
    with pytest.raises(StoreError, match=r"\\x1b") as caught:
        store.state(KEY)
    assert "\x1b" not in str(caught.value)
