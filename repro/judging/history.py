"""What a claim came to before, what was changed since, and the present verdict kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro.digest import digest
from repro.errors import StoreError
from repro.judging.document import ArmPart, Document, HistoryPart, Provenance, Result
from repro.registry.verdicts import (
    SHOWN,
    KeptArm,
    KeptNumber,
    VerdictEntry,
    VerdictLog,
    identity,
    since,
)
from repro.specs.claim import Claim
from repro.store.run_store import RunStore

MOST_SEEDS = 1_000
"""Values of an arm that are told apart from one verdict to the next; of more, all together."""

LONGEST = 200
"""No text of a verdict that is kept has more characters than this: a stranger's may."""

DEPTH = 4
"""How many steps into a claim its fields are told apart."""


@dataclass(frozen=True, slots=True)
class PastVerdicts:
    """The verdicts of a claim before, in a store; ``results`` are a user's own it is judged on.

    ``keeps``: a new verdict is kept, once its report is written. A store that cannot be read or
    written is no error: a note says so.
    """

    claim: Claim
    store: RunStore
    results: Path | None = None
    keeps: bool = True

    @property
    def log(self) -> VerdictLog:
        of = identity(self.claim.file, self.results)
        return VerdictLog(self.store, self.claim.id, self.claim.scale, of)

    def joined(self, document: Document) -> Document:
        """The document with the verdicts before it."""
        entry, note = entry_of(document, self.claim.decisive_fields()), ""
        before: tuple[VerdictEntry, ...] = ()
        news = True
        try:
            before = self.log.read()
            news = not before or not entry.says(before[-1])
            if self.keeps and news:
                self.log.prepare()
        except (StoreError, OSError) as error:
            note = _not_kept(error)
        shown = (*before, since(before, entry)) if news else before
        kept = tuple(each.kept() for each in shown[-SHOWN:])
        return _with(document, HistoryPart(verdicts=kept, news=news, note=note))

    def is_told(self, document: Document) -> bool:
        """Whether a document that was written before has the history that it would have now.

        It does not where a change was news then, nor where the last verdict kept is another.
        """
        history = document.provenance.history
        if history is None or history.note or history.before is not None:
            return False
        try:
            before = self.log.read()
        except (StoreError, OSError):
            return False
        if not before:
            return not self.keeps
        return entry_of(document, self.claim.decisive_fields()).says(before[-1])

    def keep(self, document: Document) -> Document:
        """Add a verdict, if it is new; the document, with a note if that fails.

        This comes after its report: a verdict whose report was not written is told again as new.
        """
        history = document.provenance.history
        if not self.keeps or history is None or history.note or not history.news:
            return document
        try:
            self.log.keep(entry_of(document, self.claim.decisive_fields()))
        except (StoreError, OSError) as error:
            return _with(document, history.model_copy(update={"note": _not_kept(error)}))
        return document


def _not_kept(error: Exception) -> str:
    return f"This verdict could not be kept: {str(error).splitlines()[0][:500]}"


def _with(document: Document, history: HistoryPart) -> Document:
    provenance = document.provenance.model_copy(update={"history": history})
    return document.model_copy(update={"provenance": provenance})


def entry_of(document: Document, fields: Mapping[str, Any]) -> VerdictEntry:
    """What is kept of a verdict; ``fields`` are the decisive fields of its claim, if known."""
    verdict, family = document.verdict, document.family
    decisive = (each for each in document.results if each.role == "decisive")
    members = () if family is None else family.members
    return VerdictEntry(
        created=document.provenance.created[:LONGEST],
        validity=verdict.validity,
        conclusion=verdict.conclusion,
        agreement=verdict.agreement,
        expected=verdict.expected[:LONGEST],
        as_expected=verdict.as_expected,
        numbers=tuple(_number(document, each) for each in decisive),
        claim=document.claim.digest[:LONGEST],
        arms={arm.id[:LONGEST]: _arm(arm) for arm in document.arms if not arm.printed},
        fields=dict(_digests(fields, "", DEPTH)),
        family=tuple(each.claim[:LONGEST] for each in members if each.judged),
        versions=_versions(document.provenance),
    )


def _number(document: Document, result: Result) -> KeptNumber:
    interval = result.interval
    measured = (each for each in document.measurements if each.key == result.measurement)
    digits = next((each.digits for each in measured), 2) if result.digits is None else result.digits
    return KeptNumber(
        expectation=result.id[:LONGEST],
        effect=result.effect,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        scale=result.scale,
        digits=digits,
        conclusion=result.conclusion,
    )


def _arm(arm: ArmPart) -> KeptArm:
    """What is read of an arm; a seed that is missing is not."""
    seeds = {
        f"{run.task[:LONGEST]}/{run.number}".lstrip("/"): _short([run.state, run.values])
        for run in arm.replicates
        if run.state != "missing"
    }
    return KeptArm(
        source=arm.evidence[:LONGEST],
        count=len(seeds),
        values=_short(seeds),
        runs=_short([run.key for run in arm.replicates if run.state != "missing"]),
        file="" if arm.table is None else arm.table.sha256[:16],
        seeds=seeds if len(seeds) <= MOST_SEEDS else {},
    )


def _short(value: Any) -> str:
    return digest(value)[:8]


def _digests(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    """The decisive fields by dotted path, each as a digest; expectations by their ids."""
    if isinstance(value, list) and value and all(isinstance(x, dict) and "id" in x for x in value):
        value = {str(each["id"]): each for each in value}
    if isinstance(value, Mapping) and value and depth:
        for key, inside in value.items():
            yield from _digests(inside, f"{path}.{key}" if path else str(key), depth - 1)
    else:
        yield path[:LONGEST], _short(value)


def _versions(provenance: Provenance) -> dict[str, str]:
    """Of what judged: repro with its commit, Python, packages."""
    commit = f" at {provenance.code_revision}" if provenance.code_revision else ""
    own = {"repro": f"{provenance.repro_version}{commit}", "Python": provenance.python}
    named = {**own, **provenance.packages}
    return {name[:LONGEST]: text[:LONGEST] for name, text in named.items()}
