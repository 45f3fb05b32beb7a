"""Sequential claims whose later seeds contradict what was decided first: INVALID, or a flag.

The first crossing stands, because stopping there was allowed. But it speaks of one difference,
and once the seeds show that there is not one, no word for it is right: a claim whose seeds say
the opposite of what was decided is INVALID. A smaller movement is a flag, unless the claim
declares `drift: any`, so that a declaration can only make it stricter. METHODS 2.1.
"""

from __future__ import annotations

from collections.abc import Sequence

from repro.check.expectations import Judged
from repro.report import format as fmt
from repro.specs.claim import Claim
from repro.stats.stopping import Drift, SequentialResult
from repro.verdict import Flag, FlagKind


def reversals(claim: Claim, judged: Sequence[Judged]) -> list[str]:
    """Why a sequential claim is INVALID: each decisive expectation that drifted too far."""
    return [
        f"{said}: the difference drifted, so these seeds are not of one kind"
        for drift, said in _drifts(claim, judged)
        if _too_far(claim, drift)
    ]


def drift_flags(claim: Claim, judged: Sequence[Judged]) -> list[Flag]:
    """A flag for each decisive expectation whose looks contradict each other."""
    return [
        Flag(FlagKind.DRIFT, f"{said}.")
        for drift, said in _drifts(claim, judged)
        if not _too_far(claim, drift)
    ]


def _too_far(claim: Claim, drift: Drift) -> bool:
    declared = "reversed" if claim.sequential is None else claim.sequential.drift
    return drift == "reversed" or (drift == "apart" and declared == "any")


def _drifts(claim: Claim, judged: Sequence[Judged]) -> list[tuple[Drift, str]]:
    """What drifted, and what is said of it, without a full stop."""
    if claim.sequential is None:
        return []
    return [
        (one.result.drift, f"'{one.expectation.id}': {_said(one.result)}")
        for one in judged
        if one.expectation.role == "decisive" and isinstance(one.result, SequentialResult)
        if one.result.drift != "none"
    ]


def _said(result: SequentialResult) -> str:
    first, now = result.decided_at, fmt.count(min(result.n))
    decided = f"{result.decided} at {first} pairs"
    if result.drift == "reversed":
        return f"{decided}; all {now} say the opposite"
    if result.drift == "leaning":
        return f"{decided}; the mean of all {now} lies on the other side"
    before = "undecided" if first is None else decided
    return f"{before}; the intervals of its looks, up to all {now} pairs, have nothing in common"
