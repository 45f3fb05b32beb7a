"""Fragility: does the conclusion hang on one seed, on the threshold, or on the choice of test?"""

from __future__ import annotations

from collections.abc import Callable

from repro.check.expectations import Read, decisive, finding, findings
from repro.errors import ClaimError
from repro.evidence import Evidence
from repro.report import document as doc
from repro.specs.claim import Claim
from repro.specs.expectation import Difference, Expectation, Ratio
from repro.specs.measurement import Rank
from repro.stats.comparison import student, welch
from repro.verdict import Conclusion, Flag, FlagKind, conclude_conjunction, conclude_difference

CEILING = 0.99
"""Share of the largest possible rank from which on a ratio can hardly grow."""


def claim_conclusion(claim: Claim, read: Read) -> Conclusion:
    """The conjunction of the decisive expectations."""
    leaves = list(findings(claim, read).values())
    return conclude_conjunction(leaves, alpha=claim.alpha).conclusion


def left_out(
    evidence: Evidence, judge: Callable[[Read], Conclusion], arms: tuple[str, ...]
) -> tuple[doc.LeftOut, ...]:
    """The conclusion with each finished replicate of ``arms`` left out in turn."""
    outcomes = []
    for arm in arms:
        for one in evidence.finished(arm):
            rest = evidence.without(arm, one.number)
            if not rest.finished(arm):
                continue
            conclusion = judge(rest.sample)
            outcomes.append(doc.LeftOut(arm=arm, replicate=one.number, conclusion=conclusion.value))
    return tuple(outcomes)


def flags(
    claim: Claim,
    evidence: Evidence,
    conclusion: Conclusion,
    canaries: tuple[doc.Canary, ...],
) -> tuple[Flag, ...]:
    """Every reason why ``conclusion`` is fragile."""
    return (
        *_one_seed(claim, evidence, conclusion),
        *_tolerance(claim, evidence),
        *_test_choice(claim, evidence),
        *_ceiling(claim, evidence),
        *_canary(canaries),
    )


def _one_seed(claim: Claim, evidence: Evidence, conclusion: Conclusion) -> list[Flag]:
    changed = [
        one
        for one in left_out(evidence, lambda read: claim_conclusion(claim, read), tuple(claim.arms))
        if one.conclusion != conclusion
    ]
    if not changed:
        return []
    total = sum(len(evidence.finished(arm)) for arm in claim.arms)
    example = changed[0]
    text = (
        f"Leaving out one seed changes the conclusion in {len(changed)} of {total} cases; without "
        f"seed {example.replicate} of {claim.arms[example.arm].label} it is {example.conclusion}."
    )
    return [Flag(FlagKind.ONE_SEED_LEFT_OUT, text)]


def _on_ranks(claim: Claim) -> list[Expectation]:
    return [one for one in decisive(claim) if isinstance(claim.measurements[one.measurement], Rank)]


def _tolerance(claim: Claim, evidence: Evidence) -> list[Flag]:
    found = []
    for one in _on_ranks(claim):
        declared = finding(one, claim, evidence.sample).conclusion
        for name, words in (("tenth", "a tenth of"), ("tenfold", "ten times")):
            other = finding(one, claim, _detail_reader(evidence, name)).conclusion
            if other is not declared:
                text = f"At {words} Press's threshold '{one.id}' would be {other}, not {declared}."
                found.append(Flag(FlagKind.TOLERANCE, text))
    return found


def _detail_reader(evidence: Evidence, name: str) -> Read:
    return lambda arm, measurement: evidence.detail(arm, measurement, name)


def _test_choice(claim: Claim, evidence: Evidence) -> list[Flag]:
    found = []
    for one in decisive(claim):
        if not isinstance(one, Difference):
            continue
        name, other = ("Welch", welch) if one.test == "student" else ("Student", student)
        declared = finding(one, claim, evidence.sample).conclusion
        smallest = None if one.smallest_effect is None else one.smallest_effect.abs
        a, b = (evidence.sample(arm, one.measurement) for arm in one.of)
        try:
            result = other(a, b, alpha=claim.alpha)
        except ClaimError:
            continue
        conclusion = conclude_difference(
            result, direction=one.direction, smallest_effect=smallest
        ).conclusion
        if conclusion is not declared:
            text = f"By {name}'s test '{one.id}' would be {conclusion}, not {declared}."
            found.append(Flag(FlagKind.TEST_CHOICE, text))
    return found


def _ceiling(claim: Claim, evidence: Evidence) -> list[Flag]:
    found = []
    for one in _on_ranks(claim):
        if not isinstance(one, Ratio):
            continue
        arm = one.of[0]
        largest = [
            min(r.details[one.measurement]["rows"], r.details[one.measurement]["columns"])
            for r in evidence.finished(arm)
        ]
        values = evidence.sample(arm, one.measurement).values
        if any(v >= CEILING * top for v, top in zip(values, largest, strict=True)):
            label = claim.arms[arm].label
            text = f"{label} reaches the largest rank possible, so the ratio could not be larger."
            found.append(Flag(FlagKind.CEILING, text))
    return found[:1]


def _canary(canaries: tuple[doc.Canary, ...]) -> list[Flag]:
    return [
        Flag(
            FlagKind.CANARY,
            f"{one.statement}: expected {one.expected}, measured {one.measured}, which is lower "
            "than a model trained normally reaches.",
        )
        for one in canaries
        if one.state == "flagged"
    ]
