"""Whether the evidence can be used at all; only VALID evidence carries a conclusion."""

from __future__ import annotations

from repro.evidence import Evidence
from repro.report import document as doc
from repro.specs.claim import Claim
from repro.verdict import Validity, roll_up

Problem = tuple[Validity, str]


def judge_validity(
    claim: Claim, evidence: Evidence, canaries: tuple[doc.Canary, ...]
) -> tuple[Validity, str]:
    """The worst problem's validity, and the reasons of all problems that are as bad."""
    problems = [
        *_damaged(evidence),
        *_canaries(canaries),
        *_diverged(claim, evidence),
        *_incomparable(claim),
        *_stale(claim, evidence),
        *_incomplete(claim, evidence),
    ]
    worst = roll_up(validity for validity, _ in problems)
    return worst, "; ".join(reason for validity, reason in problems if validity is worst)


def _damaged(evidence: Evidence) -> list[Problem]:
    return [
        (Validity.INVALID, one.problem.replace("\n", " "))
        for replicates in evidence.arms.values()
        for one in replicates
        if one.state == "damaged"
    ]


def _canaries(canaries: tuple[doc.Canary, ...]) -> list[Problem]:
    return [
        (
            Validity.INVALID,
            f"canary '{one.id}' failed: expected {one.expected}, measured {one.measured}",
        )
        for one in canaries
        if one.state == "failed"
    ]


def _diverged(claim: Claim, evidence: Evidence) -> list[Problem]:
    allowed = claim.seeds.diverged_at_most
    problems = []
    for arm, replicates in evidence.arms.items():
        lost = sum(one.state == "diverged" for one in replicates)
        if lost > allowed:
            label = claim.arms[arm].label
            reason = f"{lost} of {len(replicates)} runs of {label} diverged; {allowed} allowed"
            problems.append((Validity.INVALID, reason))
    return problems


def _stale(claim: Claim, evidence: Evidence) -> list[Problem]:
    """Runs of an older revision of a component: their numbers are no longer what it computes."""
    problems = []
    for arm, replicates in evidence.arms.items():
        old = sum(one.state == "stale" for one in replicates)
        if old:
            label = claim.arms[arm].label
            reason = f"{label}: {old} of {len(replicates)} runs are of an older revision"
            problems.append((Validity.STALE, reason))
    return problems


def _incomplete(claim: Claim, evidence: Evidence) -> list[Problem]:
    """A planned run that is missing: to conclude without it would be to stop when it suits."""
    problems = []
    for arm, replicates in evidence.arms.items():
        label, finished = claim.arms[arm].label, len(evidence.finished(arm))
        missing = any(one.state == "missing" for one in replicates)
        if missing or finished < claim.seeds.min:
            diverged = sum(one.state == "diverged" for one in replicates)
            reason = f"{label}: {finished} of {len(replicates)} seeds"
            reason += f", {diverged} diverged" if diverged else ""
            problems.append((Validity.INCOMPLETE, reason))
    return problems


def _incomparable(claim: Claim) -> list[Problem]:
    return [(Validity.NOT_COMPARABLE, reason) for reason in (*_parameters(claim), *_same(claim))]


def _parameters(claim: Claim) -> list[str]:
    within = claim.comparable.parameters_within
    if within is None:
        return []
    counts = {a.label: a.configuration.training().parameters for a in claim.arms.values()}
    low, high = min(counts.values()), max(counts.values())
    if high - low <= within * low:
        return []
    listed = ", ".join(f"{label} {count:,}" for label, count in counts.items())
    return [f"numbers of parameters differ by more than {within:.2%}: {listed}"]


def _same(claim: Claim) -> list[str]:
    configurations = [arm.configuration for arm in claim.arms.values()]
    read = {
        "corpus": lambda c: c.corpus,
        "precision": lambda c: c.recipe.precision,
        "epochs": lambda c: c.recipe.epochs,
        "averaging": lambda c: c.recipe.averaging,
    }
    first = configurations[0]
    return [
        f"the arms differ in {name}, which the claim declares to be the same"
        for name in claim.comparable.same
        if any(read[name](one) != read[name](first) for one in configurations)
    ]
