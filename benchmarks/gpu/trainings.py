"""Short trainings on a device: together, repeated, poisoned, and moved to the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import torch

from benchmarks.gpu.cases import Size, corpus_of, runs_of, training
from benchmarks.gpu.checks import Check, badness, departure, largest_departure
from repro.trainers.language_model.checkpoint import Checkpoint, TrainedRun, save_checkpoint
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.randomness import Streams, initialise
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.language_model.training import train
from repro.trainers.run import RunSpec
from repro.trainers.trainer import Progress

CPU: Final = torch.device("cpu")
REPLICATES: Final = 4
LOSS_BOUNDS: Final = {"float64": 1e-9, "float32": 1e-4}
WEIGHT_BOUNDS: Final = {"float64": 1e-8, "float32": 1e-3}
"""Relative, after two epochs: round-off grows from step to step."""


class _StoppedError(Exception):
    """A training that ends in the middle, as if it were killed."""


def of_together(output: str, size: Size, device: torch.device) -> Iterator[Check]:
    """Replicates trained as one model, beside each alone on the same device."""
    for precision in LOSS_BOUNDS:
        runs = runs_of(training(output, size, precision=precision), REPLICATES)
        alone = _train(runs, device)
        together = _train(runs, device, together=True)
        what = f"{output}, {REPLICATES} together and alone, {precision}"
        yield from _same(what, together, alone, precision)


def of_devices(output: str, size: Size, device: torch.device) -> Iterator[Check]:
    """A whole short training in float64 on the device, and on the CPU."""
    runs = runs_of(training(output, size, precision="float64"), 1)
    what = f"{output}, trained on {device.type} and on the CPU, float64"
    yield from _same(what, _train(runs, device), _train(runs, CPU), "float64")


def of_repetition(output: str, size: Size, device: torch.device) -> Iterator[Check]:
    """Whether two runs of one seed are equal bit for bit: told, not judged."""
    runs = runs_of(training(output, size), 1)
    for together in (False, True):
        batch = [*runs, *runs_of(training(output, size), 2)[1:]] if together else runs
        (one, *_), (two, *_) = (_train(batch, device, together=together) for _ in range(2))
        different = sum(
            not torch.equal(a, b)
            for a, b in zip(
                one.model.state_dict().values(), two.model.state_dict().values(), strict=True
            )
        )
        note = "equal bit for bit" if not different else "NOT equal"
        way = "together" if together else "alone"
        yield Check(
            f"{output}, the same seed twice, {way}: tensors that differ", different, note=note
        )


def of_nan(output: str, size: Size, device: torch.device) -> Iterator[Check]:
    """A replicate that begins with NaN diverges, and the others are what they are alone."""
    runs = runs_of(training(output, size, precision="float64"), 3)
    with TemporaryDirectory() as folder:
        poisoned = Path(folder)
        save_checkpoint(_of_nan(runs[1]), poisoned)
        first, sick, third = _train(runs, device, together=True, folders=[None, poisoned, None])
    yield Check("NaN: its replicate diverges in epoch 1", float(sick.diverged != 1), 0.0)
    alone = _train([runs[0], runs[2]], device)
    yield from _same("NaN: the others, and alone", [first, third], alone, "float64")


def of_checkpoint(output: str, size: Size, device: torch.device) -> Iterator[Check]:
    """Begun on the device, stopped after the first epoch, ended on the CPU; and all on the CPU."""
    runs = runs_of(training(output, size, precision="float64"), 1)

    def stop(where: Progress) -> None:
        if where.epoch > 1:
            raise _StoppedError

    with TemporaryDirectory() as name:
        folders = [Path(name)]
        try:
            _train(runs, device, folders=folders, progress=stop)
        except _StoppedError:
            moved = _train(runs, CPU, folders=folders)
    what = f"{output}, begun on {device.type}, ended on the CPU"
    yield from _same(what, moved, _train(runs, CPU), "float64")


def _train(
    runs: Sequence[RunSpec],
    device: torch.device,
    *,
    together: bool = False,
    folders: Sequence[Path | None] | None = None,
    progress: Any = None,
) -> list[TrainedRun[LanguageModel]]:
    return train(
        runs,
        corpus_of(TrainingSpec.of(runs[0])),
        device=device,
        folders=folders or [None] * len(runs),
        together=together,
        progress=progress,
    )


def _same(
    what: str,
    found: Sequence[TrainedRun[LanguageModel]],
    expected: Sequence[TrainedRun[LanguageModel]],
    precision: str,
) -> Iterator[Check]:
    """Losses of all epochs, and the best weights."""
    losses = [
        [loss for one in each for r in one.history for loss in (r.train_loss, r.valid_loss)]
        for each in (found, expected)
    ]
    yield Check(f"{what}: losses", largest_departure(*losses), LOSS_BOUNDS[precision])
    away = [
        departure(weight, two.model.state_dict()[name])
        for one, two in zip(found, expected, strict=True)
        for name, weight in one.model.state_dict().items()
    ]
    worst = max(away, key=badness)
    yield Check(f"{what}: weights", worst, WEIGHT_BOUNDS[precision])


def _of_nan(run: RunSpec) -> Checkpoint:
    """A run before its first epoch, with NaN for every weight."""
    spec = TrainingSpec.of(run)
    model = LanguageModel(spec.model, spec.corpus.vocabulary, torch.float64)
    initialise(model, Streams(run))
    weights = {name: weight * torch.nan for name, weight in model.state_dict().items()}
    return Checkpoint(
        run_key=run.key,
        history=(),
        best_epoch=0,
        diverged=None,
        averaging=False,
        average_steps=0,
        weights=weights,
    )
