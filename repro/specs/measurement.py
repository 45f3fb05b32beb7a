"""What is measured on a trained model, as specifications; each has a key of its own in a run."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from repro.schema.base import Positive, Spec
from repro.trainers.measurement import Bleu, Perplexity, Rank


class Reported(Spec):
    """A number that is not measured here: it comes from a table, or is printed in a paper.

    ``granularity`` is the step between values that can be told apart: 0.01 for an accuracy in
    percent of 10,000 examples. Where it is absent, it is guessed from the values.
    """

    kind: Literal["reported"]
    label: Annotated[str, Field(min_length=2, max_length=60)]
    better: Literal["lower", "higher"]
    digits: Annotated[int, Field(ge=0, le=12)] = 2
    granularity: Positive | None = None


Measurement = Annotated[Perplexity | Rank | Bleu | Reported, Field(discriminator="kind")]


def digits(measurement: Measurement) -> int:
    """Digits after the point that a reader sees: ranks are whole, the others as in the papers."""
    match measurement:
        case Reported(digits=stated):
            return stated
        case Rank():
            return 0
        case Bleu():
            return 3
        case _:
            return 2
