"""Perplexity: exp of the mean negative log-likelihood of a token, also with dynamic evaluation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from repro.errors import StoreError
from repro.schema.base import Count, Name, Positive, Spec
from repro.schema.messages import Words
from repro.trainers.base import STEP
from repro.trainers.measurement import (
    NAMES,
    Details,
    Measured,
    MeasurementSpec,
    Natural,
    OfSplit,
    Split,
    too_many_streams,
)

if TYPE_CHECKING:
    from repro.trainers.language_model.checkpoint import EpochRecord

UPDATE = 100.0
"""What it costs that one parameter moves: a few operations, each waiting for memory."""


class PerplexityDetails(Details):
    """How many tokens were predicted."""

    tokens: Natural | None = None


class Dynamic(Spec):
    """Dynamic evaluation: the weights learn from each segment that was read (Krause et al. 2018).

    The RMS variant. M is the root of the sum (``scaling: sum``, the first code) or of the mean
    (``scaling: mean``, the later code) of the squared gradients of the training text's segments,
    ``statistics_batch_size`` streams at a time; m is the sum or the mean over the tensors of the
    mean of M. After a segment with gradient g, weights w that were w0 at the beginning move by
    min(``decay`` M / m, 1) (w0 - w) - ``rate`` g / (M + ``epsilon``).

    ``weight_dropout: live`` is a defect of the code of Yang et al. 2018: the recurrent matrices
    go on being dropped, by the recipe's probability, while gradients and losses are taken.
    """

    scaling: Literal["sum", "mean"]
    rate: Positive
    decay: Positive
    epsilon: Positive
    segment: Count = 5
    statistics_batch_size: Count = 100
    weight_dropout: Literal["live"] | None = None


class Perplexity(OfSplit):
    """exp of the mean negative log-likelihood of a token, over all tokens that have a context.

    ``mode: evaluation`` reads the split through the best checkpoint with dropout off, in
    ``batch_size`` parallel streams, windows of 70. ``mode: training`` is the papers' train
    perplexity: the mean over the epoch of the best checkpoint of the loss with dropout on, before
    each update; split must be ``train``. There each token has equal weight, or, with
    ``weight: window`` and nearer to the papers' code, each training window whatever its length.
    ``mode: dynamic`` reads the split as ``evaluation`` does, each segment before the weights
    learn from it, in the way that ``dynamic`` says; ``dynamic_of`` says it for arms of a claim that
    have other settings. ``unit: bits`` is the mean itself, in bits: bits a character where the
    tokens are characters.
    """

    trainers: ClassVar[tuple[str, ...]] = ("language_model", "dialog")
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    digits: ClassVar[int] = 2
    Details: ClassVar[type[Details]] = PerplexityDetails

    kind: Literal["perplexity"] = "perplexity"
    split: Split
    mode: Literal["evaluation", "training", "dynamic"] = "evaluation"
    batch_size: Count = 1
    weight: Literal["window"] | None = None
    dynamic: Dynamic | None = None
    dynamic_of: Annotated[dict[Name, Dynamic], Field(min_length=1)] | None = None
    unit: Literal["bits"] | None = None

    @model_validator(mode="after")
    def _settings_of_its_mode(self) -> Self:
        idle = {
            "weight": self.weight is not None and self.mode != "training",
            "batch_size": self.batch_size != 1 and self.mode == "training",
            "dynamic": self.dynamic is not None and self.mode != "dynamic",
            "dynamic_of": self.dynamic_of is not None and self.mode != "dynamic",
        }
        for key, without_effect in idle.items():
            if without_effect:
                mistake = f"{key} changes nothing of a perplexity of mode {self.mode}"
                raise ValueError(f"{mistake}: leave it out")
        if self.mode == "dynamic" and self.dynamic is None:
            raise ValueError("mode dynamic needs the settings of `dynamic`: rate, decay and so on")
        return self

    @property
    def label(self) -> str:
        modes = {"evaluation": "", "training": " in training mode", "dynamic": ", dynamic"}
        weight = "" if self.weight is None else f", each {self.weight} counted alike"
        live = self.dynamic is not None and self.dynamic.weight_dropout == "live"
        defect = ", weights dropped" if live else ""
        return f"{NAMES[self.split]} {self.quantity}{modes[self.mode]}{weight}{defect}"

    @property
    def quantity(self) -> str:
        """What is measured, whatever the text."""
        return "perplexity" if self.unit is None else "bits per token"

    @property
    def named_arms(self) -> Mapping[str, tuple[str, ...]]:
        return {} if self.dynamic_of is None else {"dynamic_of": tuple(self.dynamic_of)}

    def of_arm(self, arm: str) -> Self:
        if self.dynamic_of is None:
            return self
        settings = self.dynamic_of.get(arm, self.dynamic)
        return self.model_copy(update={"dynamic": settings, "dynamic_of": None})

    def in_unit(self, perplexity: float) -> float:
        """A perplexity in the unit of this measurement."""
        return perplexity if self.unit is None else math.log2(perplexity)

    def measure(self, subject: Any) -> Measured:
        if self.mode == "training":
            perplexity = training_perplexity(subject.history, subject.best_epoch, self.weight)
            return Measured(self.in_unit(perplexity))
        if self.dynamic is not None:
            from repro.trainers.language_model.measurements import dynamic  # noqa: PLC0415 - torch

            perplexity, details = dynamic.dynamic_perplexity(
                self, subject.model, subject.corpus, subject.run
            )
            return Measured(self.in_unit(perplexity), details)
        loss, counted = subject.mean_loss(self.split, self.batch_size)
        return Measured(self.in_unit(math.exp(loss)), {"tokens": counted})

    def mistakes(self) -> Iterator[tuple[str, Words]]:
        """A loss in training mode is one of the text that is trained on."""
        if self.mode == "training" and self.split != "train":
            mistake = f"nothing is trained on the {self.split} split, so mode training has no value"
            yield "split", (mistake, "train", "write `split: train`, or leave the mode out")

    def misfits(self, training: Any, whose: str) -> Iterator[tuple[str, Words]]:
        """A text must fill its streams; a dialog has neither streams nor windows."""
        yield from super().misfits(training, whose)
        if training.in_streams:
            if self.dynamic is not None:
                size = self.dynamic.statistics_batch_size
                key = "dynamic.statistics_batch_size"
                yield from too_many_streams(key, size, training, "train", whose)
            return
        if self.mode == "dynamic":
            mistake = (
                f"{whose} is a dialog model, and only a language model has a dynamic evaluation"
            )
            yield "mode", (mistake, "evaluation or training", "leave out mode and dynamic")
        if self.weight is not None:
            mistake = f"{whose} is a dialog model, which is trained without windows"
            yield "weight", (mistake, "no weight", "leave it out")

    def same_elsewhere(self, other: MeasurementSpec) -> bool:
        """Both in evaluation mode, on splits that nothing was trained on."""
        if not isinstance(other, Perplexity):
            return False
        held_out = "train" not in (self.split, other.split)
        return held_out and self.mode == other.mode == "evaluation"

    def from_history(self) -> tuple[str, Callable[[float], float]] | None:
        """Validation perplexity in this unit."""
        return None if self.split == "train" else (f"validation {self.quantity}", self.in_unit)

    def cost(self, training: Any) -> float:
        """Of passes over the split, or over it and the training text where it learns."""
        if self.mode == "training":
            return 0.0
        weights, tokens = training.multiplied_weights, training.tokens(self.split)
        if self.dynamic is None:
            return 2.0 * weights * tokens
        train = training.tokens("train")
        segments = tokens / (self.batch_size * self.dynamic.segment)
        passes = train / (self.dynamic.statistics_batch_size * self.dynamic.segment)
        moved = UPDATE * training.parameters * segments
        return 6.0 * weights * (tokens + train) + STEP * (segments + passes) + moved


def training_perplexity(
    history: Sequence[EpochRecord], best_epoch: int, weight: Literal["window"] | None = None
) -> float:
    """The papers' train perplexity: dropout on, raw iterates, over the best checkpoint's epoch.

    The papers' code gives equal weight to every window of an interval of 200 steps and to every
    interval, so it differs from ``window`` only by the last, shorter interval. StoreError for a
    history that is older than the number asked for.
    """
    record = next(record for record in history if record.epoch == best_epoch)
    loss = record.train_loss if weight is None else record.window_loss
    if loss is None:
        raise StoreError(
            "the run's history has no loss with equal weight for each window: it was trained "
            "before that was recorded\n  to do: remove the run's folder; it is then trained again"
        )
    return math.exp(loss)


class GapDetails(Details):
    """Both perplexities; ``held_out`` is that of the split."""

    held_out: float = Field(ge=1)
    training: float = Field(ge=1)

    def contradiction(self, value: float) -> str:
        gap = self.held_out - self.training
        return "" if value == gap else f"a gap of {value:g}, of perplexities that differ by {gap:g}"


class GeneralisationGap(MeasurementSpec):
    """Perplexity of a held-out ``split`` minus that of the training text, dropout off in both.

    It follows from the two perplexities, both of mode ``evaluation`` and in ``batch_size``
    streams, so it takes no time where these are in the store. The gap that papers print is often
    against a training perplexity with dropout on, which is of another mode.
    """

    trainers: ClassVar[tuple[str, ...]] = Perplexity.trainers
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    digits: ClassVar[int] = 2
    Details: ClassVar[type[Details]] = GapDetails

    kind: Literal["generalisation_gap"] = "generalisation_gap"
    split: Literal["valid", "test"] = "test"
    batch_size: Count = 1

    @property
    def label(self) -> str:
        return f"generalisation gap, {NAMES[self.split]} minus training perplexity"

    @property
    def sources(self) -> tuple[Perplexity, Perplexity]:
        return (
            Perplexity(split=self.split, batch_size=self.batch_size),
            Perplexity(split="train", batch_size=self.batch_size),
        )

    def derive(self, *found: Measured) -> Measured:
        held_out, training = found
        details = {"held_out": held_out.value, "training": training.value}
        return Measured(held_out.value - training.value, details)

    def misfits(self, training: Any, whose: str) -> Iterator[tuple[str, Words]]:
        """As the perplexities; what is wrong with both is said once."""
        said = (words for each in self.sources for words in each.unsuited(training, whose))
        yield from dict.fromkeys(said)

    def same_elsewhere(self, other: MeasurementSpec) -> bool:
        return isinstance(other, GeneralisationGap)
