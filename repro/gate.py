"""Is a change kept? Seeds are spent a pair at a time, until the e-process of the claim decides.

The claim is declared before its first run, and every look is on record: a command that is given
again goes on where it stopped, and what was decided first stands. So the chance of a false KEEP is
at most that of the claim, however often one looks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from repro.errors import ClaimError, gravest
from repro.expectations.verdict_words import Conclusion, Validity
from repro.judging.document import Document
from repro.specs.claim import Claim
from repro.verify import Options, verify_claims, write_report


class Word(StrEnum):
    """What becomes of a change; ``status`` is the exit status for it."""

    KEEP = "KEEP"
    REJECT = "REJECT"
    UNDECIDED = "UNDECIDED"
    UNUSABLE = "UNUSABLE"

    @property
    def status(self) -> int:
        return {Word.KEEP: 0, Word.REJECT: 1, Word.UNDECIDED: 3, Word.UNUSABLE: 4}[self]


WORDS = {
    Conclusion.CONFIRMED: Word.KEEP,
    Conclusion.CONTRADICTED: Word.REJECT,
    Conclusion.TRIVIAL: Word.REJECT,
    Conclusion.INCONCLUSIVE: Word.UNDECIDED,
}


@dataclass(frozen=True, slots=True)
class Gated:
    """The word, why, and the last judgement; no document where an error stopped the claim.

    ``failures`` are runs that did not end as they should, or what stopped the claim, in words.
    """

    word: Word
    why: str
    document: Document | None
    status: int
    failures: tuple[str, ...] = ()


def gate(claim: Claim, options: Options, tell: Callable[[Document], None]) -> Gated:
    """Run and judge a claim until it is decided, futile, or at its largest number of seeds.

    Results that are there (a table, an import, printed numbers) are judged once. ``tell`` is
    called after every look but the last, whose report alone is written. ClaimError for a claim
    that trains and has no e-process; else raises as ``verify_claims``.
    """
    if claim.trained and (claim.sequential is None or claim.sequential.looks):
        raise ClaimError(
            f"{claim.file}: a gate spends seeds until they decide, and this claim counts on a "
            "fixed number of them\n  expected: sequential: {method: eprocess_t}\n"
            "  to do: add that line and `seeds: {..., max: N}`, or judge all seeds by repro verify"
        )
    seeds = 0
    while True:
        verified = verify_claims((claim,), replace(options, nightly=True, write=False))
        said = (*verified.failures, *(f"{each.subject}: {each.why}" for each in verified.stopped))
        codes = [each.status for each in verified.stopped] + [5] * bool(verified.failures)
        if not verified.documents:
            return Gated(Word.UNUSABLE, "it was not judged", None, gravest(codes), said)
        (document,) = verified.documents
        word, why = _word(document)
        planned = seeds_of(document)
        if (
            word is not Word.UNDECIDED
            or planned <= seeds
            or not claim.trained
            or not _open(document)
        ):
            unwritten = write_report(claim, document, options)
            status = gravest([word.status, *codes, *([5] if unwritten else [])])
            return Gated(word, why, document, status, (*said, *unwritten))
        tell(document)
        seeds = planned


def seeds_of(document: Document) -> int:
    """The seeds per arm that were planned for this look; 0 where every arm is printed."""
    return max(arm.planned or 0 for arm in document.arms)


def _word(document: Document) -> tuple[Word, str]:
    """The word for a judgement, and the reason in a sentence."""
    verdict, registration = document.verdict, document.registration
    if verdict.validity != Validity.VALID or verdict.conclusion is None:
        return Word.UNUSABLE, f"{verdict.validity}: {verdict.sentence}"
    changed = registration is not None and registration.state == "after"
    if changed and any(arm.trained for arm in document.arms):
        why = "what decides was declared, or changed, when results were there: give it a new id"
        return Word.UNUSABLE, why
    word = WORDS.get(Conclusion(verdict.conclusion), Word.UNUSABLE)
    if word is Word.UNDECIDED and any(part.stop == "futile" for part in document.sequential):
        return word, f"{verdict.sentence} But that is unlikely by now, so no more were run."
    return word, verdict.sentence


def _open(document: Document) -> bool:
    """Whether more seeds are of use."""
    return any(part.stop == "go on" for part in document.sequential)
