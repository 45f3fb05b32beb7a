"""The sqlite file of a tracker, with its log: taken as they were at one time, and read apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from repro.errors import DataError
from repro.results.importer import FilesRead
from repro.results.reader import Reader

ENDINGS: Final = ("", "-wal", "-journal")
"""The file, what was written since and is not yet in it, and what undoes a write that was cut."""

ATTEMPTS: Final = 5


def in_database(kind: str, path: Path, root: Path, digests: FilesRead, tracker: str) -> Any:
    """What the reader of a ``kind`` finds in a tracker's sqlite file; DataError where it cannot.

    A copy is read, because a file on a network cannot be locked, and one in use may change.
    """
    contents = _contents(path, root, digests)
    with Reader(tracker) as reader:
        return reader.read(kind, path, contents)


def tables_of(path: Path) -> frozenset[str]:
    """The names of the tables in a sqlite file; DataError where it is none, or is not read."""
    return frozenset(in_database("tables", path, path.parent, FilesRead(), "a tracker"))


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
