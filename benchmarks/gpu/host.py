"""What the host costs a GPU: times that it waits in a step, masks, validation, checkpoints."""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.gpu.many import Asked
from benchmarks.gpu.stopwatch import WARM_UPS, timed, wait_for
from benchmarks.gpu.workloads import corpus_of
from benchmarks.speed.shapes import run_of
from repro.trainers.language_model.evaluation import mean_loss
from repro.trainers.language_model.randomness import Streams
from repro.trainers.language_model.regularisation import Regularisation
from repro.trainers.language_model.training import Losses, TrainingReplicate

LARGEST_KERNELS: Final = 8
PACKAGE: Final = re.compile(r".*/repro/")


def costs(asked: Asked) -> Iterator[tuple[str, str]]:
    """What it is, and how much of it; quick, and after everything else."""
    device, spec = torch.device(asked.device), asked.spec
    yield "masks of one step, drawn and moved", f"{1000 * mask_seconds(asked):.2f} ms"
    with TemporaryDirectory() as folder:
        replicate = TrainingReplicate.begin(run_of(spec), device, None)
        valid = corpus_of(spec).valid
        seconds = _seconds(lambda: mean_loss(replicate.model, valid, spec.recipe.valid_batch_size))
        yield "validation of an epoch", f"{seconds:.2f} s"
        replicate.folder = Path(folder)
        losses = Losses(1.0, 1.0)
        quarter, size = valid[: len(valid) // 4], spec.recipe.valid_batch_size
        both = _seconds(
            lambda: replicate.end_epoch(
                losses, lambda: mean_loss(replicate.model, quarter, size)[0], 1
            )
        )
        yield (
            "end of an epoch with a quarter of the validation, and its checkpoint",
            f"{both:.2f} s",
        )
    if device.type == "cuda":
        for place, count in sorted(synchronisations(asked).items()):
            yield f"the host waits at {place}", f"{count:g} times a step"
        yield from kernels(asked)


def mask_seconds(asked: Asked) -> float:
    """Seconds that the masks of one window take the host, weights and contexts aside."""
    spec, device = asked.spec, torch.device(asked.device)
    regularisation = Regularisation.of_epoch(spec.recipe, Streams(run_of(spec)), 1)
    model = TrainingReplicate.begin(run_of(spec), device, None).model
    batch = spec.recipe.batch_size
    matrices = [
        parameter for name, parameter in model.named_parameters() if "recurrent_weight" in name
    ]
    words_TB = torch.zeros(1, batch, dtype=torch.int64, device=device)
    sizes = spec.model.layer_sizes()

    def draw() -> None:
        regularisation.embed(words_TB, model.embedding_matrix.detach())
        for matrix in matrices:
            regularisation.weight(matrix.detach())
        for place, size in (("input", sizes[0][0]), ("output", sizes[-1][1])):
            regularisation.locked(place, torch.zeros(1, batch, size, device=device))  # type: ignore[arg-type]
        for _, size in sizes[:-1]:
            regularisation.locked("hidden", torch.zeros(1, batch, size, device=device))
        wait_for(device)

    for _ in range(WARM_UPS):
        draw()
    began = time.monotonic()
    for _ in range(asked.steps):
        draw()
    return (time.monotonic() - began) / asked.steps


def synchronisations(asked: Asked) -> Counter[str]:
    """Places in the package where a step makes the host wait for the GPU, and how often a step."""
    spec, device = asked.spec, torch.device(asked.device)
    counted: Counter[str] = Counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            watch = timed([run_of(spec)], corpus_of(spec), device, asked.steps)
        finally:
            torch.cuda.set_sync_debug_mode("default")
    assert watch.ended
    for warning in caught:
        if "synchronizing" in str(warning.message):
            counted[f"{PACKAGE.sub('repro/', warning.filename)}:{warning.lineno}"] += 1
    steps = WARM_UPS + asked.steps
    return Counter({place: round(count / steps) for place, count in counted.items()})


def kernels(asked: Asked) -> Iterator[tuple[str, str]]:
    """How long the device itself works on a step, and the kernels that take most of it."""
    profiler = profile(activities=[ProfilerActivity.CUDA])
    turns = iter((profiler.start, profiler.stop))
    spec, device = asked.spec, torch.device(asked.device)
    timed([run_of(spec)], corpus_of(spec), device, asked.steps, meet=lambda: next(turns)())  # noqa: PLW0108 - each call is another one
    found = [one for one in profiler.key_averages() if one.device_type.name == "CUDA"]
    found.sort(key=lambda one: -one.self_device_time_total)

    def told(chosen: Sequence[Any]) -> str:
        micros = sum(one.self_device_time_total for one in chosen) / asked.steps
        return (
            f"{micros / 1000:.2f} ms, {sum(one.count for one in chosen) / asked.steps:,.0f} a step"
        )

    yield "all kernels and copies of a step", told(found)
    for one in found[:LARGEST_KERNELS]:
        yield f"of these {one.key[:60]}", told([one])


def _seconds(work: object) -> float:
    assert callable(work)
    work()
    began = time.monotonic()
    work()
    return time.monotonic() - began
