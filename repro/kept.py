"""What commands keep between them, to do less the next time. All of it can be made again.

It lies in the user's own cache folder ($REPRO_CACHE, else that of the system), never in a store or
among reports, which may come from strangers: what is kept stands in for work that was done here.
A note is about one place, a store or a folder of reports, and is of use to the same code with the
same libraries alone. One that is damaged, cut off, of somebody else, or in a folder that others
can write to is as good as none; where nothing can be kept, nothing is, and no command fails.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from repro import files
from repro.digest import digest

LARGEST = 64 * 2**20
"""Bytes of the largest note."""

MOST_BYTES = 256 * 2**20
MOST_NOTES = 2_000
"""Beyond these the notes that were written first are removed."""


def read(kind: str, place: Path) -> dict[str, Any]:
    """What was kept of this kind about a place; empty if nothing can be trusted."""
    with suppress(OSError, ValueError, RecursionError):
        path = _path(kind, place)
        if _is_ours(path.parent, stat.S_ISDIR) and _is_ours(path, stat.S_ISREG):
            note = json.loads(files.read_bytes(path, LARGEST, follow=False))
            if isinstance(note, dict) and note == _note(kind, place, note.get("kept")):
                kept = note["kept"]
                return kept if isinstance(kept, dict) else {}
    return {}


def write(kind: str, place: Path, kept: dict[str, Any]) -> None:
    """Keep this about a place, instead of what was kept; nothing where that fails."""
    with suppress(OSError, ValueError):
        path = _path(kind, place)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        content = json.dumps(_note(kind, place, kept)).encode()
        if _is_ours(path.parent, stat.S_ISDIR) and len(content) <= LARGEST:
            files.write_atomically(path, content, durable=False)
            path.chmod(0o600)  # whatever the user's umask is
            _remove_oldest(path.parent)


@cache
def code() -> str:
    """The digest of all that decides what repro makes of its input, but for code of others.

    Its own files and templates by their content, Python, and what is installed, by name, version
    and when that was.
    """
    found = hashlib.sha256(sys.version.encode())
    for root in (files.PACKAGE, files.templates()):
        for folder, inside, names in os.walk(root):
            inside[:] = sorted(name for name in inside if name not in {"__pycache__", "_data"})
            for name in sorted(names):
                path = Path(folder) / name
                found.update(f"\0{path.relative_to(root)}\0".encode())
                found.update(hashlib.sha256(path.read_bytes()).digest())
    for place in sys.path:
        with suppress(OSError), os.scandir(place or ".") as entries:
            installed = [entry for entry in entries if entry.name.endswith((".dist-info", ".pth"))]
            told = sorted((entry.name, entry.stat().st_mtime_ns) for entry in installed)
            found.update(repr(told).encode())
    return found.hexdigest()


def _folder() -> Path:
    """The folder of the notes: of the environment, or in the user's cache."""
    named = os.environ.get("REPRO_CACHE")
    if named:
        return Path(named).expanduser().absolute()
    from platformdirs import user_cache_dir  # noqa: PLC0415 - rarely needed

    return Path(user_cache_dir("repro"))


def _path(kind: str, place: Path) -> Path:
    return _folder() / f"{kind}-{digest(str(files.resolved(place)))}.json"


def _note(kind: str, place: Path, kept: Any) -> dict[str, Any]:
    """What a note says, with its own digest."""
    about = {"kind": kind, "place": str(files.resolved(place)), "code": code(), "kept": kept}
    return {**about, "sha256": digest(about)}


def _is_ours(path: Path, is_kind: Callable[[int], bool]) -> bool:
    """Whether a file or folder is the user's, and nobody else can write to it; links are not."""
    status = path.lstat()
    alone = not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return is_kind(status.st_mode) and status.st_uid == os.geteuid() and alone


def _remove_oldest(folder: Path) -> None:
    """Keep the folder within its limits, and free of what killed processes have left."""
    files.sweep(folder, ".*.tmp")
    notes = sorted(
        (
            (each.stat().st_mtime_ns, each.stat().st_size, each.path)
            for each in list(os.scandir(folder))
        ),
        reverse=True,
    )
    size = 0
    for place, (_, bytes_, path) in enumerate(notes):
        size += bytes_
        if size > MOST_BYTES or place >= MOST_NOTES:
            Path(path).unlink(missing_ok=True)
