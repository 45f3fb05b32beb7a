"""Where things lie in a store, and who may write there: root, marker, run folders, locks."""

from __future__ import annotations

import errno
import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from repro.errors import StoreError, StoreUnreachableError
from repro.store.files import (
    MARKER,
    damaged,
    exists,
    is_folder,
    make_folder,
    out_of_reach,
    parse_json,
    read_bytes,
    seal,
    write_atomically,
)
from repro.store.records import SCHEMA

_SHARD = re.compile(r"[0-9a-f]{2}")
_KEY = re.compile(r"[0-9a-f]{64}")


def run_folder_of(root: Path, key: str) -> Path:
    """The folder of a run, whether it exists or not."""
    if not _KEY.fullmatch(key):
        raise StoreError(f"{key!r} is not the key of a run: 64 hexadecimal digits")
    return root / key[:2] / key


def folder_exists(root: Path, key: str) -> bool:
    """Whether the run has a folder; an error if something else is in its place."""
    folder = run_folder_of(root, key)
    return is_folder(folder.parent) and is_folder(folder)


def make_run_folder(root: Path, key: str) -> Path:
    """The folder of a run, created with everything above it."""
    prepare_root(root)
    folder = run_folder_of(root, key)
    make_folder(folder.parent)
    make_folder(folder)
    return folder


def check_root(root: Path) -> bool:
    """Whether a store is there that this version can read; an error for a store that it cannot."""
    try:
        names = {entry.name: entry.is_dir() for entry in os.scandir(root)}
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _unreachable(root, error) from error
    if MARKER not in names:
        shards = {name for name, folder in names.items() if folder and _SHARD.fullmatch(name)}
        foreign = sorted(name for name in names.keys() - shards if _is_foreign(name))
        if foreign:
            raise StoreUnreachableError(
                f"{root}: is not a run store: it holds '{foreign[0]}' and no {MARKER}\n"
                "  to do: set REPRO_STORE to an empty or a new folder"
            )
        return bool(shards)  # a damaged marker was removed; the next write restores it
    _check_marker(root / MARKER)
    return True


def _is_foreign(name: str) -> bool:
    return name[0] != "." and name != "lost+found"


def _check_marker(path: Path) -> None:
    document = parse_json(path, read_bytes(path) or b"")
    schema = document.get("schema") if isinstance(document, dict) else None
    if type(schema) is not int or schema < 1:
        raise damaged(path, "does not say its schema", f'"schema": {SCHEMA}')
    if schema > SCHEMA:
        raise StoreUnreachableError(
            f"{path}: the store has schema {schema}, this version of repro reads {SCHEMA}\n"
            "  to do: use a newer repro, or set REPRO_STORE to another folder"
        )


def prepare_root(root: Path) -> None:
    """Make sure that a store is there, with its marker."""
    if check_root(root) and exists(root / MARKER):
        return
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unreachable(root, error) from error
    write_atomically(root / MARKER, seal({"schema": SCHEMA}))


def _unreachable(root: Path, error: OSError) -> StoreError:
    if error.errno == errno.ENOTDIR or isinstance(error, FileExistsError):
        return StoreUnreachableError(
            f"{root}: the run store is not a folder\n  to do: set REPRO_STORE to a folder"
        )
    if error.errno == errno.ELOOP:
        return StoreUnreachableError(
            f"{root}: the run store is a link that leads nowhere\n"
            "  to do: set REPRO_STORE to a folder"
        )
    return out_of_reach(root, error)


def list_keys(root: Path) -> Iterator[str]:
    """The keys that have a folder, in order; what is no run folder is passed over."""
    if not check_root(root):
        return
    try:
        for shard in sorted(root.iterdir()):
            if len(shard.name) == 2 and shard.is_dir() and not shard.is_symlink():
                for folder in sorted(shard.iterdir()):
                    if _KEY.fullmatch(folder.name) and folder.name[:2] == shard.name:
                        yield folder.name
    except OSError as error:
        raise out_of_reach(root, error) from error


@contextmanager
def hold(root: Path, key: str, name: str) -> Iterator[bool]:
    """Hold the lock file of a run: True inside, or False at once when another process does.

    The kernel lets go of it when the process ends, however it ends.
    """
    while True:
        path = make_run_folder(root, key) / name
        handle = _open(path)
        try:
            held = _try(handle, path)
            if held and not _is_at(handle, path):
                continue  # its folder was removed: whoever makes it anew locks another file
            yield held
            return
        finally:
            os.close(handle)


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o644)
    except OSError as error:
        raise out_of_reach(path, error) from error


def _is_at(handle: int, path: Path) -> bool:
    """Whether the open file is the one of that name."""
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False
    except OSError as error:
        raise out_of_reach(path, error) from error


def _try(handle: int, path: Path) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise StoreUnreachableError(
            f"{path}: this file system cannot lock files ({error.strerror})\n"
            "  to do: set REPRO_STORE to a folder on a local disk"
        ) from error
    return True
