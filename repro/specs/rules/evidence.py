"""Expectations that ask more of an arm than its evidence can tell."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from repro.errors import Problem
from repro.expectations.difference import Difference
from repro.expectations.kinds import Expectation
from repro.expectations.margins import Equivalence, NonInferiority, NonSuperiority
from repro.expectations.proportion import Proportion
from repro.schema.yaml import Steps
from repro.specs.arm import PublishedArm
from repro.specs.scaled import ScaledClaim

SUMMARY_TESTS = ("welch", "student")


SUMMARY_KINDS = (
    "difference by welch or student, equivalence, non_superiority, non_inferiority, or a "
    "proportion of measurements"
)


def _printed_arms(claim: ScaledClaim) -> Iterator[Problem]:
    """Printed numbers are a summary, and most tests need the value of every seed."""
    lacking: dict[tuple[str, str], Problem] = {}
    arms = claim.arms.items()
    summaries = {name: arm.published for name, arm in arms if arm.published is not None}
    for steps, expectation in claim.placed():
        printed = [position for position, name in enumerate(expectation.of) if name in summaries]
        refused = _needs_sample(claim, steps, expectation, printed[0]) if printed else None
        if refused is not None:
            yield refused
            continue
        for name, measurement in product(
            (expectation.of[position] for position in printed), expectation.reads
        ):
            numbers = summaries[name].get(measurement)
            for problem in _needs_numbers(claim, expectation, name, measurement, numbers):
                lacking.setdefault((name, measurement), problem)
    yield from lacking.values()


def _needs_sample(
    claim: ScaledClaim, steps: Steps, expectation: Expectation, position: int
) -> Problem | None:
    printed = f"of arm '{expectation.of[position]}' only printed numbers are known"
    if isinstance(expectation, Difference):
        if expectation.test in SUMMARY_TESTS:
            return None
        what = f"test {expectation.test} needs the value of every seed, and {printed}"
        advice = "name one of these tests, or give the arm a table"
        return claim.problem((*steps, "test"), what, "welch or student", advice)
    if _means_only(expectation):
        return None
    if isinstance(expectation, Equivalence | NonSuperiority | NonInferiority):
        if claim.design != "paired":
            return None
        what = f"the design pairs the seeds of both arms, and {printed}"
        advice = "give the arm a table, or write `design: independent`"
        expected = "an arm that is trained, or has a table"
        return claim.problem((*steps, "of", position), what, expected, advice)
    what = f"kind {expectation.kind} needs the value of every seed, and {printed}"
    advice = "use a kind that does with mean, sd and n, or give the arm a table"
    return claim.problem((*steps, "of", position), what, SUMMARY_KINDS, advice)


def _means_only(expectation: Expectation) -> bool:
    """Whether an expectation reads no more than the mean of an arm."""
    return isinstance(expectation, Proportion) and bool(expectation.also)


def _needs_numbers(
    claim: ScaledClaim,
    expectation: Expectation,
    name: str,
    measurement: str,
    printed: PublishedArm | None,
) -> Iterator[Problem]:
    steps = (*claim.steps("arms", name), "published")
    needed = "mean and n" if _means_only(expectation) else "mean, sd and n"
    if printed is None:
        what = f"no '{measurement}' is printed of arm '{name}', and '{expectation.id}' reads it"
        advice = f"add `{measurement}: {{...}}`"
        yield claim.problem(steps, what, f"its {needed}", advice)
        return
    lacking = _lacking(printed, means_only=_means_only(expectation))
    if lacking:
        what = f"'{expectation.id}' cannot be tested without {' and '.join(lacking)}"
        advice = "add what is printed, or leave the expectation out"
        yield claim.problem((*steps, measurement), what, needed, advice)


def _lacking(printed: PublishedArm, *, means_only: bool) -> list[str]:
    """The numbers that a test on means needs, and that are not printed."""
    if means_only:
        return [] if printed.n is not None else ["n"]
    least = 2
    lacking = ["sd"] if printed.sd is None else []
    return lacking if printed.n is not None and printed.n >= least else [*lacking, "an n above 1"]


def _reported(claim: ScaledClaim) -> Iterator[Problem]:
    """What is only reported is not measured on what is trained here."""
    measurements = claim.measurements.items()
    reported = {name for name, each in measurements if not each.trainers}
    for steps, expectation in claim.placed():
        trained = [name for name in expectation.of if name in claim.trained]
        for name in expectation.reads if trained else ():
            if name in reported:
                reported.remove(name)  # said once
                what = f"'{name}' is reported, not measured, and arm '{trained[0]}' is trained here"
                expected = "a measurement of kind perplexity or rank, or arms with other evidence"
                advice = "measure it, or give the arm a table or printed numbers"
                yield claim.problem((*steps, "measurement"), what, expected, advice)


RULES = (_printed_arms, _reported)
