"""What is measured on a trained model, as specifications; each has a key of its own in a run."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from repro.digest import digest
from repro.specs.base import Count, Spec
from repro.specs.revision import revisions_of

Split = Literal["train", "valid", "test"]


class Perplexity(Spec):
    """exp of the mean negative log-likelihood of a token, over all tokens that have a context.

    ``mode: evaluation`` reads the split through the best checkpoint with dropout off, in
    ``batch_size`` parallel streams, windows of 70. ``mode: training`` is the papers' train
    perplexity: the mean over the epoch of the best checkpoint of the loss with dropout on, before
    each update, each token with equal weight; split must be ``train``.
    """

    kind: Literal["perplexity"] = "perplexity"
    split: Split
    mode: Literal["evaluation", "training"] = "evaluation"
    batch_size: Count = 1

    @model_validator(mode="after")
    def _nothing_without_effect(self) -> Self:
        if self.mode == "training" and self.batch_size != 1:
            message = "batch_size changes nothing of a perplexity of mode training: leave it out"
            raise ValueError(message)
        return self

    @property
    def label(self) -> str:
        """What a reader calls it."""
        return f"{self.split} perplexity" + (" while training" if self.mode == "training" else "")

    @property
    def better(self) -> Literal["lower", "higher"]:
        """Which direction is an improvement."""
        return "lower"


class Rank(Spec):
    """Numerical rank of the matrix of log-probabilities, contexts x vocabulary, of a split.

    The number of singular values above ``threshold``: Press's 1/2 sqrt(m + n + 1) sigma_1 eps,
    eps that of the precision in which the log-probabilities were computed.
    """

    kind: Literal["rank"] = "rank"
    split: Split = "test"
    batch_size: Count = 1
    threshold: Literal["press"] = "press"

    @property
    def label(self) -> str:
        """What a reader calls it."""
        return f"{self.split} rank"

    @property
    def better(self) -> Literal["lower", "higher"]:
        """A higher rank is what the mixtures were made for."""
        return "higher"


Measurement = Annotated[Perplexity | Rank, Field(discriminator="kind")]


def measurement_key(measurement: Perplexity | Rank) -> str:
    """Name of a measurement inside a run: kind and the head of its digest, absent options left out.

    A measurement of an older revision has another name, so it is taken again.
    """
    document = measurement.model_dump(mode="json", exclude_none=True)
    document.update(revisions_of([measurement.kind]))
    return f"{measurement.kind}-{digest(document)[:16]}"
