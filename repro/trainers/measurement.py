"""What is measured on a trained model, as specifications; each has a key of its own in a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from repro.digest import digest
from repro.schema.base import Count, Positive, Spec
from repro.schema.messages import Words
from repro.trainers.base import LEAST_TOKENS, Training, revisions_of, too_short
from repro.trainers.dialog.spec import Beam, Smoothing

STEP = 1e8
"""What a training step costs however small the model, in floating-point operations: some 3 ms."""


UPDATE = 100.0
"""What it costs that one parameter moves: a few operations, each waiting for memory."""


Split = Literal["train", "valid", "test"]


NAMES: dict[Split, str] = {"train": "training", "valid": "validation", "test": "test"}
"""What a reader calls a split."""


LARGEST = 2**53
"""Counts beyond this have no float64 of their own."""


Natural = Annotated[int, Field(ge=0, le=LARGEST)]


class Details(BaseModel):
    """What a measurement says beside its value; there may be more than is known here."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)

    def contradiction(self, value: float) -> str:
        """Why the value cannot be what these are the details of; empty where it can."""
        del value
        return ""


class Curve(NamedTuple):
    """A measurement at other thresholds than its own: a count at each tolerance."""

    tolerances: tuple[float, ...]
    counts: tuple[int, ...]
    threshold: float


class MeasurementSpec(Spec):
    """What is measured, as a claim declares it, and all that others must know of it.

    A field is part of its key in a store. ``trainers`` are those whose runs it is taken of; a
    number without any is not measured here. ``controls`` are the kinds of canaries without which
    no expectation may rest on it. ``readings`` are other values of it among its details, each with
    the words that follow "at". ``logarithmic``: its values are compared by their ratio.
    """

    trainers: ClassVar[tuple[str, ...]] = ()
    controls: ClassVar[tuple[str, ...]] = ()
    readings: ClassVar[Mapping[str, str]] = {}
    logarithmic: ClassVar[bool] = False
    Details: ClassVar[type[Details]] = Details

    kind: str

    if TYPE_CHECKING:  # each has them, as a field or as a property

        @property
        def label(self) -> str:
            """What a reader calls it."""

        @property
        def better(self) -> Literal["lower", "higher"]:
            """Which direction is an improvement."""

        @property
        def digits(self) -> int:
            """Digits after the point that a reader sees, as in the papers."""

    @property
    def key(self) -> str:
        """Its name inside a run: kind and the head of its digest, absent options left out.

        A measurement of an older revision has another name, so it is taken again.
        """
        document = self.model_dump(mode="json", exclude_none=True)
        document.update(revisions_of([self.kind]))
        return f"{self.kind}-{digest(document)[:16]}"

    def mistakes(self) -> Iterator[tuple[str, Words]]:
        """The key of each setting that gives it no value, and what to say of it."""
        yield from ()

    def unsuited(self, training: Training, whose: str) -> Iterator[tuple[str, Words]]:
        """The key of each setting that the runs of a training cannot have, and what to say.

        The key is empty where it is said of the whole measurement.
        """
        if training.built_in not in self.trainers:
            what = f"{whose} is {training.noun}, which has no {self.kind}"
            yield "kind", (what, "what it has", "measure something else, or name other arms")

    def bound(self, training: Training) -> int | None:
        """The largest value that the structure of a model lets it have, where one is known."""
        del training
        return None

    def largest(self, details: Mapping[str, Any]) -> int | None:
        """The largest value that it could have had where it was taken; None where none is known."""
        del details
        return None

    def curve(self, details: Mapping[str, Any]) -> Curve | None:
        """What it would have been at other thresholds; None where it has none."""
        del details
        return None

    def same_elsewhere(self, other: MeasurementSpec) -> bool:
        """Whether ``other`` is the same but for the held-out split that it reads."""
        del other
        return False

    def from_history(self) -> tuple[str, Callable[[float], float]] | None:
        """The value of another epoch: its name, and how it follows from validation perplexity."""
        return None

    def least_step(self) -> float | None:
        """The step between values that can be told apart, where it is declared."""
        return None

    def at_scatter(self, scatter: float) -> Self:
        """Itself, with as many digits as values of this standard deviation need."""
        del scatter
        return self

    def cost(self, training: Training) -> float:
        """Floating-point operations that it takes, roughly."""
        del training
        return 0.0

    def memory(self, training: Training) -> float:
        """Bytes that it holds beside the weights of the model while it is taken, roughly."""
        del training
        return 0.0

    def stored(self, training: Training) -> float:
        """Bytes of what it leaves in a store."""
        del training
        return 0.0


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


class Perplexity(MeasurementSpec):
    """exp of the mean negative log-likelihood of a token, over all tokens that have a context.

    ``mode: evaluation`` reads the split through the best checkpoint with dropout off, in
    ``batch_size`` parallel streams, windows of 70. ``mode: training`` is the papers' train
    perplexity: the mean over the epoch of the best checkpoint of the loss with dropout on, before
    each update; split must be ``train``. There each token has equal weight, or, with
    ``weight: window`` and nearer to the papers' code, each training window whatever its length.
    ``mode: dynamic`` reads the split as ``evaluation`` does, each segment before the weights
    learn from it, in the way that ``dynamic`` says. ``unit: bits`` is the mean itself, in bits:
    bits a character where the tokens are characters.
    """

    trainers: ClassVar[tuple[str, ...]] = ("language_model", "dialog")
    Details: ClassVar[type[Details]] = PerplexityDetails

    kind: Literal["perplexity"] = "perplexity"
    split: Split
    mode: Literal["evaluation", "training", "dynamic"] = "evaluation"
    batch_size: Count = 1
    weight: Literal["window"] | None = None
    dynamic: Dynamic | None = None
    unit: Literal["bits"] | None = None

    @model_validator(mode="after")
    def _nothing_without_effect(self) -> Self:
        if self.weight is not None and self.mode != "training":
            message = f"weight changes nothing of a perplexity of mode {self.mode}: leave it out"
            raise ValueError(message)
        if self.mode == "training" and self.batch_size != 1:
            message = "batch_size changes nothing of a perplexity of mode training: leave it out"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _dynamic_says_how(self) -> Self:
        if self.mode == "dynamic" and self.dynamic is None:
            raise ValueError("mode dynamic needs the settings of `dynamic`: rate, decay and so on")
        if self.mode != "dynamic" and self.dynamic is not None:
            message = f"dynamic changes nothing of a perplexity of mode {self.mode}: leave it out"
            raise ValueError(message)
        return self

    @property
    def label(self) -> str:
        """What a reader calls it."""
        modes = {"evaluation": "", "training": " in training mode", "dynamic": ", dynamic"}
        weight = "" if self.weight is None else f", each {self.weight} counted alike"
        live = self.dynamic is not None and self.dynamic.weight_dropout == "live"
        defect = ", weights dropped" if live else ""
        return f"{NAMES[self.split]} {self.quantity}{modes[self.mode]}{weight}{defect}"

    @property
    def quantity(self) -> str:
        """What is measured, whatever the text."""
        return "perplexity" if self.unit is None else "bits per token"

    def in_unit(self, perplexity: float) -> float:
        """A perplexity in the unit of this measurement."""
        return perplexity if self.unit is None else math.log2(perplexity)

    @property
    def better(self) -> Literal["lower", "higher"]:
        """Which direction is an improvement."""
        return "lower"

    @property
    def digits(self) -> int:
        """As in the papers."""
        return 2

    @property
    def key(self) -> str:
        """Its name inside a run: kind and the head of its digest, absent options left out.

        A measurement of an older revision has another name, so it is taken again.
        """
        document = self.model_dump(mode="json", exclude_none=True)
        document.update(revisions_of([self.kind]))
        return f"{self.kind}-{digest(document)[:16]}"

    def mistakes(self) -> Iterator[tuple[str, Words]]:
        """A loss in training mode is one of the text that is trained on."""
        if self.mode == "training" and self.split != "train":
            what = f"nothing is trained on the {self.split} split, so mode training has no value"
            yield "split", (what, "train", "write `split: train`, or leave the mode out")

    def unsuited(self, training: Any, whose: str) -> Iterator[tuple[str, Words]]:
        """A text must fill its streams; a dialog has neither streams nor windows."""
        if training.in_streams:
            yield from too_many_streams("batch_size", self.batch_size, training, self.split, whose)
            if self.dynamic is not None:
                size = self.dynamic.statistics_batch_size
                key = "dynamic.statistics_batch_size"
                yield from too_many_streams(key, size, training, "train", whose)
            return
        yield from streams_without_effect(self.batch_size, whose)
        if self.mode == "dynamic":
            what = f"{whose} is a dialog model, and only a language model has a dynamic evaluation"
            yield "mode", (what, "evaluation or training", "leave out mode and dynamic")
        if self.weight is not None:
            what = f"{whose} is a dialog model, which is trained without windows"
            yield "weight", (what, "no weight", "leave it out")

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
        """One pass over the split; none in training mode.

        Dynamic evaluation trains on the split and passes over the training text, in short
        segments; after each segment of the split every parameter moves.
        """
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


def too_many_streams(
    key: str, streams: int, training: Any, split: Split, whose: str
) -> Iterator[tuple[str, Words]]:
    """What to say of a split that is read in more streams than it fills."""
    tokens = training.tokens(split)
    if tokens // streams < LEAST_TOKENS:
        yield "", too_short(f"{key}, for {whose},", streams, tokens, split)


def streams_without_effect(streams: int, whose: str) -> Iterator[tuple[str, Words]]:
    """What to say of streams of a model that reads one response after the other."""
    if streams != 1:
        what = f"batch_size changes nothing of {whose}: responses are read one by one"
        yield "batch_size", (what, "no batch_size", "leave it out")


Tolerance = Annotated[float, Field(ge=1e-60, le=1e60)]


class KnownRankDetails(Details):
    """The control of a rank: a matrix of known rank, by the same reduction."""

    expected: Natural
    measured: Natural


class RankDetails(Details):
    """The matrix, Press's relative threshold, the ranks about it, and rank(tolerance)."""

    rows: Annotated[Natural, Field(ge=1)]
    columns: Annotated[Natural, Field(ge=1)]
    relative_threshold: Tolerance
    tenth: Natural
    tenfold: Natural
    tolerances: tuple[Tolerance, ...]
    curve: tuple[Natural, ...]
    known_rank: KnownRankDetails

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(self.curve) != len(self.tolerances):
            raise ValueError(f"curve: {len(self.curve)} ranks at {len(self.tolerances)} tolerances")
        largest = min(self.rows, self.columns)
        points = [("curve", rank) for rank in self.curve]
        for name, rank in (("tenth", self.tenth), ("tenfold", self.tenfold), *points):
            if rank > largest:
                raise ValueError(f"{name}: a rank of {rank} of {self.rows} x {self.columns}")
        return self

    def contradiction(self, value: float) -> str:
        """No rank is above the smaller side of its matrix."""
        if 0 <= value <= min(self.rows, self.columns):
            return ""
        return f"a rank of {value:g} of {self.rows} x {self.columns}"


class Rank(MeasurementSpec):
    """Numerical rank of the matrix of log-probabilities, contexts x vocabulary, of a split.

    The number of singular values above ``threshold``: Press's 1/2 sqrt(m + n + 1) sigma_1 eps,
    eps that of the precision in which the log-probabilities were computed. ``contexts`` (absent:
    all) are the rows that are read first: the papers' code stops on WikiText-2 after 33,320, the
    first windows of 70 with more rows than words.
    """

    trainers: ClassVar[tuple[str, ...]] = ("language_model", "dialog")
    controls: ClassVar[tuple[str, ...]] = ("rank_bound", "known_rank")
    readings: ClassVar[Mapping[str, str]] = {
        "tenth": "a tenth of Press's threshold",
        "tenfold": "ten times Press's threshold",
    }
    logarithmic: ClassVar[bool] = True
    Details: ClassVar[type[Details]] = RankDetails

    kind: Literal["rank"] = "rank"
    split: Split = "test"
    batch_size: Count = 1
    threshold: Literal["press"] = "press"
    contexts: Count | None = None

    @property
    def label(self) -> str:
        """What a reader calls it."""
        some = "" if self.contexts is None else f" (first {self.contexts:,} contexts)"
        return f"{NAMES[self.split]} rank{some}"

    @property
    def better(self) -> Literal["lower", "higher"]:
        """A higher rank is what the mixtures were made for."""
        return "higher"

    @property
    def digits(self) -> int:
        """None: ranks are whole."""
        return 0

    def unsuited(self, training: Any, whose: str) -> Iterator[tuple[str, Words]]:
        """There must be as many contexts as are to be read, and a text must fill its streams."""
        if training.in_streams:
            yield from too_many_streams("batch_size", self.batch_size, training, self.split, whose)
        else:
            yield from streams_without_effect(self.batch_size, whose)
        rows = training.predicted(self.split, self.batch_size)
        if self.contexts is not None and 0 < rows < self.contexts:
            what = (
                f"contexts is {self.contexts:,}, and the {self.split} split of {whose} has {rows:,}"
            )
            advice = "take fewer, or leave it out for all"
            yield "contexts", (what, f"at most {rows:,}", advice)

    def bound(self, training: Any) -> int | None:
        """The bound d + 2, where the output layer sets one."""
        return training.model.rank_bound()

    def largest(self, details: Mapping[str, Any]) -> int | None:
        """The smaller side of the matrix."""
        return min(int(details["rows"]), int(details["columns"]))

    def curve(self, details: Mapping[str, Any]) -> Curve | None:
        """rank(tolerance), tolerances relative to the largest singular value."""
        counts, threshold = tuple(details["curve"]), details["relative_threshold"]
        return Curve(tuple(details["tolerances"]), counts, threshold)

    def same_elsewhere(self, other: MeasurementSpec) -> bool:
        """Every other rank."""
        return isinstance(other, Rank)

    def cost(self, training: Any) -> float:
        """Half a symmetric product, and eigenvalues twice: the control's too."""
        tokens, vocabulary = training.tokens(self.split), training.corpus.vocabulary
        rows = self.contexts or tokens
        forward = 2.0 * training.multiplied_weights * tokens
        return forward * rows / tokens + float(rows) * vocabulary**2 + 4.0 * vocabulary**3

    def memory(self, training: Any) -> float:
        """Three square matrices of the size of the vocabulary in float64."""
        return 3.0 * 8.0 * training.corpus.vocabulary**2

    def stored(self, training: Any) -> float:
        """One singular value a word in float64."""
        return 8.0 * training.corpus.vocabulary


Share = Annotated[float, Field(ge=0, le=1)]


class BleuDetails(Details):
    """Both sides of a BLEU, and what it is the mean of."""

    precision: Share | None = None
    recall: Share | None = None
    responses: Natural | None = None
    answers: Natural | None = None


class Bleu(MeasurementSpec):
    """Mean BLEU of what a dialog model answers, from 0 to 1, over the responses of a split.

    n-grams up to ``order``, of the words of the corpus, marks left out. The answers are those
    that a ``beam`` search keeps, and what was said is their one reference: ``precision`` is the
    mean over the answers, ``recall`` the best of them, so it is never below precision.
    """

    trainers: ClassVar[tuple[str, ...]] = ("dialog",)
    Details: ClassVar[type[Details]] = BleuDetails

    kind: Literal["bleu"] = "bleu"
    split: Split = "test"
    order: Annotated[int, Field(ge=1, le=4)]
    side: Literal["precision", "recall"]
    smoothing: Smoothing
    beam: Beam = Beam()

    @property
    def label(self) -> str:
        """What a reader calls it."""
        return f"{NAMES[self.split]} BLEU-{self.order} {self.side}"

    @property
    def better(self) -> Literal["lower", "higher"]:
        """Which direction is an improvement."""
        return "higher"

    @property
    def digits(self) -> int:
        """A BLEU is at most 1."""
        return 3

    def unsuited(self, training: Any, whose: str) -> Iterator[tuple[str, Words]]:
        """Only a dialog model answers."""
        if training.built_in not in self.trainers:
            what = f"{whose} is {training.noun}, and only a dialog model answers"
            yield "kind", (what, "perplexity or rank", "measure something else, or name other arms")

    def same_elsewhere(self, other: MeasurementSpec) -> bool:
        """All but the split is equal, and neither was trained on."""
        if not isinstance(other, Bleu):
            return False
        held_out = "train" not in (self.split, other.split)
        return held_out and self.model_copy(update={"split": other.split}) == other

    def cost(self, training: Any) -> float:
        """Beam search decodes for each hypothesis and prediction, whatever was said."""
        step = 2.0 * self.beam.size * training.decoded_weights + STEP / 3
        return training.responses(self.split) * self.beam.longest * step


def measurement_key(measurement: MeasurementSpec) -> str:
    """Name of a measurement inside a run."""
    return measurement.key


class Reported(MeasurementSpec):
    """A number that is not measured here: it comes from a table, or is printed in a paper.

    ``granularity`` is the step between values that can be told apart: 0.01 for an accuracy in
    percent of 10,000 examples. Where it is absent, it is guessed from the values.
    """

    kind: Literal["reported"]
    label: Annotated[str, Field(min_length=2, max_length=60)]
    better: Literal["lower", "higher"]
    digits: Annotated[int, Field(ge=0, le=12)] = 2
    granularity: Positive | None = None

    def least_step(self) -> float | None:
        """The declared granularity."""
        return self.granularity

    def at_scatter(self, scatter: float) -> Self:
        """With two digits of the scatter's own, where it is less than one in the last digit."""
        if not 0 < scatter < 10.0**-self.digits:
            return self
        digits = min(MOST_DIGITS, 1 - math.floor(math.log10(scatter)))
        return self.model_copy(update={"digits": digits})


MOST_DIGITS = 12


if TYPE_CHECKING:
    Measurable: TypeAlias = MeasurementSpec
    Measurement: TypeAlias = MeasurementSpec
else:
    Measurable = Annotated[Perplexity | Rank | Bleu, Field(discriminator="kind")]
    Measurement = Annotated[Perplexity | Rank | Bleu | Reported, Field(discriminator="kind")]
