"""Training: draw a window, forward, backward, clip, step; evaluate; keep the best.

A run that diverges ends there, and that is recorded, not raised.

Replicates of one configuration may go through the loop together. Each then has its own model,
windows, masks, loss, step, average, best weights and stop, as it has alone; the recurrence is one
batched model (see ``model``).
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import torch
from torch import Tensor

from repro.trainers.language_model.checkpoint import (
    Checkpoint,
    EpochRecord,
    M,
    TrainedRun,
    Weights,
    load_checkpoint,
    save_checkpoint,
)
from repro.trainers.language_model.corpus import CorpusData, Splits, batchify, draw_windows
from repro.trainers.language_model.evaluation import OnText, full_precision, mean_loss
from repro.trainers.language_model.model import (
    LanguageModel,
    Trunk,
    TrunkOutput,
    detached,
    run_together,
)
from repro.trainers.language_model.optimiser import Average, Sgd, learning_rates
from repro.trainers.language_model.precision import products_in
from repro.trainers.language_model.randomness import Streams, initialise
from repro.trainers.language_model.recipe import Recipe, Schedule
from repro.trainers.language_model.regularisation import (
    Regularisation,
    activation_penalty,
    temporal_penalty,
)
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.run import RunSpec
from repro.trainers.trainer import Phase, Progress, Report

R = TypeVar("R", bound=Schedule)

SUBJECT = OnText
"""What a measurement asks about a trained model."""

DTYPES = {"float32": torch.float32, "float64": torch.float64}

SECONDS_BETWEEN_CHECKPOINTS = 60.0
"""On a GPU, where an epoch may take two seconds and a checkpoint most of one."""

LARGEST_LOSS = math.log(sys.float_info.max)
"""709 nats: a loss above it has no finite perplexity, and counts as divergence."""


def train(
    batch: Sequence[RunSpec],
    corpus: CorpusData,
    *,
    device: torch.device,
    folders: Sequence[Path | None],
    progress: Report | None = None,
    together: bool = False,
) -> list[TrainedRun[LanguageModel]]:
    """Train each run of ``batch``, one after the other, and return them in the same order.

    ``together``: the runs are replicates of one configuration, and are trained in step with each
    other as one batched model. Their numbers are then the same but for round-off.

    A run whose folder holds a checkpoint goes on from there and ends, on a CPU, with the same bits
    as if it had never stopped, unless its company is another. Raises ValueError when the corpus is
    not that of the runs or runs to be trained together differ in more than their seeds, StoreError
    when a folder holds the checkpoint of another run, DataError when the text is too short.
    """
    for run in batch:
        check_vocabulary(run, TrainingSpec.of(run).corpus.vocabulary, corpus)
        if together and run.training.digest() != batch[0].training.digest():
            raise ValueError(f"run {run.key} is of another configuration than run {batch[0].key}")
    placed = list(zip(batch, folders, strict=True))
    groups = [placed] if together and placed else [[each] for each in placed]
    report = progress or (lambda _: None)
    return [trained for group in groups for trained in _train_group(group, corpus, device, report)]


def check_vocabulary(run: RunSpec, vocabulary: int, corpus: Splits[Any]) -> None:
    """ValueError unless the corpus has as many words as that of the run."""
    if vocabulary != corpus.vocabulary:
        raise ValueError(f"run {run.key} is not for a corpus of {corpus.vocabulary} words")


def _train_group(
    group: Sequence[tuple[RunSpec, Path | None]],
    corpus: CorpusData,
    device: torch.device,
    report: Report,
) -> list[TrainedRun[LanguageModel]]:
    """Train runs of one configuration in step with each other; one alone is a group of one.

    They need not be in the same epoch: some may go on from a checkpoint.
    """
    replicates = [TrainingReplicate.begin(run, device, folder) for run, folder in group]
    text_LB = batchify(corpus.train, replicates[0].recipe.batch_size).to(device)
    valid = corpus.valid.to(device)
    with full_precision():
        while going := [replicate for replicate in replicates if not replicate.ended]:
            epochs = [_Epoch(replicate, text_LB, report) for replicate in going]
            with products_in(replicates[0].recipe.products):
                _train_epoch(epochs)
            for epoch in epochs:
                epoch.end(valid)
    return [replicate.result() for replicate in replicates]


def _train_epoch(epochs: Sequence[_Epoch]) -> None:
    """One pass of each replicate over the training text; those that are through wait.

    One way back through all for each window: each objective reaches its own weights alone.
    """
    for step in range(max(len(epoch.windows) for epoch in epochs)):
        running = [epoch for epoch in epochs if step < len(epoch.windows)]
        for part in range(len(running[0].parts)):
            forward = zip(running, _forward(running, step, part), strict=True)
            torch.autograd.backward([e.objective(output, step, part) for e, output in forward])
        for epoch in running:
            epoch.update(step)


def _forward(epochs: Sequence[_Epoch], step: int, part: int) -> list[TrunkOutput]:
    """The contexts of one window of each replicate; several LSTM trunks run as one."""
    words = [epoch.windows[step].inputs(epoch.parts[part]) for epoch in epochs]
    states = [epoch.states[part] for epoch in epochs]
    models = [epoch.model for epoch in epochs]
    regularisations = [epoch.regularisation for epoch in epochs]
    trunks = [model.trunk for model in models if isinstance(model.trunk, Trunk)]
    if len(trunks) < 2:  # one replicate, or trunks of a user's own
        each = zip(models, words, states, regularisations, strict=True)
        return [model(*arguments) for model, *arguments in each]
    vectors_TBE = [
        regularisation.embed(words_TB, model.embedding_matrix)
        for regularisation, words_TB, model in zip(regularisations, words, models, strict=True)
    ]
    return run_together(trunks, vectors_TBE, states, regularisations)


class _Epoch:
    """One pass of one replicate over the training text: what is drawn for it, where it is."""

    def __init__(
        self, replicate: TrainingReplicate[LanguageModel, Recipe], text_LB: Tensor, report: Report
    ) -> None:
        self.replicate = replicate
        self.recipe, self.model = replicate.begin_epoch(), replicate.model
        length, batch_size = text_LB.shape
        epoch, streams = replicate.epoch, Streams(replicate.run)
        self.optimiser = Sgd(self.model, self.recipe)
        self.regularisation = Regularisation.of_epoch(self.recipe, streams, epoch)
        lengths = streams.open("window_length", epoch)
        self.windows = draw_windows(length - 1, self.recipe.window, lengths)
        self.parts = text_LB.split(self.recipe.small_batch_size or batch_size, dim=1)
        self.states: list[Any] = [self.model.zero_state(part.shape[1]) for part in self.parts]
        self.by_token, self.by_window = torch.zeros(2, dtype=torch.float64, device=text_LB.device)
        self.text_shape, self.report = text_LB.shape, report
        self.tell(0, 0)

    def objective(self, output: TrunkOutput, step: int, part: int) -> Tensor:
        """What a window of a part of the batch adds to the objective, a scalar.

        The parts' gradients add up to that of the mean over the batch. The loss that is counted
        is without penalties.
        """
        window, part_LB, recipe = self.windows[step], self.parts[part], self.recipe
        self.states[part] = detached(output.state)
        loss = self.model.output.loss(output.context, window.targets(part_LB), self.regularisation)
        share = part_LB.shape[1] / self.text_shape[1]
        self.by_token += loss.detach().double() * share * window.length
        self.by_window += loss.detach().double() * share
        if recipe.activation:
            loss = loss + activation_penalty(output.context, recipe.activation)
        if recipe.temporal:
            loss = loss + temporal_penalty(output.raw, recipe.temporal)
        return loss * share

    def update(self, step: int) -> None:
        """One step with the gradients of all parts."""
        window, replicate = self.windows[step], self.replicate
        done = replicate.epoch - 1 + window.start / (self.text_shape[0] - 1)
        decay = 1 - done / self.recipe.epochs if self.recipe.decay == "linear" else 1.0
        self.optimiser.step(replicate.factor(self.recipe, window.rate * decay))
        if replicate.averaging:
            replicate.average.update()
        self.tell(step + 1, window.start + window.length)

    def end(self, valid: Tensor) -> None:
        """Mean losses of the epoch, validation, and what follows from it."""
        steps, (length, batch_size) = len(self.windows), self.text_shape
        self.tell(steps, length - 1, "valid")
        losses = Losses(float(self.by_token) / (length - 1), float(self.by_window) / steps)
        size = self.replicate.recipe.valid_batch_size
        self.replicate.end_epoch(
            losses, lambda: mean_loss(self.model, valid, size)[0], (length - 1) * batch_size
        )

    def tell(self, step: int, predicted: int, phase: Phase = "train") -> None:
        """Report so many steps, and predicted words of each stream, of this epoch."""
        (length, batch_size), replicate = self.text_shape, self.replicate
        epoch, epochs = replicate.epoch, replicate.recipe.most_epochs
        in_epoch = (length - 1) * batch_size
        tokens = ((epoch - 1) * in_epoch + predicted * batch_size, epochs * in_epoch)
        where = (epoch, epochs, step, len(self.windows), *tokens)
        self.report(Progress(replicate.key, *where, phase))


class Losses(NamedTuple):
    """Mean training losses of an epoch, in nats, each before the update that it is part of."""

    by_token: float
    by_window: float


class Remembering(Protocol):
    """An optimiser whose steps depend on those before."""

    steps: int
    moments: Weights

    def restore(self, steps: int, moments: Weights) -> None: ...


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
    saved_at: float = -math.inf

    @staticmethod
    def begin(
        run: RunSpec, device: torch.device, folder: Path | None
    ) -> TrainingReplicate[LanguageModel, Recipe]:
        """A language model before its first step, or where the checkpoint in ``folder`` left it."""
        spec = TrainingSpec.of(run)
        model = build(spec)
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

    @cached_property
    def key(self) -> str:
        """The key of the run, which every step tells."""
        return self.run.key

    @property
    def epoch(self) -> int:
        """The number of the epoch that is to come, or that is under way."""
        return len(self.history) + 1

    @property
    def valid_losses(self) -> list[float]:
        """Of all finished epochs, in nats per token."""
        return [record.valid_loss for record in self.history]

    @property
    def best_loss(self) -> float:
        """Lowest validation loss so far."""
        return self.history[self.best_epoch - 1].valid_loss if self.best_epoch else math.inf

    @property
    def ended(self) -> bool:
        """Whether there is no epoch to come."""
        return self.diverged is not None or self.recipe.finished(self.valid_losses)

    def begin_epoch(self) -> R:
        """What the epoch is trained by; the first of fine-tuning begins at the best weights."""
        if self.epoch == self.recipe.proper_epochs(self.valid_losses) + 1:
            self.model.load_state_dict(self.best)
            self.average = Average(self.model)
            self.averaging, self.late_factor = True, None
        return self.recipe.next_stage(self.valid_losses)

    def factor(self, stage: R, rate: float) -> float:
        """What a step multiplies its rates with; late, that of the averaged step before it."""
        if not (self.averaging and stage.late):
            return rate
        before, self.late_factor = self.late_factor, rate
        return rate if before is None else before

    def end_epoch(self, losses: Losses, validate: Callable[[], float], tokens: int) -> None:
        """Validate (the average, once there is one), keep the best, decide on the switch."""
        with self.average.in_place():
            valid_loss = validate()
            if not (losses.by_token < LARGEST_LOSS and valid_loss < LARGEST_LOSS):  # true for NaN
                self.diverged = self.epoch
            elif valid_loss < self.best_loss:
                self.best_epoch = self.epoch
                self.best = {name: x.clone() for name, x in self.model.state_dict().items()}
        if self.diverged is None:
            self._record(losses, valid_loss, tokens)
        if self.folder is not None and self._checkpoint_is_due():
            save_checkpoint(self._checkpoint(), self.folder)
            self.saved_at = time.monotonic()

    def result(self) -> TrainedRun[M]:
        """The run after training, its model with the best weights."""
        if self.best:
            self.model.load_state_dict(self.best)
        model, history = self.model.eval(), tuple(self.history)
        return TrainedRun(self.run, model, history, self.best_epoch, self.diverged, self.notes)

    def _checkpoint_is_due(self) -> bool:
        """After each epoch on a CPU, once a minute on a GPU, and at the end."""
        on_gpu = next(self.model.parameters()).device.type == "cuda"
        waited = time.monotonic() - self.saved_at
        return not on_gpu or waited >= SECONDS_BETWEEN_CHECKPOINTS or self.ended

    def _record(self, losses: Losses, valid_loss: float, tokens: int) -> None:
        earlier, averaging = self.valid_losses, self.averaging
        facts = (losses.by_token, valid_loss, averaging, tokens, losses.by_window)
        self.history.append(EpochRecord(self.epoch, *facts))
        if not averaging:
            self.averaging = self.recipe.averaging.begins(earlier, valid_loss)

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


def build(spec: TrainingSpec) -> LanguageModel:
    """The model of a configuration, its parameters empty."""
    return LanguageModel(spec.model, spec.corpus.vocabulary, DTYPES[spec.recipe.precision])


def try_out(spec: TrainingSpec) -> None:
    """Build the model, and its optimiser as far as its recipe can be wrong about it: DataError."""
    learning_rates(build(spec), spec.recipe)
