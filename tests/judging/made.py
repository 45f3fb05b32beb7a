"""Small claims on tables, made by hand: any expectation, any values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from repro.evidence.csv_table import TableFile
from repro.evidence.evidence import Evidence, TableSource, TidyTable
from repro.judging.assemble import check_claim
from repro.judging.document import Document, Result
from repro.judging.gather import from_table
from repro.results.readings import RunState
from repro.specs.claim import Claim

Columns = Mapping[str, Mapping[str, Sequence[float]]]
"""arm -> measurement -> one value a seed; or, for one measurement, arm -> values."""

LOSS = {"kind": "reported", "label": "loss", "better": "lower"}


def made(*expectations: Mapping[str, Any], arms: str = "ab", **fields: Any) -> Claim:
    """A claim with these expectations on arms that are single letters, read from a table."""
    whole: dict[str, Any] = {
        "id": "made",
        "title": "A claim that was made by hand",
        "source": {
            "paper": "example2024",
            "citation": "Example (2024), an example",
            "locator": "Table 1",
            "quote": "a sentence that claims it",
        },
        "file": "made.yaml",
        "scale": "paper",
        "notice": "Made by hand: it says nothing about any paper.",
        "design": "independent",
        "alpha": 0.05,
        "arms": {
            name: {"label": name.upper(), "source": TableFile(table="made.csv")} for name in arms
        },
        "comparable": {},
        "seeds": {"min": 2, "plan": 2},
        "measurements": {"loss": LOSS},
        "expectations": [
            {"id": f"e{place}", "measurement": "loss", **one}
            for place, one in enumerate(expectations)
        ],
        "canaries": [],
        "published": [],
    }
    return Claim.model_validate({**whole, **fields}, strict=False)


def seen(claim: Claim, values: Mapping[str, Any], *, order: str | None = None) -> Evidence:
    """Evidence with these values, seeds counted from 0, as a user's table would give it.

    ``order`` is the column that says that they came in this order.
    """
    columns: Columns = {
        arm: own if isinstance(own, Mapping) else {"loss": own} for arm, own in values.items()
    }
    rows = {
        arm: {
            seed: {name: float(column[seed]) for name, column in own.items()}
            for seed in range(min(map(len, own.values())))
        }
        for arm, own in columns.items()
    }
    return from_table(claim, TidyTable(TableSource("made.csv", "0" * 64, order), rows))


def diverging(claim: Claim, values: Mapping[str, Sequence[float | None]]) -> Document:
    """The document of a claim on these values of `loss`; a run without one diverged."""
    rows: dict[str, dict[int, dict[str, float]]] = {arm: {} for arm in values}
    lost: dict[str, dict[int, RunState]] = {arm: {} for arm in values}
    for arm, column in values.items():
        for seed, value in enumerate(column):
            if value is None:
                lost[arm][seed] = "diverged"
            else:
                rows[arm][seed] = {"loss": float(value)}
    table = TidyTable(TableSource("made.csv", "0" * 64), rows, lost)
    return check_claim(claim, from_table(claim, table))


def judged(claim: Claim, values: Mapping[str, Any], *, order: str | None = None) -> Document:
    """The document of a claim on these values."""
    return check_claim(claim, seen(claim, values, order=order))


def only(claim: Claim, values: Mapping[str, Any]) -> Result:
    """The first result of a claim on these values."""
    return judged(claim, values).results[0]
