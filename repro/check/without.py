"""A claim judged again with one seed left out, in turn: judged once, for whoever asks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from repro.check.expectations import Judged, judge
from repro.evidence import Evidence
from repro.specs.claim import Claim
from repro.specs.expectation import Association, Difference, Expectation, Proportion
from repro.specs.seeds import EProcess, GroupSequential

MOST_SPLITS = 20_000
"""With more splits than this (8 and 8 have 12,870) a permutation test takes a second or more."""


@dataclass(frozen=True, slots=True)
class Case:
    """All expectations, by id, without one seed of ``arm``; ``pair``: without its partners too.

    An expectation that needs the same numbers in all its arms loses the partners in any case.
    """

    arm: str
    number: int
    pair: bool
    judged: dict[str, Judged]

    def concerns(self, one: Expectation) -> bool:
        """Whether this is a case of its own for ``one``: a number that goes whole is one case."""
        return self.pair or self.arm in (one.of[:1] if goes_whole(one) else one.of)

    def names(self, claim: Claim, *of: Expectation) -> tuple[str, str]:
        """What is left out in such cases, and in this one, as far as these expectations go."""
        own = [one for one in of if self.arm in one.of]
        if self.pair or (own and all(goes_whole(one) and len(one.of) == 2 for one in own)):
            return "pair", f"pair {self.number}"
        if own and all(goes_whole(one) for one in own):
            return "seed of every arm", f"seed {self.number} of every arm"
        return "seed", f"seed {self.number} ({claim.arms[self.arm].label})"


def goes_whole(one: Expectation) -> bool:
    """Whether seeds of one number leave all arms of an expectation together, in any design.

    The units of a proportion are matched by number; clusters of points that change places need
    equally many points each.
    """
    if isinstance(one, Association):
        return one.points == "replicates" and len(one.of) > 1
    return isinstance(one, Proportion) and not one.also


def left_out(
    claim: Claim, evidence: Evidence, judged: tuple[Judged, ...], *, arms: tuple[str, ...]
) -> tuple[Case, ...]:
    """Every finished replicate of ``arms`` left out in turn.

    Where replicates are pairs, a pair is left out whole, and is named by the first arm; a table
    without an order in time is judged at once, and has none in a sequential claim. Planned looks
    leave nothing out: without one seed the last of them would not have been reached.
    """
    if isinstance(claim.sequential, GroupSequential):
        return ()
    in_order = all(evidence.order(arm) != "unknown" for arm in arms)
    pairs = claim.design == "paired" or (isinstance(claim.sequential, EProcess) and in_order)
    return tuple(
        Case(arm, one.number, pairs, dict(_again(claim, evidence, judged, gone, one.number)))
        for arm in (arms[:1] if pairs else arms)
        for gone in (arms if pairs else (arm,),)
        for one in evidence.finished(arm)
    )


def is_slow(one: Expectation, evidence: Evidence) -> bool:
    """Whether the declared test is too slow to be repeated for every seed."""
    if not isinstance(one, Difference) or one.test != "permutation":
        return False
    a, b = (len(evidence.counted(arm)) for arm in one.of)
    return many_splits(a, b)


def many_splits(a: int, b: int) -> bool:
    """Whether a permutation test of so many replicates takes a second or more."""
    return math.comb(a + b, a) > MOST_SPLITS


def _again(
    claim: Claim, evidence: Evidence, judged: tuple[Judged, ...], gone: tuple[str, ...], number: int
) -> Iterator[tuple[str, Judged]]:
    """Those that read an arm of ``gone``, without the seed; the others as they were."""
    for before in judged:
        one = before.expectation
        if not set(one.of) & set(gone):
            yield one.id, before
            continue
        whole = tuple(arm for arm in one.of if goes_whole(one) and arm not in gone)
        rest = _rest(claim, evidence, (*gone, *whole), number)
        if isinstance(one, Proportion) and isinstance(one.clusters, int):
            reason = "clusters are so many units in a row, and one fewer would move all after it"
            yield one.id, replace(before, result=None, refused=reason)
        elif not all(rest.known(arm) for arm in one.of):
            yield one.id, replace(before, result=None, refused="no seed is left")
        elif not is_slow(one, rest):
            yield one.id, judge(one, claim, rest.read)


def _rest(claim: Claim, evidence: Evidence, arms: tuple[str, ...], number: int) -> Evidence:
    """Without this seed of the first of ``arms``, and its partners in the others."""
    place = number - claim.arms[arms[0]].first_seed
    for each in arms:
        evidence = evidence.without(each, place + claim.arms[each].first_seed)
    return evidence
