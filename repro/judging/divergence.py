"""What becomes of replicates that diverged, by the policy that a claim declared beforehand."""

from __future__ import annotations

from dataclasses import replace

from repro.evidence.base import Evidence, Replicate
from repro.specs.claim import Claim

JUST = 1e-9
"""How much worse, relatively: far above round-off, far below any digit that is shown."""


def settled(claim: Claim, evidence: Evidence) -> Evidence:
    """The evidence as the claim's policy wants it judged.

    ``worst``: a diverged replicate takes, for each measurement, a value just worse than any that
    a finished replicate of any arm has (and the details of that one): its place in an order, and
    no size. ``exclude<=k``: it is left out, and in a
    paired or sequential analysis the replicates of the same number in the other arms with it.
    Evidence that is settled once stays as it is.
    """
    if claim.seeds.diverged == "worst":
        return _imputed(claim, evidence)
    if claim.design == "paired" or claim.sequential is not None:
        return _whole_pairs(claim, evidence)
    return evidence


def _imputed(claim: Claim, evidence: Evidence) -> Evidence:
    worst = {name: _worst(name, one.better, evidence) for name, one in claim.measurements.items()}
    known = {name: one for name, one in worst.items() if one is not None}
    values = {
        name: _just_worse(one.values[name], claim.measurements[name].better)
        for name, one in known.items()
    }
    details = {name: one.details[name] for name, one in known.items() if name in one.details}

    def counted(replicate: Replicate) -> Replicate:
        if replicate.state != "diverged" or not values:
            return replicate
        return replace(replicate, state="imputed", values=values, details=details)

    arms = {arm: tuple(map(counted, runs)) for arm, runs in evidence.arms.items()}
    return replace(evidence, arms=arms)


def _just_worse(value: float, better: str) -> float:
    """A value that is told apart by a test of order, and that a reader sees as ``value``."""
    step = JUST * (abs(value) or 1.0)
    return value + step if better == "lower" else value - step


def _worst(name: str, better: str, evidence: Evidence) -> Replicate | None:
    """The finished replicate with the worst value of a measurement, of all arms."""
    having = [r for arm in evidence.arms for r in evidence.finished(arm) if name in r.values]
    choose = max if better == "lower" else min
    return choose(having, key=lambda one: one.values[name], default=None)


def _whole_pairs(claim: Claim, evidence: Evidence) -> Evidence:
    """Replicates are pairs by their place: of one number, counted from the first of each arm.

    In a sequential claim of independent arms, on a table that declares an order, they are pairs
    by that order; what pairs the arms of a paired design is always the number.
    """
    places = {arm: _places(claim, evidence, arm) for arm in evidence.arms}
    lost = {
        places[arm][one.number]
        for arm, runs in evidence.arms.items()
        for one in runs
        if one.state == "diverged"
    }

    def kept(arm: str, replicate: Replicate) -> Replicate:
        alone = replicate.state == "finished" and places[arm][replicate.number] in lost
        return replace(replicate, state="excluded") if alone else replicate

    arms = {arm: tuple(kept(arm, one) for one in runs) for arm, runs in evidence.arms.items()}
    return replace(evidence, arms=arms)


def _places(claim: Claim, evidence: Evidence, arm: str) -> dict[int, int]:
    """The number of each replicate of an arm -> the place of its pair."""
    runs, independent = evidence.arms[arm], claim.design == "independent"
    if claim.sequential is not None and independent and evidence.order(arm) == "declared":
        return {one.number: place for place, one in enumerate(runs)}
    return {one.number: one.number - claim.arms[arm].first_seed for one in runs}
