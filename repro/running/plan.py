"""Plans: the distinct runs that are asked for, what the store has, what the rest costs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from repro.errors import DataError, StoreError, StoreUnreachableError
from repro.machine import cores
from repro.store.places import OUTPUTS
from repro.store.reading import StoreReader
from repro.store.run_index import RunIndex, run_index
from repro.store.run_store import RunStore
from repro.trainers.measurement import MeasurementByCode
from repro.trainers.run import PlannedRun, RunSpec
from repro.trainers.table import Measurable
from repro.trainers.trainer import FLOPS_PER_CORE, Cost, cost, run_cores, trainer_of

State = Literal["complete", "missing", "damaged"]


class Gpu(NamedTuple):
    """A kind of GPU, by its maker's data sheet."""

    teraflops: float
    """Peak in float32 without tensor cores."""
    terabytes: float
    """What its memory reads or writes in a second."""

    @property
    def fed(self) -> float:
        """TFLOP/s at which products of 20 rows can be computed: by its peak, or by its memory."""
        return min(self.teraflops, OPERATIONS_A_BYTE * self.terabytes)


OPERATIONS_A_BYTE: Final = 10.0
"""The papers' recurrence multiplies 20 rows: 40 operations for each weight of four bytes."""

GPUS: Final = {
    "B200": Gpu(75.0, 8.0),
    "GH200": Gpu(67.0, 4.0),
    "H200": Gpu(67.0, 4.8),
    "H100 NVL": Gpu(60.0, 3.9),
    "H100 PCIe": Gpu(51.0, 2.0),
    "H100": Gpu(67.0, 3.35),
    "A100": Gpu(19.5, 2.0),
    "A40": Gpu(37.4, 0.7),
    "A10": Gpu(31.2, 0.6),
    "L40S": Gpu(91.6, 0.86),
    "L4": Gpu(30.3, 0.3),
    "V100": Gpu(15.7, 0.9),
    "T4": Gpu(8.1, 0.32),
    "RTX 4090": Gpu(82.6, 1.01),
    "RTX 3090": Gpu(35.6, 0.94),
}
"""From NVIDIA's data sheets; of an H100 that with SXM, of an A100 that with 80 GB. A kind whose
name has another's in it comes first."""

MEASURED: Final = "H100"
GPU_SHARE: Final = 0.32
"""The part of ``fed`` that is reached: there the papers' Softmax on Penn Treebank trains at
10.7 TFLOP/s, and MoS at 13.1. It was measured on no other kind: an H200 was about as fast, so that
none is planned to be faster."""


def gpu_rate(gpu: str) -> float:
    """Floating-point operations a second that a kind is planned with, as on an H100 at most."""
    return GPU_SHARE * min(GPUS[gpu].fed, GPUS[MEASURED].fed) * 1e12


@dataclass(frozen=True, slots=True)
class Planned:
    """One distinct run, and what the store has of it."""

    planned: PlannedRun
    state: State
    work: float


@dataclass(frozen=True, slots=True)
class Plan:
    """Distinct runs. ``rate`` is in floating-point operations a second, of each worker.

    ``gpu`` is the kind of GPU that each worker is; else it is a CPU core, or a process that may
    keep several busy where so many were ``asked`` for.
    """

    runs: tuple[Planned, ...]
    rate: float
    workers: int
    gpu: str = ""
    asked: bool = False

    @property
    def missing(self) -> tuple[PlannedRun, ...]:
        """What has to be trained or measured."""
        return tuple(each.planned for each in self.runs if each.state == "missing")

    @property
    def proven(self) -> frozenset[str]:
        """As in ``proofs``, of the runs that are complete."""
        return frozenset(proofs(e.planned.run for e in self.runs if e.state == "complete"))

    def lacks(self, runs: Iterable[PlannedRun]) -> bool:
        """Whether any of ``runs`` is missing."""
        return not {each.run.key for each in self.missing}.isdisjoint(
            planned.run.key for planned in runs
        )

    @property
    def seconds(self) -> float:
        """Very rough time for what is missing: the longest run, or all shared by the workers."""
        longest = max(map(self.seconds_of, self.runs), default=0.0)
        return max(longest, sum(map(self.share, self.runs)))

    def share(self, run: Planned) -> float:
        """The seconds that a run adds to the time of all, by how many like it run at a time."""
        taken = self.taken(run)
        if not taken:  # of GPUs; then by its cores
            at_once = cores() // run_cores(run.planned.run.training)
        else:
            at_once = self.workers if self.asked else self.workers // taken
        return self.seconds_of(run) / max(1, at_once)

    def taken(self, run: Planned) -> int:
        """How many GPUs or cores a run takes."""
        training = run.planned.run.training
        return trainer_of(training).gpus(training, "cuda") if self.gpu else run_cores(training)

    @property
    def program_gpus(self) -> int:
        """The most GPUs that a missing run takes for itself; 0 where runs share them."""
        each = [(trainer_of(t), t) for t in (planned.run.training for planned in self.missing)]
        return max((of.gpus(t, "cuda") for of, t in each if of.own_gpus), default=0)

    @property
    def counted(self) -> bool:
        """Whether the time of a missing run is counted in operations, and not stated."""
        return any(not trainer_of(p.run.training).cost_is_time for p in self.missing)

    def seconds_of(self, run: Planned) -> float:
        """What one worker takes; the time of a program is a stated one."""
        stated = trainer_of(run.planned.run.training).cost_is_time
        return run.work / (FLOPS_PER_CORE if stated else self.rate)

    @property
    def worker_hours(self) -> float:
        """Hours of a GPU or core, in all: a run that takes four for an hour takes four hours."""
        return sum(self.seconds_of(run) * self.taken(run) for run in self.runs) / 3600

    def on_gpus(self, name: str, count: int | None = None) -> Plan:
        """The same on GPUs of a kind, as a driver or a user names it; as few as will do.

        DataError for a kind of unknown speed, unless every time is a stated one, and where they
        are too few.
        """
        gpu = gpu_kind(name)
        if gpu is None and self.counted:
            raise DataError(
                f"GPU '{name}': its speed is not known\n  expected: {', '.join(GPUS)}\n"
                "  to do: name the one that is most like it with --gpu"
            )
        least = max(1, self.program_gpus)
        if count is not None and count < least:
            raise DataError(
                f"--workers {count}: a run takes {least} GPUs\n  expected: as many GPUs, or more\n"
                "  to do: give more workers, or declare fewer GPUs in `resources`"
            )
        rate = gpu_rate(gpu) if gpu else self.rate
        return replace(self, rate=rate, workers=count or least, gpu=gpu or name, asked=False)


def gpu_kind(name: str) -> str | None:
    """The kind that a driver or a user names; None for one whose speed is not known."""

    def named(gpu: str) -> bool:
        pattern = gpu.replace(" ", r"[\s_-]*")
        return re.search(rf"(?<![A-Z0-9]){pattern}(?![A-Z0-9])", name, re.IGNORECASE) is not None

    return next(filter(named, GPUS), None)


def proofs(runs: Iterable[RunSpec]) -> set[str]:
    """What runs that ended well prove: digests of configurations, and how each was read."""
    trainings = [run.training for run in runs]
    return {each for t in trainings for each in (t.digest(), trainer_of(t).reading(t))}


def make_plan(runs: Iterable[PlannedRun], store: RunStore, *, workers: int | None = None) -> Plan:
    """The distinct ``runs``, each with the measurements that anybody asks for."""
    with run_index(store) as index:
        planned = tuple(
            Planned(each, *_state(store, key, each, index)) for key, each in _by_key(runs).items()
        )
    return Plan(planned, FLOPS_PER_CORE, workers or cores(), asked=workers is not None)


def _state(store: RunStore, key: str, planned: PlannedRun, index: RunIndex) -> tuple[State, float]:
    """What the store has of a run, and the work that is left; damage is not trained over.

    What a measurement of others makes of its details is asked each time, and not kept.
    """
    taken = planned.measurements
    others = any(isinstance(each, MeasurementByCode) for each in taken)
    seen, names = "" if others else index.seen(key), [each.key for each in taken]
    if index.is_whole(key, seen, names):
        return "complete", 0.0
    try:
        if is_complete(store, planned):
            index.put(key, seen, names)
            return "complete", 0.0
        return "missing", remaining(store, planned).total
    except StoreUnreachableError:
        raise
    except StoreError:
        return "damaged", 0.0


def missing_measurements(store: StoreReader, planned: PlannedRun) -> tuple[Measurable, ...]:
    """The wanted measurements that the store lacks, in the order of the plan."""
    key = planned.run.key
    return tuple(m for m in planned.measurements if store.measurement(key, m) is None)


def is_complete(store: StoreReader, planned: PlannedRun) -> bool:
    """Whether nothing is left to do; a run that diverged has nothing to measure.

    StoreError if a file behind what is there is damaged or missing, as far as that is seen
    without reading weights and spectra.
    """
    record, stored = store.whole(planned.run.key, planned.measurements)
    return record is not None and (record.state == "diverged" or None not in stored)


def is_recorded(store: StoreReader, planned: PlannedRun) -> bool:
    """Whether what a run is read from is recorded; one that is damaged is not."""
    source = trainer_of(planned.run.training).source(planned.run)
    with suppress(StoreError):
        outputs = StoreReader(store.root / OUTPUTS)
        return source is not None and outputs.committed(source.key) is not None
    return False


def has_diverged(store: StoreReader, planned: PlannedRun) -> bool:
    """Whether a run diverged, as a whole or in a number that is wanted of it."""
    key = planned.run.key
    if store.state(key) == "diverged":
        return True
    stored = (store.measurement(key, each) for each in planned.measurements)
    return any(each is not None and each.value is None for each in stored)


def merged(plan: Iterable[PlannedRun]) -> list[PlannedRun]:
    """One entry per run, with all the measurements that anybody wants of it."""
    return list(_by_key(plan).values())


def _by_key(plan: Iterable[PlannedRun]) -> dict[str, PlannedRun]:
    runs: dict[str, PlannedRun] = {}
    for planned in plan:
        key = planned.run.key
        before = runs[key].measurements if key in runs else ()
        both = tuple(dict.fromkeys((*before, *planned.measurements)))
        more = both != planned.measurements
        runs[key] = planned.model_copy(update={"measurements": both}) if more else planned
    return runs


def remaining(store: StoreReader, planned: PlannedRun) -> Cost:
    """What is left of the cost of a run; a run that is trained in part counts as a whole."""
    trained = store.state(planned.run.key) == "finished" or is_recorded(store, planned)
    if not trained:
        return cost(planned)
    missing = missing_measurements(store, planned)
    left = cost(planned.model_copy(update={"measurements": missing}))
    return Cost(0.0, left.measurements)
