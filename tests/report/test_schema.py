from __future__ import annotations

import json
from functools import cache
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


@cache
def published() -> jsonschema.Draft202012Validator:
    """The published schema, which is one itself."""
    schema = json.loads(template("report.schema.json"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", list(all_documents()))
def test_every_report_conforms(name: str, documents: dict[str, Document]) -> None:
    """What is written is valid by the published schema."""
    assert not list(published().iter_errors(json.loads(document_text(documents[name]))))


def test_unknown_keys_are_invalid(documents: dict[str, Document]) -> None:
    """The schema refuses what the code refuses."""
    data = json.loads(document_text(documents["mos_rank"]))
    for place in (data, data["claim"], data["results"][0]):
        place["surprise"] = 1
        with pytest.raises(jsonschema.ValidationError):
            published().validate(data)
        del place["surprise"]


def test_schema_travels_with_the_templates() -> None:
    """The schema lies where the templates lie, so that a wheel carries it."""
    from repro import files as resources

    assert (Path(resources.templates()) / "report.schema.json").is_file()
