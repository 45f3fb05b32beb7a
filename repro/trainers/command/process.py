"""A program that is run to its end, with all that it started: its status, its time, its output.

It has a session of its own, and a mark in its environment by which what it left behind, in other
sessions too, is found and killed (on Linux). Nothing of an earlier attempt lives beside a new one.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

MARK: Final = "REPRO_RUN"
"""The variable that a program and all that it starts have: the key of their run."""

HEAD_BYTES: Final = 64_000
TAIL_BYTES: Final = 256_000
"""What is kept of an output: so much of its beginning, and of its end."""

LONGEST_LINE: Final = 100_000
GRACE_S: Final = 10.0
"""Seconds from the request to end to the kill."""

PR_SET_PDEATHSIG: Final = 1


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: ``status`` as subprocess gives it, or ``timed_out``; what it printed."""

    status: int
    timed_out: bool
    seconds: float
    output: bytes

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
    heard: Callable[[str], None],
) -> Ended:
    """Run a program in ``folder``; ``heard`` is told each line of its output and errors.

    OSError where it cannot be started.
    """
    kill_marked(mark)
    began = time.monotonic()
    process = subprocess.Popen(
        line,
        cwd=folder,
        env={**environment, MARK: mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509
    )
    output = _Output(heard)
    reader = threading.Thread(target=output.read, args=(process.stdout,), daemon=True)
    reader.start()
    timed_out = False
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        timed_out = True
        _end(process)
    finally:
        _kill_group(process.pid)
        kill_marked(mark)
        process.wait()
    reader.join(GRACE_S)
    return Ended(process.returncode, timed_out, time.monotonic() - began, output.kept())


def _die_with_parent() -> None:
    """A worker that is killed takes its program with it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask a program to end, and wait a little."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_S)


def _kill_group(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


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
            if int(folder.name) == os.getpid() or mark not in _variables(folder):
                continue
            if b") Z" not in (folder / "stat").read_bytes():
                yield int(folder.name)


def _variables(folder: Path) -> list[bytes]:
    return (folder / "environ").read_bytes().split(b"\0")


class _Output:
    """The beginning and the end of what a program prints; each line is told on."""

    def __init__(self, heard: Callable[[str], None]) -> None:
        self._heard = heard
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._in_tail = 0
        self._left_out = 0

    def read(self, stream: IO[bytes] | None) -> None:
        """Read to the end; what holds the pipe open after the program is dead is not waited for."""
        if stream is None:
            return
        with stream, suppress(ValueError, OSError):
            while line := stream.readline(LONGEST_LINE):
                self._heard(line.decode("utf-8", "replace").rstrip("\n"))
                self._keep(line)

    def _keep(self, line: bytes) -> None:
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
