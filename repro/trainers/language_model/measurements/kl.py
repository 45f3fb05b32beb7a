"""KL divergences of a model: from the true language, and from one context to another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from repro.schema.base import Count, Name
from repro.schema.messages import Words
from repro.trainers.control import ControlledArm, ControlOfDetails, ControlOutcome
from repro.trainers.measurement import (
    NAMES,
    Details,
    Measured,
    MeasurementSpec,
    Natural,
    OfSplit,
    Split,
)

Pairs = Annotated[int, Field(ge=2, le=10_000_000)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Perplexities = Annotated[float, Field(ge=1)]

SUMMED = 300.0
"""What it costs to take one probability and sum it in float64: 11 ns, in operations."""

MOST_ERRORS = 5
"""How many standard errors a model may seem to predict better than the truth, by chance."""


class _MeanKlDetails(Details):
    """The mean is over so many contexts."""

    contexts: Annotated[Natural, Field(ge=1)]

    def contradiction(self, value: float) -> str:
        """No mean KL divergence is below 0."""
        return "" if value >= 0 else f"a mean KL divergence of {value:g}"


class PairwiseKlDetails(_MeanKlDetails):
    """How many contexts and pairs it is the mean of; the error is that of sampling the pairs."""

    pairs: Annotated[Natural, Field(ge=1)]
    standard_error: Annotated[float, Field(ge=0)] | None = None


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


class KlFromTruthDetails(_MeanKlDetails):
    """The least perplexity of the language; those of truth and model on the words that were read.

    ``excess`` is the mean of log P*(w) - log P(w) over these words, in nats, ``excess_error`` its
    standard error: its expectation is the KL divergence.
    """

    floor: Perplexities
    truth: Perplexities
    model: Perplexities
    excess: float
    excess_error: Annotated[float, Field(ge=0)]


class KlFromTruth(OfSplit):
    """Mean KL(P*(. | w) || P(. | context)) in nats a token, on a synthetic language.

    P* is the true distribution of the next word, which such a language has for each word w before
    it, and P the model's. It is what a model loses: its expected perplexity is exp of it times the
    least that any model can have, exp of the entropy rate of the language, which is in the details.
    """

    trainers: ClassVar[tuple[str, ...]] = ("language_model",)
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    digits: ClassVar[int] = 3
    controls: ClassVar[tuple[str, ...]] = ("entropy_floor",)
    Details: ClassVar[type[Details]] = KlFromTruthDetails

    kind: Literal["kl_from_truth"] = "kl_from_truth"
    split: Split = "test"
    batch_size: Count = 1

    @property
    def label(self) -> str:
        return f"{NAMES[self.split]} KL from the truth"

    def measure(self, subject: Any) -> Measured:
        from repro.trainers.language_model.measurements import model_kl  # noqa: PLC0415 - torch

        tokens = subject.corpus.split(self.split)
        chunks = subject.log_probabilities(self.split, self.batch_size)
        language = subject.run.training.corpus
        return Measured(*model_kl.from_truth(chunks, tokens, self.batch_size, language))

    def misfits(self, training: Any, whose: str) -> Iterator[tuple[str, Words]]:
        """Only of a synthetic language is the truth known; a text must fill its streams."""
        if training.corpus.kind != "synthetic":
            mistake = f"{whose} reads a text, and nobody knows its true distribution"
            advice = "measure perplexity, or name arms that are trained on a synthetic language"
            yield "kind", (mistake, "a corpus of kind synthetic", advice)
        else:
            yield from super().misfits(training, whose)

    def remarks(self, details: Mapping[str, Any]) -> Iterator[str]:
        """The perplexities of the language, of the truth and of the model."""
        floor, truth, model = (f"{details[name]:,.2f}" for name in ("floor", "truth", "model"))
        yield f"perplexity {model}; of the truth {truth} on these words, {floor} in the long run"

    def same_elsewhere(self, other: MeasurementSpec) -> bool:
        return isinstance(other, KlFromTruth) and "train" not in (self.split, other.split)

    def cost(self, training: Any) -> float:
        """One pass over the split, and two distributions of each context."""
        summed = 2.0 * SUMMED * training.corpus.vocabulary
        return (2.0 * float(training.multiplied_weights) + summed) * training.tokens(self.split)

    def memory(self, training: Any) -> float:
        """The true distributions, in float64, a few times."""
        return 4.0 * 8.0 * float(training.corpus.vocabulary) ** 2


class EntropyFloor(ControlOfDetails):
    """No model predicts a text better than the language that made it."""

    subject = "what is measured of models"

    kind: Literal["entropy_floor"]
    id: Name
    measurement: Name

    def outcome(self, arms: Mapping[str, ControlledArm], *, uncontrolled: bool) -> ControlOutcome:
        """Failed where a model seems better by more than chance: it has seen the words."""
        having = [arm for arm in arms.values() if arm.details]
        every = [details for arm in having for details in arm.details]
        statement = "No model predicts the text better than the language that made it"
        if not every:
            return ControlOutcome(statement, "the least perplexity", "nothing measured", "missing")
        floor = span([each["floor"] for each in every])
        truth = span([each["truth"] for each in every])
        expected = f"perplexity {floor} at least, {truth} on these words"
        models = [f"{arm.label} {span([each['model'] for each in arm.details])}" for arm in having]
        better = any(each["excess"] < -MOST_ERRORS * each["excess_error"] for each in every)
        state: Literal["passed", "failed", "missing"] = "missing" if uncontrolled else "passed"
        return ControlOutcome(statement, expected, "; ".join(models), "failed" if better else state)


def span(perplexities: list[float]) -> str:
    """`42.13`, or `42.13 to 45.00`."""
    low, high = f"{min(perplexities):,.2f}", f"{max(perplexities):,.2f}"
    return low if low == high else f"{low} to {high}"
