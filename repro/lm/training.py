"""Training: draw a window, forward, backward, clip, step; evaluate; keep the best.

The loop is a loop; what varies is in the recipe. A run's numbers depend on its specification
and corpus alone. A run that diverges ends there, and that is recorded, not raised.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from repro.lm.awd_lstm import State, detached
from repro.lm.checkpoint import Checkpoint, Weights, load_checkpoint, save_checkpoint
from repro.lm.corpus import CorpusData, batchify
from repro.lm.evaluation import full_precision, mean_loss
from repro.lm.initialisation import initialise
from repro.lm.model import LanguageModel
from repro.lm.optimiser import Average, Sgd, finished, switches
from repro.lm.randomness import Streams
from repro.lm.records import EpochRecord, Phase, Progress, TrainedRun
from repro.lm.regularisation import Regularisation, activation_penalty, temporal_penalty
from repro.lm.windows import Segment, draw_windows
from repro.specs.recipe import Recipe
from repro.specs.run import RunSpec

Report = Callable[[Progress], None]

LARGEST_LOSS = math.log(sys.float_info.max)
"""709 nats: a loss above it has no finite perplexity, and counts as divergence."""


def train(
    batch: Sequence[RunSpec],
    corpus: CorpusData,
    *,
    device: torch.device,
    folders: Sequence[Path | None],
    progress: Report | None = None,
) -> list[TrainedRun]:
    """Train each run of ``batch``, one after the other, and return them in the same order.

    ``folders`` gives each run the place of its checkpoint, or None for no checkpoint. A run
    whose folder holds one goes on from there and ends, on a CPU, with the same bits as if it
    had never stopped. Raises ValueError when the corpus is not that of the runs, StoreError
    when a folder holds the checkpoint of another run, DataError when the text is too short.
    """
    for run in batch:
        if run.training.corpus.vocabulary != corpus.vocabulary:
            message = f"run {run.key} is not for a corpus of {corpus.vocabulary} words"
            raise ValueError(message)
    return [
        _train_run(run, corpus, device, folder, progress or (lambda _: None))
        for run, folder in zip(batch, folders, strict=True)
    ]


@dataclass
class _Training:
    """What changes while one run is trained."""

    model: LanguageModel
    average: Average
    averaging: bool = False
    late_factor: float | None = None
    history: list[EpochRecord] = field(default_factory=list)
    best_epoch: int = 0
    best: Weights = field(default_factory=dict)
    diverged: int | None = None

    @property
    def best_loss(self) -> float:
        """Lowest validation loss so far."""
        return self.history[self.best_epoch - 1].valid_loss if self.best_epoch else math.inf

    @property
    def valid_losses(self) -> list[float]:
        """Of all finished epochs, in nats a token."""
        return [record.valid_loss for record in self.history]


def _train_run(
    run: RunSpec, corpus: CorpusData, device: torch.device, folder: Path | None, report: Report
) -> TrainedRun:
    recipe, key = run.training.recipe, run.key
    training = _begin(run, device)
    note = None if folder is None else _resume(training, folder, key)
    text_LB = batchify(corpus.train, recipe.batch_size).to(device)
    with full_precision():
        while training.diverged is None and not finished(recipe, training.valid_losses):
            epoch = len(training.history) + 1
            if epoch == recipe.epochs + 1:
                _begin_finetuning(training)
            clock = _Clock(key, epoch, recipe.most_epochs, len(text_LB), recipe.batch_size, report)
            losses = _train_epoch(training, run, text_LB, clock)
            _end_epoch(training, recipe, losses, corpus.valid, clock.tokens_in_epoch)
            if folder is not None:
                save_checkpoint(_checkpoint(training, key), folder)
    if training.best:
        training.model.load_state_dict(training.best)
    history, notes = tuple(training.history), () if note is None else (note,)
    best_epoch, diverged = training.best_epoch, training.diverged
    return TrainedRun(run, training.model.eval(), history, best_epoch, diverged, notes)


def _begin(run: RunSpec, device: torch.device) -> _Training:
    """The model of a run before its first step."""
    spec, recipe = run.training, run.training.recipe
    dtype = {"float32": torch.float32, "float64": torch.float64}[recipe.precision]
    model = LanguageModel(spec.model, spec.corpus.vocabulary, dtype)
    initialise(model, Streams(run))
    model.to(device)
    return _Training(model, Average(model))


def _begin_finetuning(training: _Training) -> None:
    """Go back to the best weights, and average from the next step on."""
    training.model.load_state_dict(training.best)
    training.average = Average(training.model)
    training.averaging, training.late_factor = True, None


@dataclass(frozen=True)
class _Clock:
    """Counts tokens and steps, and tells where one epoch is."""

    run_key: str
    epoch: int
    epochs: int
    length: int
    batch_size: int
    report: Report

    @property
    def tokens_in_epoch(self) -> int:
        """Predicted tokens: all but the first of each stream."""
        return (self.length - 1) * self.batch_size

    def fraction(self, predicted: int, epochs: int) -> float:
        """Share of ``epochs`` that is done, ``predicted`` steps of text into this epoch."""
        return (self.epoch - 1 + predicted / (self.length - 1)) / epochs

    def tell(self, step: int, steps: int, predicted: int, phase: Phase = "train") -> None:
        """Report progress."""
        done = (self.epoch - 1) * self.tokens_in_epoch + predicted * self.batch_size
        in_all = self.epochs * self.tokens_in_epoch
        self.report(
            Progress(self.run_key, self.epoch, self.epochs, step, steps, done, in_all, phase)
        )


class _Losses(NamedTuple):
    """Mean training losses of an epoch, in nats, each before the update that it is part of."""

    by_token: float
    by_window: float


def _train_epoch(training: _Training, run: RunSpec, text_LB: Tensor, clock: _Clock) -> _Losses:
    """One pass over the training text."""
    recipe, model, streams = run.training.recipe.stage(clock.epoch), training.model, Streams(run)
    optimiser = Sgd(model, recipe)
    length, batch_size = text_LB.shape
    regularisation = Regularisation.of_epoch(recipe, streams, clock.epoch)
    lengths = streams.open("window_length", clock.epoch)
    windows = draw_windows(length - 1, recipe.window, lengths)
    parts = text_LB.split(recipe.small_batch_size or batch_size, dim=1)
    states = [model.zero_state(part_LB.shape[1]) for part_LB in parts]
    by_token, by_window = torch.zeros(2, dtype=torch.float64, device=text_LB.device)
    clock.tell(0, len(windows), 0)
    for step, window in enumerate(windows, start=1):
        for index, part_LB in enumerate(parts):
            share = part_LB.shape[1] / batch_size
            loss, state = _loss_and_gradients(
                model, recipe, regularisation, window, part_LB, states[index], share
            )
            states[index] = state
            by_token += loss * share * window.length
            by_window += loss * share
        done = clock.fraction(window.start, recipe.epochs)
        decay = 1 - done if recipe.decay == "linear" else 1.0
        optimiser.step(_factor(training, recipe, window.rate * decay))
        if training.averaging:
            training.average.update()
        clock.tell(step, len(windows), window.start + window.length)
    clock.tell(len(windows), len(windows), length - 1, "valid")
    return _Losses(float(by_token) / (length - 1), float(by_window) / len(windows))


def _factor(training: _Training, recipe: Recipe, own: float) -> float:
    """What a step multiplies its rates with; late, that of the averaged step before it."""
    if not (training.averaging and recipe.late):
        return own
    before, training.late_factor = training.late_factor, own
    return own if before is None else before


def _loss_and_gradients(
    model: LanguageModel,
    recipe: Recipe,
    regularisation: Regularisation,
    window: Segment,
    part_LB: Tensor,
    state: State,
    share: float,
) -> tuple[Tensor, State]:
    """Add the gradients of one window of one part of the batch; its loss without penalties.

    ``share`` is the part's share of the batch: the parts' gradients add up to that of the mean.
    """
    context_TBD, raw_TBD, after = model(window.inputs(part_LB), state, regularisation)
    loss = model.loss(context_TBD, window.targets(part_LB), regularisation)
    objective = loss
    if recipe.activation:
        objective = objective + activation_penalty(context_TBD, recipe.activation)
    if recipe.temporal:
        objective = objective + temporal_penalty(raw_TBD, recipe.temporal)
    (objective * share).backward()
    return loss.detach().double(), detached(after)


def _end_epoch(
    training: _Training, recipe: Recipe, losses: _Losses, valid: Tensor, tokens: int
) -> None:
    """Validate (the average, once there is one), keep the best, decide on the switch."""
    epoch = len(training.history) + 1
    with training.average.in_place():
        valid_loss, _ = mean_loss(training.model, valid, recipe.valid_batch_size)
        if not (losses.by_token < LARGEST_LOSS and valid_loss < LARGEST_LOSS):  # true for NaN
            training.diverged = epoch
            return
        if valid_loss < training.best_loss:
            training.best_epoch, training.best = epoch, _copy(training.model)
    earlier = training.valid_losses
    averaging, by_token, by_window = training.averaging, losses.by_token, losses.by_window
    record = EpochRecord(epoch, by_token, valid_loss, averaging, tokens, by_window)
    training.history.append(record)
    if not training.averaging:
        training.averaging = switches(recipe.averaging, earlier, valid_loss)


def _resume(training: _Training, folder: Path, run_key: str) -> str | None:
    """Go on from the checkpoint in ``folder``, if there is one; a note if it is damaged."""
    checkpoint, note = load_checkpoint(folder, run_key)
    if checkpoint is not None:
        training.model.load_state_dict(checkpoint.weights)
        training.average.restore(checkpoint.average_steps, checkpoint.average)
        training.averaging = checkpoint.averaging
        training.late_factor = checkpoint.late_factor
        training.history = list(checkpoint.history)
        training.best_epoch, training.best = checkpoint.best_epoch, checkpoint.best
        training.diverged = checkpoint.diverged
    return note


def _checkpoint(training: _Training, run_key: str) -> Checkpoint:
    return Checkpoint(
        run_key=run_key,
        history=tuple(training.history),
        best_epoch=training.best_epoch,
        diverged=training.diverged,
        averaging=training.averaging,
        average_steps=training.average.steps,
        weights=training.model.state_dict(),
        average=training.average.weights,
        best=training.best,
        late_factor=training.late_factor,
    )


def _copy(model: LanguageModel) -> Weights:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}
