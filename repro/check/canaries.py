"""Canaries: controls whose outcome is known beforehand. One that fails makes a claim INVALID."""

from __future__ import annotations

from typing import Literal

from repro.evidence import Evidence, Replicate
from repro.report import document as doc
from repro.specs.claim import Claim, KnownRank, RankBound

CanaryState = Literal["passed", "flagged", "failed", "missing"]


def judge_canaries(claim: Claim, evidence: Evidence) -> tuple[doc.Canary, ...]:
    """Every declared canary on the finished replicates."""
    return tuple(
        _rank_bound(one, claim, evidence)
        if isinstance(one, RankBound)
        else _known_rank(one, claim, evidence)
        for one in claim.canaries
    )


def _rank_bound(one: RankBound, claim: Claim, evidence: Evidence) -> doc.Canary:
    """Above d + 2: failed. Below: flagged, for a model trained normally reaches it."""
    labels = " and ".join(claim.arms[arm].label for arm in one.arms)
    bounds = {arm: claim.arms[arm].configuration.model.rank_bound() or 0 for arm in one.arms}
    ranks = {
        arm: [int(r.values[one.measurement]) for r in evidence.finished(arm)] for arm in one.arms
    }
    measured = "; ".join(
        f"{claim.arms[arm].label} {_span(values)}" for arm, values in ranks.items() if values
    )
    state: CanaryState = "passed"
    if any(rank > bounds[arm] for arm in one.arms for rank in ranks[arm]):
        state = "failed"
    elif not all(ranks.values()):
        state = "missing"
    elif any(rank < bounds[arm] for arm in one.arms for rank in ranks[arm]):
        state = "flagged"
    return doc.Canary(
        id=one.id,
        statement=f"No rank of {labels} is above its structural bound, d + 2",
        expected=", ".join(f"{claim.arms[a].label} {b:,}" for a, b in bounds.items()),
        measured=measured or "nothing measured",
        state=state,
    )


def _known_rank(one: KnownRank, claim: Claim, evidence: Evidence) -> doc.Canary:
    """A synthetic matrix of known rank, reduced beside each model's, must come out exactly."""
    runs: list[Replicate] = [r for arm in claim.arms for r in evidence.finished(arm)]
    pairs = [r.details[one.measurement]["known_rank"] for r in runs]
    exact = sum(pair["measured"] == pair["expected"] for pair in pairs)
    state: CanaryState = "passed" if exact == len(pairs) else "failed"
    if not pairs:
        state = "missing"
    return doc.Canary(
        id=one.id,
        statement="A synthetic matrix of known rank, by the same reduction, comes out exactly",
        expected=_span(sorted({int(pair["expected"]) for pair in pairs})) if pairs else "exact",
        measured=f"{_span([int(p['measured']) for p in pairs])}, exact in {exact} of {len(pairs)}"
        if pairs
        else "nothing measured",
        state=state,
    )


def _span(values: list[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
