"""Time of some steps of ``train`` on a device, which works while the host goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import torch

from benchmarks.speed.rows import Goal
from benchmarks.speed.table import number
from repro.trainers.language_model.corpus import CorpusData
from repro.trainers.language_model.training import train
from repro.trainers.run import RunSpec
from repro.trainers.trainer import Progress

WARM_UPS: Final = 5


class EnoughError(Exception):
    """All steps that were wanted are timed."""


@dataclass(frozen=True)
class Measured:
    """So many tokens of so many steps in so many seconds, and what an epoch of them would take.

    ``tokens`` are those of all replicates, ``epoch_tokens`` those of one epoch of one of them.
    """

    what: str
    steps: int
    tokens: int
    seconds: float
    epoch_tokens: int
    replicates: int = 1
    peak: int = 0
    goal: Goal | None = None
    note: str = ""

    @property
    def epoch_seconds(self) -> float:
        """An epoch of every replicate."""
        return self.seconds * self.epoch_tokens * self.replicates / self.tokens

    def cells(self) -> tuple[str, ...]:
        """For the table."""
        goal = f"≤ {number(self.goal.aim, 's')}" if self.goal and self.goal.aim else ""
        return (
            self.what,
            number(self.epoch_seconds, "s"),
            goal,
            self.goal.word(self.epoch_seconds) if self.goal else "",
            number(1000 * self.seconds / self.steps, "ms"),
            number(self.tokens / self.seconds),
            number(self.peak / 1e9, "GB") if self.peak else "",
            self.note,
        )


HEAD: Final = (
    "what",
    "an epoch",
    "goal",
    "verdict",
    "a step",
    "tokens/s",
    "peak memory",
    "remarks",
)


@dataclass(frozen=True)
class Failed:
    """What could not be done, and why."""

    what: str
    reason: str

    def cells(self) -> tuple[str, ...]:
        """For the table."""
        return (self.what, "", "", "not possible", "", "", "", self.reason)


def reason_of(error: BaseException) -> str:
    """Its class and the first line of what it says."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


@dataclass
class Stopwatch:
    """Listens to the progress of runs that are in step with each other.

    A step is over when the run ``last`` has reported it. ``meet`` is called before the first
    timed step and after the last one, where others are to be waited for.
    """

    last: str
    device: torch.device
    steps: int
    meet: Callable[[], Any] = lambda: None
    began: float = 0.0
    ended: float = 0.0
    _now: dict[str, int] = field(default_factory=dict)
    _before: dict[str, int] = field(default_factory=dict)

    def __call__(self, where: Progress) -> None:
        """A report; raises EnoughError after the last step that is timed, or with the epoch."""
        self._now[where.run_key] = where.tokens_done
        if where.run_key != self.last:
            return
        if where.phase == "valid":  # an epoch with too few steps
            raise EnoughError
        if where.step == WARM_UPS and not self._before:
            wait_for(self.device)
            self.meet()
            self._before = dict(self._now)
            self.began = time.monotonic()
        elif where.step == WARM_UPS + self.steps:
            wait_for(self.device)
            self.ended = time.monotonic()
            self.meet()
            raise EnoughError

    @property
    def tokens(self) -> int:
        """Predicted in the steps that were timed, by all runs."""
        return sum(now - self._before[key] for key, now in self._now.items())


def timed(
    runs: Sequence[RunSpec],
    corpus: CorpusData,
    device: torch.device,
    steps: int,
    *,
    together: bool = False,
    meet: Callable[[], Any] = lambda: None,
) -> Stopwatch:
    """The first steps of ``train``. Raises ValueError when an epoch has not so many."""
    watch = Stopwatch(runs[-1].key, device, steps, meet)
    with suppress(EnoughError):
        train(
            runs,
            corpus,
            device=device,
            folders=[None] * len(runs),
            progress=watch,
            together=together,
        )
    if not watch.ended:
        message = f"an epoch has fewer than {WARM_UPS + steps} steps; ask for fewer"
        raise ValueError(message)
    return watch


def wait_for(device: torch.device) -> None:
    """Until the present stream of the device has done what it was given."""
    if device.type == "cuda":
        torch.cuda.current_stream(device).synchronize()


def forget_peak(device: torch.device) -> None:
    """Count the peak of the device's memory from here."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)


def peak_bytes(device: torch.device) -> int:
    """Most memory that tensors had on the device since; 0 on a CPU, where it is not counted."""
    return torch.cuda.max_memory_allocated(device) if device.type == "cuda" else 0


def threads_meet(count: int) -> Callable[[], Any]:
    """What lets so many threads wait for each other; none waits for ever."""
    return threading.Barrier(count, timeout=120).wait
