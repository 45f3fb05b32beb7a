"""Judging: claims and their evidence to report documents. Never trains, never imports torch."""

from __future__ import annotations

from dataclasses import replace

from repro.check.document import document_of
from repro.check.history import Past
from repro.check.judgement import Judgement, judge_claim, judge_families, judge_in_family
from repro.evidence import Evidence
from repro.report import document as doc
from repro.specs.claim import Claim
from repro.verdict import Agreement, Conclusion, Validity, Verdict

__all__ = [
    "Judgement",
    "check_claim",
    "document_of",
    "judge_claim",
    "judge_families",
    "judge_in_family",
    "verdict_of",
]


def check_claim(
    claim: Claim, evidence: Evidence, *, past: Past | None = None, command: str = ""
) -> doc.Document:
    """Judge ``claim`` on ``evidence``: the whole report, as a document.

    ``past`` is what is on record of when it was declared; without it the report says nothing.
    """
    (one,) = judge_families([replace(judge_claim(claim, evidence), past=past)])
    return document_of(one, command=command)


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
