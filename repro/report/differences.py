"""Two reports -> what differs between them: verdict, numbers, evidence, claim, versions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from repro.judging.document import ArmPart, Document
from repro.judging.history import entry_of
from repro.registry.verdicts import KeptNumber, VerdictEntry, changes, same_number
from repro.report.flips import shown_number

Subject = Literal["verdict", "numbers", "evidence", "claim", "versions", "other"]

MOST = 10
"""So many values of an arm that differ are listed."""

TOLD = {"schema_version", "claim", "verdict", "results", "arms", "provenance"}
"""The parts of a document of which each difference is told."""


@dataclass(frozen=True, slots=True)
class ReportDifference:
    """What differs, and how: in the first report, in the second."""

    subject: Subject
    text: str


def differences(first: Document, second: Document) -> list[ReportDifference]:
    """All that differs, but for when and where; none where two reports say the same."""
    before, now = entry_of(first, {}), entry_of(second, {})
    found = [
        *(ReportDifference("verdict", text) for text in _verdict(first, second)),
        *(ReportDifference("numbers", text) for text in _numbers(before, now)),
        *(
            ReportDifference("evidence", each.text)
            for each in changes(before, now)
            if each.kind in ("runs", "input", "family")
        ),
        *(ReportDifference("evidence", text) for text in _values(first, second)),
        *(ReportDifference("claim", text) for text in _claim(first, second)),
        *(ReportDifference("versions", text) for text in _versions(before, now)),
    ]
    names = (name for name in Document.model_fields if name not in TOLD)
    quiet = [] if found else sorted(TOLD - {"provenance"})
    differing = (name for name in (*names, *quiet) if getattr(first, name) != getattr(second, name))
    more = ", ".join(differing)
    return [*found, ReportDifference("other", more)] if more else found


def _verdict(first: Document, second: Document) -> Iterator[str]:
    one, other = first.verdict, second.verdict
    for name in ("validity", "validity_reason", "conclusion", "agreement", "expected"):
        was, now = getattr(one, name) or "none", getattr(other, name) or "none"
        if was != now:
            yield f"{name} {was} -> {now}"
    flags, others = ({each.kind for each in part.flags} for part in (one, other))
    for said, kinds in (("no longer", flags - others), ("now", others - flags)):
        if kinds:
            yield f"{said} flagged: {', '.join(sorted(kinds))}"


def _numbers(before: VerdictEntry, now: VerdictEntry) -> Iterator[str]:
    old = {each.expectation: each for each in before.numbers}
    new = {each.expectation: each for each in now.numbers}
    for name in {**old, **new}:
        one, other = old.get(name), new.get(name)
        if one is None or other is None or not same_number(one, other):
            yield f"{name} {_shown(one)} -> {_shown(other)}"


def _shown(number: KeptNumber | None) -> str:
    if number is None:
        return "not there"
    return f"{number.conclusion or 'no conclusion'} {shown_number(number)}".strip()


def _values(first: Document, second: Document) -> Iterator[str]:
    """Values of seeds that both have."""
    arms = {arm.id: arm for arm in first.arms}
    for arm in second.arms:
        was, now = (_of(each) for each in (arms.get(arm.id, arm), arm))
        moved = [key for key in was if key in now and was[key] != now[key]]
        for key in moved[:MOST]:
            yield f"{arm.id}, {key}: {was[key]} -> {now[key]}"
        if len(moved) > MOST:
            yield f"{arm.id}: {len(moved) - MOST} values more"


def _of(arm: ArmPart) -> dict[str, float]:
    return {
        f"{f'{run.task}, ' if run.task else ''}seed {run.number}, {name}": value
        for run in arm.replicates
        for name, value in run.values.items()
    }


def _claim(first: Document, second: Document) -> Iterator[str]:
    one, other = first.claim, second.claim
    for name in ("id", "title", "file", "design"):
        if getattr(one, name) != getattr(other, name):
            yield f"{name} {getattr(one, name)} -> {getattr(other, name)}"
    if one.digest != other.digest:
        yield f"what decides was changed (digest {one.digest[:12]} -> {other.digest[:12]})"


def _versions(before: VerdictEntry, now: VerdictEntry) -> Iterator[str]:
    for name in {**before.versions, **now.versions}:
        was, is_ = before.versions.get(name, "none"), now.versions.get(name, "none")
        if was != is_:
            yield f"{name} {was} -> {is_}"
