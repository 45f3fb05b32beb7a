"""Files that a stranger may have made: read in a process of its own, whose limits end it alone.

The process is `inside/program.py`. It is told the contents, gives up every other file where the
system can hold it to that, and answers in JSON.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Self

from repro.errors import DataError
from repro.files import PACKAGE
from repro.results.importer import FilesRead

BEGIN: Final = (
    "import sys; sys.path += sys.argv[2:]; "
    "from repro.results.inside.program import main; main(sys.argv[1])"
)
SECONDS: Final = 10
"""Of computing for a file, and one more for every so many bytes of it:"""

BYTES_A_SECOND: Final = 2_000_000

TO_DO: Final = "export the runs that the claim names as CSV, and import that"


class Reader:
    """Reads files of a tracker, one after the other; a context, at whose end its process ends.

    The process begins with the first file, and again after one that ended it.
    """

    def __init__(self, tracker: str) -> None:
        self._tracker = tracker
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._ended(self._process)
        if self._folder is not None:
            self._folder.cleanup()

    def read(self, kind: str, path: Path, parts: Mapping[str, bytes]) -> Any:
        """What a file holds, by the reader of its ``kind``.

        ``parts`` are its content and those of the files beside it, by their endings. DataError
        where it is not read: it says which limit was met, or what is wrong with the file.
        """
        process = self._process = self._process or self._begun()
        seconds = SECONDS + sum(map(len, parts.values())) // BYTES_A_SECOND
        answer = _exchange(process, kind, parts, seconds)
        if answer is None:
            self._process = None
            raise self._refused(path, _why(self._ended(process), seconds), "", "")
        if "refused" in answer:
            raise self._refused(path, *answer["refused"])
        return answer["found"]

    def _begun(self) -> subprocess.Popen[bytes]:
        self._folder = self._folder or TemporaryDirectory(prefix="repro-")
        folder = os.path.realpath(self._folder.name)
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", BEGIN, folder, str(PACKAGE.parent), *_packages()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**os.environ, "SQLITE_TMPDIR": folder},
            start_new_session=True,
        )

    def _ended(self, process: subprocess.Popen[bytes]) -> int:
        """The status of a process that takes no more."""
        for stream in filter(None, (process.stdin, process.stdout)):
            with suppress(OSError):  # bytes that it has not read
                stream.close()
        return process.wait()

    def _refused(self, path: Path, mistake: str, expected: str, advice: str) -> DataError:
        expected = expected or f"a file as {self._tracker} writes it"
        return DataError(f"{path}: {mistake}\n  expected: {expected}\n  to do: {advice or TO_DO}")


def _exchange(
    process: subprocess.Popen[bytes], kind: str, parts: Mapping[str, bytes], seconds: int
) -> dict[str, Any] | None:
    """The answer to a request; None of a process that has ended."""
    sizes = {ending: len(content) for ending, content in parts.items()}
    request = {"kind": kind, "seconds": seconds, "parts": sizes}
    if process.stdin is None or process.stdout is None:
        return None
    try:
        process.stdin.write(json.dumps(request).encode("ascii") + b"\n")
        for content in parts.values():
            process.stdin.write(content)
        process.stdin.flush()
        answer: dict[str, Any] = json.loads(process.stdout.readline())
    except (OSError, ValueError, RecursionError):
        return None
    return answer


def _why(status: int, seconds: int) -> str:
    """Why a file has no answer, by the status of the process."""
    if status == -signal.SIGXCPU:
        return f"takes more than {seconds} seconds of computing to read"
    how = signal.Signals(-status).name if status < 0 else f"status {status}"
    return f"ended the process that read it, by {how}"


def _packages() -> list[str]:
    """The folder that has Zstandard, which Python has itself from 3.14 on."""
    if sys.version_info >= (3, 14) or (found := importlib.util.find_spec("backports")) is None:
        return []
    return [str(Path(each).parent) for each in found.submodule_search_locations or ()]


# sqlite files, with their logs: taken as they were at one time


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
