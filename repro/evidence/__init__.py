"""Evidence: where the values of each arm come from, and what they are.

Three kinds: ``runs`` of the store, a ``table`` of a user's own results, and ``published``
numbers. Gathering reads; it judges nothing and trains nothing. A damaged artefact is kept as a
problem, so that the claim is reported INVALID rather than not at all.
"""

from __future__ import annotations

from repro.evidence.divergence import settled
from repro.evidence.frame import frame_table
from repro.evidence.gather import from_table, gather, measured, read_tables
from repro.evidence.records import Evidence, PrintedSummary, Replicate, State, TableSource
from repro.evidence.table import TidyTable, read_table
from repro.evidence.wanted import TableSchema, table_schema

__all__ = [
    "Evidence",
    "PrintedSummary",
    "Replicate",
    "State",
    "TableSchema",
    "TableSource",
    "TidyTable",
    "frame_table",
    "from_table",
    "gather",
    "measured",
    "read_table",
    "read_tables",
    "settled",
    "table_schema",
]
