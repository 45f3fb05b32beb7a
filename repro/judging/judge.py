"""One claim judged on its evidence, before it is written down; and claims judged as a family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from repro.errors import ClaimError
from repro.evidence.evidence import Evidence
from repro.expectations.verdict_words import Fault, Finding, Validity
from repro.judging import document as doc
from repro.judging.document_parts import FamilyMember, FamilyPart
from repro.judging.gather import apply_divergence_policy
from repro.judging.quality import Quality, examine
from repro.judging.validity import judge_controls, judge_validity
from repro.judging.verdict import Judged, adjust_family, adjust_family_by_e, joined, judge
from repro.registry.registry import Past
from repro.specs.claim import Claim
from repro.stats.anytime import EProcessResult


@dataclass(frozen=True, slots=True)
class Judgement:
    """A claim, its evidence, and what they say; ``finding`` is absent unless VALID.

    ``faults`` are why the evidence carries no conclusion; none where it does.
    ``quality`` is what is odd about the evidence, whatever a test says of it.
    ``past`` is what is on record about the claim. ``family`` is present once it was judged among
    the others of its family, and ``alone`` is what it found before that.
    """

    claim: Claim
    evidence: Evidence
    controls: tuple[doc.JudgedControl, ...]
    faults: tuple[Fault, ...]
    judged: tuple[Judged, ...]
    finding: Finding | None
    quality: Quality
    past: Past | None = None
    family: FamilyPart | None = None
    alone: Finding | None = None

    @property
    def settled(self) -> Claim:
        """The claim with what its expectations leave to the evidence."""
        found = {part.expectation.id: part.expectation for part in self.judged}
        settled = tuple(found.get(each.id, each) for each in self.claim.expectations)
        return self.claim.model_copy(update={"expectations": settled})

    @property
    def valid(self) -> bool:
        """Whether the evidence carries a conclusion."""
        return self.finding is not None

    @property
    def validity(self) -> Validity:
        """Whether the evidence can be used at all."""
        return self.faults[0].validity if self.faults else Validity.VALID

    @property
    def reason(self) -> str:
        """The reasons of all faults."""
        return "; ".join(fault.reason for fault in self.faults)

    @property
    def decisive(self) -> tuple[Judged, ...]:
        """The expectations that decide, as judged."""
        return tuple(part for part in self.judged if part.expectation.role == "decisive")


def judge_claim(claim: Claim, evidence: Evidence) -> Judgement:
    """Judge a claim by its evidence, without the family that it may be of."""
    evidence = apply_divergence_policy(claim, evidence)
    controls = judge_controls(claim, evidence)
    quality = examine(claim, evidence)
    testable = all(evidence.known(arm) for arm in claim.arms)
    judged = tuple(
        judge(expectation, claim, evidence.read) for expectation in claim.expectations if testable
    )
    faults = judge_validity(claim, evidence, controls, judged, quality)
    finding = None if faults else joined(claim, judged)
    return Judgement(claim, evidence, controls, faults, judged, finding, quality)


def judge_families(judgements: Sequence[Judgement]) -> tuple[Judgement, ...]:
    """The same judgements, each claim at its level among the members of its family.

    A member that is not among them, or has no valid evidence, counts as having found nothing.
    """
    return tuple(judge_in_family(judgement, judgements) for judgement in judgements)


def judge_in_family(judgement: Judgement, judgements: Sequence[Judgement]) -> Judgement:
    """One of ``judgements`` at its level among the members of its family, if it has one."""
    family = judgement.claim.family
    if family is None:
        return judgement
    by_id = {each.claim.id: each for each in judgements}
    members = [by_id.get(name) for name in family.members]
    findings = [None if member is None else member.finding for member in members]
    alpha = judgement.claim.alpha
    if family.method == "e_bh":
        pairs = [
            None if member is None or not member.valid else e_values(member) for member in members
        ]
        adjusted = adjust_family_by_e(findings, pairs, alpha=alpha)
        values = [None if pair is None else pair[0] for pair in pairs]
        shown = [None if each is None else 1 / each.p for each in adjusted]
    else:
        adjusted = adjust_family(findings, method=family.method, alpha=alpha)
        values = [None if each is None else each.p for each in findings]
        shown = [None if each is None else each.p for each in adjusted]
    part = FamilyPart(
        name=family.name,
        method=family.method,
        why=family.why,
        members=tuple(
            FamilyMember(claim=name, judged=value is not None, value=value, adjusted=after)
            for name, value, after in zip(family.members, values, shown, strict=True)
        ),
    )
    finding = adjusted[family.members.index(judgement.claim.id)] if judgement.valid else None
    return replace(judgement, finding=finding, family=part, alone=judgement.finding)


def agree_on_families(claims: Sequence[Claim]) -> None:
    """ClaimError where claims of one family declare different members or methods."""
    first: dict[str, Claim] = {}
    for claim in claims:
        if claim.family is None:
            continue
        other = first.setdefault(claim.family.name, claim)
        mine, theirs = claim.family, other.family
        if theirs is None or (mine.method, mine.members) == (theirs.method, theirs.members):
            continue
        raise ClaimError(
            f"{claim.file}: family '{mine.name}' is not the one that {other.file} declares\n"
            f"  expected: method {theirs.method}, members {', '.join(theirs.members)}\n"
            "  to do: declare the same method and members, in the same order, in both"
        )


def e_values(judgement: Judgement) -> tuple[float, float]:
    """The e-values of a claim and of its contrary.

    A conjunction has the least of its parts; its contrary, that some part fails, has the largest
    divided by the number of parts. Any other tree has the least either way: where the tree is
    wrongly said to hold, or to fail, at least one part is. A part without an e-value counts as 0.
    """
    found = [part.result for part in judgement.decisive]
    claimed = [part.e if isinstance(part, EProcessResult) else 0.0 for part in found]
    other = [part.e_opposite if isinstance(part, EProcessResult) else 0.0 for part in found]
    if judgement.claim.combine is not None:
        return min(claimed), min(other)
    return min(claimed), max(other) / len(other)
