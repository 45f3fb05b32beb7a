"""Hit rate: how often the true next word is among the k that a model finds most probable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from repro.schema.base import Count
from repro.schema.messages import Words
from repro.schema.value_scale import ValueScale
from repro.trainers.language_model.measurements.kl import Seed
from repro.trainers.language_model.measurements.rank import OfRows
from repro.trainers.measurement import (
    NAMES,
    Details,
    Measured,
    MeasurementSpec,
    Natural,
    Split,
)

Places = Annotated[
    tuple[Annotated[Natural, Field(ge=1)], ...], Field(min_length=1, max_length=1000)
]


class HitRateDetails(Details):
    """How many contexts and hits; the error is that of drawing the contexts."""

    contexts: Annotated[Natural, Field(ge=1)]
    hits: Natural
    standard_error: Annotated[float, Field(ge=0)] | None = None

    def contradiction(self, value: float) -> str:
        """A rate is hits over contexts."""
        if abs(value - self.hits / self.contexts) < 1e-9:
            return ""
        return f"a hit rate of {value:g} with {self.hits} hits in {self.contexts} contexts"


class HitRate(OfRows):
    """Share of contexts of a split whose next word is among the ``k`` most probable ones.

    Of words that are equally probable, the one that comes first in the vocabulary counts as the
    more probable. ``contexts`` so many are drawn without repetition, by ``seed``; or those are
    taken whose next words stand ``at`` these places of the text, counted from 0 with every
    ``<eos>``; without either, all. They are the same contexts for every model, and the hits are
    kept, so models are compared context by context. The most probable words ``at`` given places
    are among the details (Yang et al. 2018, Table 6; Parthiban et al. 2021, Figure 3).
    """

    trainers: ClassVar[tuple[str, ...]] = ("language_model",)
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    digits: ClassVar[int] = 3
    by_context: ClassVar[tuple[str, str]] = ("hits", "contexts")
    Details: ClassVar[type[Details]] = HitRateDetails

    kind: Literal["hit_rate"] = "hit_rate"
    k: Annotated[int, Field(ge=1, le=1000)]
    split: Split = "test"
    batch_size: Count = 1
    contexts: Count | None = None
    seed: Seed = 0
    at: Places | None = None

    @property
    def value_scale(self) -> ValueScale:
        """A share, and never in percent."""
        return ValueScale(0.0, 1.0)

    @field_validator("at")
    @classmethod
    def _distinct(cls, at: Places | None) -> Places | None:
        if at is not None and len(set(at)) < len(at):
            raise ValueError("a place is given twice: name each once")
        return at

    @model_validator(mode="after")
    def _contexts_are_drawn_or_given(self) -> Self:
        if self.at is not None and self.contexts is not None:
            raise ValueError("contexts are drawn, or given by `at`: leave out one of the two")
        if self.seed and self.contexts is None:
            raise ValueError("seed changes nothing where no contexts are drawn: leave it out")
        return self

    @property
    def label(self) -> str:
        some = "" if self.contexts is None else f" ({self.contexts:,} contexts)"
        given = "" if self.at is None else f" ({len(self.at):,} given contexts)"
        return f"{NAMES[self.split]} top-{self.k} hit rate{some}{given}"

    def measure(self, subject: Any) -> Measured:
        from repro.trainers.language_model.measurements import model_hits  # noqa: PLC0415 - torch

        text = model_hits.Text(subject, self.split, self.batch_size)
        if self.at is None:
            return model_hits.over_contexts(text, self.k, self.contexts, self.seed)
        rows = [self.row_of(place, text.length) for place in self.at]
        return model_hits.at_places(text, self.k, self.at, [row for row in rows if row is not None])

    def misfits(self, training: Any, whose: str) -> Iterator[tuple[str, Words]]:
        """There must be as many contexts as are drawn, and words at the places that are given."""
        yield from super().misfits(training, whose)
        vocabulary, split = training.corpus.vocabulary, self.split
        if self.k >= vocabulary:
            mistake = f"k is {self.k:,}, and {whose} has a vocabulary of {vocabulary:,}"
            yield "k", (mistake, f"less than {vocabulary:,}", "take a smaller one")
        length = training.tokens(split) // self.batch_size
        places = [at for at in self.at or () if length and self.row_of(at, length) is None]
        if places:
            mistake = (
                f"at has {places[0]:,}, and {whose} predicts no such word of the {split} split"
            )
            expected = f"places from 1 to {self.batch_size * length - 1:,}"
            if self.batch_size > 1:
                expected += f", but for the first word of each stream, every {length:,}"
            yield "at", (mistake, expected, "leave it out, or change batch_size")

    def remarks(self, details: Mapping[str, Any]) -> Iterator[str]:
        """The most probable words at each given place."""
        for fact in details.get("at", ()):
            top = ", ".join(f"{each['word']} {each['probability']:.3f}" for each in fact["top"])
            where = f"{fact['at']:,}: {fact['context']} [{fact['word']}, place {fact['place']:,}]"
            yield f"{where}: {top}"

    def row_of(self, place: int, length: int) -> int | None:
        """The context that predicts the word at a place, in the order of reading; None: no one.

        ``length`` is that of each parallel stream.
        """
        stream, step = divmod(place, length)
        return (
            None if stream >= self.batch_size or not step else (step - 1) * self.batch_size + stream
        )

    def same_elsewhere(self, other: MeasurementSpec) -> bool:
        """The same k over contexts that are not given, and neither was trained on."""
        return self.at is None and super().same_elsewhere(other)

    def cost(self, training: Any) -> float:
        """The text through the trunk, and each context that counts through the output layer."""
        tokens = training.tokens(self.split)
        decoded = self.contexts or len(self.at or ()) or tokens
        trunk = training.multiplied_weights - training.decoded_weights
        return 2.0 * trunk * tokens + 2.0 * training.decoded_weights * decoded

    def stored(self, training: Any) -> float:
        return float(self.contexts or len(self.at or ()) or training.tokens(self.split))
