"""A crash at any moment leaves a run whole or absent."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from repro.errors import StoreUnreachableError
from repro.store.run_store import RunStore
from repro.store.sealed import MARKER, write_atomically
from tests.running.tiny import RANK, TEST
from tests.store.filled import RUN, fill, put_run


class Crash(BaseException):
    """The power went."""


def crash_at(monkeypatch: pytest.MonkeyPatch, number: int, *, after: bool) -> list[str]:
    """Let the process end at the ``number``-th renaming or linking, before or after it."""
    names: list[str] = []

    def end() -> NoReturn:
        monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)  # a dead process tidies nothing
        raise Crash

    def stand_in(real: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        def named(source: Any, target: Any) -> None:
            names.append(Path(target).name)
            if len(names) == number and not after:
                end()
            real(source, target)
            if len(names) == number:
                end()

        return named

    monkeypatch.setattr("repro.store.sealed.os.replace", stand_in(os.replace))
    monkeypatch.setattr("repro.store.sealed.os.link", stand_in(os.link))
    return names


def writes(monkeypatch: pytest.MonkeyPatch, root: Path) -> int:
    """How many renamings it takes to fill a store."""
    with monkeypatch.context() as patch:
        names = crash_at(patch, 0, after=False)
        fill(RunStore(root))
    return len(names)


def content(store: RunStore) -> dict[str, bytes]:
    """Every file that is not a cut-off write, but for the marker, which is of one store alone."""
    paths = [path for path in store.root.rglob("*") if path.is_file()]
    return {
        str(path.relative_to(store.root)): path.read_bytes()
        for path in paths
        if path.suffix != ".tmp" and path.name != MARKER
    }


@pytest.mark.parametrize("after", [False, True])
def test_a_crash_between_any_two_writes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, after: bool
) -> None:
    """What can be read is right, and doing it again ends with the same files."""
    count = writes(monkeypatch, tmp_path / "whole")
    assert count == 10  # marker in two steps, spec, history, weights, record, and measurements
    for number in range(1, count + 1):
        store = RunStore(tmp_path / f"crash-{number}")
        with monkeypatch.context() as patch:
            crash_at(patch, number, after=after)
            with pytest.raises(Crash):
                fill(store)
        for left in store.root.glob(".*"):
            os.utime(left, (0, 0))  # a minute and more has passed
        again = RunStore(store.root)
        if again.state(RUN.key) == "finished":
            again.check(RUN.key)
        for measurement in (TEST, RANK):
            stored = again.measurement(RUN.key, measurement)
            assert stored is None or stored.value in {49.125, 8.0}
        fill(again)
        again.tidy(RUN.key)
        assert content(again) == content(RunStore(tmp_path / "whole"))
        assert not list(store.root.rglob(".*.tmp"))


def test_the_record_is_written_last(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A run without its record is not finished, whatever else is there."""
    names = crash_at(monkeypatch, 0, after=False)
    put_run(RunStore(tmp_path / "store"))
    assert names[-1] == "record.json"


def test_a_full_disk_leaves_no_half_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The error says that space is needed, and the temporary file is gone."""
    store = RunStore(tmp_path / "store")
    store.working_folder(RUN)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("repro.store.sealed.os.fsync", full)
    with pytest.raises(StoreUnreachableError, match="free some space"):
        put_run(store)
    assert sorted(path.name for path in store.folder(RUN.key).iterdir()) == ["spec.json"]
    assert store.state(RUN.key) == "started"


def test_two_machines_never_share_a_temporary_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Processes of the same number in two containers write to names of their own."""
    names: list[str] = []
    real = os.open

    def note(path: Any, *arguments: Any) -> int:
        if str(path).endswith(".tmp"):
            names.append(str(path))
            assert arguments[0] & os.O_EXCL
        return real(path, *arguments)

    monkeypatch.setattr("repro.store.sealed.os.open", note)
    script = (
        "import os, sys; os.getpid = lambda: 1\n"
        "from repro import files\n"
        "files.os.replace = lambda source, _: print(source)\n"
        "from pathlib import Path\n"
        "files.write_atomically(Path(sys.argv[1]), b'', durable=False)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    printed = [
        subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "file")],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert printed[0] != printed[1]
    write_atomically(tmp_path / "file", b"")
    assert len(names) == 1
