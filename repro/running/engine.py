"""Engines, and how runs of one configuration are grouped into tasks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Literal, ParamSpec, TypeVar

from repro.consent import Consent
from repro.errors import ClaimError
from repro.machine import available_memory, cores
from repro.running.plan import remaining
from repro.running.pool import ProcessPool
from repro.store.run_store import RunStore
from repro.trainers.devices import visible_gpus
from repro.trainers.run import PlannedRun
from repro.trainers.trainer import (
    PROCESS_MEMORY,
    memory,
    replicate_memory,
    trainer_of,
)

P = ParamSpec("P")
T = TypeVar("T")

# One thread per process beats one process with many threads, and sums do not depend on the machine.
# glibc gives large blocks back at each free and faults them in again, unless it is told not to.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    "MALLOC_MMAP_THRESHOLD_": str(4 * 2**30),
    "MALLOC_TRIM_THRESHOLD_": str(8 * 2**30),
}


class SerialEngine(Executor):
    """Runs each task at once, in this process: for notebooks and for debugging."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run the call before returning; an interrupt passes through."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - the future holds it
            future.set_exception(error)
        return future


@dataclass(frozen=True, slots=True)
class Pool:
    """Where tasks are done: ``at_once`` at a time on ``executor``.

    ``shared``: all on one device, whose memory they share; else each has one of its own.
    """

    executor: Executor
    at_once: int
    device: Literal["cpu", "cuda"]
    shared: bool = True


def engine(name: EngineName, workers: int) -> Executor:
    """This process for ``serial``, else a warm pool: the others differ in what a task is."""
    return SerialEngine() if name == "serial" else ProcessPool(workers, environment=ENVIRONMENT)


def pool_size(
    workers: int | None,
    device: str,
    needs: Sequence[float],
    cores_each: Sequence[int] = (),
    own_gpus: Sequence[int] | None = None,
) -> int:
    """``workers``, else one per core, or one in all when the device is ``cuda``.

    Fewer where memory or cores are too few for as many tasks at once, which need ``needs`` bytes
    and ``cores_each`` cores. Of tasks that take ``own_gpus`` as many as there are GPUs for.
    """
    if workers is None and (device == "cpu" or own_gpus is not None):
        by_memory = fitting(needs, available_memory(), cores())
        workers = min(by_memory, fitting(cores_each, cores(), cores()))
        if own_gpus and any(own_gpus):
            workers = min(workers, fitting(own_gpus, len(visible_gpus()), cores()))
    return max(1, workers or 1)


def own_gpus(todo: Sequence[PlannedRun]) -> list[int] | None:
    """How many GPUs each run takes for itself; None where some share the one of their process."""
    trainings = [planned.run.training for planned in todo]
    if not all(trainer_of(each).own_gpus for each in trainings):
        return None
    return [trainer_of(each).gpus(each, "cuda") for each in trainings]


def fitting(needs: Sequence[float], available: float, most: int) -> int:
    """How many tasks may run at once, whichever they are, with what is available to all."""
    largest = sorted(needs, reverse=True)[:most]
    fit = sum(total <= available for total in accumulate(largest))
    return most if fit == len(largest) else max(1, fit)


EngineName = Literal["auto", "processes", "batched", "serial", "dask"]


@dataclass(frozen=True, slots=True)
class Choice:
    """``together`` replicates in one model, ``at_once`` tasks at a time, and why."""

    engine: Literal["processes", "batched", "serial"] = "processes"
    together: int = 1
    at_once: int = 1
    why: str = "asked for"

    def __str__(self) -> str:
        times = f"{self.at_once} at once" + (", one thread each" if self.at_once > 1 else "")
        if self.engine == "processes":
            return f"processes ({times})"
        return f"batched ({self.together} replicates in a model, {times})"

    def facts(self, together: int) -> dict[str, str | int]:
        """For the provenance of a run that was trained in one model with others, or alone."""
        return {
            "name": self.engine,
            "together": together,
            "at_once": self.at_once,
            "why": self.why,
        }


ALONE = Choice()
"""Each run alone."""


def sentences(choices: Sequence[Choice]) -> list[str]:
    """A line for each way of training that was chosen, of so many configurations."""
    ways = list(dict.fromkeys((choice.engine, choice.why) for choice in choices))
    lines = []
    for way in ways:
        some = [choice for choice in choices if (choice.engine, choice.why) == way]
        share = "" if len(ways) == 1 else f" for {len(some)} of {len(choices)} configurations"
        largest = max(some, key=lambda choice: choice.together)
        lines.append(f"engine{share}: {largest}: {largest.why}; --engine overrides")
    return lines


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Where things are, and with what runs are trained; no number changes beyond round-off.

    ``engine`` is how replicates are trained, as ``execute`` says; ``workers`` None is one per core.
    ``allow_code`` imports what configurations name of others, `use: module:object`.
    ``limit`` is how many seconds a run may take, and ``budget`` all of them together.
    ``scheduler`` is that of ``dask``, by address or file; empty for a cluster on this machine.
    ClaimError for options that exclude each other.
    """

    store: RunStore
    data: Path | None = None
    device: str = "auto"
    engine: EngineName = "auto"
    workers: int | None = None
    allow_code: Consent = False
    limit: float | None = None
    scheduler: str = ""
    budget: float | None = None

    def __post_init__(self) -> None:
        if self.scheduler and self.engine != "dask":
            raise ClaimError("--scheduler: it is for --engine dask, which was not asked for")
        if self.scheduler and self.workers is not None:
            raise ClaimError("--workers: a scheduler has workers of its own; leave one of them out")


MOST_TOGETHER = 16
"""Replicates in one model at most: more wait for each other, and win little."""


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that differ in their replicate alone and are to be trained, the longest first."""

    runs: tuple[PlannedRun, ...]

    def together(self, at_once: int, available: float) -> int:
        """Replicates in a model: as many as ``at_once`` tasks may have, in equal parts.

        ``available`` is in bytes, for each of the tasks. 1 where the trainer trains replicates in
        turn in any case.
        """
        training = self.runs[0].run.training
        if not trainer_of(training).batched(training):
            return 1
        each = replicate_memory(training)
        room = max(0.0, available - PROCESS_MEMORY) / each
        most = max(1, int(min(room, MOST_TOGETHER)))
        parts = max(-(-len(self.runs) // most), min(at_once, len(self.runs)))
        return -(-len(self.runs) // parts)

    def parts(self, together: int) -> list[tuple[PlannedRun, ...]]:
        """The runs in parts of at most ``together``, whose sizes differ by one at most."""
        count = -(-len(self.runs) // together)
        return [self.runs[index::count] for index in range(count)]


def grouped(
    todo: Sequence[PlannedRun], store: RunStore
) -> tuple[list[Group], list[tuple[PlannedRun, ...]]]:
    """What is to be trained, by configuration; and each run that is only to be measured."""
    found: dict[tuple[str, int, str], list[PlannedRun]] = {}
    trained: list[tuple[PlannedRun, ...]] = []
    for planned in todo:
        run = planned.run
        if remaining(store, planned).training == 0:
            trained.append((planned,))
        else:
            found.setdefault((run.training.digest(), run.root, run.streams), []).append(planned)
    return [Group(tuple(each)) for each in found.values()], trained


def task_memory(runs: Sequence[PlannedRun]) -> float:
    """Bytes that a process needs to train these runs as one model, and then to measure each."""
    trained = PROCESS_MEMORY + len(runs) * replicate_memory(runs[0].run.training)
    return max(trained, *(memory(each) for each in runs))
