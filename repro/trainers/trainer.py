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
    Generic,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
)

from repro.machine import package_version, processor
from repro.schema.messages import Words
from repro.schema.yaml import Steps
from repro.trainers.base import Training
from repro.trainers.measurement import Measured, MeasurementSpec
from repro.trainers.run import PlannedRun, RunSpec
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
        """All of it."""
        return self.training + sum(self.measurements.values())


Phase = Literal["train", "valid"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Where one run is.

    Reported at the beginning of an epoch, after every step, and before validation: whoever
    listens decides how much of it to show.
    """

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

    ``history`` has a row an epoch, or none. ``diverged`` is the epoch that ended it without a
    model; such a run leaves nothing else. ``best_epoch`` is that of the weights. ``notes`` are
    sentences for the provenance.
    """

    run: RunSpec
    history: tuple[dict[str, Any], ...] = ()
    weights: Arrays | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    best_epoch: int | None = None
    diverged: int | None = None
    notes: tuple[str, ...] = ()


class NamesCode(Protocol):
    """A part of a configuration that is code of others."""

    @property
    def use(self) -> str:
        """Its `module:object`."""

    @property
    def version(self) -> str:
        """The version that is stated."""


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
    """One way of training. ``Spec`` is what a configuration for it holds."""

    Spec: type[S]

    def recognises(self, document: dict[str, Any]) -> bool:  # noqa: ARG002 - of a built-in one
        """Whether a configuration that names no trainer is for this one."""
        return False

    def misnamed(self, spec: S) -> Iterator[tuple[Steps, Words]]:  # noqa: ARG002
        """What a configuration by itself cannot mean, and where that is written."""
        yield from ()

    def mistakes(self, spec: S, whose: str, where: str) -> Iterator[Words]:  # noqa: ARG002
        """Why nothing can be trained; ``whose`` the configuration is, ``where`` it is written."""
        yield from ()

    def idle(self, spec: S) -> Iterator[Idle]:  # noqa: ARG002
        """Settings that change no number."""
        yield from ()

    def comparable(self, spec: S) -> Mapping[str, Any]:  # noqa: ARG002
        """What arms may be declared to have the same, as far as it is known of them."""
        return {}

    def effort(self, spec: S) -> Effort | None:  # noqa: ARG002
        """What a search spends on a run; None where settings cannot be ranked by their history."""
        return None

    def cost(self, spec: S, measurements: Sequence[MeasurementSpec]) -> Cost:
        """What a run costs from nothing. Good for an order and for an ETA, for nothing finer."""
        return Cost(FLOPS_PER_CORE, {each.key: each.cost(spec) for each in measurements})

    def memory(self, spec: S, measurements: Sequence[MeasurementSpec]) -> float:  # noqa: ARG002
        """Bytes that a process needs for a run, roughly, on the generous side."""
        return PROCESS_MEMORY

    def disk(self, spec: S) -> float:  # noqa: ARG002
        """Bytes of the weights that a run leaves."""
        return 0.0

    def batched(self, spec: S) -> bool:  # noqa: ARG002
        """Whether several replicates may be trained as one model."""
        return False

    def replicate_memory(self, spec: S) -> float:  # noqa: ARG002
        """Bytes that one more replicate needs while it is trained, roughly, generously."""
        return 0.0

    def reads(self, spec: S) -> Hashable:
        """What training reads: where it is not there for one run, it is for none that reads it."""
        return spec.digest()

    def lacking(self, spec: S, data: Path | None) -> str:  # noqa: ARG002
        """The first thing that is wrong with what training reads below ``data``; or nothing."""
        return ""

    def others_code(self, spec: S) -> Mapping[str, NamesCode]:  # noqa: ARG002
        """What training imports of others beside this trainer, by its dotted path."""
        return {}

    def try_out(self, spec: S) -> None:
        """Try before any training what only imported code can tell: DataError if it is wrong."""

    @contextmanager
    def numerics(self, device: Device) -> Iterator[Facts]:
        """Compute reproducibly inside, as before outside; gives the facts for the provenance."""
        software = {name: package_version(name) for name in ("repro-verdict", "numpy")}
        yield {
            "software": {"python": platform.python_version(), **software},
            "settings": {"device": device},
            "machine": {
                "host": platform.node(),
                "platform": f"{platform.system()} {platform.machine()}",
                "processor": processor(),
                "device": "CPU",
            },
        }

    def load(self, spec: S, data: Path | None) -> Any:  # noqa: ARG002
        """Read what training and measuring need; DataError if it is not what it should be."""
        return None

    @abstractmethod
    def train(
        self,
        batch: Sequence[RunSpec],
        corpus: Any,
        *,
        device: Device,
        folders: Sequence[Path],
        progress: Report,
        together: bool,
    ) -> Sequence[Finished]:
        """Train runs of one configuration, as one model if they are to be ``together``.

        ``corpus`` is what ``load`` gave. Each run has a folder for what it is to be taken up from
        after a stop.
        """

    @abstractmethod
    def measurer(
        self, finished: Finished, corpus: Any, device: Device
    ) -> Callable[[MeasurementSpec], Measured]:
        """What takes the measurements of a run that is stored."""


def trainer_of(training: Training) -> Trainer[Any]:
    """The trainer of a configuration."""
    return cast("Trainer[Any]", TRAINERS.get(training.trained_by)())


def cost(planned: PlannedRun) -> Cost:
    """What a run costs from nothing, by its trainer."""
    spec = planned.run.training
    return trainer_of(spec).cost(spec, planned.measurements)


def memory(planned: PlannedRun) -> float:
    """Bytes that a process needs for a run, by its trainer."""
    spec = planned.run.training
    return trainer_of(spec).memory(spec, planned.measurements)


def replicate_memory(training: Training) -> float:
    """Bytes that one more replicate needs while it is trained, by its trainer."""
    return trainer_of(training).replicate_memory(training)


def code_of(training: Training) -> dict[str, NamesCode]:
    """The code of others that training imports, by the dotted path of what names it."""
    named = training.trainer
    own = {"trainer": named} if named is not None and ":" in named.use else {}
    return {**own, **trainer_of(training).others_code(training)}
