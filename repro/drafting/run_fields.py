"""Which field of a run says what: its arm, its seed, its task, and how it ended.

Everything that is guessed is said, and an option says it instead.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from repro.drafting.run_words import (
    ARMS,
    COUNTERS,
    SEEDS,
    STATE,
    last_part,
    named,
    refused,
)
from repro.errors import ClaimError
from repro.evidence.imports.importer import FoundRun
from repro.evidence.readings import DIVERGED, STATES, RunState, short, value_of
from repro.schema.messages import choose, listed

MOST_ARMS = 20
_WHOLE = re.compile(r"(0|[1-9][0-9]{0,14})(\.0+)?")


@dataclass(frozen=True, slots=True)
class Hints:
    """What is said of the results, in place of a guess: names of fields, a number, and a task."""

    arm: str = ""
    seed: str = ""
    measure: str = ""
    task: str = ""


def no_field(
    path: Path, name: str, known: Sequence[str], noun: str = "field", option: str = ""
) -> ClaimError:
    mistake = f"there is no {noun} '{name}'" + (f" to {option}" if option else "")
    return refused(path, mistake, ", ".join(known[:30]) or "none", choose(name, known))


def text_in(path: Path, run: FoundRun, key: str) -> str:
    """What stands in a field; ClaimError where the run has no such field."""
    if key not in run.fields:
        advice = "complete the row"
        raise refused(path, f"{run.place}: there is no '{key}'", "one in every row", advice)
    return str(run.fields[key]).strip()


# seeds


def seed_field(path: Path, runs: Sequence[FoundRun], hints: Hints) -> str:
    """The field of the seed, which every run has; empty where there is none."""
    known = [key for key in runs[0].fields if all(key in run.fields for run in runs)]
    if hints.seed:
        if hints.seed not in known:
            raise no_field(path, hints.seed, known)
        return hints.seed
    for name in (*SEEDS, "run"):
        for key in known:
            whole = all(_WHOLE.fullmatch(str(run.fields[key])) for run in runs)
            if whole and last_part(key) == name:
                return key
    return ""


def seed_of(path: Path, run: FoundRun, key: str) -> int:
    """The seed of a run; ClaimError where it is no whole number."""
    text = text_in(path, run, key)
    whole = _WHOLE.fullmatch(text)
    if whole is None:
        mistake = f"{run.place}: the seed '{text[:40]}' is no whole number"
        raise refused(path, mistake, "0, 1, 2 ...", "name the field of the seed: --seed FIELD")
    return int(whole[1])


# arms


def arm_field(path: Path, runs: Sequence[FoundRun], told: Collection[str], hints: Hints) -> str:
    """The field that tells the arms apart; empty where none does.

    ``told`` are the fields that say something else. ClaimError where several may, or where only
    numbers may, which may as well be results.
    """
    known = list(dict.fromkeys(key for run in runs for key in run.fields))
    if hints.arm:
        if hints.arm not in known:
            raise no_field(path, hints.arm, known)
        return hints.arm
    candidates = [key for key in known if key not in told and _splits(runs, key)]
    for name in ARMS:
        for key in candidates:
            if last_part(key) == name:
                return key
    texts = [key for key in candidates if not number_like(runs, key)]
    choice = texts or [key for key in candidates if "." in key]  # settings of a tracker
    numbers = [key for key in candidates if key != hints.measure and key.casefold() not in COUNTERS]
    if not choice and hints.measure:
        choice = numbers
    if len(choice) > 1:
        mistake = f"several fields may tell the arms apart: {named(choice)}"
        raise refused(path, mistake, "one", f"name it, as in --arm {choice[0]}")
    if not choice and numbers:
        mistake = f"no text tells the arms apart, but numbers may: {named(numbers)}"
        advice = f"name it, as in --arm {numbers[0]}; if each column is an arm, write a row per "
        advice += "value: arm,seed,measurement,value"
        raise refused(path, mistake, "a field that names the arm of each run", advice)
    return choice[0] if choice else ""


def _splits(runs: Sequence[FoundRun], key: str) -> bool:
    """Whether a field has a few values, each in several runs, and all runs have one."""
    counts: dict[str, int] = defaultdict(int)
    for run in runs:
        value = run.fields.get(key)
        if not isinstance(value, str | int | float | bool) or value == "":
            return False
        counts[str(value)] += 1
    return 2 <= len(counts) <= MOST_ARMS and min(counts.values()) >= 2


def number_like(runs: Sequence[FoundRun], key: str) -> bool:
    try:
        return all(isinstance(float(run.fields[key]), float) for run in runs)
    except (TypeError, ValueError):
        return False


# how runs ended


ENDS: dict[RunState, Literal["finished", "failed", "running"]] = {
    "finished": "finished",
    "diverged": "failed",
    "missing": "running",
}


def with_states(path: Path, runs: Sequence[FoundRun]) -> tuple[list[FoundRun], str]:
    """The runs as a field says that they ended, and the field; empty where none says so."""
    keys = dict.fromkeys(key for run in runs for key in run.fields)
    for key in (key for key in keys if key.casefold() in STATE):
        said = [str(run.fields.get(key, "finished")).strip().casefold() for run in runs]
        having = [each for run, each in zip(runs, said, strict=True) if key in run.fields]
        if not any(each in STATES for each in having):
            continue
        for run, each in zip(runs, said, strict=True):
            if each not in STATES:
                mistake = f"{run.place}: '{short(each)}' is no state of a run"
                raise refused(path, mistake, listed(tuple(STATES)), choose(each, tuple(STATES)))
        return [_ended(run, STATES[each]) for run, each in zip(runs, said, strict=True)], key
    return list(runs), ""


def with_cells(path: Path, runs: Sequence[FoundRun], key: str) -> list[FoundRun]:
    """The rows of a table as the cells of a number say that they ended.

    `diverged` is a divergence, and an empty cell no value. ClaimError for a cell that is neither
    these nor a number: it would count as a run without a value.
    """
    found = []
    for run in runs:
        value = run.fields.get(key)
        cell = "" if value is None else str(value).strip()
        if cell.casefold() == DIVERGED:
            found.append(_ended(run, "diverged"))
            continue
        if cell and not any(key in row for row in run.rows):
            told = value_of(cell, None)
            if not isinstance(told, float):
                mistake, expected, advice = told
                raise refused(path, f"{run.place}, column '{key}': {mistake}", expected, advice)
        found.append(run)
    return found


def _ended(run: FoundRun, state: RunState) -> FoundRun:
    return run if run.state != "finished" else replace(run, state=ENDS[state])
