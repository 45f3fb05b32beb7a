"""Judging: a claim and its evidence to a report document. Never trains, never imports torch."""

from __future__ import annotations

from repro.check import words
from repro.check.agreement import judge_published, overall
from repro.check.canaries import judge_canaries
from repro.check.changes import what_would_change
from repro.check.expectations import Judged, conjunction, judge
from repro.check.fragility import WORDS, flags
from repro.check.parts import arm_parts, claim_part, curves, measurement_parts
from repro.check.provenance import collect
from repro.check.results import as_entry
from repro.check.validity import judge_validity
from repro.evidence import Evidence
from repro.report import document as doc
from repro.specs.claim import Claim
from repro.stats.result import TestResult
from repro.stats.sample import Sample
from repro.verdict import Agreement, Conclusion, Validity, Verdict

__all__ = ["check_claim", "verdict_of"]


def check_claim(claim: Claim, evidence: Evidence, *, command: str = "") -> doc.Document:
    """Judge ``claim`` on ``evidence``: the whole report, as a document."""
    canaries = judge_canaries(claim, evidence)
    validity, reason = judge_validity(claim, evidence, canaries)
    valid = validity is Validity.VALID
    testable = all(evidence.finished(arm) for arm in claim.arms)
    judged = tuple(judge(one, claim, evidence.sample) for one in claim.expectations if testable)
    compared = _compared(evidence, judged) if valid else {}
    published = judge_published(claim, validity, compared)
    agreement, agreement_reason = overall(claim, published)
    if valid:
        conclusion = conjunction(claim, judged)
        found = flags(claim, evidence, judged, canaries)
        verdict = Verdict(validity, "", conclusion, agreement, found)
    else:
        verdict = Verdict(validity, reason)
    entries = tuple(as_entry(one, claim, evidence, valid=valid) for one in judged)
    return doc.Document(
        schema=1,
        claim=claim_part(claim),
        scale=doc.ScalePart(name=claim.scale, notice=claim.notice),
        verdict=_verdict_part(claim, verdict, entries, agreement_reason),
        measurements=measurement_parts(claim),
        results=entries,
        arms=arm_parts(claim, evidence),
        canaries=canaries,
        curves=curves(claim, evidence),
        published=published,
        changes=what_would_change(claim, evidence, verdict, judged),
        provenance=collect(evidence, command),
    )


def verdict_of(document: doc.Document) -> tuple[Verdict, Conclusion]:
    """The verdict in a document, and the conclusion that its claim expects at its scale."""
    part = document.verdict
    verdict = Verdict(
        Validity(part.validity),
        part.validity_reason,
        None if part.conclusion is None else Conclusion(part.conclusion),
        Agreement(part.agreement),
    )
    return verdict, Conclusion(part.expected or "CONFIRMED")


def _compared(
    evidence: Evidence, judged: tuple[Judged, ...]
) -> dict[str, tuple[TestResult, tuple[Sample, Sample]]]:
    """Result and samples of every expectation that compares two arms."""
    found = {}
    for one in judged:
        expectation = one.expectation
        if one.result is not None and len(expectation.of) == 2:
            a, b = (evidence.sample(arm, expectation.measurement) for arm in expectation.of)
            found[expectation.id] = (one.result, (a, b))
    return found


def _verdict_part(
    claim: Claim, verdict: Verdict, entries: tuple[doc.Result, ...], agreement_reason: str
) -> doc.VerdictPart:
    expected = claim.expect.conclusion.upper() if claim.expect else ""
    conclusion = None if verdict.conclusion is None else WORDS[verdict.conclusion]
    return doc.VerdictPart(
        validity=verdict.validity.value,
        validity_reason=verdict.reason,
        conclusion=conclusion,
        agreement=verdict.agreement.value,
        agreement_reason=agreement_reason,
        flags=tuple(doc.Flag(kind=f.kind.value, text=f.message) for f in verdict.flags),
        sentence=_sentence(verdict, entries),
        expected=expected,
        expected_why=claim.expect.why if claim.expect else "",
        as_expected=conclusion == (expected or Conclusion.CONFIRMED.value),
    )


def _sentence(verdict: Verdict, entries: tuple[doc.Result, ...]) -> str:
    """Why, in one sentence: the finding that decides, or what is wrong with the evidence."""
    if verdict.conclusion is None:
        return f"No conclusion is drawn: {verdict.reason}."
    own = [entry for entry in entries if entry.role == "decisive"]
    return words.why(verdict.conclusion, own)
