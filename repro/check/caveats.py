"""What a reader must know of the evidence beside a verdict: controls, and what diverged."""

from __future__ import annotations

from repro.check.canaries import uncontrolled
from repro.evidence import Evidence
from repro.report import document as doc
from repro.report import format as fmt
from repro.specs.claim import Claim
from repro.verdict import Flag, FlagKind


def caveats(claim: Claim, evidence: Evidence, canaries: tuple[doc.Canary, ...]) -> list[Flag]:
    """A flag for each control that came out low or could not be made, and for what diverged."""
    return [
        *_low(canaries),
        *_uncontrolled(claim, evidence, canaries),
        *_diverged(claim, evidence),
        *_order(claim, evidence),
        *_more_seeds(claim, evidence),
    ]


def _order(claim: Claim, evidence: Evidence) -> list[Flag]:
    """A sequential claim rests on the order of its seeds, and nobody saw that of a table."""
    if claim.sequential is None:
        return []
    decisive = {arm for one in claim.expectations if one.role == "decisive" for arm in one.of}
    tables = {evidence.tables[arm] for arm in evidence.tables if arm in decisive}
    found = []
    for table in sorted(tables, key=lambda each: (each.file, each.order or "")):
        text = (
            f"{table.file}: a table has no order in time, so it was judged once, at its last look, "
            "with all its seeds."
        )
        if table.order is not None:
            text = (
                f"{table.file}: the order of its seeds is the table's own (column "
                f"'{table.order}'), declared, not observed."
            )
        found.append(Flag(FlagKind.ORDER, text))
    return found


def _more_seeds(claim: Claim, evidence: Evidence) -> list[Flag]:
    """A table may have grown until its result suited; nothing on record says that it did not.

    A sequential claim may grow to its largest number of seeds.
    """
    planned = claim.seeds.plan
    if claim.sequential is not None and claim.seeds.max is not None:
        planned = claim.seeds.max
    found = {arm: len(evidence.counted(arm)) for arm in evidence.tables}
    more = [f"{claim.arms[arm].label} has {n}" for arm, n in found.items() if n > planned]
    if not more:
        return []
    text = f"{planned} seeds per arm were planned, and {' and '.join(more)}: all count, so nothing "
    return [Flag(FlagKind.MORE_SEEDS, f"{text}rules out that seeds were added until it suited.")]


def _low(canaries: tuple[doc.Canary, ...]) -> list[Flag]:
    return [
        Flag(
            FlagKind.CANARY,
            f"{one.statement}: expected {one.expected}, measured {one.measured}, which is lower "
            "than a model trained normally reaches.",
        )
        for one in canaries
        if one.state == "flagged"
    ]


def _uncontrolled(claim: Claim, evidence: Evidence, canaries: tuple[doc.Canary, ...]) -> list[Flag]:
    found = []
    for declared, judged in zip(claim.canaries, canaries, strict=True):
        arms = uncontrolled(declared, claim, evidence)
        for arm in arms:
            source = "are printed numbers"
            if arm in evidence.tables:
                source = f"come from a table, {evidence.tables[arm].file}"
            text = (
                f"{judged.statement}: not controlled for {claim.arms[arm].label}, "
                f"whose values {source}."
            )
            found.append(Flag(FlagKind.CANARY, text))
    return found


def _diverged(claim: Claim, evidence: Evidence) -> list[Flag]:
    found = []
    for arm, replicates in evidence.arms.items():
        label = claim.arms[arm].label
        for state, fate in (
            ("diverged", "excluded by the declared policy"),
            ("imputed", "counted as worse than any value, by the declared policy"),
        ):
            lost = [one.number for one in replicates if one.state == state]
            if lost:
                runs = fmt.number_of(len(lost), "run")
                text = f"{label}: {runs} diverged and {fate} ({fmt.seeds(lost)})."
                found.append(Flag(FlagKind.DIVERGED, text))
        apart = [one.number for one in replicates if one.state == "excluded"]
        if apart:
            text = f"{label}: left out, because their pair diverged ({fmt.seeds(apart)})."
            found.append(Flag(FlagKind.DIVERGED, text))
    return found
