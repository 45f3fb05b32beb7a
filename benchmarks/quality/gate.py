"""The gate of quality on a table in memory: which flags it raises."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from benchmarks.quality.honest import Columns, Drawn, claim_document
from repro.evidence.evidence import TableSource, TidyTable
from repro.judging.gather import from_table
from repro.judging.quality import Quality, examine
from repro.specs.claim import Claim
from repro.specs.load import load_claim


def gate(drawn: Drawn, **measurement: Any) -> Quality:
    """What the gate finds in a table; ``measurement`` are further fields of its measurements."""
    arms = tuple(drawn.columns)
    names = tuple(next(iter(drawn.columns.values())))
    claim = _claim(arms, names, drawn.design, tuple(measurement.items()))
    return examine(claim, from_table(claim, tidy(drawn.columns)))


def tidy(columns: Columns) -> TidyTable:
    """The table as one that was read."""
    values = {
        arm: {
            seed: {name: column[seed] for name, column in measured.items() if seed in column}
            for seed in sorted({seed for column in measured.values() for seed in column})
        }
        for arm, measured in columns.items()
    }
    return TidyTable(TableSource("table.csv", "0" * 64), values)


@cache
def _claim(
    arms: tuple[str, ...], names: tuple[str, ...], design: str, measurement: tuple[Any, ...]
) -> Claim:
    """The claim about tables with these arms and measurements, read as any other is."""
    columns = {arm: {name: dict.fromkeys(range(3), 0.0) for name in names} for arm in arms}
    document = claim_document(Drawn(columns, design), **dict(measurement))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "claim.yaml"
        file.write_text(yaml.safe_dump(document), encoding="utf-8")
        (file.parent / "table.csv").touch()
        return load_claim(file, "paper")
