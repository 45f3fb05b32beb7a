"""`repro schema`: JSON Schemas of the documents that people write."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter

from repro.audit.audit_file import AuditFile
from repro.specs.claim import ClaimFile
from repro.specs.configuration import AnyConfiguration
from repro.tuning.search_file import SearchFile


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
        typer.echo(schema_text(which.value), nl=False)


DIALECT = "https://json-schema.org/draft/2020-12/schema"


DOCUMENTS: dict[str, TypeAdapter[Any]] = {
    "audit": TypeAdapter(AuditFile),
    "claim": TypeAdapter(ClaimFile),
    "configuration": TypeAdapter(AnyConfiguration),
    "search": TypeAdapter(SearchFile),
}
"""The documents that have a schema, by the name that `repro schema` knows them by."""


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a document. It knows shape only; names and meaning are the loader's."""
    return {"$schema": DIALECT, **DOCUMENTS[name].json_schema(by_alias=True)}


def schema_text(name: str) -> str:
    """The schema as it is committed: `claims/<name>.schema.json`."""
    return json.dumps(json_schema(name), indent=2, ensure_ascii=False) + "\n"
