"""Stores that several people write to, and stores that vanish."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from repro.errors import StoreError, StoreUnreachableError
from repro.store import places
from repro.store.places import LOOKS, confirm_root
from repro.store.run_store import RunStore
from repro.store.sealed import MARKER, read_sealed, seal
from tests.registry.made import CLAIM, FIELDS, FIRST, SCALE, register, registrations
from tests.running.tiny import tiny_run
from tests.store.filled import RUN, fill, put_run

FILL = (
    "import os, sys\n"
    "os.umask(int(sys.argv[2], 8))\n"
    "from pathlib import Path\n"
    "from repro.registry.claim_log import ClaimLog\n"
    "from repro.store.run_store import RunStore\n"
    "from tests.registry.made import CLAIM, FIELDS, FIRST, SCALE\n"
    "from tests.store.filled import RUN, fill\n"
    "store = RunStore(sys.argv[1])\n"
    "with store.lock(RUN.key):\n"
    "    fill(store)\n"
    "ClaimLog(store.root / 'looks', CLAIM, SCALE).register(FIRST, FIELDS)\n"
)


def modes(root: Path, umask: str) -> set[tuple[str, int]]:
    """The permissions of what a process with this umask writes: (file or folder, mode)."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path])}
    subprocess.run([sys.executable, "-c", FILL, str(root), umask], env=environment, check=True)
    paths = [root, *root.rglob("*")]
    assert len(paths) > 10
    return {
        ("folder" if path.is_dir() else "file", stat.S_IMODE(path.stat().st_mode) & 0o777)
        for path in paths
    }


@pytest.mark.parametrize(
    ("umask", "file", "folder"), [("002", 0o664, 0o775), ("077", 0o600, 0o700)]
)
def test_the_umask_says_who_may_write(tmp_path: Path, umask: str, file: int, folder: int) -> None:
    """Records, locks and logs: with umask 002 a group shares a store, with 077 nobody does."""
    assert modes(tmp_path / "store", umask) == {("file", file), ("folder", folder)}


def test_a_marker_that_was_removed_is_made_again_beside_the_ledger(tmp_path: Path) -> None:
    """The folder of the log is the store's own; runs and registrations stay as they were."""
    store = fill(RunStore(tmp_path / "store"))
    register(store.root / LOOKS, CLAIM, SCALE, FIRST, FIELDS)
    marker = store.root / MARKER
    data = bytearray(marker.read_bytes())
    data[data.index(b"id") + 8] ^= 1
    marker.write_bytes(data)
    with pytest.raises(StoreError, match="to do: remove") as caught:
        RunStore(store.root).state(RUN.key)
    assert caught.value.exit_code == 4
    Path(str(caught.value).split("to do: remove ")[1].split(" (")[0]).unlink()
    again = RunStore(store.root)
    assert again.state(RUN.key) == "finished"
    again.put_progress(RUN.key, {})
    assert read_sealed(marker) is not None
    assert len(registrations(store.root / LOOKS, CLAIM, SCALE)) == 1


def test_a_store_with_nothing_but_a_ledger_is_one(tmp_path: Path) -> None:
    """A claim may be registered before its first run."""
    (tmp_path / LOOKS).mkdir()
    assert put_run(RunStore(tmp_path))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / LOOKS).write_text("a file, which is somebody's")
    with pytest.raises(StoreUnreachableError, match="it holds 'looks'"):
        put_run(RunStore(tmp_path / "other"))


@pytest.mark.parametrize("what", ["gone", "empty", "another"])
def test_a_store_that_vanishes_is_not_made_anew(tmp_path: Path, what: str) -> None:
    """A writer that began with a store raises when it is gone, and leaves its place as it is."""
    store = RunStore(tmp_path / "store")
    put_run(store)
    store.root.rename(tmp_path / "away")
    if what == "empty":
        store.root.mkdir()
    elif what == "another":
        put_run(RunStore(store.root), tiny_run(1))
    before = sorted(store.root.rglob("*"))
    other = tiny_run(replicate=2)
    for write in (
        lambda: put_run(store, other),
        lambda: store.put_progress(other.key, {}),
        lambda: store.put_provenance(other.key, {}),
        lambda: store.lock(other.key).__enter__(),
        lambda: RunStore(store.root, store.prepare()),
    ):
        with pytest.raises(StoreUnreachableError, match=r"no longer there|another one") as caught:
            write()
        assert caught.value.exit_code == 5
    assert sorted(store.root.rglob("*")) == before


@pytest.mark.parametrize("mounted", [True, False])
def test_a_store_that_vanishes_once_it_was_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, mounted: bool
) -> None:
    """Between the look at its marker and the write, nothing is made in its place."""
    store = RunStore(tmp_path / "store")
    put_run(store)
    other = next(run for run in map(tiny_run, range(2, 20)) if run.key[:2] != RUN.key[:2])

    def vanishes(root: Path, identity: str) -> None:
        confirm_root(root, identity)
        root.rename(tmp_path / "away")
        if mounted:
            root.mkdir()

    monkeypatch.setattr(places, "confirm_root", vanishes)
    with pytest.raises(StoreUnreachableError, match="no longer there"):
        store.working_folder(other)
    assert not store.root.exists() or not list(store.root.iterdir())


def test_a_worker_knows_the_store_by_its_identity(tmp_path: Path) -> None:
    """Another process is told which store is meant, and makes none in its place."""
    identity = RunStore(tmp_path / "store").prepare()
    assert RunStore(tmp_path / "store", identity).prepare() == identity
    shutil.rmtree(tmp_path / "store")
    with pytest.raises(StoreUnreachableError, match="no longer there"):
        RunStore(tmp_path / "store", identity).working_folder(RUN)
    assert not (tmp_path / "store").exists()


def test_a_store_of_before_there_were_identities(tmp_path: Path) -> None:
    """Its marker stays as it is; it is missed all the same when it vanishes."""
    root = tmp_path / "store"
    root.mkdir()
    (root / MARKER).write_bytes(seal({"schema": 1}))
    store = RunStore(root)
    put_run(store)
    assert read_sealed(root / MARKER) == {"schema": 1}
    root.rename(tmp_path / "away")
    with pytest.raises(StoreUnreachableError, match="no longer there"):
        store.put_progress(RUN.key, {})


def test_processes_that_make_a_store_at_once_agree(tmp_path: Path) -> None:
    """One of them makes the marker, and all have its identity."""
    for number in range(20):
        root = tmp_path / str(number)
        barrier = threading.Barrier(8)

        def make(root: Path = root, barrier: threading.Barrier = barrier) -> str:
            barrier.wait()
            return RunStore(root).prepare()

        with ThreadPoolExecutor(8) as pool:
            found = {future.result() for future in [pool.submit(make) for _ in range(8)]}
        assert len(found) == 1
        assert [path.name for path in root.iterdir()] == [MARKER]


def test_a_place_without_links_has_a_marker_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems know no second name of a file."""

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("repro.store.sealed.os.link", refuse)
    store = fill(RunStore(tmp_path / "store"))
    assert [path.name for path in store.root.iterdir() if path.is_file()] == [MARKER]
    store.check(RUN.key)


@pytest.mark.parametrize(
    "address", ["s3://bucket/runs", "s3:/bucket/runs", "gs://b", "https://a/b"]
)
@pytest.mark.parametrize("kind", [str, Path])
def test_an_address_is_no_folder(address: str, kind: type) -> None:
    """A bucket is refused with a message instead of becoming a folder called `s3:`."""
    with pytest.raises(StoreUnreachableError, match="not an address") as caught:
        RunStore(kind(address))
    assert caught.value.exit_code == 5


def test_a_record_of_a_newer_version_is_not_damaged(tmp_path: Path) -> None:
    """A newer version has written it: the message says so, and does not advise to remove it."""
    store = fill(RunStore(tmp_path / "store"))
    for name in ("record.json", *(f"measurements/{p.name}" for p in measured(store))):
        path = store.folder(RUN.key) / name
        document = read_sealed(path)
        assert document is not None
        path.write_bytes(seal({**document, "schema": 2, "new": True}))
        with pytest.raises(StoreUnreachableError, match=r"schema 2.*\n.*newer repro") as caught:
            store.check(RUN.key)
        assert "remove" not in str(caught.value)
        path.write_bytes(seal(document))
    store.check(RUN.key)


def measured(store: RunStore) -> list[Path]:
    return sorted((store.folder(RUN.key) / "measurements").glob("*.json"))


def test_the_marker_is_sealed(tmp_path: Path) -> None:
    """A marker whose identity was changed by accident is damaged, and not another store's."""
    store = RunStore(tmp_path / "store")
    put_run(store)
    marker = store.root / MARKER
    document = json.loads(marker.read_text())
    marker.write_text(json.dumps({**document, "id": "0" * 32}))
    with pytest.raises(StoreError, match="has the digest"):
        store.put_progress(RUN.key, {})
