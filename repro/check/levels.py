"""Where a test that was used is known to lose its level, as measured beforehand."""

from __future__ import annotations

from repro.check.expectations import Judged
from repro.errors import ClaimError
from repro.evidence import Evidence
from repro.report.judgement import Level
from repro.specs.claim import Claim
from repro.specs.seeds import GroupSequential
from repro.stats.levels import level_of
from repro.stats.sample import summarise


def measured_levels(
    claim: Claim, judged: tuple[Judged, ...], evidence: Evidence
) -> tuple[Level, ...]:
    """What is known against the test of every expectation, near its design."""
    looks = claim.sequential.looks if isinstance(claim.sequential, GroupSequential) else ()
    found = []
    for one in judged:
        if one.result is None:
            continue
        text = level_of(one.result, sd_ratio=_ratio(one, evidence), looks=looks)
        if text is not None:
            test = one.result.test
            found.append(Level(expectation=one.expectation.id, test=test, text=text))
    return tuple(found)


def _ratio(one: Judged, evidence: Evidence) -> float | None:
    """The largest ratio of the arms' standard deviations; None where it is not known."""
    try:
        arms = [evidence.read(arm, one.expectation.measurement) for arm in one.expectation.of]
        spreads = [summarise(arm).spread for arm in arms]
    except ClaimError:
        return None
    if len(spreads) < 2 or min(spreads) == 0:
        return None
    return max(spreads) / min(spreads)
