from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from repro.files import template
from repro.judging.document import Document
from repro.report.write import document_schema, document_text
from tests.report.cases import all_documents


def test_current() -> None:
    """The published schema is the one of the code."""
    assert template("report.schema.json") == document_schema()


@pytest.mark.parametrize("name", list(all_documents()))
def test_every_report_conforms(name: str, documents: dict[str, Document]) -> None:
    """What is written is valid by the published schema."""
    schema = json.loads(template("report.schema.json"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(document_text(documents[name])), schema)


def test_unknown_keys_are_invalid(documents: dict[str, Document]) -> None:
    """The schema refuses what the code refuses."""
    data = json.loads(document_text(documents["mos_rank"]))
    schema = json.loads(template("report.schema.json"))
    for place in (data, data["claim"], data["results"][0]):
        place["surprise"] = 1
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(data, schema)
        del place["surprise"]


def test_schema_travels_with_the_templates() -> None:
    """The schema lies where the templates lie, so that a wheel carries it."""
    from repro import files as resources

    assert (Path(resources.templates()) / "report.schema.json").is_file()
