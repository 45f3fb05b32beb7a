"""Expectations that could not be decided as they are declared, whatever the evidence."""

from __future__ import annotations

from collections.abc import Iterator

from repro.errors import Problem
from repro.expectations.kinds import kind_of
from repro.specs.scaled import ScaledClaim


def _some_decide(claim: ScaledClaim) -> Iterator[Problem]:
    if not any(claim.decisive()):
        what = "all are shown as context, so that nothing decides the verdict"
        advice = "leave `role: context` out of the one that the claim is about"
        yield claim.problem(("expectations",), what, "a decisive expectation", advice)


def _mistakes(claim: ScaledClaim) -> Iterator[Problem]:
    """What each kind finds wrong with its own."""
    context = claim.context()
    for steps, expectation in claim.placed():
        for found in kind_of(expectation).mistakes(expectation, context):
            yield claim.mistake(steps, expectation, found)


RULES = (_some_decide, _mistakes)
