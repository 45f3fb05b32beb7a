"""Expectations of one or two arms that could not be decided as they are declared."""

from __future__ import annotations

from collections.abc import Iterator

from repro.errors import Problem
from repro.specs.draft import Draft
from repro.specs.expectation import Bound, Difference

WITHOUT_UNITS = ("permutation", "paired_permutation", "brunner_munzel")
"""Tests that have no interval in the units of the measurement."""

PRINTED_TESTS = ("welch", "student", "paired")


def _some_decide(draft: Draft) -> Iterator[Problem]:
    read = [part.value for part in draft.expectations]
    if read and all(value is not None and value.role == "context" for value in read):
        what = "all are shown as context, so that nothing decides the verdict"
        advice = "leave `role: context` out of the one that the claim is about"
        yield draft.problem(("expectations",), what, "a decisive expectation", advice)


def _published_rule(draft: Draft) -> Iterator[Problem]:
    for steps, one in draft.readable():
        if not isinstance(one, Difference) or one.rule != "as_published":
            continue
        if one.role == "decisive":
            what = "the paper's own rule cannot decide: p above alpha is no evidence of equality"
            advice = "add `role: context`, and let another expectation decide"
            yield draft.problem((*steps, "rule"), what, "role context", advice)
        if one.test not in PRINTED_TESTS:
            what = f"the paper's own rule is that of a t-test, and {one.test} is none"
            advice = "name the paper's test, or leave the rule out"
            yield draft.problem((*steps, "test"), what, "one of student, welch, paired", advice)


def _bounds(draft: Draft) -> Iterator[Problem]:
    for steps, one in draft.readable():
        if not isinstance(one, Bound):
            continue
        limits = [key for key in ("at_most", "at_least") if getattr(one, key) is not None]
        if len(limits) != 1:
            what = f"a bound with {'two limits' if limits else 'no limit'} says nothing exact"
            advice = "keep one of the two" if limits else "add one of the two"
            yield draft.problem(steps, what, "either at_most or at_least", advice)


def _tails(draft: Draft) -> Iterator[Problem]:
    """A test with one tail needs to know which."""
    for steps, one in draft.readable():
        if isinstance(one, Difference) and one.tails == 1 and one.direction == "different":
            what = "a test with one tail has a direction, and different has none"
            advice = "name the direction, or leave tails out"
            yield draft.problem((*steps, "direction"), what, "one of lower, higher", advice)


def _smallest_effects(draft: Draft) -> Iterator[Problem]:
    """A smallest effect is held against an interval on one side of no difference."""
    for steps, one in draft.readable():
        if not isinstance(one, Difference) or one.smallest_effect is None:
            continue
        here = draft.size_steps(steps, one, "smallest_effect")
        if one.test in WITHOUT_UNITS:
            what = f"test {one.test} has no interval in the units of the measurement to hold it to"
            advice = "name another test, or leave it out"
            yield draft.problem(here, what, "a test such as welch, student or yuen", advice)
        if one.direction == "different":
            what = "a smallest effect has a sign, and direction different has none"
            advice = "name the direction, or leave it out"
            yield draft.problem((*steps, "direction"), what, "one of lower, higher", advice)
        if one.smallest_effect.relative is not None:
            what = "a relative smallest effect is not implemented: the interval of a difference "
            what += "is in the units of the measurement"
            advice = "write it as `abs` or `of_gain`"
            yield draft.problem((*here, "relative"), what, "one of abs, of_gain", advice)


RULES = (_some_decide, _published_rule, _bounds, _tails, _smallest_effects)
