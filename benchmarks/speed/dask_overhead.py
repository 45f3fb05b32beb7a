"""A hundred replicates through dask, against the same through a pool of processes.

A sample is a whole `execute` in a fresh process and with a fresh store: the start and the end of
the cluster, or of the pool, are in it. The two take turns, and each pair gives a number.

``ratio`` is of the time by the clock, with the replicates of `replicates`: it needs a quiet
machine. ``cost`` is the processor time that dask takes more, with replicates of a program that
hardly takes any: so it says something of replicates of any size, also where others are at work.
"""

from __future__ import annotations

import os
import statistics
import threading
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from benchmarks.speed import machine
from benchmarks.speed.replicates import specification
from benchmarks.speed.rows import Found, Goal, Row, Settings
from benchmarks.speed.together import in_process
from repro.running.engine import RunOptions
from repro.running.execute import execute
from repro.store.run_store import RunStore
from repro.trainers.command.spec import CommandTraining, Results
from repro.trainers.run import PlannedRun, RunSpec

REPLICATES = 100
LIMIT = Goal(1.03, at_most=True)
MOST_BUSY = 0.1
"""The cores that others may keep busy in the second before a sample."""

LOOK_SECONDS = 0.2
"""Between two looks at the processor time of all processes of a sample."""


def ratio(settings: Settings) -> Found:
    """As many pairs as samples."""
    found = _pairs(settings, steps=40)
    walls = {name: [wall for wall, _ in each] for name, each in found["seconds"].items()}
    ratios = [b / a for a, b in zip(walls["processes"], walls["dask"], strict=True)]
    row = Row(
        f"{REPLICATES} replicates, {settings.threads} at once: dask over processes",
        statistics.median(ratios),
        "x",
        LIMIT,
        min(ratios),
        max(ratios),
        max(found["others"]) <= MOST_BUSY,
    )
    return Found([row], numbers=found)


def cost(settings: Settings) -> Found:
    """The processor time of dask for a hundred replicates, whatever their size."""
    found = _pairs(settings, steps=0)
    spent = {name: [cpu for _, cpu in each] for name, each in found["seconds"].items()}
    more = [b - a for a, b in zip(spent["processes"], spent["dask"], strict=True)]
    what = f"processor time that dask takes more for {REPLICATES} replicates"
    note = f"others kept up to {max(found['others']):.1f} cores busy before a sample"
    row = Row(what, statistics.median(more), "s", None, min(more), max(more), note=note)
    return Found([row], numbers=found)


def _pairs(settings: Settings, steps: int) -> dict[str, Any]:
    """Seconds by the clock and of processors, by engine; what others did before each sample."""
    names: tuple[str, str] = ("processes", "dask")
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    others: list[float] = []
    for turn in range(settings.samples):
        for name in names if turn % 2 == 0 else names[::-1]:
            others.append(_others())
            place = "benchmarks.speed.dask_overhead:sample"
            seconds[name].append(in_process(place, name, settings.threads, steps))
    return {"seconds": seconds, "others": others}


def _others() -> float:
    """The cores that others keep busy while nothing is done here."""
    before, began = machine.busy_seconds(), time.monotonic()
    time.sleep(1)
    return (machine.busy_seconds() - before) / (time.monotonic() - began)


def sample(engine: str, workers: int, steps: int) -> tuple[float, float]:
    """Seconds by the clock, and of processor time of all processes; a program for no steps."""
    with TemporaryDirectory() as folder:
        spec = specification(Path(folder), steps) if steps else _program(Path(folder))
        runs = [RunSpec(training=spec, replicate=number) for number in range(REPLICATES)]
        plan = [PlannedRun(run=run, measurements=()) for run in runs]
        store = RunStore(Path(folder) / "store")
        with Spent() as spent:
            began = time.monotonic()
            done = execute(
                plan,
                RunOptions(
                    store,
                    engine=engine,
                    workers=workers,
                    device="cpu",
                    data=Path(folder),
                    allow_code=True,
                ),
            )
            taken = time.monotonic() - began
    assert len(done.trained) == REPLICATES, done.failed
    return taken, spent.seconds


def _program(folder: Path) -> CommandTraining:
    """One that does nothing but leave a number."""
    return CommandTraining(
        command=("sh", "-c", "echo '{{\"error\": {seed}}}' > {out}/results.json"),
        results=Results(file="{out}/results.json"),
        folder=str(folder),
    )


class Spent:
    """Processor time of this process and of all below it, of those that ended as last seen."""

    def __init__(self) -> None:
        self._seen: dict[int, float] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._began = time.process_time()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self.seconds = time.process_time() - self._began + sum(self._seen.values())

    def _watch(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            for process in below(os.getpid()):
                with suppress(OSError, IndexError):
                    self._seen[process] = machine.cpu_seconds([process])


def below(process: int) -> set[int]:
    """The processes that a process has started, and those that these have."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
            parents[int(stat.parent.name)] = int(fields[1])
    found: set[int] = set()
    new = {process}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return found
