"""Is a change kept? Seeds are spent a pair at a time, until the e-process of the claim decides.

The claim is declared before its first run, and every look is on record: a command that is given
again goes on where it stopped, and what was decided first stands. So the chance of a false KEEP is
at most that of the claim, however often one looks. What was declared, or changed, when results were
there is told before anything more is run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from repro.errors import ClaimError, gravest
from repro.expectations.kinds import kind_of
from repro.expectations.verdict_words import Conclusion, Validity
from repro.judging.document import Document
from repro.judging.registration import registration_part, undecided
from repro.registry.registry import Registry
from repro.specs.claim import Claim
from repro.store.run_store import RunStore
from repro.workflows.verify import Options, verify_claims, with_seeds_due, write_report


class Word(StrEnum):
    """What becomes of a change; ``status`` is the exit status for it."""

    KEEP = "KEEP"
    INSIDE = "INSIDE"
    REJECT = "REJECT"
    UNDECIDED = "UNDECIDED"
    UNUSABLE = "UNUSABLE"

    @property
    def status(self) -> int:
        passing = dict.fromkeys((Word.KEEP, Word.INSIDE), 0)
        return {**passing, Word.REJECT: 1, Word.UNDECIDED: 3, Word.UNUSABLE: 4}[self]


WORDS = {
    Conclusion.CONFIRMED: Word.KEEP,
    Conclusion.CONTRADICTED: Word.REJECT,
    Conclusion.TRIVIAL: Word.REJECT,
    Conclusion.INCONCLUSIVE: Word.UNDECIDED,
    Conclusion.NOT_TESTED: Word.UNDECIDED,
}

EXPLORATORY = (
    "the claim was written from the results that it is judged on: say in `own` why it is claimed, "
    "and give it new results"
)

PROVES_LITTLE = "Inside proves little: the report says which shift is missed half of the time."

NAMED = 3
"""So many fields that were changed are named."""


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

    Results that are there (a table, an import, printed numbers) are judged once, and so are new
    runs against a reference. ``tell`` is called after every look but the last, whose report alone
    is written. ClaimError for another claim that trains and has no e-process; else raises as
    ``verify_claims``.
    """
    growing = claim.trained and not passes_open(claim)
    if growing and (claim.sequential is None or claim.sequential.looks):
        raise ClaimError(
            f"{claim.file}: a gate spends seeds until they decide, and this claim counts on a "
            "fixed number of them\n  expected: sequential: {method: eprocess_t}\n"
            "  to do: add that line and `seeds: {..., max: N}`, or judge all seeds by repro verify"
        )
    seeds, late = 0, _declared_late(claim, options)
    while True:
        looked = replace(options, nightly=True, train=not late, write=False)
        verified = verify_claims((claim,), looked)
        said = (*verified.failures, *(f"{each.subject}: {each.why}" for each in verified.stopped))
        codes = [each.status for each in verified.stopped] + [5] * bool(verified.failures)
        if not verified.documents:
            return Gated(Word.UNUSABLE, "it was not judged", None, gravest(codes), said)
        (document,) = verified.documents
        planned, more = seeds_of(document), not late and _open(claim, options)
        futile = bool(claim.trained) and not more and planned < _most(claim)
        word, why = _word(document, futile=futile, passes=passes_open(claim))
        registration = document.registration
        trained = any(arm.trained for arm in document.arms)
        if trained and registration is not None and registration.state == "after":
            word, why = Word.UNUSABLE, _late(claim, document, options)
        elif claim.exploratory:
            word, why = Word.UNUSABLE, EXPLORATORY
        if word is not Word.UNDECIDED or planned <= seeds or not more:
            document, unwritten = write_report(claim, document, options)
            status = gravest([word.status, *codes, *([5] if unwritten else [])])
            return Gated(word, why, document, status, (*said, *unwritten))
        tell(document)
        seeds = planned


def passes_open(claim: Claim) -> bool:
    """Whether what stays open passes: nothing speaks against a run that is inside a reference."""
    deciding = [each for each in claim.expectations if each.role == "decisive"]
    return all(kind_of(each).passes_open for each in deciding)


def seeds_of(document: Document) -> int:
    """The seeds per arm that were planned for this look; 0 where every arm is printed."""
    return max(arm.planned or 0 for arm in document.arms)


def _declared_late(claim: Claim, options: Options) -> bool:
    """Whether it was declared, or changed, when results of it were there, or would be now."""
    registry = Registry(options.store, make=False)
    (now,) = with_seeds_due((claim,), registry, [])
    return bool(claim.trained) and registration_part(now, registry.past(now)).state == "after"


def _late(claim: Claim, document: Document, options: Options) -> str:
    """What came too late, an edit or the whole claim, and what makes it another try."""
    registration, last = document.registration, _last_seed(claim, options.store)
    fresh = f"give each arm `first_seed: {last + 1}` or more"
    if claim.seeds.values is not None:
        fresh = "name other seeds in `values`"
    edits = () if registration is None else registration.edits
    if late := [path for edit in edits if edit.after_results for path in edit.paths]:
        changed = ", ".join(dict.fromkeys(late[:NAMED])) + (", ..." if len(late) > NAMED else "")
        said = f"what decides was changed when results of '{claim.id}' were there ({changed})"
        also = f", and {fresh}, for runs of its arms are there" if last >= 0 else ""
        return f"{said}: give the claim a new id{also}"
    said = f"'{claim.id}' was declared when runs of its arms were there"
    if last < 0:
        return f"{said}: its seeds are new now, so give the claim a new id, too"
    return (
        f"{said}, up to seed {last}: {fresh}, and the claim another id, for by now this one has "
        "looked at them"
    )


def _last_seed(claim: Claim, store: RunStore) -> int:
    """The largest seed of a run of its arms that is there; -1 where none is."""
    firsts = ((arm, claim.arms[arm].first_seed) for arm in claim.trained)
    numbers = (
        (arm, number)
        for arm, first in firsts
        for number in claim.seeds.values or range(first, first + _most(claim))
    )
    there = (number for arm, number in numbers if store.committed(claim.run(arm, number).key))
    return max(there, default=-1)


def _word(document: Document, *, futile: bool, passes: bool) -> tuple[Word, str]:
    """The word for a judgement, and the reason in a sentence."""
    verdict = document.verdict
    if verdict.validity != Validity.VALID or verdict.conclusion is None:
        return Word.UNUSABLE, f"{verdict.validity}: {verdict.sentence}"
    word = WORDS.get(Conclusion(verdict.conclusion), Word.UNUSABLE)
    if passes and verdict.conclusion == Conclusion.INCONCLUSIVE:
        return Word.INSIDE, f"{verdict.sentence} {PROVES_LITTLE}"
    if word is Word.UNDECIDED and document.sequential and futile:
        return word, f"{verdict.sentence} More seeds would hardly decide it, so no more were run."
    return word, verdict.sentence


def _open(claim: Claim, options: Options) -> bool:
    """Whether more seeds are of use: at the level that the claim has in its family, if any."""
    if not claim.trained:
        return False
    (now,) = with_seeds_due((claim,), Registry(options.store, make=False), [])
    return now.due < _most(claim) and undecided(now, options.store)


def _most(claim: Claim) -> int:
    return claim.seeds.max or claim.seeds.plan
