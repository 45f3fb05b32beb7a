"""Reports of hundreds of seeds: what is drawn stays small, and is what it was."""

from __future__ import annotations

import math

import numpy as np
import pytest

from repro.expectations.verdict_words import Conclusion
from repro.judging.document_parts import Analysis, Choice
from repro.report.blocks import DotRow
from repro.report.figures.canvas import axis
from repro.report.figures.points import _dot, _offsets
from repro.report.sections.analyses import DRAWN, drawn

SEED = 20261122


def analysis(choice: Choice, effect: float | None, *, declared: bool = False) -> Analysis:
    return Analysis(
        choice=choice,
        name=f"{choice} {effect}",
        effect=effect,
        low=None,
        high=None,
        p=None,
        conclusion=Conclusion.CONFIRMED,
        declared=declared,
    )


def test_few_seeds_are_all_drawn() -> None:
    """Whatever else there is."""
    every = [analysis("test", 0.5), *(analysis("seed", float(i)) for i in range(DRAWN))]
    assert drawn(every) == every


def test_of_many_seeds_the_outermost_are_drawn() -> None:
    """As many from either end, in their old order, beside everything that is no seed."""
    effects = np.random.default_rng(SEED).permutation(500).astype(float).tolist()
    others = [analysis("test", 250.0, declared=True), analysis("seed", None)]
    every = [*others, *(analysis("seed", effect) for effect in effects)]
    shown = drawn(every)
    assert shown[:2] == others
    kept = [one.effect or 0.0 for one in shown[2:]]
    half = DRAWN // 2
    assert sorted(kept) == [*range(half), *range(500 - half, 500)]
    assert kept == [effect for effect in effects if effect in kept]


@pytest.mark.parametrize("digits", [0, 1, 6])
def test_no_dot_covers_another(digits: int) -> None:
    """Ties and near ties stand above and below each other, among hundreds of values."""
    values = np.random.default_rng(SEED).normal(50, 10, 300).round(digits).tolist()
    row = DotRow("a", "note", "arm-1", tuple(values), 50.0, None)
    on = axis(values, 0, 400, "linear")
    places = list(zip(map(on.at, values), _offsets(row, on), strict=True))
    gaps = [math.dist(a, b) for i, a in enumerate(places) for b in places[:i]]
    assert min(gaps) >= _dot(row) * 0.9 - 1e-9


@pytest.mark.timeout(20)
def test_values_too_large_to_place_end() -> None:
    """Where no place can be computed, dots stay in the middle; the search for one ends."""
    row = DotRow("a", "note", "arm-1", (1e308, -1e308, 1e308), None, None)
    on = axis([0.0, 1.0], 0, 400, "linear")
    assert len(_offsets(row, on)) == 3
    assert math.isfinite(sum(_offsets(row, on)))
