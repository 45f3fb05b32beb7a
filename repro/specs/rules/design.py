"""Designs that their tests contradict: pairs, and families of claims."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from repro.errors import Problem
from repro.expectations.base import EProcess
from repro.specs.scaled import ScaledClaim


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


RULES = (_same_seeds, _family)
