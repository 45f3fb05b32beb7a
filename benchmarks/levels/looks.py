"""Rules that are looked at again and again: the e-process every night, and planned looks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import ndtr

from benchmarks.levels.cells import Array, Data, Mask, Outcome, Rule
from benchmarks.levels.means import rare_p, sample
from repro.expectations.decision_rules import conclude_sequential
from repro.expectations.verdict_words import Finding
from repro.stats.anytime import sequential, threshold
from repro.stats.group_sequential import boundaries, group_obf
from repro.stats.stopping import Question

NIGHTS = tuple(range(3, 61))
PLANNED = (5, 10, 15, 20)


FEWEST = 3
"""Pairs at the first of the looks that are planned early."""


def quarters(n: int) -> tuple[int, ...]:
    """Four looks, at each quarter of ``n`` pairs; fewer where a quarter is less than a pair."""
    return tuple(sorted({max(FEWEST, math.ceil(n * part / 4)) for part in (1, 2, 3, 4)}))


def every(n: int) -> tuple[int, ...]:
    """A look at each number of pairs, up to ``n``."""
    return tuple(range(FEWEST, n + 1))


Beyond = Callable[[float, int], Mask]
"""Whether, look by look, the interval lies wholly above (1) or below (-1) a border."""


def nightly(
    question: Question, alpha: float, looks: Sequence[int] = NIGHTS, *, paired: bool = False
) -> Rule:
    """The e-process, looked at every night until the last number of pairs.

    Of ``paired`` arms it is that of the differences within pairs.
    """
    sizes = np.array(looks, dtype=float)
    reach = threshold(sizes, None if paired else sizes, alpha=question.tails * alpha)

    def judge(row: Data) -> Finding:
        a, b = sample(row[0]), sample(row[1])
        found = sequential(a, b, question, looks=looks, alpha=alpha, paired=paired)
        return conclude_sequential(found)

    def intervals(data: Data) -> Beyond:
        effect, variance_a, variance_b = running(of_pairs(data) if paired else data, looks)
        width = reach * np.sqrt((variance_a + variance_b) / sizes)
        return lambda border, side: np.asarray(side * (effect - border) > width)

    return _rule(question, judge, intervals)


def planned(
    question: Question, alpha: float, looks: Sequence[int] = PLANNED, *, paired: bool = False
) -> Rule:
    """Welch's test at a few looks that were planned, O'Brien-Fleming spending.

    Of ``paired`` arms it is the t-test of the differences within pairs.
    """
    sizes = np.array(looks, dtype=float)
    nominal = ndtr(-np.array(boundaries(tuple(sizes / sizes[-1]), question.tails * alpha)))

    def judge(row: Data) -> Finding:
        a, b = sample(row[0]), sample(row[1])
        found = group_obf(
            a, b, question, looks=looks, planned_looks=looks, alpha=alpha, paired=paired
        )
        return conclude_sequential(found)

    def intervals(data: Data) -> Beyond:
        effect, variance_a, variance_b = running(of_pairs(data) if paired else data, looks)
        total = variance_a + variance_b
        df = total**2 / (variance_a**2 + variance_b**2) * (sizes - 1)
        se = np.sqrt(total / sizes)
        return lambda border, side: rare_p(side * (effect - border) / se, df, nominal) < nominal

    return _rule(question, judge, intervals)


def of_pairs(data: Data) -> Data:
    """The differences within pairs as an arm, and an arm that is always 0."""
    return data[0] - data[1], np.zeros_like(data[1])


def running(data: Data, looks: Sequence[int]) -> tuple[Array, Array, Array]:
    """Difference of means and the variances of both arms at every look; (draw, look)."""
    moments = []
    sizes = np.arange(1, data[0].shape[-1] + 1)
    places = np.array(looks) - 1
    for arm in data:
        total = np.cumsum(arm, axis=-1)[:, places]
        squares = np.cumsum(arm**2, axis=-1)[:, places]
        mean = total / sizes[places]
        moments.append((mean, (squares - total * mean) / places))
    (mean_a, variance_a), (mean_b, variance_b) = moments
    return mean_a - mean_b, variance_a, variance_b


def _rule(
    question: Question, judge: Callable[[Data], Finding], intervals: Callable[[Data], Beyond]
) -> Rule:
    """The first look whose interval holds none of the borders decides; that verdict stands."""

    def decide(data: Data) -> Outcome:
        beyond = intervals(data)
        above = {border: beyond(border, 1) for border in question.borders}
        below = {border: beyond(border, -1) for border in question.borders}
        excluded = [above[border] | below[border] for border in question.borders]
        found = np.all(excluded, axis=0)
        decided = found.any(axis=-1)
        first = found.argmax(axis=-1)[:, None]

        def at_first(mask: Mask) -> Mask:
            return np.take_along_axis(mask, first, axis=-1)[:, 0]

        confirmed = decided.copy()
        if question.low is not None:
            confirmed &= at_first(above[question.low])
        if question.high is not None:
            confirmed &= at_first(below[question.high])
        return Outcome(confirmed, decided & ~confirmed)

    def covers(data: Data, truth: float) -> Mask:
        beyond = intervals(data)
        missed = beyond(truth, 1) | beyond(truth, -1)
        return np.asarray(~missed.any(axis=-1))

    return Rule(decide, judge, covers)
