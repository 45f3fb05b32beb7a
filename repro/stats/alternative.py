"""Which difference a test asks for, and what its two one-sided p-values then mean."""

from __future__ import annotations

from typing import Literal, TypeAlias

from repro.errors import ClaimError

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]


def tails(alternative: Alternative) -> int:
    """In how many tails the test rejects; ``ClaimError`` for an unknown alternative."""
    if alternative not in ("two-sided", "greater", "less"):
        raise ClaimError(f"alternative is two-sided, greater or less, not {alternative!r}")
    return 2 if alternative == "two-sided" else 1


def interval_level(alternative: Alternative, alpha: float) -> float:
    """The level of the interval that belongs to the p: ``1 - alpha``, one-sided ``1 - 2 alpha``."""
    return 1 - alpha if tails(alternative) == 2 else 1 - 2 * alpha


def p_values(alternative: Alternative, greater: float, less: float) -> tuple[float, float | None]:
    """The p of what is asked and of its contrary, from the p of *greater* and of *less*.

    Two-sided it is twice the smaller one, and there is no contrary.
    """
    if tails(alternative) == 2:
        return min(1.0, 2 * min(greater, less)), None
    return (greater, less) if alternative == "greater" else (less, greater)
