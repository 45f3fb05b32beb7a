"""Names in a claim file that lead nowhere, or to two things; looked up in the document itself.

Only words that are well formed are looked up: a malformed one is reported as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from repro.errors import Problem
from repro.specs.base import Name
from repro.specs.claim import SCALES
from repro.specs.shapes import listed, pattern
from repro.specs.wording import choose
from repro.specs.yaml import Document, Steps

SEVERAL = ("association", "ordering", "trend")
"""Kinds of any number of arms."""

_NAME = re.compile(pattern(Name))


def references(document: Document) -> Iterator[Problem]:
    """Every name that is used and not defined, or defined twice."""
    for steps in _entries(document, "expectations"):
        for key in ("measurement", "against", "also", "clusters"):
            yield from _unknown_below(document, (*steps, key), "measurements")
        yield from _unknown_below(document, (*steps, "of"), "arms")
        yield from _same_arm(document, (*steps, "of"))
    for steps in _entries(document, "canaries"):
        yield from _unknown(document, (*steps, "measurement"), "measurements")
        yield from _unknown_below(document, (*steps, "arms"), "arms")
    for steps in _entries(document, "published"):
        yield from _unknown(document, (*steps, "expectation"), "expectations")
        yield from _unknown_keys(document, (*steps, "arms"), "arms")
    yield from _unknown_keys(document, ("planned_sd",), "measurements")
    for scale in SCALES:
        for kind in ("arms", "measurements", "expectations"):
            yield from _unknown_keys(document, ("scales", scale, kind), kind)
        yield from _unknown_keys(document, ("scales", scale, "planned_sd"), "measurements")
    yield from _printed(document)
    yield from _same_ids(document, "expectations")
    yield from _same_ids(document, "canaries")
    yield from _combined(document)


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


def _unknown_below(document: Document, steps: Steps, kind: str) -> Iterator[Problem]:
    """A problem for each text there, in a list or in lists of lists, that is no such name.

    The single word of ``clusters`` is a keyword.
    """
    named = document.get(*steps)
    for position in range(len(named) if _is_list(named) else 0):
        yield from _unknown_below(document, (*steps, position), kind)
    if isinstance(named, str) and steps[-1] != "clusters":
        yield from _unknown(document, steps, kind)


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


def _printed(document: Document) -> Iterator[Problem]:
    """Measurements of which an arm has printed numbers, and which the claim does not have."""
    for steps in ((), *(("scales", scale) for scale in SCALES)):
        arms = document.get(*steps, "arms")
        for name in arms if isinstance(arms, dict) else ():
            yield from _unknown_keys(document, (*steps, "arms", name, "published"), "measurements")


def _same_arm(document: Document, steps: Steps) -> Iterator[Problem]:
    """An arm that an expectation names twice; a pair that has not two arms is said to be none."""
    of, kind = document.get(*steps), document.get(*steps[:-1], "kind")
    words = [word for word in of if isinstance(word, str)] if _is_list(of) else []
    for word in dict.fromkeys(a for a, b in pairwise(sorted(words)) if a == b):
        if len(words) == 2:
            what, expected = f"arm '{word}' is compared with itself", "two arms"
            advice = "name the arm to compare it with"
        elif kind in SEVERAL:
            what, expected = f"arm '{word}' is named twice", "every arm once"
            advice = "remove one of the two, or name another arm"
        else:
            continue
        yield Problem(document.place(steps), f"{document.name(steps)}: {what}", expected, advice)


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


def _combined(document: Document) -> Iterator[Problem]:
    """The tree must join every decisive expectation, each once, and nothing else."""
    known = _known(document, "expectations")
    if document.get("combine") is None or known is None:
        return
    entries = _entries(document, "expectations")
    roles = {document.get(*steps, "id"): document.get(*steps, "role") for steps in entries}
    decisive = [name for name in known if roles[name] != "context"]
    used: set[str] = set()
    sound = _is_tree(document.get("combine"))
    for steps in _leaves(document, ("combine",)):
        word, where = document.get(*steps), f"{document.name(steps[:-1])}: "
        sound = sound and word in roles
        yield from _unknown(document, steps, "expectations")
        if roles.get(word) == "context":
            what = f"{where}'{word}' is shown as context, and decides nothing"
            advice = "remove it, or leave `role: context` out of it"
            yield Problem(document.place(steps), what, listed(decisive), advice)
        elif word in used:
            what, expected = f"{where}'{word}' is joined twice", "every decisive expectation once"
            yield Problem(document.place(steps), what, expected, "remove one of the two")
        used.add(word)
    for name in dict.fromkeys(decisive if sound else ()):
        if name not in used:
            what = f"combine: '{name}' decides, and the tree leaves it out"
            advice = f"add '{name}', or give it `role: context`"
            place = document.place(("combine",))
            yield Problem(place, what, "every decisive expectation once", advice)


def _is_tree(node: Any) -> bool:
    """Whether a part of the tree has the shape of one."""
    if isinstance(node, dict) and (set(node) == {"all"} or set(node) == {"any"}):
        (below,) = node.values()
        return _is_list(below) and all(_is_tree(each) for each in below)
    return isinstance(node, str)


def _leaves(document: Document, steps: Steps) -> Iterator[Steps]:
    """The steps to each text in the lists of a tree."""
    node = document.get(*steps)
    if isinstance(node, str) and isinstance(steps[-1], int):
        yield steps
    for key in ("all", "any") if isinstance(node, dict) else ():
        below = node.get(key)
        for position in range(len(below) if _is_list(below) else 0):
            yield from _leaves(document, (*steps, key, position))
