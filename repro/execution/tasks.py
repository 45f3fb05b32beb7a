"""From what is to be done to tasks: one run each, or several replicates to train as one model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from repro.execution.choice import Choice, EngineName, sentences
from repro.execution.grouping import grouped
from repro.execution.measured import Cache, cache_path
from repro.execution.measuring import Pool, choose, choose_batched
from repro.execution.worker import Task
from repro.specs.run import PlannedRun
from repro.store import RunStore
from repro.store.work import remaining

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

    ``auto`` measures on the pool which engine is faster, where that pays, and says what it chose.
    """
    if engine in {"processes", "serial"}:
        plain = Choice("serial") if engine == "serial" else Choice("processes", 1, pool.at_once)
        parts: list[Part] = [((planned,), plain) for planned in todo]
    else:
        parts = _parts(todo, store, engine, pool, say)
    flops = {planned.run.key: remaining(store, planned).total for planned in todo}
    parts.sort(key=lambda part: -sum(flops[planned.run.key] for planned in part[0]))
    place, identity = store.root, store.prepare()
    return [Task(runs, place, data, pool.device, choice, identity) for runs, choice in parts]


def _parts(
    todo: Sequence[PlannedRun],
    store: RunStore,
    engine: EngineName,
    pool: Pool,
    say: Callable[[str], None],
) -> list[Part]:
    """Replicates in the parts that were chosen; what is only to be measured, run by run."""
    groups, trained = grouped(todo, store)
    if engine == "batched":
        choices = choose_batched(groups, pool)
    else:
        choices = choose(groups, pool, Cache(cache_path(), say), say)
        for line in sentences(choices):
            say(line)
    plain = Choice("processes", 1, pool.at_once)
    parts: list[Part] = [(runs, plain) for runs in trained]
    for group, choice in zip(groups, choices, strict=True):
        parts += [
            (runs, replace(choice, together=len(runs))) for runs in group.parts(choice.together)
        ]
    return parts
