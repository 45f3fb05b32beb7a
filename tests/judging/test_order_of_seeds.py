"""Values in the order of their seeds: what follows is flagged, in every kind of test."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from repro.expectations.verdict_words import FlagKind
from repro.judging.quality import examine
from tests.judging.made import made, seen

DIFFERENCE = {"kind": "difference", "of": ["a", "b"], "direction": "different"}
LEVEL = {"kind": "level", "of": ["a"], "at_least": {"value": -9.0, "why": "far below them all"}}
BOUND = {"kind": "bound", "of": ["a"], "at_least": {"value": -90.0, "why": "below them all"}}


def walk(seed: int, n: int = 24) -> list[float]:
    """A random walk, as checkpoints of one run are."""
    return np.cumsum(np.random.default_rng(seed).standard_normal(n)).tolist()


def white(seed: int, n: int = 24) -> list[float]:
    return np.random.default_rng(seed).standard_normal(n).tolist()


def said(expectation: dict[str, Any], values: dict[str, list[float]], **fields: Any) -> list[str]:
    """What the flag says, once for each sample that has it."""
    claim = made(expectation, arms="".join(values), **fields)
    found = examine(claim, seen(claim, values)).flags
    return [flag.message for flag in found if flag.kind is FlagKind.FOLLOWING]


def test_an_arm_that_follows_itself_is_named() -> None:
    """Of two arms the one that does; a level has one arm, and a bound takes no draws."""
    (one,) = said(DIFFERENCE, {"a": walk(1), "b": white(2)})
    assert one.startswith("loss of A (made.csv): in the order of the seeds, values resemble")
    assert len(said(DIFFERENCE, {"a": walk(1), "b": walk(3)})) == 2
    assert said(DIFFERENCE, {"a": white(4), "b": white(5)}) == []
    assert len(said(LEVEL, {"a": walk(1)})) == 1
    assert said(BOUND, {"a": walk(1)}) == []


def test_differences_of_pairs_are_looked_at() -> None:
    """Both arms look like noise, for what pairs share is large; their difference drifts."""
    shared = [50 * value for value in white(6)]
    drifting = [value + step for value, step in zip(shared, walk(7), strict=True)]
    found = said(DIFFERENCE, {"a": drifting, "b": shared}, design="paired")
    assert [text.split(" by pair")[0] for text in found] == ["loss: A minus B"]


@pytest.mark.parametrize("n", [5, 6])
def test_six_sorted_seeds_are_the_fewest_that_show_it(n: int) -> None:
    rising = [float(value) for value in range(n)]
    mixed = [0.4, 0.1, 0.6, 0.2, 0.5, 0.3][:n]
    assert bool(said(DIFFERENCE, {"a": rising, "b": mixed})) == (n == 6)


def test_the_order_is_that_of_the_numbers() -> None:
    """Rows of a table may stand in any order, unless it declares one."""
    claim = made(LEVEL, arms="a")
    rows = seen(claim, {"a": walk(8)})
    runs = np.random.default_rng(0).permutation(len(rows.arms["a"])).tolist()
    turned = {"a": tuple(rows.arms["a"][place] for place in runs)}
    for evidence in (rows, replace(rows, arms=turned)):
        kinds = [flag.kind for flag in examine(claim, evidence).flags]
        assert FlagKind.FOLLOWING in kinds
