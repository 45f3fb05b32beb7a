"""JSON Schemas of the documents that people write, for editors and for checks without repro."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter

from repro.audit.audit_file import AuditFile
from repro.specs.claim import ClaimFile
from repro.specs.configuration import document_type
from repro.tuning.search_file import SearchFile

DIALECT = "https://json-schema.org/draft/2020-12/schema"

DOCUMENTS: dict[str, TypeAdapter[Any]] = {
    "audit": TypeAdapter(AuditFile),
    "claim": TypeAdapter(ClaimFile),
    "configuration": TypeAdapter(document_type()),
    "search": TypeAdapter(SearchFile),
}
"""The documents that have a schema, by the name that `repro schema` knows them by."""


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a document. It knows shape only; names and meaning are the loader's."""
    return {"$schema": DIALECT, **DOCUMENTS[name].json_schema(by_alias=True)}


def schema_text(name: str) -> str:
    """The schema as it is committed: `claims/<name>.schema.json`."""
    return json.dumps(json_schema(name), indent=2, ensure_ascii=False) + "\n"
