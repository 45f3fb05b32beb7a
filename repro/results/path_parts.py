"""What the parts of paths say: arms, and fields beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from repro.errors import ClaimError
from repro.results.importer import FoundRun
from repro.results.roles import RUNS, Role, role_of
from repro.results.run_fields import Hints, named, refused

WHOLE = "path"
"""`--arm path`: all that differs in the paths is the arm."""

NO_ARM: frozenset[Role | None] = frozenset({"item", "fold", "step", "task", "state"})
"""Parts of paths that are guessed to name no arm, by their names."""

_RUN = re.compile(r"(?i)(seeds?[-_=. ]*)?\{(seed|run)\}")
_WORDS_BEFORE = re.compile(r"([A-Za-z_ -]*[A-Za-z])[-_=. ]*\{run\}(?![^/]*_\*)")
_NUMBERED = re.compile(r"([A-Za-z_ -]*[A-Za-z])[-_=. ]*(\d+)")
_NAMED = re.compile(r"([A-Za-z]+)[-_. ](.+)")
_YEAR = re.compile(r"(19|20)\d\d")
_ENDING = re.compile(r"\.[A-Za-z]+$")


@dataclass(frozen=True, slots=True)
class PathParts:
    """The arm of each form, and what its path says besides."""

    arms: Sequence[str]
    fields: Sequence[Mapping[str, str]]
    words: str = "an arm per path"


@dataclass(frozen=True, slots=True)
class PathPart:
    """What differs between paths in one place: its name, and the value in each path."""

    name: str
    values: Sequence[str]
    setting: bool = False

    @property
    def may_be_arm(self) -> bool:
        return role_of(self.name) not in NO_ARM


def parts_of(
    path: Path, labels: Sequence[str], templates: Sequence[str], hints: Hints
) -> PathParts:
    """What the paths ``templates`` say that differ in ``labels``.

    ClaimError where they differ in several parts and none is known to name the arm.
    """
    parts = _parts(templates)
    together = all(part.setting for part in parts) or len(parts) < 2
    arms_of_all = together and all(part.may_be_arm for part in parts)
    if hints.arm == WHOLE or (not hints.arm and arms_of_all):
        return PathParts(labels, [{} for _ in labels])
    arm = next((part for part in parts if part.name == hints.arm), None) or _arm(parts, hints)
    if arm is None:
        raise _unknown(path, parts, hints)
    said = [{part.name: part.values[n] for part in parts} for n in range(len(labels))]
    return PathParts(arm.values, said, f"arms by '{arm.name}' in the paths")


def _parts(templates: Sequence[str]) -> list[PathPart]:
    """Where the paths differ, besides the number of the run; none where they are of other forms."""
    split = [re.split(r"[/,]", _ENDING.sub("", _RUN.sub("", each))) for each in templates]
    if len({len(each) for each in split}) > 1:
        return []
    columns = [[each.strip("-_=. ") for each in column] for column in zip(*split, strict=True)]
    varying: list[list[str]] = []
    for column in columns:
        if len(set(column)) > 1 and not any(_repeats(column, before) for before in varying):
            varying.append(column)
    varying = _crossed(varying[0]) or varying if len(varying) == 1 else varying
    parts = [_part(column, place) for place, column in enumerate(varying, start=1)]
    if len({part.name for part in parts}) < len(parts):
        return [PathPart(f"path{n}", part.values) for n, part in enumerate(parts, start=1)]
    return parts


def _crossed(values: Sequence[str]) -> list[list[str]]:
    """The words of names that are all combinations of them, as `ppo-ant` and `sac-ant` may be."""
    for between in ("_", "-"):
        split = [value.split(between) for value in values]
        if len({len(words) for words in split}) > 1:
            continue
        columns = [list(each) for each in zip(*split, strict=True) if len(set(each)) > 1]
        if len(columns) > 1 and prod(len(set(each)) for each in columns) == len(set(values)):
            return columns
    return []


def _repeats(values: Sequence[str], before: Sequence[str]) -> bool:
    """Whether a part only says again what one before it says: `ppo/PPO_CartPole_0`."""
    same = len({*zip(values, before, strict=True)}) == len(set(before))
    pairs = zip(values, before, strict=True)
    return same and all(first and first.casefold() in value.casefold() for value, first in pairs)


def _part(values: Sequence[str], place: int) -> PathPart:
    """`lr` of `lr=0.1`, `fold` of `fold_3`; else it is called by its place."""
    pairs = [value.partition("=") for value in values]
    if all(equals for _, equals, _ in pairs) and len({key for key, _, _ in pairs}) == 1:
        return PathPart(pairs[0][0], [value for _, _, value in pairs], setting=True)
    for pattern in (_NUMBERED, _NAMED):
        found = [each for value in values if (each := pattern.fullmatch(value))]
        names = {each[1] for each in found}
        if len(found) == len(values) and len(names) == 1 and role_of(min(names)) in NO_ARM:
            return PathPart(names.pop(), [each[2] for each in found])
    return PathPart(f"path{place}", values)


def _arm(parts: Sequence[PathPart], hints: Hints) -> PathPart | None:
    """The only part that may name the arm, or that is named so."""
    able = [part for part in parts if part.may_be_arm and part.name not in hints.fields]
    sure = [part for part in able if role_of(part.name) == "arm"]
    return next((found[0] for found in (sure, able) if len(found) == 1 and not hints.arm), None)


def number_in_paths(templates: Sequence[str], hints: Hints) -> str:
    """What the number in paths counts, by the word before it; empty where that is a seed.

    A word that says nothing of it, such as `layer`, is what it counts if all paths have it: names
    of arms differ.
    """
    found = [each for each in map(_WORDS_BEFORE.search, templates) if each]
    if hints.seed == "run" or len(found) < len(templates) or not found:
        return ""
    split = [re.split(r"[ _-]", re.sub(r"[ _-][A-Za-z]$", "", each[1])) for each in found]
    names = ["_".join(split[0][place:]) for place in range(len(split[0]))]
    name = next((each for each in names if role_of(each) in NO_ARM), "")
    ends = all(re.fullmatch(r"(\.\w+|/.*)?", each.string[each.end() :]) for each in found)
    if name and (ends or role_of(name) != "task"):  # of Ray's PPO_env_00000_2026-01-01 it is none
        return name
    last = {words[-1] for words in split}
    word = min(last)
    known = role_of(word) is not None or word.casefold() in RUNS
    return "" if known or len(last) > 1 or not ends else word


def year_in_paths(runs: Sequence[FoundRun], hints: Hints) -> str:
    """`year`, where the number in all paths may be one: `mixup_2019.json`; else empty."""
    numbers = [str(run.fields.get("run", "")) for run in runs]
    years = all(_YEAR.fullmatch(number) for number in numbers)
    return "year" if numbers and years and hints.seed != "run" else ""


def _unknown(path: Path, parts: Sequence[PathPart], hints: Hints) -> ClaimError:
    shown = "; ".join(f"'{part.name}' is {named(dict.fromkeys(part.values))}" for part in parts)
    names = [part.name for part in parts]
    if hints.arm:
        mistake = f"there is no field '{hints.arm}', and the paths differ so: {shown or 'not'}"
        return refused(path, mistake, ", ".join((*names, WHOLE)), f"name one, or {WHOLE} for all")
    if len(parts) == 1:
        mistake = f"no field tells the arms apart: {shown}, which names no arm"
        return refused(path, mistake, "paths that name the arm", f"--arm {names[0]}, if it does")
    mistake = f"the paths differ in {len(parts)} parts: {shown}"
    advice = f"say what they are, as in --arm {names[0]} --task-field {names[1]}, or --arm {WHOLE} "
    return refused(path, mistake, "one part that names the arm", f"{advice}if they are all the arm")
