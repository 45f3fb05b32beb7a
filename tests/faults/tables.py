"""Claims on tables, made in a folder: what is judged in a second, several at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

CLAIM = """schema: 1
id: {id}
title: "{title}"
source:
  {{paper: mine2026, citation: "made for the tests", locator: nowhere, quote: "for the tests"}}
arms:
  a: {{label: "{label}", table: {id}.csv}}
  b: {{label: "the old way", table: {id}.csv}}
design: independent
seeds: {{min: 3, plan: {n}}}
measurements: {{score: {{kind: reported, label: score, better: higher}}}}
expectations:
  - id: higher
    kind: difference
    measurement: score
    of: [a, b]
    direction: higher
{more}scales: {{quick: {{notice: "A small table for the tests."}}}}
"""
FAMILY = "family: {name: both, method: holm, members: [first, second], why: made for the tests}\n"
VALUES = {"a": (91.2, 91.9, 91.4, 92.3, 91.7), "b": (88.1, 88.6, 87.9, 88.9, 88.3)}


def table_claim(
    folder: Path,
    name: str = "first",
    values: Mapping[str, Sequence[float]] | None = None,
    *,
    more: str = "",
    label: str = "the new way",
) -> Path:
    """A claim that a is higher than b, and its table; CONFIRMED as it stands."""
    values = VALUES if values is None else values
    rows = [
        f"{arm},{seed},score,{value!r}"
        for arm, column in values.items()
        for seed, value in enumerate(column)
    ]
    (folder / f"{name}.csv").write_text("\n".join(("arm,seed,measurement,value", *rows)) + "\n")
    text = CLAIM.format(
        id=name, title=f"The new way is better, {name}", label=label, more=more, n=len(values["a"])
    )
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path
