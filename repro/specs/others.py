"""What a claim file names of others: imported with consent, its keys checked by its own class."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from repro.errors import CodeError, DataError, Problem, ShapeError
from repro.expectations.base import Own
from repro.expectations.kinds import OfOthers, kind_of_others
from repro.plugins import version_of
from repro.schema.messages import problems_of
from repro.schema.yaml import Document, Steps
from repro.specs.claim import ClaimFile

S = TypeVar("S", bound=Own)


def with_others(document: Document, file: ClaimFile, *, allow_code: bool) -> ClaimFile:
    """The file with every expectation of others as its kind reads it.

    CodeError, before anything is imported, for a `use` without consent; what an installed package
    adds is the user's own choice. ShapeError with every mistake in what they declare.
    """
    every: Sequence[Any] = file.expectations
    named: dict[Steps, OfOthers] = {
        ("expectations", place): each
        for place, each in enumerate(every)
        if isinstance(each, OfOthers)
    }
    if not named:
        return file
    if not allow_code:
        _refuse(document, {steps: each.use for steps, each in named.items() if each.use})
    problems: list[Problem] = []
    read = {steps: _read(document, steps, kind_of_others, problems) for steps in named}
    if problems:
        raise ShapeError(problems)
    expectations = tuple(
        read.get(("expectations", place), each) for place, each in enumerate(file.expectations)
    )
    return file.model_copy(update={"expectations": expectations})


def _refuse(document: Document, uses: Mapping[Steps, str]) -> None:
    found = {
        use: f"{document.place((*steps, 'use'))}: {document.name(steps)} needs {use}: "
        "code of others to be run here"
        for steps, use in uses.items()
    }
    if found:
        raise CodeError(found)


def _read(
    document: Document,
    steps: Steps,
    class_of: Callable[[str], tuple[str, type[S]]],
    problems: list[Problem],
) -> S | None:
    """What is declared at ``steps``, by its own class, with the version that is here."""
    data = document.get(*steps)
    key = "use" if "use" in data else "kind"
    here = (*steps, key)
    try:
        use, model = class_of(data[key])
        version = version_of(use)
    except DataError as error:
        problems.append(_problem(document, here, error))
        return None
    try:
        found = model.model_validate_json(json.dumps({**data, "use": use}))
    except ValidationError as error:
        problems += problems_of(error, model, document, steps)
        return None
    if found.version and found.version != version:
        here = (*steps, "version")
        what = f"{document.name(here)}: version {version} of {use} is here, not {found.version}"
        advice = "compare them; then write the one that is here, or leave the line out"
        problems.append(Problem(document.place(here), what, version, advice))
    return found.model_copy(update={"version": version})


def _problem(document: Document, steps: Steps, error: DataError) -> Problem:
    """A thing that is not there, as a mistake at the place that names it."""
    what, _, rest = str(error).partition("\n  expected: ")
    expected, _, advice = rest.partition("\n  to do: ")
    return Problem(document.place(steps), f"{document.name(steps)}: {what}", expected, advice)
