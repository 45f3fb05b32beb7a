"""A program that is run to its end, with all that it started: its status, its time, its output.

A guard (`guard.py`) starts it in a session of its own, and kills what is left of it when it ends,
and when this process does, however that is. By a mark in its environment what an earlier attempt
has left all the same is found and killed before a new one (on Linux).
"""

from __future__ import annotations

import io
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Final

from repro.errors import ProgramError, ReproError

MARK: Final = "REPRO_RUN"
"""The variable that a program and all that it starts have: which run of which store they are."""

GUARD: Final = Path(__file__).with_name("guard.py")

HEAD_BYTES: Final = 64_000
TAIL_BYTES: Final = 256_000
"""What is kept of an output: so much of its beginning, and of its end."""

WHOLE_BYTES: Final = 16_000_000
"""So long an output is kept whole."""

LONGEST_LINE: Final = 100_000
GRACE_S: Final = 10.0
"""Seconds from the request to end to the kill."""

AWAKE_S: Final = 1.0
"""So often the guard is told to go on, should its program have stopped it."""

LATE_S: Final = 3 * GRACE_S
"""How long after the limit of its program a guard is believed to be at work on its end."""


class NotStartedError(ReproError):
    """A program that the system does not start; ``number`` is its errno, if it said one."""

    def __init__(self, number: int | None, why: str) -> None:
        self.number = number
        super().__init__(why)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: ``status`` as subprocess gives it, or ``timed_out``; what it printed.

    ``output`` is shortened, ``whole`` is not; None where it is too long to be kept.
    """

    status: int
    timed_out: bool
    seconds: float
    output: bytes
    whole: bytes | None = None

    @property
    def words(self) -> str:
        """What became of it, as the end of a sentence."""
        if self.timed_out:
            return f"was not done after {self.seconds / 60:.3g} minutes, and was killed"
        if self.status < 0:
            with suppress(ValueError):
                return f"was killed by {signal.Signals(-self.status).name}"
        return f"ended with status {self.status}"


def run(
    line: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    mark: str,
    seconds: float | None,
    on_line: Callable[[str], None],
    locks: Sequence[int] = (),
) -> Ended:
    """Run a program in ``folder``; ``on_line`` is told each line of its output and errors.

    The open ``locks`` are held until nothing of it is left, whatever becomes of this process.
    NotStartedError where it cannot be started.
    """
    kill_marked(mark)
    job = {
        "line": list(line),
        "folder": str(folder),
        "environment": {**environment, MARK: mark},
        "seconds": seconds,
        "grace": GRACE_S,
    }
    began = time.monotonic()
    answers, answer = os.pipe()
    with os.fdopen(answers, "rb") as told:
        guard = _guard(answer, locks)
        output = _Output(on_line)
        reader = threading.Thread(target=output.read, args=(guard.stdout,), daemon=True)
        reader.start()
        late = not _done(guard, job, seconds)
        found = told.read()
    if not found:  # the guard itself was killed
        kill_marked(mark)
    reader.join(GRACE_S)
    ended = _ended(found, guard.returncode, time.monotonic() - began, output.kept())
    ended = replace(ended, whole=output.whole())
    ended_here = not found or ended.status == -signal.SIGKILL
    return replace(ended, timed_out=True) if late and ended_here else ended


def _guard(answer: int, locks: Sequence[int]) -> subprocess.Popen[bytes]:
    """The process that guards a program, and has the end ``answer`` of a pipe for its own."""
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(GUARD), str(answer)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(answer, *locks),
        )
    finally:
        os.close(answer)


def _done(guard: subprocess.Popen[bytes], job: Mapping[str, object], seconds: float | None) -> bool:
    """Whether the guard has ended by itself; it is over in any case."""
    try:
        _give(guard, job)
        _await(guard, math.inf if seconds is None else seconds + LATE_S)
    except subprocess.TimeoutExpired:  # the program has stopped it
        return False
    finally:
        _end(guard)
    return True


def _give(guard: subprocess.Popen[bytes], job: Mapping[str, object]) -> None:
    """Hand the job on; its input stays open for as long as this process lives."""
    with suppress(BrokenPipeError):
        if guard.stdin is not None:
            guard.stdin.write(json.dumps(job).encode("ascii") + b"\n")
            guard.stdin.flush()


def _await(guard: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait for the guard, which goes on if its program has stopped it; TimeoutExpired."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(subprocess.TimeoutExpired):
            guard.wait(min(AWAKE_S, max(0.0, end - time.monotonic())))
            return
        guard.send_signal(signal.SIGCONT)
    raise subprocess.TimeoutExpired(guard.args, seconds)


def _end(guard: subprocess.Popen[bytes]) -> None:
    """Close the input of the guard, upon which it ends with all that is below it."""
    with suppress(BrokenPipeError):
        if guard.stdin is not None:
            guard.stdin.close()
    try:
        guard.wait(2 * GRACE_S)
    except subprocess.TimeoutExpired:
        guard.kill()
        guard.wait()


def _ended(answer: bytes, status: int, seconds: float, output: bytes) -> Ended:
    """What the guard says of a program; NotStartedError where there is none."""
    said: dict[str, Any] = {"status": status, "timed_out": False}
    try:
        said = json.loads(answer) if answer else said
    except ValueError:
        raise ProgramError("what guards the program does not say how it ended") from None
    if "why" in said:
        raise NotStartedError(said["errno"], said["why"])
    return Ended(said["status"], said["timed_out"], seconds, output)


def kill_marked(mark: str) -> None:
    """Kill every process of this user with the mark of a run, until none is left."""
    for _ in range(100):
        found = list(_marked(f"{MARK}={mark}".encode()))
        if not found:
            return
        for number in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
        time.sleep(0.02)


def _marked(mark: bytes) -> Iterator[int]:
    """The processes that have the mark in their environment, but for the dead and this one."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int(folder.name) == os.getpid() or mark not in (
                folder / "environ"
            ).read_bytes().split(b"\0"):
                continue
            if b") Z" not in (folder / "stat").read_bytes():
                yield int(folder.name)


def shortened(output: bytes) -> bytes:
    """The beginning and the end of an output, as they are stored with a run."""
    kept = _Output(lambda _: None)
    kept.read(io.BytesIO(output))
    return kept.kept()


class _Output:
    """The beginning and the end of what a program prints; each line is told on."""

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._on_line = on_line
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._in_tail = 0
        self._left_out = 0
        self._whole: bytearray | None = bytearray()

    def read(self, stream: IO[bytes] | None) -> None:
        """Read to the end; what holds the pipe open after the program is dead is not waited for."""
        if stream is None:
            return
        with stream, suppress(ValueError, OSError):
            while line := stream.readline(LONGEST_LINE):
                self._on_line(line.decode("utf-8", "replace").rstrip("\n"))
                self._keep(line)

    def whole(self) -> bytes | None:
        """All of it; None where that is too long."""
        return None if self._whole is None else bytes(self._whole)

    def _keep(self, line: bytes) -> None:
        if self._whole is not None:
            self._whole += line
            self._whole = self._whole if len(self._whole) <= WHOLE_BYTES else None
        if not self._tail and len(self._head) + len(line) <= HEAD_BYTES:
            self._head += line
            return
        self._tail.append(line)
        self._in_tail += len(line)
        while self._in_tail > TAIL_BYTES and len(self._tail) > 1:
            gone = len(self._tail.popleft())
            self._in_tail, self._left_out = self._in_tail - gone, self._left_out + gone

    def kept(self) -> bytes:
        """What is stored, and how much was left out of its middle."""
        gap = f"[{self._left_out:,} bytes left out]\n".encode() if self._left_out else b""
        return bytes(self._head) + gap + b"".join(self._tail)
