"""Training on dialogs: all responses in a new order each epoch, one Adam step per batch of them.

Runs are trained one after the other. What happens between epochs (validation, the best weights,
divergence, checkpoints) is that of language models.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from repro.trainers.dialog.corpus import DialogData, DialogSplit, batch_of, shuffled
from repro.trainers.dialog.evaluation import OnDialogs, mean_loss
from repro.trainers.dialog.model import DialogModel, begin
from repro.trainers.dialog.spec import DialogRecipe, DialogTrainingSpec
from repro.trainers.language_model.checkpoint import EpochRecord, TrainedRun
from repro.trainers.language_model.evaluation import full_precision
from repro.trainers.language_model.optimiser import Average
from repro.trainers.language_model.randomness import Streams
from repro.trainers.language_model.regularisation import Regularisation
from repro.trainers.language_model.training import DTYPES, Losses, TrainingReplicate
from repro.trainers.measurement import Measured, MeasurementSpec
from repro.trainers.run import RunSpec
from repro.trainers.trainer import Phase, Progress, Report

MOMENTS = ("mean", "square")


class AdamOptimiser:
    """p <- p - rate m / (sqrt(v) + epsilon), m and v running means of g and g squared.

    Both are divided by 1 - beta^t, t counting from 1, because they begin with zero. The clip
    bounds the norm over all gradients together. Every parameter that is trained has the recipe's
    rate, but those that the output layer has a rate for. Reference: Kingma and Ba 2015.
    """

    def __init__(self, model: DialogModel, recipe: DialogRecipe) -> None:
        own = {f"output.{name}": rate for name, rate in model.output.learning_rates().items()}
        self._clip, self._spec = recipe.clip, recipe.optimiser
        self._parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
        self._rates = {
            name: own.get(name, recipe.optimiser.learning_rate) for name in self._parameters
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


def masks_of_epoch(recipe: DialogRecipe, streams: Streams, epoch: int) -> Regularisation:
    """The masks that ``recipe`` asks for in one epoch, always the same ones."""
    probabilities = recipe.dropout.model_dump()
    return Regularisation(probabilities, 0.0, lambda name: streams.open(name, epoch))


def train(
    batch: Sequence[RunSpec],
    corpus: DialogData,
    *,
    device: torch.device,
    folders: Sequence[Path | None],
    progress: Report | None = None,
) -> list[TrainedRun[DialogModel]]:
    """Train each run of ``batch``, one after the other, and return them in the same order.

    ``folders`` gives each run the place of its checkpoint, or None for no checkpoint. A run
    whose folder holds one goes on from there and ends, on a CPU, with the same bits as if it
    had never stopped. Raises ValueError when the corpus is not that of the runs, StoreError when
    a folder holds the checkpoint of another run.
    """
    for run in batch:
        if DialogTrainingSpec.of(run).corpus.vocabulary != corpus.vocabulary:
            message = f"run {run.key} is not for a corpus of {corpus.vocabulary} words"
            raise ValueError(message)
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
    train_split = corpus.train.to(device)
    while not replicate.ended:
        losses = _train_epoch(replicate, adam, train_split, report)
        replicate.end_epoch(
            losses, lambda: mean_loss(model, corpus.valid)[0], train_split.predicted
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
    regularisation = masks_of_epoch(recipe, streams, epoch)
    batches = shuffled(split, recipe.batch_size, streams.open("batch_order", epoch))
    done, in_all = (epoch - 1) * split.predicted, recipe.epochs * split.predicted

    def tell(step: int, phase: Phase) -> None:
        where = (epoch, recipe.epochs, step, len(batches), done, in_all)
        report(Progress(replicate.run.key, *where, phase))

    by_token, by_step = torch.zeros(2, dtype=torch.float64, device=split.tokens.device)
    tell(0, "train")
    for step, examples in enumerate(batches, start=1):
        batch = batch_of(split, examples)
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


def measure(
    measurement: MeasurementSpec,
    *,
    model: DialogModel,
    history: Sequence[EpochRecord],
    best_epoch: int,
    corpus: DialogData,
) -> Measured:
    """The value of ``measurement`` on a trained model (best checkpoint, evaluation mode)."""
    device = model.output.weight.device
    return measurement.measure(OnDialogs(None, model, history, best_epoch, corpus, device))
