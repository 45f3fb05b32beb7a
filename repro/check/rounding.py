"""Does a conclusion hang on the digits that a paper left out?

A printed mean and a printed standard deviation are each known to half a unit of their last digit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from repro.check.agreement import half_unit
from repro.check.expectations import Judged, judge
from repro.check.kinds import Read, heading
from repro.evidence import Evidence
from repro.specs.claim import Claim
from repro.stats.sample import Arm, Summary
from repro.verdict import Flag, FlagKind

Corner = Mapping[str, tuple[int, int]]
"""arm -> the side to which its means, and its standard deviations, are moved: -1 or 1."""


def rounding(claim: Claim, evidence: Evidence, own: tuple[Judged, ...]) -> list[Flag]:
    """A flag for each of these expectations that the unrounded numbers could turn over.

    Tried are the corners: every mean and deviation of an arm at the same end of what it may be.
    """
    found = []
    for one in own:
        printed = [arm for arm in one.expectation.of if arm in evidence.published]
        if one.refused or not printed:
            continue
        for corner in _corners(printed):
            again = judge(one.expectation, claim, _reader(claim, evidence, corner))
            if not again.refused and again.conclusion is not one.conclusion:
                whose = " and ".join(claim.arms[arm].label for arm in printed)
                text = (
                    f"{heading(one.expectation, claim)}: within the rounding of the printed "
                    f"numbers ({whose}) it could be {again.conclusion}."
                )
                found.append(Flag(FlagKind.ROUNDING, text))
                break
    return found


def _corners(printed: list[str]) -> Iterator[Corner]:
    sides = tuple((mean, sd) for mean in (-1, 1) for sd in (-1, 1))
    for chosen in product(sides, repeat=len(printed)):
        yield dict(zip(printed, chosen, strict=True))


def _reader(claim: Claim, evidence: Evidence, corner: Corner) -> Read:
    """Reads printed numbers at one end of what they may have been before they were rounded."""

    def read(arm: str, measurement: str) -> Arm:
        known = evidence.read(arm, measurement)
        texts = (claim.arms[arm].published or {}).get(measurement)
        if arm not in corner or texts is None or not isinstance(known, Summary):
            return known
        mean, sd = corner[arm]
        moved = known.mean + mean * half_unit(texts.mean)
        if known.sd is None or texts.sd is None:
            return Summary(known.n, moved, known.sd)
        return Summary(known.n, moved, max(0.0, known.sd + sd * half_unit(texts.sd)))

    return read
