"""Output layers and trunks of a user's own, tried before the first task is handed out.

A worker tries them again when it builds its model; what it would find then, of a run whose turn
comes after a day, is said here at once, and once for all seeds.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from typing import Literal

from repro.errors import DataError, OwnPartError
from repro.execution.measuring import Pool
from repro.execution.worker import TRAINED
from repro.specs.model import Own
from repro.specs.run import AnyTraining, PlannedRun, TrainingSpec
from repro.store import RunStore


def try_own_parts(todo: Iterable[PlannedRun], store: RunStore, pool: Pool) -> None:
    """Build the model of each configuration that has a part of a user's own, once, on ``pool``.

    Of runs that are trained already none is built. Raises OwnPartError with everything that is
    wrong, a blank line between.
    """
    trainings = {
        planned.run.training.digest(): planned.run.training
        for planned in todo
        if own_parts(planned.run.training) and store.state(planned.run.key) not in TRAINED
    }
    futures = [
        pool.executor.submit(mistake, training, pool.device) for training in trainings.values()
    ]
    found = dict.fromkeys(filter(None, map(_answer, futures)))
    if found:
        raise OwnPartError("\n\n".join(found))


def own_parts(training: AnyTraining) -> tuple[str, ...]:
    """The names of the parts that are from outside this package."""
    trunk = training.model.trunk if isinstance(training, TrainingSpec) else None
    return tuple(part.use for part in (trunk, training.model.output) if isinstance(part, Own))


def mistake(training: AnyTraining, device: Literal["cpu", "cuda"]) -> str:
    """What a worker does: build a model as for training; what is wrong with it, or nothing."""
    from repro.execution.numerics import numerics  # noqa: PLC0415 - the caller stays light
    from repro.lm.either import build  # noqa: PLC0415 - as above

    with numerics(device):
        try:
            build(training)
        except DataError as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 - a user's code may raise anything
            parts = " and ".join(own_parts(training))
            return (
                f"{parts}: a model with it cannot be built: {type(error).__name__}: {error}\n"
                "  expected: what the README says of a component of your own\n"
                "  to do: correct the class"
            )
    return ""


def _answer(future: Future[str]) -> str:
    """What a worker says; nothing if it cannot try, as without torch: tasks will say why."""
    try:
        return future.result()
    except Exception:  # noqa: BLE001 - whatever it is, the first task meets it again
        return ""
