"""What a dask worker does with a call: it sees that it may, and has a process below it do it.

A worker on which something is another than where the command was given refuses, in one line that
names it: the code of repro, a package that numbers depend on, a file of a program. What is wrong
with its machine alone, such as a folder that is not mounted there, is told with its name too.
"""

from __future__ import annotations

import pickle
import platform
from collections.abc import Mapping
from concurrent.futures import wait
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final, Literal

from repro.digest import digest, file_digest
from repro.errors import CorpusError, DataError, DeviceError, EngineError, StoreUnreachableError
from repro.machine import NOT_INSTALLED, package_version
from repro.running.dask_cluster import LOOK_SECONDS
from repro.running.grouping import Task
from repro.running.pool import ENVIRONMENT, ProcessPool, WorkerLostError
from repro.running.worker import Outcome
from repro.trainers.base import Training
from repro.trainers.trainer import trainer_of

Answer = tuple[Literal["done", "raised", "killed", "died", "refused"], bytes]
"""What a worker says of a call: its pickled value, or why there is none."""

_AT_WORK: Final = {"init", "running", "paused"}
_OF_THE_MACHINE = {each.__name__ for each in (CorpusError, DeviceError, StoreUnreachableError)}


class _UnaskedError(Exception):
    """A call was ended because nobody waits for it here."""


@cache
def own_version() -> tuple[str, str]:
    """The version of this package, and the digest of its modules."""
    root = Path(__file__).parents[1]
    files = {str(path.relative_to(root)): file_digest(path) for path in root.rglob("*.py")}
    return package_version("repro-verdict"), digest(files)


def software_of(training: Training) -> dict[str, str]:
    """The releases here of what the numbers of a training depend on, as far as it is here."""
    names = trainer_of(training).software
    found = {name: _release(name) for name in (("python", *names) if names else ())}
    return {name: release for name, release in found.items() if release != NOT_INSTALLED}


def _release(name: str) -> str:
    """A version as far as numbers depend on it: 3.12 of Python, 2.6.0 of any build of torch."""
    if name == "python":
        return ".".join(platform.python_version_tuple()[:2])
    return package_version(name).partition("+")[0]


def difference(version: str, code: str, software: Mapping[str, str]) -> str:
    """What is another here than where a command was given; or nothing."""
    here, other = own_version()
    if (version, code) != (here, other):
        return (
            f"has repro {here} (code {other[:8]}), and this is repro {version} (code {code[:8]}): "
            "install the same there"
        )
    for name, release in software.items():
        found = _release(name)
        if found == NOT_INSTALLED:
            return f"has no {name}, and this is {name} {release}: install the same there"
        if found != release:
            return f"has {name} {found}, and this is {name} {release}: install the same there"
    return ""


def serve(
    version: str, code: str, software: dict[str, str], call: bytes, keys: list[str]
) -> Answer:
    """Have a call done in a process below this worker.

    It is ended where nobody asks for it any more, or where the worker is about to close: then
    another one does it. ``call`` is read there, if ``version``, ``code`` and ``software`` are what
    is here.
    """
    from distributed import Reschedule, get_worker  # noqa: PLC0415 - an extra

    worker = get_worker()
    key, where = worker.get_current_task(), f"a dask worker ({worker.address})"
    if unlike := difference(version, code, software):
        return "refused", f"{where} {unlike}".encode()
    pool = _processes(worker.state.nthreads)
    future = pool.submit(answer, call, keys, where)
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
        return "refused", f"{where} refuses: {error}".encode()
    except WorkerLostError as error:
        return "killed" if error.killed else "died", str(error).encode()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told
        return "raised", f"{type(error).__name__}: {error}".encode()


@cache
def _processes(count: int) -> ProcessPool:
    """The processes below this worker, as many as it has threads; they die with it."""
    return ProcessPool(count, environment=ENVIRONMENT)


def answer(call: bytes, keys: list[str], where: str) -> bytes:
    """The pickled value of a pickled call, done in this process, which is below ``where``.

    EngineError where a configuration is not the same here, or cannot be trained: its files, code
    of others, its key, a package that is not installed.
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
        trainer = trainer_of(training)
        package = trainer.package
        if package is not None and package_version(package.name) == NOT_INSTALLED:
            raise EngineError(package.needed)
        try:
            changed = trainer.changed_here(training)
        except DataError as error:
            changed = str(error).splitlines()[0]
        if changed:
            raise EngineError(f"not as where the claim was read: {changed}")
        if lack := trainer.uninstalled(training):
            raise EngineError(lack)
    value = function(*args, **kwargs)
    return pickle.dumps(tuple(_told(each, where) for each in value) if runs else value)


def _told(outcome: Outcome, where: str) -> Outcome:
    """An outcome that blames this machine where nothing but the machine is to blame."""
    if outcome.error not in _OF_THE_MACHINE:
        return outcome
    return replace(outcome, message=f"{where}: {outcome.message}")
