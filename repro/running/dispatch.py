"""Tasks, given out and waited for.

One is given out again when another process held a run, or when several runs killed its process.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import replace
from typing import Final

from repro.errors import (
    CorpusError,
    DeviceError,
    EngineError,
    NotKeptError,
    ProgramError,
    ReadingError,
    StoreUnreachableError,
)
from repro.running.budget import OverBudgetError, TimeBudget
from repro.running.engine import Engine
from repro.running.grouping import Task
from repro.running.plan import is_recorded
from repro.running.pool import WorkerLostError
from repro.running.progress import Reporter, Snapshot, Tracker, Watch, duration
from repro.running.worker import Outcome, Status, halves, run_task
from repro.store.run_store import RunStore
from repro.trainers.base import Training
from repro.trainers.run import PlannedRun
from repro.trainers.trainer import trainer_of

BUSY_SECONDS = 2.0
TICK_SECONDS = 1.0
_FOR_ALL = {each.__name__: each for each in (DeviceError, EngineError, StoreUnreachableError)}
_QUIETLY = suppress(Exception)  # a terminal that is gone, nonsense in progress.json: no errors


_UNREAD: Final = frozenset({ReadingError.__name__, NotKeptError.__name__})

FAILED_FIRST: Final = 2
"""So many runs of a configuration fail, and none ends well, before the others are not begun."""

NOT_STARTED: Final = (
    "not started: the first runs of this program with these arguments all failed\n"
    "  to do: correct what is said of them, or give the same command again: "
    "it begins with the others"
)


NOT_READ: Final = (
    "not started: of the first run of this program that ended nothing can be read\n"
    "  to do: correct what is said of that run, and give the same command again: what programs "
    "left is kept, and is read without running them again"
)


class FirstRuns:
    """What became of the first runs of each configuration; ``proven`` are those that can end well.

    A typo fails forty runs alike: two failures with different seeds, and no run that
    ended well, are taken for one. A program that resumes is no matter of it: an attempt that failed
    may have come further. Where nothing can be read of one that has finished, one is enough, for
    all configurations that are read alike.
    """

    def __init__(self, proven: Collection[str] = ()) -> None:
        self._proven = set(proven)
        self._failures: Counter[str] = Counter()
        self._unread: set[str] = set()

    def note(self, training: Training, outcome: Outcome) -> bool:
        """Take note of what became of a run; whether no other run of it is to be begun."""
        if outcome.error == ProgramError.__name__:
            self._failures[training.digest()] += 1
        elif outcome.error in _UNREAD:
            self._unread.add(trainer_of(training).reading(training))
        elif outcome.status not in {"failed", "busy", "postponed"}:
            self._proven |= {training.digest(), trainer_of(training).reading(training)}
        return self.refused(training) is not None

    def refused(self, training: Training) -> Outcome | None:
        """The outcome, of no key as yet, of a run that is not begun; None for one that may be."""
        reading = trainer_of(training).reading(training)
        if reading in self._unread - self._proven:
            return Outcome("", "not started", NOT_READ)
        configuration = training.digest()
        hopeful = configuration in self._proven or trainer_of(training).resumes(training)
        if hopeful or self._failures[configuration] < FAILED_FIRST:
            return None
        return Outcome("", "not started", NOT_STARTED)


class Dispatch:
    """One execution of some tasks by an engine; ``limit`` is in seconds per run, if any.

    ``proven`` is what is known of runs that ended well before, as in ``proofs``. What does not
    fit in ``budget`` is postponed.
    """

    def __init__(
        self,
        engine: Engine,
        store: RunStore,
        tasks: Sequence[Task],
        report: Reporter,
        limit: float | None = None,
        proven: Collection[str] = (),
        budget: TimeBudget | None = None,
    ) -> None:
        self._engine, self._store = engine, store
        self._tasks = tasks
        self._report = report
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        runs = [planned for task in tasks for planned in task.runs]
        self._tracker = Tracker(store, runs, time.monotonic)
        self._watch = None
        if not engine.refused_limit():
            self._watch = Watch(store, engine, time.monotonic, limit, budget)
        self._pending: dict[Future[tuple[Outcome, ...]], Task] = {}
        self._backlog: list[Task] = []
        self._busy: list[tuple[float, Task]] = []
        self._outcomes: list[Outcome] = []
        self._missing: dict[Hashable, Outcome] = {}
        self._first = FirstRuns(proven)
        self._budget = budget

    def run(self, *, reused: int = 0) -> list[Outcome]:
        """Do all tasks; an outcome for each run. ``reused`` is only said."""
        total = sum(len(task.runs) for task in self._tasks)
        with _QUIETLY:
            self._report.start(total, reused, self._tasks[0].device)
        ticker = threading.Thread(target=self._tick, daemon=True)
        ticker.start()
        try:
            read = [task for task in self._tasks if all(map(self._is_read, task.runs))]
            self._work_off(read)  # before anything is trained
            self._work_off([task for task in self._tasks if task not in read])
        finally:
            for future in self._pending:
                future.cancel()
            self._stopped.set()
            ticker.join()
            with _QUIETLY:
                self._report.stop()
        return self._outcomes

    def _is_read(self, planned: PlannedRun) -> bool:
        """Whether a program that is run for it has left its record."""
        source = trainer_of(planned.run.training).source(planned.run)
        done = is_recorded(self._store, planned)
        return done or (source is not None and self._store.state(planned.run.key) == "finished")

    def _work_off(self, tasks: Sequence[Task]) -> None:
        self._backlog = list(tasks)
        self._top_up()
        while self._pending or self._busy or self._backlog:
            if self._pending:
                timeout = TICK_SECONDS if self._busy or self._backlog else None
                wait(self._pending, timeout=timeout, return_when=FIRST_COMPLETED)
            else:
                time.sleep(TICK_SECONDS / 4)
            self._collect()
            now = time.monotonic()
            due = [task for moment, task in self._busy if moment <= now]
            self._busy = [each for each in self._busy if each[0] > now]
            for task in due:
                self._give_out(task)
            self._top_up()

    def _top_up(self) -> None:
        """Give out what waits: all of it, or as much as there are workers for just now.

        A worker takes nothing up before it is known what became of its last run. What is left for
        other machines may be parted among workers that join later.
        """
        slots = self._engine.slots()
        free = len(self._backlog) if slots is None else slots - len(self._pending)
        if slots is not None and self._engine.workers_differ:
            self._backlog = parted(self._backlog, free)
        for _ in range(min(max(0, free), len(self._backlog))):
            if (task := self._next()) is None:
                break
            self._give_out(task)

    def _next(self) -> Task | None:
        """The next task of the backlog; None while it is not known whether any fits in the budget.

        The first that ends in time, else one that can be taken up again; and what never will, to
        be refused.
        """
        wait = self._budget is not None and self._budget.left > 0 and bool(self._pending)
        fits = (n for n, task in enumerate(self._backlog) if self._fits(task))
        later = (n for n, task in enumerate(self._backlog) if self._carried(task))
        index = next(fits, next(later, None if wait else 0))
        return None if index is None else self._backlog.pop(index)

    def _fits(self, task: Task) -> bool:
        return self._budget is None or self._estimate(self._budget, task) <= self._budget.left

    def _estimate(self, budget: TimeBudget, task: Task) -> float:
        """How many seconds what is left of the runs of a task will take."""
        return sum(
            budget.estimate(planned.run.training, *self._tracker.at_first(planned.run.key))
            for planned in task.runs
        )

    def _carried(self, task: Task) -> bool:
        """Whether a task may be ended with the budget, and goes on the next time."""
        training = task.runs[0].run.training
        time_is_left = self._budget is not None and self._budget.left > 0
        return time_is_left and self._watch is not None and trainer_of(training).resumes(training)

    def _postponed(self, task: Task) -> Outcome | None:
        """The outcome, of no key as yet, of a task that does not fit in the budget."""
        if self._budget is None or self._fits(task) or self._carried(task):
            return None
        return Outcome("", "postponed", self._budget.refusal(self._estimate(self._budget, task)))

    def _give_out(self, task: Task) -> None:
        """Submit a task, unless it will do no better than others, or would not end in time."""
        hopeless = self._hopeless(task) or self._postponed(task)
        if hopeless is not None:
            for planned in task.runs:
                self._end(replace(hopeless, key=planned.run.key))
            return
        self._pending[self._engine.submit(run_task, task)] = task
        self._collect()

    def _collect(self) -> None:
        for future in [future for future in self._pending if future.done()]:
            task = self._pending.pop(future)
            if isinstance(future.exception(), WorkerLostError) and len(task.runs) > 1:
                # most likely for want of memory: smaller models
                self._busy += [(0.0, replace(task, runs=runs)) for runs in halves(task.runs)]
                continue
            outcomes = _result(future, task)
            if self._budget is not None:
                keys = {each.key for each in outcomes if each.status == "trained"}
                trained = [each.run for each in task.runs if each.run.key in keys]
                self._budget.learn(self._store, trained)
            busy = {outcome.key for outcome in outcomes if outcome.status == "busy"}
            for outcome in outcomes:
                if outcome.error in _FOR_ALL:
                    raise _FOR_ALL[outcome.error](outcome.message)
                if outcome.key not in busy:
                    self._end(outcome)
                if not self._engine.workers_differ or outcome.error in _UNREAD:
                    # another machine may have what this one lacks, but reads nothing else
                    self._learn(task, outcome)
            if busy:
                left = tuple(planned for planned in task.runs if planned.run.key in busy)
                again = replace(task, runs=left)
                self._busy.append((time.monotonic() + BUSY_SECONDS, again))

    def _learn(self, task: Task, outcome: Outcome) -> None:
        """Take back what has not begun, where the outcome says that it would do no better."""
        if outcome.error == CorpusError.__name__:
            reason = Outcome("", "failed", outcome.message, outcome.error)
            self._missing[_reads(task)] = reason
        elif not self._first.note(task.runs[0].run.training, outcome):
            return
        for future, waiting in list(self._pending.items()):
            if self._hopeless(waiting) and future.cancel():
                del self._pending[future]
                self._give_out(waiting)

    def _hopeless(self, task: Task) -> Outcome | None:
        """What became of a task that is not to be begun, but for its key; None of any other."""
        missing = self._missing.get(_reads(task))
        return missing or self._first.refused(task.runs[0].run.training)

    def _end(self, outcome: Outcome) -> None:
        """A run is over: keep its outcome, and say so."""
        with self._lock:
            self._outcomes.append(outcome)
            self._tracker.end(outcome.key)
            with _QUIETLY:
                self._report.finished(outcome.key, _words(outcome), self._snapshot())

    def _snapshot(self) -> Snapshot:
        """How far it is, and what is waited for by tasks that other machines do."""
        return replace(self._tracker.snapshot(), waiting=self._engine.waiting())

    def _tick(self) -> None:
        while not self._stopped.wait(TICK_SECONDS):
            with self._lock, _QUIETLY:
                self._report.tick(self._snapshot())
            with self._lock, _QUIETLY:
                if self._watch and (stuck := self._watch.look(self._pending)):
                    self._report.stuck(stuck)


def parted(tasks: Sequence[Task], count: int) -> list[Task]:
    """The tasks, the largest of them in halves until there are so many, if they have the runs."""
    found = list(tasks)
    while 0 < len(found) < count:
        largest = max(range(len(found)), key=lambda index: len(found[index].runs))
        runs = found[largest].runs
        if len(runs) == 1:
            break
        found[largest : largest + 1] = [replace(found[largest], runs=half) for half in halves(runs)]
    return found


def _reads(task: Task) -> Hashable:
    """What the runs of a task read."""
    training = task.runs[0].run.training
    return trainer_of(training).reads(training)


def _result(future: Future[tuple[Outcome, ...]], task: Task) -> tuple[Outcome, ...]:
    """The outcomes of a task; an engine that lost it is a failure of its runs."""
    error = future.exception()
    if error is None:
        return future.result()
    kind = type(error).__name__
    status: Status = "postponed" if isinstance(error, OverBudgetError) else "failed"
    return tuple(Outcome(planned.run.key, status, str(error), kind) for planned in task.runs)


def _words(outcome: Outcome) -> str:
    match outcome.status:
        case "trained" | "measured":
            others = f" with {outcome.together - 1} more" if outcome.together > 1 else ""
            return f"{outcome.status} in {duration(outcome.seconds)}{others}"
        case "reused":
            return "another process has trained it"
        case "read":
            return "read from what the program left"
        case "diverged" | "not started":
            return outcome.status
        case "postponed":
            return outcome.message
        case _:
            return f"failed: {outcome.message.splitlines()[0] if outcome.message else ''}"
