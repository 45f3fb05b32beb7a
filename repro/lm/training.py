"""Training: draw a window, forward, backward, clip, step; evaluate; keep the best.

The loop is a loop; what varies is in the recipe. A run's numbers depend on its specification
and corpus alone. A run that diverges ends there, and that is recorded, not raised.

Replicates of one configuration may go through the loop together. Each then has its own model,
windows, masks, loss, step, average, best weights and stop, as it has alone; the recurrence,
whose steps wait for each other, is one batched model (see ``recurrence``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from repro.lm.awd_lstm import Trunk, TrunkOutput, detached, run_together
from repro.lm.corpus import CorpusData, batchify
from repro.lm.evaluation import full_precision, mean_loss
from repro.lm.model import LanguageModel
from repro.lm.optimiser import Sgd
from repro.lm.precision import products_in
from repro.lm.randomness import Streams
from repro.lm.records import Phase, Progress, TrainedRun
from repro.lm.regularisation import Regularisation, activation_penalty, temporal_penalty
from repro.lm.replicates import Losses, TrainingReplicate
from repro.lm.windows import draw_windows
from repro.specs.recipe import Recipe
from repro.specs.run import RunSpec

Report = Callable[[Progress], None]


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

    ``folders`` gives each run the place of its checkpoint, or None for no checkpoint. A run
    whose folder holds one goes on from there and ends, on a CPU, with the same bits as if it
    had never stopped; after a stop in other company than before, the same but for round-off.
    Raises ValueError when the corpus is not that of the runs or runs that are to be trained
    together differ in more than their seeds, StoreError when a folder holds the checkpoint of
    another run, DataError when the text is too short.
    """
    for run in batch:
        if run.training.corpus.vocabulary != corpus.vocabulary:
            message = f"run {run.key} is not for a corpus of {corpus.vocabulary} words"
            raise ValueError(message)
        if together and run.training.digest() != batch[0].training.digest():
            message = f"run {run.key} is of another configuration than run {batch[0].key}"
            raise ValueError(message)
    placed = list(zip(batch, folders, strict=True))
    groups = [placed] if together and placed else [[one] for one in placed]
    report = progress or (lambda _: None)
    return [trained for group in groups for trained in _train_group(group, corpus, device, report)]


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
    with full_precision():
        while going := [replicate for replicate in replicates if not replicate.ended]:
            epochs = [_Epoch(replicate, text_LB, report) for replicate in going]
            with products_in(replicates[0].recipe.products):
                _train_epoch(epochs)
            for epoch in epochs:
                epoch.end(corpus.valid)
    return [replicate.result() for replicate in replicates]


def _train_epoch(epochs: Sequence[_Epoch]) -> None:
    """One pass of each replicate over the training text; those that are through wait."""
    for step in range(max(len(epoch.windows) for epoch in epochs)):
        running = [epoch for epoch in epochs if step < len(epoch.windows)]
        for part in range(len(running[0].parts)):
            _add_gradients(running, step, part)
        for epoch in running:
            epoch.update(step)


def _add_gradients(epochs: Sequence[_Epoch], step: int, part: int) -> None:
    """Add the gradients of one window of one part of the batch, for each replicate to its own.

    One way back through all: the objectives are their sum's terms, and each reaches its own
    weights alone.
    """
    outputs = _forward(epochs, step, part)
    objectives = [
        epoch.objective(output, step, part) for epoch, output in zip(epochs, outputs, strict=True)
    ]
    torch.autograd.backward(objectives)


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
        most = replicate.recipe.most_epochs
        self.clock = _Clock(replicate.run.key, epoch, most, length, batch_size, report)
        self.clock.tell(0, len(self.windows), 0)

    def objective(self, output: TrunkOutput, step: int, part: int) -> Tensor:
        """What a window of a part of the batch adds to the objective, a scalar.

        The parts' gradients add up to that of the mean over the batch. The loss that is counted
        is without penalties.
        """
        window, part_LB, recipe = self.windows[step], self.parts[part], self.recipe
        self.states[part] = detached(output.state)
        loss = self.model.loss(output.context, window.targets(part_LB), self.regularisation)
        share = part_LB.shape[1] / self.clock.batch_size
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
        done = self.clock.fraction(window.start, self.recipe.epochs)
        decay = 1 - done if self.recipe.decay == "linear" else 1.0
        self.optimiser.step(replicate.factor(self.recipe, window.rate * decay))
        if replicate.averaging:
            replicate.average.update()
        self.clock.tell(step + 1, len(self.windows), window.start + window.length)

    def end(self, valid: Tensor) -> None:
        """Mean losses of the epoch, validation, and what follows from it."""
        steps, predicted = len(self.windows), self.clock.length - 1
        self.clock.tell(steps, steps, predicted, "valid")
        losses = Losses(float(self.by_token) / predicted, float(self.by_window) / steps)
        size = self.replicate.recipe.valid_batch_size
        self.replicate.end_epoch(
            losses, lambda: mean_loss(self.model, valid, size)[0], self.clock.tokens_in_epoch
        )


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
