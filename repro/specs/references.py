"""Names in a claim file that lead nowhere, or to two things; looked up in the document itself.

Only words that are well formed are looked up: a malformed one is reported as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from repro.errors import Problem
from repro.specs.base import Name
from repro.specs.claim import SCALES
from repro.specs.shapes import listed, pattern
from repro.specs.wording import choose
from repro.specs.yaml import Document, Steps

_NAME = re.compile(pattern(Name))


def references(document: Document) -> Iterator[Problem]:
    """Every name that is used and not defined, or defined twice."""
    for steps in _entries(document, "expectations"):
        yield from _unknown(document, (*steps, "measurement"), "measurements")
        yield from _arms(document, (*steps, "of"))
        yield from _same_arm(document, (*steps, "of"))
    for steps in _entries(document, "canaries"):
        yield from _unknown(document, (*steps, "measurement"), "measurements")
        yield from _arms(document, (*steps, "arms"))
    for steps in _entries(document, "published"):
        yield from _unknown(document, (*steps, "expectation"), "expectations")
        yield from _unknown_keys(document, (*steps, "arms"), "arms")
    for scale in SCALES:
        for kind in ("arms", "measurements", "expectations"):
            yield from _unknown_keys(document, ("scales", scale, kind), kind)
    yield from _same_ids(document, "expectations")
    yield from _same_ids(document, "canaries")


def _entries(document: Document, key: str) -> list[Steps]:
    entries = document.get(key)
    return [(key, position) for position in range(len(entries))] if _is_list(entries) else []


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _known(document: Document, kind: str) -> list[str] | None:
    """The names that are defined; None when that cannot be said."""
    if kind == "expectations":
        names = [document.get(*steps, "id") for steps in _entries(document, kind)]
        return names if names and all(isinstance(name, str) for name in names) else None
    defined = document.get(kind)
    return list(defined) if isinstance(defined, dict) and defined else None


def _arms(document: Document, steps: Steps) -> Iterator[Problem]:
    named = document.get(*steps)
    for position in range(len(named) if isinstance(named, list) else 0):
        yield from _unknown(document, (*steps, position), "arms")


def _unknown(document: Document, steps: Steps, kind: str) -> Iterator[Problem]:
    """A problem when the value there is not among the names of this kind."""
    word, known = document.get(*steps), _known(document, kind)
    if known is None or not isinstance(word, str) or not _NAME.fullmatch(word) or word in known:
        return
    within = steps[:-1] if isinstance(steps[-1], int) else steps
    what = f"{document.name(within)}: there is no {kind[:-1]} '{word}'"
    yield Problem(document.place(steps), what, listed(known), choose(word, known))


def _unknown_keys(document: Document, steps: Steps, kind: str) -> Iterator[Problem]:
    """A problem for each key there that is not among the names of this kind."""
    named, known = document.get(*steps), _known(document, kind)
    for word in named if isinstance(named, dict) and known is not None else ():
        if known is not None and word not in known and _NAME.fullmatch(word):
            what = f"{document.name(steps)}: there is no {kind[:-1]} '{word}'"
            place = document.key_place((*steps, word))
            yield Problem(place, what, listed(known), choose(word, known))


def _same_arm(document: Document, steps: Steps) -> Iterator[Problem]:
    of = document.get(*steps)
    if isinstance(of, list) and len(of) == 2 and isinstance(of[0], str) and of[0] == of[1]:
        what = f"{document.name(steps)}: arm '{of[0]}' is compared with itself"
        yield Problem(document.place(steps), what, "two arms", "name the arm to compare it with")


def _same_ids(document: Document, key: str) -> Iterator[Problem]:
    first: dict[str, Steps] = {}
    for steps in _entries(document, key):
        here = (*steps, "id")
        name = document.get(*here)
        if isinstance(name, str) and name in first:
            line = document.place(first[name]).line
            what = f"{key}: '{name}' is the id of two, first on line {line}"
            yield Problem(document.place(here), what, "an id of its own", "rename one of the two")
        elif isinstance(name, str):
            first[name] = here
