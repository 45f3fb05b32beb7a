"""Seed numbers that an arm should have and has not."""

from __future__ import annotations

from collections.abc import Collection


def gaps(numbers: Collection[int], other: Collection[int]) -> tuple[int, ...]:
    """Numbers of the ``other`` arm that are missing between the least and the largest of this.

    Arms that share less than half of their numbers are numbered each in its own way, and nothing
    is missing: 42 and 1337 are seeds, and one arm may have 0 to 9, the other 10 to 19. Two shared
    numbers are enough where the other arm is numbered without a gap: 0, 3, 7, 8, 9 beside 0 to 4
    are five of ten. What is missing at the end only is a smaller number of seeds.
    """
    mine, theirs = set(numbers), set(other)
    if not mine or not theirs:
        return ()
    shared = len(mine & theirs)
    counted = len(theirs) == max(theirs) - min(theirs) + 1
    if 2 * shared < min(len(mine), len(theirs)) and not (shared >= 2 and counted):
        return ()
    return tuple(sorted(one for one in theirs - mine if min(mine) < one < max(mine)))


def outside(
    numbers: Collection[int], first: int, last: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Numbers of a declared range that are missing, and those that lie outside it."""
    mine = set(numbers)
    missing = tuple(one for one in range(first, last + 1) if one not in mine)
    return missing, tuple(sorted(one for one in mine if not first <= one <= last))
