"""Trained model + text -> losses and log-probabilities, and what a measurement can ask of a text.

With every dropout off, and all in the precision of the model's weights, whatever products it was
trained by: rounding logits or log-probabilities makes any matrix look like one of full rank.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import torch
from torch import Tensor

from repro.errors import ClaimError
from repro.trainers.language_model.corpus import CorpusData, batchify, windows_of
from repro.trainers.language_model.fused_loss import rows_per_chunk
from repro.trainers.language_model.model import LanguageModel, detached
from repro.trainers.language_model.output.layer import OutputLayer
from repro.trainers.language_model.precision import products_in
from repro.trainers.language_model.randomness import Streams
from repro.trainers.language_model.regularisation import QUIET, Regularisation
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.measurement import Split, Subject
from repro.trainers.run import RunSpec

if TYPE_CHECKING:
    from repro.trainers.language_model.perplexity import Dynamic, Perplexity

WINDOW = 70
"""Steps that are run at a time; the state is carried over, so numbers differ by round-off only."""

CHUNK_BYTES = 64 * 2**20
"""Size of the largest block of log-probabilities."""

LARGEST_DYNAMIC_LOSS = 700.0
"""Nats; the perplexity of a larger one is no finite number."""


def full_precision() -> AbstractContextManager[None]:
    """Products in the precision of their factors inside the block: no TF32, no bfloat16."""
    return products_in(None)


def mean_loss(model: LanguageModel, tokens: Tensor, batch_size: int) -> tuple[float, int]:
    """Mean negative log-likelihood in nats a predicted token, and how many were predicted.

    ``tokens`` (N,) are read in ``batch_size`` parallel streams from a zero state; the first word of
    each stream and the last N mod B words are not predicted. The reference code divides by one more
    a stream (-0.03 in perplexity on PTB). DataError for a text too short for so many streams.
    """
    return loss_over(model.output, contexts(model, tokens, batch_size))


@torch.no_grad()
def loss_over(
    output: OutputLayer, predictions: Iterable[tuple[Tensor, Tensor]]
) -> tuple[float, int]:
    """Mean loss over contexts (T, B, D) and the words (T, B) after them, and how many there are.

    Every word counts once; sums are float64.
    """
    total, count = 0.0, 0
    with full_precision():
        for context_TBD, targets_TB in predictions:
            total += float(output.loss(context_TBD, targets_TB)) * targets_TB.numel()
            count += targets_TB.numel()
    return total / count, count


def log_probability_rows(model: LanguageModel, tokens: Tensor, batch_size: int) -> Iterator[Tensor]:
    """Blocks (rows, V) of log-probabilities in nats, one row a predicted position.

    Every position comes exactly once: step by step, and within a step stream by stream.
    """
    return rows_of(model.output, (context for context, _ in contexts(model, tokens, batch_size)))


def rows_of(output: OutputLayer, contexts: Iterable[Tensor]) -> Iterator[Tensor]:
    """Blocks (rows, V) of log-probabilities in nats, one row per context of (T, B, D).

    A block holds CHUNK_BYTES at most (or one row). The work is done as blocks are asked for.
    """
    size = rows_per_chunk(max(output.weight.shape), CHUNK_BYTES // output.weight.element_size())
    waiting: list[Tensor] = []
    count = 0
    for context_TBD in contexts:
        waiting.append(context_TBD.flatten(0, 1))
        count += len(waiting[-1])
        if count >= size:
            rows_ND = torch.cat(waiting)
            count = len(rows_ND) % size
            full_ND, rest_ND = rows_ND.split([len(rows_ND) - count, count])
            yield from (_log_probabilities(output, block) for block in full_ND.split(size))
            waiting = [rest_ND]
    if count:
        yield _log_probabilities(output, torch.cat(waiting))


def contexts(
    model: LanguageModel, tokens: Tensor, batch_size: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Contexts (T, B, D) and the words (T, B) that follow them, window by window."""
    text_LB = batchify(tokens, batch_size).to(model.output.weight.device)
    state = model.zero_state(batch_size)
    for segment in windows_of(len(text_LB) - 1, WINDOW):
        with torch.no_grad(), full_precision():
            output = model(segment.inputs(text_LB), state)
        state = output.state
        yield output.context, segment.targets(text_LB)


def _log_probabilities(output: OutputLayer, rows_ND: Tensor) -> Tensor:
    with torch.no_grad(), full_precision():
        return output.log_probabilities(rows_ND.unsqueeze(1)).squeeze(1)


def dynamic_perplexity(
    measurement: Perplexity, model: LanguageModel, corpus: CorpusData, run: RunSpec | None = None
) -> tuple[float, dict[str, Any]]:
    """Perplexity of a split under dynamic evaluation (`perplexity.Dynamic`), and facts about it.

    ``model`` stays as it is. ``decay_cut`` is the share of parameters whose decay was cut to 1.
    Raises ClaimError when the weights run away, DataError when a text is too short for its streams.
    """
    how = measurement.dynamic
    if how is None:
        raise ValueError("the measurement does not say how to evaluate dynamically")
    regularisation = _regularisation(measurement, how, run)
    learner = deepcopy(model)
    with full_precision():
        squares, passes = squared_gradients(learner, corpus.train, how, regularisation)
        weights = _moving(model, learner, squares, passes, how)
        del squares
        total = count = segments = 0.0
        tokens, streams = getattr(corpus, measurement.split), measurement.batch_size
        for loss, predicted in _losses(learner, tokens, streams, how.segment, regularisation):
            segments += 1
            total, count = total + loss * predicted, count + predicted
            if not total / count < LARGEST_DYNAMIC_LOSS:  # true for NaN
                raise ClaimError(
                    "dynamic evaluation ran away: no finite perplexity after segment "
                    f"{int(segments):,}\n  to do: lower its rate ({how.rate:g}), or raise its "
                    f"epsilon ({how.epsilon:g})"
                )
            for weight in weights:
                weight.move(how.rate)
    cut = sum(int((weight.pull == 1).sum()) for weight in weights)
    moving = sum(weight.pull.numel() for weight in weights)
    facts = {"tokens": int(count), "segments": int(segments), "statistics_segments": passes}
    return math.exp(total / count), {**facts, "decay_cut": cut / moving}


def squared_gradients(
    model: LanguageModel, train: Tensor, how: Dynamic, regularisation: Regularisation
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
    how: Dynamic,
) -> list[_Weight]:
    """The parameters of ``learner``, each with its scale and its way back to ``model``."""
    trained = [p for p in learner.parameters() if p.requires_grad]
    starts = [p.detach() for p in model.parameters() if p.requires_grad]
    if how.scaling == "mean":
        squares = [square / passes for square in squares]
    roots = [square.sqrt() for square in squares]
    means = [float(root.mean(dtype=torch.float64)) for root in roots]
    typical = sum(means) / (len(means) if how.scaling == "mean" else 1)
    return [
        _Weight(parameter, start, root + how.epsilon, (root * (how.decay / typical)).clamp_(max=1))
        for parameter, start, root in zip(trained, starts, roots, strict=True)
    ]


def _losses(
    model: LanguageModel, tokens: Tensor, streams: int, length: int, regularisation: Regularisation
) -> Iterator[tuple[float, int]]:
    """Mean loss in nats of each segment and its number of words, its gradients in the model."""
    text_LB = batchify(tokens, streams).to(model.output.weight.device)
    state = model.zero_state(streams)
    for segment in windows_of(len(text_LB) - 1, length):
        targets_TB = segment.targets(text_LB)
        context_TBD, _, after = model(segment.inputs(text_LB), state, regularisation)
        loss = model.output.loss(context_TBD, targets_TB, regularisation)
        loss.backward()
        state = detached(after)
        yield float(loss.detach()), targets_TB.numel()


def _regularisation(measurement: Perplexity, how: Dynamic, run: RunSpec | None) -> Regularisation:
    """Nothing dropped; or the recurrent matrices, from a stream of the measurement's own."""
    if how.weight_dropout is None:
        return QUIET
    if run is None:
        raise ValueError("live weight dropout is drawn from the streams of a run: name the run")
    streams, name = Streams(run), measurement.key
    probabilities = {"weight": TrainingSpec.of(run).recipe.dropout.weight}
    return Regularisation(probabilities, 0.0, lambda _: streams.open("dynamic_evaluation", name))


@dataclass(frozen=True, slots=True)
class OnText(Subject):
    """A language model that reads the splits of its text in parallel streams."""

    def mean_loss(self, split: Split, streams: int = 1) -> tuple[float, int]:
        return mean_loss(self.model, self.corpus.split(split), streams)

    def log_probabilities(self, split: Split, streams: int = 1) -> Iterator[Tensor]:
        return log_probability_rows(self.model, self.corpus.split(split), streams)

    def rows(self, split: Split, streams: int = 1) -> int:
        """How many tokens are predicted."""
        return (len(self.corpus.split(split)) // streams - 1) * streams

    def dynamic_perplexity(self, measurement: Perplexity) -> tuple[float, dict[str, Any]]:
        return dynamic_perplexity(measurement, self.model, self.corpus, self.run)

    def answered(self, *_: object) -> NoReturn:
        """Only a dialog model answers."""
        raise ValueError("a language model answers nothing: it has no BLEU")
