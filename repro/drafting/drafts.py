"""From results to the claims that they stand for: every other arm is better than the baseline."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from repro.drafting.claim_text import Better, Draft, claim_text, name_of
from repro.drafting.forms import refused
from repro.drafting.found_results import FoundResults, FoundValue, several_of
from repro.errors import OutputError, Place, Problem, SpecError
from repro.evidence.csv_table import COLUMNS
from repro.evidence.readings import DIVERGED
from repro.schema.messages import choose
from repro.schema.numbers import number_of

BASELINES = ("baseline", "control", "plain", "vanilla", "default", "reference", "base", "none")
"""Words in the name of the arm that others are compared with, the surest first."""

LABEL = 40
LEAST_SEEDS = 3
"""No fewer per arm are accepted for a difference of means."""

MARK = "# unedited: "


@dataclass(frozen=True, slots=True)
class DraftOptions:
    """What is asked of the results; ``why`` is the reason of a margin, ``ask`` leaves it open."""

    better: Better
    by: float | None = None
    why: str = ""
    baseline: str = ""
    own: str = ""
    head: Sequence[str] = ()
    ask: bool = False


@dataclass(slots=True)
class Drafts:
    """Claims by the name of their file, the table that they read if it has to be written."""

    claims: dict[str, str] = field(default_factory=dict)
    table: tuple[str, str] | None = None
    said: list[str] = field(default_factory=list)


def drafts_of(results: FoundResults, asked: DraftOptions) -> Drafts:
    """A claim for each arm but the baseline; ClaimError where nothing can be compared."""
    _comparable(results, asked)
    baseline, said = _baseline(results, asked.baseline)
    names: dict[str, str] = {}
    for label in results.runs:
        names[label] = name_of(label, names.values())
    measurement = name_of(results.measure, before="value")
    direct = bool(results.imports) or (
        results.table != "" and measurement == results.measure and _named_alike(names)
    )
    drafts = Drafts(said=[*results.said, said])
    copy = f"{name_of(results.path.resolve().stem, before='results')}_as_compared.csv"
    if not direct:
        drafts.table = (copy, _tidy_text(results, names, measurement))
        drafts.said.append(f"the values are copied to {copy}, which the claim reads")
    others = [label for label in results.runs if label != baseline]
    ids = {label: f"{names[label]}_vs_{names[baseline]}"[:64] for label in others}
    for label in others:
        pair = {label: names[label], baseline: names[baseline]}
        draft = Draft(
            id=ids[label],
            title=f"{label} has a {asked.better} {results.measure} than {baseline}"[:200],
            own=asked.own,
            head=asked.head,
            labels={name: label[:LABEL] for label, name in pair.items()},
            arms={
                name: {"import": results.imports[label]}
                if results.imports
                else {"table": results.table if direct else copy}
                for label, name in pair.items()
            },
            compared=(names[label], names[baseline]),
            seeds=_seeds(results, pair, asked),
            measurement=measurement,
            reported=_reported(results, asked),
            better=asked.better,
            smallest=None if asked.by is None else (asked.by, asked.why),
            ask=asked.ask,
            family=[*ids.values()] if len(others) > 1 else (),
        )
        drafts.claims[f"{ids[label]}.claim.yaml"] = claim_text(draft)
    return drafts


def _named_alike(names: Mapping[str, str]) -> bool:
    return all(label == name for label, name in names.items())


def _comparable(results: FoundResults, asked: DraftOptions) -> None:
    """At least two arms, and no seed twice in one."""
    path, arms = results.path, list(results.runs)
    if len(arms) < 2:
        there = f"one arm is in it, '{arms[0]}'" if arms else "no arm is in it"
        raise refused(
            path, there, "two arms or more", "name the field that tells them apart: --arm"
        )
    few = [arm for arm, runs in results.runs.items() if len(runs) < LEAST_SEEDS]
    if few and not asked.ask:
        some = len(results.runs[few[0]])
        mistake = f"arm '{few[0]}' has {number_of(some, 'seed')}, which cannot decide"
        expected = f"at least {LEAST_SEEDS} seeds per arm"
        raise refused(path, mistake, expected, "run more seeds, or name the arms: --arm FIELD")
    if twice := several_of(results.runs):
        mistake = f"arm '{twice[0]}' has two runs with one seed"
        advice = "name the field of the seed, --seed FIELD, or leave out runs that were repeated"
        raise refused(path, mistake, "one run for each seed", advice)


def _baseline(results: FoundResults, asked: str) -> tuple[str, str]:
    """The arm that others are compared with, and what is said of the choice."""
    arms = list(results.runs)
    if asked:
        if asked not in arms:
            expected = ", ".join(arms)
            raise refused(results.path, f"there is no arm '{asked}'", expected, choose(asked, arms))
        return asked, f"compared with '{asked}'"
    for word in BASELINES:
        for arm in arms:
            if word in arm.casefold():
                return arm, f"compared with '{arm}', by its name (else: --baseline)"
    return arms[0], f"compared with '{arms[0]}', which comes first (else: --baseline)"


def _seeds(results: FoundResults, labels: Mapping[str, str], asked: DraftOptions) -> dict[str, int]:
    """As many as both arms have, those that are lost included."""
    count = min(len(results.runs[label]) for label in labels)
    count = max(count, LEAST_SEEDS) if asked.ask else count
    return {"min": count, "plan": count}


def _reported(results: FoundResults, asked: DraftOptions) -> dict[str, str]:
    reported = {"from": results.measure} if results.imports else {}
    reported |= {"reduce": results.reduce} if results.reduce and results.imports else {}
    return {**reported, "label": results.measure[:80], "better": asked.better}


def _tidy_text(results: FoundResults, names: Mapping[str, str], measurement: str) -> str:
    """The values as a tidy table: every bit of them, and what was lost."""
    lines = [",".join(COLUMNS)]
    for label, runs in results.runs.items():
        lines += (f"{names[label]},{run.seed},{measurement},{_cell(run)}" for run in runs)
    return "\n".join(lines) + "\n"


def _cell(run: FoundValue) -> str:
    return DIVERGED if run.value is None else repr(run.value)


def marked(text: str) -> str:
    """The text with a last line by which it is known that nobody has edited it."""
    return f"{text}{MARK}{hashlib.sha256(text.encode()).hexdigest()[:16]}\n"


def write(file: Path, text: str, *, mine: bool = False) -> None:
    """Write a file, in place of nothing but one that was written so and not edited.

    ``mine``: whatever is there is replaced. SpecError for another file there, OutputError where
    nothing can be written.
    """
    try:
        if not mine and file.exists() and not _unedited(file.read_text(encoding="utf-8")):
            mistake, advice = "this file is there already", "name another place, or move it away"
            raise SpecError(
                [Problem(Place(str(file)), mistake, "no file, or one unedited", advice)]
            )
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(file, error) from None


def _unedited(text: str) -> bool:
    before, mark, _ = text.rpartition(MARK)
    return bool(mark) and marked(before) == text
