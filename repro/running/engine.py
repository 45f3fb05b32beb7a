"""Engines: where the tasks of an execution are done. The table of those that are here, and options.

An engine is asked for by name, or as `module:Class`. ``auto``, ``processes`` and ``batched`` differ
in what a task is (`repro.running.grouping`), and their tasks are done by the same processes.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Self, TypeVar

from repro.consent import Consent, Module, require_code
from repro.errors import ClaimError, DataError
from repro.plugins import Table, class_of_others

if TYPE_CHECKING:
    from pathlib import Path

    from repro.store.run_store import RunStore
    from repro.trainers.trainer import Device

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Order:
    """What an engine is made for: ``workers`` tasks at a time on a ``device``.

    ``scheduler`` is what --scheduler names, and ``tell`` shows a line to whoever waits. Each
    worker sees one of the ``gpus``, in turn; all where there are none.
    """

    workers: int
    device: str
    scheduler: str
    tell: Callable[[str], None]
    gpus: tuple[str, ...] = ()


class Engine(Executor):
    """Does the tasks of an execution: an executor, and what is asked of it beside that.

    This one hands its calls to an ``executor`` of any other kind. A subclass makes one in ``made``,
    and answers otherwise where it can do more.
    """

    # asked of the class, before it is made: by the options of a command and by its preflight

    noun: ClassVar[str] = "this engine"
    """What messages call it."""

    takes_scheduler: ClassVar[bool] = False
    """Whether --scheduler may be given with it."""

    takes_gpus: ClassVar[bool] = False
    """Whether it shows each worker one GPU of several."""

    @classmethod
    def lacking(cls) -> str:
        """What has to be installed for it, and how; or nothing."""
        return ""

    @classmethod
    def here(cls, scheduler: str) -> bool:
        """Whether tasks are done on this machine, which then has to have what they need."""
        return not scheduler

    @classmethod
    def refused_limit(cls) -> str:
        """Why it takes no --limit, and what to do; nothing where ``end`` ends a call."""
        return (
            f"a run that {cls.noun} gives out cannot be ended from here\n"
            "  to do: leave the limit out; a command may declare its `minutes`"
        )

    @classmethod
    def refused_budget(cls) -> str:
        """Why it takes no --budget, and what to do; nothing where a call begins when it is given.

        Or begins soon: where no more calls are given than there are ``slots``.
        """
        return (
            f"when a run that {cls.noun} gives out would begin is not known here\n"
            "  to do: leave the budget out, or choose another --engine"
        )

    # asked by `execute`, which makes it, and ends what it has made

    grouping: ClassVar[str] = "processes"
    """What a task is for one that somebody made and handed to ``execute``; else its name says."""

    device: Device = "cpu"
    """Where others do its tasks: on what. Else that is known before it is made."""

    @property
    def at_once(self) -> int:
        """Where others do its tasks: how many at a time. Else that is known before it is made."""
        return 1

    @classmethod
    def made(cls, order: Order) -> Self:
        """An engine for an execution. EngineError where there can be none."""
        raise NotImplementedError(f"{cls.__name__}.made does not say what it is made of")

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Do a call, here or elsewhere; it can be pickled, and so can what it gives."""
        return self._executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - the base class has it so
        """Take no more calls; end after those that were given out."""
        self._executor.shutdown(wait, cancel_futures=cancel_futures)

    def terminate(self) -> None:
        """End at once, as at Ctrl-C: cancel what waits, and end what can be ended."""
        self.shutdown(wait=False, cancel_futures=True)

    # asked by `Dispatch`, which gives tasks out

    workers_differ: ClassVar[bool] = False
    """Whether one worker may have what another lacks, and more of them may join later."""

    def slots(self) -> int | None:
        """How many tasks should be given out now; None for all that there are."""
        return None

    def waiting(self) -> str:
        """What is waited for while nothing runs, in words; nothing where it is another process."""
        return ""

    # asked by `Watch`, which finds runs that are stuck: only where there is no ``refused_limit``

    def process_of(self, future: Future[Any]) -> int | None:
        """The process of this machine that works on a call; None while it waits, or afterwards."""
        del future
        return None

    def end(self, future: Future[Any], error: Exception) -> None:
        """End the process that works on a call, which then has ``error``."""


class SerialEngine(Engine):
    """Runs each task at once, in this process: for notebooks and for debugging."""

    grouping = "serial"

    def __init__(self) -> None:
        """Nothing does its calls but itself."""

    @classmethod
    def made(cls, order: Order) -> Self:
        del order
        return cls()

    @classmethod
    def refused_limit(cls) -> str:
        return (
            "a run that is trained in this process cannot be ended\n"
            "  to do: leave --engine serial out, or the limit"
        )

    @classmethod
    def refused_budget(cls) -> str:
        return ""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run the call before returning; an interrupt passes through."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - the future holds it
            future.set_exception(error)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - the base class has it so
        """Nothing is left to wait for: each call was done when it was submitted."""


ENGINES: Table[type[Engine]] = Table(
    "repro.engines",
    {
        "auto": "repro.running.pool:ProcessPool",
        "processes": "repro.running.pool:ProcessPool",
        "batched": "repro.running.pool:ProcessPool",
        "serial": "repro.running.engine:SerialEngine",
        "dask": "repro.running.dask_engine:DaskEngine",
    },
)


def engine_of(engine: str | Executor) -> type[Engine]:
    """The class that answers for an engine; ClaimError where the name is that of none."""
    if isinstance(engine, Executor):
        return type(engine) if isinstance(engine, Engine) else Engine
    refused = ("engine", "a class below repro.extend.Engine", "add-an-engine")
    try:
        found: type[Engine] = class_of_others(ENGINES, engine, Engine, refused)[1]
    except DataError as error:
        raise ClaimError(f"--engine {error}") from None
    return found


@dataclass(frozen=True, slots=True)
class Pool:
    """Where tasks are done: ``at_once`` at a time by ``engine``, on so many GPUs.

    ``shared``: they share the memory of the devices; else each has a device for itself. ``mps``:
    kernels of several processes run on a GPU at once.
    """

    engine: Engine
    at_once: int
    device: Device
    shared: bool = True
    gpus: int = 1
    mps: bool = False

    @property
    def sharing(self) -> int:
        """How many tasks share one memory at most."""
        return -(-self.at_once // self.gpus) if self.shared else 1

    @property
    def side_by_side(self) -> bool:
        """Whether processes train on a GPU at once, which beats one model of several replicates."""
        return self.mps and self.sharing > 1


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Where things are, and with what runs are trained; no number changes beyond round-off.

    ``engine`` is how replicates are trained, by name or as an executor that was made: each alone
    in one of the ``processes`` of a pool, several as one model (``batched``), or here (``serial``);
    ``auto`` is ``processes`` on a CPU and ``batched`` on a GPU without MPS, and so is any other.
    ``workers`` None is one per core. ``allow_code`` imports what configurations name of others,
    `use: module:object`. ``limit`` is how many seconds a run may take, and ``budget`` all of them
    together. ``scheduler`` is that of the engine, by address or file; empty for none, or one here.
    ClaimError for options that exclude each other, CodeError for an engine from outside repro.
    """

    store: RunStore
    data: Path | None = None
    device: str = "auto"
    engine: str | Executor = "auto"
    workers: int | None = None
    allow_code: Consent = False
    limit: float | None = None
    scheduler: str = ""
    budget: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.engine, str) and ":" in self.engine:
            require_code([Module(self.engine)], self.allow_code, {self.engine: "--engine"})
        if self.engine not in ENGINES.names():
            engine_of(self.engine)
        if self.scheduler and not self.engine_class.takes_scheduler:
            raise ClaimError("--scheduler: it is for --engine dask, which was not asked for")
        if self.scheduler and self.workers is not None:
            raise ClaimError("--workers: a scheduler has workers of its own; leave one of them out")

    @property
    def engine_class(self) -> type[Engine]:
        """The class of the engine, which answers for it before there is one."""
        return engine_of(self.engine)

    @property
    def grouping(self) -> str:
        """The engine by which tasks are made."""
        return self.engine if isinstance(self.engine, str) else self.engine_class.grouping
