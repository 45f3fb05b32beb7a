"""What the parts of paths say: arms, and fields beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repro.drafting.run_fields import Hints, named, refused
from repro.results.roles import Role, role_of

_WORD_BEFORE = re.compile(r"([A-Za-z]+)[-_=. ]*\{run\}")
_NUMBERED = re.compile(r"([A-Za-z_ -]*[A-Za-z])[-_=. ]*\d+")


NO_ARM: frozenset[Role | None] = frozenset({"item", "fold", "step", "task", "state"})
"""Parts of paths that are guessed to name no arm, by their names."""


@dataclass(frozen=True, slots=True)
class PathParts:
    """The arm of each form, and what its path says besides.

    ``number`` is what the number in the paths counts, where that is no seed.
    """

    arms: Sequence[str]
    fields: Sequence[Mapping[str, str]]
    words: str = "an arm per path"
    number: str = ""


def parts_of(
    path: Path, labels: Sequence[str], templates: Sequence[str], hints: Hints
) -> PathParts:
    """What paths say that differ in ``labels``, and have a number where ``templates`` have it.

    ClaimError where they differ in several parts and none is known to name the arm.
    """
    number = _number(templates, hints)
    split = [label.split("/") for label in labels]
    depths = {len(parts) for parts in split}
    if len(labels) < 2 or len(depths) > 1:
        return PathParts(labels, [{} for _ in labels], number=number)
    columns = {n: [parts[n] for parts in split] for n in range(depths.pop())}
    varying = [values for values in columns.values() if len(set(values)) > 1]
    names = [_name(values, place) for place, values in enumerate(varying, start=1)]
    settings = all(all("=" in value for value in values) for values in varying)
    roles = [role_of(name) for name in names]
    if len(set(names)) < len(names):
        names = [f"path{place}" for place in range(1, len(names) + 1)]
    others = [name for name, role in zip(names, roles, strict=True) if role not in NO_ARM]
    if not hints.arm and (settings or len(varying) == 1) and others == names:
        return PathParts(labels, [{} for _ in labels], number=number)
    sure = [name for name, role in zip(names, roles, strict=True) if role == "arm"]
    arm = hints.arm or next((found[0] for found in (sure, others) if len(found) == 1), "")
    if arm not in names:
        raise _ask(path, names, varying, hints)
    said = [dict(zip(names, values, strict=True)) for values in zip(*varying, strict=True)]
    return PathParts([each[arm] for each in said], said, f"arms by '{arm}' in the paths", number)


def _name(values: Sequence[str], place: int) -> str:
    """What a part of a path is called: `lr` of `lr=0.1`, `fold` of `fold_3`, else its place."""
    before = {value.partition("=")[0] for value in values if "=" in value}
    if len(before) == 1 and all("=" in value for value in values):
        return before.pop()
    words = {found[1] for value in values if (found := _NUMBERED.fullmatch(value))}
    if len(words) == 1 and all(map(_NUMBERED.fullmatch, values)) and role_of(min(words)):
        return words.pop()
    return f"path{place}"


def _number(templates: Sequence[str], hints: Hints) -> str:
    """What the number in paths counts, where a word before it says that it is no seed."""
    for template in templates:
        found = _WORD_BEFORE.search(template)
        role = role_of(found[1]) if found else None
        if (
            found
            and role in ("item", "fold", "step", "task")
            and hints.seed not in ("run", found[1])
        ):
            return found[1]
    return ""


def _ask(
    path: Path, names: Sequence[str], varying: Sequence[Sequence[str]], hints: Hints
) -> Exception:
    shown = "; ".join(
        f"'{name}' is {named(dict.fromkeys(values))}"
        for name, values in zip(names, varying, strict=True)
    )
    if hints.arm:
        mistake = f"there is no field '{hints.arm}', and the paths differ so: {shown}"
        return refused(path, mistake, ", ".join(names), f"name one, as in --arm {names[0]}")
    if len(names) == 1:
        mistake = f"no field tells the arms apart: {shown}, which names no arm"
        return refused(path, mistake, "paths that name the arm", f"--arm {names[0]}, if it does")
    mistake = f"the paths differ in {len(names)} parts: {shown}"
    advice = f"say what they are, as in --arm {names[0]} --task-field {names[1]}"
    return refused(path, mistake, "one part that names the arm", advice)
