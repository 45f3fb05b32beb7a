"""The published JSON Schemas: current, and of one mind with the loader about shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pydantic
import pytest

from repro.cli.commands import reader, schema_text
from repro.errors import SpecError
from repro.schema.yaml import read_document

HERE = Path(__file__).parent
CLAIMS = HERE.parents[1] / "claims"
DOCUMENT_FILES = {
    "audit": [*HERE.glob("bad_audit/*.yaml"), *CLAIMS.glob("published/*.yaml")],
    "claim": [*HERE.glob("good/*.yaml"), *HERE.glob("bad/*.yaml"), *CLAIMS.glob("*.yaml")],
    "configuration": [
        *HERE.glob("good/configurations/*/*.yaml"),
        *HERE.glob("bad/configurations/*/*.yaml"),
        *CLAIMS.glob("configurations/**/*.yaml"),
    ],
    "search": [*HERE.glob("bad_search/*.yaml"), *CLAIMS.glob("searches/*.yaml")],
}
# A whole number written 3.0 is one to JSON Schema; that sizes fit together it cannot say.
LOADER_KNOWS_BETTER = {
    "float_for_integer",
    "arm_with_two_kinds_of_evidence",
    "arm_without_evidence",
    "association_that_claims_two_things",
    "derived_both_ways",
    "dynamic_without_settings",
    "empty_window",
    "margin_with_two_sizes",
    "share_of_no_gain",
    "table_with_override",
    "weight_without_effect",
}


@pytest.mark.parametrize("name", DOCUMENT_FILES)
def test_the_committed_schema_is_current(name):
    """What lies in claims/ is what the specifications say."""
    committed = (CLAIMS / f"{name}.schema.json").read_text(encoding="utf-8")
    assert committed == schema_text(name)


@pytest.mark.parametrize("name", DOCUMENT_FILES)
def test_the_schema_is_a_schema(name):
    """It is valid in the dialect that it names."""
    dialect = jsonschema.Draft202012Validator(jsonschema.Draft202012Validator.META_SCHEMA)
    assert not list(dialect.iter_errors(json.loads(schema_text(name))))


@pytest.mark.parametrize("name", DOCUMENT_FILES)
def test_schema_and_loader_agree_on_shape(name):
    """On every good and bad document, the schema refuses what the specification refuses."""
    validator = jsonschema.Draft202012Validator(json.loads(schema_text(name)))
    verdicts = set()
    for path in DOCUMENT_FILES[name]:
        data = read(path)
        if data is None or path.stem in LOADER_KNOWS_BETTER:
            continue
        accepted = has_shape(name, data)
        assert validator.is_valid(data) == accepted, path
        verdicts.add(accepted)
    assert verdicts == {True, False}


def read(path: Path) -> dict[str, Any] | None:
    try:
        document = read_document(path)
    except SpecError:
        return None
    return None if document.problems else document.data


def has_shape(name: str, data: dict[str, Any]) -> bool:
    try:
        reader(name).validate_json(json.dumps(data))
    except pydantic.ValidationError:
        return False
    return True
