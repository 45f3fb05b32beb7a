"""The side of the referee: contenders in processes of their own, one at work at a time."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from repro.running.pool import ENVIRONMENT

ROOT = Path(__file__).parents[2]
WARM_UPS = 2
DISTURBED = 0.1
"""A sample is dropped when others used more than this share of one core meanwhile."""
PATIENCE = 2
"""At most so many times the samples that are wanted are taken, to replace those dropped."""
ALLOCATOR = {name: value for name, value in ENVIRONMENT.items() if name.startswith("MALLOC")}


def threads_of(threads: int) -> dict[str, str]:
    """The environment of a process with so many threads."""
    return {name: str(threads) for name in ENVIRONMENT if name.endswith("_NUM_THREADS")}


@dataclass(frozen=True)
class Job:
    """Work to be timed: ``module:function``, its options, and the environment of its process."""

    place: str
    options: Mapping[str, Any]
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Sample:
    """One piece of work: seconds, processor time of its own and of everybody, peak memory."""

    seconds: float
    own: float
    busy: float
    peak: int

    @property
    def disturbed(self) -> bool:
        """Whether other processes took part of the machine."""
        return self.busy - self.own > DISTURBED * self.seconds


@dataclass(frozen=True)
class Timing:
    """The samples of one contender after its warm-ups."""

    samples: list[Sample] = field(default_factory=list)

    @property
    def kept(self) -> list[Sample]:
        """The samples that count: the undisturbed, or all if fewer than three are."""
        quiet = [sample for sample in self.samples if not sample.disturbed]
        return quiet if len(quiet) >= 3 else self.samples

    @property
    def quiet(self) -> bool:
        """Whether all that counts was undisturbed."""
        return not any(sample.disturbed for sample in self.kept)

    @property
    def seconds(self) -> float:
        """The median."""
        return statistics.median(sample.seconds for sample in self.kept)

    @property
    def quartiles(self) -> tuple[float, float]:
        """The lower and the upper quartile."""
        seconds = [sample.seconds for sample in self.kept]
        if len(seconds) == 1:
            return seconds[0], seconds[0]
        low, _, high = statistics.quantiles(seconds, n=4, method="inclusive")
        return low, high

    @property
    def peak(self) -> int:
        """Largest resident memory, in bytes."""
        return max(sample.peak for sample in self.samples)

    def record(self) -> dict[str, Any]:
        """For the JSON file."""
        samples = [
            [round(s.seconds, 4), round(s.own, 3), round(s.busy, 3), s.peak, s.disturbed]
            for s in self.samples
        ]
        return {"median": round(self.seconds, 4), "quiet": self.quiet, "samples": samples}


@dataclass(frozen=True)
class Ratio:
    """How many times faster one is than another, with the range of the quartiles."""

    value: float
    low: float
    high: float
    quiet: bool

    @classmethod
    def of(cls, slow: Timing, fast: Timing) -> Self:
        """``slow`` over ``fast``."""
        (slow_low, slow_high), (fast_low, fast_high) = slow.quartiles, fast.quartiles
        low, high = slow_low / fast_high, slow_high / fast_low
        return cls(slow.seconds / fast.seconds, low, high, slow.quiet and fast.quiet)


def alternate(jobs: Mapping[str, Job], samples: int) -> dict[str, Timing]:
    """Each job in turn, ``samples`` times undisturbed if the machine is quiet enough.

    All processes live during the whole contest, and all but one of them wait.
    """
    with ExitStack() as stack:
        contenders = {
            name: stack.enter_context(_Contender(name, job)) for name, job in jobs.items()
        }
        return rounds({name: one.sample for name, one in contenders.items()}, samples)


def rounds(ask: Mapping[str, Callable[[], Sample]], samples: int) -> dict[str, Timing]:
    """Warm-ups, then rounds in which everybody is asked once, until there are enough samples."""
    for _ in range(WARM_UPS):
        for sample in ask.values():
            sample()
    found: dict[str, Timing] = {name: Timing() for name in ask}
    for _ in range(samples * PATIENCE):
        if all(_undisturbed(timing.samples) >= samples for timing in found.values()):
            break
        for name, sample in ask.items():
            found[name].samples.append(sample())
    return found


def _undisturbed(samples: Sequence[Sample]) -> int:
    return sum(not sample.disturbed for sample in samples)


class _Contender:
    """One process, from its start to its end."""

    def __init__(self, name: str, job: Job) -> None:
        self._name = name
        inherited = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("MALLOC") and key not in ENVIRONMENT
        }
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "benchmarks.speed.metronome",
                json.dumps([job.place, dict(job.options)]),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**inherited, **job.environment},
            cwd=ROOT,
            text=True,
        )

    def __enter__(self) -> Self:
        try:
            self._answer()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def sample(self) -> Sample:
        """One piece of work."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        return Sample(**self._answer())

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            status = self._process.wait()
            message = f"the process of '{self._name}' ended with status {status}; see above"
            raise RuntimeError(message)
        document: dict[str, Any] = json.loads(line)
        return document
