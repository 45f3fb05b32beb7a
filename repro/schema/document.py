"""A document that was read -> the model of its shape, or every mistake in its shape at once."""

from __future__ import annotations

import json
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from repro.errors import ShapeError
from repro.schema.messages import problems_of
from repro.schema.yaml import Document

Model = TypeVar("Model", bound=BaseModel)


def validated(document: Document, model: type[Model]) -> Model:
    """The document as a model; ShapeError with what is wrong as YAML and as this model."""
    problems = list(document.problems)
    try:
        value = model.model_validate_json(json.dumps(document.data))
    except ValidationError as error:
        problems += problems_of(error, model, document)
        raise ShapeError(list(dict.fromkeys(problems))) from None
    if problems:
        raise ShapeError(problems)
    return value
