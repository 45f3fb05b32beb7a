"""A configuration file: model, corpus and recipe, with the source of every value; and overrides.

What it names of others, `module:object`, is part of a model that is trained here, and runs with the
rights of whoever trains it. So it is imported only with consent; a verdict and a report need none.
"""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union

from pydantic import BeforeValidator, ConfigDict, Field, PrivateAttr, create_model

from repro import files as resources
from repro.errors import DataError, Place, Problem, ShapeError
from repro.evidence.base import Facts
from repro.plugins import version_of
from repro.schema.base import Count, ObjectName, Reason, Spec
from repro.schema.messages import choose, closest, pattern, validated
from repro.schema.yaml import Steps, YamlDocument, read_document
from repro.trainers.base import TrainerName, Training
from repro.trainers.table import TRAINERS, trainer_for
from repro.trainers.trainer import code_of, trainer_of

PROJECT = (".git", "pyproject.toml")
"""What marks the folder of a project, above which no configuration is looked for."""


class NamedCode(Spec):
    """An object in a module, the version that is stated, and the places that lead to it.

    ``place`` is where `use` is written, ``arm`` where the claim names the configuration.
    """

    use: str
    version: str
    place: str
    arm: str


class Tuning(Spec):
    """How much search chose the hyper-parameters: how many settings were tried, and on what."""

    settings: Count
    selected_on: Literal["valid", "test", "not stated"]
    source: Reason


class Configuration(Spec):
    """Every configuration file has a title and a source, and may say what is assumed.

    ``title`` is for whoever reads the file. ``source`` says where the values are printed;
    ``assumed`` maps the dotted path of each value that no paper prints to the reason for it;
    ``tuning`` is the search that chose the values. None of them changes a number, so none is in a
    key.
    """

    schema_version: Literal[1] = Field(alias="schema")
    title: str
    source: Reason
    assumed: dict[str, Reason] = {}
    tuning: Tuning | None = None
    trainer: Any = None

    trains: ClassVar[type[Training]]
    _located: dict[str, Any] = PrivateAttr(default_factory=dict)

    if TYPE_CHECKING:  # the keys of its trainer

        def __getattr__(self, name: str) -> Any: ...

    def training(self) -> Training:
        """The part that determines numbers."""
        left_out = {"trainer", *self.trains.located}
        names = [name for name in self.trains.model_fields if name not in left_out]
        named = {} if self.trains.built_in else {"trainer": self.trainer}
        return self.trains(
            **{name: getattr(self, name) for name in names}, **named, **self._located
        )

    def locate(self, found: Mapping[str, Any]) -> None:
        """Take over what follows from the folder of the file, once it has been read."""
        self._located = dict(found)


def _named(value: object) -> object:
    """The trainer of a document with its version, which the document may leave out."""
    document = {"use": value} if isinstance(value, str) else value
    if not isinstance(document, dict) or not isinstance(document.get("use"), str):
        return document
    version = version_of(TRAINERS.where(document["use"]))
    stated = document.setdefault("version", version)
    if stated != version:
        raise ValueError(f"version is '{stated}', and the one that is here is '{version}'")
    return document


@cache
def _class_of(spec: type[Training]) -> type[Configuration]:
    """What a configuration file of a trainer holds: what every one has, and its own keys."""
    keys: dict[str, Any] = {
        name: (field.annotation, field)
        for name, field in spec.model_fields.items()
        if name not in spec.located
    }
    if spec.built_in:
        keys["trainer"] = (Literal[spec.built_in] | None, None)
    else:
        keys["trainer"] = (Annotated[TrainerName, BeforeValidator(_named)], ...)
    name = f"{spec.__name__.removesuffix('TrainingSpec')}Configuration"
    said = "\n\n".join(cleandoc(each.__doc__ or "") for each in (spec, Configuration))
    made = create_model(name, __base__=Configuration, __doc__=said, **keys)
    made.trains = spec
    return made


class OthersConfiguration(Configuration):
    """A configuration of a trainer that is not built in, which says what the other keys are."""

    model_config = ConfigDict(extra="allow")

    trainer: str | dict[str, str]


def document_type() -> Any:
    """What a configuration file may be, for its schema."""
    built_in = (_class_of(TRAINERS.get(name)().Spec) for name in TRAINERS.names())
    return Union[(*built_in, OthersConfiguration)]


def keys_of_trainings() -> frozenset[str]:
    """What the configurations of the built-in trainers say of a training."""
    specs = (TRAINERS.get(name)().Spec for name in TRAINERS.names())
    return frozenset(name for spec in specs for name in {*spec.model_fields} - {*spec.located})


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
        self, claim: YamlDocument, steps: Steps, name: str | None
    ) -> tuple[Facts | None, tuple[Problem, ...]]:
        """What the arm at ``steps`` trains by the configuration ``name``, or what is wrong.

        Without a name it is that at the top of the claim, which the arm's ``args`` change, too.
        """
        if name is None:
            return _of_claim(claim, steps)
        found = _find(Path(claim.file), name)
        if isinstance(found, list):
            return None, (_not_found(claim, (*steps, "configuration"), name, found),)
        sheet = self._sheets.setdefault(found, self._sheets.get(found) or read_sheet(found))
        at = claim.place((*steps, "configuration"))
        overridden: tuple[str, ...] = ()
        if claim.get(*steps, "override") and sheet.document is not None and not sheet.problems:
            document, overridden = overlay(sheet.document, claim, (*steps, "override"))
            sheet = check(document)
        return _facts(name, sheet, overridden, at), sheet.problems


INLINE: Steps = ("configuration",)


def _of_claim(claim: YamlDocument, steps: Steps) -> tuple[Facts | None, tuple[Problem, ...]]:
    """What an arm trains by the configuration that its claim holds."""
    held = claim.get(*INLINE)
    if not isinstance(held, dict):
        mistake = "the claim holds no configuration to which these could belong"
        expected = "`configuration:` at the top of the claim"
        advice = "add it, or name the configuration of the arm"
        return None, (claim.problem((*steps, "args"), mistake, expected, advice),)
    title = claim.get("title")
    data = {"schema": 1, "title": title, "source": "the claim file itself", **held}
    places, key_places = (
        {at[1:]: place for at, place in found.items() if at[:1] == INLINE}
        for found in (claim.places, claim.key_places)
    )
    document = YamlDocument(claim.file, data, places, key_places)
    document, args = overlay(document, claim, (*steps, "args"), ("args",))
    document, others = overlay(document, claim, (*steps, "override"))
    sheet = check(document)
    return _facts(
        Path(claim.file).name, sheet, (*args, *others), claim.place(steps)
    ), sheet.problems


def read_sheet(path: Path) -> ParsedConfiguration:
    """Read and check one configuration file by itself."""
    try:
        return check(read_document(path))
    except ShapeError as error:
        return ParsedConfiguration(None, error.problems)


def overlay(
    base: YamlDocument, claim: YamlDocument, at: Steps, below: Steps = ()
) -> tuple[YamlDocument, tuple[str, ...]]:
    """A configuration's data with what stands at ``at`` of a claim laid over it, or ``below`` it.

    Mappings are laid over key by key; one whose ``kind`` changes is replaced whole. Each value
    that the override touches has its place in the claim file. Reasons in ``assumed`` for values
    that are no longer the configuration's own are left out.
    """
    data = copy.deepcopy(base.data)
    places, key_places = dict(base.places), dict(base.key_places)
    overridden: list[str] = []

    def lay(target: dict[str, Any], change: dict[str, Any], inside: Steps) -> None:
        for key, value in change.items():
            here, old = (*inside, key), target.get(key)
            if (
                isinstance(value, dict)
                and isinstance(old, dict)
                and value.get("kind", old.get("kind")) == old.get("kind")
            ):
                lay(old, value, here)
                continue
            target[key] = value
            overridden.append(".".join(map(str, here)))

    change = claim.get(*at) or {}
    target = data
    for step in below:
        target = target.setdefault(str(step), {})
    lay(target, change, below)
    for steps in _below(change, ()):
        places[*below, *steps] = claim.place((*at, *steps))
        key_places[*below, *steps] = claim.key_place((*at, *steps))
    if isinstance(data.get("assumed"), dict):
        data["assumed"] = _still_assumed(data["assumed"], change.get("assumed") or {}, overridden)
    merged = YamlDocument(base.file, data, places, key_places)
    return merged, tuple(path for path in overridden if not path.startswith("assumed"))


def _still_assumed(
    assumed: Mapping[str, Any], given: Collection[str], overridden: Sequence[str]
) -> dict[str, Any]:
    """The reasons for values that the claim leaves as they are, or gives a reason for itself."""
    return {
        path: reason
        for path, reason in assumed.items()
        if path in given or not any(overlap(path, changed) for changed in overridden)
    }


def check(document: YamlDocument) -> ParsedConfiguration:
    """A configuration's data as it should be, or its mistakes: those of its shape come first."""
    try:
        configuration = validated(document, _class_of(trainer_for(document.data).Spec))
    except ShapeError as error:
        return ParsedConfiguration(document, error.problems)
    except DataError as error:
        return ParsedConfiguration(document, (not_there(document, ("trainer",), error),))
    problems = list(_assumed(document, configuration))
    training = configuration.training()
    trainer = trainer_of(training)
    located, misplaced = trainer.located(training, Path(document.file).parent)
    for steps, words in (*trainer.misnamed(training), *misplaced):
        problems.append(Problem(document.key_place(steps), *words))
    configuration.locate(located)
    return ParsedConfiguration(document, tuple(problems), None if problems else configuration)


def not_there(document: YamlDocument, steps: Steps, error: DataError) -> Problem:
    """A part of others that is not there, as a mistake at the place that names it."""
    mistake, _, rest = str(error).partition("\n  expected: ")
    expected, _, advice = rest.partition("\n  to do: ")
    return document.problem(steps, mistake, expected, advice)


def code_named(claim: YamlDocument) -> dict[str, str]:
    """Every `module:object` that a claim or its configurations name, and where the claim does."""
    named = [*_texts(claim, "use", "trainer"), *_texts(claim, "from", below="import")]
    for place, name in _texts(claim, "configuration"):
        path = _find(Path(claim.file), name)
        if isinstance(path, Path):
            with suppress(ShapeError):
                named += ((place, use) for _, use in _texts(read_document(path), "use", "trainer"))
    found: dict[str, str] = {}
    for place, use in sorted(named):
        if re.fullmatch(pattern(ObjectName), use):
            found.setdefault(use, str(place))
    return found


def _texts(document: YamlDocument, *keys: str, below: str = "") -> list[tuple[Place, str]]:
    """The texts that stand at one of the keys, ``below`` another, each with its place."""
    at = (steps for steps in document.places if steps and steps[-1] in keys)
    at = (steps for steps in at if not below or steps[-2:-1] == (below,))
    found = ((document.places[steps], document.get(*steps)) for steps in at)
    return [(place, text) for place, text in found if isinstance(text, str)]


def _assumed(document: YamlDocument, configuration: Configuration) -> Iterator[Problem]:
    """Reasons for values that do not exist."""
    values = configuration.training().model_dump(mode="json")
    paths = list(dotted(values))
    for path in configuration.assumed:
        if path not in paths:
            guess = closest(path, paths)
            advice = f"did you mean '{guess}'?" if guess else "remove it, or correct the path"
            mistake = f"the configuration has no value '{path}'"
            expected = "a dotted path, such as recipe.clip"
            yield document.problem(("assumed",), mistake, expected, advice, at=(path,), key=True)


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


def value_at(values: dict[str, Any], path: str) -> Any:
    """The value at a dotted path; None where there is none."""
    found: Any = values
    for step in path.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    return found


def _facts(
    name: str, sheet: ParsedConfiguration, overridden: tuple[str, ...], at: Place
) -> Facts | None:
    """What is trained where a configuration is named ``at`` a place; None for mistakes."""
    document, found = sheet.document, sheet.configuration
    if document is None or found is None:
        return None
    code = []
    for dotted_name, part in code_of(found.training()).items():
        place = document.place((*dotted_name.split("."), "use"))
        code.append(NamedCode(use=part.use, version=part.version, place=str(place), arm=str(at)))
    return Facts(
        configuration_id=name, configuration=found, overridden=overridden, code=tuple(code)
    )


def _near(claim: Path) -> Iterator[Path]:
    """Where the configurations of a claim may be: next to it, then above, up to its project.

    Outside a project, next to it alone: what lies above is anybody's.
    """
    beside = claim.parent
    yield beside / "configurations"
    here = resources.resolved(beside)
    whole = [here, *here.parents]
    marked = (any(os.path.lexists(folder / mark) for mark in PROJECT) for folder in whole)
    project = next((place for place, is_project in enumerate(marked) if is_project), 0)
    for folder in whole[1 : project + 1]:
        inside = not beside.is_absolute() and folder.is_relative_to(Path.cwd())
        yield (folder.relative_to(Path.cwd()) if inside else folder) / "configurations"


def _find(claim: Path, name: str) -> Path | list[Path]:
    """The file of a configuration, the nearest to the claim; or the folders where it is not.

    A link that leads elsewhere ends the search: what is meant lies there, and is not read.
    """
    folders = list(_near(claim))
    with suppress(DataError):
        folders.append(resources.claims() / "configurations")
    for folder in folders:
        path = folder / f"{name}.yaml"
        root = folder.parent.resolve() / "configurations"
        if resources.is_file(path):
            return path if path.resolve().is_relative_to(root) else folders
    return folders


def _not_found(claim: YamlDocument, steps: Steps, name: str, folders: list[Path]) -> Problem:
    if any(resources.is_file(folder / f"{name}.yaml") for folder in folders):
        mistake = f"configuration '{name}' is a link that leads elsewhere"
        advice = "put the file itself there"
        return claim.problem(steps, mistake, "a file below configurations/", advice)
    known = dict.fromkeys(
        path.relative_to(folder).with_suffix("").as_posix()
        for folder in folders
        for path in sorted(folder.glob("*/**/*.yaml"))
    )
    beside, *above = _near(Path(claim.file))
    others = [str(folder) for folder in above if resources.is_folder(folder)]
    places = " or ".join([*others, "the packaged configurations"])
    expected = f"a file {beside / name}.yaml, or one in {places}"
    mistake = f"there is no configuration '{name}'"
    return claim.problem(steps, mistake, expected, choose(name, known))


def overlap(path: str, changed: str) -> bool:
    """Whether two dotted paths are the same, or one leads to the other."""
    return path == changed or path.startswith(f"{changed}.") or changed.startswith(f"{path}.")
