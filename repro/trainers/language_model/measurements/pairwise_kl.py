"""Pairwise KL: how much the next-word distributions of a model differ from context to context."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from repro.schema.base import Count
from repro.trainers.measurement import (
    NAMES,
    Details,
    Measured,
    Natural,
    OfSplit,
    Split,
)

Pairs = Annotated[int, Field(ge=2, le=10_000_000)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]

SUMMED = 300.0
"""What it costs to take one probability and sum it in float64: 11 ns, in operations."""


class PairwiseKlDetails(Details):
    """How many contexts and pairs it is the mean of; the error is that of sampling the pairs."""

    contexts: Annotated[Natural, Field(ge=1)]
    pairs: Annotated[Natural, Field(ge=1)]
    standard_error: Annotated[float, Field(ge=0)] | None = None

    def contradiction(self, value: float) -> str:
        """No mean KL divergence is below 0."""
        return "" if value >= 0 else f"a mean KL divergence of {value:g}"


class PairwiseKl(OfSplit):
    """Mean KL(P(. | c) || P(. | c')) in nats over pairs of contexts c, c' of a split.

    c and c' are independent and uniform over the contexts, so a context may be paired with itself,
    which counts 0. Without ``pairs`` it is the mean over every pair, exactly; else over so many,
    drawn by ``seed``: the same for every model, and with the standard error among the details. The
    divergence of each drawn pair is kept.
    Yang et al. 2018, Quantitative analysis and Table 5, sample pairs and do not say how many.
    """

    trainers: ClassVar[tuple[str, ...]] = ("language_model", "dialog")
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    digits: ClassVar[int] = 3
    by_context: ClassVar[tuple[str, str]] = ("divergences", "pairs")
    Details: ClassVar[type[Details]] = PairwiseKlDetails

    kind: Literal["pairwise_kl"] = "pairwise_kl"
    split: Split = "test"
    batch_size: Count = 1
    pairs: Pairs | None = None
    seed: Seed = 0

    @model_validator(mode="after")
    def _a_seed_of_drawn_pairs(self) -> Self:
        if self.seed and self.pairs is None:
            raise ValueError("seed changes nothing of the mean over every pair: leave it out")
        return self

    @property
    def label(self) -> str:
        some = "" if self.pairs is None else f" ({self.pairs:,} pairs)"
        return f"{NAMES[self.split]} pairwise KL{some}"

    def measure(self, subject: Any) -> Measured:
        from repro.trainers.language_model.measurements import model_kl  # noqa: PLC0415 - torch

        if self.pairs is None:
            chunks = subject.log_probabilities(self.split, self.batch_size)
            return Measured(*model_kl.over_every_pair(chunks))
        rows = subject.rows(self.split, self.batch_size)
        contexts = subject.contexts(self.split, self.batch_size)
        drawn = model_kl.drawn_pairs(rows, self.pairs, self.seed)
        return model_kl.over_drawn_pairs(contexts, subject.model.output, rows, drawn)

    def cost(self, training: Any) -> float:
        """The text through the trunk, and two decoded contexts a pair, or each context once."""
        tokens = training.tokens(self.split)
        decoded = tokens if self.pairs is None else 2 * self.pairs
        trunk = training.multiplied_weights - training.decoded_weights
        summed = SUMMED * training.corpus.vocabulary * decoded
        return 2.0 * trunk * tokens + 2.0 * training.decoded_weights * decoded + summed

    def stored(self, training: Any) -> float:
        return 4.0 * (self.pairs or 0)

    def memory(self, training: Any) -> float:
        """The drawn contexts, in float64 at most."""
        drawn = min(2 * (self.pairs or 0), training.tokens(self.split))
        return 8.0 * drawn * training.model.context_size
