"""What would change or sharpen a verdict: more seeds, another scale, or nothing."""

from __future__ import annotations

from repro.check.expectations import decisive
from repro.check.results import Judged
from repro.errors import ClaimError
from repro.evidence import Evidence
from repro.report import document as doc
from repro.specs.claim import Claim
from repro.specs.expectation import Difference, Expectation
from repro.stats.planning import seeds_to_settle
from repro.verdict import Conclusion, Validity

NEXT = {"quick": "bench", "bench": "paper"}


def what_would_change(
    claim: Claim, evidence: Evidence, validity: Validity, judged: tuple[Judged, ...]
) -> tuple[doc.ScaleStep, ...]:
    """Steps that would change the verdict, nearest first."""
    steps = []
    command = f"repro verify {claim.file} --scale {claim.scale}"
    if validity is Validity.INCOMPLETE:
        steps.append(doc.ScaleStep(text="Train the seeds that are missing.", command=command))
    elif validity is Validity.INVALID:
        text = "Find out why the control failed or the artefact is damaged, then train again."
        steps.append(doc.ScaleStep(text=text, command=command))
    elif validity is Validity.NOT_COMPARABLE:
        text = "Change the arms until they are equal in what the claim declares to be equal."
        steps.append(doc.ScaleStep(text=text, command=None))
    else:
        steps.extend(_more_seeds(one, evidence) for one in judged if _undecided(one, claim))
    larger = NEXT.get(claim.scale)
    if larger:
        text = f"The {larger} scale is nearer to the paper's experiment."
        command = f"repro verify {claim.file} --scale {larger}"
        steps.append(doc.ScaleStep(text=text, command=command))
    return tuple(steps)


def _undecided(one: Judged, claim: Claim) -> bool:
    ids = {expectation.id for expectation in decisive(claim)}
    return one.expectation.id in ids and one.finding.conclusion is Conclusion.INCONCLUSIVE


def _more_seeds(one: Judged, evidence: Evidence) -> doc.ScaleStep:
    """How many seeds would settle an inconclusive expectation, were these data the truth."""
    expectation, result = one.expectation, one.result
    if result is None:
        return doc.ScaleStep(text=f"'{expectation.id}': {one.refusal}", command=None)
    a, b = (evidence.sample(arm, expectation.measurement) for arm in expectation.of)
    try:
        seeds = seeds_to_settle(result, a, b, border=_border(expectation))
    except ClaimError as error:
        return doc.ScaleStep(text=f"'{expectation.id}': {error}", command=None)
    if seeds is None:
        text = (
            f"'{expectation.id}' would not be settled by a thousand seeds: the effect found lies "
            "at the declared limit."
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
    return one.smallest_effect.abs * (-1 if one.direction == "lower" else 1)
