"""Search files -> frozen searches, or every mistake in them at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from repro.errors import Place, Problem, RuleError, ShapeError
from repro.schema.base import ConfigurationId, Count, Name, Reason, SettingPath, Spec
from repro.schema.messages import MOST, shown, validated
from repro.schema.yaml import Steps, YamlDocument, read_document
from repro.specs.claim_files import other_sort
from repro.specs.configuration import (
    Configuration,
    Configurations,
    NamedCode,
    ParsedConfiguration,
    check,
    overlap,
    overlay,
)
from repro.trainers.trainer import Effort, trainer_of

Values = Annotated[tuple[Any, ...], Field(min_length=1, max_length=100)]
Grid = Annotated[dict[SettingPath, Values], Field(min_length=1)]


class Base(Spec):
    """What is tuned: a configuration, with what ``override`` changes in it key by key."""

    configuration: ConfigurationId
    override: dict[str, Any] = {}


class Budget(Spec):
    """The most that a search may spend: different settings, epochs of all runs, words read."""

    settings: Annotated[int, Field(ge=1, le=100_000)]
    epochs: Count | None = None
    tokens: Annotated[int, Field(ge=1, le=10**15)] | None = None


class Stage(Spec):
    """Settings that are tried together, each a change of the best setting of the stages before.

    ``grid`` maps the path of a value to those that are tried; mappings are laid over key by key.
    ``one_at_a_time``: that best setting itself, and each value of the grid alone; ``cross``: every
    combination. ``keep`` is how many values of each path the next stage takes as its grid where
    it has none: those with the lowest mean loss, a value's being that of the best setting of this
    stage that tried it.
    """

    id: Name
    design: Literal["one_at_a_time", "cross"]
    grid: Grid | None = None
    keep: Annotated[int, Field(ge=1, le=100)] | None = None


class SearchFile(Spec):
    """A search: a base, stages of settings around it, and what may be spent on them.

    A setting is trained with replicates 0 to ``seeds`` - 1 of ``root``, and ranked by the mean of
    their best validation losses; nothing is ever measured on the test split. Of equal ones the
    first as written is the better; one with a replicate that diverged is behind all that have
    none, and is never kept or chosen. The best of all stages is chosen.

    ``root`` is never 0, the root of claims: the chosen setting is partly the one that its seeds
    suited, so a claim that counted the same seeds would be biased in its favour. All settings
    share their random numbers, replicate by replicate, so that they differ in nothing else.
    """

    schema_version: Literal[1] = Field(alias="schema")
    search: Name
    title: Annotated[str, Field(min_length=8, max_length=200)]
    source: Reason
    base: Base
    seeds: Annotated[int, Field(ge=1, le=100)]
    root: Annotated[int, Field(ge=1, lt=2**32)]
    selected_on: Literal["valid"]
    budget: Budget
    stages: Annotated[tuple[Stage, ...], Field(min_length=1, max_length=5)]


Changes = Mapping[str, Any]
"""Path of a value -> what is laid over it."""


@dataclass(frozen=True, slots=True)
class Search:
    """A search that can be run: its file, and the configuration that it begins with.

    ``overridden`` are the dotted paths of what the file changes in that, ``code`` what it needs of
    others.
    """

    document: YamlDocument
    spec: SearchFile
    base: Configuration
    overridden: tuple[str, ...]
    code: tuple[NamedCode, ...] = ()

    def setting(self, changes: Sequence[Changes], stage: str) -> Configuration:
        """The base with these changes, in turn; RuleError where they do not fit together."""
        number = next(n for n, each in enumerate(self.spec.stages) if each.id == stage)
        sheet = changed(self.base, changes, self.document.place(("stages", number)))
        if sheet.configuration is None:
            words = "; ".join(f"{path} {shown(value)}" for path, value in changes[-1].items())
            head = f"setting {words}: "
            raise RuleError([replace(each, what=head + each.what) for each in sheet.problems])
        return sheet.configuration


def load_search(path: Path) -> Search:
    """The search of one file; SpecError with every mistake of its shape, or else of its rules."""
    document = read_document(path)
    if other := list(other_sort(document, "search")):
        raise ShapeError(other)
    spec = validated(document, SearchFile)
    named = spec.base
    found, wrong = Configurations().resolve(document, ("base",), named.configuration)
    problems = [*wrong, *_stages(document, spec)]
    base = None if found is None else found.configuration
    if base is not None and not problems:
        problems = [*_base(document, base)] or [*islice(_values(document, spec, base), MOST)]
    if found is None or base is None or problems:
        raise RuleError(list(dict.fromkeys(problems)))
    return Search(document, spec, base, found.overridden, found.code)


def changed(base: Configuration, changes: Sequence[Changes], place: Place) -> ParsedConfiguration:
    """A configuration with changes laid over it, checked; what is wrong is wrong at ``place``."""
    data = base.model_dump(mode="json", by_alias=True, exclude_none=True)
    document = YamlDocument(place.file, data, {(): place}, {})
    for each in changes:
        nested: dict[str, Any] = {}
        for path, value in each.items():
            *inside, last = path.split(".")
            holder = nested
            for step in inside:
                holder = holder.setdefault(step, {})
            holder[last] = value
        change = YamlDocument(place.file, {"change": nested}, {(): place}, {})
        document, _ = overlay(document, change, ("change",))
    return check(document)


def effort(configuration: Configuration) -> Effort | None:
    """What a run of a setting takes; None for what is not searched for."""
    training = configuration.training()
    return trainer_of(training).effort(training)


def _base(document: YamlDocument, base: Configuration) -> Iterator[Problem]:
    """Why nothing can be trained from this base."""
    training, steps = base.training(), ("base", "configuration")
    if effort(base) is None:
        mistake = f"this is {training.noun}, which is not searched for"
        yield document.problem(steps, mistake, "a language model", "name another configuration")
        return
    for words in trainer_of(training).mistakes(training, "of the base", "the base's override"):
        yield Problem(document.place(steps), *words)


def _stages(document: YamlDocument, spec: SearchFile) -> Iterator[Problem]:
    """Stages with the same name, without values to try, or with values that nobody takes."""
    names: set[str] = set()
    for number, stage in enumerate(spec.stages):
        steps, after = ("stages", number), spec.stages[number + 1 : number + 2]
        if stage.id in names:
            mistake, expected = "two stages have this id", "an id of its own"
            yield document.problem(steps, mistake, expected, "rename it", at=("id",))
        names.add(stage.id)
        if stage.grid is None and (number == 0 or spec.stages[number - 1].keep is None):
            mistake, expected = "it has no values to try", "a grid, or `keep` before it"
            advice = "add a grid here, or `keep: 2` to the stage before"
            yield document.problem(steps, mistake, expected, advice)
        if stage.keep is not None and not (after and after[0].grid is None):
            mistake = "no stage takes the values that are kept"
            expected = "a next stage without a grid"
            yield document.problem((*steps, "keep"), mistake, expected, "remove it", key=True)


def _values(document: YamlDocument, spec: SearchFile, base: Configuration) -> Iterator[Problem]:
    """Values that the base cannot have, that are there twice, or that change nothing."""
    for number, stage in enumerate(spec.stages):
        grid = stage.grid or {}
        steps: Steps = ("stages", number, "grid")
        for path, other in combinations(grid, 2):
            if overlap(path, other):
                mistake = f"'{other}' and '{path}' change the same values"
                expected, advice = "paths that are apart", "write them as mappings of one"
                yield document.problem(steps, mistake, expected, advice, at=(other,), key=True)
        for path, values in grid.items():
            tried: Steps = (*steps, path)
            for position, value in enumerate(values):
                if any(value == before for before in values[:position]):
                    mistake, advice = f"{shown(value)} is there twice", "remove one of the two"
                    at = (position,)
                    yield document.problem(tried, mistake, "every value once", advice, at=at)
                yield from _value(base, path, value, document.place((*tried, position)))


def _value(base: Configuration, path: str, value: Any, place: Place) -> Iterator[Problem]:
    """What is wrong with one value alone, at its place."""
    sheet = changed(base, [{path: value}], place)
    yield from sheet.problems
    if sheet.configuration is None:
        return
    training = sheet.configuration.training()
    for words in trainer_of(training).mistakes(training, "of the setting", "the grid"):
        yield Problem(place, *words)
    first, now = effort(base), effort(sheet.configuration)
    for setting, before in first.ranked_by.items() if first and now else ():
        if now is not None and now.ranked_by.get(setting) != before:
            mistake = f"{setting}: it is part of the measurement that settings are ranked by"
            advice = "remove it; change it in the base"
            yield Problem(place, mistake, "the same for all settings", advice)
    for idle in trainer_of(training).idle(training):
        if overlap(idle.setting, path):
            mistake = f"{idle.setting}: {shown(value)} has no effect: {idle.why}"
            yield Problem(place, mistake, "only values that have an effect", "leave it out")
