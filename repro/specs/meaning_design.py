"""Designs that their tests contradict: pairs, and families of claims."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from repro.errors import Problem
from repro.specs.draft import Draft
from repro.specs.expectation import PAIRED_TESTS, Association, Difference, Trend
from repro.specs.seeds import EProcess
from repro.specs.yaml import Steps


def _pairs(draft: Draft) -> Iterator[Problem]:
    """A test of pairs needs arms that share their randomness, and they need such a test."""
    for steps, one in draft.readable():
        if isinstance(one, Difference | Trend):
            yield from _fitting_test(draft, steps, one)
        elif draft.design == "paired" and isinstance(one, Association) and len(one.of) > 1:
            what = f"points of several arms count as independent, and {_design(draft)} pairs them"
            advice = "name one arm, or write `design: independent`"
            yield draft.problem((*steps, "of"), what, "one arm", advice)


def _fitting_test(draft: Draft, steps: Steps, one: Difference | Trend) -> Iterator[Problem]:
    here = draft.size_steps(steps, one, "test")
    paired = one.test in PAIRED_TESTS
    if paired and draft.design == "independent":
        what = "replicates of independent arms are no pairs"
        advice = "leave the test out, or write `design: paired`"
        yield draft.problem(here, what, "a test of independent arms, such as welch", advice)
    elif not paired and draft.design == "paired" and not _shown_only(one):
        what = f"test {one.test} takes the arms as independent, and {_design(draft)} pairs them"
        advice = "write `test: paired`, or `design: independent`"
        yield draft.problem(here, what, "paired", advice)


def _shown_only(one: Difference | Trend) -> bool:
    """A difference beside the claim may repeat the test of a paper, whatever the design."""
    return isinstance(one, Difference) and one.role == "context"


def _design(draft: Draft) -> str:
    """`the design`, or `the design of scale 'quick'` where that has its own."""
    if draft.document.get("scales", draft.scale, "design") is None:
        return "the design"
    return f"the design of scale '{draft.scale}'"


def _same_seeds(draft: Draft) -> Iterator[Problem]:
    """Replicates of one number share their randomness, so all trained arms start at one number."""
    if draft.design != "paired":
        return
    trained = {
        name: part
        for name, part in draft.arms.items()
        if part.value is not None and part.value.configuration is not None
    }
    first = {name: part.read().first_seed for name, part in trained.items()}
    for name, part in trained.items():
        least = min(first.values())
        if first[name] != least:
            other = next(arm for arm, seed in first.items() if seed == least)
            what = f"its seeds start at {first[name]}, and those of arm '{other}' at {least}: "
            what += "replicates of different numbers share no randomness, so they are no pairs"
            advice = "let both start at the same seed, or write `design: independent`"
            yield draft.problem((*part.steps, "first_seed"), what, f"{least}", advice)


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


RULES = (_pairs, _same_seeds, _family)
