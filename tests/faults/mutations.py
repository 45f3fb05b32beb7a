"""JSON documents of another shape: one place replaced, removed, cut or repeated."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Sequence
from typing import Any

Steps = tuple[str | int, ...]

HOSTILE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 0.5, -0.0, 1e-320, 1e16, 1e60, 1e308, -1e308),
    *(2**53 + 1, 2**64, 10**30, 10**400, "", "x", "1", "nan", "<b>", "\x1b[2J", "a" * 5000),
    *([], {}, [[]], [0], ["x"], [1e308, 1e308], {"a": 1}, {"expected": 1}),
)
"""What stands where something else is expected."""


def places(document: Any, steps: Steps = ()) -> Iterator[Steps]:
    """The steps to everything inside a document."""
    inside = document.items() if isinstance(document, dict) else ()
    for key, value in enumerate(document) if isinstance(document, list) else inside:
        yield (*steps, key)
        yield from places(value, (*steps, key))


NAMING = {"expectations", "arms", "measurements", "canaries", "published", "planned_sd", "combine"}


def misspelt(document: Any, kind: str) -> Iterator[Any]:
    """Copies of a claim, each with one short text or key misspelt: those of one kind, and names."""
    for steps in places(document):
        *before, last = steps
        value = at(document, steps)
        entry = at(document, steps[:2])
        other = steps[0] == "expectations" and isinstance(entry, dict) and entry["kind"] != kind
        if steps[0] not in NAMING or other:
            continue
        if isinstance(value, str) and 2 < len(value) < 40:
            changed = copy.deepcopy(document)
            at(changed, before)[last] = value[:1] + value[2:]
            yield changed
        if isinstance(last, str) and len(last) > 2:
            changed = copy.deepcopy(document)
            holder = at(changed, before)
            holder[last[:1] + last[2:]] = holder.pop(last)
            yield changed


def at(document: Any, steps: Sequence[str | int]) -> Any:
    """What is at some steps."""
    for step in steps:
        document = document[step]
    return document


def mutated(document: Any, chance: random.Random, inside: Steps = ()) -> Any:
    """A copy of a document with one place below ``inside`` changed."""
    whole = copy.deepcopy(document)
    root = whole
    for step in inside:
        root = root[step]
    *before, last = chance.choice(list(places(root)))
    holder = root
    for step in before:
        holder = holder[step]
    value = holder[last]
    way = chance.randrange(8)
    if way == 0:
        del holder[last]
    elif way == 1 and isinstance(value, list):
        holder[last] = value[: len(value) // 2] if chance.random() < 0.5 else value * 2
    elif way == 2 and isinstance(value, int | float) and not isinstance(value, bool):
        holder[last] = chance.choice((-value, value * 10, value + 0.5, value * 1e12))
    else:
        holder[last] = chance.choice(HOSTILE)
    return whole
