"""How far an execution is, shown on stderr; runs that make no progress are found.

A worker that is at work may be slow and need not say anything for minutes, as while it measures;
one that uses no processor time is stuck. A program never says how far it is: it is named when it,
with all that it started, has done nothing for ten minutes. Time in which this process was itself
stopped, or the machine asleep, is nobody's.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from repro.errors import printable, printable_lines
from repro.running.budget import OverBudgetError, TimeBudget
from repro.running.engine import Engine
from repro.running.grouping import Task
from repro.running.plan import remaining
from repro.running.worker import Outcome, number
from repro.store.run_store import RunStore
from repro.trainers.run import PlannedRun
from repro.trainers.trainer import Cost, trainer_of

INTERVAL = 55.0


class Reporter:
    """What an execution tells, from one thread at a time; this one passes nothing on."""

    def start(self, total: int, reused: int, workers: str) -> None:
        """``total`` runs are to be done, ``reused`` are there already."""

    def tick(self, snapshot: Snapshot) -> None:
        """Where everything is, about once a second."""

    def finished(self, key: str, outcome: str, snapshot: Snapshot) -> None:
        """A run is over: ``outcome`` became of it."""

    def stuck(self, stuck: Sequence[Stuck]) -> None:
        """Some runs make no progress; at most once a minute."""

    def stop(self) -> None:
        """Nothing more will come: clear what is shown of the present."""


class _Teller(Reporter):
    """Tells in lines; ``labels`` gives a run's key the name that a reader knows."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._labels = {key: printable(label) for key, label in labels.items()}

    def start(self, total: int, reused: int, workers: str) -> None:
        runs = "1 run" if total == 1 else f"{total} runs"
        there = f", {reused} reused from the store" if reused else ""
        self._say(f"{runs} to do on {workers}{there}")

    def stuck(self, stuck: Sequence[Stuck]) -> None:
        for each in stuck:
            since = time.strftime("%H:%M:%S", time.localtime(time.time() - each.seconds))
            doing = f", {each.doing}" if each.doing else ""
            begins = "its checkpoint" if each.resumes else "its beginning"
            self._say(
                f"no progress since {since} ({duration(each.seconds)}): {self._label(each.key)}, "
                f"process {each.process}{doing}; "
                f"`kill -9 {each.process}` starts it again from {begins}"
            )

    def _label(self, key: str) -> str:
        return self._labels.get(key, key[:12])

    def _say(self, text: str) -> None:
        raise NotImplementedError


class PlainReporter(_Teller):
    """A line at the start, at the end of each run, and at least every minute."""

    def __init__(
        self,
        labels: Mapping[str, str],
        stream: TextIO,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], str] = lambda: time.strftime("%H:%M:%S"),
    ) -> None:
        super().__init__(labels)
        self._stream, self._clock, self._wall = stream, clock, wall
        self._last = clock()

    def tick(self, snapshot: Snapshot) -> None:
        if self._clock() - self._last >= INTERVAL:
            doing = "; ".join(
                f"{self._label(each.key)}: {each.doing}" for each in snapshot.running[:4]
            )
            waiting = snapshot.waiting or "waiting for another process"
            self._say(f"{doing or waiting}; {outlook(snapshot)}")

    def finished(self, key: str, outcome: str, snapshot: Snapshot) -> None:
        done = f"{snapshot.done}/{snapshot.total} runs"
        self._say(f"{self._label(key)}: {outcome}; {done}, {outlook(snapshot)}")

    def _say(self, text: str) -> None:
        self._last = self._clock()
        with suppress(OSError, ValueError):  # a closed stderr is no reason to stop training
            self._stream.write(f"{self._wall()} {printable_lines(text)}\n")
            self._stream.flush()


class LiveReporter(_Teller):
    """A bar with an ETA, and a line above it for each run that is over."""

    def __init__(self, labels: Mapping[str, str], stream: TextIO) -> None:
        from rich.console import Console  # noqa: PLC0415 - only for a terminal
        from rich.live import Live  # noqa: PLC0415 - as above

        super().__init__(labels)
        console = Console(file=stream, highlight=False)
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def start(self, total: int, reused: int, workers: str) -> None:
        self._live.start()
        super().start(total, reused, workers)

    def tick(self, snapshot: Snapshot) -> None:
        from rich.console import Group  # noqa: PLC0415 - only for a terminal
        from rich.progress_bar import ProgressBar  # noqa: PLC0415 - as above
        from rich.text import Text  # noqa: PLC0415 - as above

        bar = ProgressBar(total=1.0, completed=snapshot.fraction, width=40)
        rows = [Text(f"  {self._label(each.key)}: {each.doing}") for each in snapshot.running[:8]]
        rows = rows or [Text(f"  {snapshot.waiting}")] * bool(snapshot.waiting)
        summary = Text(f"{snapshot.done}/{snapshot.total} runs, {outlook(snapshot)}")
        self._live.update(Group(bar, summary, *rows), refresh=True)

    def finished(self, key: str, outcome: str, snapshot: Snapshot) -> None:
        self._say(f"{self._label(key)}: {outcome}")
        self.tick(snapshot)

    def stop(self) -> None:
        self._live.stop()

    def _say(self, text: str) -> None:
        self._live.console.print(printable_lines(text), markup=False, soft_wrap=True)


def choose_reporter(labels: Mapping[str, str], stream: TextIO | None = None) -> Reporter:
    """A bar if ``stream`` (stderr) is a terminal and this is no CI job, else plain lines."""
    stream = stream or sys.stderr
    dumb = os.environ.get("TERM") in {"dumb", "unknown"}
    if stream.isatty() and not dumb and not os.environ.get("CI"):
        return LiveReporter(labels, stream)
    return PlainReporter(labels, stream)


def outlook(snapshot: Snapshot) -> str:
    """How far it is, and how long it will take."""
    share = f"{100 * snapshot.fraction:.0f} % of all"
    if snapshot.done == snapshot.total:
        return f"{share}, {duration(snapshot.elapsed)} in all"
    if snapshot.left is None:
        return share
    return f"{share}, about {duration(snapshot.left)} left"


def duration(seconds: float) -> str:
    """A time that a person reads at a glance."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


@dataclass(frozen=True, slots=True)
class Running:
    """One run that is being worked on, and what it is doing."""

    key: str
    doing: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An execution at one moment. ``left`` is in seconds, None while nobody can tell.

    ``waiting`` says for what, where nothing runs and that is known.
    """

    done: int
    total: int
    fraction: float
    elapsed: float
    left: float | None
    running: tuple[Running, ...]
    waiting: str = ""


class Tracker:
    """Weighs what is done against what is to be done."""

    def __init__(
        self, store: RunStore, runs: Sequence[PlannedRun], clock: Callable[[], float]
    ) -> None:
        self._store = store
        self._clock = clock
        self._costs = {planned.run.key: remaining(store, planned) for planned in runs}
        self._labels = {each.key: each.label for planned in runs for each in planned.measurements}
        self._ended: set[str] = set()
        self._start = clock()
        self._working: tuple[float, float] | None = None
        self._left_behind = {key: store.progress(key) for key in self._costs}
        self._first = {key: self._share(key)[0] for key in self._costs}

    def at_first(self, key: str) -> tuple[Cost, float]:
        """What was left of a run when this began, and which share of that was done."""
        return self._costs[key], self._first[key]

    def end(self, key: str) -> None:
        """A run is over, however it ended."""
        self._ended.add(key)

    def snapshot(self) -> Snapshot:
        now = self._clock()
        shares = {key: self._share(key) for key in self._costs if key not in self._ended}
        total = sum(each.total for each in self._costs.values()) or 1.0
        open_work = sum(self._costs[key].total * (1 - share) for key, (share, _) in shares.items())
        before = sum(each.total * self._first[key] for key, each in self._costs.items())
        worked = total - open_work - before
        running = [Running(key, doing) for key, (_, doing) in shares.items() if doing]
        if self._working is None and (running or self._ended):
            self._working = (now, worked)  # until then processes were started
        return Snapshot(
            len(self._ended),
            len(self._costs),
            1 - open_work / total,
            now - self._start,
            self._left(now, worked, open_work, 0.005 * total),
            tuple(running),
        )

    def _left(self, now: float, worked: float, open_work: float, least: float) -> float | None:
        """Seconds that the rest takes at the speed so far, not counting the start of processes."""
        if self._working is None:
            return None
        since, before = self._working
        spent, done = now - since, worked - before
        return open_work * spent / done if done > least and spent > 0 else None

    def _share(self, key: str) -> tuple[float, str]:
        """How much of a run is done, and what it is doing, if it is doing something."""
        progress, work = self._store.progress(key), self._costs[key]
        if progress is None or work.total == 0:
            return 0.0, ""
        share, doing = self._read(progress, work)
        return share, "" if progress == self._left_behind[key] else doing

    def _read(self, progress: Mapping[str, Any], work: Cost) -> tuple[float, str]:
        if progress.get("phase") == "measuring":
            name = str(progress.get("measurement"))
            names = list(work.measurements)  # taken in this order
            before = names[: names.index(name)] if name in names else []
            done = work.training + sum(work.measurements[each] for each in before)
            return done / work.total, f"measuring {self._labels.get(name, '')}".rstrip()
        done, in_all = number(progress.get("tokens_done")), number(progress.get("tokens_in_all"))
        share = min(1.0, done / in_all) * work.training / work.total if in_all else 0.0
        if "epoch" not in progress:
            return share, "starting"
        epoch, epochs = number(progress["epoch"]), number(progress.get("epochs"))
        return share, f"epoch {epoch:.0f}/{epochs:.0f}"


IDLE_SECONDS = 60.0
"""Without progress and without processor time, before a run is named, and between two times."""

BUSY_SECONDS = 600.0
"""Without progress, before a run is named whose worker is at work, or of which nobody can tell."""

ABSENT_SECONDS = 5.0
"""Between two looks: more is time in which nobody looked."""

WORK_SECONDS = 0.5
"""Processor time; with less of it a worker is idle."""

STATES = {"T": "stopped", "t": "stopped", "D": "waiting for a disk", "R": "at work"}
"""What Linux says of a process, in words; any other waits for something."""


class OverLimitError(Exception):
    """A run took longer than it may."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """A run that makes no progress: for how many seconds, and what its process does.

    ``resumes``: if it is ended, it goes on from a checkpoint.
    """

    key: str
    process: int
    seconds: float
    doing: str
    resumes: bool = True


@dataclass(slots=True)
class _Seen:
    """What was last seen of a task, and when: its start, its progress, its processor time."""

    began: float
    process: int
    progress: Any
    moved: float
    spent: float
    worked: float


class Watch:
    """Looks at the tasks that an engine works on; ``limit`` is in seconds per run, None for none.

    With the ``budget`` what goes on from a checkpoint the next time is ended.
    """

    def __init__(
        self,
        store: RunStore,
        engine: Engine,
        clock: Callable[[], float],
        limit: float | None = None,
        budget: TimeBudget | None = None,
    ) -> None:
        self._store, self._engine, self._clock, self._limit = store, engine, clock, limit
        self._budget = budget
        self._seen: dict[Future[tuple[Outcome, ...]], _Seen] = {}
        self._looked = clock()
        self._told = float("-inf")

    def look(self, pending: Mapping[Future[tuple[Outcome, ...]], Task]) -> list[Stuck]:
        """End what is over its limit; gives what is stuck, once a minute at most."""
        now = self._clock()
        absent = now - self._looked
        if absent > ABSENT_SECONDS:
            for seen in self._seen.values():
                seen.began += absent
                seen.moved += absent
                seen.worked += absent
        self._looked = now
        self._seen = {future: seen for future, seen in self._seen.items() if future in pending}
        stuck = [found for each in list(pending.items()) if (found := self._stuck(*each, now))]
        if not stuck or now - self._told < IDLE_SECONDS:
            return []
        self._told = now
        return stuck

    def _stuck(self, future: Future[tuple[Outcome, ...]], task: Task, now: float) -> Stuck | None:
        process = self._engine.process_of(future)
        if process is None:  # it waits for its turn
            return None
        state, spent = process_state(process)
        progress = [self._store.progress(planned.run.key) for planned in task.runs]
        seen = self._seen.setdefault(future, _Seen(now, process, progress, now, spent or 0.0, now))
        if (seen.process, seen.progress) != (process, progress):
            seen.process, seen.progress, seen.moved = process, progress, now
            seen.spent, seen.worked = spent or 0.0, now
        elif spent is None or abs(spent - seen.spent) >= WORK_SECONDS:
            seen.spent, seen.worked = spent or 0.0, now
        training = task.runs[0].run.training
        trainer = trainer_of(training)
        resumes = trainer.resumes(training)
        if self._budget is not None and self._budget.left <= 0 and resumes:
            self._engine.end(future, OverBudgetError(self._budget.carried))
            return None
        if self._limit is not None and now - seen.began >= self._limit * len(task.runs):
            self._engine.end(future, OverLimitError(_over(self._limit, resumes=resumes)))
            return None
        still, least = now - seen.worked, BUSY_SECONDS
        if trainer.tells_progress:
            least = IDLE_SECONDS if still >= IDLE_SECONDS else BUSY_SECONDS
            still = now - seen.moved
        if still < least:
            return None
        return Stuck(task.runs[0].run.key, process, still, state, resumes)


def process_state(process: int) -> tuple[str, float | None]:
    """What a process does in words, and the seconds of processor time of it and all below it.

    The time is None where the system does not tell.
    """
    fields = _fields(process)
    if not fields:
        return "", None
    ticks = sum(sum(map(int, _fields(each)[11:15])) for each in _tree(process))
    return STATES.get(fields[0], "waiting"), ticks / os.sysconf("SC_CLK_TCK")


def _fields(process: int) -> list[str]:
    """What the system says of a process after its name; nothing where it says nothing."""
    with suppress(OSError):
        line = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
        return line.rpartition(")")[2].split()
    return []


def _tree(process: int) -> Iterator[int]:
    """A process and all below it."""
    ahead = [process]
    while ahead:
        number = ahead.pop()
        yield number
        for path in Path(f"/proc/{number}/task").glob("*/children"):
            with suppress(OSError):
                ahead += map(int, path.read_text(encoding="ascii").split())


def _over(limit: float, *, resumes: bool) -> str:
    minutes = f"{limit / 60:.3g} min" if limit >= 60 else f"{limit:g} s"
    ended = f"it took longer than the limit of {minutes} and was ended"
    if not resumes:
        return f"{ended}\n  to do: give the same command again with a larger --limit"
    return (
        f"{ended}; its checkpoint is kept\n"
        "  to do: give the same command again to go on from there, perhaps with a larger --limit"
    )
