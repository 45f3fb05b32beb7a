"""Fragility: does the conclusion hang on one seed, on the threshold, on the test, on a family?"""

from __future__ import annotations

from collections.abc import Callable

from repro.check.expectations import Judged, Read, conjunction, decisive, judge
from repro.errors import ClaimError
from repro.evidence import Evidence
from repro.report import document as doc
from repro.report import format as fmt
from repro.specs.claim import Claim
from repro.specs.expectation import Difference, Ratio
from repro.specs.measurement import Rank
from repro.stats.comparison import student, welch
from repro.verdict import Conclusion, Flag, FlagKind, conclude_difference

CEILING = 0.99
"""Share of the largest possible rank from which on a ratio can hardly grow."""

WORDS: dict[Conclusion, doc.ConclusionWord] = {
    Conclusion.CONFIRMED: "CONFIRMED",
    Conclusion.CONTRADICTED: "CONTRADICTED",
    Conclusion.INCONCLUSIVE: "INCONCLUSIVE",
    Conclusion.TRIVIAL: "TRIVIAL",
}

Outcome = Conclusion | None
"""A conclusion, or None where the remaining replicates are too few for the test."""

Judgements = tuple[Judged, ...]


def left_out(
    evidence: Evidence, judge_again: Callable[[Read], Outcome], arms: tuple[str, ...]
) -> tuple[doc.LeftOut, ...]:
    """The conclusion with each finished replicate of ``arms`` left out in turn."""
    outcomes = []
    for arm in arms:
        for one in evidence.finished(arm):
            rest = evidence.without(arm, one.number)
            conclusion = judge_again(rest.sample) if rest.finished(arm) else None
            word = None if conclusion is None else WORDS[conclusion]
            outcomes.append(doc.LeftOut(arm=arm, replicate=one.number, conclusion=word))
    return tuple(outcomes)


def flags(
    claim: Claim, evidence: Evidence, judged: Judgements, canaries: tuple[doc.Canary, ...]
) -> tuple[Flag, ...]:
    """Every reason why the conclusion is fragile, or what a reader must know beside it."""
    own = tuple(one for one in judged if one.expectation.role == "decisive")
    conclusion = conjunction(claim, own)
    return (
        *_one_seed(claim, evidence, conclusion),
        *_multiplicity(own, conclusion),
        *_tolerance(claim, evidence, own),
        *_test_choice(claim, evidence, own),
        *_ceiling(claim, evidence, own),
        *_canary(canaries),
        *_diverged(claim, evidence),
    )


def _one_seed(claim: Claim, evidence: Evidence, conclusion: Conclusion) -> list[Flag]:
    def again(read: Read) -> Outcome:
        judged = [judge(one, claim, read) for one in decisive(claim)]
        return None if any(one.refused for one in judged) else conjunction(claim, judged)

    cases = left_out(evidence, again, tuple(claim.arms))
    changed = [one for one in cases if one.conclusion not in (None, conclusion.value)]
    if not changed:
        return []
    example = changed[0]
    text = (
        f"Leaving out one seed changes the conclusion in {len(changed)} of {len(cases)} cases; "
        f"without seed {example.replicate} of {claim.arms[example.arm].label} it is "
        f"{example.conclusion}."
    )
    return [Flag(FlagKind.ONE_SEED_LEFT_OUT, text)]


def _multiplicity(own: Judgements, conclusion: Conclusion) -> list[Flag]:
    """A leaf that is contradicted on its own, but not at its level among all of them."""
    if conclusion is Conclusion.CONTRADICTED:
        return []
    return [
        Flag(
            FlagKind.MULTIPLICITY,
            f"'{one.expectation.id}' is contradicted on its own ({fmt.p_value(p)}), but not at "
            f"its Holm level among {len(own)} expectations.",
        )
        for one in own
        if one.conclusion is Conclusion.CONTRADICTED
        for p in (one.finding.p_opposite,)
    ]


def _on_ranks(claim: Claim, own: Judgements) -> list[Judged]:
    return [one for one in own if isinstance(claim.measurements[one.expectation.measurement], Rank)]


def _tolerance(claim: Claim, evidence: Evidence, own: Judgements) -> list[Flag]:
    found = []
    for one in _on_ranks(claim, own):
        for name, words in (("tenth", "a tenth of"), ("tenfold", "ten times")):
            other = judge(one.expectation, claim, _detail_reader(evidence, name)).conclusion
            if other is not one.conclusion:
                text = (
                    f"At {words} Press's threshold '{one.expectation.id}' would be {other}, "
                    f"not {one.conclusion}."
                )
                found.append(Flag(FlagKind.TOLERANCE, text))
    return found


def _detail_reader(evidence: Evidence, name: str) -> Read:
    return lambda arm, measurement: evidence.detail(arm, measurement, name)


def _test_choice(claim: Claim, evidence: Evidence, own: Judgements) -> list[Flag]:
    found = []
    for judged in own:
        one = judged.expectation
        if not isinstance(one, Difference):
            continue
        name, other = ("Welch", welch) if one.test == "student" else ("Student", student)
        smallest = None if one.smallest_effect is None else one.smallest_effect.abs
        a, b = (evidence.sample(arm, one.measurement) for arm in one.of)
        try:
            result = other(a, b, alpha=claim.alpha)
        except ClaimError:
            continue
        conclusion = conclude_difference(
            result, direction=one.direction, smallest_effect=smallest
        ).conclusion
        if conclusion is not judged.conclusion:
            text = f"By {name}'s test '{one.id}' would be {conclusion}, not {judged.conclusion}."
            found.append(Flag(FlagKind.TEST_CHOICE, text))
    return found


def _ceiling(claim: Claim, evidence: Evidence, own: Judgements) -> list[Flag]:
    for judged in _on_ranks(claim, own):
        one = judged.expectation
        if not isinstance(one, Ratio):
            continue
        runs = evidence.finished(one.of[0])
        details = [run.details[one.measurement] for run in runs]
        largest = [min(each["rows"], each["columns"]) for each in details]
        values = evidence.sample(one.of[0], one.measurement).values
        if any(v >= CEILING * top for v, top in zip(values, largest, strict=True)):
            span = fmt.span(fmt.count(int(min(values))), fmt.count(int(max(values))))
            text = (
                f"{claim.arms[one.of[0]].label} reaches {span} of at most "
                f"{fmt.count(max(largest))}, so the ratio can hardly be larger."
            )
            return [Flag(FlagKind.CEILING, text)]
    return []


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


def _diverged(claim: Claim, evidence: Evidence) -> list[Flag]:
    found = []
    for arm, replicates in evidence.arms.items():
        lost = [str(one.number) for one in replicates if one.state == "diverged"]
        if lost:
            text = (
                f"{claim.arms[arm].label}: {fmt.number_of(len(lost), 'run')} diverged and "
                f"excluded by the declared policy (seed {', '.join(lost)})."
            )
            found.append(Flag(FlagKind.DIVERGED, text))
    return found
