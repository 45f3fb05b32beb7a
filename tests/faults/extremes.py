"""Valid claims with extreme values: what no sane table holds, and a table may hold all the same."""

from __future__ import annotations

import random
from typing import Any

from repro.specs.claim import Claim, Published
from tests.properties.kinds import KINDS, Values, claim_of

SIZES = (0.0, 1.0, -1.0, 8.125, 1e-9, 1e-60, 1e15, 1e16 + 2, 1e30, 1e59, 1e60, -1e16, -1e60)
"""Numbers up to the sizes that a table may hold."""

PRINTED = ("0", "1", "56.4", "-3.2", "1e-60", "1e16", "1e60", "-1e60", "0.0001")
COMPARED = ("difference", "equivalence", "non_superiority", "non_inferiority", "ratio")


def values(chance: random.Random, claim: Claim, n: int) -> Values:
    """So many values of each measurement of each arm: some alike, some of sizes far apart."""
    return {
        arm: {name: [_value(chance, level) for _ in range(n)] for name in claim.measurements}
        for arm in claim.arms
        for level in (chance.choice(SIZES),)
    }


def _value(chance: random.Random, level: float) -> float:
    way = chance.randrange(6)
    if way == 0:
        return chance.choice(SIZES)
    if way == 1:
        return level
    value = level * (1 + chance.choice((1e-16, 1e-12, 1e-3, 0.1)) * chance.gauss(0, 1))
    return max(-1e60, min(1e60, value if abs(value) >= 1e-60 else 0.0))


def claim_and_values(chance: random.Random) -> tuple[Claim, Values]:
    """A claim of any kind, with or without printed numbers, and values for it."""
    kind = KINDS[chance.choice(list(KINDS))]
    made = claim_of(kind, chance.choice((1.0, 0.01, 1e16)), 1.0)
    if made.expectations[0].kind in COMPARED and chance.random() < 0.6:
        published = Published.model_validate(_published(chance), strict=False)
        made = made.model_copy(update={"published": (published,)})
    n = kind.n if kind.in_time else chance.choice((kind.n, kind.n, 2, 3, 12))
    return made, values(chance, made, n)


def _published(chance: random.Random) -> dict[str, Any]:
    arms = {
        arm: {
            "mean": chance.choice(PRINTED),
            "sd": chance.choice((None, "0", "0.2", "1e-60", "1e60", "3")),
            "n": chance.choice((None, 1, 2, 5, 10**6)),
        }
        for arm in "ab"
    }
    return {
        "expectation": "e0",
        "locator": "Table 1",
        "arms": arms,
        "p": chance.choice((None, "0.04")),
    }
