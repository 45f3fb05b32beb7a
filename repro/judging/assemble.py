"""A judgement -> the report document. Never trains, never imports torch."""

from __future__ import annotations

from dataclasses import replace

from repro.evidence.evidence import Evidence
from repro.expectations import base
from repro.expectations.base import Found
from repro.expectations.kinds import Expectation, kind_of, name_of_test
from repro.expectations.verdict_words import (
    Agreement,
    Conclusion,
    Flag,
    FlagKind,
    Verdict,
)
from repro.judging import document as doc
from repro.judging.agreement import Pair, judge_published, overall
from repro.judging.claim_parts import (
    arm_parts,
    claim_part,
    collect,
    cost_parts,
    curves,
    measurement_parts,
    origins,
    ranks_parts,
    scale_part,
)
from repro.judging.design_power import design_parts
from repro.judging.digits import WITH_DIGITS, digits_of_effect, with_digits
from repro.judging.document_parts import (
    DesignPart,
    LevelPart,
    RegistrationPart,
    Robustness,
    finite,
)
from repro.judging.fragility import flags, measured_levels, strength_of, strength_of_claim
from repro.judging.interim import sequential_parts
from repro.judging.judge import Judgement, judge_claim, judge_families
from repro.judging.next_steps import seeds_are_no_use, settling, what_would_change
from repro.judging.reason import combined, reason
from repro.judging.registration import control_part, registration_part
from repro.judging.robustness import Case, left_out, robustness
from repro.judging.variation import variation_parts
from repro.judging.verdict import Judged, all_must_hold, heading
from repro.registry.registry import Past
from repro.schema import numbers as fmt
from repro.specs.claim import Claim
from repro.stats.error_rates import few_seeds
from repro.stats.group_sequential import GroupResult
from repro.stats.records import TestResult
from repro.stats.stopping import SequentialResult
from repro.stats.t_tests import MarginResult


def check_claim(
    claim: Claim, evidence: Evidence, *, past: Past | None = None, command: str = ""
) -> doc.Document:
    """Judge ``claim`` on ``evidence``: the whole report, as a document.

    ``past`` is what is on record of when it was declared; without it the report says nothing.
    """
    (judgement,) = judge_families([replace(judge_claim(claim, evidence), past=past)])
    return document_of(judgement, command=command)


def document_of(judgement: Judgement, *, command: str = "") -> doc.Document:
    """The whole report of a judged claim."""
    evidence, judged, past = judgement.evidence, judgement.judged, judgement.past
    claim = with_digits(judgement.settled, evidence)
    compared = _compared(judgement) if judgement.valid else {}
    published = judge_published(claim, judgement.validity, compared)
    agreement, agreement_reason = _agreement(claim, evidence, published)
    design = design_parts(claim)
    registration = None if past is None else registration_part(judgement.claim, past)
    valid, with_seeds = judgement.valid, tuple(arm for arm in claim.arms if evidence.finished(arm))
    cases = left_out(claim, evidence, judged, arms=with_seeds) if valid else ()
    levels = measured_levels(claim, judged, evidence)
    analyses = robustness(claim, evidence, judged, cases) if valid else ()
    more = (*_forced(judgement, design), *_edited(registration), *_levels(judgement, levels))
    verdict = _verdict(judgement, agreement, cases, analyses, more)
    entries = tuple(as_entry(part, claim, evidence, cases, valid=valid) for part in judged)
    document = doc.Document(
        schema=1,
        claim=claim_part(judgement.claim),
        scale=scale_part(claim, evidence),
        verdict=_verdict_part(judgement, verdict, agreement_reason),
        measurements=measurement_parts(claim),
        results=entries,
        arms=arm_parts(claim, evidence),
        canaries=judgement.controls,
        curves=curves(claim, evidence),
        published=published,
        changes=what_would_change(claim, evidence, verdict, judged, judgement.faults),
        robustness=analyses,
        design=design,
        sequential=sequential_parts(claim, evidence, judged) if valid else (),
        registration=registration,
        control=None if past is None else control_part(judgement.claim, past),
        family=judgement.family,
        levels=levels,
        variation=variation_parts(claim, evidence),
        mean_ranks=ranks_parts(claim, evidence) if valid else (),
        provenance=collect(evidence, command, cost_parts(claim, evidence)),
    )
    return _with_reason(document, judgement)


def _agreement(
    claim: Claim, evidence: Evidence, published: tuple[doc.PublishedPart, ...]
) -> tuple[Agreement, str]:
    """The claim's agreement with the paper, and why; of ours, where the numbers are from."""
    agreement, reason = overall(claim, published)
    if agreement is not Agreement.NOT_CHECKABLE and (origin := origins(claim, evidence)):
        reason = " ".join((f"{reason}.", *origin))
    return agreement, reason


def _verdict(
    judgement: Judgement,
    agreement: Agreement,
    cases: tuple[Case, ...],
    analyses: tuple[Robustness, ...],
    more: tuple[Flag, ...],
) -> Verdict:
    if judgement.finding is None:
        return Verdict(judgement.validity, judgement.reason, flags=judgement.quality.flags)
    found = flags(
        judgement.claim, judgement.evidence, judgement.judged, judgement.controls, cases, analyses
    )
    return Verdict(
        judgement.validity,
        "",
        judgement.finding.conclusion,
        agreement,
        (*judgement.quality.flags, *found, *more),
    )


def _forced(judgement: Judgement, design: tuple[DesignPart, ...]) -> tuple[Flag, ...]:
    """A design that could hardly decide was run all the same; a table was not planned here."""
    forced = judgement.claim.forced
    if not any(each.key for replicates in judgement.evidence.arms.values() for each in replicates):
        return ()
    why = " It was run all the same." if forced is None else f" It was forced: {forced.why}"
    names = _names(judgement.claim)
    return tuple(
        Flag(FlagKind.FORCED, f"{names[part.expectation]}: {part.refused}.{why}")
        for part in design
        if part.refused
    )


def _names(claim: Claim) -> dict[str, str]:
    """What a reader calls each expectation."""
    return {expectation.id: heading(expectation, claim) for expectation in claim.expectations}


def _levels(judgement: Judgement, levels: tuple[LevelPart, ...]) -> tuple[Flag, ...]:
    """A test that decides and is known to err too often in designs like this one.

    Where some parts contradict a conjunction, these parts decide. Holm's method joins them all.
    """
    deciding = judgement.decisive
    contradicted = (
        judgement.finding is not None and judgement.finding.conclusion is Conclusion.CONTRADICTED
    )
    if contradicted and all_must_hold(judgement.claim):
        deciding = tuple(each for each in deciding if each.conclusion is Conclusion.CONTRADICTED)
    names_deciding = {each.expectation.id for each in deciding}
    names = _names(judgement.claim)
    return tuple(
        Flag(FlagKind.LEVEL, f"{names[level.expectation]}: {level.text}")
        for level in levels
        if level.expectation in names_deciding or level.test == "holm"
    )


def _edited(registration: RegistrationPart | None) -> tuple[Flag, ...]:
    if registration is None or registration.state != "after":
        return ()
    text = "What decides the verdict was first put on record after results were visible."
    late = [path for each in registration.edits if each.after_results for path in each.paths]
    if late:
        fields = ", ".join(dict.fromkeys(late))
        text = (
            f"What decides the verdict was changed after results were visible ({fields}). If those "
            "were the results of another claim, give this one an id of its own."
        )
    return (Flag(FlagKind.EDITED, text),)


def _compared(judgement: Judgement) -> dict[str, tuple[TestResult, Pair]]:
    """Result and evidence of every expectation that compares two arms, one of them ours.

    Two printed arms are not compared with the paper: it would agree with itself. Nor is what is
    over tasks: a printed mean and deviation are those of one.
    """
    found = {}
    for each in judgement.judged:
        expectation = each.expectation
        if all(arm in judgement.evidence.published for arm in expectation.of):
            continue
        if kind_of(expectation).tasks(expectation):
            continue
        if each.result is not None and len(expectation.of) == 2:
            a, b = (judgement.evidence.read(arm, expectation.measurement) for arm in expectation.of)
            found[expectation.id] = (each.result, (a, b))
    return found


def _verdict_part(judgement: Judgement, verdict: Verdict, agreement_reason: str) -> doc.VerdictPart:
    expected, why = _expected(judgement.claim)
    return doc.VerdictPart(
        validity=verdict.validity,
        validity_reason=verdict.reason,
        conclusion=verdict.conclusion,
        agreement=verdict.agreement,
        agreement_reason=agreement_reason,
        flags=tuple(doc.FlagPart(kind=f.kind.value, text=f.message) for f in verdict.flags),
        sentence="",
        expected=expected,
        expected_why=why,
        as_expected=verdict.conclusion == Conclusion(expected or Conclusion.CONFIRMED),
        strength=strength_of_claim(judgement.claim, verdict.conclusion, judgement.decisive),
    )


def _expected(claim: Claim) -> tuple[str, str]:
    """The conclusion that the claim declares to expect, and why; nothing for CONFIRMED."""
    if claim.expect is not None:
        return Conclusion[claim.expect.conclusion.upper()].value, claim.expect.why
    if claim.control is not None:
        return Conclusion.INCONCLUSIVE.value, f"a negative control: {claim.control.why}"
    return "", ""


def _with_reason(document: doc.Document, judgement: Judgement) -> doc.Document:
    """The document with why its verdict is what it is."""
    verdict = document.verdict
    told = verdict.model_copy(update={"sentence": reason(document, _head(judgement, verdict))})
    return document.model_copy(update={"verdict": told})


def _head(judgement: Judgement, verdict: doc.VerdictPart) -> str:
    """The first sentence of a conclusion that follows from more than the parts of the claim."""
    claim, alone = judgement.claim, judgement.alone
    if verdict.conclusion is None:
        return ""
    conclusion = Conclusion(verdict.conclusion)
    if claim.control is not None and conclusion is Conclusion.CONFIRMED:
        return _false_alarm(judgement)
    if alone is not None and alone.conclusion is not conclusion:
        word = alone.conclusion.value.capitalize()
        return f"{word} by itself, but not at its level among the claims of its family."
    return "" if claim.combine is None else combined(conclusion, claim.combine)


def _false_alarm(judgement: Judgement) -> str:
    """A negative control that found a difference; over many nights a share of alpha must."""
    control = None if judgement.past is None else control_part(judgement.claim, judgement.past)
    chance = fmt.percent(judgement.claim.alpha)
    nights = ""
    if control is not None and control.found:  # none, where the first judgement was another
        nights = f", in {control.found} of {control.nights} nights so far"
    return f"A difference is found where there is none{nights}; {chance} is expected by chance."


def _digits(judged: Judged, claim: Claim, evidence: Evidence) -> int:
    """Digits after the point of the effect of an expectation, as it is shown."""
    arms = () if judged.result is None else base.arms_of(judged.expectation, evidence.read)
    return digits_of_effect(judged.expectation, claim, judged.result, arms)


def as_entry(
    judged: Judged, claim: Claim, evidence: Evidence, cases: tuple[Case, ...], *, valid: bool
) -> doc.Result:
    """The document's entry of a judged expectation; without ``valid`` evidence no conclusion."""
    expectation, result, kind = judged.expectation, judged.result, kind_of(judged.expectation)
    context, scale = claim.context(), kind.scale(expectation)
    concludes = valid and kind.concludes(expectation)
    conclusion = judged.conclusion if concludes else None
    interval = None if result is None else _interval(result)
    digits = _digits(judged, claim, evidence)
    found = None if result is None else Found(result, interval, conclusion, digits)
    return doc.Result(
        id=expectation.id,
        kind=expectation.kind,
        role=expectation.role,
        statement=kind.statement(expectation, context),
        measurement=expectation.measurement,
        against=kind.against(expectation),
        arms=expectation.of,
        ordered=kind.ordered,
        test=name_of_test(expectation, context, result),
        alpha=claim.alpha,
        scale=scale,
        digits=digits if scale in WITH_DIGITS else None,
        effect_label=kind.effect_label(expectation, context),
        effect=None if result is None else result.effect,
        interval=None if scale == "none" else interval,
        limits=kind.limits(expectation, context),
        claimed=kind.claimed(expectation, context),
        p=None if result is None else result.p,
        p_against=None if result is None else result.p_opposite,
        df=None if result is None else result.df,
        conclusion=conclusion,
        sentence=_entry_sentence(judged, claim, evidence, found, concludes=concludes),
        smallest_confirmable_margin=_smallest_margin(result),
        left_out=_left_out(expectation, cases) if concludes and result is not None else (),
        points=kind.points(expectation, evidence.read) if result is not None else (),
        details={} if result is None else _details(expectation, claim, evidence, result),
        strength=strength_of(judged) if concludes else None,
    )


def _entry_sentence(
    judged: Judged, claim: Claim, evidence: Evidence, found: Found | None, *, concludes: bool
) -> str:
    """What was found, and what would settle it; or why the test was refused."""
    if found is None:
        help_ = ", and more seeds would not help" if seeds_are_no_use(judged, claim) else ""
        return f"Not tested{help_}: {judged.refused}."
    expectation = judged.expectation
    text = kind_of(expectation).sentence(expectation, claim.context(), found)
    more = settling(judged, claim, evidence) if concludes else None
    return text if more is None else f"{text} {more.text}"


def _left_out(expectation: Expectation, cases: tuple[Case, ...]) -> tuple[doc.LeftOut, ...]:
    """Without each seed of its own arms; what goes whole has the number of its first arm."""
    found = []
    for case in cases:
        again = case.judged.get(expectation.id)
        if again is not None and not case.task and case.concerns(expectation):
            found.append(
                doc.LeftOut(
                    arm=case.arm if case.arm in expectation.of else expectation.of[0],
                    replicate=case.number,
                    conclusion=None if again.refused else again.conclusion,
                    refused=again.refused,
                )
            )
    return tuple(found)


def _interval(result: TestResult) -> base.IntervalPart | None:
    interval = result.interval
    if interval is None:
        return None
    return base.IntervalPart(
        low=finite(interval.low), high=finite(interval.high), level=interval.level
    )


def _smallest_margin(result: TestResult | None) -> float | None:
    """The smallest margin that these data could have confirmed; of looks, by the present one."""
    if result is None:
        return None
    interval = result.interval
    if isinstance(result, SequentialResult) and result.tails == 2 and interval is not None:
        low = 0.0 if result.low is None else -interval.low
        high = 0.0 if result.high is None else interval.high
        return finite(max(0.0, low, high))
    return result.smallest_confirmable_margin if isinstance(result, MarginResult) else None


def _details(
    expectation: Expectation, claim: Claim, evidence: Evidence, result: TestResult
) -> dict[str, str]:
    """Facts about the test that have no field of their own."""
    kind = kind_of(expectation)
    facts = kind.details(expectation, claim.context(), result)
    facts |= kind.facts_of_points(expectation, evidence.read)
    if expectation.code:
        facts = {**facts, "judged_by": expectation.code}
    if isinstance(result, SequentialResult) and result.left_out:
        alone = ", ".join(map(str, result.left_out))
        facts = {**facts, "without_a_partner": f"{alone}; left out"}
    if isinstance(result, GroupResult) and result.waiting:
        waiting = f"{result.waiting}, which count at the next planned look"
        facts = {**facts, "pairs_after_the_last_look": waiting}
    seeds = list(dict.fromkeys(fmt.count(n) for n in result.n))
    said = f"{seeds[0]} per arm" if len(seeds) == 1 < len(result.n) else " and ".join(seeds)
    few = few_seeds(result)
    facts |= {doc.FEW_SEEDS: few} if few else {}
    called = kind.replicate(expectation, claim.seeds.plan) or "seed"
    return ({f"{called}s": said} if kind.counts_seeds else {}) | facts
