"""A budget of time: what may be begun in what is left of it, and why other runs were not.

A run that goes on from a checkpoint is begun although it will not end in time, after all that
will; it is ended with the budget, and taken up the next time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from repro.errors import ClaimError, StoreError
from repro.schema.numbers import rough_duration
from repro.store.run_store import RunStore
from repro.trainers.base import Training
from repro.trainers.run import RunSpec
from repro.trainers.trainer import FLOPS_PER_CORE, Cost, trainer_of

UNITS = {"h": 3600.0, "min": 60.0, "m": 60.0, "s": 1.0}


class OverBudgetError(Exception):
    """A run was ended with the budget, to go on from its checkpoint the next time."""


class TimeBudget:
    """``seconds`` from when it is made; it learns how long runs of a configuration take."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds, self._clock = seconds, clock
        self._end = clock() + seconds
        self._taken: dict[str, float] = {}

    @property
    def left(self) -> float:
        """Seconds; negative once it is over."""
        return self._end - self._clock()

    def learn(self, store: RunStore, runs: Iterable[RunSpec]) -> None:
        """Note how long stored runs took: the longest of a configuration is its estimate."""
        for run in runs:
            name, seconds = run.training.digest(), seconds_taken(store, run.key)
            self._taken[name] = max(seconds, self._taken.get(name, 0.0))

    def estimate(self, training: Training, work: Cost, done: float) -> float:
        """Seconds that a run will take: as others of its configuration took, else as planned.

        ``work`` is what is left of it, of which a share is ``done`` where it resumes.
        """
        taken = self._taken.get(training.digest(), 0.0) if work.training else 0.0
        seconds = taken or work.total / FLOPS_PER_CORE
        return seconds * (1 - done) if trainer_of(training).resumes(training) else seconds

    def refusal(self, estimate: float) -> str:
        """Why a run of so many seconds is not started."""
        whole = rough_duration(self.seconds)
        if self.left <= 0:
            return f"not started: the budget of {whole} was spent"
        return (
            f"not started: by its estimate of {rough_duration(estimate)} it would not have ended "
            f"within the budget of {whole}"
        )

    @property
    def carried(self) -> str:
        """What is said of a run that was ended with the budget."""
        whole = rough_duration(self.seconds)
        return f"ended with the budget of {whole}: it goes on from its checkpoint the next time"


def seconds_taken(store: RunStore, key: str) -> float:
    """How long a stored run was trained and measured, its share where several were one model.

    0 where that is not known.
    """
    with suppress(StoreError, AttributeError, TypeError, ValueError, ZeroDivisionError):
        kept: dict[str, Any] = dict(store.provenance(key))
        training, measured = kept.get("training", {}), kept.get("measurements", {})
        together = int(training.get("engine", {}).get("together", 1))
        taken = sum(float(each.get("seconds", 0.0)) for each in measured.values())
        return float(training.get("seconds", 0.0)) / together + taken
    return 0.0


def seconds_of(text: str) -> float:
    """The seconds of `2h`, `90min`, `1h30m` or `45s`. ClaimError for anything else."""
    parts = re.findall(r"([0-9]{1,6}(?:\.[0-9]{1,6})?) ?(h|min|m|s)", text)
    if (
        not parts
        or not any(float(n) for n, _ in parts)
        or "".join(text.split()) != "".join(f"{n}{unit}" for n, unit in parts)
    ):
        raise ClaimError(
            f"--budget: {text!r} is no time\n"
            "  expected: hours, minutes or seconds: 2h, 90min, 1h30m\n"
            "  to do: write the time with its unit"
        )
    return sum(float(number) * UNITS[unit] for number, unit in parts)
