"""A judgement as a report document."""

from __future__ import annotations

from repro.check import words
from repro.check.agreement import judge_published, overall
from repro.check.changes import what_would_change
from repro.check.design import design_parts
from repro.check.digits import with_digits
from repro.check.expectations import all_must_hold
from repro.check.fragility import flags
from repro.check.history import control_part, registration_part
from repro.check.judgement import Judgement
from repro.check.kinds import heading
from repro.check.levels import measured_levels
from repro.check.looks import sequential_parts
from repro.check.parts import arm_parts, claim_part, curves, measurement_parts, origins, scale_part
from repro.check.provenance import collect
from repro.check.replication import Pair
from repro.check.results import as_entry
from repro.check.robustness import robustness
from repro.check.strength import strength_of_claim
from repro.check.without import Case, left_out
from repro.report import document as doc
from repro.report import format as fmt
from repro.report.judgement import DesignPart, Level, RegistrationPart, Robustness
from repro.specs.claim import Claim
from repro.stats.result import TestResult
from repro.verdict import Agreement, Conclusion, Flag, FlagKind, Verdict


def document_of(one: Judgement, *, command: str = "") -> doc.Document:
    """The whole report of a judged claim."""
    evidence, judged, past = one.evidence, one.judged, one.past
    claim = with_digits(one.claim, evidence)
    published = judge_published(claim, one.validity, _compared(one) if one.valid else {})
    agreement, agreement_reason = overall(claim, published)
    if agreement is not Agreement.NOT_CHECKABLE and (origin := origins(claim, evidence)):
        agreement_reason = " ".join((f"{agreement_reason}.", *origin))
    design = design_parts(claim)
    registration = None if past is None else registration_part(one.claim, past)
    cases = left_out(claim, evidence, judged, arms=_with_seeds(one)) if one.valid else ()
    levels = measured_levels(claim, judged, evidence)
    analyses = robustness(claim, evidence, judged, cases) if one.valid else ()
    more = (*_forced(one, design), *_edited(registration), *_levels(one, levels))
    verdict = _verdict(one, agreement, cases, analyses, more)
    entries = tuple(as_entry(each, claim, evidence, cases, valid=one.valid) for each in judged)
    return doc.Document(
        schema=1,
        claim=claim_part(one.claim),
        scale=scale_part(claim, evidence),
        verdict=_verdict_part(one, verdict, entries, agreement_reason),
        measurements=measurement_parts(claim),
        results=entries,
        arms=arm_parts(claim, evidence),
        canaries=one.canaries,
        curves=curves(claim, evidence),
        published=published,
        changes=what_would_change(claim, evidence, verdict, judged, design),
        robustness=analyses,
        design=design,
        sequential=sequential_parts(claim, evidence, judged) if one.valid else (),
        registration=registration,
        control=None if past is None else control_part(one.claim, past),
        family=one.family,
        levels=levels,
        provenance=collect(evidence, command),
    )


def _with_seeds(one: Judgement) -> tuple[str, ...]:
    """The arms of which a seed can be left out; a printed arm has none."""
    return tuple(arm for arm in one.claim.arms if one.evidence.finished(arm))


def _verdict(
    one: Judgement,
    agreement: Agreement,
    cases: tuple[Case, ...],
    analyses: tuple[Robustness, ...],
    more: tuple[Flag, ...],
) -> Verdict:
    if one.finding is None:
        return Verdict(one.validity, one.reason, flags=one.quality.flags)
    found = flags(one.claim, one.evidence, one.judged, one.canaries, cases, analyses)
    return Verdict(
        one.validity, "", one.finding.conclusion, agreement, (*one.quality.flags, *found, *more)
    )


def _forced(one: Judgement, design: tuple[DesignPart, ...]) -> tuple[Flag, ...]:
    """A design that could hardly decide was run all the same; a table was not planned here."""
    forced = one.claim.forced
    if not any(each.key for replicates in one.evidence.arms.values() for each in replicates):
        return ()
    why = " It was run all the same." if forced is None else f" It was forced: {forced.why}"
    names = _names(one.claim)
    return tuple(
        Flag(FlagKind.FORCED, f"{names[part.expectation]}: {part.refused}.{why}")
        for part in design
        if part.refused
    )


def _names(claim: Claim) -> dict[str, str]:
    """What a reader calls each expectation."""
    return {one.id: heading(one, claim) for one in claim.expectations}


def _levels(one: Judgement, levels: tuple[Level, ...]) -> tuple[Flag, ...]:
    """A test that decides and is known to err too often in designs like this one.

    Of a conjunction that some parts contradict, these parts decide. Holm's method joins them all.
    """
    deciding = one.decisive
    contradicted = one.finding is not None and one.finding.conclusion is Conclusion.CONTRADICTED
    if contradicted and all_must_hold(one.claim):
        deciding = tuple(each for each in deciding if each.conclusion is Conclusion.CONTRADICTED)
    own = {each.expectation.id for each in deciding}
    names = _names(one.claim)
    return tuple(
        Flag(FlagKind.LEVEL, f"{names[level.expectation]}: {level.text}")
        for level in levels
        if level.expectation in own or level.test == "holm"
    )


def _edited(registration: RegistrationPart | None) -> tuple[Flag, ...]:
    if registration is None or registration.state != "after":
        return ()
    done = "changed" if registration.edits else "first put on record"
    text = f"What decides the verdict was {done} after results were visible."
    return (Flag(FlagKind.EDITED, text),)


def _compared(one: Judgement) -> dict[str, tuple[TestResult, Pair]]:
    """Result and evidence of every expectation that compares two arms, one of them ours.

    Two printed arms are not compared with the paper: it would agree with itself.
    """
    found = {}
    for each in one.judged:
        expectation = each.expectation
        if all(arm in one.evidence.published for arm in expectation.of):
            continue
        if each.result is not None and len(expectation.of) == 2:
            a, b = (one.evidence.read(arm, expectation.measurement) for arm in expectation.of)
            found[expectation.id] = (each.result, (a, b))
    return found


def _verdict_part(
    one: Judgement, verdict: Verdict, entries: tuple[doc.Result, ...], agreement_reason: str
) -> doc.VerdictPart:
    expected, why = _expected(one.claim)
    return doc.VerdictPart(
        validity=verdict.validity.value,
        validity_reason=verdict.reason,
        conclusion=None if verdict.conclusion is None else verdict.conclusion.value,
        agreement=verdict.agreement.value,
        agreement_reason=agreement_reason,
        flags=tuple(doc.Flag(kind=f.kind.value, text=f.message) for f in verdict.flags),
        sentence=_sentence(one, verdict, entries),
        expected=expected,
        expected_why=why,
        as_expected=verdict.conclusion == Conclusion(expected or Conclusion.CONFIRMED),
        strength=strength_of_claim(one.claim, verdict.conclusion, one.decisive),
    )


def _expected(claim: Claim) -> tuple[str, str]:
    """The conclusion that the claim declares to expect, and why; nothing for CONFIRMED."""
    if claim.expect is not None:
        return Conclusion[claim.expect.conclusion.upper()].value, claim.expect.why
    if claim.control is not None:
        return Conclusion.INCONCLUSIVE.value, f"a negative control: {claim.control.why}"
    return "", ""


def _sentence(one: Judgement, verdict: Verdict, entries: tuple[doc.Result, ...]) -> str:
    """Why, in one sentence: the finding that decides, or what is wrong with the evidence."""
    if verdict.conclusion is None:
        return f"No conclusion is drawn: {verdict.reason}."
    own = [entry for entry in entries if entry.role == "decisive"]
    if one.claim.control is not None and verdict.conclusion is Conclusion.CONFIRMED:
        return _false_alarm(one, own)
    alone = ""
    if one.alone is not None and one.alone.conclusion is not verdict.conclusion:
        alone = one.alone.conclusion.value.capitalize()
    return words.why(verdict.conclusion, own, tree=one.claim.combine, alone=alone)


def _false_alarm(one: Judgement, own: list[doc.Result]) -> str:
    """A negative control that found a difference; over many nights a share of alpha must."""
    sentence = words.why(Conclusion.CONFIRMED, own, tree=one.claim.combine)
    control = None if one.past is None else control_part(one.claim, one.past)
    chance = fmt.percent(one.claim.alpha)
    nights = ""
    if control is not None and control.found:  # none, where the first judgement was another
        nights = f", in {control.found} of {control.nights} nights so far"
    said = f"A difference is found where there is none{nights}; {chance} is expected by chance"
    return f"{said}. {sentence}"
