"""Output layers and trunks of a user's own, tried before the first task is handed out.

A worker tries them again when it builds its model; what it would find then, of a run whose turn
comes after a day, is said here at once, and once for all seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Literal

from repro.errors import CodeError, DataError, OwnPartError
from repro.execution.engine import Pool
from repro.execution.pool import WorkerLostError
from repro.execution.worker import TRAINED
from repro.specs.code import code_of
from repro.specs.run import AnyTraining, PlannedRun
from repro.store import RunStore


def try_own_parts(todo: Iterable[PlannedRun], store: RunStore, pool: Pool) -> None:
    """Build the model of each configuration that has a part of a user's own, once, on ``pool``.

    Of runs that are trained already none is built. Raises OwnPartError with everything that is
    wrong, by configuration.
    """
    trainings = {
        planned.run.training.digest(): planned.run.training
        for planned in todo
        if own_parts(planned.run.training) and store.state(planned.run.key) not in TRAINED
    }
    futures = {
        digest: pool.executor.submit(mistake, training, pool.device)
        for digest, training in trainings.items()
    }
    answers = {digest: _answer(future, trainings[digest]) for digest, future in futures.items()}
    if any(answers.values()):
        raise OwnPartError({digest: answer for digest, answer in answers.items() if answer})


def refuse_code(todo: Iterable[PlannedRun], *, allowed: bool, tell: Callable[[str], None]) -> None:
    """CodeError where ``todo`` needs code of others and it is not ``allowed``; else say which."""
    names = sorted({name for planned in todo for name in own_parts(planned.run.training)})
    if names and not allowed:
        raise CodeError({name: f"{name}: code of others to be run here" for name in names})
    for name in names:
        tell(f"running code of others: {name}")


def own_parts(training: AnyTraining) -> tuple[str, ...]:
    """The names of the parts that are from outside this package."""
    return tuple(part.use for part in code_of(training).values())


def mistake(training: AnyTraining, device: Literal["cpu", "cuda"]) -> str:
    """What a worker does: build a model as for training; what is wrong with it, or nothing."""
    from repro.execution.numerics import numerics  # noqa: PLC0415 - the caller stays light
    from repro.lm.either import try_out  # noqa: PLC0415 - as above

    with numerics(device):
        try:
            try_out(training)
        except DataError as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 - a user's code may raise anything
            return _wrong(training, f"{type(error).__name__}: {error}")
    return ""


def _wrong(training: AnyTraining, why: str) -> str:
    return (
        f"{' and '.join(own_parts(training))}: a model with it cannot be built: {why}\n"
        "  expected: what docs/how-to/own-layer.md says\n"
        "  to do: correct the class"
    )


def _answer(future: Future[str], training: AnyTraining) -> str:
    """What a worker says, or what became of it; nothing where the first task will say why.

    As without torch, or where there is no memory for so many models at once.
    """
    try:
        return future.result()
    except WorkerLostError as error:
        return "" if error.killed else _wrong(training, str(error))
    except Exception:  # noqa: BLE001 - whatever it is, the first task meets it again
        return ""
