"""Runs whose workers make no progress are found, and ended where a run may take so long only.

A worker that is at work may be slow and need not say anything for minutes, as while it measures;
one that uses no processor time is stuck. Time in which this process was itself stopped, or the
machine asleep, is nobody's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro.execution.pool import ProcessPool
from repro.execution.worker import Outcome, Task
from repro.store import RunStore

IDLE_SECONDS = 60.0
"""Without progress and without processor time, before a run is named, and between two times."""

BUSY_SECONDS = 600.0
"""Without progress, before a run is named whose worker is at work, or of which nobody can tell."""

ABSENT_SECONDS = 5.0
"""Between two looks: more is time in which nobody looked."""

WORK_SECONDS = 0.5
"""Of processor time, without which a worker is idle."""

STATES = {"T": "stopped", "t": "stopped", "D": "waiting for a disk", "R": "at work"}
"""What Linux says of a process, in words; any other waits for something."""


class OverLimitError(Exception):
    """A run took longer than it may."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """A run that makes no progress: for how many seconds, and what its process does."""

    key: str
    process: int
    seconds: float
    doing: str


@dataclass(slots=True)
class _Seen:
    """What was last seen of a task, and when: its start, its progress, its processor time."""

    began: float
    process: int
    progress: Any
    moved: float
    spent: float
    worked: float

    def shift(self, seconds: float) -> None:
        self.began += seconds
        self.moved += seconds
        self.worked += seconds


class Watch:
    """Looks at the tasks that a pool works on; ``limit`` is in seconds per run, None for none."""

    def __init__(
        self,
        store: RunStore,
        pool: ProcessPool,
        clock: Callable[[], float],
        limit: float | None = None,
    ) -> None:
        self._store, self._pool, self._clock, self._limit = store, pool, clock, limit
        self._seen: dict[Future[tuple[Outcome, ...]], _Seen] = {}
        self._looked = clock()
        self._told = float("-inf")

    def look(self, pending: Mapping[Future[tuple[Outcome, ...]], Task]) -> list[Stuck]:
        """End what is over its limit; gives what is stuck, once a minute at most."""
        now = self._clock()
        if now - self._looked > ABSENT_SECONDS:
            for seen in self._seen.values():
                seen.shift(now - self._looked)
        self._looked = now
        self._seen = {future: seen for future, seen in self._seen.items() if future in pending}
        stuck = [found for each in list(pending.items()) if (found := self._one(*each, now))]
        if not stuck or now - self._told < IDLE_SECONDS:
            return []
        self._told = now
        return stuck

    def _one(self, future: Future[tuple[Outcome, ...]], task: Task, now: float) -> Stuck | None:
        process = self._pool.process_of(future)
        if process is None:  # it waits for its turn
            return None
        state, spent = process_state(process)
        progress = [self._store.progress(planned.run.key) for planned in task.runs]
        seen = self._seen.setdefault(future, _Seen(now, process, progress, now, spent or 0.0, now))
        if (seen.process, seen.progress) != (process, progress):
            seen.process, seen.progress, seen.moved = process, progress, now
            seen.spent, seen.worked = spent or 0.0, now
        elif spent is None or spent - seen.spent >= WORK_SECONDS:
            seen.spent, seen.worked = spent or 0.0, now
        if self._limit is not None and now - seen.began >= self._limit * len(task.runs):
            self._pool.end(future, OverLimitError(_over(self._limit)))
            return None
        idle = now - seen.worked >= IDLE_SECONDS
        if now - seen.moved < (IDLE_SECONDS if idle else BUSY_SECONDS):
            return None
        return Stuck(task.runs[0].run.key, process, now - seen.moved, state)


def process_state(process: int) -> tuple[str, float | None]:
    """What a process does in words, and the seconds of processor time that it has taken.

    The time is None where the system does not tell.
    """
    with suppress(OSError, ValueError, IndexError):
        fields = (
            Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        )
        spent = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return STATES.get(fields[0], "waiting"), spent
    return "", None


def _over(limit: float) -> str:
    minutes = f"{limit / 60:.3g} min" if limit >= 60 else f"{limit:g} s"
    return (
        f"it took longer than the limit of {minutes} and was ended; its checkpoint is kept\n"
        "  to do: give the same command again to go on from there, perhaps with a larger --limit"
    )
