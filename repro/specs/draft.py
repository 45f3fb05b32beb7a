"""A claim at one scale, as far as its file can be read: what meaning is checked on.

A mistake in one part of a file must not hide those in the others. So each part is read by
itself, and one that cannot be read is present without a value: its mistakes are reported where
the file is validated as a whole, and nothing more is said about it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, reduce
from operator import getitem
from typing import Any, Generic, TypeVar, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from repro.errors import Problem
from repro.specs.arm import Arm, ArmSpec
from repro.specs.claim import SCALES, Canary, ClaimFile, Comparable, Design, ScaleName
from repro.specs.configurations import Configurations
from repro.specs.expectation import (
    Difference,
    Expectation,
    ExpectationOverride,
    Family,
    Ratio,
    Separation,
    Trend,
)
from repro.specs.measurement import Measurement
from repro.specs.resolve import resolve
from repro.specs.seeds import Seeds, Sequential
from repro.specs.shapes import bare, listed
from repro.specs.sizes import LeastRatio
from repro.specs.wording import choose, unknown_keys
from repro.specs.yaml import Document, Steps

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Part(Generic[T]):
    """A part of a claim and where it is written; no value if it cannot be read."""

    steps: Steps
    value: T | None

    def read(self) -> T:
        """The value of a part in a file without mistakes."""
        if self.value is None:
            raise AssertionError(f"{self.steps} was not read, and no problem was reported")
        return self.value


@dataclass(frozen=True, slots=True)
class Draft:
    """A claim at one scale: each part where it is written, after the scale's changes."""

    document: Document
    scale: ScaleName
    alpha: float
    design: Design | None
    seeds: Part[Seeds]
    arms: dict[str, Part[Arm]]
    comparable: Part[Comparable]
    measurements: dict[str, Part[Measurement]]
    expectations: tuple[Part[Expectation], ...]
    canaries: tuple[Part[Canary], ...]
    family: Part[Family]
    sequential: Part[Sequential]

    def readable(self) -> Iterator[tuple[Steps, Expectation]]:
        """The expectations that could be read, and where each is written."""
        for part in self.expectations:
            if part.value is not None:
                yield part.steps, part.value

    def decisive(self) -> Iterator[tuple[Steps, Expectation]]:
        """As ``readable``, of those that decide the verdict."""
        return ((steps, one) for steps, one in self.readable() if one.role == "decisive")

    def arm(self, name: str) -> Arm | None:
        """An arm by its name, if it exists and could be read."""
        part = self.arms.get(name)
        return None if part is None else part.value

    def size_steps(self, steps: Steps, one: Expectation, key: str) -> Steps:
        """Where a size of an expectation is written: at the scale, if the scale changes it."""
        changed: Steps = ("scales", self.scale, "expectations", one.id, key)
        return (*steps, key) if self.document.get(*changed) is None else changed

    def problem(self, steps: Steps, what: str, expected: str, advice: str) -> Problem:
        """A problem of what is written at ``steps``."""
        within = steps[:-1] if isinstance(steps[-1], int) and len(steps) > 2 else steps
        name = self.document.name(within)
        return Problem(self.document.place(steps), f"{name}: {what}", expected, advice)


def declared(document: Document) -> tuple[ScaleName, ...]:
    """The scales that a file has; the paper's, which the top level is, when it has none."""
    named = tuple(scale for scale in SCALES if document.get("scales", scale) is not None)
    return named or ("paper",)


def draft_claim(
    document: Document, scale: ScaleName, configurations: Configurations
) -> tuple[Draft, list[Problem]]:
    """The claim at a scale, and what is wrong with its configurations and overrides."""
    problems: list[Problem] = []
    arms: dict[str, Part[Arm]] = {}
    for name, part in _parts(document, "arms", scale, ArmSpec).items():
        arms[name] = Part(part.steps, None)
        if part.value is not None:
            arm, wrong = resolve(document, part.steps, part.value, configurations)
            arms[name] = Part(part.steps, arm)
            problems += wrong
    design = _design(document, scale)
    expectations = []
    for base in _entries(document, "expectations", Expectation):
        expectation, found = _override(document, scale, base)
        expectations.append(_following(expectation, design))
        problems += found
    seeds: Steps = ("scales", scale, "seeds")
    alpha = salvage(float, document.data.get("alpha"))
    draft = Draft(
        document=document,
        scale=scale,
        alpha=ClaimFile.model_fields["alpha"].default if alpha is None else alpha,
        design=design,
        seeds=_part(document, seeds if document.get(*seeds) else ("seeds",), Seeds),
        arms=arms,
        comparable=_part(document, ("comparable",), Comparable),
        measurements=_parts(document, "measurements", scale, Measurement),
        expectations=tuple(expectations),
        canaries=tuple(_entries(document, "canaries", Canary)),
        family=_part(document, ("family",), Family),
        sequential=_part(document, ("sequential",), Sequential),
    )
    return draft, problems


def salvage(wanted: Any, data: Any) -> Any:
    """The value of a part, without its unknown keys; None when it cannot be read."""
    adapter = _adapter(wanted)
    copy = json.loads(json.dumps(data))
    while True:
        try:
            return adapter.validate_json(json.dumps(copy), strict=True)
        except ValidationError as error:
            unknown = unknown_keys(error, wanted)
            if not unknown:
                return None
            for steps in unknown:
                mapping = reduce(getitem, steps[:-1], copy)
                del mapping[steps[-1]]


@cache
def _adapter(wanted: Any) -> TypeAdapter[Any]:
    return TypeAdapter(wanted)


def _part(document: Document, steps: Steps, wanted: Any) -> Part[Any]:
    sound = document.sound(steps)
    return Part(steps, salvage(wanted, document.get(*steps)) if sound else None)


def _entries(document: Document, key: str, wanted: Any) -> Iterator[Part[Any]]:
    entries = document.get(key)
    for position in range(len(entries) if isinstance(entries, list) else 0):
        yield _part(document, (key, position), wanted)


def _parts(document: Document, key: str, scale: ScaleName, wanted: Any) -> dict[str, Part[Any]]:
    """Named parts, each from the scale where it replaces it, or else from the top level."""
    base, changes = document.get(key), document.get("scales", scale, key)
    changed = changes if isinstance(changes, dict) else {}
    return {
        name: _part(
            document, ("scales", scale, key, name) if name in changed else (key, name), wanted
        )
        for name in (base if isinstance(base, dict) else {})
    }


def _override(
    document: Document, scale: ScaleName, base: Part[Expectation]
) -> tuple[Part[Expectation], list[Problem]]:
    """An expectation with the sizes that the scale gives it."""
    name = document.get(*base.steps, "id")
    steps = ("scales", scale, "expectations", name)
    if not isinstance(name, str) or document.get(*steps) is None:
        return base, []
    override = _part(document, steps, ExpectationOverride).value
    if base.value is None or override is None:
        return Part(base.steps, None), []
    allowed, problems = _sizes(type(base.value)), []
    for key in sorted(override.model_fields_set):
        if key not in allowed:
            what = f"{document.name(steps)}: kind '{base.value.kind}' has no '{key}' to override"
            advice = choose(key, allowed) if allowed else "remove it"
            expected = listed(allowed) if allowed else "no key"
            place = document.key_place((*steps, key))
            problems.append(Problem(place, what, expected, advice))
        elif getattr(override, key) is None and not _may_be_left_out(type(base.value), key):
            what = f"{document.name((*steps, key))}: an expectation needs this"
            advice = "write a value, or remove the line"
            place = document.place((*steps, key))
            words = {"test": "the name of a test", "role": "decisive or context"}
            problems.append(Problem(place, what, words.get(key, "a mapping"), advice))
    ratio = _not_a_ratio(document, steps, base.value, override)
    if problems or ratio:
        return base, [*problems, *ratio]
    update = {key: getattr(override, key) for key in override.model_fields_set}
    if isinstance(base.value, Ratio | Separation) and override.at_least is not None:
        update["at_least"] = LeastRatio(**dict(override.at_least))
    return Part(base.steps, base.value.model_copy(update=update)), []


def _may_be_left_out(kind: type[BaseModel], key: str) -> bool:
    return type(None) in get_args(kind.model_fields[key].annotation)


def _design(document: Document, scale: ScaleName) -> Design | None:
    """The design at a scale: its own, or else that of the file."""
    here: Steps = ("scales", scale, "design")
    part: Part[Design] = _part(document, here if document.get(*here) else ("design",), Design)
    return part.value


def _following(part: Part[Expectation], design: Design | None) -> Part[Expectation]:
    """A difference or trend that names no test, with the test of the design."""
    one = part.value
    follows = isinstance(one, Difference | Trend) and "test" not in one.model_fields_set
    if one is not None and follows and design == "paired":
        return Part(part.steps, one.model_copy(update={"test": "paired"}))
    return part


def _not_a_ratio(
    document: Document, steps: Steps, base: Expectation, override: ExpectationOverride
) -> list[Problem]:
    """That a scale gives a ratio a limit that no least ratio can have."""
    limit = override.at_least
    if not isinstance(base, Ratio | Separation) or limit is None:
        return []
    if not isinstance(limit.value, str) and limit.value >= 1:
        return []
    value = (*steps, "at_least", "value")
    what = f"{document.name(value)}: {limit.value} is no least ratio"
    return [Problem(document.place(value), what, "a number of at least 1", "write how many times")]


def _sizes(kind: type[BaseModel]) -> list[str]:
    """What a scale may change of this kind: the keys that both have, with the same type.

    ``at_least`` is a limit here, of which that of a ratio is one.
    """
    fields = kind.model_fields
    return [
        key
        for key, field in ExpectationOverride.model_fields.items()
        if key in fields
        and (key == "at_least" or bare(fields[key].annotation) == bare(field.annotation))
    ]
