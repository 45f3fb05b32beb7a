"""What commands keep between them is believed only where this user's own code has made it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from repro import files, kept

LIBRARY = "site/numpy-1.0.dist-info"
KEPT = {"runs": ["a", "b"], "number": 0.1}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def note(place: Path) -> Path:
    """The file of a note about the place."""
    kept.write("runs", place, KEPT)
    (path,) = (place.parent / "cache").iterdir()
    return path


def changed(note: Path, **values: object) -> None:
    note.write_text(json.dumps(json.loads(note.read_text()) | values))


def test_what_was_kept_is_read_again(place: Path, note: Path) -> None:
    """Of the same kind, about the same place."""
    assert kept.read("runs", place) == KEPT
    assert kept.read("report", place) == {}
    assert kept.read("runs", place.with_name("other")) == {}
    assert note.stat().st_mode & 0o077 == 0


def behind_a_link(note: Path) -> None:
    note.rename(note.parent.parent / "moved")
    note.symlink_to("../moved")


def instead(note: Path, make: Callable[[], None]) -> None:
    note.unlink()
    make()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut off": lambda note: note.write_bytes(note.read_bytes()[:-10]),
    "empty": lambda note: note.write_text(""),
    "binary": lambda note: note.write_bytes(b"\xff\x00"),
    "nested without end": lambda note: note.write_text("[" * 100_000),
    "a list": lambda note: note.write_text("[]"),
    "forged": lambda note: changed(note, kept={"runs": ["c"]}),
    "of other code": lambda note: changed(note, code="0" * 64),
    "of another place": lambda note: changed(note, place="/elsewhere"),
    "one digit": lambda note: note.write_text(note.read_text().replace("0.1", "0.2")),
    "writable by others": lambda note: note.chmod(0o666),
    "in a folder that others can write to": lambda note: note.parent.chmod(0o777),
    "a link": behind_a_link,
    "a folder": lambda note: instead(note, note.mkdir),
    "a pipe": lambda note: instead(note, lambda: os.mkfifo(note)),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_note_that_cannot_be_trusted_is_as_good_as_none(
    damage: str, place: Path, note: Path
) -> None:
    """Whatever is wrong with it; and it can be written again, where the folder is the user's."""
    DAMAGE[damage](note)
    assert kept.read("runs", place) == {}
    kept.write("runs", place, KEPT)
    alone = damage not in {"in a folder that others can write to", "a folder"}
    assert kept.read("runs", place) == (KEPT if alone else {})


def test_nothing_fails_where_nothing_can_be_kept(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cache in the place of a file: reading gives nothing, writing does nothing."""
    monkeypatch.setenv("REPRO_CACHE", "/dev/null")
    kept.write("runs", place, KEPT)
    assert kept.read("runs", place) == {}


def test_the_oldest_notes_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are never more than the limit says, and the newest are among them."""
    monkeypatch.setattr(kept, "MOST_NOTES", 3)
    for number in range(6):
        kept.write("runs", tmp_path / str(number), KEPT)
        (path,) = (tmp_path / "cache").glob(f"*{kept._path('runs', tmp_path / str(number)).name}")
        os.utime(path, ns=(number, number))
    found = [kept.read("runs", tmp_path / str(number)) for number in range(6)]
    assert found == [{}, {}, {}, KEPT, KEPT, KEPT]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a part of repro with its templates, in the place of repro itself."""
    shutil.copytree(files.PACKAGE / "schema", tmp_path / "repro" / "schema")
    shutil.copytree(files.templates(), tmp_path / "templates")
    (tmp_path / LIBRARY).mkdir(parents=True)
    monkeypatch.setattr(files, "PACKAGE", tmp_path / "repro")
    monkeypatch.setattr(files, "templates", lambda: tmp_path / "templates")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return tmp_path


CHANGES: dict[str, Callable[[Path], object]] = {
    "a line of code": lambda at: (at / "repro/schema/base.py").write_text("x = 1\n"),
    "a new file": lambda at: (at / "repro/schema/new.py").write_text(""),
    "a file that is gone": lambda at: (at / "repro/schema/base.py").unlink(),
    "a template": lambda at: (at / "templates/style.css").write_text(""),
    "a library": lambda at: (at / "site/numpy-1.0.dist-info").rename(
        at / "site/numpy-1.1.dist-info"
    ),
    "a library of the same version": lambda at: os.utime(at / LIBRARY, (1, 1)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_version_has_another_digest(change: str, package: Path) -> None:
    """Code, templates and libraries: nothing that any other version has kept is believed."""
    before = kept.code.__wrapped__()
    assert kept.code.__wrapped__() == before
    CHANGES[change](package)
    assert kept.code.__wrapped__() != before


def test_what_python_compiled_is_no_change(package: Path) -> None:
    """Whether a module was imported before does not matter."""
    before = kept.code.__wrapped__()
    (package / "repro" / "__pycache__").mkdir()
    (package / "repro" / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert kept.code.__wrapped__() == before
