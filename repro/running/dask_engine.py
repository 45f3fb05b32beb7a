"""Tasks given out by dask.distributed, to a cluster or to a few processes of this machine.

dask places tasks, and gives one to another worker where a worker died; it does nothing else. Below
each of its workers processes of our own do the work, and what became of a run is what the store
has of it: a message that is lost costs nothing, and none is believed.
"""

from __future__ import annotations

import asyncio
import pickle
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from concurrent.futures import wait as wait_for
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, ParamSpec, Self, TypeVar

from repro.errors import EngineError, StoreError
from repro.running.dask_cluster import (
    LOOK_SECONDS,
    address_of,
    await_address,
    lack_of,
    local_cluster,
    offers_of,
    quieten,
    settled,
)
from repro.running.dask_worker import Answer, own_version, serve, software_of
from repro.running.engine import Engine, Order
from repro.running.grouping import Task, task_memory
from repro.running.plan import has_diverged, is_complete
from repro.running.pool import WorkerLostError
from repro.running.worker import Outcome
from repro.store.run_store import RunStore
from repro.trainers.run import PlannedRun
from repro.trainers.trainer import trainer_of

if TYPE_CHECKING:
    from distributed import Client

P = ParamSpec("P")
T = TypeVar("T")

CONNECT_SECONDS: Final = 10.0
ABSENT_SECONDS = 60.0
"""How long a scheduler that went away is waited for."""

GATHER_SECONDS: Final = 10.0
"""How long an answer may take that a worker has given already."""

POLL_SECONDS = 5.0
"""Between two looks at which workers there are."""

MOST_TIMES: Final = 5
"""How often a task is given out that dask forgets, or whose workers die before it has begun."""


@dataclass(eq=False, slots=True)
class _Job:
    """A call that was submitted, and what stands for it now: a future of a client of dask's.

    ``before`` is what the store had of its runs then.
    """

    future: Future[Any]
    arguments: tuple[Any, ...]
    task: Task | None
    needs: dict[str, float]
    before: Any = None
    times: int = 0
    client: Client | None = None
    given: Any = None


class DaskEngine(Engine):
    """Calls done by the workers of ``scheduler``: an address, or the file that it wrote.

    Where it is empty, a cluster of ``workers`` processes on this machine, which ends with this.
    ``device`` ``auto`` is ``cuda`` if a worker has the resource GPU. ``tell`` is told what is
    waited for. EngineError without dask, and where no scheduler answers.
    """

    noun = "dask"
    takes_scheduler = True
    workers_differ = True

    @classmethod
    def lacking(cls) -> str:
        if find_spec("distributed") is not None:
            return ""
        return "--engine dask needs dask.distributed: pip install 'repro-verdict[dask]'"

    @classmethod
    def made(cls, order: Order) -> Self:
        return cls(order.scheduler, order.device, order.tell, order.workers)

    def __init__(
        self, scheduler: str, device: str, tell: Callable[[str], None], workers: int = 1
    ) -> None:
        if lack := self.lacking():
            raise EngineError(lack)
        quieten()
        self._scheduler, self._tell = scheduler, tell
        self._lock = threading.Lock()
        self._jobs: set[_Job] = set()
        self._ended: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._closed = threading.Event()
        self._gone: EngineError | None = None
        self._told: set[str] = set()
        self._waits_for = ""
        with ExitStack() as stack:
            if scheduler:
                await_address(scheduler, self._say)
            self._cluster = None if scheduler else stack.enter_context(local_cluster(workers))
            self._client = self._connected()
            stack.callback(lambda: self._client.close(timeout=2))
            self._offers = settled(self._client, device, self._say) if scheduler else []
            self._stack = stack.pop_all()
        has_gpu = any(each.tasks("cuda") for each in self._offers)
        self.device = "cuda" if device == "cuda" or (device == "auto" and has_gpu) else "cpu"
        if scheduler:
            count, at_once = len(self._offers), self.at_once
            there = f"{count} worker{'s' * (count > 1)}"
            tasks = f"{at_once} task{'s' * (at_once > 1)} at once on {self.device}"
            self._say(f"the dask cluster has {there} now: {tasks}")
        self._thread = threading.Thread(target=self._settle_all, daemon=True)
        self._thread.start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Give out a call, which must be picklable; what a run needs is asked of the worker."""
        future: Future[T] = Future()
        task = next((each for each in args if isinstance(each, Task)), None)
        keys = [] if task is None else [planned.run.key for planned in task.runs]
        software = {} if task is None else software_of(task.runs[0].run.training)
        arguments = (*own_version(), software, pickle.dumps((fn, args, kwargs)), keys)
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
            wait_for([job.future for job in list(self._jobs)])
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

    @property
    def at_once(self) -> int:
        """How many tasks the workers that are here can do at a time; one, if none are."""
        return max(1, sum(each.tasks(self.device) for each in self._offers))

    def slots(self) -> int | None:
        """How many tasks should be given out now; None for all that there are.

        On GPUs replicates are one task, and what is not given out can be parted among workers that
        join later.
        """
        return self.at_once if self._scheduler and self.device == "cuda" else None

    def waiting(self) -> str:
        """What is waited for while nothing runs, in words."""
        return self._waits_for or "waiting for a dask worker to take a task"

    def _give(self, job: _Job) -> None:
        """Let dask have a call; what it does not take is settled as lost."""
        job.times += 1
        job.before, job.client = _traces(job.task), self._client
        needs = job.needs or None
        try:
            job.given = job.client.submit(serve, *job.arguments, pure=False, resources=needs)
            job.given.add_done_callback(lambda _: self._ended.put(job))
        except Exception:  # noqa: BLE001 - such as a client that was closed meanwhile
            job.given = None
            self._ended.put(job)

    def _over(self, job: _Job, future: Future[Any]) -> None:
        """A call has its answer, or nobody asks for it any more."""
        self._jobs.discard(job)
        given, job.given = job.given, None
        if future.cancelled() and given is not None:
            with suppress(Exception):  # such as a client that was closed meanwhile
                given.cancel()

    def _settle_all(self) -> None:
        """The thread that answers, that gives out again what was lost, and that looks around."""
        looked = time.monotonic()
        while not self._closed.is_set():
            with suppress(queue.Empty):
                job = self._ended.get(timeout=POLL_SECONDS)
                if job is None:
                    return
                self._settle(job)
            if time.monotonic() - looked >= POLL_SECONDS:
                self._look()
                looked = time.monotonic()

    def _settle(self, job: _Job) -> None:
        """Say what came of a call, or give it out again."""
        given = job.given
        if job.future.done():
            return
        if job.client is not self._client or self._client.status != "running":
            given = None
        if given is not None and given.status == "pending":
            return  # it was given out again meanwhile
        try:
            value = self._value(job, given)
        except CancelledError:
            self._give_again(job)
        except Exception as error:  # noqa: BLE001 - the future holds it
            if job.future.set_running_or_notify_cancel():
                job.future.set_exception(error)
        else:
            if job.future.set_running_or_notify_cancel():
                job.future.set_result(value)

    def _value(self, job: _Job, given: Any) -> Any:
        """What came of a call. CancelledError if dask has forgotten it, or never had it begun."""
        try:
            value = _value_of(_answer_to(job, given))
        except EngineError:
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
        if error is None:
            with self._lock:
                if not self._closed.is_set():
                    self._give(job)
        elif job.future.set_running_or_notify_cancel():
            job.future.set_exception(error)

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
        self._settle_missed()  # whatever the old client still knew of them
        return self._gone

    def _settle_missed(self) -> list[_Job]:
        """Have those calls settled whose end was not told; gives the others, too."""
        with self._lock:
            jobs = list(self._jobs)
        for job in jobs:
            given = job.given
            if given is None or given.status != "pending" or job.client is not self._client:
                self._ended.put(job)
        return jobs

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

    def _needs(self, task: Task | None) -> dict[str, float]:
        """The resources that a call asks of a worker; those of this machine are shared already."""
        if not self._scheduler:
            return {}
        if task is None:
            needs = {"GPU": float(self.device == "cuda")}
        else:
            training = task.runs[0].run.training
            needs = {"GPU": float(trainer_of(training).gpus(training, task.device))}
            if any("MEMORY" in each.resources for each in self._offers):
                needs["MEMORY"] = task_memory(task.runs, task.device)
        needs = {name: amount for name, amount in needs.items() if amount}
        if lack := lack_of(self._offers, needs):
            self._say(f"{lack}: waiting for one")
        return needs

    def _look(self) -> None:
        """See which workers there are, and say for what calls wait that none of them can do."""
        jobs = self._settle_missed()
        offers = offers_of(self._client) if self._client.status == "running" else None
        if offers is None:
            return
        self._offers = offers
        found = (lack_of(offers, job.needs) for job in jobs)
        lacks = sorted({lack for lack in found if lack})
        self._waits_for = lacks[0] if lacks else ""
        for lack in lacks:
            self._say(f"{lack}: waiting for one")
        if not lacks:
            self._told.clear()

    def _say(self, text: str) -> None:
        """Tell a state of the cluster, once for as long as it lasts."""
        if text not in self._told:
            self._told.add(text)
            self._tell(text)


def _answer_to(job: _Job, given: Any) -> Answer:
    """What came of a call. CancelledError if dask has forgotten it, or never had it begun."""
    if given is None or given.status == "lost" or _never_begun(job, given):
        raise CancelledError
    return _answer_in(given)


def _asked(question: Callable[..., Any]) -> Any:
    """What a future of dask's that has ended says of itself. CancelledError if it cannot."""
    try:
        return question(timeout=GATHER_SECONDS)
    except (Exception, asyncio.CancelledError) as lost:
        raise CancelledError(str(lost)) from lost


def _never_begun(job: _Job, given: Any) -> bool:
    """Whether dask blames a task for the deaths of workers at which it was only waiting."""
    from distributed import KilledWorker  # noqa: PLC0415 - an extra

    if job.times >= MOST_TIMES or given.status != "error":
        return False
    if not isinstance(_asked(given.exception), KilledWorker):
        return False
    return job.before is not None and _traces(job.task) == job.before


def _answer_in(given: Any) -> Answer:
    """What a worker says; what dask says instead, in our words. CancelledError if that is lost."""
    from distributed import KilledWorker  # noqa: PLC0415 - an extra

    error = _asked(given.exception)
    if error is None:
        answer: Answer = _asked(given.result)
        return answer
    if isinstance(error, KilledWorker):
        times = error.allowed_failures + 1
        raise WorkerLostError(
            f"{times} dask workers died while they were at it; most likely for want of memory\n"
            "  to do: see the logs of the workers, or give them more memory",
            killed=True,
        )
    raise EngineError(
        f"a dask worker cannot take tasks: {type(error).__name__}: {error}: "
        f"install repro {own_version()[0]} there, with its extra `dask`"
    )


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


def _traces(task: Task | None) -> Any:
    """What the store has of the runs of a task, to see later whether anybody began them."""
    if task is None:
        return None
    store, keys = RunStore(task.store, task.identity), [each.run.key for each in task.runs]
    with suppress(StoreError):
        return [(store.state(key), store.progress(key)) for key in keys]
    return None


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
