"""Nulls of folds: two learners equally good on average, trained and tested on one data set."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import stdtr

from benchmarks.levels import means
from benchmarks.levels.cells import Array, Cell, Data, Outcome, Rule, Setup, noise
from repro.expectations.decision_rules import conclude_difference
from repro.expectations.verdict_words import Finding
from repro.stats.t_tests import paired

APART = 0.5
"""How far the mean of a class lies from 0, in standard deviations, in each of four features."""

AT_ONCE = 500
"""Data sets that are held at once."""


def correlated(correlation: float | None, cell: Cell, shift: float = 0.0) -> Setup:
    """A ``shift`` over ``n`` folds, any two correlated so; None: as their test supposes."""
    n = cell.n
    share = 1 / n if correlation is None else correlation

    def draw(rng: np.random.Generator, draws: int) -> Data:
        alone, shared = rng.standard_normal((draws, n)), rng.standard_normal((draws, 1))
        together = math.sqrt(1 - share) * alone + math.sqrt(share) * shared
        return together + shift, np.zeros_like(together)

    return Setup(_rule(n, 1 / (n - 1), cell.alpha), draw, shift)


def of_a_data_set(rows: int, cell: Cell, *, folds: int | None = None) -> Setup:
    """Accuracies on ``n`` folds of ``rows`` rows; with ``folds``, on repetitions of so many.

    Each learner takes the nearest mean of a class, by two features; those of one know as much as
    those of the other. Every fold has as many rows of either class.
    """
    folds = folds or cell.n
    repeats = cell.n // folds
    label = np.repeat([-1.0, 1.0], rows // 2)

    def block(rng: np.random.Generator, draws: int) -> tuple[Array, Array]:
        x = noise(rng, cell.distribution, (draws, rows, 4)) + APART * label[:, None]
        both = [_tested(rng, x, folds) for _ in range(repeats)]
        first, second = zip(*both, strict=True)
        return np.concatenate(first, axis=1), np.concatenate(second, axis=1)

    def draw(rng: np.random.Generator, draws: int) -> Data:
        sizes = [AT_ONCE] * (draws // AT_ONCE) + [draws % AT_ONCE] * (draws % AT_ONCE > 0)
        first, second = zip(*(block(rng, size) for size in sizes), strict=True)
        return np.concatenate(first), np.concatenate(second)

    return Setup(_rule(cell.n, 1 / (folds - 1), cell.alpha), draw, 0.0)


def _tested(rng: np.random.Generator, x: Array, folds: int) -> tuple[Array, Array]:
    """The accuracies of both learners on each fold of a random split, by draw and fold."""
    draws, rows, features = x.shape
    order = rng.random((draws, 2, rows // 2)).argsort(-1) + np.array([0, rows // 2])[:, None]
    mixed = np.take_along_axis(x, order.reshape(draws, rows, 1), axis=1)
    # draw, class, fold, row of the fold and class, feature
    split = mixed.reshape(draws, 2, folds, -1, features)
    sums = split.sum(3)
    trained = (sums.sum(2, keepdims=True) - sums) / (rows // 2 * (folds - 1) / folds)
    low, high = trained[:, 0], trained[:, 1]
    across, middle = (high - low)[:, None, :, None], ((high + low) / 2)[:, None, :, None]
    scores = (split - middle) * across
    side = np.array([-1.0, 1.0])[:, None, None]
    of_first, of_second = scores[..., :2].sum(-1), scores[..., 2:].sum(-1)
    return (of_first * side > 0).mean((1, 3)), (of_second * side > 0).mean((1, 3))


def _rule(n: int, test_to_train: float, alpha: float) -> Rule:
    def judge(row: Data) -> Finding:
        result = paired(*map(means.sample, row), alpha=alpha, test_to_train=test_to_train)
        return conclude_difference(result, direction="different")

    def p(data: Data, truth: float) -> Array:
        differences = data[0] - data[1]
        se = np.sqrt((1 / n + test_to_train) * differences.var(-1, ddof=1))
        se[np.ptp(differences, -1) == 0] = np.inf  # no test of differences that all agree
        return np.asarray(2 * stdtr(n - 1, -np.abs(differences.mean(-1) - truth) / se))

    def decide(data: Data) -> Outcome:
        found = p(data, 0.0) <= alpha
        return Outcome(found, np.zeros_like(found))

    return Rule(decide, judge, lambda data, truth: p(data, truth) > alpha)
