"""Ten replicates of one configuration on one device, in each way that there is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from benchmarks.gpu.stopwatch import (
    Failed,
    Measured,
    Stopwatch,
    forget_peak,
    peak_bytes,
    reason_of,
    threads_meet,
    timed,
)
from benchmarks.gpu.workloads import (
    REPLICATES,
    TEN_GOAL,
    WORKLOADS,
    corpus_of,
    epoch_tokens,
    specification,
)
from benchmarks.speed.shapes import run_of
from repro.running.pool import ProcessPool
from repro.trainers.devices import numerics
from repro.trainers.language_model.recipe import Products
from repro.trainers.language_model.spec import TrainingSpec

PATIENCE = 120.0
"""Seconds after which a process no longer waits for the others."""


@dataclass(frozen=True)
class Asked:
    """What is to be timed."""

    name: str
    products: Products | None
    device: str
    steps: int
    tiny: bool
    replicates: int = REPLICATES

    @property
    def title(self) -> str:
        """For the table."""
        each = f"{WORKLOADS[self.name].title}, {self.products or 'float32'}"
        return f"{self.replicates} x {each}" if self.replicates > 1 else each

    @property
    def spec(self) -> TrainingSpec:
        """Of each replicate."""
        return specification(self.name, self.products, tiny=self.tiny)


def ways(asked: Asked) -> Iterator[Measured | Failed]:
    """In turn, together, a stream each, a process each."""
    each: dict[str, Callable[[Asked], tuple[float, int, int, str]]] = {
        "in turn": in_turn,
        "together": together,
        "a stream and a thread each": by_streams,
        "a process each": by_processes,
    }
    for way, measure in each.items():
        what = f"{asked.title}, {way}"
        try:
            seconds, tokens, peak, note = measure(asked)
        except Exception as error:  # noqa: BLE001 - one way that fails is a finding, not the end
            yield Failed(what, reason_of(error))
            continue
        epoch, goal = epoch_tokens(asked.spec), None if asked.tiny else TEN_GOAL
        numbers = (asked.steps, tokens, seconds, epoch, asked.replicates, peak, goal, note)
        yield Measured(what, *numbers)


def in_turn(asked: Asked) -> tuple[float, int, int, str]:
    """One after the other."""
    device, spec = torch.device(asked.device), asked.spec
    forget_peak(device)
    watches = [
        timed([run_of(spec, number)], corpus_of(spec), device, asked.steps)
        for number in range(asked.replicates)
    ]
    seconds = sum(watch.ended - watch.began for watch in watches)
    return seconds, _tokens(watches), peak_bytes(device), ""


def together(asked: Asked) -> tuple[float, int, int, str]:
    """One batched model: ``train(..., together=True)``."""
    device, spec = torch.device(asked.device), asked.spec
    runs = [run_of(spec, number) for number in range(asked.replicates)]
    forget_peak(device)
    watch = timed(runs, corpus_of(spec), device, asked.steps, together=True)
    return watch.ended - watch.began, watch.tokens, peak_bytes(device), ""


def by_streams(asked: Asked) -> tuple[float, int, int, str]:
    """``train`` in a thread and a CUDA stream each, begun and ended together."""
    device, spec = torch.device(asked.device), asked.spec
    corpus, meet = corpus_of(spec), threads_meet(asked.replicates)
    forget_peak(device)

    def one(number: int) -> Stopwatch:
        with _own_stream(device):
            return timed([run_of(spec, number)], corpus, device, asked.steps, meet=meet)

    with ThreadPoolExecutor(asked.replicates) as threads:
        watches = list(threads.map(one, range(asked.replicates)))
    seconds = _span([(watch.began, watch.ended) for watch in watches])
    return seconds, _tokens(watches), peak_bytes(device), "autograd has one thread a GPU"


def by_processes(asked: Asked) -> tuple[float, int, int, str]:
    """A process each, without MPS: the GPU gives them its time in slices."""
    with (
        TemporaryDirectory() as folder,
        ProcessPool(asked.replicates, environment={"OMP_NUM_THREADS": "1"}, attempts=1) as pool,
    ):
        futures = [pool.submit(process, asked, n, folder) for n in range(asked.replicates)]
        found = [future.result() for future in futures]
    seconds = _span([(began, ended) for began, ended, _, _ in found])
    tokens, peak = sum(each[2] for each in found), sum(each[3] for each in found)
    return seconds, tokens, peak, "peak: sum of the processes' tensors, without their contexts"


def process(asked: Asked, number: int, folder: str) -> tuple[float, float, int, int]:
    """One replicate in this process: began, ended, tokens, peak."""
    device, spec = torch.device(asked.device), asked.spec
    with numerics("cuda" if asked.device == "cuda" else "cpu"):
        meet = _meeting(Path(folder), number, asked.replicates)
        watch = timed([run_of(spec, number)], corpus_of(spec), device, asked.steps, meet=meet)
    return watch.began, watch.ended, watch.tokens, peak_bytes(device)


def _meeting(folder: Path, number: int, count: int) -> Callable[[], Any]:
    """Wait until every process is there; asked a second time, at the end, do not wait."""

    def meet() -> None:
        (folder / str(number)).touch()
        latest = time.monotonic() + PATIENCE
        while len(list(folder.iterdir())) < count:
            if time.monotonic() > latest:
                message = f"not all {count} processes were ready after {PATIENCE:.0f} s"
                raise TimeoutError(message)
            time.sleep(0.001)

    return meet


def _own_stream(device: torch.device) -> AbstractContextManager[Any]:
    return torch.cuda.stream(torch.cuda.Stream(device)) if device.type == "cuda" else nullcontext()


def _span(times: list[tuple[float, float]]) -> float:
    """From the first beginning to the last end."""
    return max(end for _, end in times) - min(begin for begin, _ in times)


def _tokens(watches: list[Stopwatch]) -> int:
    return sum(watch.tokens for watch in watches)
