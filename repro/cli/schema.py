"""`repro schema`: JSON Schemas of the documents that people write."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class SchemaChoice(StrEnum):
    """The documents that have a published schema."""

    audit = "audit"
    claim = "claim"
    configuration = "configuration"
    report = "report"
    search = "search"


def schema(
    which: Annotated[SchemaChoice, typer.Argument(help="Which document.")] = SchemaChoice.claim,
) -> None:
    """Print the JSON Schema of a claim, an audit, a configuration, a report or a search."""
    if which is SchemaChoice.report:
        from repro.report.write import document_schema

        typer.echo(document_schema(), nl=False)
    else:
        from repro.cli.json_schemas import schema_text

        typer.echo(schema_text(which.value), nl=False)
