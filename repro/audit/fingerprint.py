"""P-values that equal, digit by digit, those of one test on the rounded summaries.

A test on the runs themselves hits the digits of the test on their rounded summaries only by
chance. Where it happens too often, the p-values were computed from what is printed, by that test.
METHODS.md 1.5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from repro.audit.feasible import Span
from repro.audit.printed import PrintedNumber

LEAST = 3
COINCIDENCE = 1e-3
"""P-values equal those of rounded summaries too often when chance would do so this rarely."""


def chance(p: PrintedNumber | None, interval: Span | None) -> float:
    """How much of its interval a printed p covers: the chance that it falls on one value."""
    if p is None or interval is None:
        return 1.0
    width = interval[1] - interval[0]
    return min(1.0, 2 * p.half / width) if width > 0 else 1.0


def no_coincidence(chances: Sequence[float], equal: int) -> bool:
    """Whether ``equal`` of these p-values hit the digits of one test more often than by chance."""
    if equal < LEAST:
        return False
    largest = sorted(chances, reverse=True)[:equal]
    return math.comb(len(chances), equal) * math.prod(largest) <= COINCIDENCE
