"""Expectations that ask more of an arm than its evidence can tell."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from repro.errors import Problem
from repro.specs.arm import PublishedArm
from repro.specs.draft import Draft
from repro.specs.expectation import (
    Difference,
    Equivalence,
    Expectation,
    NonInferiority,
    NonSuperiority,
    Proportion,
)
from repro.specs.measurement import Reported
from repro.specs.yaml import Steps

SUMMARY_TESTS = ("welch", "student")
SUMMARY_KINDS = (
    "difference by welch or student, equivalence, non_superiority, non_inferiority, or a "
    "proportion of measurements"
)


def _printed_arms(draft: Draft) -> Iterator[Problem]:
    """Printed numbers are a summary, and most tests need the value of every seed."""
    lacking: dict[tuple[str, str], Problem] = {}
    for steps, one in draft.readable():
        arms = [draft.arm(name) for name in one.of]
        printed = [place for place, arm in enumerate(arms) if arm and arm.published is not None]
        refused = _needs_sample(draft, steps, one, printed[0]) if printed else None
        if refused is not None:
            yield refused
            continue
        for name, measurement in product((one.of[place] for place in printed), one.reads):
            for problem in _needs_numbers(draft, one, name, measurement):
                lacking.setdefault((name, measurement), problem)
    yield from lacking.values()


def _needs_sample(draft: Draft, steps: Steps, one: Expectation, position: int) -> Problem | None:
    printed = f"of arm '{one.of[position]}' only printed numbers are known"
    if isinstance(one, Difference):
        if one.test in SUMMARY_TESTS:
            return None
        what = f"test {one.test} needs the value of every seed, and {printed}"
        advice = "name one of these tests, or give the arm a table"
        return draft.problem((*steps, "test"), what, "welch or student", advice)
    if _means_only(one):
        return None
    if isinstance(one, Equivalence | NonSuperiority | NonInferiority):
        if draft.design != "paired":
            return None
        what = f"the design pairs the seeds of both arms, and {printed}"
        advice = "give the arm a table, or write `design: independent`"
        expected = "an arm that is trained, or has a table"
        return draft.problem((*steps, "of", position), what, expected, advice)
    what = f"kind {one.kind} needs the value of every seed, and {printed}"
    advice = "use a kind that does with mean, sd and n, or give the arm a table"
    return draft.problem((*steps, "of", position), what, SUMMARY_KINDS, advice)


def _means_only(one: Expectation) -> bool:
    """Whether an expectation reads no more than the mean of an arm."""
    return isinstance(one, Proportion) and bool(one.also)


def _needs_numbers(
    draft: Draft, one: Expectation, name: str, measurement: str
) -> Iterator[Problem]:
    part = draft.arms[name]
    printed = (part.read().published or {}).get(measurement)
    steps = (*part.steps, "published")
    needed = "mean and n" if _means_only(one) else "mean, sd and n"
    if printed is None:
        what = f"no '{measurement}' is printed of arm '{name}', and '{one.id}' reads it"
        advice = f"add `{measurement}: {{...}}`"
        yield draft.problem(steps, what, f"its {needed}", advice)
        return
    lacking = _lacking(printed, means_only=_means_only(one))
    if lacking:
        what = f"'{one.id}' cannot be tested without {' and '.join(lacking)}"
        advice = "add what is printed, or leave the expectation out"
        yield draft.problem((*steps, measurement), what, needed, advice)


def _lacking(printed: PublishedArm, *, means_only: bool) -> list[str]:
    """The numbers that a test on means needs, and that are not printed."""
    if means_only:
        return [] if printed.n is not None else ["n"]
    least = 2
    lacking = ["sd"] if printed.sd is None else []
    return lacking if printed.n is not None and printed.n >= least else [*lacking, "an n above 1"]


def _reported(draft: Draft) -> Iterator[Problem]:
    """What is only reported is not measured on what is trained here."""
    said: set[str] = set()
    for steps, one in draft.readable():
        for name in one.reads:
            measurement = draft.measurements.get(name)
            if measurement is None or not isinstance(measurement.value, Reported):
                continue
            trained = [each for each in one.of if _trained(draft, each)]
            if trained and name not in said:
                said.add(name)
                what = f"'{name}' is reported, not measured, and arm '{trained[0]}' is trained here"
                expected = "a measurement of kind perplexity or rank, or arms with other evidence"
                advice = "measure it, or give the arm a table or printed numbers"
                yield draft.problem((*steps, "measurement"), what, expected, advice)


def _trained(draft: Draft, name: str) -> bool:
    arm = draft.arm(name)
    return arm is not None and arm.configuration is not None


RULES = (_printed_arms, _reported)
