"""Sequential claims over all their looks: whether to go on, and whether the looks contradict.

The first crossing stands, because stopping there was allowed. But a claim whose later seeds say
the opposite of what was decided is INVALID. A smaller movement is a flag, unless the claim
declares `drift: any`, so that a declaration can only make it stricter. statistics.md 2.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

from repro.errors import ClaimError
from repro.evidence.evidence import Evidence
from repro.expectations.decision_rules import conclude_sequential
from repro.expectations.declared import Context
from repro.expectations.kinds import Expectation, kind_of
from repro.expectations.sequential import (
    aligned,
    at_looks,
    chance_of_more,
    in_order,
    is_sequential,
    looked_at,
    looks_so_far,
)
from repro.expectations.verdict_words import Conclusion, Finding, Flag, FlagKind
from repro.judging.document_parts import LookPart, SequentialPart, Stop, finite
from repro.judging.verdict import Judged
from repro.schema import numbers as fmt
from repro.specs.claim import Claim
from repro.stats.anytime import EProcessResult
from repro.stats.records import Sample
from repro.stats.stopping import Drift, Question, SequentialResult, stop


def sequential_parts(
    claim: Claim, evidence: Evidence, judged: tuple[Judged, ...]
) -> tuple[SequentialPart, ...]:
    """Every decisive expectation of a sequential claim, look by look."""
    return tuple(
        _part(each.expectation, each.result, claim, evidence)
        for each in judged
        if is_sequential(each.expectation, claim.context())
        and isinstance(each.result, SequentialResult)
    )


def should_stop(finding: Finding, parts: tuple[SequentialPart, ...]) -> bool:
    """Whether no more seeds are needed: the claim is decided, or will hardly ever be."""
    if finding.conclusion not in (Conclusion.INCONCLUSIVE, Conclusion.NOT_TESTED):
        return True
    return bool(parts) and all(part.stop != "go on" for part in parts)


def _part(
    expectation: Expectation, result: SequentialResult, claim: Claim, evidence: Evidence
) -> SequentialPart:
    context = claim.context()
    question = kind_of(expectation).question(expectation, context)
    read = [evidence.sample(arm, expectation.measurement) for arm in expectation.of]
    arms, context = aligned(expectation, context, read), looked_at(expectation, context)
    results = _at_every_look(question, context, arms) if in_order(arms) else {min(result.n): result}
    how = claim.sequential
    by_e = how is not None and how.g is not None and question.tails == 1
    return SequentialPart(
        expectation=expectation.id,
        method="group_obf" if how is None else how.method,
        bound=1 / claim.alpha if by_e else claim.alpha,
        looks=tuple(_look(n, each) for n, each in results.items()),
        order=_order(arms),
        crossing=result.decided_at if in_order(arms) else None,
        stop=_stop(question, claim, context, arms, result),
        sensitivity={f"g = {each.g:g}": each.e for each in result.sensitivity}
        if isinstance(result, EProcessResult)
        else {},
    )


def _at_every_look(
    question: Question, context: Context, arms: tuple[Sample, Sample]
) -> dict[int, SequentialResult]:
    looks, results = looks_so_far(context, arms), {}
    for place, n in enumerate(looks, start=1):
        with suppress(ClaimError):  # nothing varied yet, so that a look says nothing
            results[n] = at_looks(question, context, arms, looks[:place])
    return results


def _order(arms: tuple[Sample, Sample]) -> Literal["observed", "declared", "unknown"]:
    """What is known of the order of the seeds: of two arms, the less."""
    if not in_order(arms):
        return "unknown"
    return "declared" if any(arm.order == "declared" for arm in arms) else "observed"


def _look(n: int, result: SequentialResult) -> LookPart:
    interval = result.interval
    return LookPart(
        seeds=n,
        e=result.e if isinstance(result, EProcessResult) else None,
        p=1.0 if result.p is None else result.p,
        low=None if interval is None else finite(interval.low),
        high=None if interval is None else finite(interval.high),
        conclusion=conclude_sequential(result).conclusion,
    )


def _stop(
    question: Question,
    claim: Claim,
    context: Context,
    arms: tuple[Sample, Sample],
    result: SequentialResult,
) -> Stop:
    """Decided, futile, or worth more seeds; at the largest number there is nothing to add.

    The power of more seeds is not computed where their order is not known.
    """
    if result.decided is not None:
        return stop(result) or "go on"
    most = claim.seeds.max or claim.seeds.plan
    chance = 0.0 if min(result.n) >= most else 1.0
    if in_order(arms):
        chance = chance_of_more(question, context, arms, most)
    return stop(result, chance=chance) or "go on"


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
        (each.result.drift, f"'{each.expectation.id}': {_said(each.result)}")
        for each in judged
        if each.expectation.role == "decisive" and isinstance(each.result, SequentialResult)
        if each.result.drift != "none"
    ]


def _said(result: SequentialResult) -> str:
    first, now = result.decided_at, fmt.count(min(result.n))
    decided = f"{result.decided} at {first} {result.units}"
    if result.drift == "reversed":
        return f"{decided}; all {now} say the opposite"
    if result.drift == "leaning":
        return f"{decided}; the mean of all {now} lies on the other side"
    before = "undecided" if first is None else decided
    every = f"up to all {now} {result.units}"
    return f"{before}; the intervals of its looks, {every}, have nothing in common"
