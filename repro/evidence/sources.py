"""Sources of evidence: the table of those that are here, and what others add to it."""

from __future__ import annotations

from repro.evidence.base import EvidenceSource, OwnSource
from repro.plugins import Table, class_of_others

SOURCES: Table[type[EvidenceSource]] = Table(
    "repro.evidence",
    {
        "runs": "repro.evidence.stored_runs:Runs",
        "arguments": "repro.evidence.stored_runs:RunsOfTheClaim",
        "table": "repro.evidence.csv_table:TableFile",
        "import": "repro.evidence.imported:Imported",
        "published": "repro.evidence.published:PublishedNumbers",
    },
)
"""The first field of each that is built in is the key of an arm that asks for it."""

BUILTIN = {next(iter(each.model_fields)): each for each in map(SOURCES.get, SOURCES.names())}
"""Those that are built in, by that key."""


def source_of_others(name: str) -> tuple[str, type[OwnSource]]:
    """Where a source that is not built in is, and its keys; DataError for what is no source."""
    expected = "a class below repro.extend.OwnSource"
    refused = ("source of evidence", expected, "add-an-evidence-source")
    return class_of_others(SOURCES, name, OwnSource, refused)
