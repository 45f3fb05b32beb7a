"""From runs to tasks: which replicates are one model, how many tasks at a time, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Literal

from repro.machine import available_memory, cores
from repro.running.engine import Pool
from repro.running.plan import remaining
from repro.store.run_store import RunStore
from repro.trainers.devices import free_on_gpus, shared_by_mps, visible_gpus
from repro.trainers.run import PlannedRun
from repro.trainers.trainer import Device, memory, replicate_memory, trainer_of


@dataclass(frozen=True, slots=True)
class Choice:
    """``together`` replicates in one model, ``at_once`` tasks at a time, and why."""

    engine: Literal["processes", "batched", "serial"] = "processes"
    together: int = 1
    at_once: int = 1
    why: str = "asked for"

    def __str__(self) -> str:
        times = f"{self.at_once} at once" + (", one thread each" if self.at_once > 1 else "")
        if self.engine == "processes":
            return f"processes ({times})"
        return f"batched ({self.together} replicates in a model, {times})"

    def facts(self, together: int) -> dict[str, str | int]:
        """For the provenance of a run that was trained in one model with others, or alone."""
        return {
            "name": self.engine,
            "together": together,
            "at_once": self.at_once,
            "why": self.why,
        }


ALONE = Choice()
"""Each run alone."""


def sentences(choices: Sequence[Choice]) -> list[str]:
    """A line for each way of training that was chosen, of so many configurations."""
    ways = list(dict.fromkeys((choice.engine, choice.why) for choice in choices))
    lines = []
    for way in ways:
        some = [choice for choice in choices if (choice.engine, choice.why) == way]
        share = "" if len(ways) == 1 else f" for {len(some)} of {len(choices)} configurations"
        largest = max(some, key=lambda choice: choice.together)
        lines.append(f"engine{share}: {largest}: {largest.why}; --engine overrides")
    return lines


@dataclass(frozen=True, slots=True)
class Task:
    """Runs of one configuration, and where their store, their data and their device are.

    They are trained as one model if that was chosen, else one after the other. ``identity`` is
    that of the store, which has to be the same one to the end.
    """

    runs: tuple[PlannedRun, ...]
    store: Path
    data: Path | None
    device: Literal["cpu", "cuda"]
    choice: Choice = ALONE
    identity: str | None = None


DECLARED = frozenset({"processes", "batched", "serial"})
"""The engines that say what a task is; for any other that depends on the device."""

MPS_CLIENTS = 48
"""Processes that MPS takes on a GPU at most."""

GPU_SHARE = 0.8
"""The share of a GPU's free memory that models may have."""

Part = tuple[tuple[PlannedRun, ...], Choice]


def make_tasks(
    todo: Sequence[PlannedRun],
    store: RunStore,
    data: Path | None,
    engine: str,
    pool: Pool,
    say: Callable[[str], None],
) -> list[Task]:
    """The tasks, the longest first.

    ``auto`` is ``processes`` on a CPU and where MPS shares a GPU, else ``batched`` on a GPU, and
    ``say`` is told so; so are the engines that only do tasks elsewhere. Runs that take whole
    GPUs share no model on one.
    """
    chosen = engine not in DECLARED
    shared = pool.device == "cuda" and own_gpus(todo) is None
    if engine == "batched" or (chosen and shared and not pool.side_by_side):
        parts, choices = _batched(todo, store, engine, pool)
    else:
        where = "a GPU that MPS shares" if shared else "a CPU"
        why = _why(engine, f"the default on {where}") if chosen else "asked for"
        alone = Choice("processes", 1, pool.at_once, why)
        if engine == "serial":
            alone = Choice("serial")
        parts, choices = [((planned,), alone) for planned in todo], [alone]
    if chosen:
        for line in sentences(choices):
            say(line)
    flops = {planned.run.key: remaining(store, planned).total for planned in todo}
    parts.sort(key=lambda part: -sum(flops[planned.run.key] for planned in part[0]))
    place, identity = store.root, store.prepare()
    return [
        Task(runs, place, data, _device(runs, pool), choice, identity) for runs, choice in parts
    ]


def _device(runs: Sequence[PlannedRun], pool: Pool) -> Device:
    """The device of a task: that of the pool, where it has a use for it."""
    training = runs[0].run.training
    return trainer_of(training).device(training, pool.device)


def _batched(
    todo: Sequence[PlannedRun], store: RunStore, engine: str, pool: Pool
) -> tuple[list[Part], list[Choice]]:
    """Replicates in models as large as memory allows; what is only to be measured, run by run."""
    groups, trained = grouped(todo, store)
    several = engine == "batched" or any(len(group.runs) > 1 for group in groups)
    available = _memory(pool) / pool.sharing if groups and several else 0.0
    alone = Choice("processes", 1, pool.at_once)
    parts: list[Part] = [(runs, alone) for runs in trained]
    choices = [_choice(group, engine, pool, available) for group in groups]
    for group, choice in zip(groups, choices, strict=True):
        parts += [
            (runs, replace(choice, together=len(runs))) for runs in group.parts(choice.together)
        ]
    return parts, choices


def _choice(group: Group, engine: str, pool: Pool, available: float) -> Choice:
    together = group.together(pool.at_once, available, pool.device)
    if engine != "batched" and together == 1:
        why = _why(engine, "no replicates that could be trained as one model")
        return Choice("processes", 1, pool.at_once, why)
    why = "asked for" if engine == "batched" else _why(engine, "the default on a GPU")
    at_once = min(pool.at_once, len(group.parts(together)))
    return Choice("batched", together, at_once, why)


def _why(engine: str, default: str) -> str:
    return default if engine == "auto" else f"{default}, given out by {engine}"


def _memory(pool: Pool) -> float:
    """Bytes for models; none on a GPU that does not answer: the first task will say why."""
    if pool.device == "cpu":
        return available_memory()
    try:
        return GPU_SHARE * pool.engine.submit(free_on_gpu).result()
    except Exception:  # noqa: BLE001 - whatever it is, the first task meets it again
        return 0.0


def free_on_gpu() -> float:
    """The bytes that are free on the GPU of a worker."""
    import torch  # noqa: PLC0415 - the caller stays light

    return float(torch.cuda.mem_get_info()[0])


MOST_TOGETHER = 16
"""Replicates in one model at most: more wait for each other, and win little."""


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that differ in their replicate alone and are to be trained, the longest first."""

    runs: tuple[PlannedRun, ...]

    def together(self, at_once: int, available: float, device: Device = "cpu") -> int:
        """Replicates in a model: as many as ``at_once`` tasks may have, in equal parts.

        ``available`` is in bytes, for each of the tasks. 1 where the trainer trains replicates in
        turn in any case.
        """
        training = self.runs[0].run.training
        trainer = trainer_of(training)
        if not trainer.batched(training):
            return 1
        room = max(0.0, available - trainer.process_memory(training, device))
        room /= replicate_memory(training)
        most = max(1, int(min(room, MOST_TOGETHER)))
        parts = max(-(-len(self.runs) // most), min(at_once, len(self.runs)))
        return -(-len(self.runs) // parts)

    def parts(self, together: int) -> list[tuple[PlannedRun, ...]]:
        """The runs in parts of at most ``together``, whose sizes differ by one at most."""
        count = -(-len(self.runs) // together)
        return [self.runs[index::count] for index in range(count)]


def grouped(
    todo: Sequence[PlannedRun], store: RunStore
) -> tuple[list[Group], list[tuple[PlannedRun, ...]]]:
    """What is to be trained, by configuration; and each run that is only to be measured."""
    found: dict[tuple[str, int, str], list[PlannedRun]] = {}
    trained: list[tuple[PlannedRun, ...]] = []
    for planned in todo:
        run = planned.run
        if remaining(store, planned).training == 0:
            trained.append((planned,))
        else:
            found.setdefault((run.training.digest(), run.root, run.streams), []).append(planned)
    return [Group(tuple(each)) for each in found.values()], trained


def task_memory(runs: Sequence[PlannedRun], device: Device = "cpu") -> float:
    """Bytes that a process needs to train these runs as one model, and then to measure each."""
    training = runs[0].run.training
    process = trainer_of(training).process_memory(training, device)
    trained = process + len(runs) * replicate_memory(training)
    return max(trained, *(memory(each) for each in runs))


def pool_size(
    workers: int | None,
    device: str,
    needs: Sequence[float],
    cores_each: Sequence[int] = (),
    own_gpus: Sequence[int] | None = None,
    on_gpus: int = 1,
) -> int:
    """``workers``, else one per core, or ``on_gpus`` when the device is ``cuda``.

    Fewer where memory or cores are too few for as many tasks at once, which need ``needs`` bytes
    and ``cores_each`` cores. Of tasks that take ``own_gpus`` as many as there are GPUs for.
    """
    if workers is None and (device == "cpu" or own_gpus is not None):
        by_memory = fitting(needs, available_memory(), cores())
        workers = min(by_memory, fitting(cores_each, cores(), cores()))
        if own_gpus and any(own_gpus):
            workers = min(workers, fitting(own_gpus, len(visible_gpus()), cores()))
    return max(1, workers or on_gpus)


def own_gpus(todo: Sequence[PlannedRun]) -> list[int] | None:
    """How many GPUs each run takes for itself; None where some share the one of their process."""
    trainings = [planned.run.training for planned in todo]
    if not all(trainer_of(each).own_gpus for each in trainings):
        return None
    return [trainer_of(each).gpus(each, "cuda") for each in trainings]


def processes_on_a_gpu(device: str, needs: Sequence[float], gpus: int) -> int:
    """One; where MPS runs their kernels side by side as many as cores and free memory allow."""
    if device != "cuda" or not shared_by_mps():
        return 1
    return fitting(needs, GPU_SHARE * free_on_gpus(), max(1, min(MPS_CLIENTS, cores() // gpus)))


def gpus_to_share_out(todo: Sequence[PlannedRun], device: str) -> tuple[str, ...]:
    """The GPUs to show to one worker each; none where there is one, or programs choose."""
    if device != "cuda" or any(trainer_of(each.run.training).own_gpus for each in todo):
        return ()
    found = tuple(visible_gpus())
    return found if len(found) > 1 else ()


def fitting(needs: Sequence[float], available: float, most: int) -> int:
    """How many tasks may run at once, whichever they are, with what is available to all."""
    largest = sorted(needs, reverse=True)[:most]
    fit = sum(total <= available for total in accumulate(largest))
    return most if fit == len(largest) else max(1, fit)
