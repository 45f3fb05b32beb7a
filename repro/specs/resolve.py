"""Arms -> where their values come from: a configuration with overrides, a table, or print."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro import files as resources
from repro.errors import DataError, Place, Problem, ShapeError
from repro.evidence.source import DeclaredAt, Facts
from repro.schema.messages import choose, closest, validated
from repro.schema.yaml import Steps, YamlDocument, read_document
from repro.specs.arm import Arm, ArmSpec
from repro.specs.configuration import Configuration, NamedCode, configuration_class
from repro.trainers.trainer import code_of, trainer_of


@dataclass(frozen=True, slots=True)
class ParsedConfiguration:
    """A configuration file as it was read; ``document`` is None when it is not even YAML."""

    document: YamlDocument | None
    problems: tuple[Problem, ...]
    configuration: Configuration | None = None


class Configurations:
    """The configurations that claim files name; each file is read once."""

    def __init__(self) -> None:
        self._sheets: dict[Path, ParsedConfiguration] = {}

    def resolve(
        self, claim: YamlDocument, steps: Steps, name: str, override: Mapping[str, Any]
    ) -> tuple[Facts | None, tuple[Problem, ...]]:
        """What the arm at ``steps`` trains by the configuration ``name``, or what is wrong."""
        found = _find(Path(claim.file).parent, name)
        if isinstance(found, list):
            return None, (_not_found(claim, (*steps, "configuration"), name, found),)
        sheet = self._sheets.setdefault(found, self._sheets.get(found) or read_sheet(found))
        at = claim.place((*steps, "configuration"))
        overridden: tuple[str, ...] = ()
        if override and sheet.document is not None and not sheet.problems:
            document, overridden = overlay(sheet.document, claim, (*steps, "override"))
            sheet = check(document)
        return _facts(name, sheet, overridden, at), sheet.problems


def read_sheet(path: Path) -> ParsedConfiguration:
    """Read and check one configuration file by itself."""
    try:
        return check(read_document(path))
    except ShapeError as error:
        return ParsedConfiguration(None, error.problems)


def overlay(
    base: YamlDocument, claim: YamlDocument, at: Steps
) -> tuple[YamlDocument, tuple[str, ...]]:
    """A configuration's data with the override at ``at`` of a claim laid over it.

    Mappings are laid over key by key; one whose ``kind`` changes is replaced whole. Each value
    that the override touches has its place in the claim file. Reasons in ``assumed`` for values
    that are no longer the configuration's own are left out.
    """
    data = copy.deepcopy(base.data)
    places, key_places = dict(base.places), dict(base.key_places)
    overridden: list[str] = []

    def lay(target: dict[str, Any], change: dict[str, Any], inside: Steps) -> None:
        for key, value in change.items():
            here = (*inside, key)
            places[here] = claim.place((*at, *here))
            key_places[here] = claim.key_place((*at, *here))
            old = target.get(key)
            if isinstance(value, dict) and isinstance(old, dict) and not _other_kind(old, value):
                lay(old, value, here)
                continue
            target[key] = value
            overridden.append(".".join(map(str, here)))
            for steps in _below(value, here):
                places[steps] = claim.place((*at, *steps))
                key_places[steps] = claim.key_place((*at, *steps))

    change = claim.get(*at)
    lay(data, change, ())
    if isinstance(data.get("assumed"), dict):
        own = change.get("assumed") or {}
        data["assumed"] = {
            path: reason
            for path, reason in data["assumed"].items()
            if path in own or not any(overlap(path, changed) for changed in overridden)
        }
    merged = YamlDocument(base.file, data, places, key_places)
    return merged, tuple(path for path in overridden if not path.startswith("assumed"))


def check(document: YamlDocument) -> ParsedConfiguration:
    """A configuration's data as it should be, or its mistakes: those of its shape come first."""
    try:
        configuration = validated(document, configuration_class(document.data))
    except ShapeError as error:
        return ParsedConfiguration(document, error.problems)
    except DataError as error:
        return ParsedConfiguration(document, (_no_trainer(document, error),))
    problems = list(_assumed(document, configuration))
    training = configuration.training()
    for steps, words in trainer_of(training).misnamed(training):
        problems.append(Problem(document.key_place(steps), *words))
    return ParsedConfiguration(document, tuple(problems), None if problems else configuration)


def _no_trainer(document: YamlDocument, error: DataError) -> Problem:
    """That the trainer of a configuration is not there, in the words of whoever looked for it."""
    what, *lines = str(error).splitlines()
    expected, advice = (line.partition(": ")[2] for line in (*lines, ": ", ": ")[:2])
    return Problem(document.place(("trainer",)), f"trainer: {what}", expected, advice)


def _assumed(document: YamlDocument, configuration: Configuration) -> Iterator[Problem]:
    """Reasons for values that do not exist."""
    values = configuration.training().model_dump(mode="json")
    paths = list(dotted(values))
    for path in configuration.assumed:
        if path not in paths:
            place = document.key_place(("assumed", path))
            guess = closest(path, paths)
            advice = f"did you mean '{guess}'?" if guess else "remove it, or correct the path"
            what = f"assumed: the configuration has no value '{path}'"
            yield Problem(place, what, "a dotted path, such as recipe.clip", advice)


def _below(value: Any, steps: Steps) -> Iterator[Steps]:
    """The steps to everything inside a value."""
    entries = value.items() if isinstance(value, dict) else ()
    for key, inside in enumerate(value) if isinstance(value, list) else entries:
        yield (*steps, key)
        yield from _below(inside, (*steps, key))


def dotted(values: dict[str, Any], before: str = "") -> Iterator[str]:
    """The dotted path of every value in a mapping, and of every mapping in it."""
    for key, value in values.items():
        yield before + key
        if isinstance(value, dict):
            yield from dotted(value, f"{before}{key}.")


def _facts(
    name: str, sheet: ParsedConfiguration, overridden: tuple[str, ...], at: Place
) -> Facts | None:
    """What is trained where a configuration is named ``at`` a place; None for mistakes."""
    document, found = sheet.document, sheet.configuration
    if document is None or found is None:
        return None
    parts = code_of(found.training()).items()
    return Facts(
        configuration_id=name,
        configuration=found,
        overridden=overridden,
        code=tuple(
            NamedCode(
                use=part.use,
                version=part.version,
                place=str(document.place((*part_name.split("."), "use"))),
                arm=str(at),
            )
            for part_name, part in parts
        ),
    )


def _folders(beside: Path) -> Iterator[Path]:
    """Where configurations are looked for: beside the claim, then among those that came with us."""
    yield beside / "configurations"
    try:
        yield resources.claims() / "configurations"
    except DataError:
        return


def _find(beside: Path, name: str) -> Path | list[Path]:
    """The file of a configuration, or the folders where it is not."""
    folders = list(_folders(beside))
    for folder in folders:
        path = folder / f"{name}.yaml"
        root = folder.parent.resolve() / "configurations"
        if path.is_file() and path.resolve().is_relative_to(root):
            return path
    return folders


def _not_found(claim: YamlDocument, steps: Steps, name: str, folders: list[Path]) -> Problem:
    known = {
        path.relative_to(folder).with_suffix("").as_posix()
        for folder in folders
        for path in folder.glob("*/**/*.yaml")
    }
    outside = any((folder / f"{name}.yaml").is_file() for folder in folders)
    what = f"{claim.name(steps)}: there is no configuration '{name}'"
    if outside:
        return Problem(
            claim.place(steps),
            f"{claim.name(steps)}: configuration '{name}' is a link that leads elsewhere",
            "a file below configurations/",
            "put the file itself there",
        )
    expected = f"a file {Path(claim.file).parent / 'configurations' / name}.yaml"
    return Problem(claim.place(steps), what, expected, choose(name, known))


def _other_kind(old: dict[str, Any], new: dict[str, Any]) -> bool:
    return "kind" in new and new["kind"] != old.get("kind")


def overlap(path: str, changed: str) -> bool:
    """Whether two dotted paths are the same, or one leads to the other."""
    return path == changed or path.startswith(f"{changed}.") or changed.startswith(f"{path}.")


def resolve(
    claim: YamlDocument, steps: Steps, arm: ArmSpec, configurations: Configurations
) -> tuple[Arm | None, tuple[Problem, ...]]:
    """The arm at ``steps`` of a claim file with its evidence, or what is wrong."""
    source = arm.source
    facts, problems = source.resolve(DeclaredAt(claim, steps, configurations.resolve))
    if facts is None:
        return None, problems
    found = Arm(
        label=arm.label,
        source=source,
        configuration_id=facts.configuration_id,
        configuration=facts.configuration,
        overridden=facts.overridden,
        code=facts.code,
        first_seed=facts.first_seed,
    )
    return found, problems
