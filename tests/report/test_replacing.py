"""Files of reports are whole, their index is that of all of them, and rubbish is swept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from repro.files import sweep
from repro.judging.document import Document
from repro.report import write as replacing
from repro.report.index import index
from repro.report.write import alone, document_text, replace, write_index, write_report

HOLD = (
    "import sys, time\n"
    "from pathlib import Path\n"
    "from repro.report import write as replacing\n"
    "def wait(*_):\n"
    "    print('here', flush=True)\n"
    "    time.sleep(600)\n"
    "replacing.os.fsync = wait\n"
    "replacing.replace(Path(sys.argv[1]), b'half')\n"
)


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob(".*.part"))


def age(path: Path) -> None:
    """Let a file be an hour old."""
    then = time.time() - 3600
    os.utime(path, (then, then))


def test_what_a_kill_left_is_swept_and_what_is_written_is_not(tmp_path: Path) -> None:
    """As long as its process lives a temporary file stays, however old; then it goes."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", HOLD, str(tmp_path / "report.json")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "here\n"
        (part,) = parts(tmp_path)
        age(part)
        sweep(tmp_path, ".*.part")
        assert parts(tmp_path) == [part]
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    assert parts(tmp_path) == [part]
    replace(tmp_path / "other.json", b"{}")
    sweep(tmp_path, ".*.part")
    assert [path.name for path in tmp_path.iterdir()] == ["other.json"]


def test_a_young_file_is_left_alone(tmp_path: Path) -> None:
    """It may be made and not yet locked."""
    (tmp_path / ".report.json.abc.part").write_text("")
    sweep(tmp_path, ".*.part")
    assert len(parts(tmp_path)) == 1


def test_nothing_of_others_is_swept(tmp_path: Path) -> None:
    """Links, folders, and files that are not named as ours."""
    (tmp_path / "mine.part").write_text("")
    (tmp_path / ".link.part").symlink_to("mine.part")
    (tmp_path / ".folder.part").mkdir()
    for path in tmp_path.iterdir():
        then = time.time() - 3600
        os.utime(path, (then, then), follow_symlinks=False)
    sweep(tmp_path, ".*.part")
    assert len(list(tmp_path.iterdir())) == 3


def test_verify_sweeps_where_it_writes(tmp_path: Path, documents: dict[str, Document]) -> None:
    """The folder of each report, and that of the index."""
    document = next(iter(documents.values()))
    folder = tmp_path / "claim" / "quick"
    folder.mkdir(parents=True)
    for place in (tmp_path, folder):
        part = place / ".report.pdf.abc.part"
        part.write_text("half")
        age(part)
    write_report(document, folder)
    write_index(tmp_path)
    assert parts(tmp_path) == parts(folder) == []


def test_a_pdf_leaves_nothing_in_the_temporary_folder(
    tmp_path: Path, documents: dict[str, Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is made in memory, so that a kill leaves nothing there either."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile.mkdtemp", lambda *_, **__: pytest.fail("a folder was made"))
    write_report(next(iter(documents.values())), tmp_path / "claim" / "quick")
    assert list((tmp_path / "temporary").iterdir()) == []


def test_two_indexes_at_once(
    tmp_path: Path, documents: dict[str, Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The later one has read what the earlier one had not: no report is lost from the list."""
    first, second = list(documents.values())[:2]

    def add(document: Document) -> None:
        folder = tmp_path / document.claim.id / document.scale.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.json").write_text(document_text(document))

    add(first)
    others: list[threading.Thread] = []

    def slow(*arguments: object) -> str:
        if not others:  # the first index has read its list: another report, another index
            add(second)
            others.append(threading.Thread(target=write_index, args=(tmp_path,)))
            others[0].start()
            time.sleep(0.5)
        return index(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("repro.report.write.index", slow)
    write_index(tmp_path)
    others[0].join()
    text = (tmp_path / "index.html").read_text()
    for document in (first, second):
        assert f"{document.claim.id}/{document.scale.name}/report.json" in text


def test_a_stopped_process_is_not_waited_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After some seconds the index is written all the same."""
    monkeypatch.setattr(replacing, "PATIENCE_SECONDS", 0.2)
    with alone(tmp_path):
        assert write_index(tmp_path).is_file()
