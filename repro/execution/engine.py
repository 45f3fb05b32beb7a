"""Engines: names of ways to run tasks, each a ``concurrent.futures.Executor``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, ParamSpec, TypeVar

from repro.execution.choice import EngineName
from repro.execution.pool import ProcessPool
from repro.machine import available_memory, cores

P = ParamSpec("P")
T = TypeVar("T")

# One thread a process beats one process with many threads, and sums do not depend on the machine.
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
    """Where tasks are done: ``at_once`` at a time on ``executor``."""

    executor: Executor
    at_once: int
    device: Literal["cpu", "cuda"]


def engine(
    name: EngineName = "processes",
    *,
    workers: int | None = None,
    device: str = "cpu",
    needs: Sequence[float] = (),
) -> Executor:
    """The engine of that name.

    ``serial``: this process. ``processes`` and ``batched``, and ``auto``, which is one of them: a
    warm pool of as many processes as ``pool_size`` says; they differ in what a task is.
    """
    if name == "serial":
        return SerialEngine()
    return ProcessPool(pool_size(workers, device, needs), environment=ENVIRONMENT)


def pool_size(workers: int | None, device: str, needs: Sequence[float]) -> int:
    """``workers``, else one a core, or one in all when the device is ``cuda``.

    Fewer where the memory is too small for as many tasks at once, which need ``needs`` bytes each.
    """
    if workers is None:
        workers = fitting(needs, available_memory(), cores()) if device == "cpu" else 1
    return max(1, workers)


def fitting(needs: Sequence[float], available: float, most: int) -> int:
    """How many tasks may run at once, whichever they are, without running out of memory."""
    largest = sorted(needs, reverse=True)[:most]
    fit = sum(total <= available for total in accumulate(largest))
    return most if fit == len(largest) else max(1, fit)
