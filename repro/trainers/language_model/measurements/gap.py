"""Generalisation gap: how much worse a model is on a text that it was not trained on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field

from repro.schema.base import Count
from repro.schema.messages import Words
from repro.trainers.language_model.measurements.perplexity import Perplexity
from repro.trainers.measurement import NAMES, Details, Measured, MeasurementSpec


class GapDetails(Details):
    """Both perplexities; ``held_out`` is that of the split."""

    held_out: float = Field(ge=1)
    training: float = Field(ge=1)

    def contradiction(self, value: float) -> str:
        """It is their difference."""
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

    def unsuited(self, training: Any, whose: str) -> Iterator[tuple[str, Words]]:
        """As the perplexities; what is wrong with both is said once."""
        if self.taken_of(training):
            said = (words for each in self.sources for words in each.unsuited(training, whose))
            yield from dict.fromkeys(said)
        else:
            yield from super().unsuited(training, whose)

    def same_elsewhere(self, other: MeasurementSpec) -> bool:
        """Of another held-out split."""
        return isinstance(other, GeneralisationGap)
