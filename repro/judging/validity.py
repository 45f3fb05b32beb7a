"""Whether the evidence can be used at all: seeds, controls of known outcome, divergence.

Canaries: controls whose outcome is known beforehand. One that fails makes a claim INVALID.

Values of a table come without a synthetic matrix, and printed numbers no ranks of their own:
such a control is missing, which the verdict says in a flag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from repro.evidence.base import Evidence
from repro.expectations.rules import Flag, FlagKind, Validity
from repro.judging import document as doc
from repro.judging.interim import reversals
from repro.judging.judged import Judged
from repro.judging.quality import SOUND, Quality
from repro.judging.verdict import roll_up
from repro.schema import numbers as fmt
from repro.specs.claim import Claim, Sameness
from repro.specs.configuration import Configuration
from repro.trainers.measurement import ControlledArm
from repro.trainers.table import Canary
from repro.trainers.trainer import trainer_of

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
    sizes = {
        arm.label: None if arm.configuration is None else arm.configuration.training().parameters
        for arm in claim.arms.values()
    }
    counts = {label: size for label, size in sizes.items() if size is not None}
    if unknown := [label for label in sizes if label not in counts]:
        return [_not_known("number of parameters", unknown)]
    low, high = min(counts.values()), max(counts.values())
    if high - low <= within * low:
        return []
    listed = ", ".join(f"{label} {count:,}" for label, count in counts.items())
    return [f"numbers of parameters differ by more than {within:.2%}: {listed}"]


def _stated(configuration: Configuration | None, name: Sameness) -> Any:
    """What must be equal, by the name that a claim gives it; None where it is not stated."""
    if configuration is None:
        return None
    if name == "tuning":
        return None if configuration.tuning is None else configuration.tuning.settings
    training = configuration.training()
    return trainer_of(training).comparable(training).get(name)


def _same(claim: Claim, name: Sameness) -> list[str]:
    """Why the arms are not the same in something, or cannot be said to be."""
    read = {arm.label: _stated(arm.configuration, name) for arm in claim.arms.values()}
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
    settings = [key for key in first if any(one.get(key) != first[key] for one in others)]
    return f" ({', '.join(settings)})"


def _not_known(subject: str, labels: Sequence[str]) -> str:
    whose = " and ".join(labels)
    return f"the {subject} of {whose} is not stated, and the claim declares it to be the same"


def judge_canaries(claim: Claim, evidence: Evidence) -> tuple[doc.Canary, ...]:
    """Every declared canary on the finished replicates."""
    found = []
    for canary in claim.canaries:
        arms = {name: _arm(canary, claim, evidence, name) for name in canary.named or claim.arms}
        missing = bool(uncontrolled(canary, claim, evidence))
        outcome = canary.outcome(arms, uncontrolled=missing)
        found.append(doc.Canary(id=canary.id, **outcome._asdict()))
    return tuple(found)


def uncontrolled(canary: Canary, claim: Claim, evidence: Evidence) -> tuple[str, ...]:
    """The arms whose values a canary should control and cannot, by where they come from."""
    name = canary.measurement
    return tuple(
        arm
        for arm in canary.named or claim.arms
        if name in evidence.published.get(arm, {})
        or (arm in evidence.tables and not canary.controls(_arm(canary, claim, evidence, arm)))
    )


def _arm(canary: Canary, claim: Claim, evidence: Evidence, name: str) -> ControlledArm:
    """What a canary knows of an arm."""
    arm, measurement = claim.arms[name], canary.measurement
    training = None if arm.configuration is None else arm.configuration.training()
    spec = claim.measurements[measurement]
    finished = evidence.finished(name)
    return ControlledArm(
        arm.label,
        None if training is None or not spec.taken_of(training) else spec.bound(training),
        tuple(r.values[measurement] for r in finished if measurement in r.values),
        tuple(r.details[measurement] for r in finished if r.details.get(measurement)),
    )


def caveats(claim: Claim, evidence: Evidence, canaries: tuple[doc.Canary, ...]) -> list[Flag]:
    """A flag for each control that came out low or could not be made, and for what diverged."""
    return [
        *_low(canaries),
        *_uncontrolled(claim, evidence, canaries),
        *_diverged_caveat(claim, evidence),
        *_order(claim, evidence),
        *_more_seeds(claim, evidence),
    ]


def _order(claim: Claim, evidence: Evidence) -> list[Flag]:
    """A sequential claim rests on the order of its seeds, and nobody saw that of a table."""
    if claim.sequential is None:
        return []
    decisive = {arm for one in claim.expectations if one.role == "decisive" for arm in one.of}
    tables = {evidence.tables[arm] for arm in evidence.tables if arm in decisive}
    found = []
    for table in sorted(tables, key=lambda each: (each.file, each.order or "")):
        text = (
            f"{table.file}: a table has no order in time, so it was judged once, at its last look, "
            "with all its seeds."
        )
        if table.order is not None:
            text = (
                f"{table.file}: the order of its seeds is the table's own (column "
                f"'{table.order}'), declared, not observed."
            )
        found.append(Flag(FlagKind.ORDER, text))
    return found


def _more_seeds(claim: Claim, evidence: Evidence) -> list[Flag]:
    """A table may have grown until its result suited; nothing on record says that it did not.

    A sequential claim may grow to its largest number of seeds.
    """
    planned = claim.seeds.plan
    if claim.sequential is not None and claim.seeds.max is not None:
        planned = claim.seeds.max
    found = {arm: len(evidence.counted(arm)) for arm in evidence.tables}
    more = [f"{claim.arms[arm].label} has {n}" for arm, n in found.items() if n > planned]
    if not more:
        return []
    text = f"{planned} seeds per arm were planned, and {' and '.join(more)}: all count, so nothing "
    return [Flag(FlagKind.MORE_SEEDS, f"{text}rules out that seeds were added until it suited.")]


def _low(canaries: tuple[doc.Canary, ...]) -> list[Flag]:
    return [
        Flag(
            FlagKind.CANARY,
            f"{one.statement}: expected {one.expected}, measured {one.measured}, which is lower "
            "than a model trained normally reaches.",
        )
        for one in canaries
        if one.state == "flagged"
    ]


def _uncontrolled(claim: Claim, evidence: Evidence, canaries: tuple[doc.Canary, ...]) -> list[Flag]:
    found = []
    for declared, judged in zip(claim.canaries, canaries, strict=True):
        arms = uncontrolled(declared, claim, evidence)
        for arm in arms:
            source = "are printed numbers"
            if arm in evidence.tables:
                source = f"come from a table, {evidence.tables[arm].file}"
            text = (
                f"{judged.statement}: not controlled for {claim.arms[arm].label}, "
                f"whose values {source}."
            )
            found.append(Flag(FlagKind.CANARY, text))
    return found


def _diverged_caveat(claim: Claim, evidence: Evidence) -> list[Flag]:
    found = []
    for arm, replicates in evidence.arms.items():
        label = claim.arms[arm].label
        for state, fate in (
            ("diverged", "excluded by the declared policy"),
            ("imputed", "counted as worse than any value, by the declared policy"),
        ):
            lost = [one.number for one in replicates if one.state == state]
            if lost:
                runs = fmt.number_of(len(lost), "run")
                text = f"{label}: {runs} diverged and {fate} ({fmt.seeds(lost)})."
                found.append(Flag(FlagKind.DIVERGED, text))
        apart = [one.number for one in replicates if one.state == "excluded"]
        if apart:
            text = f"{label}: left out, because their pair diverged ({fmt.seeds(apart)})."
            found.append(Flag(FlagKind.DIVERGED, text))
    return found
