"""Whether the evidence can be used at all: seeds, controls of known outcome, divergence.

A control has an outcome that is known beforehand. One that fails makes a claim INVALID.

Values of a table come without a synthetic matrix, and printed numbers no ranks of their own:
such a control is missing, which the verdict says in a flag.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from repro.evidence.evidence import Evidence, Replicate, State
from repro.expectations.base import LEAST_SEEDS
from repro.expectations.kinds import kind_of
from repro.expectations.verdict_words import Fault, Flag, FlagKind, Validity
from repro.judging import document as doc
from repro.judging.claim_parts import replicate_of
from repro.judging.interim import reversals
from repro.judging.quality import Quality
from repro.judging.verdict import Judged, roll_up
from repro.schema import numbers as fmt
from repro.specs.claim import Claim, Sameness
from repro.specs.configuration import Configuration
from repro.trainers.control import ControlledArm
from repro.trainers.table import AnyControl
from repro.trainers.trainer import trainer_of

REASONS = 3
"""How many of the reasons why runs are missing are given."""


def judge_validity(
    claim: Claim,
    evidence: Evidence,
    controls: tuple[doc.JudgedControl, ...],
    judged: Sequence[Judged],
    quality: Quality,
) -> tuple[Fault, ...]:
    """The faults of the evidence that are as bad as the worst; none where it is VALID.

    ``judged`` are the expectations of a sequential claim, whose looks may contradict each other.
    """
    faults = [
        *_damaged(evidence),
        *_controls(claim, evidence, controls),
        *quality.invalid,
        *_outside(claim, evidence),
        *_diverged(claim, evidence),
        *(Fault(Validity.INVALID, reason, DRIFTED) for reason in reversals(claim, judged)),
        *_incomparable(claim),
        *_stale(claim, evidence),
        *_incomplete(claim, evidence),
    ]
    worst = roll_up(fault.validity for fault in faults)
    return tuple(fault for fault in faults if fault.validity is worst)


DRIFTED = "Find out in what the first seeds differ from the later ones, and judge new ones."


def _damaged(evidence: Evidence) -> Iterator[Fault]:
    """What is damaged, by file; of many the first, and how many more there are."""
    runs = (run for replicates in evidence.arms.values() for run in replicates)
    found = [run.problem for run in runs if run.state == "damaged"]
    yield from map(damage, found[:REASONS])
    if len(found) > REASONS:
        reason = f"{len(found) - REASONS} more runs are damaged"
        remedy = "Do the same for the others: `repro runs check` names them all."
        yield Fault(Validity.INVALID, reason, remedy)


def damage(problem: str) -> Fault:
    """The fault of a file that is not what was stored, from a message that says what to do."""
    lines = [line.strip() for line in problem.splitlines()]
    told = [line.removeprefix("to do: ") for line in lines if line.startswith("to do: ")]
    reason = _on_one_line("\n".join(line for line in lines if not line.startswith("to do: ")))
    remedy = fmt.sentence("; ".join(told) or "find out what changed it")
    return Fault(Validity.INVALID, reason, remedy, "")


def _on_one_line(problem: str) -> str:
    """What is wrong with a file, and in brackets what was expected and what to do."""
    mistake, *rest = (line.strip() for line in problem.splitlines())
    return f"{mistake} ({'; '.join(rest)})" if rest else mistake


def _outside(claim: Claim, evidence: Evidence) -> Iterator[Fault]:
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
                whose = (
                    f"{spec.label} of {claim.arms[arm].label}, {replicate_of(claim)} {run.number}"
                )
                remedy = f"{fmt.upper_first(refused[2])}."
                yield Fault(Validity.INVALID, f"{whose}: {refused[0]}", remedy)
                break


def _controls(
    claim: Claim, evidence: Evidence, controls: tuple[doc.JudgedControl, ...]
) -> Iterator[Fault]:
    """A control that failed: of values from a table these are checked, others measured again."""
    said = "control '{}' failed: expected {}, measured {}"
    for declared, control in zip(claim.canaries, controls, strict=True):
        if control.state != "failed":
            continue
        reason = said.format(control.id, control.expected, control.measured)
        label = claim.measurements[declared.measurement].label
        arms = declared.named or tuple(claim.arms)
        files = dict.fromkeys(evidence.tables[arm].file for arm in arms if arm in evidence.tables)
        if files:
            remedy = f"Correct the values of {label} in {', '.join(files)}: they cannot be right."
            yield Fault(Validity.INVALID, reason, remedy)
            continue
        remedy = (
            f"{fmt.upper_first(label)} is not measured rightly there. Find the cause (a library, "
            "a device, a text that the models have seen), then train and measure in a new store."
        )
        yield Fault(Validity.INVALID, reason, remedy, "--store NEW_FOLDER")


def _in_state(claim: Claim, evidence: Evidence, state: State) -> Iterator[tuple[str, int]]:
    """How many replicates of each arm are in a state, after `label: n of all runs`."""
    for arm, replicates in evidence.arms.items():
        n = sum(run.state == state for run in replicates)
        yield f"{claim.arms[arm].label}: {n} of {len(replicates)} runs", n


def _diverged(claim: Claim, evidence: Evidence) -> Iterator[Fault]:
    """More than the declared policy allows; under ``worst`` every one counts instead."""
    if claim.seeds.diverged == "worst":
        return
    allowed, lost = claim.seeds.excludable, list(_in_state(claim, evidence, "diverged"))
    rule = f"{allowed} allowed by `seeds: {{diverged: {claim.seeds.diverged}}}`"
    remedy = _to_count_diverged(claim, max((n for _, n in lost), default=0))
    for (runs, n), replicates in zip(lost, evidence.arms.values(), strict=True):
        if n > allowed:
            reason = f"{runs} diverged; {rule}{_why_lost(replicates, 'diverged')}"
            yield Fault(Validity.INVALID, reason, remedy)


def _to_count_diverged(claim: Claim, lost: int) -> str:
    """What a claim may declare of ``lost`` diverged runs an arm: only what its rules allow."""
    ways, seeds, looks = [], claim.seeds, claim.sequential is not None and claim.sequential.looks
    ordered = claim.sequential is None and all(
        kind_of(each).by_order(each) for each in claim.expectations
    )
    if ordered:
        ways.append("`worst` counts it as worse than any other run")
    if lost < seeds.min and not looks:
        more = ""
        if seeds.plan - lost < seeds.min:
            left, plan = seeds.plan - lost, seeds.min + lost
            there = claim.exploratory and left >= LEAST_SEEDS  # and no more are to come
            fewer = seeds.values or there
            more = f", with `min: {left}`" if fewer else f", with `plan: {plan}` and as many runs"
        ways.append(f"`exclude<={lost}` leaves up to {lost} of each arm out{more}")
    if not ways:
        return "Find out why they diverged: no policy allows for so many. Then judge new seeds."
    return f"Say in `seeds: {{diverged: ...}}` what a run that diverges counts: {'; '.join(ways)}."


def _stale(claim: Claim, evidence: Evidence) -> Iterator[Fault]:
    """Runs of an older revision of a component, or of a program before files of it were edited."""
    counts = _in_state(claim, evidence, "stale")
    for (runs, n), replicates in zip(counts, evidence.arms.values(), strict=True):
        edited = {", ".join(run.edited) for run in replicates if run.edited}
        why, remedy = "are of an older revision", "Train them again."
        if edited:
            why = f"were made before an edit of {'; '.join(sorted(edited))}"
            remedy = "Train them again; or undo the edit, and the runs that are there count."
        if n:
            yield Fault(Validity.STALE, f"{runs} {why}", remedy, "")


def _incomplete(claim: Claim, evidence: Evidence) -> Iterator[Fault]:
    """A planned seed that is missing: to conclude without it would be to stop when it suits.

    A table may have more seeds than were planned, and all of them count.
    """
    for arm, replicates in evidence.arms.items():
        if arm in evidence.published:
            continue
        label = claim.arms[arm].label
        for task in claim.tasks(arm) or ("",):
            runs = [run for run in replicates if run.task == task]
            place = f"{label}, task {task}" if task else label
            if reason := _too_few_runs(claim, place, runs):
                trained = any(run.key for run in runs)
                remedy = _to_complete(claim, evidence, arm, runs)
                yield Fault(Validity.INCOMPLETE, reason, remedy, "" if trained else None)


def _too_few_runs(claim: Claim, place: str, replicates: Sequence[Replicate]) -> str:
    """Why the runs of an arm, or of one task of it, are not yet those that were planned."""
    finished = sum(run.state == "finished" for run in replicates)
    missing = any(run.state == "missing" for run in replicates)
    planned = max(claim.seeds.plan, len(replicates))
    if not missing and len(replicates) >= claim.seeds.plan and finished >= claim.seeds.min:
        return ""
    diverged = sum(run.state in ("diverged", "imputed") for run in replicates)
    reason = f"{place}: {finished} of {planned} {replicate_of(claim)}s"
    reason += f", {diverged} diverged" if diverged else ""
    if not missing and finished < claim.seeds.min <= len(replicates):
        reason += f", and at least {claim.seeds.min} must finish"
    return reason + _why_lost(replicates, "missing")


def _to_complete(
    claim: Claim, evidence: Evidence, arm: str, replicates: Sequence[Replicate]
) -> str:
    """What brings the runs of an arm, or of one task of it, to those that were planned."""
    missing = [run for run in replicates if run.state == "missing"]
    if any(run.key for run in missing):
        nowhere = next((run.problem for run in missing if run.problem), "")
        if nowhere:
            return f"{nowhere}: name the store that has the runs with --store, or train them."
        return "Train the seeds that are missing; if a run failed, fix the error in its log first."
    source = evidence.tables.get(arm)
    if source is None or (not missing and len(replicates) >= claim.seeds.plan):
        return (
            f"Raise `seeds: {{plan: {claim.seeds.plan}}}`, so that {claim.seeds.min} finish "
            "although some diverge."
        )
    if missing:
        return f"Give each run in {source.file} its value, or `diverged` if it has none."
    lost = claim.seeds.plan - len(replicates)
    many = fmt.number_of(lost, replicate_of(claim))
    return f"Add {many} of {claim.arms[arm].label} to {source.file}."


def _why_lost(replicates: Sequence[Replicate], state: State) -> str:
    """What is known of imported runs without a value: the most frequent reasons, each once."""
    without = [run for run in replicates if run.state == state and not run.key]
    lost = Counter(run.problem for run in without if run.problem)
    reasons = [f"{n} {state}: {_on_one_line(why)}" for why, n in lost.most_common(REASONS)]
    return f" ({'; '.join(reasons)})" if reasons else ""


def _incomparable(claim: Claim) -> Iterator[Fault]:
    """What the claim declares to be the same, and is not, or is not stated."""
    declared = {"parameters_within": _parameters(claim)}
    declared |= {name: _same(claim, name) for name in claim.comparable.same}
    for name, reason in declared.items():
        if reason:
            key = name if name == "parameters_within" else f"same: [{name}]"
            done = "State it for each arm" if "not stated" in reason else "Make the arms the same"
            remedy = f"{done}, or take it out of `comparable: {{{key}}}` if it may differ."
            yield Fault(Validity.NOT_COMPARABLE, reason, remedy)


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


def judge_controls(claim: Claim, evidence: Evidence) -> tuple[doc.JudgedControl, ...]:
    """Every declared control on the finished replicates."""
    found = []
    for control in claim.canaries:
        arms = {name: _arm(control, claim, evidence, name) for name in control.named or claim.arms}
        missing = bool(uncontrolled(control, claim, evidence))
        outcome = control.outcome(arms, uncontrolled=missing)
        found.append(doc.JudgedControl(id=control.id, **outcome._asdict()))
    return tuple(found)


def uncontrolled(control: AnyControl, claim: Claim, evidence: Evidence) -> tuple[str, ...]:
    """The arms whose values it should control and cannot, by where they come from."""
    name = control.measurement
    return tuple(
        arm
        for arm in control.named or claim.arms
        if name in evidence.published.get(arm, {})
        or (arm in evidence.tables and not control.controls(_arm(control, claim, evidence, arm)))
    )


def _arm(control: AnyControl, claim: Claim, evidence: Evidence, name: str) -> ControlledArm:
    """What a control knows of an arm."""
    arm, measurement = claim.arms[name], control.measurement
    training = None if arm.configuration is None else arm.configuration.training()
    spec = claim.measurements[measurement]
    finished = evidence.finished(name)
    return ControlledArm(
        arm.label,
        None if training is None or not spec.taken_of(training) else spec.bound(training),
        tuple(r.values[measurement] for r in finished if measurement in r.values),
        tuple(r.details[measurement] for r in finished if r.details.get(measurement)),
    )


def caveats(
    claim: Claim, evidence: Evidence, controls: tuple[doc.JudgedControl, ...]
) -> list[Flag]:
    """A flag for each control that came out low or could not be made, and for what diverged."""
    return [
        *_low(controls),
        *_uncontrolled(claim, evidence, controls),
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
    references = _references(claim)
    found = {
        arm: _most_seeds(evidence.counted(arm)) for arm in evidence.tables if arm not in references
    }
    if min(found.values(), default=0) <= planned:
        return []
    more = " and ".join(f"{claim.arms[arm].label} has {n}" for arm, n in found.items())
    unit = replicate_of(claim)
    text = f"{planned} {unit}s per arm were planned, and {more}: all count, so nothing "
    return [Flag(FlagKind.MORE_SEEDS, f"{text}rules out that {unit}s were added until it suited.")]


def _references(claim: Claim) -> set[str]:
    """The arms against which new runs are held: they were there before, and no plan counts them."""
    found = ((each, kind_of(each).lone(each)) for each in claim.expectations)
    return {arm for each, lone in found if lone for arm in each.of if arm not in lone}


def _most_seeds(replicates: Sequence[Replicate]) -> int:
    """How many seeds there are; where there are tasks, of the one that has most."""
    return max(Counter(run.task for run in replicates).values(), default=0)


def _low(controls: tuple[doc.JudgedControl, ...]) -> list[Flag]:
    return [
        Flag(
            FlagKind.CONTROL,
            f"{control.statement}: expected {control.expected}, measured {control.measured}, which "
            "is lower than a model trained normally reaches.",
        )
        for control in controls
        if control.state == "flagged"
    ]


def _uncontrolled(
    claim: Claim, evidence: Evidence, controls: tuple[doc.JudgedControl, ...]
) -> list[Flag]:
    found = []
    for declared, judged in zip(claim.canaries, controls, strict=True):
        for arm in uncontrolled(declared, claim, evidence):
            source = "are printed numbers"
            if arm in evidence.tables:
                source = f"come from a table, {evidence.tables[arm].file}"
            whose = f"{claim.arms[arm].label}, whose values {source}"
            text = f"{judged.statement}: not controlled for {whose}."
            found.append(Flag(FlagKind.CONTROL, text))
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
                text = f"{claim.arms[arm].label}: {said} ({fmt.seeds(lost, replicate_of(claim))})."
                found.append(Flag(FlagKind.DIVERGED, text))
    return found
