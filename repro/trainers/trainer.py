"""A trainer: what turns a configuration and a seed into a finished run, and measures it.

Whoever plans, trains, stores or judges knows trainers by this class alone. An instance has no
state; what is heavy is imported by the methods that need it.
"""

from __future__ import annotations

import platform
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
)

from repro.machine import forget_peak_memory, package_version, peak_memory, processor
from repro.plugins import version_of
from repro.schema.messages import Words
from repro.schema.yaml import Steps
from repro.trainers.base import Training
from repro.trainers.measurement import Measured, MeasurementSpec
from repro.trainers.run import Keyed, PlannedRun, RunSpec
from repro.trainers.table import TRAINERS

if TYPE_CHECKING:
    import numpy as np

    Arrays: TypeAlias = Mapping[str, np.ndarray[Any, Any]]

Device = Literal["cpu", "cuda"]

Facts: TypeAlias = dict[str, dict[str, str | int | bool]]
"""What was computed with: software, settings, machine."""

PROCESS_MEMORY = 0.5e9
"""Bytes of a process that has imported torch and loaded a corpus, roughly."""

FLOPS_PER_CORE = 3e10
"""Rate assumed where nothing was measured: half of what small models reach on a recent core."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Floating-point operations, roughly: of training, and of each measurement by its name."""

    training: float
    measurements: dict[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return self.training + sum(self.measurements.values())


def measuring_costs(spec: Any, measurements: Sequence[MeasurementSpec]) -> dict[str, float]:
    """What each measurement costs, by its name; work that several share is of the first."""
    costs: dict[str, float] = {}
    for number, each in enumerate(measurements):
        shared = any(each.shares_work(before) for before in measurements[:number])
        costs[each.key] = 0.0 if shared else each.cost(spec)
    return costs


Phase = Literal["train", "valid"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Where one run is: told at the beginning of an epoch, after every step, before validation."""

    run_key: str
    epoch: int
    epochs: int
    step: int
    """Steps of this epoch that are done."""
    steps: int
    tokens_done: int
    """Over all epochs."""
    tokens_in_all: int
    phase: Phase


Report: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that was trained, with what it leaves: weights, files of any other kind, or both.

    ``history`` has a row per epoch, or none. ``diverged`` is the epoch that ended it without a
    model; such a run leaves files at most, which nobody measures. ``notes`` are sentences for the
    provenance. Of a stored run, ``place`` is where its measurements may keep what they go on from
    after a stop, each in a folder of the name of its key, until it is stored.
    """

    run: RunSpec
    history: tuple[dict[str, Any], ...] = ()
    weights: Arrays | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    best_epoch: int | None = None
    diverged: int | None = None
    notes: tuple[str, ...] = ()
    place: Path | None = None


class How(TypedDict):
    """How runs are trained: ``together`` is as one model, and ``progress`` is told where each is.

    Each run has a folder for what it is to be taken up from after a stop.
    """

    device: Device
    folders: Sequence[Path]
    progress: Report
    together: bool


class NamesCode(Protocol):
    """A part of a configuration that is code from outside repro."""

    @property
    def use(self) -> str: ...

    @property
    def version(self) -> str: ...


class Package(NamedTuple):
    """A package that only an extra of repro-verdict installs."""

    name: str
    extra: str

    @property
    def needed(self) -> str:
        """What to say where it is not installed."""
        return (
            f"needs {self.name}, which is not installed: pip install 'repro-verdict[{self.extra}]'"
        )


class Idle(NamedTuple):
    """A setting that changes no number of a training."""

    setting: str
    why: str
    advice: str = "leave it out, or change the model"


class Effort(NamedTuple):
    """What a search spends on one run, and the settings that would change what it ranks by."""

    epochs: int
    tokens: int
    ranked_by: dict[str, Any]


S = TypeVar("S", bound=Training)


class Trainer(ABC, Generic[S]):
    """One way of training. ``Spec`` is what a configuration for it holds.

    Two methods are abstract. The others have an answer that suits most trainers, in the order of
    those who ask.
    """

    # --- every trainer answers these ---

    Spec: type[S]

    @abstractmethod
    def train(
        self, batch: Sequence[RunSpec], corpus: Any, **how: Unpack[How]
    ) -> Sequence[Finished]:
        """Train runs of one configuration; ``corpus`` is what ``load`` gave."""

    @abstractmethod
    def measurer(
        self, finished: Finished, corpus: Any, device: Device
    ) -> Callable[[MeasurementSpec], Measured]:
        """What takes the measurements of a run that is stored."""

    # --- loading a claim asks ---

    def recognises(self, document: dict[str, Any]) -> bool:
        """Whether a configuration that names no trainer is for this one."""
        return False

    def misnamed(self, spec: S) -> Iterator[tuple[Steps, Words]]:
        """What a configuration by itself cannot mean, and where that is written."""
        yield from ()

    def located(self, spec: S, folder: Path) -> tuple[dict[str, Any], list[tuple[Steps, Words]]]:
        """The fields that follow from the ``folder`` of the configuration, and its mistakes."""
        return {}, []

    def mistakes(self, spec: S, whose: str, where: str) -> Iterator[Words]:
        """Why nothing can be trained; ``whose`` the configuration is, ``where`` it is written."""
        yield from ()

    def idle(self, spec: S) -> Iterator[Idle]:
        """Settings that change no number."""
        yield from ()

    def others_code(self, spec: S) -> Mapping[str, NamesCode]:
        """What training imports of others beside this trainer, by its dotted path."""
        return {}

    # --- planning asks ---

    cost_is_time: ClassVar[bool] = False
    """Whether ``cost`` is a stated time, the same on any device, and no count of operations."""

    own_gpus: ClassVar[bool] = False
    """Whether each run takes GPUs that no other has, so that several may run beside each other."""

    def cost(self, spec: S, measurements: Sequence[MeasurementSpec]) -> Cost:
        """What a run costs from nothing. Good for an order and for an ETA, for nothing finer."""
        return Cost(FLOPS_PER_CORE, measuring_costs(spec, measurements))

    def gpus(self, spec: S, device: Device) -> int:
        """How many GPUs a run occupies."""
        return int(device == "cuda")

    def device(self, spec: S, offered: Device) -> Device:
        """Where a run is trained, of what is offered."""
        return offered

    def batched(self, spec: S) -> bool:
        """Whether several replicates may be trained as one model."""
        return False

    def cores(self, spec: S) -> int:
        """Cores that one run keeps busy."""
        return 1

    def memory(self, spec: S, measurements: Sequence[MeasurementSpec]) -> float:
        """Bytes that a process needs for a run, roughly, on the generous side."""
        return PROCESS_MEMORY

    def process_memory(self, spec: S, device: Device) -> float:
        """Bytes that a process needs to train, apart from what each replicate needs."""
        return PROCESS_MEMORY

    def replicate_memory(self, spec: S) -> float:
        """Bytes that one more replicate needs while it is trained, roughly, generously."""
        return 0.0

    def disk(self, spec: S) -> float:
        """Bytes of the weights that a run leaves."""
        return 0.0

    def resumes(self, spec: S) -> bool:
        """Whether a run that was cut off goes on from where it was, and not from its beginning."""
        return True

    # --- asked before anything is trained ---

    package: ClassVar[Package | None] = None
    """What it trains with, where judging does without."""

    def uninstalled(self, spec: S) -> str:
        """What a machine that trains has to have installed, and this one has not; or nothing."""
        return ""

    def lacking(self, spec: S, data: Path | None) -> str:
        """The first thing that is wrong with what training reads below ``data``; or nothing."""
        return ""

    def reads(self, spec: S) -> Hashable:
        """What training reads: where it is not there for one run, it is for none that reads it."""
        return spec.digest()

    def changed_here(self, spec: S) -> str:
        """What here is another version than ``spec`` says, such as a file of a program; or nothing.

        DataError where it is not here at all.
        """
        parts = {part.use: part.version for part in self.others_code(spec).values()}
        if spec.trainer is not None:
            parts[TRAINERS.where(spec.trainer.use)] = spec.trainer.version
        return next((use for use, version in parts.items() if version_of(use) != version), "")

    def try_out(self, spec: S) -> None:
        """Try before any training what only imported code can tell: DataError if it is wrong."""

    # --- running asks ---

    tells_progress: ClassVar[bool] = True
    """Whether a run says how far it is."""

    software: ClassVar[tuple[str, ...]] = ("numpy", "scipy", "torch")
    """Packages on whose releases the numbers of a run depend, and with them on Python's."""

    @contextmanager
    def numerics(self, device: Device) -> Iterator[Facts]:
        """Compute reproducibly inside, as before outside; gives the facts for the provenance."""
        yield facts(("repro-verdict", "numpy"), {"device": device})

    def load(self, spec: S, data: Path | None) -> Any:
        """Read what training and measuring need; DataError if it is not what it should be."""
        return None

    def forget_peak(self, device: Device) -> None:
        """Let the peak of memory be that from now on."""
        forget_peak_memory()

    def peak(self, device: Device) -> int:
        """Bytes that training held at most since then; 0 where that is not known."""
        return peak_memory() if device == "cpu" else 0

    # --- runs that are read from what a program left ---

    def source(self, run: RunSpec) -> Keyed | None:
        """What a run is read from, if that is recorded apart from what is read of it.

        ``train`` then gives what is recorded, of one run at a time, and ``read`` the run.
        """
        return None

    def read(self, run: RunSpec, left: Mapping[str, bytes]) -> Finished:
        """A run, read from the files of its ``source``.

        ReadingError for what cannot be read, NotKeptError where training again would help.
        """
        raise NotImplementedError

    def reading(self, spec: S) -> str:
        """What says how a run is read: where one cannot be, no other with the same can."""
        return spec.digest()

    # --- judging and single commands ask ---

    def comparable(self, spec: S) -> Mapping[str, Any]:
        """What arms may be declared to have the same, as far as it is known of them."""
        return {}

    def describes(self, folder: Path) -> bool:
        """Whether a folder holds a corpus that it reads."""
        return False

    def describe(self, folder: Path, *, unit: str, last: str) -> dict[str, Any]:
        """What a configuration says of the corpus in a folder; DataError where there is none."""
        raise NotImplementedError

    def effort(self, spec: S) -> Effort | None:
        """What a search spends on a run; None where settings cannot be ranked by their history."""
        return None

    def unfit_checkpoint(self, run: RunSpec, content: bytes) -> str:
        """Why a file from elsewhere is not a checkpoint of a run; empty where it is."""
        return "is of a trainer whose checkpoints do not move"


def facts(
    packages: Sequence[str], settings: dict[str, str | int | bool], device: str = "CPU"
) -> Facts:
    """What was used, apart from where; ``device`` is the name of the hardware."""
    software = {name: package_version(name) for name in packages}
    return {
        "software": {"python": platform.python_version(), **software},
        "settings": settings,
        "machine": {
            "host": platform.node(),
            "platform": f"{platform.system()} {platform.machine()}",
            "processor": processor(),
            "device": device,
        },
    }


def trainer_of(training: Training) -> Trainer[Any]:
    """The trainer of a configuration."""
    trainer: Trainer[Any] = TRAINERS.get(training.trained_by)()
    return trainer


def trainer_of_folder(folder: Path) -> Trainer[Any]:
    """The built-in trainer that reads the corpus in a folder; the first where none does."""
    trainers: list[Trainer[Any]] = [TRAINERS.get(name)() for name in TRAINERS.names()]
    return next((each for each in trainers if each.describes(folder)), trainers[0])


def cost(planned: PlannedRun) -> Cost:
    """What a run costs from nothing, by its trainer."""
    spec = planned.run.training
    return trainer_of(spec).cost(spec, planned.measurements)


def memory(planned: PlannedRun) -> float:
    """Bytes that a process needs for a run, by its trainer."""
    spec = planned.run.training
    return trainer_of(spec).memory(spec, planned.measurements)


def run_cores(training: Training) -> int:
    """Cores that one run keeps busy, by its trainer."""
    return trainer_of(training).cores(training)


def replicate_memory(training: Training) -> float:
    """Bytes that one more replicate needs while it is trained, by its trainer."""
    return trainer_of(training).replicate_memory(training)


def code_of(training: Training) -> dict[str, NamesCode]:
    """The code from outside repro that training imports, by the dotted path of what names it."""
    named = training.trainer
    code = {"trainer": named} if named is not None and ":" in named.use else {}
    return {**code, **trainer_of(training).others_code(training)}
