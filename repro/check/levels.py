"""Where a test that was used is known to lose its level, as measured beforehand."""

from __future__ import annotations

from collections.abc import Iterator

from repro.check.expectations import Judged
from repro.errors import ClaimError
from repro.evidence import Evidence
from repro.report.judgement import Level
from repro.specs.claim import Claim
from repro.specs.expectation import All, AtLeastOne, Node, Ratio
from repro.specs.seeds import GroupSequential
from repro.stats.levels import (
    Design,
    design_of_one,
    designs_of,
    key_of,
    level_of,
    of_units,
    worst_level,
)
from repro.stats.pairs import match
from repro.stats.result import TestResult
from repro.stats.sample import Arm, Sample


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
    """Of what Holm's method joins: parts of which one is enough, and claims of a family."""
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


def _designs(one: Judged, result: TestResult, evidence: Evidence) -> tuple[Design, ...]:
    """What the arms, or the differences within pairs, look like; none where nothing is known."""
    try:
        arms = [evidence.read(arm, one.expectation.measurement) for arm in one.expectation.of]
        if isinstance(one.expectation, Ratio):
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
