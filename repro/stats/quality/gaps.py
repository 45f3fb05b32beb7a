"""Seed numbers that an arm should have and has not."""

from __future__ import annotations

from collections.abc import Collection


def gaps(numbers: Collection[int], other: Collection[int]) -> tuple[int, ...]:
    """Numbers of the ``other`` arm that are missing between the least and the largest of this.

    Arms that share less than half of their numbers are numbered each in its own way, and nothing
    is missing: 42 and 1337 are seeds, and one arm may have 0 to 9, the other 10 to 19. What is
    missing at the end only is a smaller number of seeds.
    """
    mine, theirs = set(numbers), set(other)
    if 2 * len(mine & theirs) < min(len(mine), len(theirs)) or not mine:
        return ()
    return tuple(sorted(one for one in theirs - mine if min(mine) < one < max(mine)))


def outside(
    numbers: Collection[int], first: int, last: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Numbers of a declared range that are missing, and those that lie outside it."""
    mine = set(numbers)
    missing = tuple(one for one in range(first, last + 1) if one not in mine)
    return missing, tuple(sorted(one for one in mine if not first <= one <= last))
