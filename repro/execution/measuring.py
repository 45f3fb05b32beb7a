"""Which engine trains a configuration: by measurement once per machine and shape, or by default.

Plain runs, one a process, are timed against batched ones on the pool itself, as many at a time as
there will be; what was found is kept. Measuring must pay: see ``is_worth_measuring``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, wait
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from repro.digest import digest
from repro.execution.choice import Choice
from repro.execution.grouping import Group
from repro.execution.machine import code, package_version, processor
from repro.execution.measured import Cache, Measured
from repro.execution.probe import WARM_STEPS, Accelerator, probe, warm
from repro.machine import available_memory, cores
from repro.specs.run import AnyTraining
from repro.store.work import FLOPS_PER_CORE, cost

Say = Callable[[str], None]

ROUNDS = 2
SECONDS = 0.7
"""Of steps that are timed, in each round of each engine; one step at least."""

PAYS = 30.0
"""So many times as long as measuring must training be: the choice saves a fifth, on a processor."""

FASTER = 1.05
"""So many times as fast must ``batched`` be, or plain runs are trained: alone, the last bit of a
run's numbers depends on nothing else."""

GPU_FLOPS = 1e12
GPU_SHARE = 0.8
"""Of the memory that is free on a GPU, what models may have."""

UNTIMED = (
    *("epochs", "stop", "averaging", "finetuning", "valid_batch_size"),
    *("learning_rate", "learning_rates", "decay"),
)
"""The fields of a recipe on which the time of a step does not depend."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Where the choice is made and measured: ``at_once`` tasks at a time on ``executor``."""

    executor: Executor
    at_once: int
    device: Literal["cpu", "cuda"]


def choose_batched(groups: Sequence[Group], pool: Pool) -> list[Choice]:
    """As many replicates in a model as memory allows, without asking whether it pays."""
    there = _accelerator(pool)
    return [_batched(group, pool, _together(group, pool, there)) for group in groups]


def choose(groups: Sequence[Group], pool: Pool, cache: Cache, say: Say) -> list[Choice]:
    """The faster engine for each group, measured before or now, else the default.

    The default is ``processes`` on a processor and ``batched`` on a GPU. ``say`` is told before
    a measurement, and of one that fails.
    """
    there = _accelerator(pool) if any(len(group.runs) > 1 for group in groups) else None
    return [_choose(group, pool, there, cache, say) for group in groups]


def _choose(group: Group, pool: Pool, there: Accelerator | None, cache: Cache, say: Say) -> Choice:
    together = _together(group, pool, there)
    batched, processes = _batched(group, pool, together), _processes(pool)
    if there is None or together == 1:
        return replace(processes, why="no replicates that could be trained as one model")
    where = circumstances(group.training, pool, there, together)
    measured, why = cache.find(where), "the default, for training too short to measure it"
    if measured is None and is_worth_measuring(group, pool, together):
        kind, size = group.training.model.output.kind, group.training.parameters
        say(f"engine: measuring {kind}, {size:,} parameters, {together} replicates in a model")
        measured, why = _measure(group, pool, together, where, say), "the default"
        if measured is not None:
            cache.put(measured)
    if measured is None:
        return replace(processes if pool.device == "cpu" else batched, why=why)
    ratio = measured.batched / measured.processes
    if ratio >= FASTER:
        return replace(batched, ratio=ratio, date=measured.date)
    return replace(processes, ratio=1 / ratio, date=measured.date)


def is_worth_measuring(group: Group, pool: Pool, together: int) -> bool:
    """Whether training is expected to take ``PAYS`` times as long as measuring."""
    recipe, tokens = group.training.recipe, group.training.corpus.tokens.train
    rate = FLOPS_PER_CORE if pool.device == "cpu" else GPU_FLOPS
    steps = recipe.most_epochs * max(1.0, tokens / group.training.step_tokens)
    step = cost(group.runs[0]).training / steps / rate
    measuring = sum(WARM_STEPS * each + max(SECONDS, each) for each in (step, together * step))
    return group.flops / rate / pool.at_once >= PAYS * ROUNDS * measuring


def circumstances(
    training: AnyTraining, pool: Pool, there: Accelerator | None, together: int
) -> dict[str, str | int]:
    """All that the measured speed depends on: machine, code, and the shape of the model."""
    recipe = training.recipe.model_dump(mode="json", exclude_none=True, exclude=set(UNTIMED))
    model = training.model.model_dump(mode="json", exclude_none=True)
    shape = {"model": model, "recipe": recipe, "vocabulary": training.corpus.vocabulary}
    return {
        "processor": processor(),
        "cores": cores(),
        "accelerator": "" if there is None else there.name,
        "torch": package_version("torch"),
        "code": code(),
        "shape": digest(shape),
        "together": together,
        "at_once": pool.at_once,
    }


def _accelerator(pool: Pool) -> Accelerator | None:
    """What is known of the device; nothing of a GPU that does not answer: tasks will say why."""
    if pool.device == "cpu":
        return Accelerator("", available_memory())
    try:
        found = pool.executor.submit(warm, pool.device).result()
    except Exception:  # noqa: BLE001 - whatever it is, the first task meets it again
        return None
    return Accelerator(found.name, GPU_SHARE * found.free)


def _together(group: Group, pool: Pool, there: Accelerator | None) -> int:
    return 1 if there is None else group.together(pool.at_once, there.free / pool.at_once)


def _measure(
    group: Group, pool: Pool, together: int, where: dict[str, str | int], say: Say
) -> Measured | None:
    """Time both engines in turn, in rounds; None if one of them fails."""
    rates = {"processes": 0.0, "batched": 0.0}
    try:
        wait([pool.executor.submit(warm, pool.device) for _ in range(pool.at_once)])
        for _ in range(ROUNDS):
            rates["processes"] += _rate(group, pool, 1) / ROUNDS
            rates["batched"] += _rate(group, pool, together) / ROUNDS
        date = datetime.now(UTC).date().isoformat()
        return Measured(**rates, date=date, circumstances=where)
    except Exception as error:  # noqa: BLE001 - the default will do
        what = f"{type(error).__name__}: {error}".partition("\n")[0]
        say(f"engine: could not be measured: {what}")
        return None


def _rate(group: Group, pool: Pool, together: int) -> float:
    """Steps a second of all replicates, with as many tasks at a time as there will be."""
    count = min(pool.at_once, len(group.parts(together)))
    futures = [
        pool.executor.submit(probe, group.training, together, SECONDS, pool.device)
        for _ in range(count)
    ]
    samples = [future.result() for future in futures]
    return sum(each.tokens / each.seconds for each in samples) / group.training.step_tokens


def _processes(pool: Pool) -> Choice:
    return Choice("processes", 1, pool.at_once)


def _batched(group: Group, pool: Pool, together: int) -> Choice:
    return Choice("batched", together, min(pool.at_once, len(group.parts(together))))
