"""Files: where those that come with repro are, guarded reads, and writes that are whole or absent.

Templates and claims lie next to the package in a checkout, and inside it, below `_data`, in an
installed wheel. What reads and writes raises OSError; the caller knows what the file is, and says
what to do.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path

from repro.errors import DataError, Place, Problem, ShapeError

PACKAGE = Path(__file__).resolve().parent


def folder(name: str, package: Path = PACKAGE) -> Path:
    """The folder ``name`` that came with this installation; DataError when there is none."""
    inside, beside = package / "_data" / name, package.parent / name
    if inside.is_dir():
        return inside
    if (package.parent / "pyproject.toml").is_file() and beside.is_dir():
        return beside
    raise DataError(
        f"the folder {name!r} did not come with this installation of repro\n"
        f"  looked for: {inside} and {beside}\n"
        "  to do: install repro-verdict again"
    )


def templates() -> Path:
    return folder("templates")


def template(name: str) -> str:
    return (templates() / name).read_text(encoding="utf-8")


def claims() -> Path:
    """The claim files that come with repro, and `configurations/` among them."""
    return folder("claims")


class NotRegularError(OSError):
    """A folder, a pipe or a device in the place of a file."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EINVAL, "not a regular file", str(path))


UNSIZED = 2**26
"""Bytes of the largest file that is read of those that do not say their size."""


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
        # Files of /proc have no size; what is asked for of an empty one is allocated first.
        content = stream.read(None if size else min(limit, UNSIZED) + 1)
        if len(content) > (limit if size else min(limit, UNSIZED)):
            raise TooLargeError(path, len(content), limit)
        return content


def mismatch(path: Path, expected: str) -> str:
    """Why a file is not there, or not of this SHA-256, and what to do; empty if it is."""
    try:
        with opened(path) as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except NotRegularError:
        return f"{path} is not a regular file; put the corpus there"
    except OSError as error:
        reason = error.strerror or error
        return f"{path} cannot be read ({reason}); put it there, or set REPRO_DATA to its folder"
    if found != expected:
        return (
            f"{path} is another file: its SHA-256 begins with {found[:12]}, that of the corpus "
            f"with {expected[:12]}; restore the original"
        )
    return ""


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


STALE_SECONDS = 60.0
"""Younger files are left alone: one is made a moment before it is locked."""


def sweep(folder: Path, pattern: str) -> None:
    """Remove what writes of processes that were killed have left in a folder.

    A write owns its temporary file by a lock, which the kernel takes back when its process ends.
    """
    for path in folder.glob(pattern):
        with suppress(OSError):
            if time.time() - path.lstat().st_mtime < STALE_SECONDS:
                continue
            handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                if try_lock(handle):
                    path.unlink(missing_ok=True)
            finally:
                os.close(handle)


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


def remove(path: Path) -> None:
    """Remove whatever is there, folders without permissions too; no link is followed."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    with suppress(OSError, RecursionError):
        shutil.rmtree(path)
        return
    # each folder is moved to the top first, so that no path is long
    path.chmod(0o700)
    ahead = [path]
    while ahead:
        folder = ahead.pop()
        for entry in list(os.scandir(folder)):
            if entry.is_dir(follow_symlinks=False):
                Path(entry.path).chmod(0o700)
                ahead.append(Path(entry.path).rename(path / secrets.token_hex(16)))
            else:
                Path(entry.path).unlink()
        if folder is not path:
            folder.rmdir()
    path.rmdir()


def try_lock(handle: int) -> bool:
    """Lock an open file or folder until it is closed; False where it is held, or cannot be."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


MAX_BYTES = 1_000_000


def read_text(path: Path, expected: str = "a YAML file", limit: int = MAX_BYTES) -> str:
    """The text of a regular file; pipes and devices are refused before anything is read.

    ``expected`` says what the file should be; ``limit`` is in bytes.
    """
    place = Place(str(path))
    try:
        raw = read_bytes(path, limit)
    except NotRegularError:
        raise fatal(place, "not a regular file", expected, "give the path of a file") from None
    except TooLargeError:
        most = f"at most {limit:,} bytes"
        raise fatal(place, "the file is too large", most, "make several files of it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        mistake = f"cannot be read: {reason.lower()}"
        raise fatal(place, mistake, "a readable file", "check the path") from None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        good = raw[: error.start].decode("utf-8")
        place = place_of_offset(good, len(good), str(path))
        mistake = f"byte 0x{raw[error.start]:02X} is not UTF-8"
        raise fatal(place, mistake, "UTF-8 text", "save the file as UTF-8") from None


def is_folder(path: Path) -> bool:
    """Whether a path leads to a folder; what leads nowhere does not, and reading says why."""
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a name that is too long, or has a NUL
        return False


def is_file(path: Path) -> bool:
    """Whether a path leads to a regular file that can be reached."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def resolved(path: Path) -> Path:
    """The file behind links, or the path itself where it cannot be followed; reading says why."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # RuntimeError: links in a loop, up to Python 3.12
        return path


def leads_out(file: Path, folder: Path) -> bool:
    """Whether a file in a folder is a link out of it, which must not be read or quoted."""
    real = resolved(file)
    return real != file and not real.is_relative_to(resolved(folder))


def place_of_offset(text: str, offset: int, file: str) -> Place:
    before = text[:offset]
    return Place(file, before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)


def fatal(place: Place, mistake: str, expected: str, advice: str) -> ShapeError:
    """The error of a mistake after which there is nothing to go on with."""
    return ShapeError([Problem(place, mistake, expected, advice)])
