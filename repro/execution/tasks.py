"""From what is to be done to tasks: one run each, or several replicates to train as one model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from repro.execution.choice import Choice, EngineName, sentences
from repro.execution.engine import Pool
from repro.execution.grouping import Group, grouped
from repro.execution.worker import Task
from repro.machine import available_memory
from repro.specs.run import PlannedRun
from repro.store import RunStore
from repro.store.work import remaining

GPU_SHARE = 0.8
"""Of the memory that is free on a GPU, what models may have."""

Part = tuple[tuple[PlannedRun, ...], Choice]


def make_tasks(
    todo: Sequence[PlannedRun],
    store: RunStore,
    data: Path | None,
    engine: EngineName,
    pool: Pool,
    say: Callable[[str], None],
) -> list[Task]:
    """The tasks, the longest first.

    ``auto`` is ``processes`` on a CPU and ``batched`` on a GPU, and ``say`` is told so.
    """
    if engine == "batched" or (engine == "auto" and pool.device == "cuda"):
        parts, choices = _batched(todo, store, engine, pool)
    else:
        why = "the default on a CPU" if engine == "auto" else "asked for"
        alone = Choice("processes", 1, pool.at_once, why) if engine != "serial" else Choice(engine)
        parts, choices = [((planned,), alone) for planned in todo], [alone]
    if engine == "auto":
        for line in sentences(choices):
            say(line)
    flops = {planned.run.key: remaining(store, planned).total for planned in todo}
    parts.sort(key=lambda part: -sum(flops[planned.run.key] for planned in part[0]))
    place, identity = store.root, store.prepare()
    return [Task(runs, place, data, pool.device, choice, identity) for runs, choice in parts]


def _batched(
    todo: Sequence[PlannedRun], store: RunStore, engine: EngineName, pool: Pool
) -> tuple[list[Part], list[Choice]]:
    """Replicates in models as large as memory allows; what is only to be measured, run by run."""
    groups, trained = grouped(todo, store)
    several = engine == "batched" or any(len(group.runs) > 1 for group in groups)
    available = _memory(pool) / pool.at_once if groups and several else 0.0
    alone = Choice("processes", 1, pool.at_once)
    parts: list[Part] = [(runs, alone) for runs in trained]
    choices = [_choice(group, engine, pool, available) for group in groups]
    for group, choice in zip(groups, choices, strict=True):
        parts += [
            (runs, replace(choice, together=len(runs))) for runs in group.parts(choice.together)
        ]
    return parts, choices


def _choice(group: Group, engine: EngineName, pool: Pool, available: float) -> Choice:
    together = group.together(pool.at_once, available)
    if engine == "auto" and together == 1:
        why = "no replicates that could be trained as one model"
        return Choice("processes", 1, pool.at_once, why)
    why = "asked for" if engine == "batched" else "the default on a GPU"
    at_once = min(pool.at_once, len(group.parts(together)))
    return Choice("batched", together, at_once, why)


def _memory(pool: Pool) -> float:
    """Bytes for models; none on a GPU that does not answer: the first task will say why."""
    if pool.device == "cpu":
        return available_memory()
    try:
        return GPU_SHARE * pool.executor.submit(free_on_gpu).result()
    except Exception:  # noqa: BLE001 - whatever it is, the first task meets it again
        return 0.0


def free_on_gpu() -> float:
    """What a worker is asked: the bytes that are free on its GPU."""
    import torch  # noqa: PLC0415 - the caller stays light

    return float(torch.cuda.mem_get_info()[0])
