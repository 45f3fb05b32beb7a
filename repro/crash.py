"""A defect of this program, told without a traceback: what was raised, where, and one line."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from repro.errors import ReproError
from repro.terminal import printable

STATUS = 70
"""The exit status of a crash: `EX_SOFTWARE` of sysexits.h."""


GRAVEST = (STATUS, 5, 4, 2, 1, 3)
"""Statuses of which the first that is there is that of the command."""


LONGEST = 300


_HERE = Path(__file__).parent


def gravest(codes: Iterable[int]) -> int:
    """The status of a command, of which these are the statuses of its parts; 0 for none."""
    found = set(codes)
    return next((code for code in GRAVEST if code in found), 0)


@dataclass(frozen=True, slots=True)
class Stopped:
    """Something that an error stopped: what, why in one line, and the exit status.

    ``trace`` is the traceback of a crash, and empty where the user can do something about it.
    """

    subject: str
    why: str
    status: int
    trace: str = ""


def stopped_by(error: Exception, subject: str = "") -> Stopped:
    """What became of ``subject``: a message and a status for any exception."""
    if isinstance(error, ReproError):
        return Stopped(subject, str(error), error.exit_code)
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return Stopped(subject, printable(f"{place}{error.strerror or error}"), 5)
    if isinstance(error, MemoryError):
        return Stopped(subject, "there is not enough memory", 5)
    said = " ".join(str(error).split())
    said = said if len(said) <= LONGEST else f"{said[:LONGEST]}..."
    why = f"repro itself failed: {type(error).__name__} in {_place(error)}: {said}"
    return Stopped(subject, printable(why), STATUS, "".join(traceback.format_exception(error)))


@contextmanager
def apart(
    subject: str, found: list[Stopped], passing: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Keep an exception to what is done within: it is added to ``found``.

    Those that are ``passing`` are raised, and so is an interruption.
    """
    try:
        yield
    except passing:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the others are to be judged
        found.append(stopped_by(error, subject))


def _place(error: Exception) -> str:
    """The innermost line of this package that was reached, as `repro/store/runs.py:195`."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(_HERE)]
    for frame in reversed(own):
        return f"{Path(frame.filename).relative_to(_HERE.parent).as_posix()}:{frame.lineno}"
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"
