"""The files of a store: whole or absent, in plain folders, sealed with their own digest.

A read trusts nothing: no link is followed, nothing but a regular file of a sane size is opened,
and a sealed document is compared with its digest. What is wrong is a StoreError that says what
to do.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from repro import files
from repro.digest import canonical_json, digest
from repro.errors import StoreError, StoreUnreachableError, printable

SCHEMA = 1
"""The schema of all files of a store."""

MARKER, PROVENANCE = "repro-store.json", "provenance.json"
SEAL = "sha256"
JSON_LIMIT = 32 * 2**20

LONGEST = 500
"""No more characters of a damaged file are quoted than this."""

_MISPLACED = {errno.EISDIR, errno.ELOOP, errno.ENOTDIR, errno.ENXIO}
_LINKLESS = {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK}
_FULL = {errno.ENOSPC, errno.EDQUOT}
KEY = re.compile(r"[0-9a-f]{64}")
BROUGHT = re.compile(r"manifest\.json|[0-9]{4,6}\.part")
"""Files of an unfinished run on its way; a store has none of them."""


def damaged(path: Path, mistake: str, expected: str, advice: str = "") -> StoreError:
    """An error about a file that is not what it should be, with what to do about it."""
    advice = advice or _advice(path)
    mistake, expected = printable(mistake[:LONGEST]), printable(expected[:LONGEST])
    return StoreError(f"{path}: {mistake}\n  expected: {expected}\n  to do: {advice}")


def _advice(path: Path) -> str:
    """What to do about a damaged file so that the store is of use again, at the least cost."""
    if BROUGHT.fullmatch(path.name):
        return f"bring {path.name} again, or export the run again"
    if path.name == MARKER:
        return f"remove {path} (it is then written again; no run is lost)"
    if path.name == PROVENANCE:
        return f"remove {path} (its run stays as it is; how it was made is then not known)"
    for folder in (path, *path.parents):
        if KEY.fullmatch(folder.name) and folder.parent.name == folder.name[:2]:
            return f"remove {folder} (its run is then trained again)"
    return f"remove {path}"


def out_of_reach(path: Path, error: OSError) -> StoreError:
    """What an operating system's refusal means for the store."""
    if isinstance(error, files.NotRegularError):
        return damaged(path, "is not a regular file", "a regular file")
    if isinstance(error, files.TooLargeError):
        return damaged(path, f"has {error.size:,} bytes", f"at most {error.limit:,}")
    reason = error.strerror or str(error)
    if error.errno in _MISPLACED:
        return damaged(path, f"cannot be used ({reason})", "a regular file in a plain folder")
    if error.errno == errno.ENOENT:
        return StoreUnreachableError(
            f"{path}: this part of the run store is no longer there: was a disk unmounted, or the "
            "folder moved?\n  to do: bring it back and give the same command again; finished runs "
            "are kept there"
        )
    if error.errno in _FULL:
        advice = (
            "free some space and give the same command again: what is finished is kept; or set "
            "REPRO_STORE to a folder on another disk"
        )
    else:
        advice = "make it readable and writable, or set REPRO_STORE to a folder that is"
    return StoreUnreachableError(f"{path}: the store is out of reach: {reason}\n  to do: {advice}")


@contextmanager
def reaching(path: Path) -> Iterator[None]:
    """Turn what the operating system refuses inside into what it means for the store."""
    try:
        yield
    except OSError as error:
        raise out_of_reach(path, error) from error


@contextmanager
def noting_damage(damages: list[str]) -> Iterator[None]:
    """Add what is damaged inside to a list, and go on; a store out of reach is an error."""
    try:
        yield
    except StoreUnreachableError:
        raise
    except StoreError as error:
        damages.append(str(error))


def make_folder(path: Path) -> None:
    """Create one folder unless it is there; a link in its place is refused."""
    with reaching(path), suppress(FileExistsError):
        path.mkdir()
        files.sync_folder(path.parent)
    if not is_folder(path):  # it was there, and is gone
        raise out_of_reach(path, FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))


def is_folder(path: Path) -> bool:
    """Whether a plain folder is there; False if nothing is, an error if something else is."""
    status = _status(path)
    if status is None:
        return False
    if not stat.S_ISDIR(status.st_mode):
        kind = "a symbolic link" if stat.S_ISLNK(status.st_mode) else "not a folder"
        raise damaged(path, f"is {kind}", "a plain folder", f"remove {path}")
    return True


def exists(path: Path) -> bool:
    """Whether anything of that name is there."""
    return _status(path) is not None


def _status(path: Path) -> os.stat_result | None:
    """What is there, no link followed; None if nothing is."""
    with reaching(path), suppress(FileNotFoundError):
        return path.lstat()
    return None


def write_atomically(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Give ``path`` the content ``data`` in one step; ``durable`` also survives a power cut."""
    with reaching(path):
        files.write_atomically(path, data, durable=durable)


def write_new(path: Path, data: bytes) -> None:
    """Give ``path`` the content ``data``, unless another process has made the file meanwhile."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    write_atomically(temporary, data)
    try:
        with reaching(path):
            _link(temporary, path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _link(source: Path, target: Path) -> None:
    """Name a file, unless something has that name; where there are no links, rename it."""
    try:
        os.link(source, target)
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in _LINKLESS:
            raise
        source.replace(target)
    files.sync_folder(target.parent)


def read_bytes(path: Path, limit: int = JSON_LIMIT) -> bytes | None:
    """The content of a regular file of at most ``limit`` bytes; None if there is no file."""
    with reaching(path), suppress(FileNotFoundError):
        return files.read_bytes(path, limit, follow=False)
    return None


def digest_of(path: Path) -> str | None:
    """The SHA-256 of a regular file, however large; None if there is no file."""
    with reaching(path), suppress(FileNotFoundError), files.opened(path, follow=False) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
    return None


def size_of(path: Path) -> int | None:
    """The bytes of a regular file, unread; None if there is no file."""
    status = _status(path)
    if status is None:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise out_of_reach(path, files.NotRegularError(path))
    return status.st_size


def open_or_make(path: Path, flags: int = 0) -> int:
    """A handle on a regular file, which is made if it is missing; no link is followed."""
    flags |= os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with reaching(path):
        handle = os.open(path, flags, 0o666)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise out_of_reach(path, files.NotRegularError(path))
    return handle


def parse_json(path: Path, data: bytes) -> Any:
    """The document in ``data``, of which nothing is NaN, infinite, or nested without end."""
    try:
        document = json.loads(data, parse_constant=_refuse_constant)
        canonical_json(document)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise damaged(path, f"cannot be read: {reason}", "a JSON document") from error
    return document


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is not a number"
    raise ValueError(message)


def seal(document: dict[str, Any]) -> bytes:
    """The document as text, with the digest of the rest of it."""
    sealed = {**document, SEAL: digest(document)}
    return (json.dumps(sealed, indent=1, sort_keys=True, allow_nan=False) + "\n").encode("ascii")


def read_sealed(path: Path, advice: str = "") -> dict[str, Any] | None:
    """A sealed document without its seal, compared with it; None if there is no file."""
    data = read_bytes(path)
    if data is None:
        return None
    return unsealed(path, parse_json(path, data), advice)


def unsealed(path: Path, document: Any, advice: str = "") -> dict[str, Any]:
    """A document as it was before ``seal``; StoreError unless its digest is what it says."""
    if not isinstance(document, dict):
        raise damaged(path, f"holds a JSON {type(document).__name__}", "a JSON object", advice)
    rest = {name: value for name, value in document.items() if name != SEAL}
    found = digest(rest)
    if document.get(SEAL) != found:
        stated = f"{document.get(SEAL)}, as it says itself"
        raise damaged(path, f"has the digest {found}", stated, advice)
    return rest


def refuse_newer(path: Path, schema: object) -> None:
    """StoreUnreachableError for a file that a newer version of repro has written."""
    if type(schema) is int and schema > SCHEMA:
        raise StoreUnreachableError(
            f"{path}: has schema {schema}, and this version of repro reads {SCHEMA}\n"
            "  to do: use a newer repro, or set REPRO_STORE to another folder"
        )
