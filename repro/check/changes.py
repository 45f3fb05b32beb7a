"""What would change or sharpen a verdict: more seeds, another scale, or nothing."""

from __future__ import annotations

from collections.abc import Sequence

from repro.check.drift import reversals
from repro.check.expectations import Judged, all_must_hold, joined
from repro.check.kinds import heading
from repro.check.parts import shown_file
from repro.check.settle import settling
from repro.evidence import Evidence, Replicate
from repro.report import document as doc
from repro.report import format as fmt
from repro.report.judgement import DesignPart
from repro.specs.claim import SCALES, Claim
from repro.verdict import Conclusion, Validity, Verdict

LARGER = {
    "bench": "Run it at the next larger scale, bench, another experiment with its own verdict.",
    "paper": "Run it at the paper scale, the paper's own experiment.",
}

DRIFTED = doc.ScaleStep(
    text="Find out in what the first seeds differ from the later ones, and judge new ones.",
    command=None,
)


def what_would_change(
    claim: Claim,
    evidence: Evidence,
    verdict: Verdict,
    judged: tuple[Judged, ...],
    design: tuple[DesignPart, ...],
) -> tuple[doc.ScaleStep, ...]:
    """Steps that would change the verdict, nearest first."""
    file, place = shown_file(claim.file), SCALES.index(claim.scale)
    steps = []
    if verdict.validity is Validity.VALID:
        if verdict.conclusion is Conclusion.NOT_TESTED:
            steps += [_test(one, claim) for one in judged if one.refused and _decides(one)]
            if claim.sequential is not None:  # what does not vary yet may vary later
                steps.append(_more_looks(claim, evidence, file))
        if verdict.conclusion is Conclusion.INCONCLUSIVE:
            own = [one for one in judged if _decides(one)]
            alone = joined(claim, own).conclusion
            if claim.sequential is not None:
                steps.append(_more_looks(claim, evidence, file))
            elif alone is not Conclusion.INCONCLUSIVE:
                steps.append(_family(claim, alone))
            else:
                more = [_more_seeds(one, claim, evidence, design) for one in own]
                steps += [step for step in more if step is not None]
            if alone is Conclusion.INCONCLUSIVE and all_must_hold(claim):
                steps += [_holm(one, claim, len(own)) for one in own if _contradicted(one)]
    else:
        drifted = bool(reversals(claim, judged))
        steps.append(DRIFTED if drifted else _mend(claim, evidence, verdict.validity, file))
    larger = next((one for one in claim.declared if SCALES.index(one) > place), None)
    if larger:
        command = f"repro verify {file} --scale {larger}"
        steps.append(doc.ScaleStep(text=LARGER[larger], command=command))
    return tuple(steps)


def _more_looks(claim: Claim, evidence: Evidence, file: str) -> doc.ScaleStep:
    """A sequential claim grows look by look, up to its largest number of seeds."""
    most = claim.seeds.max or claim.seeds.plan
    growing = [arm for arm in claim.arms if arm not in evidence.published]
    if min(len(evidence.arms[arm]) for arm in growing) >= most:
        text = f"The claim ends at {most} seeds per arm, and they are there: it stays undecided."
        return doc.ScaleStep(text=text, command=None)
    if all(arm in evidence.tables for arm in growing):
        text = f"Add seeds to its table: the claim ends at {most} seeds per arm."
        return doc.ScaleStep(text=text, command=None)
    text = f"Look again with more seeds: there are {claim.wanted} per arm, and {most} at most."
    command = f"repro verify {file} --scale {claim.scale} --nightly"
    return doc.ScaleStep(text=text, command=command)


def _mend(claim: Claim, evidence: Evidence, validity: Validity, file: str) -> doc.ScaleStep:
    """What makes evidence valid that is not."""
    command = f"repro verify {file} --scale {claim.scale}"
    if validity in (Validity.INCOMPLETE, Validity.STALE):
        runs = [one for replicates in evidence.arms.values() for one in replicates]
        if any(one.state in ("missing", "stale") and one.key for one in runs):
            return doc.ScaleStep(text="Train the seeds that are missing.", command=command)
        short = [arm for arm in evidence.tables if _lacks_seeds(claim, evidence.arms[arm])]
        if short:
            files = dict.fromkeys(evidence.tables[arm].file for arm in short)
            text = f"Add the seeds that are missing to {', '.join(files)}."
            return doc.ScaleStep(text=text, command=None)
        text = "Too many runs diverged for the declared number of seeds: plan more seeds."
        return doc.ScaleStep(text=text, command=None)
    if validity is Validity.NOT_COMPARABLE:
        text = "Change the arms until they are equal in what the claim declares to be equal."
        return doc.ScaleStep(text=text, command=None)
    text = "Find out why the control failed or the artefact is damaged, then train again."
    return doc.ScaleStep(text=text, command=command)


def _decides(one: Judged) -> bool:
    return one.expectation.role == "decisive"


def _lacks_seeds(claim: Claim, replicates: Sequence[Replicate]) -> bool:
    """Whether a table has fewer seeds of an arm than were planned, or one that is not finished."""
    return len(replicates) < claim.seeds.plan or any(one.state == "missing" for one in replicates)


def _contradicted(one: Judged) -> bool:
    return one.conclusion is Conclusion.CONTRADICTED


def _test(one: Judged, claim: Claim) -> doc.ScaleStep:
    """What a test that refused the evidence needs; more seeds only where they would help."""
    help_ = "" if one.too_few else "More seeds would not help, but what its test asks for: "
    text = f"{heading(one.expectation, claim)}: {help_}{one.refused}."
    return doc.ScaleStep(text=text, command=None)


def _family(claim: Claim, alone: Conclusion) -> doc.ScaleStep:
    members = 0 if claim.family is None else len(claim.family.members)
    text = (
        f"By itself the claim is {alone}, but not at its level among the {members} claims of its "
        "family: more seeds would tell."
    )
    return doc.ScaleStep(text=text, command=None)


def _holm(one: Judged, claim: Claim, leaves: int) -> doc.ScaleStep:
    text = (
        f"{heading(one.expectation, claim)}: contradicted on its own, but not at its Holm level "
        f"among {leaves} expectations. More seeds would tell."
    )
    return doc.ScaleStep(text=text, command=None)


def _more_seeds(
    one: Judged, claim: Claim, evidence: Evidence, design: tuple[DesignPart, ...]
) -> doc.ScaleStep | None:
    """How many seeds would settle an open expectation, and how that differs from the plan."""
    name, result = heading(one.expectation, claim), one.result
    if result is None:
        return _test(one, claim)
    found = settling(one, claim, evidence)
    if found is None:
        return None
    text = f"{name}: {found.text[:1].lower()}{found.text[1:]}"
    if found.seeds is not None:
        there = " and ".join(dict.fromkeys(fmt.count(n) for n in result.n))
        text = (
            f"{text.rstrip('.')}, four times in five, if effect and scatter are those found "
            f"here. There are {there} per arm now.{_planned(one, design)}"
        )
    return doc.ScaleStep(text=text, command=None)


def _planned(one: Judged, design: tuple[DesignPart, ...]) -> str:
    """The number of seeds that the plan needs, which knew no result."""
    for part in design:
        if part.expectation == one.expectation.id and part.seeds_80 is not None:
            n, effect = fmt.count(part.seeds_80), part.assumed_effect
            return f" The plan, made before any result, needs {n} for {effect or 'its effect'}."
    return ""
