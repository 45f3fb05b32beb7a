"""Whether the evidence can be used at all; only VALID evidence carries a conclusion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from repro.check.drift import reversals
from repro.check.expectations import Judged
from repro.check.quality import SOUND, Quality
from repro.evidence import Evidence
from repro.report import document as doc
from repro.specs.claim import Claim, Sameness
from repro.specs.configuration import AnyConfiguration
from repro.verdict import Validity, roll_up

Problem = tuple[Validity, str]


NAMED = 3
"""No more damaged runs than this are named one by one."""


def judge_validity(
    claim: Claim,
    evidence: Evidence,
    canaries: tuple[doc.Canary, ...],
    judged: Sequence[Judged] = (),
    quality: Quality = SOUND,
) -> tuple[Validity, str]:
    """The worst problem's validity, and the reasons of all problems that are as bad.

    ``judged`` are the expectations of a sequential claim, whose looks may contradict each other.
    """
    problems = [
        *_damaged(evidence),
        *_canaries(canaries),
        *((Validity.INVALID, reason) for reason in quality.invalid),
        *_diverged(claim, evidence),
        *((Validity.INVALID, reason) for reason in reversals(claim, judged)),
        *_incomparable(claim),
        *_stale(claim, evidence),
        *_incomplete(claim, evidence),
    ]
    worst = roll_up(validity for validity, _ in problems)
    return worst, "; ".join(reason for validity, reason in problems if validity is worst)


def _damaged(evidence: Evidence) -> list[Problem]:
    """What is damaged, by file; of many the first, and how many more there are."""
    found = [
        _on_one_line(one.problem)
        for replicates in evidence.arms.values()
        for one in replicates
        if one.state == "damaged"
    ]
    rest = len(found) - NAMED
    more = [f"{rest} more runs are damaged (`repro runs check` names them)"] if rest > 0 else []
    return [(Validity.INVALID, problem) for problem in (*found[:NAMED], *more)]


def _on_one_line(problem: str) -> str:
    """What is wrong with a file, and in brackets what was expected and what to do."""
    what, *rest = (line.strip() for line in problem.splitlines())
    return f"{what} ({'; '.join(rest)})" if rest else what


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
    """More than the declared policy allows; under ``worst`` every one counts instead."""
    if claim.seeds.diverged == "worst":
        return []
    allowed = claim.seeds.excludable
    problems = []
    for arm, replicates in evidence.arms.items():
        lost = sum(one.state == "diverged" for one in replicates)
        if lost > allowed:
            label = claim.arms[arm].label
            reason = f"{label}: {lost} of {len(replicates)} runs diverged; {allowed} allowed"
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
    """A planned seed that is missing: to conclude without it would be to stop when it suits.

    A table may have more seeds than were planned, and all of them count.
    """
    problems = []
    for arm, replicates in evidence.arms.items():
        if arm in evidence.published:
            continue
        label, finished = claim.arms[arm].label, len(evidence.finished(arm))
        missing = any(one.state == "missing" for one in replicates)
        planned = max(claim.seeds.plan, len(replicates))
        if missing or len(replicates) < claim.seeds.plan or finished < claim.seeds.min:
            diverged = sum(one.state in ("diverged", "imputed") for one in replicates)
            reason = f"{label}: {finished} of {planned} seeds"
            reason += f", {diverged} diverged" if diverged else ""
            if not missing and finished < claim.seeds.min <= len(replicates):
                reason += f", and at least {claim.seeds.min} must finish"
            problems.append((Validity.INCOMPLETE, reason))
    return problems


def _incomparable(claim: Claim) -> list[Problem]:
    reasons = [
        *_parameters(claim),
        *(r for name in claim.comparable.same for r in _same(claim, name)),
    ]
    return [(Validity.NOT_COMPARABLE, reason) for reason in reasons]


def _parameters(claim: Claim) -> list[str]:
    within = claim.comparable.parameters_within
    if within is None:
        return []
    unknown = [arm.label for arm in claim.arms.values() if arm.configuration is None]
    if unknown:
        return [_not_known("number of parameters", unknown)]
    counts = {
        arm.label: arm.configuration.training().parameters
        for arm in claim.arms.values()
        if arm.configuration is not None
    }
    low, high = min(counts.values()), max(counts.values())
    if high - low <= within * low:
        return []
    listed = ", ".join(f"{label} {count:,}" for label, count in counts.items())
    return [f"numbers of parameters differ by more than {within:.2%}: {listed}"]


SCHEDULE = (
    *("epochs", "batch_size", "learning_rate", "decay", "window", "clip", "averaging"),
    *("finetuning", "stop", "learning_rates", "optimiser"),
)
"""The settings of a recipe that say how steps are taken, where it has them."""

PRECISION = ("precision", "products")
"""The settings of a recipe that say how numbers are rounded."""

READ: Mapping[Sameness, Callable[[AnyConfiguration], Any]] = {
    "corpus": lambda c: c.corpus,
    "precision": lambda c: {name: getattr(c.recipe, name) for name in PRECISION},
    "epochs": lambda c: c.recipe.most_epochs,
    "averaging": lambda c: c.recipe.averaging,
    "schedule": lambda c: {name: getattr(c.recipe, name, None) for name in SCHEDULE},
    "tuning": lambda c: None if c.tuning is None else c.tuning.settings,
}
"""What must be equal, by the name that a claim gives it; None where it is not stated."""


def _same(claim: Claim, name: Sameness) -> list[str]:
    """Why the arms are not the same in something, or cannot be said to be."""
    read = {
        arm.label: None if arm.configuration is None else READ[name](arm.configuration)
        for arm in claim.arms.values()
    }
    unknown = [label for label, value in read.items() if value is None]
    if unknown:
        return [_not_known(name, unknown)]
    first, *others = read.values()
    if all(one == first for one in others):
        return []
    where = f"{name}{_differing(name, read)}"
    return [f"the arms differ in {where}, which the claim declares to be the same"]


def _differing(name: Sameness, read: Mapping[str, Any]) -> str:
    """Which of several settings differ; how many settings were tried for each arm."""
    if name == "tuning":
        return f" ({', '.join(f'{label} {count:,}' for label, count in read.items())} settings)"
    if name not in ("schedule", "precision"):
        return ""
    first, *others = read.values()
    settings = [key for key in first if any(one[key] != first[key] for one in others)]
    return f" ({', '.join(settings)})"


def _not_known(what: str, labels: Sequence[str]) -> str:
    whose = " and ".join(labels)
    return f"the {what} of {whose} is not stated, and the claim declares it to be the same"
