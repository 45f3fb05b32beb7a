"""Signs of life on stderr: a bar on a terminal, otherwise a plain line at least every minute."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from repro.execution.tracking import Running, Snapshot
from repro.terminal import printable, printable_lines

if TYPE_CHECKING:
    from repro.execution.watch import Stuck

INTERVAL = 55.0


class Reporter:
    """What an execution tells, from one thread at a time; this one passes nothing on."""

    def start(self, total: int, reused: int, workers: str) -> None:
        """``total`` runs are to be done, ``reused`` are there already."""

    def tick(self, snapshot: Snapshot) -> None:
        """About once a second."""

    def finished(self, key: str, what: str, snapshot: Snapshot) -> None:
        """A run is over: ``what`` became of it."""

    def stuck(self, stuck: Sequence[Stuck]) -> None:
        """Some runs make no progress; at most once a minute."""

    def stop(self) -> None:
        """Nothing more will come."""


class PlainReporter(Reporter):
    """A line at the start, at the end of each run, and at least every minute."""

    def __init__(
        self,
        labels: Mapping[str, str],
        stream: TextIO,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], str] = lambda: time.strftime("%H:%M:%S"),
    ) -> None:
        self._labels = {key: printable(label) for key, label in labels.items()}
        self._stream = stream
        self._clock = clock
        self._wall = wall
        self._last = clock()

    def start(self, total: int, reused: int, workers: str) -> None:
        """How much there is to do."""
        self._say(started(total, reused, workers))

    def tick(self, snapshot: Snapshot) -> None:
        """A line, if the last one was about a minute ago."""
        if self._clock() - self._last >= INTERVAL:
            doing = "; ".join(self._describe(each, snapshot) for each in snapshot.running[:4])
            self._say(f"{doing or 'waiting for another process'}; {outlook(snapshot)}")

    def finished(self, key: str, what: str, snapshot: Snapshot) -> None:
        """A line for each run that is over."""
        label = self._labels.get(key, key[:12])
        self._say(f"run {snapshot.done}/{snapshot.total} {label}: {what}; {outlook(snapshot)}")

    def stuck(self, stuck: Sequence[Stuck]) -> None:
        """A line for each run that makes no progress."""
        for each in stuck:
            self._say(no_progress(each, self._labels))

    def _describe(self, running: Running, snapshot: Snapshot) -> str:
        label = self._labels.get(running.key, running.key[:12])
        return f"run {running.number}/{snapshot.total} {label}: {running.doing}"

    def _say(self, text: str) -> None:
        self._last = self._clock()
        with suppress(OSError, ValueError):  # a closed stderr is no reason to stop training
            self._stream.write(f"{self._wall()} {printable_lines(text)}\n")
            self._stream.flush()


class LiveReporter(Reporter):
    """A bar with an ETA, and a line above it for each run that is over."""

    def __init__(self, labels: Mapping[str, str], stream: TextIO) -> None:
        from rich.console import Console  # noqa: PLC0415 - only for a terminal
        from rich.live import Live  # noqa: PLC0415 - as above

        self._labels = {key: printable(label) for key, label in labels.items()}
        console = Console(file=stream, highlight=False)
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def start(self, total: int, reused: int, workers: str) -> None:
        """Draw the first bar."""
        self._live.start()
        self._print(started(total, reused, workers))

    def tick(self, snapshot: Snapshot) -> None:
        """Draw the bar again."""
        from rich.console import Group  # noqa: PLC0415 - only for a terminal
        from rich.progress_bar import ProgressBar  # noqa: PLC0415 - as above
        from rich.text import Text  # noqa: PLC0415 - as above

        bar = ProgressBar(total=1.0, completed=snapshot.fraction, width=40)
        rows = [
            Text(f"  {self._labels.get(each.key, each.key[:12])}: {each.doing}")
            for each in snapshot.running[:8]
        ]
        summary = Text(f"{snapshot.done}/{snapshot.total} runs, {outlook(snapshot)}")
        self._live.update(Group(bar, summary, *rows), refresh=True)

    def finished(self, key: str, what: str, snapshot: Snapshot) -> None:
        """A line that stays, and the bar again."""
        label = self._labels.get(key, key[:12])
        self._print(f"run {snapshot.done}/{snapshot.total} {label}: {what}")
        self.tick(snapshot)

    def stuck(self, stuck: Sequence[Stuck]) -> None:
        """A line that stays for each run that makes no progress."""
        for each in stuck:
            self._print(no_progress(each, self._labels))

    def stop(self) -> None:
        """Take the bar away."""
        self._live.stop()

    def _print(self, text: str) -> None:
        self._live.console.print(printable_lines(text), markup=False, soft_wrap=True)


def choose_reporter(labels: Mapping[str, str], stream: TextIO | None = None) -> Reporter:
    """A bar if ``stream`` (stderr) is a terminal and this is no CI job, else plain lines.

    ``labels`` gives a run's key the name that a reader knows: "mos seed 3". Colours are rich's,
    which respects NO_COLOR.
    """
    stream = stream or sys.stderr
    dumb = os.environ.get("TERM") in {"dumb", "unknown"}
    if stream.isatty() and not dumb and not os.environ.get("CI"):
        return LiveReporter(labels, stream)
    return PlainReporter(labels, stream)


def started(total: int, reused: int, workers: str) -> str:
    """The first line."""
    runs = "1 run" if total == 1 else f"{total} runs"
    there = f", {reused} reused from the store" if reused else ""
    return f"{runs} to do on {workers}{there}"


def no_progress(stuck: Stuck, labels: Mapping[str, str]) -> str:
    """Which run makes no progress since when, which process works on it, and what can be done."""
    label = labels.get(stuck.key, stuck.key[:12])
    since = time.strftime("%H:%M:%S", time.localtime(time.time() - stuck.seconds))
    doing = f", {stuck.doing}" if stuck.doing else ""
    return (
        f"no progress since {since} ({duration(stuck.seconds)}): {label}, process {stuck.process}"
        f"{doing}; `kill -9 {stuck.process}` starts it again from its checkpoint"
    )


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
