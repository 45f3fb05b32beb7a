"""Guarded files: only regular files of a sane size are read, and a write is whole or absent.

A write goes to a temporary sibling, is flushed to the disk, and takes its name in one step, so a
crash leaves the old file or the new one. All of these raise OSError; the caller knows what the
file is, and says what to do.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path


class NotRegularError(OSError):
    """A folder, a pipe or a device in the place of a file."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EINVAL, "not a regular file", str(path))


class TooLargeError(OSError):
    """A file of ``size`` bytes or more, where its reader takes ``limit``."""

    def __init__(self, path: Path, size: int, limit: int) -> None:
        self.size, self.limit = size, limit
        super().__init__(errno.EFBIG, "the file is too large", str(path))


@contextmanager
def opened(path: Path, *, follow: bool = True) -> Iterator[BufferedReader]:
    """A regular file, open for reading: neither a pipe nor a device is waited for.

    ``follow`` False refuses a symbolic link.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotRegularError(path)
        with os.fdopen(handle, "rb", closefd=False) as stream:
            yield stream
    finally:
        os.close(handle)


def read_bytes(path: Path, limit: int, *, follow: bool = True) -> bytes:
    """The content of a regular file of at most ``limit`` bytes."""
    with opened(path, follow=follow) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > limit:
            raise TooLargeError(path, size, limit)
        content = stream.read(None if size else limit + 1)  # files of /proc have no size
        if len(content) > limit:
            raise TooLargeError(path, len(content), limit)
        return content


def write_atomically(
    path: Path, content: bytes, *, durable: bool = True, ending: str = ".tmp"
) -> None:
    """Give ``path`` the content in one step; ``durable`` also survives a power cut.

    The temporary sibling ends in ``ending`` and is locked until it has its name, so that one that
    a kill has left can be told from one that is being written.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}{ending}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(temporary, flags, 0o666), "wb") as stream:
            try_lock(stream.fileno())
            stream.write(content)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
            temporary.replace(path)
        if durable:
            sync_folder(path.parent)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def sync_folder(path: Path) -> None:
    """Flush the names in a folder to the disk, where its file system can."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(handle)


def try_lock(handle: int) -> bool:
    """Lock an open file or folder until it is closed; False where it is held, or cannot be."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
