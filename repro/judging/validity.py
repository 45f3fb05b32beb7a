"""Whether the evidence can be used at all: seeds, controls of known outcome, divergence.

Canaries: controls whose outcome is known beforehand. One that fails makes a claim INVALID.

Values of a table come without a synthetic matrix, and printed numbers no ranks of their own:
such a control is missing, which the verdict says in a flag.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from repro.evidence.evidence import Evidence, Replicate, State
from repro.expectations.verdict_words import Flag, FlagKind, Validity
from repro.judging import document as doc
from repro.judging.interim import reversals
from repro.judging.quality import Quality
from repro.judging.verdict import Judged, roll_up
from repro.schema import numbers as fmt
from repro.specs.claim import Claim, Sameness
from repro.specs.configuration import Configuration
from repro.trainers.measurement import ControlledArm
from repro.trainers.table import Canary
from repro.trainers.trainer import trainer_of

Problem = tuple[Validity, str]

REASONS = 3
"""How many of the reasons why runs are missing are given."""


def judge_validity(
    claim: Claim,
    evidence: Evidence,
    canaries: tuple[doc.Canary, ...],
    judged: Sequence[Judged],
    quality: Quality,
) -> tuple[Validity, str]:
    """The worst problem's validity, and the reasons of all problems that are as bad.

    ``judged`` are the expectations of a sequential claim, whose looks may contradict each other.
    """
    problems = [
        *_damaged(evidence),
        *_canaries(canaries),
        *((Validity.INVALID, reason) for reason in quality.invalid),
        *_outside(claim, evidence),
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
    runs = (run for replicates in evidence.arms.values() for run in replicates)
    found = [_on_one_line(run.problem) for run in runs if run.state == "damaged"]
    if len(found) > 3:
        found[3:] = [f"{len(found) - 3} more runs are damaged (`repro runs check` names them)"]
    return [(Validity.INVALID, problem) for problem in found]


def _on_one_line(problem: str) -> str:
    """What is wrong with a file, and in brackets what was expected and what to do."""
    mistake, *rest = (line.strip() for line in problem.splitlines())
    return f"{mistake} ({'; '.join(rest)})" if rest else mistake


def _outside(claim: Claim, evidence: Evidence) -> Iterator[Problem]:
    """The first value of each arm that the declared range, or its items, cannot have.

    Rows of a table are refused when it is read, before evaluations are averaged.
    """
    for (name, spec), arm in product(claim.measurements.items(), claim.arms):
        scale = spec.value_scale
        if scale is None:
            continue
        said = scale.outside if arm in evidence.tables else scale.refusal
        having = (run for run in evidence.finished(arm) if name in run.values)
        for run, refused in ((run, said(run.values[name])) for run in having):
            if refused is not None:
                whose = f"{spec.label} of {claim.arms[arm].label}, seed {run.number}"
                yield Validity.INVALID, f"{whose}: {refused[0]} (to do: {refused[2]})"
                break


def _canaries(canaries: tuple[doc.Canary, ...]) -> list[Problem]:
    said = "canary '{}' failed: expected {}, measured {}"
    return [
        (Validity.INVALID, said.format(canary.id, canary.expected, canary.measured))
        for canary in canaries
        if canary.state == "failed"
    ]


def _in_state(claim: Claim, evidence: Evidence, state: State) -> Iterator[tuple[str, int]]:
    """How many replicates of each arm are in a state, after `label: n of all runs`."""
    for arm, replicates in evidence.arms.items():
        n = sum(run.state == state for run in replicates)
        yield f"{claim.arms[arm].label}: {n} of {len(replicates)} runs", n


def _diverged(claim: Claim, evidence: Evidence) -> list[Problem]:
    """More than the declared policy allows; under ``worst`` every one counts instead."""
    if claim.seeds.diverged == "worst":
        return []
    allowed, lost = claim.seeds.excludable, _in_state(claim, evidence, "diverged")
    rule = f"{allowed} allowed by `seeds: {{diverged: {claim.seeds.diverged}}}`"
    return [
        (Validity.INVALID, f"{runs} diverged; {rule}{_why_lost(replicates, 'diverged')}")
        for (runs, n), replicates in zip(lost, evidence.arms.values(), strict=True)
        if n > allowed
    ]


def _stale(claim: Claim, evidence: Evidence) -> list[Problem]:
    """Runs of an older revision of a component, or of a program before files of it were edited."""
    problems = []
    counts = _in_state(claim, evidence, "stale")
    for (runs, n), replicates in zip(counts, evidence.arms.values(), strict=True):
        edited = {", ".join(run.edited) for run in replicates if run.edited}
        why = "are of an older revision"
        if edited:
            why = f"were made before an edit of {'; '.join(sorted(edited))}"
        problems += [(Validity.STALE, f"{runs} {why}")] if n else []
    return problems


def _incomplete(claim: Claim, evidence: Evidence) -> list[Problem]:
    """A planned seed that is missing: to conclude without it would be to stop when it suits.

    A table may have more seeds than were planned, and all of them count.
    """
    problems = []
    for arm, replicates in evidence.arms.items():
        if arm in evidence.published:
            continue
        label = claim.arms[arm].label
        for task in claim.tasks(arm) or ("",):
            runs = [run for run in replicates if run.task == task]
            place = f"{label}, task {task}" if task else label
            if reason := _too_few_runs(claim, place, runs):
                problems.append((Validity.INCOMPLETE, reason))
    return problems


def _too_few_runs(claim: Claim, place: str, replicates: Sequence[Replicate]) -> str:
    """Why the runs of an arm, or of one task of it, are not yet those that were planned."""
    finished = sum(run.state == "finished" for run in replicates)
    missing = any(run.state == "missing" for run in replicates)
    planned = max(claim.seeds.plan, len(replicates))
    if not missing and len(replicates) >= claim.seeds.plan and finished >= claim.seeds.min:
        return ""
    diverged = sum(run.state in ("diverged", "imputed") for run in replicates)
    reason = f"{place}: {finished} of {planned} seeds"
    reason += f", {diverged} diverged" if diverged else ""
    if not missing and finished < claim.seeds.min <= len(replicates):
        reason += f", and at least {claim.seeds.min} must finish"
    return reason + _why_lost(replicates, "missing")


def _why_lost(replicates: Sequence[Replicate], state: State) -> str:
    """What is known of imported runs without a value: the most frequent reasons, each once."""
    without = [run for run in replicates if run.state == state and not run.key]
    lost = Counter(run.problem for run in without if run.problem)
    reasons = [f"{n} {state}: {_on_one_line(why)}" for why, n in lost.most_common(REASONS)]
    return f" ({'; '.join(reasons)})" if reasons else ""


def _incomparable(claim: Claim) -> list[Problem]:
    reasons = [_parameters(claim), *(_same(claim, name) for name in claim.comparable.same)]
    return [(Validity.NOT_COMPARABLE, reason) for reason in reasons if reason]


def _parameters(claim: Claim) -> str:
    within = claim.comparable.parameters_within
    if within is None:
        return ""
    sizes = {
        arm.label: None if arm.configuration is None else arm.configuration.training().parameters
        for arm in claim.arms.values()
    }
    counts = {label: size for label, size in sizes.items() if size is not None}
    if unknown := [label for label in sizes if label not in counts]:
        return _not_known("number of parameters", unknown)
    low, high = min(counts.values()), max(counts.values())
    if high - low <= within * low:
        return ""
    listed = ", ".join(f"{label} {count:,}" for label, count in counts.items())
    return f"numbers of parameters differ by more than {within:.2%}: {listed}"


def _stated(configuration: Configuration | None, name: Sameness) -> Any:
    """What must be equal, by the name that a claim gives it; None where it is not stated."""
    if configuration is None:
        return None
    if name == "tuning":
        return None if configuration.tuning is None else configuration.tuning.settings
    training = configuration.training()
    return trainer_of(training).comparable(training).get(name)


def _same(claim: Claim, name: Sameness) -> str:
    """Why the arms are not the same in something, or cannot be said to be."""
    read = {arm.label: _stated(arm.configuration, name) for arm in claim.arms.values()}
    unknown = [label for label, value in read.items() if value is None]
    if unknown:
        return _not_known(name, unknown)
    first, *others = read.values()
    if all(value == first for value in others):
        return ""
    where = f"{name}{_differing(name, read)}"
    return f"the arms differ in {where}, which the claim declares to be the same"


def _differing(name: Sameness, read: Mapping[str, Any]) -> str:
    """Which of several settings differ; how many settings were tried for each arm."""
    if name == "tuning":
        return f" ({', '.join(f'{label} {count:,}' for label, count in read.items())} settings)"
    if name not in ("schedule", "precision"):
        return ""
    first, *others = read.values()
    settings = [key for key in first if any(each.get(key) != first[key] for each in others)]
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
    decisive = {arm for part in claim.expectations if part.role == "decisive" for arm in part.of}
    tables = {evidence.tables[arm] for arm in evidence.tables if arm in decisive}
    found = []
    for table in sorted(tables, key=lambda each: (each.file, each.order or "")):
        said = "a table has no order in time, so it was judged once, at its last look, with all its"
        said += " seeds."
        if table.order is not None:
            said = f"the order of its seeds is the table's own (column '{table.order}'), declared, "
            said += "not observed."
        found.append(Flag(FlagKind.ORDER, f"{table.file}: {said}"))
    return found


def _more_seeds(claim: Claim, evidence: Evidence) -> list[Flag]:
    """A table may have grown until its result suited; nothing on record says that it did not.

    It has grown where all its arms have more than was planned: a plan has one number, that of the
    smallest arm where a design has arms of several sizes. A sequential claim may grow to its
    largest number of seeds.
    """
    planned = claim.seeds.plan
    if claim.sequential is not None and claim.seeds.max is not None:
        planned = claim.seeds.max
    found = {arm: _most_seeds(evidence.counted(arm)) for arm in evidence.tables}
    if min(found.values(), default=0) <= planned:
        return []
    more = " and ".join(f"{claim.arms[arm].label} has {n}" for arm, n in found.items())
    text = f"{planned} seeds per arm were planned, and {more}: all count, so nothing "
    return [Flag(FlagKind.MORE_SEEDS, f"{text}rules out that seeds were added until it suited.")]


def _most_seeds(replicates: Sequence[Replicate]) -> int:
    """How many seeds there are; where there are tasks, of the one that has most."""
    return max(Counter(run.task for run in replicates).values(), default=0)


def _low(canaries: tuple[doc.Canary, ...]) -> list[Flag]:
    return [
        Flag(
            FlagKind.CANARY,
            f"{canary.statement}: expected {canary.expected}, measured {canary.measured}, which is "
            "lower than a model trained normally reaches.",
        )
        for canary in canaries
        if canary.state == "flagged"
    ]


def _uncontrolled(claim: Claim, evidence: Evidence, canaries: tuple[doc.Canary, ...]) -> list[Flag]:
    found = []
    for declared, judged in zip(claim.canaries, canaries, strict=True):
        for arm in uncontrolled(declared, claim, evidence):
            source = "are printed numbers"
            if arm in evidence.tables:
                source = f"come from a table, {evidence.tables[arm].file}"
            whose = f"{claim.arms[arm].label}, whose values {source}"
            text = f"{judged.statement}: not controlled for {whose}."
            found.append(Flag(FlagKind.CANARY, text))
    return found


FATES: Mapping[State, str] = {
    "diverged": "{runs} diverged and excluded by the declared policy",
    "imputed": "{runs} diverged and counted as worse than any value, by the declared policy",
    "excluded": "left out, because their pair diverged",
}


def _diverged_caveat(claim: Claim, evidence: Evidence) -> list[Flag]:
    found = []
    for arm, replicates in evidence.arms.items():
        for state, fate in FATES.items():
            lost = [run.number for run in replicates if run.state == state]
            if lost:
                said = fate.format(runs=fmt.number_of(len(lost), "run"))
                text = f"{claim.arms[arm].label}: {said} ({fmt.seeds(lost)})."
                found.append(Flag(FlagKind.DIVERGED, text))
    return found
