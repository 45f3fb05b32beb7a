"""What training needs and is not there, told before anything is timed or trained.

Corpora, a device, room on the store's disk, memory: each that is missing is one line, with what to
do about it. Sizes are estimates, on the generous side. Parts of a user's own are tried here too,
once for all seeds: a worker would meet what is wrong only when their turn comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, Literal

from repro.consent import Consent, require_code
from repro.errors import DataError, DeviceError, OwnPartError, PreflightError
from repro.machine import NOT_INSTALLED, available_memory, cores, free_disk, package_version
from repro.running.engine import Pool, RunOptions
from repro.running.grouping import task_memory
from repro.running.pool import WorkerLostError
from repro.schema.numbers import number_of
from repro.store.run_store import RunStore
from repro.trainers.base import Training
from repro.trainers.devices import has_driver, resolve_device
from repro.trainers.run import PlannedRun
from repro.trainers.trainer import NamesCode, Trainer, code_of, trainer_of

CHECKPOINT = 6.0
"""Copies of the weights in a checkpoint while it is replaced: now, mean and best, old and new."""


def require(missing: Sequence[PlannedRun], options: RunOptions) -> None:
    """PreflightError with a line for each thing that the missing runs need and is not there."""
    lacks = lacking(missing, options)
    if lacks:
        raise PreflightError(lacks)


def lacking(missing: Sequence[PlannedRun], options: RunOptions) -> list[str]:
    """The lines of ``require``; none where nothing is missing."""
    if not missing:
        return []
    trainings = [planned.run.training for planned in missing]
    corpora = {trainer_of(each).reads(each): each for each in trainings}
    engine = options.engine_class
    here = engine.here(options.scheduler)  # else other machines train
    lines = [_package(trainer_of(each)) for each in trainings if here]
    lines += [trainer_of(each).uninstalled(each) for each in corpora.values() if here]
    lines += [trainer_of(each).lacking(each, options.data) for each in corpora.values()]
    lines += _lacking_of_measurements(missing, options)
    lines.append(engine.lacking())
    return [
        *dict.fromkeys(filter(None, lines)),
        *(_device(options.device) if here else ()),
        *_room(missing, options),
        *(_memory(missing, options) if here else ()),
    ]


def _package(trainer: Trainer[Any]) -> str:
    """The package that a trainer trains with, where it is not installed."""
    if trainer.package is None or package_version(trainer.package.name) != NOT_INSTALLED:
        return ""
    return trainer.package.needed


def _lacking_of_measurements(missing: Sequence[PlannedRun], options: RunOptions) -> Iterator[str]:
    """What measurements read apart from the corpora, each once for all runs on one corpus."""
    every = ((p.run.training, each) for p in missing for each in p.measurements)
    distinct = {(each, trainer_of(t).reads(t)): (t, each) for t, each in every}
    for training, measurement in distinct.values():
        if lack := measurement.lacking(training, options.data):
            yield f"needs {lack}"


def _device(device: str) -> Iterator[str]:
    """A GPU that is asked for and is not there; any other machine has a processor."""
    try:
        if device == "cuda":
            resolve_device(device)
    except DeviceError as error:
        yield f"needs the {str(error).splitlines()[0]}; use --device cpu or --device auto"


def _room(missing: Sequence[PlannedRun], options: RunOptions) -> Iterator[str]:
    """The disk: weights and spectra of what is missing, and checkpoints meanwhile."""
    trainings = [planned.run.training for planned in missing]
    weights = [trainer_of(training).disk(training) for training in trainings]
    spectra = sum(
        each.stored(planned.run.training) for planned in missing for each in planned.measurements
    )
    at_once = sorted(weights, reverse=True)[: options.workers or cores()]
    root = options.store.root
    need, free = sum(weights) + spectra + CHECKPOINT * sum(at_once), free_disk(root)
    if need > free:
        runs = number_of(len(missing), "run")
        yield (
            f"needs about {_bytes(need)} of disk for {runs}, and {_bytes(free)} are free where the "
            f"store {root} is; make room, or set REPRO_STORE to a folder on another disk"
        )


def _memory(missing: Sequence[PlannedRun], options: RunOptions) -> Iterator[str]:
    """Arms of which not even one run fits; who names a number of processes is believed."""
    gpu = options.device == "cuda" or (options.device == "auto" and has_driver())
    if options.workers is not None or gpu:
        return
    free = available_memory()
    needs: dict[str, float] = {}
    for planned in missing:
        needs[planned.arm] = max(needs.get(planned.arm, 0.0), task_memory([planned]))
    for arm, need in needs.items():
        if need > free:
            yield (
                f"needs about {_bytes(need)} of memory for one run of {arm}, and {_bytes(free)} "
                "are free; use a machine with more, or --workers 1 to try it all the same"
            )


def _bytes(size: float) -> str:
    """`340 MB`, `2.1 GB`, `47 GB`."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9)):
        if size >= factor:
            digits = 1 if size < 10 * factor else 0
            return f"{size / factor:,.{digits}f} {unit}"
    return f"{size / 1e6:.0f} MB"


def try_own_parts(todo: Iterable[PlannedRun], store: RunStore, pool: Pool) -> None:
    """Build each model with a part of a user's own that is to be trained, once, on ``pool``.

    Raises OwnPartError with everything that is wrong, by configuration.
    """
    trainings = {
        planned.run.training.digest(): planned.run.training
        for planned in todo
        if own_parts(planned.run.training) and not store.committed(planned.run.key)
    }
    futures = {
        digest: pool.engine.submit(mistake, training, pool.device)
        for digest, training in trainings.items()
    }
    answers = {digest: _answer(future, trainings[digest]) for digest, future in futures.items()}
    if any(answers.values()):
        raise OwnPartError({digest: answer for digest, answer in answers.items() if answer})


def refuse_code(
    todo: Iterable[PlannedRun], *, allowed: Consent, tell: Callable[[str], None]
) -> None:
    """CodeError for code from outside repro that is not ``allowed``; else say what is run."""
    code = sorted(code_of_runs(todo), key=lambda part: part.use)
    require_code(code, allowed)
    for name in dict.fromkeys(part.use for part in code):
        tell(f"running code from outside repro: {name}")


def code_of_runs(runs: Iterable[PlannedRun]) -> Iterator[NamesCode]:
    """The code from outside repro that training them needs, once for each run."""
    for planned in runs:
        yield from code_of(planned.run.training).values()


def own_parts(training: Training) -> tuple[str, ...]:
    """The names of the parts that are from outside this package."""
    return tuple(part.use for part in code_of(training).values())


def mistake(training: Training, device: Literal["cpu", "cuda"]) -> str:
    """What a worker does: build a model as for training; what is wrong with it, or nothing."""
    trainer = trainer_of(training)
    with trainer.numerics(device):
        try:
            trainer.try_out(training)
        except DataError as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 - a user's code may raise anything
            return _wrong(training, f"{type(error).__name__}: {error}")
    return ""


def _wrong(training: Training, why: str) -> str:
    return (
        f"{' and '.join(own_parts(training))}: a model with it cannot be built: {why}\n"
        "  expected: what docs/how-to/own-layer.md says\n"
        "  to do: correct the class"
    )


def _answer(future: Future[str], training: Training) -> str:
    """What a worker says, or what became of it; nothing where the first task will say why."""
    try:
        return future.result()
    except WorkerLostError as error:
        return "" if error.killed else _wrong(training, str(error))
    except Exception:  # noqa: BLE001 - such as no torch: the first task meets it again
        return ""
