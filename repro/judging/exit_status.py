"""The exit status of a command that judges: of each verdict, and the gravest of several."""

from __future__ import annotations

from collections.abc import Iterable

from repro.errors import FLIPPED, gravest
from repro.expectations.verdict_words import Conclusion, Validity, Verdict
from repro.judging.document import Document


def verdict_of(document: Document) -> tuple[Verdict, Conclusion]:
    """The verdict in a document, and the conclusion that its claim expects at its scale."""
    part = document.verdict
    verdict = Verdict(part.validity, part.validity_reason, part.conclusion, part.agreement)
    return verdict, Conclusion(part.expected or Conclusion.CONFIRMED)


def exit_code(
    verdicts: Iterable[tuple[Verdict, Conclusion]],
    *,
    infrastructure: bool = False,
    stopped: Iterable[int] = (),
    flipped: bool = False,
) -> int:
    """Status for a shell, from each verdict and the conclusion that its claim expects.

    70 where the program itself failed; else 5 where ``infrastructure`` failed; else 4 invalid
    evidence; else 2; else 6 where a word is not the expected one and was another one before
    (``flipped``); else 1 a decided conclusion that is not the expected one; else 3 something
    undecided or not tested, unless that was expected; else 0. ``stopped`` are the statuses of
    the claims that an error stopped, so that they have no verdict.
    """
    codes = (status_of(verdict, expected) for verdict, expected in verdicts)
    more = (5 if infrastructure else 0, FLIPPED if flipped else 0)
    return gravest((*codes, *stopped, *more))


def status_of(verdict: Verdict, expected: Conclusion) -> int:
    """The status of one verdict, given the conclusion that its claim expects."""
    if verdict.validity is Validity.INVALID:
        return 4
    if verdict.conclusion == expected:
        return 0
    undecided = (Conclusion.INCONCLUSIVE, Conclusion.NOT_TESTED, None)
    return 3 if verdict.conclusion in undecided else 1
