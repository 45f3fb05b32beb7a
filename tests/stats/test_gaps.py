"""Seed numbers that are missing: only against the other arm."""

from __future__ import annotations

import pytest

from repro.stats.data_signs import gaps


@pytest.mark.parametrize(
    ("mine", "theirs", "missing"),
    [
        ((0, 3, 7, 8, 9), range(10), (1, 2, 4, 5, 6)),
        ((0, 3, 7, 8, 9), range(5), (1, 2, 4)),
        (range(5), (0, 3, 7, 8, 9), ()),
        ((0, 1, 2, 3, 4), range(10), ()),
        ((42, 1337, 7), range(3), ()),
        ((3, 17, 42, 99), (3, 17, 51, 60), (51, 60)),
        ((0, 1, 2, 3, 4), (10, 11, 12), ()),
        ((), range(3), ()),
    ],
)
def test_a_gap_is_a_number_that_the_other_arm_has(
    mine: tuple[int, ...], theirs: tuple[int, ...], missing: tuple[int, ...]
) -> None:
    """Numbers of one's own are no gaps, and neither is a smaller number of seeds."""
    assert gaps(mine, theirs) == missing
