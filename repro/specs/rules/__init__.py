"""Well-formed claims that mean nothing: why no test could conclude what they ask."""

from __future__ import annotations

from collections.abc import Iterator

from repro.errors import Problem
from repro.specs.rules import arms, design, expectations
from repro.specs.scaled import ScaledClaim


def broken_rules(claim: ScaledClaim) -> Iterator[Problem]:
    """Every reason why the claim could not be judged at this scale."""
    for rule in (*design.RULES, *arms.RULES, *expectations.RULES):
        yield from rule(claim)
