"""Warm processes as an engine; the death of one harms one task only.

Each worker is a fresh Python, started when it is first needed and served by a thread of this
process. If it dies, a new one is given its task. It has two pipes: one for calls and answers, and
one that the parent never writes to, whose end tells that the parent has died, however it did.
"""

from __future__ import annotations

import ctypes
import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, ClassVar, ParamSpec, Self, TypeVar

from repro.running.engine import Engine, Order

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

_START = (
    "import json, sys\n"
    "calls, life, path = json.loads(sys.argv[1])\n"
    "sys.path[:] = path\n"
    "from repro.running.pool import main\n"
    "main(calls, life)\n"
)


class WorkerLostError(BrokenExecutor):
    """The process of a task died, each time that the task was given out.

    ``killed``: by SIGKILL, as for want of memory, so that another time it may live.
    """

    def __init__(self, message: str, *, killed: bool) -> None:
        super().__init__(message)
        self.killed = killed


class _DiedError(Exception):
    """This process died; ``status`` as subprocess gives it, ``ready`` whether it had started."""

    def __init__(self, status: int, *, ready: bool) -> None:
        super().__init__(status)
        self.status = status
        self.ready = ready


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    future: Future[Any]
    call: Call


class ProcessPool(Engine):
    """``workers`` processes; ``environment`` is added to theirs, ``attempts`` are made a task.

    Each process sees one of the ``gpus``, in turn.
    """

    takes_gpus: ClassVar[bool] = True

    @classmethod
    def made(cls, order: Order) -> Self:
        return cls(order.workers, environment=ENVIRONMENT, gpus=order.gpus)

    @classmethod
    def refused_limit(cls) -> str:
        return ""

    @classmethod
    def refused_budget(cls) -> str:
        return ""

    def __init__(
        self,
        workers: int,
        *,
        environment: Mapping[str, str] | None = None,
        attempts: int = 3,
        gpus: Sequence[str] = (),
    ) -> None:
        _occupy_standard_streams()
        self.workers = workers
        self._environment = dict(environment or {})
        self._attempts, self._gpus = attempts, gpus
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._children: set[_Child] = set()
        self._serving: dict[Future[Any], _Child] = {}
        self._ended: dict[Future[Any], Exception] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._terminated = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Give out a call, which must be picklable; tasks start in the order of submission."""
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the pool was shut down")
            self._jobs.put(_Job(future, (fn, args, kwargs)))
            if len(self._threads) < self.workers:
                environment = self._environment_of(len(self._threads))
                thread = threading.Thread(target=self._serve, args=(environment,), daemon=True)
                self._threads.append(thread)
                thread.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - the base class has it so
        """Take no more tasks; the workers end after those that were given out."""
        with self._lock:
            self._closed = True
            if cancel_futures:
                self._cancel()
            for _ in self._threads:
                self._jobs.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def terminate(self) -> None:
        """Cancel what waits and kill what runs, now."""
        self._terminated = True
        self.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            children = list(self._children)
        for child in children:
            child.kill()
        for thread in self._threads:
            thread.join(timeout=5)

    def slots(self) -> int:
        """As many as there are processes: nothing waits here for one of them."""
        return self.workers

    def processes(self) -> tuple[int, ...]:
        """The process numbers of the living workers."""
        with self._lock:
            return tuple(sorted(child.process.pid for child in self._children))

    def process_of(self, future: Future[Any]) -> int | None:
        """The number of the process that works on a call; None while it waits, and afterwards."""
        with self._lock:
            child = self._serving.get(future)
        return None if child is None else child.process.pid

    def end(self, future: Future[Any], error: Exception) -> None:
        """Kill the process that works on a call, which is not given out again: it has ``error``."""
        with self._lock:
            child = self._serving.get(future)
            if child is not None:
                self._ended[future] = error
                child.kill()

    def _cancel(self) -> None:
        with suppress(queue.Empty):
            while True:
                job = self._jobs.get_nowait()
                if job is not None:
                    job.future.cancel()

    def _environment_of(self, worker: int) -> Mapping[str, str]:
        """What is added to the environment of this worker, and of those that take its place."""
        if not self._gpus:
            return self._environment
        return {
            **self._environment,
            "CUDA_VISIBLE_DEVICES": self._gpus[worker % len(self._gpus)],
        }

    def _serve(self, environment: Mapping[str, str]) -> None:
        """The thread of one worker."""
        # A worker inherits this: Ctrl-C is for the parent alone, also before it can ignore it.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        child: _Child | None = None
        while (job := self._jobs.get()) is not None:
            if job.future.set_running_or_notify_cancel():
                child = self._do(job, child, environment)
        if child is not None:
            self._forget(child)

    def _do(self, job: _Job, child: _Child | None, environment: Mapping[str, str]) -> _Child | None:
        """Have a call answered by the child, or by another if it dies; gives the last one."""
        statuses: list[int] = []
        while len(statuses) < self._attempts and not self._terminated:
            try:
                child = child or _Child(environment)
                self._assign(job, child)
                done, value = child.call(job.call)
            except _DiedError as death:
                if child is not None:
                    self._forget(child)
                child = None
                statuses.append(death.status)
                if not death.ready or job.future in self._ended:
                    break
            except Exception as error:  # noqa: BLE001 - such as a call that cannot be pickled
                self._answer(job, False, error)
                return child
            else:
                self._answer(job, done, value)
                return child
        self._answer(job, False, self._ended.get(job.future) or self._lost(statuses))
        return child

    def _answer(self, job: _Job, done: bool, value: Any) -> None:  # noqa: FBT001 - as it is sent
        """Nobody works on the call any more: say what came of it."""
        with self._lock:
            self._serving.pop(job.future, None)
            self._ended.pop(job.future, None)
        job.future.set_result(value) if done else job.future.set_exception(value)

    def _lost(self, statuses: list[int]) -> BrokenExecutor:
        if self._terminated or not statuses:
            return BrokenExecutor("the pool was terminated")
        return WorkerLostError(_describe(statuses), killed=statuses[-1] == -signal.SIGKILL)

    def _assign(self, job: _Job, child: _Child) -> None:
        """Say which child works on a call."""
        with self._lock:
            self._children.add(child)
            self._serving[job.future] = child
        if self._terminated:
            child.kill()

    def _forget(self, child: _Child) -> None:
        with self._lock:
            self._children.discard(child)
        child.close()


class _Child:
    """One worker process and the pipes to it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._ready = False
        self._connection, theirs = Pipe()
        life, self._life = os.pipe()
        try:
            setup = json.dumps([theirs.fileno(), life, sys.path])
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, setup],  # -P: no json.py of the folder's
                stdin=subprocess.DEVNULL,
                stdout=2,  # stdout is for results
                env={**os.environ, **environment},
                pass_fds=(theirs.fileno(), life),
            )
        except OSError:
            self._connection.close()
            os.close(self._life)
            raise
        finally:
            theirs.close()
            os.close(life)

    def call(self, call: Call) -> tuple[bool, Any]:
        """The answer to a call, which is given once the process has started."""
        try:
            self._ready = self._ready or self._connection.recv() == READY
            self._connection.send(call)
            answer: tuple[bool, Any] = self._connection.recv()
        except (EOFError, OSError) as error:
            raise _DiedError(self._reap(), ready=self._ready) from error
        return answer

    def _reap(self) -> int:
        """How the process ended; one that has closed its pipe is on its way out."""
        with suppress(subprocess.TimeoutExpired):
            return self.process.wait(timeout=2)
        self.kill()
        return self.process.wait()

    def kill(self) -> None:
        """End the process; nothing that it writes is ever half there."""
        with suppress(OSError):
            self.process.kill()

    def close(self) -> None:
        self._connection.close()
        with suppress(OSError):
            os.close(self._life)
        self._life = -1
        self.kill()
        self.process.wait()


def _occupy_standard_streams() -> None:
    """Lead those of the file numbers 0 to 2 that are closed nowhere, so that no pipe gets one.

    Before the first thread: a worker that another thread starts meanwhile would lack a stream.
    """
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(handle, True)
    os.close(handle)


def _describe(statuses: list[int]) -> str:
    last, times = statuses[-1], len(statuses)
    if last == -signal.SIGKILL:
        return (
            f"its process was killed {times} times; most likely the machine ran out of memory\n"
            "  to do: use fewer --workers, or a machine with more memory"
        )
    if last < 0:
        name = signal.Signals(-last).name
        return f"its process died of {name} {times} times; what it printed is above"
    return f"its process ended with status {last}; what it printed is above"


PR_SET_PDEATHSIG = 1
READY = "ready"
Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


def main(calls: int, life: int) -> None:
    """Serve calls until the parent closes the pipe or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # it ends at once when the parent ends, even by SIGKILL, whatever it is busy with
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    threading.Thread(target=_watch, args=(life,), daemon=True).start()
    connection = Connection(calls)
    try:
        connection.send(READY)
        while True:
            connection.send_bytes(_answer(connection.recv_bytes()))
    except (EOFError, OSError):
        os._exit(0)


def _answer(data: bytes) -> bytes:
    """(True, value) or (False, exception), pickled."""
    answer: tuple[bool, Any]
    try:
        call: Call = pickle.loads(data)  # noqa: S301 - from the parent, over a private pipe
        function, args, kwargs = call
        answer = True, function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - the caller decides
        answer = False, error
    try:
        data = pickle.dumps(answer)
        pickle.loads(data)  # noqa: S301 - our own: some exceptions do not survive the way back
    except Exception:  # noqa: BLE001 - pickling runs anybody's code
        data = pickle.dumps((False, RuntimeError(f"{type(answer[1]).__name__}: {answer[1]}")))
    return data


def _watch(life: int) -> None:
    os.read(life, 1)
    os._exit(1)
