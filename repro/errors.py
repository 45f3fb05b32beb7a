"""Everything `repro` raises on purpose, a defect of its own told in one line, and safe text.

Each error carries what it is about as data; the command line decides how to print it. What a
claim, a table or a file name holds can forge no line of what is printed.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where in a text file: lines and columns count from 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{printable(self.file)}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake in a document: where, what, what was expected, what to do."""

    place: Place
    what: str
    expected: str = ""
    advice: str = ""

    def __str__(self) -> str:
        lines = [f"{self.place}: {printable(self.what)}"]
        if self.expected:
            lines.append(f"  expected: {printable(self.expected)}")
        if self.advice:
            lines.append(f"  to do: {printable(self.advice)}")
        return "\n".join(lines)


_AT = re.compile(r"(?P<file>[^\n]+?):(?P<line>\d+):(?P<column>\d+): ")
_EXPECTED, _ADVICE = "  expected: ", "  to do: "


def read_problems(message: str) -> tuple[Problem, ...]:
    """The mistakes in a message: what is wrong, and below it what was expected and what to do.

    A place is that at the start of a line, as `claim.yaml:3:1: `; without one the file is empty.
    """
    found: list[Problem] = []
    for line in filter(str.strip, message.split("\n")):
        if found and line.startswith(_EXPECTED):
            found[-1] = replace(found[-1], expected=line.removeprefix(_EXPECTED))
        elif found and line.startswith(_ADVICE):
            found[-1] = replace(found[-1], advice=line.removeprefix(_ADVICE))
        elif at := _AT.match(line):
            place = Place(at["file"], int(at["line"]), int(at["column"]))
            found.append(Problem(place, line[at.end() :]))
        else:
            found.append(Problem(Place(""), line.strip()))
    return tuple(found)


class ReproError(Exception):
    """The root of the tree; ``exit_code`` is the status the command line ends with."""

    exit_code = 2

    @property
    def mistakes(self) -> tuple[Problem, ...]:
        """Every mistake that it tells, in reading order."""
        return read_problems(str(self))


class SpecError(ReproError):
    """A document has mistakes; ``problems`` holds every one found, in reading order."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @property
    def mistakes(self) -> tuple[Problem, ...]:
        return self.problems


class ShapeError(SpecError):
    """A document has the wrong shape, such as an unknown key; its rules were not checked."""


class RuleError(SpecError):
    """A document has the right shape and breaks a rule, such as a name that leads nowhere."""


class ClaimError(ReproError):
    """A well-formed request that means nothing, such as a test of means that do not vary.

    ``cause`` is what is wrong, ``advice`` what to do about it, the end of the message; empty where
    that says nothing.
    """

    def __init__(self, message: str, advice: str = "") -> None:
        self.cause, self.advice = message, advice
        super().__init__(f"{message}; {advice}" if advice else message)


class TooFewError(ClaimError):
    """A request that more data would meet: a t-test on one seed, a pair without its partner."""


class CodeError(ReproError):
    """Code from outside repro would run without consent: ``found`` says where each is named.

    ``outside`` are files of it that lie in none of the folders that are trusted.
    """

    RIGHTS = "code from outside repro, yours or another's, which runs with your rights"
    CONSENT = "read it, and if you trust it, give --allow-code (Python: allow_code=True)"

    def __init__(self, found: Mapping[str, str], outside: Mapping[str, str] | None = None) -> None:
        self.found, self.outside = found, outside or {}
        *names, last = map(self._named, found)
        both = f"{', '.join(names)} and {last} are" if names else f"{last} is"
        place = next(iter(found.values()))
        super().__init__(f"{place}{': ' if place else ''}{both} {self.RIGHTS}: {self.CONSENT}")

    def _named(self, name: str) -> str:
        file = self.outside.get(name)
        why = f"{printable(file or '')} lies outside the folders of REPRO_ALLOW_CODE_IN"
        return f"{name} ({why})" if file else name

    @property
    def mistakes(self) -> tuple[Problem, ...]:
        """One for each: the sentence of the message in parts."""
        return tuple(
            replace(
                read_problems(f"{place}: {name} is {self.RIGHTS}" if place else name)[0],
                what=f"{self._named(name)} is {self.RIGHTS}",
                expected="your consent",
                advice=self.CONSENT,
            )
            for name, place in self.found.items()
        )


class DesignError(ReproError):
    """Designs that cannot decide, or hardly ever would; each is a sentence."""

    def __init__(self, refused: list[str]) -> None:
        super().__init__(
            "\n".join(refused) + "\n  expected: a design that decides in at least one case in ten\n"
            "  to do: plan more seeds or a wider margin, or force it: --force, or `forced: {why}` "
            "in the scale; the report then says so"
        )


class StoreError(ReproError):
    """The run store cannot be used; a damaged artefact is evidence that cannot be trusted."""

    exit_code = 4


class StoreUnreachableError(StoreError):
    """The place of the store cannot be read or written."""

    exit_code = 5


class DataError(ReproError):
    """A corpus or a user's own component is missing, or is not what a run needs."""

    exit_code = 5


class CorpusError(DataError):
    """A corpus cannot be loaded: whatever is wrong, it concerns every run of this corpus."""


class ProgramError(ReproError):
    """A run of a program failed; it can be tried again."""


class ReadingError(DataError):
    """A program has finished, and what is asked of it cannot be read in what it left."""


class NotKeptError(ReadingError):
    """A file that a program left is asked for, and its content was not kept."""


class OwnPartError(DataError):
    """A user's own layer or trunk is wrong; ``found`` says how, by configuration or by arms."""

    exit_code = 2

    def __init__(self, found: Mapping[str, str]) -> None:
        self.found = found
        super().__init__("\n\n".join(dict.fromkeys(found.values())))


class MatrixError(DataError):
    """There is no such matrix, or its rank would mean nothing."""

    exit_code = 2


class EmbeddingsError(DataError):
    """Embeddings of words, or a benchmark for them, cannot be read, or would mean nothing."""

    exit_code = 2


class PreflightError(ReproError):
    """What training needs is not there: a corpus, a device, memory, room. Each is a line."""

    exit_code = 5

    def __init__(self, lacks: Sequence[str]) -> None:
        self.lacks = tuple(lacks)
        super().__init__("\n".join(lacks))


class RunError(ReproError):
    """Runs without which a search cannot choose were not finished; each is a sentence."""

    exit_code = 5

    def __init__(self, failed: list[str]) -> None:
        super().__init__(
            "\n".join(failed) + "\n  expected: every declared run, before anything is chosen\n"
            "  to do: correct what failed, and give the same command to go on"
        )


class OutputError(ReproError):
    """Reports or a summary cannot be written where they were asked for."""

    exit_code = 5

    def __init__(self, path: object, error: OSError) -> None:
        super().__init__(
            f"{path}: {error.strerror or error}\n"
            "  expected: a place that can be written\n"
            "  to do: give another one; finished runs are kept"
        )


class EngineError(ReproError):
    """Tasks cannot be given out: no scheduler, or a worker with another version of something."""

    exit_code = 5


class DeviceError(ReproError):
    """The device that was asked for is not there."""

    exit_code = 5


STATUS = 70
"""The exit status of a crash: `EX_SOFTWARE` of sysexits.h."""

FLIPPED = 6
"""The exit status where a verdict has another word than the last time, and not the expected one."""

GRAVEST = (STATUS, 5, 4, 2, FLIPPED, 1, 3)
"""Statuses of which the first that is there is that of the command."""

LONGEST = 300
_HERE = Path(__file__).parent

_SPACES = "\u00a0\u2007\u202f"
"""Blanks that do not break, which numbers in text may have; they forge nothing."""

_COMMAND = re.compile(r"^[^\S\n]*(?=::)|(?<=#)(?=#\[)", re.MULTILINE)
"""The start of a command to GitHub's runner: `::error::` after blanks, or `##[` anywhere."""


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


@contextmanager
def about(file: object) -> Iterator[None]:
    """Note on any exception but our own which file it was raised for; ``stopped_by`` names it."""
    try:
        yield
    except ReproError:
        raise
    except Exception as error:
        error.add_note(str(file))
        raise


def stopped_by(error: Exception, subject: str = "") -> Stopped:
    """What became of ``subject``: a message and a status for any exception.

    Without a ``subject`` it is the file that the exception is ``about``.
    """
    subject = subject or next(reversed(getattr(error, "__notes__", ())), "")
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
    """The innermost line of this package that was reached, as `repro/store/run_store.py:195`."""
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if (path := Path(frame.filename)).is_relative_to(_HERE):
            return f"{path.relative_to(_HERE.parent).as_posix()}:{frame.lineno}"
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"


def printable(text: str) -> str:
    """The text on one line, every character that is not to be seen as its escape."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each in _SPACES else ascii(each)[1:-1] for each in text
    )


def printable_lines(text: str) -> str:
    """Every line of the text, ``printable``, and none of them a workflow command."""
    lines = "\n".join(printable(line) for line in text.split("\n"))
    return _COMMAND.sub(lambda match: f"{match[0]}\\", lines)
