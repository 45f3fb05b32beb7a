"""A claim judged again with one seed left out, in turn: judged once, for whoever asks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from repro.check.expectations import Judged, judge
from repro.evidence import Evidence
from repro.specs.claim import Claim
from repro.specs.expectation import Difference, Expectation
from repro.specs.seeds import EProcess, GroupSequential

MOST_SPLITS = 20_000
"""With more splits than this (8 and 8 have 12,870) a permutation test takes a second or more."""


@dataclass(frozen=True, slots=True)
class Case:
    """All expectations, by id, without one seed of ``arm``; ``pair``: without its partners too."""

    arm: str
    number: int
    pair: bool
    judged: dict[str, Judged]


def left_out(
    claim: Claim, evidence: Evidence, judged: tuple[Judged, ...], *, arms: tuple[str, ...]
) -> tuple[Case, ...]:
    """Every finished replicate of ``arms`` left out in turn.

    Where replicates are pairs, a pair is left out whole, and is named by the first arm. Planned
    looks leave nothing out: without one seed the last of them would not have been reached.
    """
    if isinstance(claim.sequential, GroupSequential):
        return ()
    pairs = claim.design == "paired" or isinstance(claim.sequential, EProcess)
    return tuple(
        Case(arm, one.number, pairs, _again(claim, rest, judged, arms if pairs else (arm,)))
        for arm in (arms[:1] if pairs else arms)
        for one in evidence.finished(arm)
        for rest in (_rest(claim, evidence, arm, one.number, arms if pairs else (arm,)),)
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


def _rest(
    claim: Claim, evidence: Evidence, arm: str, number: int, arms: tuple[str, ...]
) -> Evidence:
    place = number - claim.arms[arm].first_seed
    for each in arms:
        evidence = evidence.without(each, place + claim.arms[each].first_seed)
    return evidence


def _again(
    claim: Claim, rest: Evidence, judged: tuple[Judged, ...], arms: tuple[str, ...]
) -> dict[str, Judged]:
    """Those that read an arm of ``arms`` anew, the others as they were."""
    return dict(_each(claim, rest, judged, arms))


def _each(
    claim: Claim, rest: Evidence, judged: tuple[Judged, ...], arms: tuple[str, ...]
) -> Iterator[tuple[str, Judged]]:
    for before in judged:
        one = before.expectation
        if not set(one.of) & set(arms):
            yield one.id, before
        elif not all(rest.known(arm) for arm in one.of):
            yield one.id, replace(before, result=None, refused="no seed is left")
        elif not is_slow(one, rest):
            yield one.id, judge(one, claim, rest.read)
