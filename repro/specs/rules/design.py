"""Designs that their tests contradict: pairs, and families of claims."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from repro.errors import Problem
from repro.expectations.association import Association
from repro.expectations.base import EProcess
from repro.expectations.difference import Difference
from repro.expectations.order import Trend
from repro.schema.yaml import Steps
from repro.specs.scaled import ScaledClaim

PAIRED_TESTS = ("paired", "paired_permutation")
"""Tests of differences, or trends, of a paired design; all others take arms as independent."""


def _pairs(claim: ScaledClaim) -> Iterator[Problem]:
    """A test of pairs needs arms that share their randomness, and they need such a test."""
    for steps, expectation in claim.placed():
        if isinstance(expectation, Difference | Trend):
            yield from _fitting_test(claim, steps, expectation)
        elif (
            claim.design == "paired"
            and isinstance(expectation, Association)
            and len(expectation.of) > 1
        ):
            what = f"points of several arms count as independent, and {_design(claim)} pairs them"
            advice = "name one arm, or write `design: independent`"
            yield claim.problem((*steps, "of"), what, "one arm", advice)


def _fitting_test(
    claim: ScaledClaim, steps: Steps, expectation: Difference | Trend
) -> Iterator[Problem]:
    here = claim.size_steps(steps, expectation, "test")
    paired = expectation.test in PAIRED_TESTS
    if paired and claim.design == "independent":
        what = "replicates of independent arms are no pairs"
        advice = "leave the test out, or write `design: paired`"
        yield claim.problem(here, what, "a test of independent arms, such as welch", advice)
    elif not paired and claim.design == "paired" and not _shown_only(expectation):
        what = f"test {expectation.test} takes the arms as independent, "
        what += f"and {_design(claim)} pairs them"
        advice = "write `test: paired`, or `design: independent`"
        yield claim.problem(here, what, "paired", advice)


def _shown_only(expectation: Difference | Trend) -> bool:
    """A difference that is only shown may repeat the test of a paper, whatever the design."""
    return isinstance(expectation, Difference) and expectation.role == "context"


def _design(claim: ScaledClaim) -> str:
    """`the design`, or `the design of scale 'quick'` where that has its own."""
    if claim.changes.design is None:
        return "the design"
    return f"the design of scale '{claim.scale}'"


def _same_seeds(claim: ScaledClaim) -> Iterator[Problem]:
    """Replicates of one number share their randomness, so all trained arms start at one number."""
    if claim.design != "paired":
        return
    first = {name: claim.arms[name].first_seed for name in claim.trained}
    for name, number in first.items():
        least = min(first.values())
        if number != least:
            other = next(arm for arm, seed in first.items() if seed == least)
            what = f"its seeds start at {number}, and those of arm '{other}' at {least}: "
            what += "replicates of different numbers share no randomness, so they are no pairs"
            advice = "let both start at the same seed, or write `design: independent`"
            yield claim.problem(
                (*claim.steps("arms", name), "first_seed"), what, f"{least}", advice
            )


def _family(claim: ScaledClaim) -> Iterator[Problem]:
    """A family that leaves out the claim itself, or asks for evidence that it lacks."""
    family, name = claim.file.family, claim.file.id
    if family is None:
        return
    if name not in family.members:
        what = f"the claim itself, '{name}', is not among the members of its family"
        yield claim.problem(("family", "members"), what, f"a list with {name}", f"add {name}")
    for twice in dict.fromkeys(a for a, b in pairwise(sorted(family.members)) if a == b):
        what = f"claim '{twice}' is named twice"
        yield claim.problem(
            ("family", "members"), what, "every claim once", "remove one of the two"
        )
    sequential = claim.file.sequential
    if family.method == "e_bh" and not isinstance(sequential, EProcess):
        what = "e_bh joins e-values, and only the method eprocess_t has them"
        advice = "write `method: holm`, or add `sequential: {method: eprocess_t}`"
        yield claim.problem(("family", "method"), what, "one of holm, bh", advice)


RULES = (_pairs, _same_seeds, _family)
