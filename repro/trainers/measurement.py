"""What is measured on a trained model, as specifications; each has a key of its own in a run."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from repro.digest import digest
from repro.schema.base import Count, Positive, Spec
from repro.trainers.base import revisions_of
from repro.trainers.dialog.spec import Beam, Smoothing

Split = Literal["train", "valid", "test"]


NAMES: dict[Split, str] = {"train": "training", "valid": "validation", "test": "test"}
"""What a reader calls a split."""


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


class Perplexity(Spec):
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


class Rank(Spec):
    """Numerical rank of the matrix of log-probabilities, contexts x vocabulary, of a split.

    The number of singular values above ``threshold``: Press's 1/2 sqrt(m + n + 1) sigma_1 eps,
    eps that of the precision in which the log-probabilities were computed. ``contexts`` (absent:
    all) are the rows that are read first: the papers' code stops on WikiText-2 after 33,320, the
    first windows of 70 with more rows than words.
    """

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

    def rows(self, tokens: int) -> int:
        """How many contexts a split of ``tokens`` has when it is read in these streams."""
        return (tokens // self.batch_size - 1) * self.batch_size

    @property
    def better(self) -> Literal["lower", "higher"]:
        """A higher rank is what the mixtures were made for."""
        return "higher"


class Bleu(Spec):
    """Mean BLEU of what a dialog model answers, from 0 to 1, over the responses of a split.

    n-grams up to ``order``, of the words of the corpus, marks left out. The answers are those
    that a ``beam`` search keeps, and what was said is their one reference: ``precision`` is the
    mean over the answers, ``recall`` the best of them, so it is never below precision.
    """

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


Measurable = Annotated[Perplexity | Rank | Bleu, Field(discriminator="kind")]
"""What is measured on a model that was trained here."""


def measurement_key(measurement: Measurable) -> str:
    """Name of a measurement inside a run: kind and the head of its digest, absent options left out.

    A measurement of an older revision has another name, so it is taken again.
    """
    document = measurement.model_dump(mode="json", exclude_none=True)
    document.update(revisions_of([measurement.kind]))
    return f"{measurement.kind}-{digest(document)[:16]}"
