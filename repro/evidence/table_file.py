"""A tidy CSV next to the claim: columns arm, seed, measurement, value."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from repro.errors import Problem
from repro.evidence.readings import TableSchema
from repro.evidence.source import DeclaredAt, EvidenceSource, Facts
from repro.evidence.table import TidyTable, read_table
from repro.schema.base import FileName


class TableFile(EvidenceSource):
    """The name of a file in the folder of the claim; arms may share it."""

    elsewhere: ClassVar[str] = "the claim names another table for it"

    table: FileName | None = None

    def resolve(self, at: DeclaredAt) -> tuple[Facts | None, tuple[Problem, ...]]:
        """The file has to be in the folder of the claim."""
        problem = at.missing_file("table", str(self.table), sort="table", ending="csv")
        return (Facts(), ()) if problem is None else (None, (problem,))

    def identity(self, configuration: Any) -> Any:
        """The name of the file."""
        del configuration
        return {"table": self.table}

    def values(self, schema: TableSchema, folder: Path) -> TidyTable | None:
        """The values in the file."""
        return read_table(folder / str(self.table), schema)
