"""Canaries: controls whose outcome is known beforehand. One that fails makes a claim INVALID.

Values of a table have no synthetic matrix beside them, and printed numbers no ranks of their own:
such a control is missing, which the verdict says in a flag.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from repro.evidence import Evidence
from repro.report import document as doc
from repro.specs.claim import Canary, Claim, RankBound

CanaryState = Literal["passed", "flagged", "failed", "missing"]


def judge_canaries(claim: Claim, evidence: Evidence) -> tuple[doc.Canary, ...]:
    """Every declared canary on the finished replicates."""
    return tuple(
        _rank_bound(one, claim, evidence)
        if isinstance(one, RankBound)
        else _known_rank(one.id, claim, evidence, one.measurement)
        for one in claim.canaries
    )


def uncontrolled(one: Canary, claim: Claim, evidence: Evidence) -> tuple[str, ...]:
    """The arms whose values a canary should control and cannot, by where they come from."""
    arms = one.arms if isinstance(one, RankBound) else tuple(claim.arms)
    name = one.measurement
    return tuple(
        arm
        for arm in arms
        if name in evidence.published.get(arm, {})
        or (arm in evidence.tables and not _controlled(one, claim, evidence, arm))
    )


def _controlled(one: Canary, claim: Claim, evidence: Evidence, arm: str) -> bool:
    """Whether a canary can say something about the values of an arm from a table."""
    having = any(one.measurement in r.values for r in evidence.finished(arm))
    if isinstance(one, RankBound):
        return having and claim.arms[arm].rank_bound is not None
    return not having


def _rank_bound(one: RankBound, claim: Claim, evidence: Evidence) -> doc.Canary:
    """Above d + 2: failed. Below: flagged, for a model trained normally reaches it."""
    labels = " and ".join(claim.arms[arm].label for arm in one.arms)
    bounds = {arm: claim.arms[arm].rank_bound for arm in one.arms}
    ranks = {
        arm: [
            r.values[one.measurement] for r in evidence.finished(arm) if one.measurement in r.values
        ]
        for arm in one.arms
    }
    pairs = [(rank, b) for arm, b in bounds.items() for rank in ranks[arm] if b is not None]
    known = [f"{claim.arms[a].label} {b:,}" for a, b in bounds.items() if b is not None]
    seen = [f"{claim.arms[arm].label} {_span(values)}" for arm, values in ranks.items() if values]
    state: CanaryState = "passed"
    if any(rank > bound for rank, bound in pairs):
        state = "failed"
    elif uncontrolled(one, claim, evidence) or not all(ranks.values()):
        state = "missing"
    elif any(rank < bound for rank, bound in pairs):
        state = "flagged"
    return doc.Canary(
        id=one.id,
        statement=f"No rank of {labels} is above its structural bound, d + 2",
        expected=", ".join(known) or "d + 2",
        measured="; ".join(seen) or "nothing measured",
        state=state,
    )


def _known_rank(name: str, claim: Claim, evidence: Evidence, measurement: str) -> doc.Canary:
    """A synthetic matrix of known rank, reduced beside each model's, must come out exactly."""
    details = [
        r.details[measurement]
        for arm in claim.arms
        for r in evidence.finished(arm)
        if r.details.get(measurement)
    ]
    pairs = [one["known_rank"] for one in details]
    exact = sum(pair["measured"] == pair["expected"] for pair in pairs)
    state: CanaryState = "passed" if exact == len(pairs) else "failed"
    if not pairs:
        state = "missing"
    return doc.Canary(
        id=name,
        statement="A synthetic matrix of known rank, by the same reduction, comes out exactly",
        expected=_span(sorted({int(pair["expected"]) for pair in pairs})) if pairs else "exact",
        measured=f"{_span([int(p['measured']) for p in pairs])}, exact in {exact} of {len(pairs)}"
        if pairs
        else "nothing measured",
        state=state,
    )


def _span(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:,.10g}" if low == high else f"{low:,.10g} to {high:,.10g}"
