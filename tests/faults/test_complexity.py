"""The work of every loader grows with its input, and no faster."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from benchmarks.faults import fuzz
from benchmarks.faults.shapes import SHAPES, Work

SMALL = 150
LARGE = 30_000
"""At which the square of a size takes a quarter of a minute, and the size itself a second."""

LIMIT = 4
"""Seconds for it."""

SEEDS = range(2)


def twofold(lines: list[int]) -> bool:
    """Whether twice the input takes about twice the lines; the square of a size takes four times.

    So many lines of them are the same for every input.
    """
    return all(more <= 2.4 * less + 1_000 for less, more in pairwise(lines))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", SHAPES)
def test_lines_grow_as_the_input_does(name: str, seed: int) -> None:
    lines = fuzz.counted(name, seed, SMALL)
    assert twofold(lines), lines


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_large_inputs_are_answered_in_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the work is done by a library in C, whose lines are not counted."""
    monkeypatch.setattr(fuzz, "LIMIT", LIMIT)
    assert fuzz.timed(name, 0, LARGE) is not None


def in_lines(n: int, _: Random, __: Path) -> Work:
    return lambda: [0 for each in range(n) for other in range(n)]


def in_c(n: int, _: Random, __: Path) -> Work:
    values = list(range(n))
    return lambda: [values.count(each) for each in values]


def test_a_square_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its lines, or by its time."""
    monkeypatch.setattr(fuzz, "LIMIT", 1)
    made: dict[str, Callable[[int, Random, Path], Work]] = {"lines": in_lines, "c": in_c}
    for name, shape in made.items():
        monkeypatch.setitem(SHAPES, name, shape)
    assert not twofold(fuzz.counted("lines", 0, SMALL))
    assert twofold(fuzz.counted("c", 0, SMALL))
    assert fuzz.timed("c", 0, LARGE) is None
