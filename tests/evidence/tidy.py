"""Tidy CSVs for the tests, and claims whose arms are not all trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repro.evidence.base import TableSchema
from repro.evidence.evidence import PublishedArm
from repro.evidence.published import PublishedNumbers
from repro.judging.gather import table_schema
from repro.specs.arm import Arm
from repro.specs.claim import Claim
from tests.judging.evidence import claim

HEADER = "arm,seed,measurement,value"
MOS = (797.0, 830.0, 795.0, 798.0, 791.0)
RANKS: Mapping[str, Sequence[float]] = {"mos": MOS, "moc": [34.0] * 5, "softmax": [34.0] * 5}
"""Ranks of the three arms of mos_rank at quick scale, as a sound claim would have them."""


def rank_csv(ranks: Mapping[str, Sequence[float]] = RANKS, first: int = 0) -> str:
    """The CSV of one measurement, seeds from ``first``."""
    rows = [
        f"{arm},{first + i},rank,{value!r}"
        for arm, values in ranks.items()
        for i, value in enumerate(values)
    ]
    return "\n".join((HEADER, *rows)) + "\n"


def small() -> TableSchema:
    """What a table must hold for a claim with two arms that reads one of its measurements."""
    return TableSchema(
        ("a", "b"), ("ppl", "rank"), {"a": ("ppl",), "b": ("ppl",)}, {"c": "it is printed"}
    )


def needed() -> TableSchema:
    """What a table must hold for mos_rank."""
    of = claim("mos_rank")
    return table_schema(of, tuple(of.arms))


def printed_softmax(mean: str = "34", sd: str | None = "0.5", n: int | None = 11) -> Claim:
    """fair_mos with a printed Softmax for a baseline; nothing asks for equal parameters."""
    of = claim("fair_mos", "paper")
    numbers = {"test_perplexity": PublishedArm(mean=mean, sd=sd, n=n)}
    arms = {
        **of.arms,
        "softmax": Arm(label="Softmax, printed", source=PublishedNumbers(published=numbers)),
    }
    comparable = of.comparable.model_copy(update={"parameters_within": None, "same": ()})
    return of.model_copy(update={"arms": arms, "comparable": comparable})
