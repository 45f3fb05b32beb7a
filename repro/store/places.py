"""Where things lie in a store, and who may write there: root, marker, run folders, locks.

The marker of a store holds an identity that is drawn once. A writer remembers it and compares it
before each write, so that a store that vanishes in mid-run, as when a disk is unmounted, is
missed and not made again.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from repro.errors import StoreError, StoreUnreachableError
from repro.files import sweep
from repro.store.sealed import (
    KEY,
    MARKER,
    SCHEMA,
    damaged,
    is_folder,
    make_folder,
    open_or_make,
    out_of_reach,
    parse_json,
    reaching,
    read_bytes,
    refuse_newer,
    seal,
    unsealed,
    write_new,
)

LOCK = ".lock"
"""The file of a run that is held by whoever writes to it."""

LOOKS = "looks"
"""The folder of a store that holds what was registered and looked at."""

OUTPUTS = "outputs"
"""The folder of a store that holds what programs left, as a store of its own."""

VERDICTS = "verdicts"
"""The folder of a store that holds what claims came to, whenever that changed."""

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_SHARD = re.compile(r"[0-9a-f]{2}")


def refuse_address(root: Path | str) -> None:
    """StoreUnreachableError for the address of a bucket or a server, which is not a folder."""
    if _ADDRESS.match(str(root)):
        raise StoreUnreachableError(
            f"{root}: a run store is a folder of this machine, not an address\n"
            "  expected: the path of a folder\n"
            "  to do: mount the place as a folder, or copy its runs to one, and name that"
        )


def run_folder_of(root: Path, key: str) -> Path:
    """The folder of a run, whether it exists or not."""
    if not KEY.fullmatch(key):
        raise StoreError(f"{key!r} is not the key of a run: 64 hexadecimal digits")
    return root / key[:2] / key


def make_run_folder(root: Path, key: str, identity: str) -> Path:
    """The folder of a run in the store of this identity, created with its shard.

    StoreUnreachableError where another store is there, or none. The shard is made through a handle
    on the store, so a store that vanishes in this moment leaves nothing in the folder in its place.
    """
    folder = run_folder_of(root, key)
    with _opened(root, identity) as store, reaching(folder.parent), suppress(FileExistsError):
        os.mkdir(folder.parent.name, dir_fd=store)
        os.fsync(store)
    is_folder(folder.parent)
    make_folder(folder)
    return folder


@contextmanager
def _opened(root: Path, identity: str) -> Iterator[int]:
    """A handle on the folder of the store of this identity."""
    with reaching(root):
        handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        confirm_root(root, identity)
        yield handle
    finally:
        os.close(handle)


def check_root(root: Path) -> bool:
    """Whether a store is there that this version can read; an error for a store that it cannot."""
    try:
        names = {entry.name: entry.is_dir() for entry in list(os.scandir(root))}
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _unreachable(root, error) from error
    if MARKER not in names:
        folders = {name for name, is_folder in names.items() if is_folder}
        ours = {
            name for name in folders if name in {LOOKS, OUTPUTS, VERDICTS} or _SHARD.fullmatch(name)
        }
        others = names.keys() - ours - {"lost+found"}
        foreign = sorted(name for name in others if not name.startswith("."))
        if foreign:
            raise StoreUnreachableError(
                f"{root}: is not a run store: it holds '{foreign[0]}' and no {MARKER}\n"
                "  to do: set REPRO_STORE to an empty or a new folder"
            )
        return bool(ours)  # a damaged marker was removed; the next write restores it
    read_identity(root)
    return True


def read_identity(root: Path) -> str | None:
    """What the marker of a store says of itself; None if there is no marker.

    It is empty for a store that was made before stores had an identity. StoreError for a damaged
    marker, StoreUnreachableError for one of a newer version.
    """
    path = root / MARKER
    data = read_bytes(path)
    if data is None:
        return None
    document = parse_json(path, data)
    schema = document.get("schema") if isinstance(document, dict) else None
    if type(schema) is not int or schema < 1:
        raise damaged(path, "does not say its schema", f'"schema": {SCHEMA}')
    refuse_newer(path, schema)
    identity = unsealed(path, document).get("id", "")
    return identity if isinstance(identity, str) else ""


def prepare_root(root: Path) -> str:
    """Make sure that a store is there, with its marker; gives its identity.

    Of several processes that do so at once, one makes the marker, and all give what it says. What
    one that was killed has left of it is removed.
    """
    there = check_root(root)
    with suppress(OSError):
        sweep(root, f".*{MARKER}.*.tmp")
    found = read_identity(root) if there else None
    if found is not None:
        return found
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unreachable(root, error) from error
    write_new(root / MARKER, seal({"schema": SCHEMA, "id": secrets.token_hex(16)}))
    return read_identity(root) or ""


def confirm_root(root: Path, identity: str) -> None:
    """StoreUnreachableError unless the store of this identity is still there."""
    found = read_identity(root)
    if found == identity:
        return
    mistake = "is no longer there" if found is None else "is another one than at the start"
    raise StoreUnreachableError(
        f"{root}: the run store {mistake}: was a disk unmounted, or the folder moved?\n"
        "  expected: the store that this command began with\n"
        "  to do: bring it back and give the same command again; finished runs are kept there"
    )


def _unreachable(root: Path, error: OSError) -> StoreError:
    advice = "to do: set REPRO_STORE to a folder"
    if error.errno == errno.ENOTDIR or isinstance(error, FileExistsError):
        return StoreUnreachableError(f"{root}: the run store is not a folder\n  {advice}")
    if error.errno == errno.ELOOP:
        nowhere = f"{root}: the run store is a link that leads nowhere"
        return StoreUnreachableError(f"{nowhere}\n  {advice}")
    return out_of_reach(root, error)


def list_keys(root: Path) -> Iterator[str]:
    """The keys that have a folder, in order; what is no run folder is passed over."""
    if not check_root(root):
        return
    with reaching(root):
        for shard in sorted(root.iterdir()):
            if len(shard.name) == 2 and shard.is_dir() and not shard.is_symlink():
                for folder in sorted(shard.iterdir()):
                    if KEY.fullmatch(folder.name) and folder.name[:2] == shard.name:
                        yield folder.name


@contextmanager
def hold(root: Path, key: str, identity: str) -> Iterator[bool]:
    """Hold the lock file of a run: True inside, or False at once when another process does.

    The kernel lets go of it when the process ends, however it ends.
    """
    while True:
        path = make_run_folder(root, key, identity) / LOCK
        handle = open_or_make(path)
        try:
            held = _try(handle, path)
            if held and not _is_at(handle, path):
                continue  # its folder was removed: whoever makes it again locks another file
            yield held
            return
        finally:
            os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    """Whether the open file is the one of that name."""
    with reaching(path), suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), path.lstat())
    return False


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
