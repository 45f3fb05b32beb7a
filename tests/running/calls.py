"""Calls that tests send to worker processes."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

from repro.running.grouping import Task
from repro.running.worker import Outcome


class StubbornError(Exception):
    """An exception that cannot be read back from its pickle."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


def double(number: int) -> int:
    return 2 * number


def loud(number: int) -> int:
    """Write to both streams at their lowest level, as a library in C would."""
    os.write(1, b"out\n")
    os.write(2, b"err\n")
    return 2 * number


def process() -> int:
    return os.getpid()


def environment(name: str) -> str | None:
    return os.environ.get(name)


def sleep(seconds: float, mark: Path | None = None) -> int:
    if mark is not None:
        mark.write_text(str(os.getpid()))
    time.sleep(seconds)
    return os.getpid()


def refuse(message: str) -> None:
    raise ValueError(message)


def refuse_stubbornly() -> None:
    raise StubbornError("this", "that")


def unpicklable() -> object:
    return threading.Lock()


def die(mark: Path, times: int, number: int = signal.SIGKILL) -> int:
    """Kill this process the first ``times`` times, then say how often it was called."""
    with mark.open("a") as stream:
        stream.write("x")
    calls = len(mark.read_text())
    if calls <= times:
        os.kill(os.getpid(), number)
    return calls


def interrupted() -> str:
    """What an interrupt does to a worker."""
    os.kill(os.getpid(), signal.SIGINT)
    return "nothing"


def leave(status: int) -> None:
    os._exit(status)


def doze(task: Task) -> tuple[Outcome, ...]:
    """A task that hangs for its first replicate and is done at once for any other."""
    for planned in task.runs:
        if planned.run.replicate == 0:
            time.sleep(600)
    return tuple(Outcome(planned.run.key, "trained") for planned in task.runs)


def slowly_visible() -> str:
    """The GPU that this process sees; slow enough that another process has the next call."""
    time.sleep(1)
    return os.environ["CUDA_VISIBLE_DEVICES"]
