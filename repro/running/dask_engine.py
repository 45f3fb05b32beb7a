"""Tasks given out by dask.distributed, to a cluster or to a few processes of this machine.

dask places tasks, and gives one to another worker where a worker died; it does nothing else. Below
each of its workers processes of our own do the work, and what became of a run is what the store
has of it: a message that is lost costs nothing, and none is believed.
"""

from __future__ import annotations

import json
import logging
import pickle
import queue
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, ParamSpec, TypeVar

from repro.digest import digest, file_digest
from repro.errors import DataError, EngineError, StoreError
from repro.machine import package_version
from repro.running.engine import ENVIRONMENT, task_memory
from repro.running.plan import has_diverged, is_complete
from repro.running.pool import ProcessPool, WorkerLostError
from repro.running.worker import Outcome, Task
from repro.store.run_store import RunStore
from repro.trainers.run import PlannedRun
from repro.trainers.trainer import Device, trainer_of

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

P = ParamSpec("P")
T = TypeVar("T")

CONNECT_SECONDS: Final = 10.0
ABSENT_SECONDS = 60.0
"""How long a scheduler that went away is waited for."""

NOTICE_SECONDS: Final = 5.0
LOOK_SECONDS: Final = 0.25
"""Between two looks of a worker at whether its task is still asked for."""

MOST_TIMES: Final = 5
"""How often a task is given out that dask forgets."""

Answer = tuple[Literal["done", "raised", "killed", "died", "refused"], bytes]
"""What a worker says of a call: its pickled value, or why there is none."""


def lacking_dask() -> str:
    """What to install for this engine, or nothing."""
    if find_spec("distributed") is not None:
        return ""
    return "--engine dask needs dask.distributed: pip install 'repro-verdict[dask]'"


@dataclass(eq=False, slots=True)
class _Job:
    """A call that was submitted, and the future of dask's that stands for it now."""

    future: Future[Any]
    arguments: tuple[Any, ...]
    task: Task | None
    needs: dict[str, float]
    times: int = 0
    given: Future[Answer] = field(default_factory=Future)


class DaskEngine(Executor):
    """Calls done by the workers of ``scheduler``: an address, or the file that it wrote.

    Where it is empty, a cluster of ``workers`` processes on this machine, which ends with this.
    ``device`` ``auto`` is ``cuda`` if a worker has the resource GPU. ``tell`` is told what is
    waited for. EngineError without dask, and where no scheduler answers.
    """

    def __init__(
        self, scheduler: str, device: str, tell: Callable[[str], None], workers: int = 1
    ) -> None:
        if lack := lacking_dask():
            raise EngineError(lack)
        _quieten()
        self._scheduler, self._tell = scheduler, tell
        self._lock = threading.Lock()
        self._jobs: set[_Job] = set()
        self._ended: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._closed = threading.Event()
        self._gone: EngineError | None = None
        self._told: set[str] = set()
        with ExitStack() as stack:
            self._cluster = None if scheduler else stack.enter_context(_local_cluster(workers))
            self._client = self._connected()
            stack.callback(lambda: self._client.close(timeout=2))
            self._offers = self._offered()
            self._stack = stack.pop_all()
        self.at_once = max(1, int(sum(each["threads"] for each in self._offers)))
        has_gpu = any(each.get("GPU") for each in self._offers)
        self.device: Device = (
            "cuda" if device == "cuda" or (device == "auto" and has_gpu) else "cpu"
        )
        self._thread = threading.Thread(target=self._settle_all, daemon=True)
        self._thread.start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Give out a call, which must be picklable; what a run needs is asked of the worker."""
        future: Future[T] = Future()
        task = next((each for each in args if isinstance(each, Task)), None)
        keys = [] if task is None else [planned.run.key for planned in task.runs]
        arguments = (*_version(), pickle.dumps((fn, args, kwargs)), keys)
        job = _Job(future, arguments, task, self._needs(task))
        with self._lock:
            if self._closed.is_set():
                raise RuntimeError("the engine was shut down")
            self._jobs.add(job)
            self._give(job)
        future.add_done_callback(partial(self._over, job))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - the base class has it so
        """End after what was given out, or at once; a cluster that was made here ends too."""
        if wait and not cancel_futures and not self._closed.is_set():
            _await([job.future for job in list(self._jobs)])
        with self._lock:
            if self._closed.is_set():
                return
            self._closed.set()
            jobs = list(self._jobs)
        for job in jobs:
            job.future.cancel()
        self._ended.put(None)
        with suppress(Exception):  # whatever dask finds wrong with an end
            self._stack.close()
        self._thread.join(timeout=5)

    def terminate(self) -> None:
        """Cancel what waits, and have what runs ended."""
        self.shutdown(cancel_futures=True)

    def _give(self, job: _Job) -> None:
        """Let dask have a call; what it does not take is settled as lost."""
        job.times += 1
        try:
            executor = self._client.get_executor(pure=False)
            job.given = executor.submit(serve, *job.arguments, resources=job.needs or None)
        except Exception:  # noqa: BLE001 - such as a client that was closed meanwhile
            job.given = Future()
            job.given.cancel()
        job.given.add_done_callback(lambda _: self._ended.put(job))

    def _over(self, job: _Job, future: Future[Any]) -> None:
        """A call has its answer, or nobody asks for it any more."""
        self._jobs.discard(job)
        if future.cancelled():
            job.given.cancel()

    def _settle_all(self) -> None:
        """The thread that answers, and that gives out again what was lost."""
        while (job := self._ended.get()) is not None:
            if job.future.done():
                continue
            try:
                value = self._value(job)
            except CancelledError:
                self._give_again(job)
            except Exception as error:  # noqa: BLE001 - the future holds it
                if job.future.set_running_or_notify_cancel():
                    job.future.set_exception(error)
            else:
                if job.future.set_running_or_notify_cancel():
                    job.future.set_result(value)

    def _value(self, job: _Job) -> Any:
        """What came of a call. CancelledError if dask has forgotten it."""
        try:
            value = _value_of(_answer_in(job.given))
        except (CancelledError, EngineError):
            raise
        except Exception:
            if job.task is None or not (outcomes := _stored(job.task)):
                raise
            return outcomes
        return value if job.task is None else _confirmed(job.task, value)

    def _give_again(self, job: _Job) -> None:
        """The scheduler was lost with all that it knew: the store says what is left to do."""
        if self._closed.is_set():
            job.future.cancel()
            return
        error = self._reconnect()
        if job.times >= MOST_TIMES:
            error = EngineError(f"dask dropped a task {job.times} times; see its scheduler's log")
        if error is not None and job.future.set_running_or_notify_cancel():
            job.future.set_exception(error)
            return
        with self._lock:
            if not self._closed.is_set():
                self._give(job)

    def _reconnect(self) -> EngineError | None:
        """Wait for the scheduler if it is away; an error if it stays away."""
        if self._gone is not None or self._client.status == "running":
            return self._gone
        self._say(f"lost the dask scheduler ({self._scheduler}): waiting for it to come back")
        with suppress(Exception):
            self._client.close(timeout=1)
        deadline = time.monotonic() + ABSENT_SECONDS
        while not self._closed.wait(LOOK_SECONDS):
            try:
                self._client = self._connected()
            except EngineError as error:
                if time.monotonic() > deadline:
                    self._gone = error
                    break
            else:
                self._say("the dask scheduler is back")
                self._told.clear()
                break
        return self._gone

    def _connected(self) -> Client:
        """A client of the scheduler, wherever it is now."""
        from distributed import Client  # noqa: PLC0415 - an extra

        where: Any = self._cluster or address_of(self._scheduler)
        try:
            return Client(where, timeout=CONNECT_SECONDS, set_as_default=False)
        except Exception as error:
            raise EngineError(
                f"no dask scheduler answers at {self._scheduler or 'this machine'}: "
                f"{type(error).__name__}: {error}\n"
                "  to do: start it and give the same command again; finished runs are kept"
            ) from error

    def _offered(self) -> list[dict[str, float]]:
        """What each worker has: threads and resources, once there is one."""
        began = time.monotonic()
        while True:
            found = self._client.scheduler_info()["workers"].values()
            if found:
                return [{"threads": each["nthreads"], **each["resources"]} for each in found]
            if time.monotonic() - began > NOTICE_SECONDS:
                self._say(f"the dask scheduler ({self._scheduler}) has no worker: waiting for one")
            time.sleep(LOOK_SECONDS)

    def _needs(self, task: Task | None) -> dict[str, float]:
        """The resources that a call asks of a worker; those of this machine are shared already."""
        if not self._scheduler:
            return {}
        if task is None:
            needs = {"GPU": float(self.device == "cuda")}
        else:
            training = task.runs[0].run.training
            needs = {"GPU": float(trainer_of(training).gpus(training, task.device))}
            if any("MEMORY" in each for each in self._offers):
                needs["MEMORY"] = task_memory(task.runs)
        needs = {name: amount for name, amount in needs.items() if amount}
        if not any(_has(each, needs) for each in self._offers):
            shown = " ".join(f"{name}={amount:g}" for name, amount in needs.items())
            self._say(f"no dask worker was started with --resources '{shown}': waiting for one")
        return needs

    def _say(self, text: str) -> None:
        """Tell something once."""
        if text not in self._told:
            self._told.add(text)
            self._tell(text)


def address_of(scheduler: str) -> str:
    """The address that is meant, or that is in the file that is meant. EngineError for neither."""
    path = Path(scheduler)
    try:
        if path.is_file():
            return str(json.loads(path.read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, KeyError, TypeError):
        raise EngineError(
            f"--scheduler {scheduler}: this file names no scheduler\n"
            "  expected: the file of `dask scheduler --scheduler-file FILE`"
        ) from None
    if re.fullmatch(r"([a-z]+://)?[^/\s]+:[0-9]+", scheduler):
        return scheduler
    raise EngineError(
        f"--scheduler {scheduler}: there is no such file, and this is no address\n"
        "  expected: tcp://HOST:PORT, tls://HOST:PORT, or the file of "
        "`dask scheduler --scheduler-file FILE`"
    )


def _quieten() -> None:
    """Tracebacks that dask logs while it reconnects are no news: what matters is told here."""
    import distributed  # noqa: F401, PLC0415 - an extra, which sets levels of its own

    for name in [*logging.Logger.manager.loggerDict]:
        if name.split(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


QUIET: Final = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}
"""What dask measures of itself, which takes 3 % of a core per process, is left out."""


@contextmanager
def _local_cluster(workers: int) -> Iterator[LocalCluster]:
    """Worker processes of one thread each, at the loopback address."""
    import dask  # noqa: PLC0415 - an extra
    from distributed import LocalCluster  # noqa: PLC0415 - an extra

    with (
        dask.config.set(QUIET),
        tempfile.TemporaryDirectory(prefix="repro-dask-", ignore_cleanup_errors=True) as folder,
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            dashboard_address=None,
            local_directory=folder,
            silence_logs=logging.CRITICAL + 1,
        ) as cluster,
    ):
        yield cluster


def _await(futures: Sequence[Future[Any]]) -> None:
    wait(futures)


def _has(offer: dict[str, float], needs: dict[str, float]) -> bool:
    return all(offer.get(name, 0.0) >= amount for name, amount in needs.items())


def _answer_in(future: Future[Answer]) -> Answer:
    """What a worker says; what dask says instead, in our words. CancelledError as it is."""
    from distributed import KilledWorker  # noqa: PLC0415 - an extra

    try:
        return future.result()
    except CancelledError:
        raise
    except KilledWorker as error:
        times = error.allowed_failures + 1
        raise WorkerLostError(
            f"{times} dask workers died while they were at it; most likely for want of memory\n"
            "  to do: see the logs of the workers, or give them more memory",
            killed=True,
        ) from None
    except Exception as error:
        raise EngineError(
            f"a dask worker cannot take tasks: {type(error).__name__}: {error}: "
            f"install repro {_version()[0]} there, with its extra `dask`"
        ) from error


def _value_of(answer: Answer) -> Any:
    """The value in an answer, or the error."""
    kind, data = answer
    if kind == "done":
        return pickle.loads(data)  # noqa: S301 - from a worker of this scheduler, which is trusted
    text = data.decode("utf-8")
    if kind == "refused":
        raise EngineError(text)
    if kind == "raised":
        raise RuntimeError(text)
    raise WorkerLostError(text, killed=kind == "killed")


def _stored(task: Task) -> tuple[Outcome, ...]:
    """What the store has of a task that nobody answers for; nothing unless it has all of it."""
    store = RunStore(task.store, task.identity)
    with suppress(StoreError):
        if all(is_complete(store, planned) for planned in task.runs):
            return tuple(
                Outcome(each.run.key, "diverged" if has_diverged(store, each) else "reused")
                for each in task.runs
            )
    return ()


def _confirmed(task: Task, outcomes: tuple[Outcome, ...]) -> tuple[Outcome, ...]:
    """The outcomes that a worker tells; one that the store does not bear out is a failure."""
    store = RunStore(task.store, task.identity)
    runs = {planned.run.key: planned for planned in task.runs}
    return tuple(_checked(store, runs[outcome.key], outcome) for outcome in outcomes)


def _checked(store: RunStore, planned: PlannedRun, outcome: Outcome) -> Outcome:
    if outcome.status in {"busy", "failed"}:
        return outcome
    try:
        if is_complete(store, planned):
            return outcome
    except StoreError as error:
        return replace(outcome, status="failed", message=str(error), error=type(error).__name__)
    message = f"a worker says '{outcome.status}', and it is not in {store.root}"
    return replace(outcome, status="failed", message=message)


@cache
def _version() -> tuple[str, str]:
    """The version of this package, and the digest of its modules."""
    root = Path(__file__).parents[1]
    files = {str(path.relative_to(root)): file_digest(path) for path in root.rglob("*.py")}
    return package_version("repro-verdict"), digest(files)


# --- what runs at a worker -----------------------------------------------------------------


def serve(version: str, code: str, call: bytes, keys: list[str]) -> Answer:
    """Have a call done in a process below this worker.

    It is ended where nobody asks for it any more, or where the worker is about to close: then
    another one does it. ``call`` is read there, if ``version`` and ``code`` are those of this
    package.
    """
    from distributed import Reschedule, get_worker  # noqa: PLC0415 - an extra

    worker = get_worker()
    key = worker.get_current_task()
    if (version, code) != _version():
        here, other = _version()
        return "refused", (
            f"a dask worker ({worker.address}) has repro {here} (code {other[:8]}), and this is "
            f"repro {version} (code {code[:8]}): install the same there"
        ).encode()
    pool = _processes(worker.state.nthreads)
    future = pool.submit(answer, call, keys)
    while not future.done():
        wait([future], timeout=LOOK_SECONDS)
        state = worker.state.tasks.get(key)
        if worker.status.name not in _AT_WORK or state is None or state.state == "cancelled":
            pool.end(future, _UnaskedError())
    try:
        return "done", future.result()
    except _UnaskedError:
        raise Reschedule from None
    except EngineError as error:
        return "refused", f"a dask worker ({worker.address}) refuses: {error}".encode()
    except WorkerLostError as error:
        return "killed" if error.killed else "died", str(error).encode()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told
        return "raised", f"{type(error).__name__}: {error}".encode()


_AT_WORK: Final = {"init", "running", "paused"}


class _UnaskedError(Exception):
    """A call was ended because nobody waits for it here."""


@cache
def _processes(count: int) -> ProcessPool:
    """The processes below this worker, as many as it has threads; they die with it."""
    return ProcessPool(count, environment=ENVIRONMENT)


def answer(call: bytes, keys: list[str]) -> bytes:
    """The pickled value of a pickled call, done in this process.

    EngineError where a configuration is not the same here: its files, code of others, its key.
    """
    try:
        function, args, kwargs = pickle.loads(call)  # noqa: S301 - from whoever may use the scheduler
    except Exception as error:  # noqa: BLE001 - reading imports anybody's modules
        raise EngineError(f"a task cannot be read here: {type(error).__name__}: {error}") from None
    runs = [planned.run for task in args if isinstance(task, Task) for planned in task.runs]
    for run, key in zip(runs, keys, strict=True):
        if run.key != key:
            raise EngineError(f"a run has the key {run.key[:12]} here, and {key[:12]} there")
    for training in {run.training.digest(): run.training for run in runs}.values():
        try:
            changed = trainer_of(training).changed_here(training)
        except DataError as error:
            changed = str(error).splitlines()[0]
        if changed:
            raise EngineError(f"not as where the claim was read: {changed}")
    return pickle.dumps(function(*args, **kwargs))
