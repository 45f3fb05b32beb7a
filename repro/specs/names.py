"""Names in a claim file that lead nowhere, or to two things."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from repro.errors import Problem
from repro.expectations.kinds import Expectation, kind_of
from repro.schema.messages import choose, listed
from repro.schema.yaml import Steps, YamlDocument
from repro.specs.claim import ClaimFile, Scale
from repro.specs.tree import All, Node, Tree
from repro.trainers.derived import DerivedMeasurement
from repro.trainers.measurement import MeasurementSpec


def references(document: YamlDocument, file: ClaimFile) -> Iterator[Problem]:
    """Every name that is used and not defined, or defined twice."""
    known = {
        "arm": list(file.arms),
        "measurement": list(file.measurements),
        "expectation": [expectation.id for expectation in file.expectations],
    }
    names = _Names(document, known)
    for position, expectation in enumerate(file.expectations):
        steps: Steps = ("expectations", position)
        for key, named in expectation.names().items():
            yield from names.unknown("measurement", (*steps, key), named)
        yield from names.unknown("arm", (*steps, "of"), expectation.of)
        yield from _same_arm(document, (*steps, "of"), expectation)
    for position, control in enumerate(file.canaries):
        steps = ("canaries", position)
        yield from names.unknown("measurement", (*steps, "measurement"), control.measurement)
        yield from names.unknown("arm", (*steps, "arms"), control.named)
    for position, published in enumerate(file.published):
        steps = ("published", position)
        yield from names.unknown("expectation", (*steps, "expectation"), published.expectation)
        yield from names.unknown_keys("arm", (*steps, "arms"), published.arms)
    yield from _of_level(names, (), file)
    yield from _made_of(names, (), file.measurements)
    for scale in file.declared:
        changes = file.changes(scale)
        yield from _of_level(names, ("scales", scale), changes)
        yield from _made_of(names, ("scales", scale), changes.measurements)
    yield from _same_ids(document, "expectations", names.known["expectation"])
    yield from _same_ids(document, "canaries", [control.id for control in file.canaries])
    if file.combine is not None:
        yield from _combined(names, file.expectations, file.combine)


def _of_level(names: _Names, steps: Steps, part: ClaimFile | Scale) -> Iterator[Problem]:
    yield from names.unknown_keys("measurement", (*steps, "planned_sd"), part.planned_sd)
    for name, arm in part.arms.items():
        printed = (*steps, "arms", name, "published")
        yield from names.unknown_keys("measurement", printed, arm.source.printed or ())
    for name, measurement in part.measurements.items():
        for key, arms in measurement.named_arms.items():
            yield from names.unknown_keys("arm", (*steps, "measurements", name, key), arms)
    if isinstance(part, Scale):
        for kind in names.known:
            key = f"{kind}s"
            yield from names.unknown_keys(kind, (*steps, key), getattr(part, key))


def _made_of(
    names: _Names, steps: Steps, measurements: Mapping[str, MeasurementSpec]
) -> Iterator[Problem]:
    """A measurement is made of those that the file declares above it, so never of itself."""
    declared = names.known["measurement"]
    for name, each in measurements.items():
        if not isinstance(each, DerivedMeasurement) or name not in declared:
            continue
        whole: Steps = (*steps, "measurements", name, each.way)
        above = declared[: declared.index(name)]
        for position, part in enumerate(each.made_of):
            yield from names.unknown("measurement", (*whole, position), part)
            if part in declared and part not in above:
                mistake = f"'{name}' is made of '{part}', which is not declared above it"
                expected = listed(above) if above else "a measurement above it"
                advice = "name another" if part == name else f"move '{part}' above '{name}'"
                yield names.document.problem(whole, mistake, expected, advice, at=(position,))


@dataclass(frozen=True, slots=True)
class _Names:
    """The names that a file defines, by what they are of."""

    document: YamlDocument
    known: dict[str, list[str]]

    def unknown(self, kind: str, steps: Steps, named: Any) -> Iterator[Problem]:
        """A problem for each text there, in a list or in lists of lists, that is no such name."""
        if isinstance(named, tuple):
            for position, each in enumerate(named):
                yield from self.unknown(kind, (*steps, position), each)
        elif isinstance(named, str) and named not in self.known[kind]:
            end = len(steps) - isinstance(steps[-1], int)
            yield self._unknown(kind, named, steps[:end], at=steps[end:])

    def unknown_keys(self, kind: str, steps: Steps, keys: Iterable[str]) -> Iterator[Problem]:
        """A problem for each key there that is no such name."""
        for key in keys:
            if key not in self.known[kind]:
                yield self._unknown(kind, key, steps, at=(key,), key=True)

    def _unknown(
        self, kind: str, name: str, steps: Steps, *, at: Steps, key: bool = False
    ) -> Problem:
        known, mistake = self.known[kind], f"there is no {kind} '{name}'"
        expected, advice = listed(known), choose(name, known)
        return self.document.problem(steps, mistake, expected, advice, at=at, key=key)


def _same_arm(document: YamlDocument, steps: Steps, expectation: Expectation) -> Iterator[Problem]:
    """An arm that an expectation names twice."""
    arms = expectation.of
    for name in dict.fromkeys(a for a, b in pairwise(sorted(arms)) if a == b):
        if len(arms) == 2:
            mistake, expected = f"arm '{name}' is compared with itself", "two arms"
            advice = "name the arm to compare it with"
        elif kind_of(expectation).several_arms:
            mistake, expected = f"arm '{name}' is named twice", "every arm once"
            advice = "remove one of the two, or name another arm"
        else:
            continue
        yield document.problem(steps, mistake, expected, advice)


def _same_ids(document: YamlDocument, key: str, ids: Iterable[str]) -> Iterator[Problem]:
    first: dict[str, Steps] = {}
    for position, name in enumerate(ids):
        steps: Steps = (key, position, "id")
        if name in first:
            mistake = f"'{name}' is the id of two, first on line {document.place(first[name]).line}"
            expected, advice = "an id of its own", "rename one of the two"
            yield document.problem((key,), mistake, expected, advice, at=steps[1:])
        first.setdefault(name, steps)


def _combined(
    names: _Names, expectations: tuple[Expectation, ...], tree: Tree
) -> Iterator[Problem]:
    """The tree must join every decisive expectation, each once, and nothing else."""
    document = names.document
    roles = {expectation.id: expectation.role for expectation in expectations}
    decisive = [name for name, role in roles.items() if role == "decisive"]
    used: set[str] = set()
    once = "every decisive expectation once"
    for steps, name in _leaves(("combine",), tree):
        branch, at = steps[:-1], steps[-1:]
        yield from names.unknown("expectation", steps, name)
        if roles.get(name) == "context":
            mistake = f"'{name}' is shown as context, and decides nothing"
            advice = "remove it, or leave `role: context` out of it"
            yield document.problem(branch, mistake, listed(decisive), advice, at=at)
        elif name in used:
            mistake, advice = f"'{name}' is joined twice", "remove one of the two"
            yield document.problem(branch, mistake, once, advice, at=at)
        used.add(name)
    for name in dict.fromkeys(decisive if used <= roles.keys() else ()):
        if name not in used:
            mistake = f"'{name}' decides, and the tree leaves it out"
            advice = f"add '{name}', or give it `role: context`"
            yield document.problem(("combine",), mistake, once, advice)


def _leaves(steps: Steps, node: Node) -> Iterator[tuple[Steps, str]]:
    """Each expectation that a tree joins, and where it is named."""
    if isinstance(node, str):
        yield steps, node
        return
    key, below = ("all", node.all) if isinstance(node, All) else ("any", node.any)
    for position, each in enumerate(below):
        yield from _leaves((*steps, key, position), each)
