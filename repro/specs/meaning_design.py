"""Designs that their tests contradict: pairs, and families of claims."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from repro.errors import Problem
from repro.specs.draft import Draft
from repro.specs.expectation import Association, Bound, Difference, Expectation, Proportion
from repro.specs.seeds import EProcess
from repro.specs.yaml import Steps


def _pairs(draft: Draft) -> Iterator[Problem]:
    """A test of pairs needs arms that share their randomness, and they need such a test."""
    for steps, one in draft.readable():
        if isinstance(one, Difference) and one.test == "paired":
            if draft.design == "independent":
                what = "replicates of independent arms are no pairs"
                advice = "leave the test out, or write `design: paired`"
                expected = "a test of independent arms, such as welch"
                yield draft.problem((*steps, "test"), what, expected, advice)
        elif draft.design == "paired":
            yield from _independent_test(draft, steps, one)


def _independent_test(draft: Draft, steps: Steps, one: Expectation) -> Iterator[Problem]:
    advice = "write `design: independent`"
    if isinstance(one, Difference):
        if one.role == "decisive":
            what = f"test {one.test} takes the arms as independent, and the design pairs them"
            advice = f"write `test: paired`, or {advice.removeprefix('write ')}"
            yield draft.problem((*steps, "test"), what, "paired", advice)
        return
    one_arm = isinstance(one, Bound) or (isinstance(one, Association) and len(one.of) == 1)
    if not one_arm and not isinstance(one, Proportion):
        what = f"kind {one.kind} takes the arms as independent, and the design pairs them"
        expected = "a difference with test paired, a bound or a proportion"
        yield draft.problem((*steps, "kind"), what, expected, f"use one of these, or {advice}")


def _family(draft: Draft) -> Iterator[Problem]:
    """A family that leaves out the claim itself, or asks for evidence that it has not."""
    family, own = draft.family.value, draft.document.data.get("id")
    if family is None or not isinstance(own, str):
        return
    if own not in family.members:
        what = f"the claim itself, '{own}', is not among the members of its family"
        yield draft.problem(("family", "members"), what, f"a list with {own}", f"add {own}")
    for name in dict.fromkeys(a for a, b in pairwise(sorted(family.members)) if a == b):
        what = f"claim '{name}' is named twice"
        yield draft.problem(
            ("family", "members"), what, "every claim once", "remove one of the two"
        )
    sequential = draft.sequential.value
    unreadable = draft.document.get("sequential") is not None and sequential is None
    if family.method == "e_bh" and not unreadable and not isinstance(sequential, EProcess):
        what = "e_bh joins e-values, and only the method eprocess_t has them"
        advice = "write `method: holm`, or add `sequential: {method: eprocess_t}`"
        yield draft.problem(("family", "method"), what, "one of holm, bh", advice)


RULES = (_pairs, _family)
