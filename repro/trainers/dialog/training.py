"""Training on dialogs: all responses in a new order each epoch, one Adam step per batch of them.

What happens between epochs (validation, the best weights, divergence, checkpoints) is that of
language models. Then: what a measurement can ask of a model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor, nn

from repro.trainers.dialog.corpus import (
    BEGIN,
    END,
    DialogData,
    DialogSplit,
    batch_of,
    in_order,
    shuffled,
)
from repro.trainers.dialog.model import DialogModel, Response, begin, respond
from repro.trainers.dialog.spec import Beam, DialogRecipe, DialogTrainingSpec
from repro.trainers.language_model.checkpoint import TrainedRun, sha256_of
from repro.trainers.language_model.evaluation import full_precision, loss_over, rows_of
from repro.trainers.language_model.optimiser import Average
from repro.trainers.language_model.randomness import Streams
from repro.trainers.language_model.regularisation import Regularisation
from repro.trainers.language_model.training import (
    DTYPES,
    Losses,
    TrainingReplicate,
    check_vocabulary,
)
from repro.trainers.measurement import Split, Subject
from repro.trainers.run import RunSpec
from repro.trainers.trainer import Phase, Progress, Report

MOMENTS = ("mean", "square")

BATCH = 60
"""Responses that are evaluated at a time; no number depends on it but by rounding."""


class AdamOptimiser:
    """p <- p - rate m / (sqrt(v) + epsilon), m and v running means of g and g squared.

    Both are divided by 1 - beta^t, t counting from 1. The clip bounds the norm over all gradients
    together. The output layer's own rates go before the recipe's. Reference: Kingma and Ba 2015.
    """

    def __init__(self, model: DialogModel, recipe: DialogRecipe) -> None:
        named = {f"output.{name}": rate for name, rate in model.output.learning_rates().items()}
        self._clip, self._spec = recipe.clip, recipe.optimiser
        self._parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
        self._rates = {
            name: named.get(name, recipe.optimiser.learning_rate) for name in self._parameters
        }
        self.steps = 0
        self.moments: dict[str, Tensor] = {
            f"{moment}/{name}": torch.zeros_like(parameter, requires_grad=False)
            for moment in MOMENTS
            for name, parameter in self._parameters.items()
        }

    @torch.no_grad()
    def step(self, scale: float = 1.0) -> None:
        """One update with every rate multiplied by ``scale``; the gradients are consumed."""
        nn.utils.clip_grad_norm_(self._parameters.values(), self._clip)
        self.steps += 1
        beta1, beta2 = self._spec.beta1, self._spec.beta2
        unbias = 1 / (1 - beta1**self.steps)
        root = math.sqrt(1 - beta2**self.steps)
        for name, parameter in self._parameters.items():
            gradient = parameter.grad
            if gradient is None:
                continue
            mean, square = (self.moments[f"{moment}/{name}"] for moment in MOMENTS)
            mean.lerp_(gradient, 1 - beta1)
            square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
            divisor = square.sqrt().div_(root).add_(self._spec.epsilon)
            parameter.addcdiv_(mean, divisor, value=-self._rates[name] * scale * unbias)
            parameter.grad = None

    def restore(self, steps: int, moments: dict[str, Tensor]) -> None:
        """Go on from saved moments."""
        self.steps = steps
        for name, moment in self.moments.items():
            moment.copy_(moments[name])


def train(
    batch: Sequence[RunSpec],
    corpus: DialogData,
    *,
    device: torch.device,
    folders: Sequence[Path | None],
    progress: Report | None = None,
    together: bool = False,  # noqa: ARG001 - in turn in any case
) -> list[TrainedRun[DialogModel]]:
    """Train each run of ``batch``, one after the other, and return them in the same order.

    From checkpoints, and with the errors, of training language models.
    """
    for run in batch:
        check_vocabulary(run, DialogTrainingSpec.of(run).corpus.vocabulary, corpus)
    report = progress or (lambda _: None)
    with full_precision():
        return [
            _train(run, corpus, device, folder, report)
            for run, folder in zip(batch, folders, strict=True)
        ]


def _train(
    run: RunSpec, corpus: DialogData, device: torch.device, folder: Path | None, report: Report
) -> TrainedRun[DialogModel]:
    spec = DialogTrainingSpec.of(run)
    model = build(spec)
    begin(model, spec.recipe, Streams(run), corpus.train)
    model.to(device)
    adam, average = AdamOptimiser(model, spec.recipe), Average(model)
    replicate = TrainingReplicate(run, folder, model, spec.recipe, average, adam).resumed()
    while not replicate.ended:
        losses = _train_epoch(replicate, adam, corpus.train, report)
        replicate.end_epoch(
            losses, lambda: mean_loss(model, corpus.valid)[0], corpus.train.predicted
        )
    return replicate.result()


def _train_epoch(
    replicate: TrainingReplicate[DialogModel, DialogRecipe],
    adam: AdamOptimiser,
    split: DialogSplit,
    report: Report,
) -> Losses:
    """One pass over all responses; the losses are taken before each step, dropout on."""
    recipe, epoch, streams = replicate.begin_epoch(), replicate.epoch, Streams(replicate.run)
    regularisation = Regularisation.of_epoch(recipe, streams, epoch)
    batches = shuffled(split, recipe.batch_size, streams.open("batch_order", epoch))
    done, in_all = (epoch - 1) * split.predicted, recipe.epochs * split.predicted

    def tell(step: int, phase: Phase) -> None:
        where = (epoch, recipe.epochs, step, len(batches), done, in_all)
        report(Progress(replicate.key, *where, phase))

    device = replicate.model.output.weight.device
    by_token, by_step = torch.zeros(2, dtype=torch.float64, device=device)
    tell(0, "train")
    for step, examples in enumerate(batches, start=1):
        batch = batch_of(split, examples).to(device)
        loss = replicate.model.loss(batch, regularisation)
        loss.backward()
        adam.step()
        by_token += loss.detach().double() * batch.tokens
        by_step += loss.detach().double()
        done += batch.tokens
        tell(step, "train")
    tell(len(batches), "valid")
    return Losses(float(by_token) / split.predicted, float(by_step) / len(batches))


def build(spec: DialogTrainingSpec) -> DialogModel:
    """The model of a configuration, its parameters empty."""
    return DialogModel(spec.model, spec.corpus.vocabulary, DTYPES[spec.recipe.precision])


def mean_loss(model: DialogModel, split: DialogSplit, batch_size: int = BATCH) -> tuple[float, int]:
    """Mean negative log-likelihood in nats a predicted token, and how many were predicted.

    Every token of every response counts once, ``</s>`` too.
    """
    return loss_over(model.output, contexts(model, split, batch_size))


def contexts(
    model: DialogModel, split: DialogSplit, batch_size: int = BATCH
) -> Iterator[tuple[Tensor, Tensor]]:
    """Contexts (1, N, D) and the words (1, N) that follow them, batch by batch."""
    for examples in in_order(split.examples, batch_size):
        batch = batch_of(split, examples).to(model.output.weight.device)
        with torch.no_grad(), full_precision():
            context_1ND = model(batch)
        yield context_1ND, batch.targets.unsqueeze(0)


Answered = list[tuple[list[Response], tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class OnDialogs(Subject):
    """A dialog model, which reads the responses of a split one by one, whatever the streams."""

    def mean_loss(self, split: Split, streams: int = 1) -> tuple[float, int]:
        return mean_loss(self.model, self.corpus.split(split))

    def contexts(self, split: Split, streams: int = 1) -> Iterator[tuple[Tensor, Tensor]]:
        """Contexts (1, N, D) and the words (1, N) that follow them, batch by batch."""
        return contexts(self.model, self.corpus.split(split))

    def log_probabilities(self, split: Split, streams: int = 1, start: int = 0) -> Iterator[Tensor]:
        """Blocks (rows, V), from row ``start``."""
        found = self.contexts(split)
        return rows_of(self.model.output, (context for context, _ in found), start)

    def rows(self, split: Split, streams: int = 1) -> int:
        predicted: int = self.corpus.split(split).predicted
        return predicted

    def answered(self, split: Split, beam: Beam) -> Answered:
        """The answers to each context of a split, and the words of what was said."""
        part, words = self.corpus.split(split), tuple(self.corpus.words)
        weights = {name: weight.cpu() for name, weight in self.model.state_dict().items()}
        return _answered(sha256_of("", weights), self.model, part, beam, words)


@lru_cache(maxsize=1)
def _answered(
    _weights: str, model: DialogModel, split: DialogSplit, beam: Beam, words: tuple[str, ...]
) -> Answered:
    """The last answers are kept for other orders and the other side, of the same ``_weights``."""
    start, end = words.index(BEGIN), words.index(END)
    found = []
    for example in split.examples:
        batch = batch_of(split, [example]).to(model.output.weight.device)
        with torch.no_grad(), full_precision():
            begin_1BD = model.encode(batch)
        answers = respond(model, begin_1BD, beam, start=start, end=end)
        found.append((answers, tuple(split.utterance(example.response)[1:-1].tolist())))
    return found


SUBJECT = OnDialogs
"""What a measurement asks about a trained model."""
