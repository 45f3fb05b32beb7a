"""What a claim file names of others: imported with consent, its keys checked by its own class."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from repro.errors import CodeError, DataError, Problem, ShapeError
from repro.evidence.source import OwnSource
from repro.evidence.sources import source_of_others
from repro.expectations.base import OwnExpectation
from repro.expectations.kinds import OthersExpectation, kind_of_others
from repro.plugins import version_of
from repro.schema.messages import problems_of
from repro.schema.yaml import Steps, YamlDocument
from repro.specs.arm import ArmSpec, SourceOfOthers
from repro.specs.claim import ClaimFile, Scale, Scales
from repro.trainers.measurement import OthersMeasurement, OwnMeasurement
from repro.trainers.table import measurement_of_others

S = TypeVar("S", OwnExpectation, OwnMeasurement, OwnSource)


def with_others(document: YamlDocument, file: ClaimFile, *, allow_code: bool) -> ClaimFile:
    """The file with what it names of others as its own class reads it.

    CodeError, before anything is imported, for a `use` without consent; what an installed package
    adds is the user's own choice. ShapeError with every mistake in what they declare.
    """
    expectations = {("expectations", i): each for i, each in enumerate(_every(file.expectations))}
    kinds = {
        at: each.use for at, each in expectations.items() if isinstance(each, OthersExpectation)
    }
    measurements = {at: m.use for at, m in _measured(file) if isinstance(m, OthersMeasurement)}
    sources = {at: s.use for at, s in _sources(file) if isinstance(s, SourceOfOthers)}
    named = kinds | measurements | sources
    if not named:
        return file
    if not allow_code:
        _refuse(document, {at: use for at, use in named.items() if use})
    problems: list[Problem] = []
    read: dict[Steps, Any] = {at: _read(document, at, kind_of_others, problems) for at in kinds}
    for at in measurements:
        read[at] = _read(document, at, measurement_of_others, problems)
    for at in sources:
        read[at] = _read(document, at, source_of_others, problems)
    if problems:
        raise ShapeError(problems)
    found = file.model_copy(
        update={
            "expectations": tuple(read.get(at, each) for at, each in expectations.items()),
            **_level(file, (), read),
        }
    )
    return found.model_copy(update={"scales": _scales(file.scales, read)})


def _every(entries: Sequence[Any]) -> Sequence[Any]:
    return entries


def _levels(file: ClaimFile) -> Iterator[tuple[Steps, ClaimFile | Scale]]:
    """The top level and each scale, and where it is written."""
    yield (), file
    for scale in file.scales.declared:
        yield ("scales", scale), getattr(file.scales, scale)


def _measured(file: ClaimFile) -> Iterator[tuple[Steps, Any]]:
    """Every measurement and where it is written, those of the scales too."""
    for before, level in _levels(file):
        for name, each in level.measurements.items():
            yield (*before, "measurements", name), each


def _sources(file: ClaimFile) -> Iterator[tuple[Steps, Any]]:
    """What every arm says of its evidence, and where that is written."""
    for before, level in _levels(file):
        for name, arm in level.arms.items():
            yield (*before, "arms", name, "evidence"), arm.evidence


def _level(level: ClaimFile | Scale, before: Steps, read: Mapping[Steps, Any]) -> dict[str, Any]:
    """The measurements and arms of a level with what was read of others."""
    return {
        "measurements": {
            name: read.get((*before, "measurements", name), each)
            for name, each in level.measurements.items()
        },
        "arms": {
            name: _arm(arm, read.get((*before, "arms", name, "evidence")))
            for name, arm in level.arms.items()
        },
    }


def _arm(arm: ArmSpec, source: OwnSource | None) -> ArmSpec:
    return arm if source is None else arm.model_copy(update={"evidence": source})


def _scales(scales: Scales, read: Mapping[Steps, Any]) -> Scales:
    changed: dict[str, Any] = {}
    for name in scales.declared:
        scale = getattr(scales, name)
        changed[name] = scale.model_copy(update=_level(scale, ("scales", name), read))
    return scales.model_copy(update=changed)


def _refuse(document: YamlDocument, uses: Mapping[Steps, str]) -> None:
    found: dict[str, str] = {}
    for steps, use in uses.items():
        place, name = document.place((*steps, "use")), document.name(steps)
        found.setdefault(use, f"{place}: {name} needs {use}: code of others to be run here")
    if found:
        raise CodeError(found)


def _read(
    document: YamlDocument,
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


def _problem(document: YamlDocument, steps: Steps, error: DataError) -> Problem:
    """A thing that is not there, as a mistake at the place that names it."""
    what, _, rest = str(error).partition("\n  expected: ")
    expected, _, advice = rest.partition("\n  to do: ")
    return Problem(document.place(steps), f"{document.name(steps)}: {what}", expected, advice)
