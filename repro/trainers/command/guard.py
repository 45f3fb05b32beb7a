"""The process between a worker and its program: whatever becomes of the worker, nothing is left.

A program of its own, on the standard library alone: `python -I -S guard.py ANSWER`. The first line
of its input is the job, in JSON; the end of its input says that the worker is gone. On Linux it
adopts all that the program leaves behind, so that a process which has left the program's group and
environment is found too. How the program ended it writes to the file number ANSWER, in JSON.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

PR_SET_PDEATHSIG: Final = 1
PR_SET_CHILD_SUBREAPER: Final = 36
KILLING_S: Final = 10.0
"""How long what is left is killed over and over, before it is given up."""

HASTE_S: Final = 1.0
LOOK_S: Final = 0.02
"""For so long without a pause: a process that forks and ends in turn is faster than any pause."""


def main(answer: int) -> None:
    """Run the program of a job to its end, kill what it has left, and say how it ended."""
    job = json.loads(sys.stdin.buffer.readline())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # the worker decides; a program has the default
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    if libc is not None:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGCONT), 0, 0, 0)  # stopped, it ends nothing

    def die_with_guard() -> None:
        if libc is not None:
            libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)

    try:
        program = subprocess.Popen(
            job["line"],
            cwd=job["folder"],
            env=job["environment"],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=die_with_guard,  # noqa: PLW1509 - there is one thread as yet
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        _tell(answer, {"errno": getattr(error, "errno", None), "why": why})
        return
    threading.Thread(target=_end_with_worker, args=(program.pid,), daemon=True).start()
    limit = _Limit(program.pid, job["seconds"], job["grace"])
    status = _status_of(program.pid)
    limit.over()
    end_all(program.pid)
    _bury()
    _tell(answer, {"status": status, "timed_out": limit.reached})


class _Limit:
    """The time that a program has; then it is asked to end, and a little later killed."""

    def __init__(self, program: int, seconds: float | None, grace: float) -> None:
        self.reached = False
        self._program, self._seconds, self._grace = program, seconds, grace
        self._ended = threading.Event()
        if seconds is not None:
            threading.Thread(target=self._watch, daemon=True).start()

    def over(self) -> None:
        self._ended.set()

    def _watch(self) -> None:
        if self._ended.wait(self._seconds):
            return
        self.reached = True
        _signal_group(self._program, signal.SIGTERM)
        if not self._ended.wait(self._grace):
            end_all(self._program)


def _end_with_worker(program: int) -> None:
    """Wait for the end of the input, and leave nothing."""
    while os.read(0, 4096):
        pass
    end_all(program)
    os._exit(1)


def _status_of(program: int) -> int:
    """The status of the program, as subprocess gives it; what it left is reaped meanwhile."""
    while True:
        try:
            number, status = os.waitpid(-1, 0)
        except ChildProcessError:  # reaped by the thread that kills
            return -signal.SIGKILL
        if number == program:
            return os.waitstatus_to_exitcode(status)


def end_all(program: int) -> None:
    """Kill the group of the program, and all that is below this process, until nothing lives."""
    _signal_group(program, signal.SIGKILL)
    began = time.monotonic()
    while (found := _children() or _below()) and time.monotonic() < began + KILLING_S:
        for number in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
        _bury()
        if time.monotonic() > began + HASTE_S:
            time.sleep(LOOK_S)


def _children() -> list[int]:
    """The processes right below this one, at once; none where the system does not tell.

    What loses its parent is adopted by this process, so in the end they are all.
    """
    found: list[int] = []
    for path in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, path.read_bytes().split())
    return found


def _bury() -> None:
    """Reap what was killed: where nobody else does, it would stay in the table of processes."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _signal_group(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _below() -> list[int]:
    """The living processes below this one, as far as the system tells."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            state, parent = (folder / "stat").read_bytes().rpartition(b")")[2].split()[:2]
            if state not in {b"Z", b"X"}:
                children.setdefault(int(parent), []).append(int(folder.name))
    found, ahead = [], [os.getpid()]
    while ahead:
        inside = children.get(ahead.pop(), [])
        found += inside
        ahead += inside
    return found


def _tell(answer: int, document: dict[str, Any]) -> None:
    with suppress(OSError):  # nobody listens any more
        os.write(answer, json.dumps(document).encode("ascii"))


if __name__ == "__main__":
    main(int(sys.argv[1]))
