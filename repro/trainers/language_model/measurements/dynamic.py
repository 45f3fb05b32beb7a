"""Dynamic evaluation: the weights of a model learn from each segment of a text that was read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch import Tensor

from repro.errors import ClaimError
from repro.trainers.language_model.corpus import CorpusData, batchify, windows_of
from repro.trainers.language_model.evaluation import full_precision
from repro.trainers.language_model.model import LanguageModel, detached
from repro.trainers.language_model.randomness import Streams
from repro.trainers.language_model.regularisation import QUIET, Regularisation
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.run import RunSpec

LARGEST_DYNAMIC_LOSS = 700.0
"""Nats; the perplexity of a larger one is no finite number."""

SEGMENTS_AT_A_LOOK: Final = 256
"""How many losses the host lets come before it waits for them and looks at their mean."""


def dynamic_perplexity(
    measurement: Any, model: LanguageModel, corpus: CorpusData, run: RunSpec | None = None
) -> tuple[float, dict[str, Any]]:
    """Perplexity of a split under dynamic evaluation (`perplexity.Dynamic`), and facts about it.

    ``model`` stays as it is. ``decay_cut`` is the share of parameters whose decay was cut to 1.
    Raises ClaimError when the weights run away, DataError when a text is too short for its streams.
    """
    how = measurement.dynamic
    if how is None:
        raise ValueError("the measurement does not say how to evaluate dynamically")
    if not isinstance(corpus, CorpusData):
        raise TypeError("there is no dynamic evaluation of a dialog model: only a text has one")
    regularisation = _regularisation(measurement, how, run)
    learner = deepcopy(model)
    with full_precision():
        squares, passes = squared_gradients(learner, corpus.train, how, regularisation)
        weights = _moving(model, learner, squares, passes, how)
        del squares
        read, tokens, streams = _Read(how), corpus.split(measurement.split), measurement.batch_size
        for loss, predicted in _losses(learner, tokens, streams, how.segment, regularisation):
            for weight in weights:
                weight.move(how.rate)
            read.add(loss, predicted)
        read.look()
    cut = int(torch.stack([(weight.pull == 1).sum() for weight in weights]).sum())
    moving = sum(weight.pull.numel() for weight in weights)
    facts = {"tokens": read.count, "segments": read.segments, "statistics_segments": passes}
    return math.exp(read.total / read.count), {**facts, "decay_cut": cut / moving}


@dataclass(slots=True)
class _Read:
    """What was read so far; the last losses are still on the device."""

    how: Any
    total: float = 0.0
    """Sum of the losses in nats, over ``count`` words of so many ``segments``."""
    count: int = 0
    segments: int = 0
    waiting: list[tuple[Tensor, int]] = field(default_factory=list)

    def add(self, loss: Tensor, predicted: int) -> None:
        self.waiting.append((loss, predicted))
        if len(self.waiting) == SEGMENTS_AT_A_LOOK:
            self.look()

    def look(self) -> None:
        """Fetch the losses, the one wait; ClaimError at the first segment with too large a mean."""
        losses = torch.stack([loss for loss, _ in self.waiting]).tolist() if self.waiting else []
        for loss, (_, predicted) in zip(losses, self.waiting, strict=True):
            self.segments += 1
            self.total, self.count = self.total + loss * predicted, self.count + predicted
            if not self.total / self.count < LARGEST_DYNAMIC_LOSS:  # true for NaN
                raise ClaimError(
                    "dynamic evaluation ran away: no finite perplexity after segment "
                    f"{self.segments:,}\n  to do: lower its rate ({self.how.rate:g}), or raise its "
                    f"epsilon ({self.how.epsilon:g})"
                )
        self.waiting.clear()


def squared_gradients(
    model: LanguageModel, train: Tensor, how: Any, regularisation: Regularisation
) -> tuple[list[Tensor], int]:
    """Sums of the squared gradients of the training text's segments, and how many there were.

    One tensor for each trained parameter of ``model``. The last segment counts as the others.
    """
    parameters = [p for p in model.parameters() if p.requires_grad]
    squares, passes = [torch.zeros_like(parameter) for parameter in parameters], 0
    streams = how.statistics_batch_size
    for _ in _losses(model, train, streams, how.segment, regularisation):
        passes += 1
        for square, parameter in zip(squares, parameters, strict=True):
            if parameter.grad is not None:
                square.addcmul_(parameter.grad, parameter.grad)
                parameter.grad = None
    return squares, passes


@dataclass(frozen=True, slots=True)
class _Weight:
    """One parameter that moves, and what its movement depends on."""

    parameter: Tensor
    start: Tensor
    scale: Tensor
    """M + epsilon: what a gradient is divided by."""
    pull: Tensor
    """Share of the way back to the start."""

    @torch.no_grad()
    def move(self, rate: float) -> None:
        """One update; the gradient is consumed."""
        gradient, self.parameter.grad = self.parameter.grad, None
        self.parameter.lerp_(self.start, self.pull)
        if gradient is not None:
            self.parameter.addcdiv_(gradient, self.scale, value=-rate)


@torch.no_grad()
def _moving(
    model: LanguageModel,
    learner: LanguageModel,
    squares: Sequence[Tensor],
    passes: int,
    how: Any,
) -> list[_Weight]:
    """The parameters of ``learner``, each with its scale and its way back to ``model``."""
    trained = [p for p in learner.parameters() if p.requires_grad]
    starts = [p.detach() for p in model.parameters() if p.requires_grad]
    if how.scaling == "mean":
        squares = [square / passes for square in squares]
    roots = [square.sqrt() for square in squares]
    means = torch.stack([root.mean(dtype=torch.float64) for root in roots]).tolist()
    typical = sum(means) / (len(means) if how.scaling == "mean" else 1)
    return [
        _Weight(parameter, start, root + how.epsilon, (root * (how.decay / typical)).clamp_(max=1))
        for parameter, start, root in zip(trained, starts, roots, strict=True)
    ]


def _losses(
    model: LanguageModel, tokens: Tensor, streams: int, length: int, regularisation: Regularisation
) -> Iterator[tuple[Tensor, int]]:
    """Mean loss in nats of each segment and its number of words, its gradients in the model."""
    text_LB = batchify(tokens, streams).to(model.output.weight.device)
    state = model.zero_state(streams)
    for segment in windows_of(len(text_LB) - 1, length):
        targets_TB = segment.targets(text_LB)
        context_TBD, _, after = model(segment.inputs(text_LB), state, regularisation)
        loss = model.output.loss(context_TBD, targets_TB, regularisation)
        loss.backward()
        state = detached(after)
        yield loss.detach(), targets_TB.numel()


def _regularisation(measurement: Any, how: Any, run: RunSpec | None) -> Regularisation:
    """Nothing dropped; or the recurrent matrices, from a stream of the measurement's own."""
    if how.weight_dropout is None:
        return QUIET
    if run is None:
        raise ValueError("live weight dropout is drawn from the streams of a run: name the run")
    streams, name = Streams(run), measurement.key
    probabilities = {"weight": TrainingSpec.of(run).recipe.dropout.weight}
    return Regularisation(probabilities, 0.0, lambda _: streams.open("dynamic_evaluation", name))
