"""Expectations that could not be decided as they are declared, or by the evidence of their arms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from repro.errors import Problem
from repro.evidence.evidence import PublishedArm
from repro.expectations.kinds import Expectation, kind_of
from repro.schema.messages import Words
from repro.schema.yaml import Steps
from repro.specs.scaled import ScaledClaim
from repro.trainers.base import Training
from repro.trainers.derived import with_parts


def _some_decide(claim: ScaledClaim) -> Iterator[Problem]:
    if not any(claim.decisive()):
        mistake = "all are shown as context, so that nothing decides the verdict"
        advice = "leave `role: context` out of the one that the claim is about"
        yield claim.problem(("expectations",), mistake, "a decisive expectation", advice)


def _mistakes(claim: ScaledClaim) -> Iterator[Problem]:
    """What each kind finds wrong with its own."""
    context = claim.context()
    for steps, expectation in claim.named():
        for found in kind_of(expectation).mistakes(expectation, context):
            yield claim.mistake(steps, expectation, found)


def _printed_arms(claim: ScaledClaim) -> Iterator[Problem]:
    """Printed numbers are a summary, and most tests need the value of every seed."""
    lacking: dict[tuple[str, str], Problem] = {}
    summaries = {name for name, arm in claim.arms.items() if arm.source.printed is not None}
    for steps, expectation in claim.named():
        printed = [position for position, name in enumerate(expectation.of) if name in summaries]
        refused = _needs_values(claim, steps, expectation, printed[0]) if printed else None
        if refused is not None:
            yield refused
            continue
        for name, measurement in product(
            (expectation.of[position] for position in printed), expectation.reads
        ):
            for problem in _needs_numbers(claim, expectation, name, measurement):
                lacking.setdefault((name, measurement), problem)
    yield from lacking.values()


def _needs_values(
    claim: ScaledClaim, steps: Steps, expectation: Expectation, position: int
) -> Problem | None:
    found = kind_of(expectation).needs_values(expectation, claim.context())
    if found is None:
        return None
    mistake = (
        f"{found.what}, and of arm '{expectation.of[position]}' only printed numbers are known"
    )
    keys = (*found.keys, position) if found.keys == ("of",) else found.keys
    return claim.mistake(steps, expectation, replace(found, keys=keys, what=mistake))


def _needs_numbers(
    claim: ScaledClaim, expectation: Expectation, name: str, measurement: str
) -> Iterator[Problem]:
    printed = (claim.arms[name].source.printed or {}).get(measurement)
    means_only = name in kind_of(expectation).means_of(expectation)
    steps = (*claim.steps("arms", name), "published")
    needed = "mean and n" if means_only else "mean, sd and n"
    if printed is None:
        mistake = f"no '{measurement}' is printed of arm '{name}', and '{expectation.id}' reads it"
        advice = f"add `{measurement}: {{...}}`"
        yield claim.problem(steps, mistake, f"its {needed}", advice)
        return
    lacking = _lacking(printed, means_only=means_only)
    if lacking:
        mistake = f"'{expectation.id}' cannot be tested without {' and '.join(lacking)}"
        advice = "add what is printed, or leave the expectation out"
        measured = [each for each in expectation.of if claim.arms[each].source.printed is None]
        if printed.sd is None and measured:
            against = f"claim `level` of {measured[0]} against {printed.mean}"
            advice = f"add what is printed, or {against}"
        yield claim.problem((*steps, measurement), mistake, needed, advice)


def _lacking(printed: PublishedArm, *, means_only: bool) -> list[str]:
    """The numbers that a test on means needs, and that are not printed."""
    if means_only:
        return [] if printed.n is not None else ["n"]
    lacking = ["sd"] if printed.sd is None else []
    return lacking if (printed.n or 0) > 1 else [*lacking, "an n above 1"]


def _reported(claim: ScaledClaim) -> Iterator[Problem]:
    """What is only reported is not measured on what is trained here."""
    reported = {
        name: each
        for name, each in claim.measurements.items()
        if not each.trainers and not each.made_of
    }
    for steps, expectation in claim.placed():
        trainings = {arm: claim.trainings[arm] for arm in expectation.of if arm in claim.trainings}
        for name in with_parts(expectation.reads, claim.measurements):
            taken = reported.get(name)
            arms = (arm for arm, each in trainings.items() if taken and not taken.taken_of(each))
            if (arm := next(arms, None)) is not None:
                del reported[name]  # said once
                place = (*steps, "measurement")
                yield claim.problem(place, *_not_measured(name, arm, trainings[arm]))


def _not_measured(name: str, arm: str, training: Training) -> Words:
    """What to say of a reported number of an arm that is trained."""
    if training.leaves_numbers:
        mistake = f"'{name}' does not say which number of arm '{arm}' it is"
        return mistake, "`from`, with its name in the results", f"add `from: {name}`, or its name"
    mistake = f"'{name}' is reported, not measured, and arm '{arm}' is trained here"
    expected = "a measurement of kind perplexity or rank, or arms with other evidence"
    return mistake, expected, "measure it, or give the arm a table or printed numbers"


def _censored(claim: ScaledClaim) -> Iterator[Problem]:
    """Where some values are only known to be large, a mean is not known, nor what follows."""
    budgets = {name: each.censored_at for name, each in claim.measurements.items()}
    for name, measurement in claim.measurements.items():
        if any(budgets.get(part) is not None for part in measurement.made_of):
            mistake = f"'{name}' is made of a censored measurement, whose size is not always known"
            expected, advice = "measurements whose values are known", "let the runs report it"
            yield claim.problem(claim.steps("measurements", name), mistake, expected, advice)
    if claim.seeds.unit is not None and any(at is not None for at in budgets.values()):
        mistake = "evaluations of one unit are averaged, and a censored value has no average"
        expected, advice = "one value for each run", "leave `unit` out, or `censored`"
        yield claim.problem(("seeds", "unit"), mistake, expected, advice)
    for steps, expectation in claim.placed():
        kind = kind_of(expectation)
        censored = next((n for n in expectation.reads if budgets.get(n) is not None), None)
        if censored is not None and not kind.by_order(expectation):
            mistake = f"'{censored}' is censored at {budgets[censored]:g}, so it has no mean, and "
            mistake += f"'{expectation.id}' needs more than an order"
            expected = "survivals, separation, bound, a level of the median, or brunner_munzel"
            advice = "name one of these, or leave `censored` out of the measurement"
            yield claim.problem((*steps, "kind"), mistake, expected, advice)


def _tasks(claim: ScaledClaim) -> Iterator[Problem]:
    """An arm has runs of several tasks, or of none, for all that reads it; only some evidence has.

    So no expectation ever pools the runs of several tasks silently.
    """
    reading: dict[str, Expectation] = {}
    for steps, expectation in claim.placed():
        over = bool(kind_of(expectation).tasks(expectation))
        known = [each for each in enumerate(expectation.of) if each[1] in claim.arms]
        for position, arm in known:
            source = claim.arms[arm].source
            if over and not source.has_tasks:
                mistake = f"'{expectation.id}' is over tasks, and arm '{arm}' has no runs of tasks"
                expected = "a table with a column task, or an import with `task`"
                advice = "name the field of the task, or give the arm a table"
                yield claim.problem((*steps, "of", position), mistake, expected, advice)
            other = reading.setdefault(arm, expectation)
            if over != bool(kind_of(other).tasks(other)):
                first, second = (other, expectation) if over else (expectation, other)
                mistake = f"'{first.id}' takes no notice of tasks, over which '{second.id}' reads "
                mistake += f"arm '{arm}': it would pool them"
                expected, advice = "kinds over tasks alone", "write two claims, or two arms"
                yield claim.problem((*steps, "kind"), mistake, expected, advice)
                break


RULES = (_some_decide, _mistakes, _printed_arms, _reported, _censored, _tasks)
