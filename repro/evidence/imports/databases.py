"""The sqlite file of a tracker: copied with its log, and read as what a stranger may have made."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from repro.errors import DataError
from repro.evidence.imports.importer import FilesRead

ENDINGS: Final = ("", "-wal", "-journal")
"""The file, what was written since and is not yet in it, and what undoes a write that was cut."""

ATTEMPTS: Final = 5
LONGEST: Final = 50_000_000
"""Bytes of the largest text in it."""

MOST_STEPS: Final = 4_000
STEP: Final = 1_000_000
"""Instructions of sqlite's machine: a scan of the largest file takes a tenth of all steps."""


@contextmanager
def database(
    path: Path, root: Path, digests: FilesRead, tracker: str, tables: Collection[str]
) -> Iterator[sqlite3.Connection]:
    """A copy of a tracker's sqlite file; DataError where it has none of these ``tables``.

    A copy, because a file on a network cannot be locked, and one in use may change.
    """
    contents = _contents(path, root, digests)
    try:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "copy.db"
            for ending, content in contents.items():
                copy.with_name(copy.name + ending).write_bytes(content)
            with closing(sqlite3.connect(copy)) as opened:
                _guard(opened)
                _refuse_others(opened, path, tracker, tables)
                yield opened
    except sqlite3.Error as error:
        raise _refused(path, tracker, f"cannot be read as a database of {tracker}: {error}") from (
            error
        )


def _contents(path: Path, root: Path, digests: FilesRead) -> dict[str, bytes]:
    """The file and its log as they were at one time; DataError where it never stands still."""
    for _ in range(ATTEMPTS):
        before = _stamps(path)
        contents = {
            ending: digests.read(path.with_name(path.name + ending), root)
            for ending, (_, size) in before.items()
            if size or not ending
        }
        if _stamps(path) == before:
            return contents
    raise DataError(
        f"{path}: is being written\n  expected: a file that stands still while it is read\n"
        "  to do: try again when the run has ended, or copy the file"
    )


def _stamps(path: Path) -> dict[str, tuple[int, int]]:
    """When each of the files was changed, and its size."""
    found = {}
    for ending in ENDINGS:
        try:
            stat = path.with_name(path.name + ending).stat()
        except FileNotFoundError:
            continue
        found[ending] = (stat.st_mtime_ns, stat.st_size)
    return found or {"": (0, 0)}


def _guard(opened: sqlite3.Connection) -> None:
    """Bounds for whatever the file defines: columns may be made by functions without an end."""
    steps = iter(range(MOST_STEPS))
    opened.set_progress_handler(lambda: next(steps, None) is None, STEP)
    opened.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    opened.execute("PRAGMA trusted_schema = OFF")
    opened.execute("PRAGMA query_only = ON")


def _refuse_others(
    opened: sqlite3.Connection, path: Path, tracker: str, tables: Collection[str]
) -> None:
    """A view may have rows without an end, so that only tables are read."""
    views = {
        name
        for name, sort, text in opened.execute("SELECT name, type, sql FROM sqlite_master")
        if sort == "view" or (sort == "table" and str(text).upper().startswith("CREATE VIRTUAL"))
    }
    for name in tables:
        if name in views:
            raise _refused(path, tracker, f"its '{name}' is no table of its own")


def _refused(path: Path, tracker: str, mistake: str) -> DataError:
    return DataError(
        f"{path}: {mistake}\n  expected: the sqlite file of a tracking store of {tracker}\n"
        "  to do: check `path`"
    )
