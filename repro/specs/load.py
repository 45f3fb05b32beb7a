"""Claim files -> frozen claims, or every mistake in them at once.

A file is read in two stages. The first is its shape: YAML (`yaml`), keys and values (`ClaimFile`),
and what it names of others, whose own classes check their keys. The second is what it means at
every scale that it has: its names (`references`), evidence and overrides (`scaled`), and rules
(`rules`). Each stage reports all its mistakes at once; nothing after loading looks at a document.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel, ValidationError

from repro.consent import Consent, allowing_code, require_consent
from repro.errors import (
    CodeError,
    DataError,
    Place,
    Problem,
    ReproError,
    RuleError,
    ShapeError,
    SpecError,
    Stopped,
    about,
    apart,
)
from repro.evidence.base import OwnSource, tables_to_come
from repro.evidence.sources import source_of_others
from repro.expectations.declared import OwnExpectation
from repro.expectations.kinds import OthersExpectation, kind_of_others
from repro.files import resolved
from repro.plugins import version_of
from repro.results.importer import CustomImporter, ThirdPartyImporter
from repro.results.importers import custom_importer
from repro.schema.messages import MOST, choose, listed, problems_of, validated
from repro.schema.yaml import Steps, YamlDocument, parse_document
from repro.specs.arm import SourceOfOthers
from repro.specs.claim import SCALES, Claim, ClaimFile, ScaleName
from repro.specs.claim_files import ClaimFiles, claim_files, other_sort
from repro.specs.configuration import Configurations, code_named, not_there
from repro.specs.names import references
from repro.specs.rules import broken_rules
from repro.specs.scaled import ScaledClaim, scale_claim
from repro.trainers.measurement import MeasurementByCode, MeasurementSpec, OthersMeasurement
from repro.trainers.table import MEASUREMENTS, measurement_of_others


def load_claim(
    path: Path | str, scale: ScaleName | None = None, *, allow_code: Consent = False
) -> Claim:
    """The claim of one file at a scale; without one as ``load_claims`` says.

    ShapeError with every mistake of its shape; for one of the right shape, RuleError with every
    rule that it breaks at any scale; CodeError for code from outside repro without consent.
    """
    return load_claims([path], scale, allow_code=allow_code)[0]


def load_claims(
    where: Path | str | Sequence[Path | str],
    scale: ScaleName | None = None,
    *,
    allow_code: Consent = False,
    passed_over: list[str] | None = None,
    stopped: list[Stopped] | None = None,
) -> tuple[Claim, ...]:
    """The claims of files, and of folders: those in a folder and below, by path.

    Each at ``scale``; without one at `quick`, at a scale that trains nothing, or at the first
    that its file has. ``allow_code`` imports what they name of others, `use: module:object`. Claims
    of folders are left out where they lack ``scale``, or, without one, would train for longer than
    at `quick`; their ids are added to ``passed_over``. Raises as ``load_claim``. A defect of repro
    that a file meets is added to ``stopped``, where that is given, and the others are loaded.
    """
    problems: list[Problem] = []
    refused: type[SpecError] = RuleError
    several = [where] if isinstance(where, Path | str) else where
    files = claim_files(list(map(Path, several)), problems)
    read = _Reading(files, scale, problems)
    for real, path in files.paths.items():
        try:
            guard = about(path) if stopped is None else _apart(path, stopped)
            with guard, allowing_code(allow_code):
                read.take(real)
        except SpecError as error:
            read.passed_over[real] = None
            problems += error.problems
            refused = ShapeError if isinstance(error, ShapeError) else refused
    problems += _without_claims(files.folders, read.passed_over, scale)
    if problems:
        raise refused(list(dict.fromkeys(problems)))
    if passed_over is not None:
        passed_over += (file.id for file in read.passed_over.values() if file)
    return tuple(read.claims)


@dataclass(slots=True)
class _Reading:
    """The claims of some files, one after another; a mistake that two share is in ``problems``.

    ``passed_over`` has every claim file that was read, with what it holds where that is left out.
    """

    files: ClaimFiles
    scale: ScaleName | None
    problems: list[Problem]
    claims: list[Claim] = field(default_factory=list)
    passed_over: dict[Path, ClaimFile | None] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    configurations: Configurations = field(default_factory=Configurations)

    def take(self, real: Path) -> None:
        """The claim of a file, if it is one and is meant; SpecError for its mistakes."""
        document = self.files.read(real)
        if document is None:
            return
        self.passed_over[real] = None
        with _naming_code(document):
            file = _read(document)
            self.problems += _same_id(document, file, self.places)
            scaled = _scaled(document, file, self.configurations)
        meant = self.scale in scaled if self.scale else _of_minutes(scaled) is not None
        if real in self.files.named or meant:
            self.claims.append(_at(document, scaled, self.scale))
        else:
            self.passed_over[real] = file


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A claim file: its id and its scales, every mistake in it, or a defect that it met.

    ``to_come`` are its tables that are not there yet.
    """

    path: Path
    id: str = ""
    scales: tuple[ScaleName, ...] = ()
    problems: tuple[Problem, ...] = ()
    stopped: tuple[Stopped, ...] = ()
    to_come: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it could be judged."""
        return not self.problems and not self.stopped


def check_files(
    where: Sequence[Path], *, allow_code: Consent = False
) -> tuple[tuple[CheckedFile, ...], tuple[Problem, ...]]:
    """What loading says of each claim that is meant, at all its scales; and of the paths.

    CodeError for code from outside repro without consent.
    """
    problems: list[Problem] = []
    files = claim_files(where, problems)
    configurations, places = Configurations(), dict[str, Place]()
    checked: list[CheckedFile] = []
    for real, path in files.paths.items():
        stopped: list[Stopped] = []
        try:
            with _apart(path, stopped), allowing_code(allow_code):
                document = files.read(real)
                if document is None:
                    continue
                with _naming_code(document):
                    file = _read(document)
                    twice = tuple(_same_id(document, file, places))
                    _scaled(document, file, configurations)
                sources = [arm.source for arm in file.arms.values()]
                later = tables_to_come(sources, path.parent)
                checked.append(CheckedFile(path, file.id, file.declared, twice, to_come=later))
        except SpecError as error:
            checked.append(CheckedFile(path, problems=error.problems))
        checked += (CheckedFile(path, stopped=(each,)) for each in stopped)
    read = {resolved(each.path) for each in checked}
    for folder, inside in files.folders.items():
        if not inside & read:
            advice = "give a folder that holds claims, or the path of a claim"
            place = Place(str(folder))
            mistake, expected = "no claim in this folder", "files *.claim.yaml"
            problems.append(Problem(place, mistake, expected, advice))
    return tuple(checked), tuple(problems)


def read_measurement(text: str, file: str, *, allow_code: Consent = False) -> MeasurementSpec:
    """A measurement as a claim declares it, `{kind: rank, split: valid}`; ``file`` is its place.

    ShapeError with every mistake in it, CodeError for code from outside repro without consent.
    """
    document = parse_document(text, file)
    kind, problems = document.data.get("kind"), list[Problem]()
    found: Any = None
    if kind in MEASUREMENTS.names() and "use" not in document.data:
        found = validated(document, MEASUREMENTS.get(kind))
    elif "use" in document.data or (isinstance(kind, str) and MEASUREMENTS.has(kind)):
        with allowing_code(allow_code):
            found = _of_others(document, (), measurement_of_others, problems)
    else:
        names = sorted(MEASUREMENTS.names())
        mistake = "the kind is missing" if kind is None else f"unknown kind '{kind}'"
        place, advice = document.place(("kind",)), choose(str(kind), names)
        problems.append(Problem(place, mistake, listed(names), advice))
    if not problems:
        problems += (document.problem((key,), *words) for key, words in found.mistakes())
    if problems:
        raise ShapeError(problems)
    measurement: MeasurementSpec = found
    for key in measurement.named_arms:
        words = "only a claim has arms", "the settings alone", "leave it out"
        raise ShapeError([document.problem((key,), *words)])
    return measurement


def _apart(path: Path, stopped: list[Stopped]) -> AbstractContextManager[None]:
    """Keep a defect that a file meets to that file."""
    return apart(str(path), stopped, (ReproError,))


@contextmanager
def _naming_code(document: YamlDocument) -> Iterator[None]:
    """Refuse code from outside repro with all that a claim and its configurations name."""
    try:
        yield
    except CodeError as error:
        named = code_named(document)
        places = {use: named.get(use, place) for use, place in error.found.items()}
        raise CodeError(places if error.outside else named or error.found, error.outside) from None


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


Others: TypeAlias = OwnExpectation | MeasurementByCode | OwnSource | CustomImporter

CLASSES: dict[type[BaseModel], Callable[[str], tuple[str, type[Others]]]] = {
    OthersExpectation: kind_of_others,
    OthersMeasurement: measurement_of_others,
    SourceOfOthers: source_of_others,
    ThirdPartyImporter: custom_importer,
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
    key = "from" if class_of is custom_importer else "use" if "use" in data else "kind"
    require_consent(data[key])
    try:
        use, model = class_of(data[key])
        version = version_of(use)
    except DataError as error:
        problems.append(not_there(document, (*steps, key), error))
        return None
    try:
        named = {("from" if key == "from" else "use"): use}
        found = model.model_validate_json(json.dumps({**data, **named}))
    except ValidationError as error:
        problems += problems_of(error, model, document, steps)
        return None
    if found.version and found.version != version:
        mistake = f"version {version} of {use} is here, not {found.version}"
        advice = "compare them; then write the one that is here, or leave the line out"
        problems.append(document.problem((*steps, "version"), mistake, version, advice))
    return found.model_copy(update={"version": version})


def _scaled(
    document: YamlDocument, file: ClaimFile, configurations: Configurations
) -> dict[ScaleName, ScaledClaim]:
    """The second stage: the claim at each scale that it has, if it breaks no rule at any."""
    problems = list(islice(references(document, file), MOST))
    scaled: dict[ScaleName, ScaledClaim] = {}
    for each in file.declared:
        scaled[each], found = scale_claim(document, file, each, configurations)
        problems += found
        problems += islice(broken_rules(scaled[each]), MOST)
    if not scaled:
        mistake, advice = "the claim has no scale", "add `paper: {notice: ...}`, or a smaller scale"
        problems.append(document.problem(("scales",), mistake, listed(SCALES), advice, key=True))
    if problems:
        raise RuleError(list(dict.fromkeys(problems)))
    return scaled


def _at(
    document: YamlDocument, scaled: Mapping[ScaleName, ScaledClaim], scale: ScaleName | None
) -> Claim:
    """The claim at a scale, else at that of minutes or its first; RuleError if it lacks it."""
    there = tuple(scaled)
    if scale and scale not in there:
        mistake = f"the claim has no scale '{scale}'"
        advice = f"ask for {there[-1]}, or add the scale"
        problem = document.problem(("scales",), mistake, listed(there), advice, key=True)
        raise RuleError([problem])
    return scaled[scale or _of_minutes(scaled) or there[0]].resolved()


def _of_minutes(scaled: Mapping[ScaleName, ScaledClaim]) -> ScaleName | None:
    """The first scale at which a claim takes minutes: `quick`, or one that trains nothing.

    The first of all where no name has a meaning: nothing says that others are shorter.
    """
    minutes = (name for name, at in scaled.items() if name == "quick" or not at.trained)
    first = None if scaled.keys() & set(SCALES) else next(iter(scaled), None)
    return next(minutes, first)


def _without_claims(
    folders: Mapping[Path, frozenset[Path]],
    found: Mapping[Path, ClaimFile | None],
    scale: ScaleName | None,
) -> Iterator[Problem]:
    """Folders of which nothing is taken; ``found`` has a claim file where it is passed over."""
    for folder, files in folders.items():
        there = [found[each] for each in files if each in found]
        passed_over = [each for each in there if each is not None]
        if len(passed_over) < len(there):
            continue
        mistake, expected = "no claim in this folder", "files *.claim.yaml"
        advice = "give a folder that holds claims, or the path of a claim"
        if passed_over and scale:
            mistake += f" has the scale '{scale}'"
            expected = listed(_scales_of(passed_over))
            advice = "ask for a scale that is there, or add this one to a claim"
        elif passed_over:
            mistake = "no claim in this folder has the scale quick, and all would train"
            expected = "a claim with the scale quick, or from print"
            first = _scales_of(passed_over)[0]
            advice = f"ask for the scale {first}, which may take long, or name the file of a claim"
        yield Problem(Place(str(folder)), mistake, expected, advice)


def _scales_of(files: Sequence[ClaimFile]) -> list[ScaleName]:
    """All scales of several claims: those with a meaning first, from small to large."""
    names = dict.fromkeys(name for file in files for name in file.declared)
    return sorted(names, key=lambda name: SCALES.index(name) if name in SCALES else len(SCALES))
