"""Files -> text: regular files of a sensible size, in UTF-8."""

from __future__ import annotations

from pathlib import Path

from repro.errors import Place, Problem, ShapeError
from repro.files import NotRegularError, TooLargeError, read_bytes

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
        what = f"cannot be read: {reason.lower()}"
        raise fatal(place, what, "a readable file", "check the path") from None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        good = raw[: error.start].decode("utf-8")
        place = place_of_offset(good, len(good), str(path))
        what = f"byte 0x{raw[error.start]:02X} is not UTF-8"
        raise fatal(place, what, "UTF-8 text", "save the file as UTF-8") from None


def is_folder(path: Path) -> bool:
    """Whether a path leads to a folder; what leads nowhere does not, and reading says why."""
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a name that is too long, or has a NUL
        return False


def resolved(path: Path) -> Path:
    """The file behind links, or the path itself where it cannot be followed; reading says why."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # RuntimeError: links in a loop, up to Python 3.12
        return path


def place_of_offset(text: str, offset: int, file: str) -> Place:
    """The place of a character."""
    before = text[:offset]
    return Place(file, before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)


def fatal(place: Place, what: str, expected: str, advice: str) -> ShapeError:
    """The error of a mistake after which there is nothing to go on with."""
    return ShapeError([Problem(place, what, expected, advice)])
