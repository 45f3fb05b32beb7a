"""Claim files -> frozen claims, or every mistake in them at once.

A file is read in two stages. The first is its shape: YAML (`yaml`), keys and values (`ClaimFile`),
and what it names of others, whose own classes check their keys. The second is what it means at
every scale that it has: its names (`references`), evidence and overrides (`scaled`), and rules
(`rules`). Each stage reports all its mistakes at once; nothing after loading looks at a document.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ValidationError

from repro.errors import CodeError, DataError, Place, Problem, RuleError, ShapeError, SpecError
from repro.evidence.base import OwnSource
from repro.evidence.sources import source_of_others
from repro.expectations.base import OwnExpectation
from repro.expectations.kinds import OthersExpectation, kind_of_others
from repro.files import claims, is_folder, resolved
from repro.plugins import allowing_code, require_consent, version_of
from repro.schema.messages import MOST, choose, listed, problems_of, validated
from repro.schema.yaml import Steps, YamlDocument, read_document
from repro.specs.arm import SourceOfOthers
from repro.specs.claim import SCALES, Claim, ClaimFile, ScaleName
from repro.specs.configuration import Configurations, code_named, not_there
from repro.specs.names import references
from repro.specs.rules import broken_rules
from repro.specs.scaled import ScaledClaim, scale_claim
from repro.trainers.measurement import OthersMeasurement, OwnMeasurement
from repro.trainers.table import measurement_of_others

Sort = Literal["claim", "audit", "search", "configuration"]

KEYS: Final[dict[Sort, tuple[str, str]]] = {
    "claim": ("expectations", "give it to `repro verify`"),
    "audit": ("audit", "give it to `repro audit`"),
    "search": ("search", "give it to `repro tune`"),
    "configuration": ("recipe", "name it in an arm of a claim, or in the base of a search"),
}
"""The key that no document of another sort has, and what reads them."""


def other_sort(document: YamlDocument, expected: Sort) -> Iterator[Problem]:
    """That a document is of another sort: it has the key of that, and not its own."""
    if KEYS[expected][0] in document.data:
        return
    for sort, (key, advice) in KEYS.items():
        if key in document.data:
            mistake = f"this is {_one(sort)}, and no {expected}"
            yield Problem(document.key_place((key,)), mistake, _one(expected), advice)
            return


def _one(sort: Sort) -> str:
    return f"{'an' if sort == 'audit' else 'a'} {sort}"


def load_claim(path: Path, scale: ScaleName, *, allow_code: bool = False) -> Claim:
    """The claim of one file at a scale.

    ShapeError with every mistake of its shape; for one of the right shape, RuleError with every
    rule that it breaks at any scale; CodeError for code of others without consent.
    """
    return load_claims([path], scale, allow_code=allow_code)[0]


def load_claims(
    where: Path | Sequence[Path], scale: ScaleName | None = None, *, allow_code: bool = False
) -> tuple[Claim, ...]:
    """The claims of files, and of folders: all `*.yaml` directly in a folder, by name.

    Each at ``scale``, or at the smallest that its file has. ``allow_code`` imports what they name
    of others, `use: module:object`. Raises as ``load_claim``.
    """
    problems: list[Problem] = []
    refused: type[SpecError] = RuleError
    configurations = Configurations()
    loaded: list[Claim] = []
    places: dict[str, Place] = {}
    for path in _files([where] if isinstance(where, Path) else where, problems):
        try:
            document = read_document(path)
            with allowing_code(allow_code):
                file = _read(document)
                problems += _same_id(document, file, places)
                loaded.append(_claim(document, file, scale, configurations))
        except CodeError:
            raise CodeError(code_named(document)) from None
        except SpecError as error:
            problems += error.problems
            refused = ShapeError if isinstance(error, ShapeError) else refused
    if problems:
        raise refused(list(dict.fromkeys(problems)))
    return tuple(loaded)


def _files(where: Sequence[Path], problems: list[Problem]) -> list[Path]:
    """The files, each once; folders without a claim are problems."""
    files: dict[Path, Path] = {}
    for given in where:
        path = given
        if not given.suffix and len(given.parts) == 1 and not given.exists():
            ids = _packaged()
            if given.name not in ids:
                problems.append(_unknown(given, ids))
                continue
            path = ids[given.name]
        inside = [path]
        if is_folder(path):
            inside = sorted(p for p in path.glob("*.yaml") if not p.name.startswith("."))
        if not inside:
            mistake = "no claim in this folder"
            advice = "give a folder that holds claims, or the path of a claim"
            problems.append(Problem(Place(str(path)), mistake, "files *.claim.yaml", advice))
        for file in inside:
            files.setdefault(resolved(file), file)
    return list(files.values())


def _packaged() -> dict[str, Path]:
    """The files that came with repro, configurations apart, by their ids."""
    found: dict[str, Path] = {}
    for file in sorted(claims().rglob("*.yaml")):
        if "configurations" not in file.relative_to(claims()).parts:
            found.setdefault(file.stem.removesuffix(".claim"), file)
    return found


def _unknown(given: Path, packaged: Mapping[str, Path]) -> Problem:
    """That an argument without a suffix and a folder is no file and no id of a claim."""
    audits_and_searches = ("published", "searches")
    ids = [name for name, at in packaged.items() if at.parent.name not in audits_and_searches]
    mistake = "cannot be read: no such file or directory"
    expected = f"a readable file, or the id of a packaged claim: {', '.join(sorted(ids))}"
    return Problem(Place(str(given)), mistake, expected, choose(given.name, ids))


def _same_id(
    document: YamlDocument, file: ClaimFile, places: dict[str, Place]
) -> Iterator[Problem]:
    """A claim that goes by the name of one before it; ``places`` are those of all names so far."""
    if file.id in places:
        mistake = f"'{file.id}' is the id of another claim, {places[file.id]}"
        yield document.problem(("id",), mistake, "an id of its own", "rename one of the two")
    places.setdefault(file.id, document.place(("id",)))


def _read(document: YamlDocument) -> ClaimFile:
    """The first stage: the shape of a file, and that of what it names of others."""
    if other := list(other_sort(document, "claim")):
        raise ShapeError(other)
    problems: list[Problem] = []
    file: ClaimFile = _with_others(document, (), validated(document, ClaimFile), problems)
    if problems:
        raise ShapeError(problems)
    return file


Others: TypeAlias = OwnExpectation | OwnMeasurement | OwnSource

CLASSES: dict[type[BaseModel], Callable[[str], tuple[str, type[Others]]]] = {
    OthersExpectation: kind_of_others,
    OthersMeasurement: measurement_of_others,
    SourceOfOthers: source_of_others,
}
"""What a file names of others, and how its class is found, which has its keys."""


def _with_others(document: YamlDocument, at: Steps, value: Any, problems: list[Problem]) -> Any:
    """A value of a claim file in which what is of others is as its own class reads it."""
    if type(value) in CLASSES:
        return _of_others(document, at, CLASSES[type(value)], problems)
    if isinstance(value, tuple):
        parts = enumerate(value)
        return tuple(_with_others(document, (*at, i), part, problems) for i, part in parts)
    if isinstance(value, dict):
        entries = value.items()
        return {key: _with_others(document, (*at, key), each, problems) for key, each in entries}
    if isinstance(value, BaseModel):
        fields = {key: getattr(value, key) for key in value.model_fields_set}
        return value.model_copy(update=_with_others(document, at, fields, problems))
    return value


def _of_others(
    document: YamlDocument,
    steps: Steps,
    class_of: Callable[[str], tuple[str, type[Others]]],
    problems: list[Problem],
) -> Others | None:
    """What is declared at ``steps``, by its own class, with the version that is here."""
    data = document.get(*steps)
    key = "use" if "use" in data else "kind"
    require_consent(data[key])
    try:
        use, model = class_of(data[key])
        version = version_of(use)
    except DataError as error:
        problems.append(not_there(document, (*steps, key), error))
        return None
    try:
        found = model.model_validate_json(json.dumps({**data, "use": use}))
    except ValidationError as error:
        problems += problems_of(error, model, document, steps)
        return None
    if found.version and found.version != version:
        mistake = f"version {version} of {use} is here, not {found.version}"
        advice = "compare them; then write the one that is here, or leave the line out"
        problems.append(document.problem((*steps, "version"), mistake, version, advice))
    return found.model_copy(update={"version": version})


def _claim(
    document: YamlDocument, file: ClaimFile, scale: ScaleName | None, configurations: Configurations
) -> Claim:
    """The second stage: the claim at a scale, or at its smallest, if it breaks no rule at any."""
    problems = list(islice(references(document, file), MOST))
    scaled: dict[ScaleName, ScaledClaim] = {}
    for each in file.scales.declared:
        scaled[each], found = scale_claim(document, file, each, configurations)
        problems += found
        problems += islice(broken_rules(scaled[each]), MOST)
    there = file.scales.declared
    if not there:
        mistake, advice = "the claim has no scale", "add `paper: {notice: ...}`, or a smaller scale"
        problems.append(document.problem(("scales",), mistake, listed(SCALES), advice, key=True))
    if scale and there and not problems and scale not in there:
        mistake = f"the claim has no scale '{scale}'"
        advice = f"ask for {there[-1]}, or add the scale"
        problems.append(document.problem(("scales",), mistake, listed(there), advice, key=True))
    if problems:
        raise RuleError(list(dict.fromkeys(problems)))
    return scaled[scale or there[0]].resolved()
