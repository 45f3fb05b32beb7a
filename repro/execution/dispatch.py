"""Tasks on their way: given out, waited for, given out again.

That is when another process held a run, or when a task of several killed its process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import suppress
from dataclasses import replace

from repro.errors import CorpusError, DeviceError, StoreUnreachableError
from repro.execution.pool import ProcessPool, WorkerLostError
from repro.execution.progress import Reporter, duration
from repro.execution.tracking import Tracker
from repro.execution.watch import Watch
from repro.execution.worker import Outcome, Task, halves, run_task
from repro.specs.run import AnyCorpus
from repro.store import RunStore

BUSY_SECONDS = 2.0
TICK_SECONDS = 1.0
_FOR_ALL = {kind.__name__: kind for kind in (DeviceError, StoreUnreachableError)}
_QUIETLY = suppress(Exception)  # a terminal that is gone, nonsense in progress.json: no errors

Futures = dict[Future[tuple[Outcome, ...]], Task]


class Dispatch:
    """One execution of some tasks on an executor; reads progress from the store meanwhile.

    ``limit`` is in seconds per run, for an executor that has processes; None for none.
    """

    def __init__(
        self,
        executor: Executor,
        store: RunStore,
        tasks: Sequence[Task],
        report: Reporter,
        limit: float | None = None,
    ) -> None:
        self._executor = executor
        self._tasks = tasks
        self._report = report
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        runs = [planned for task in tasks for planned in task.runs]
        self._tracker = Tracker(store, runs, time.monotonic)
        self._watch = (
            Watch(store, executor, time.monotonic, limit)
            if isinstance(executor, ProcessPool)
            else None
        )
        self._pending: Futures = {}
        self._busy: list[tuple[float, Task]] = []
        self._outcomes: list[Outcome] = []
        self._missing: dict[AnyCorpus, Outcome] = {}

    def run(self, *, reused: int = 0) -> list[Outcome]:
        """Do all tasks; an outcome for each run. ``reused`` is only said."""
        total = sum(len(task.runs) for task in self._tasks)
        with _QUIETLY:
            self._report.start(total, reused, self._tasks[0].device)
        ticker = threading.Thread(target=self._tick, daemon=True)
        ticker.start()
        try:
            self._run()
        finally:
            for future in self._pending:
                future.cancel()
            self._stopped.set()
            ticker.join()
            with _QUIETLY:
                self._report.stop()
        return self._outcomes

    def _run(self) -> None:
        for task in self._tasks:
            self._give_out(task)
        while self._pending or self._busy:
            if self._pending:
                timeout = TICK_SECONDS if self._busy else None
                wait(self._pending, timeout=timeout, return_when=FIRST_COMPLETED)
            else:
                time.sleep(TICK_SECONDS / 4)
            self._collect()
            now = time.monotonic()
            due = [task for moment, task in self._busy if moment <= now]
            self._busy = [each for each in self._busy if each[0] > now]
            for task in due:
                self._give_out(task)

    def _give_out(self, task: Task) -> None:
        """Submit a task, unless its corpus is known to be missing."""
        missing = self._missing.get(task.runs[0].run.training.corpus)
        if missing is not None:
            for planned in task.runs:
                self._end(Outcome(planned.run.key, "failed", missing.message, missing.error))
            return
        self._pending[self._executor.submit(run_task, task)] = task
        self._collect()

    def _collect(self) -> None:
        """Take what is done."""
        for future in [future for future in self._pending if future.done()]:
            task = self._pending.pop(future)
            if isinstance(future.exception(), WorkerLostError) and len(task.runs) > 1:
                self._halve(task)
                continue
            outcomes = _result(future, task)
            busy = {outcome.key for outcome in outcomes if outcome.status == "busy"}
            for outcome in outcomes:
                if outcome.error in _FOR_ALL:
                    raise _FOR_ALL[outcome.error](outcome.message)
                if outcome.error == CorpusError.__name__:
                    self._give_up(task.runs[0].run.training.corpus, outcome)
                if outcome.key not in busy:
                    self._end(outcome)
            if busy:
                left = tuple(planned for planned in task.runs if planned.run.key in busy)
                again = replace(task, runs=left)
                self._busy.append((time.monotonic() + BUSY_SECONDS, again))

    def _halve(self, task: Task) -> None:
        """A model of several runs killed its process, most likely for memory: smaller ones."""
        now = time.monotonic()
        self._busy += [(now, replace(task, runs=runs)) for runs in halves(task.runs)]

    def _give_up(self, corpus: AnyCorpus, reason: Outcome) -> None:
        """No run of this corpus will do better: take back those that have not begun."""
        self._missing[corpus] = reason
        for future, task in list(self._pending.items()):
            if task.runs[0].run.training.corpus == corpus and future.cancel():
                del self._pending[future]
                self._give_out(task)

    def _end(self, outcome: Outcome) -> None:
        """A run is over: keep its outcome, and say so."""
        with self._lock:
            self._outcomes.append(outcome)
            self._tracker.end(outcome.key)
            with _QUIETLY:
                self._report.finished(outcome.key, _words(outcome), self._tracker.snapshot())

    def _tick(self) -> None:
        while not self._stopped.wait(TICK_SECONDS):
            with self._lock, _QUIETLY:
                self._report.tick(self._tracker.snapshot())
            with self._lock, _QUIETLY:
                stuck = [] if self._watch is None else self._watch.look(self._pending)
                if stuck:
                    self._report.stuck(stuck)


def _result(future: Future[tuple[Outcome, ...]], task: Task) -> tuple[Outcome, ...]:
    """The outcomes of a task; an engine that lost it is a failure of its runs."""
    error = future.exception()
    if error is None:
        return future.result()
    kind = type(error).__name__
    return tuple(Outcome(planned.run.key, "failed", str(error), kind) for planned in task.runs)


def _words(outcome: Outcome) -> str:
    """What became of a run, for a reader."""
    match outcome.status:
        case "trained" | "measured":
            others = f" with {outcome.together - 1} more" if outcome.together > 1 else ""
            return f"{outcome.status} in {duration(outcome.seconds)}{others}"
        case "reused":
            return "another process has trained it"
        case "diverged":
            return "diverged"
        case _:
            return f"failed: {outcome.message.splitlines()[0] if outcome.message else ''}"
