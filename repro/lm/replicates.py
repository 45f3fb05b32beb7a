"""One run while it is trained: what changes from epoch to epoch, and its checkpoint.

Nothing here knows how many replicates are trained together: each has its own of everything.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, Self

import torch
from torch import nn

from repro.lm.checkpoint import Checkpoint, Weights, load_checkpoint, save_checkpoint
from repro.lm.initialisation import initialise
from repro.lm.model import LanguageModel
from repro.lm.optimiser import Average, R, finished, next_stage, proper_epochs, switches
from repro.lm.randomness import Streams
from repro.lm.records import EpochRecord, M, TrainedRun
from repro.specs.recipe import Recipe
from repro.specs.run import RunSpec

DTYPES = {"float32": torch.float32, "float64": torch.float64}

LARGEST_LOSS = math.log(sys.float_info.max)
"""709 nats: a loss above it has no finite perplexity, and counts as divergence."""


class Losses(NamedTuple):
    """Mean training losses of an epoch, in nats, each before the update that it is part of."""

    by_token: float
    by_window: float


class Remembering(Protocol):
    """An optimiser whose steps depend on those before."""

    steps: int
    moments: Weights

    def restore(self, steps: int, moments: Weights) -> None:
        """Go on from saved moments."""


@dataclass
class TrainingReplicate(Generic[M, R]):
    """What changes while one run is trained, and where it is kept; ``recipe`` is all of its own."""

    run: RunSpec
    folder: Path | None
    model: M
    recipe: R
    average: Average
    optimiser: Remembering | None = None
    averaging: bool = False
    late_factor: float | None = None
    history: list[EpochRecord] = field(default_factory=list)
    best_epoch: int = 0
    best: Weights = field(default_factory=dict)
    diverged: int | None = None
    notes: tuple[str, ...] = ()

    @staticmethod
    def begin(
        run: RunSpec, device: torch.device, folder: Path | None
    ) -> TrainingReplicate[LanguageModel, Recipe]:
        """A language model before its first step, or where the checkpoint in ``folder`` left it."""
        spec = run.language
        model = LanguageModel(spec.model, spec.corpus.vocabulary, DTYPES[spec.recipe.precision])
        initialise(model, Streams(run))
        model.to(device)
        return TrainingReplicate(run, folder, model, spec.recipe, Average(model)).resumed()

    def resumed(self) -> Self:
        """Where the checkpoint in its folder left it, if there is one; a note if it is damaged."""
        if self.folder is None:
            return self
        checkpoint, note = load_checkpoint(self.folder, self.run.key)
        if checkpoint is not None:
            self._take_up(checkpoint)
        if note is not None:
            self.notes = (note,)
        return self

    @property
    def epoch(self) -> int:
        """The number of the epoch that is to come, or that is under way."""
        return len(self.history) + 1

    @property
    def valid_losses(self) -> list[float]:
        """Of all finished epochs, in nats a token."""
        return [record.valid_loss for record in self.history]

    @property
    def best_loss(self) -> float:
        """Lowest validation loss so far."""
        return self.history[self.best_epoch - 1].valid_loss if self.best_epoch else math.inf

    @property
    def ended(self) -> bool:
        """Whether there is no epoch to come."""
        return self.diverged is not None or finished(self.recipe, self.valid_losses)

    def begin_epoch(self) -> R:
        """What the epoch is trained by; the first of fine-tuning begins at the best weights."""
        if self.epoch == proper_epochs(self.recipe, self.valid_losses) + 1:
            self.model.load_state_dict(self.best)
            self.average = Average(self.model)
            self.averaging, self.late_factor = True, None
        return next_stage(self.recipe, self.valid_losses)

    def factor(self, stage: R, own: float) -> float:
        """What a step multiplies its rates with; late, that of the averaged step before it."""
        if not (self.averaging and stage.late):
            return own
        before, self.late_factor = self.late_factor, own
        return own if before is None else before

    def end_epoch(self, losses: Losses, validate: Callable[[], float], tokens: int) -> None:
        """Validate (the average, once there is one), keep the best, decide on the switch."""
        with self.average.in_place():
            valid_loss = validate()
            if not (losses.by_token < LARGEST_LOSS and valid_loss < LARGEST_LOSS):  # true for NaN
                self.diverged = self.epoch
            elif valid_loss < self.best_loss:
                self.best_epoch, self.best = self.epoch, _copy(self.model)
        if self.diverged is None:
            self._record(losses, valid_loss, tokens)
        if self.folder is not None:
            save_checkpoint(self._checkpoint(), self.folder)

    def result(self) -> TrainedRun[M]:
        """The run after training, its model with the best weights."""
        if self.best:
            self.model.load_state_dict(self.best)
        model, history = self.model.eval(), tuple(self.history)
        return TrainedRun(self.run, model, history, self.best_epoch, self.diverged, self.notes)

    def _record(self, losses: Losses, valid_loss: float, tokens: int) -> None:
        earlier, averaging = self.valid_losses, self.averaging
        self.history.append(
            EpochRecord(
                self.epoch, losses.by_token, valid_loss, averaging, tokens, losses.by_window
            )
        )
        if not averaging:
            self.averaging = switches(self.recipe.averaging, earlier, valid_loss)

    def _take_up(self, checkpoint: Checkpoint) -> None:
        self.model.load_state_dict(checkpoint.weights)
        self.average.restore(checkpoint.average_steps, checkpoint.average)
        self.averaging, self.late_factor = checkpoint.averaging, checkpoint.late_factor
        self.history = list(checkpoint.history)
        self.best_epoch, self.best = checkpoint.best_epoch, checkpoint.best
        self.diverged = checkpoint.diverged
        if self.optimiser is not None and checkpoint.optimiser_steps is not None:
            self.optimiser.restore(checkpoint.optimiser_steps, checkpoint.optimiser)

    def _checkpoint(self) -> Checkpoint:
        return Checkpoint(
            run_key=self.run.key,
            history=tuple(self.history),
            best_epoch=self.best_epoch,
            diverged=self.diverged,
            averaging=self.averaging,
            average_steps=self.average.steps,
            weights=self.model.state_dict(),
            average=self.average.weights,
            best=self.best,
            late_factor=self.late_factor,
            optimiser={} if self.optimiser is None else self.optimiser.moments,
            optimiser_steps=None if self.optimiser is None else self.optimiser.steps,
        )


def _copy(model: nn.Module) -> Weights:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}
