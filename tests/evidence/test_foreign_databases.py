"""Databases that a stranger may have made: none touches a file, or computes without an end."""

from __future__ import annotations

import shutil
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from repro.results import reader
from tests.commands import repro
from tests.evidence.test_imports import claim, read, refused, ungzipped

MLFLOW = "{from: mlflow, path: mlflow.db, where: {tags.arm: ARM}}"
TRACKIO = "{from: trackio, path: p.db, where: {group: ARM}}"
PAGE = 4096
MAGIC = bytes([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])


def journal(named: str, size: int) -> bytes:
    """A journal that undoes nothing and names another file, which sqlite deletes after it."""
    name = named.encode()
    header = MAGIC + struct.pack(">IIIII", 0, 0, size // PAGE, 512, PAGE)
    end = struct.pack(">II", len(name), sum(name)) + MAGIC
    return header.ljust(512, b"\0") + struct.pack(">I", 0x40000000 // PAGE + 1) + name + end


@pytest.fixture
def thesis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of the user in the working folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "thesis.txt"
    path.write_text("three years of work", encoding="utf-8")
    return path


def assert_whole(thesis: Path) -> None:
    assert thesis.read_text(encoding="utf-8") == "three years of work"


def attack(file: Path, thesis: Path, *, absolute: bool) -> None:
    named = str(thesis) if absolute else thesis.name
    file.with_name(f"{file.name}-journal").write_bytes(journal(named, file.stat().st_size))


@pytest.mark.parametrize("absolute", [True, False])
def test_sqlite_itself_deletes_the_file(thesis: Path, *, absolute: bool) -> None:
    """The journal of these tests is one that works."""
    ungzipped(thesis.parent, "mlflow-3.17.2.db.gz", "mlflow.db")
    attack(thesis.with_name("mlflow.db"), thesis, absolute=absolute)
    with closing(sqlite3.connect("mlflow.db")) as opened:
        opened.execute("SELECT count(*) FROM sqlite_master").fetchall()
    assert not thesis.exists()


@pytest.mark.parametrize("absolute", [True, False])
@pytest.mark.parametrize(
    ("name", "source", "imports", "number"),
    [
        ("mlflow.db", "mlflow-3.17.2.db.gz", MLFLOW, "test_error"),
        ("p.db", "trackio-0.43.0.db.gz", TRACKIO, "val_error"),
    ],
)
def test_a_journal_that_names_another_file_deletes_none(
    thesis: Path, name: str, source: str, imports: str, number: str, *, absolute: bool
) -> None:
    """Neither when a claim imports it nor when it is compared."""
    ungzipped(thesis.parent, source, name)
    attack(thesis.with_name(name), thesis, absolute=absolute)
    said = refused(claim(thesis.parent, imports, number))
    assert f"{name}: its -journal names another file, which sqlite would delete" in said
    assert_whole(thesis)
    done = repro("compare", name, "--better", "lower")
    assert (done.returncode, "its -journal names another file" in done.stderr) == (2, True)
    assert_whole(thesis)


@pytest.mark.parametrize("absolute", [True, False])
def test_nothing_outside_can_be_deleted_or_read(thesis: Path, *, absolute: bool) -> None:
    """Where the system has Landlock, whatever sqlite were made to do."""
    (thesis.parent / "inside").mkdir()
    name = str(thesis) if absolute else "../thesis.txt"
    program = (
        "import os, sys; from pathlib import Path; sys.path.append(sys.argv[1]);"
        "from repro.results.inside.program import confine;"
        "os.chdir(sys.argv[2]); held = confine(Path(sys.argv[2])); Path('own').touch();\n"
        "for act in (os.unlink, open):\n"
        "    try:\n        held and act(sys.argv[3])\n"
        "    except PermissionError:\n        print('refused')\n"
        "print(held)"
    )
    inside = thesis.parent / "inside"
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, root, str(inside), name],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout in ("refused\nrefused\nTrue\n", "False\n")
    assert (inside / "own").exists()
    assert_whole(thesis)


def test_a_journal_of_a_write_that_was_cut_is_undone(tmp_path: Path) -> None:
    """As the tracker itself would: the values of before count, and the files stay as they are."""
    ungzipped(tmp_path, "trackio-0.43.0.db.gz", "live.db")
    before, _ = read_trackio(tmp_path, "live.db")
    with closing(sqlite3.connect(tmp_path / "live.db", isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("PRAGMA cache_size = 1")  # pages go to the file before the end
        db.execute("BEGIN IMMEDIATE")
        db.execute(
            'UPDATE metrics SET metrics = \'{"val_error": 7, "pad": "\' || '
            "hex(zeroblob(20000)) || '\"}'"
        )
        for ending in ("", "-journal"):
            shutil.copy(tmp_path / f"live.db{ending}", tmp_path / f"p.db{ending}")
    stood = {each: each.read_bytes() for each in tmp_path.glob("p.db*")}
    assert len(stood) == 2
    assert b"000000" in stood[tmp_path / "p.db"]
    assert read_trackio(tmp_path, "p.db")[0] == before
    assert {each: each.read_bytes() for each in tmp_path.glob("p.db*")} == stood


def read_trackio(folder: Path, name: str) -> tuple[dict[str, dict[int, float]], object]:
    imports = TRACKIO.replace("p.db", name)
    return read(claim(folder, imports, "val_error", more=", reduce: last"))


@pytest.mark.parametrize(
    ("made", "rows", "said"),
    [
        ("hex(zeroblob(20000000)) || step", 1, "string or blob too big"),
        (
            "length(hex(zeroblob(4000000 + step))) || step",
            9000,
            "takes more than 1 seconds",
        ),
        ("hex(zeroblob(2000000)) || step", 80, "bytes of values"),
        ("step", 10_001, "different names of numbers and settings"),
    ],
)
def test_a_column_that_is_computed_without_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str, rows: int, said: str
) -> None:
    """A small file, each of whose cells is large, or takes long."""
    if "length" in made:
        monkeypatch.setattr(reader, "SECONDS", 1)
    ungzipped(tmp_path, "mlflow-3.17.2.db.gz", "mlflow.db")
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as db, db:
        db.execute("DROP TABLE params")
        db.execute("CREATE TABLE params (run_uuid, step, value)")
        (run,) = db.execute("SELECT run_uuid FROM runs WHERE lifecycle_stage = 'active'").fetchone()
        steps = ((run, step) for step in range(rows))
        db.executemany("INSERT INTO params VALUES (?, ?, 'x')", steps)
        db.execute(f"ALTER TABLE params ADD COLUMN key GENERATED ALWAYS AS ({made}) VIRTUAL")
    answer = refused(claim(tmp_path, MLFLOW, "test_error"))
    assert answer.count("mlflow.db: ") == 1
    assert said in answer
    assert "to do: " in answer


def test_a_schema_that_is_not_utf8(tmp_path: Path) -> None:
    ungzipped(tmp_path, "mlflow-3.17.2.db.gz", "mlflow.db")
    content = (tmp_path / "mlflow.db").read_bytes()
    for word in (b"experiment_tags", b"CREATE TABLE latest_metrics"):
        content = content.replace(word, word[:-2] + b"\xff\xfe")
    (tmp_path / "mlflow.db").write_bytes(content)
    assert "mlflow.db: cannot be read as a database" in refused(
        claim(tmp_path, MLFLOW, "test_error")
    )


def test_a_reader_that_the_system_kills_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the file, in words, and with a status that is none of a crash."""
    ungzipped(tmp_path, "mlflow-3.17.2.db.gz", "mlflow.db")
    killed = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    monkeypatch.setattr("repro.results.reader.BEGIN", killed)
    said = refused(claim(tmp_path, MLFLOW, "test_error"))
    assert "mlflow.db: ended the process that read it, by SIGKILL" in said


def test_the_process_imports_nothing_heavy() -> None:
    """Its start is a small part of a second: no pydantic, no numpy."""
    program = (
        "import sys; sys.path.append(sys.argv[1]);"
        "import repro.results.inside.program;"
        "print({each.partition('.')[0] for each in sys.modules} - set(sys.stdlib_module_names))"
    )
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, root],
        capture_output=True,
        text=True,
        check=True,
    )
    assert eval(done.stdout) <= {"repro", "__main__", "backports"}  # noqa: S307
