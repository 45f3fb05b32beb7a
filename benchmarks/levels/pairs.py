"""Nulls of paired arms: each seed has an effect of its own, which both arms share."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.levels import looks, means
from benchmarks.levels.cells import Cell, Data, Draw, Setup, noise
from benchmarks.levels.nulls import arms, asked

NIGHTS, LOOKS = looks.NIGHTS[-1], looks.PLANNED[-1]


def pairs(cell: Cell, shift: float, n: int | None = None) -> Draw:
    """A higher than B by ``shift``; the shared effect is as wide as B."""

    def draw(rng: np.random.Generator, draws: int) -> Data:
        shared = noise(rng, cell.distribution, (draws, n or cell.n))
        a, b = arms(cell, shift, 0.0, n=n)(rng, draws)
        return a + shared, b + shared

    return draw


def difference(test: str, cell: Cell) -> Setup:
    """No difference."""
    return Setup(means.difference(test, "different", cell.alpha), pairs(cell, 0.0), 0.0)


def margin(kind: str, cell: Cell) -> Setup:
    """At the margin, four standard errors from no difference."""
    size = 4 * cell.se
    low = None if kind == "non_superiority" else -size
    high = None if kind == "non_inferiority" else size
    truth = -size if high is None else size
    rule = means.region(kind, cell.alpha, low, high, paired=True)
    return Setup(rule, pairs(cell, truth), truth)


def ratio(cell: Cell) -> Setup:
    """Three times as large, on the scale of logarithms."""

    def draw(rng: np.random.Generator, draws: int) -> Data:
        a, b = pairs(cell, 0.0)(rng, draws)
        return 30.0 * np.exp(0.1 * a), 10.0 * np.exp(0.1 * b)

    return Setup(means.ratio(3.0, cell.alpha, paired=True), draw, 3.0)


def nightly(kind: str, cell: Cell) -> Setup:
    """Looked at after every pair, up to 60."""
    question, truth = asked(kind, 1.0)
    rule = looks.nightly(question, cell.alpha, paired=True)
    return Setup(rule, pairs(cell, truth, NIGHTS), truth)


def planned(kind: str, cell: Cell) -> Setup:
    """At four planned looks, up to 20 pairs."""
    question, truth = asked(kind, 4 * math.hypot(cell.sd_ratio, 1) / math.sqrt(LOOKS))
    rule = looks.planned(question, cell.alpha, paired=True)
    return Setup(rule, pairs(cell, truth, LOOKS), truth)
