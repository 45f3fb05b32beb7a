"""How strong a conclusion is, and where the test behind it is known to lose its level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from repro.errors import ClaimError
from repro.evidence.base import Evidence
from repro.expectations.base import GroupSequential
from repro.expectations.kinds import kind_of
from repro.expectations.rules import Conclusion
from repro.judging.document_parts import Level, Strength
from repro.judging.judged import Judged, all_must_hold
from repro.specs.claim import Claim
from repro.specs.expectation import All, AtLeastOne, Node
from repro.stats.error_rates import (
    Design,
    design_of_one,
    designs_of,
    key_of,
    level_of,
    of_units,
    worst_level,
)
from repro.stats.records import Arm, Sample, TestResult, match
from repro.stats.stopping import SequentialResult

Looks = Literal["one", "planned", "every"]


LOOKS: dict[str, Looks] = {"group_obf": "planned", "eprocess_t": "every"}


def strength_of(judged: Judged) -> Strength | None:
    """The level of one expectation; None where it was not tested.

    A two-sided test finds a declared direction at half its alpha; a claim that two arms differ
    in either direction has both halves.
    """
    result = judged.result
    if result is None:
        return None
    if result.p is None:
        return Strength(one_sided_level=None)
    either = kind_of(judged.expectation).either_way(judged.expectation)
    halved = _two_sided(result) and not either
    return Strength(
        one_sided_level=result.alpha / 2 if halved else result.alpha,
        tails=2 if either else 1,
        looks=_looks(result),
    )


def strength_of_claim(
    claim: Claim, conclusion: Conclusion | None, decisive: Sequence[Judged]
) -> Strength | None:
    """The level of a claim: that of its weakest part, in its family that of the family.

    It bounds the chance of a false conclusion for every tree: a conjunction is confirmed at the
    level of each part, and what needs one part alone is corrected over all of them (Holm). A
    conjunction that one seed beyond a bound contradicts leaves nothing to chance.
    """
    if conclusion in (None, Conclusion.NOT_TESTED):
        return None
    if conclusion is Conclusion.CONTRADICTED and all_must_hold(claim):
        certain = [one.result is not None and one.result.p is None for one in _against(decisive)]
        if any(certain):
            return Strength(one_sided_level=None)
    found = [strength for one in decisive if (strength := strength_of(one)) is not None]
    levels = [one for one in found if one.one_sided_level is not None]
    if not levels:
        return Strength(one_sided_level=None) if found else None
    weakest = max(levels, key=lambda one: (one.one_sided_level or 0.0, one.tails))
    if claim.family is None:
        return weakest
    # An e-value of a difference is that of both directions: e-BH has no half to speak of.
    level = claim.alpha if claim.family.method == "e_bh" else weakest.one_sided_level
    return weakest.model_copy(update={"one_sided_level": level, "family": claim.family.method})


def _against(decisive: Sequence[Judged]) -> list[Judged]:
    return [one for one in decisive if one.conclusion is Conclusion.CONTRADICTED]


def _looks(result: TestResult) -> Looks:
    """Over which looks the level holds; the seeds of a table without an order had but one."""
    several = isinstance(result, SequentialResult) and len(result.looks) > 1
    return LOOKS.get(result.test, "one") if several else "one"


def _two_sided(result: TestResult) -> bool:
    if isinstance(result, SequentialResult):
        return result.tails == 1
    return result.alternative == "two-sided"


def measured_levels(
    claim: Claim, judged: tuple[Judged, ...], evidence: Evidence
) -> tuple[Level, ...]:
    """What is known against the test of every expectation, and of all of them, near its design."""
    looks = claim.sequential.looks if isinstance(claim.sequential, GroupSequential) else ()
    found = []
    for one in judged:
        if one.result is None:
            continue
        text = level_of(one.result, _designs(one, one.result, evidence), looks=looks)
        if text is not None:
            test = one.result.test
            found.append(Level(expectation=one.expectation.id, test=test, text=text))
    return (*found, *_together(claim, judged, evidence))


def _together(claim: Claim, judged: tuple[Judged, ...], evidence: Evidence) -> Iterator[Level]:
    """The levels of what Holm's method joins: parts of which one is enough, claims of a family."""
    decisive = [one for one in judged if one.expectation.role == "decisive" and one.result]
    designs = [
        design
        for one in decisive
        if one.result is not None and not of_units(key_of(one.result))
        for design in _designs(one, one.result, evidence)
    ]
    by_holm = {
        "any": claim.combine is not None and _has_any(claim.combine),
        "family": claim.family is not None and claim.family.method == "holm",
    }
    for key, joined in by_holm.items():
        text = worst_level(key, designs) if joined else None
        if text is not None:
            yield Level(expectation=decisive[0].expectation.id, test="holm", text=text)


def _has_any(node: Node) -> bool:
    if isinstance(node, AtLeastOne):
        return True
    return isinstance(node, All) and any(_has_any(part) for part in node.all)


def _designs(judged: Judged, result: TestResult, evidence: Evidence) -> tuple[Design, ...]:
    """What the arms, or the differences within pairs, look like; none where nothing is known."""
    try:
        expectation = judged.expectation
        arms = [evidence.read(arm, expectation.measurement) for arm in expectation.of]
        if kind_of(expectation).scale(expectation) == "ratio":
            arms = [_logarithms(arm) for arm in arms]
        if result.paired:
            return (design_of_one(_differences(arms)),)
    except ClaimError:
        return ()
    return () if of_units(key_of(result)) else designs_of(arms)


def _logarithms(arm: Arm) -> Arm:
    return arm.log() if isinstance(arm, Sample) else arm


def _differences(arms: list[Arm]) -> Sample:
    """First minus second arm, pair by pair."""
    first, second = match(arms[:2], "pairs")
    return Sample.of(*(a - b for a, b in zip(first.values, second.values, strict=True)))
