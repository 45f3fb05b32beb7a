"""Designs that their tests contradict: pairs, and families of claims."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from repro.errors import Problem
from repro.specs.draft import Draft
from repro.specs.expectation import (
    Association,
    Bound,
    Difference,
    Equivalence,
    Expectation,
    NonInferiority,
    NonSuperiority,
    Proportion,
)
from repro.specs.seeds import EProcess
from repro.specs.yaml import Steps

PAIRED_KINDS = (Equivalence, NonSuperiority, NonInferiority, Proportion)
"""Kinds of several arms that are judged seed by seed, beside differences."""

PAIRED_WORDS = "a difference, equivalence, non_superiority, non_inferiority, bound or proportion"


def _pairs(draft: Draft) -> Iterator[Problem]:
    """A test of pairs needs arms that share their randomness, and they need such a test."""
    for steps, one in draft.readable():
        if isinstance(one, Difference):
            yield from _fitting_test(draft, steps, one)
        elif draft.design == "paired":
            yield from _independent_kind(draft, steps, one)


def _fitting_test(draft: Draft, steps: Steps, one: Difference) -> Iterator[Problem]:
    here = draft.size_steps(steps, one, "test")
    if one.test == "paired" and draft.design == "independent":
        what = "replicates of independent arms are no pairs"
        advice = "leave the test out, or write `design: paired`"
        yield draft.problem(here, what, "a test of independent arms, such as welch", advice)
    elif one.test != "paired" and draft.design == "paired" and one.role == "decisive":
        what = f"test {one.test} takes the arms as independent, and {_design(draft)} pairs them"
        advice = "write `test: paired`, or `design: independent`"
        yield draft.problem(here, what, "paired", advice)


def _independent_kind(draft: Draft, steps: Steps, one: Expectation) -> Iterator[Problem]:
    one_arm = isinstance(one, Bound) or (isinstance(one, Association) and len(one.of) == 1)
    if not one_arm and not isinstance(one, PAIRED_KINDS):
        what = f"kind {one.kind} takes the arms as independent, and {_design(draft)} pairs them"
        advice = "use one of these, or write `design: independent`"
        yield draft.problem((*steps, "kind"), what, PAIRED_WORDS, advice)


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
