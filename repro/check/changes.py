"""What would change or sharpen a verdict: more seeds, another scale, or nothing."""

from __future__ import annotations

from collections.abc import Sequence

from repro.check.expectations import Judged, all_must_hold, joined
from repro.check.parts import shown_file
from repro.errors import ClaimError
from repro.evidence import Evidence, Replicate
from repro.report import document as doc
from repro.specs.claim import SCALES, Claim
from repro.specs.expectation import Difference, Expectation
from repro.stats.planning import seeds_to_settle
from repro.verdict import Conclusion, Validity, Verdict

LARGER = {
    "bench": "The bench scale is the next larger one that the claim file declares.",
    "paper": "The paper scale is what the claim file declares to be the paper's experiment.",
}


def what_would_change(
    claim: Claim, evidence: Evidence, verdict: Verdict, judged: tuple[Judged, ...]
) -> tuple[doc.ScaleStep, ...]:
    """Steps that would change the verdict, nearest first."""
    file, place = shown_file(claim.file), SCALES.index(claim.scale)
    steps = []
    if verdict.validity is Validity.VALID:
        if verdict.conclusion is Conclusion.NOT_TESTED:
            steps += [_test(one) for one in judged if one.refused and _decides(one)]
        if verdict.conclusion is Conclusion.INCONCLUSIVE:
            own = [one for one in judged if _decides(one)]
            alone = joined(claim, own).conclusion
            if claim.sequential is not None:
                steps.append(_more_looks(claim, evidence, file))
            elif alone is not Conclusion.INCONCLUSIVE:
                steps.append(_family(claim, alone))
            else:
                steps += [_more_seeds(one, claim, evidence) for one in own if _undecided(one)]
            if alone is Conclusion.INCONCLUSIVE and all_must_hold(claim):
                steps += [_holm(one, len(own)) for one in own if _contradicted(one)]
    else:
        steps.append(_mend(claim, evidence, verdict.validity, file))
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
        text = f"The claim ends at {most} seeds an arm, and they are there: it stays undecided."
        return doc.ScaleStep(text=text, command=None)
    if all(arm in evidence.tables for arm in growing):
        text = f"Add seeds to its table: the claim ends at {most} seeds an arm."
        return doc.ScaleStep(text=text, command=None)
    text = f"Look again with more seeds: there are {claim.wanted} an arm of at most {most}."
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


def _undecided(one: Judged) -> bool:
    return one.conclusion in (Conclusion.INCONCLUSIVE, Conclusion.NOT_TESTED)


def _contradicted(one: Judged) -> bool:
    return one.conclusion is Conclusion.CONTRADICTED


def _test(one: Judged) -> doc.ScaleStep:
    """What a test that refused the evidence needs; more seeds only where they would help."""
    help_ = "" if one.too_few else "More seeds would not help, but what its test asks for: "
    return doc.ScaleStep(text=f"'{one.expectation.id}': {help_}{one.refused}.", command=None)


def _family(claim: Claim, alone: Conclusion) -> doc.ScaleStep:
    members = 0 if claim.family is None else len(claim.family.members)
    text = (
        f"By itself the claim is {alone}, but not at its level among the {members} claims of its "
        "family: more seeds would tell."
    )
    return doc.ScaleStep(text=text, command=None)


def _holm(one: Judged, leaves: int) -> doc.ScaleStep:
    text = (
        f"'{one.expectation.id}' is contradicted on its own, but not at its Holm level among "
        f"{leaves} expectations: more seeds would tell."
    )
    return doc.ScaleStep(text=text, command=None)


def _more_seeds(one: Judged, claim: Claim, evidence: Evidence) -> doc.ScaleStep:
    """How many seeds would settle an inconclusive expectation, were these data the truth."""
    expectation, result = one.expectation, one.result
    if result is None:
        return _test(one)
    if len(expectation.of) != 2:
        text = f"'{expectation.id}': more seeds would tell; how many is not computed."
        return doc.ScaleStep(text=text, command=None)
    printed = [claim.arms[arm].label for arm in expectation.of if arm in evidence.published]
    if printed:
        text = (
            f"'{expectation.id}': the seeds of {' and '.join(printed)} are printed and cannot be "
            "more, so how many others would settle it is not computed."
        )
        return doc.ScaleStep(text=text, command=None)
    a, b = (evidence.read(arm, expectation.measurement) for arm in expectation.of)
    try:
        seeds = seeds_to_settle(result, a, b, border=_border(expectation))
    except ClaimError as error:
        return doc.ScaleStep(text=f"'{expectation.id}': {error}", command=None)
    if seeds is None:
        text = (
            f"'{expectation.id}' would hardly be settled by a thousand seeds: the effect found is "
            "too close to the declared limit."
        )
        return doc.ScaleStep(text=text, command=None)
    text = (
        f"About {seeds} seeds an arm would settle '{expectation.id}' four times in five, if the "
        f"effect and the scatter are as found here; there are {result.n[0]} and {result.n[1]}."
    )
    return doc.ScaleStep(text=text, command=None)


def _border(one: Expectation) -> float:
    if not isinstance(one, Difference) or one.smallest_effect is None:
        return 0.0
    return one.smallest_effect.size * (-1 if one.direction == "lower" else 1)
