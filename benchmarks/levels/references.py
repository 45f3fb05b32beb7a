"""Rules about new runs and a reference: one of them, a mean, many nights, a limit of tolerance."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.special import fdtrc, ndtri

from benchmarks.levels.cells import (
    NOTHING,
    Array,
    Cell,
    Data,
    Draw,
    Mask,
    Outcome,
    Rule,
    Setup,
    noise,
)
from benchmarks.levels.means import sample
from repro.expectations.decision_rules import by_p
from repro.expectations.verdict_words import Conclusion, Finding
from repro.stats.records import Sample
from repro.stats.reference_runs import SCATTER, BadSide, ReferenceUse, within


def shifts(data: Data, watch: ReferenceUse) -> Array:
    """New mean minus reference mean, in standard deviations of the reference: that of each draw."""
    new, reference = data
    distance = new.mean(-1) - reference.mean(-1)
    sd = reference.std(-1, ddof=1)
    return np.asarray(distance / np.where(np.ptp(reference, -1) == 0, np.nan, sd))


def _watch(data: Data, side: BadSide, alpha: float) -> ReferenceUse:
    return ReferenceUse(data[1].shape[-1], data[0].shape[-1], side, alpha)


def unchanged(alpha: float) -> Rule:
    """Nothing has changed, and either side is bad."""

    def judge(row: Data) -> Finding:
        return by_p(within(sample(row[0]), sample(row[1]), alpha=alpha))

    def decide(data: Data) -> Outcome:
        outside = np.abs(shifts(data, watch := _watch(data, "both", alpha))) >= watch.reach
        return Outcome(np.zeros(len(outside), bool), outside)

    def covers(data: Data, truth: float) -> Mask:
        sd = data[1].std(-1, ddof=1)
        watch = _watch(data, "both", alpha)
        away = data[0].mean(-1) - data[1].mean(-1) - truth
        return np.asarray(np.abs(away) <= watch.reach * sd)

    return Rule(decide, judge, covers)


def one_side(alpha: float, confidence: float | None = None) -> Rule:
    """Nothing has changed; CONTRADICTED is outside above, and CONFIRMED stands for below.

    With a ``confidence`` it is a limit of tolerance.
    """

    def judge(row: Data) -> Finding:
        new, reference = map(sample, row)
        above = by_p(within(new, reference, side="higher", confidence=confidence, alpha=alpha))
        below = by_p(within(new, reference, side="lower", confidence=confidence, alpha=alpha))
        if below.conclusion is Conclusion.CONTRADICTED:
            return Finding(Conclusion.CONFIRMED, below.p, below.p_opposite)
        return above

    def decide(data: Data) -> Outcome:
        watch = replace(_watch(data, "higher", alpha), confidence=confidence)
        distance, reach = shifts(data, watch), watch.reach
        return Outcome(distance <= -reach, distance >= reach)

    return Rule(decide, judge)


def within_margin(margin: float, alpha: float) -> Rule:
    """The shift is as large as the margin, so that CONFIRMED is false; outside is true there."""

    def judge(row: Data) -> Finding:
        found = by_p(within(sample(row[0]), sample(row[1]), margin=margin, alpha=alpha))
        return found if found.conclusion is Conclusion.CONFIRMED else NOTHING

    def decide(data: Data) -> Outcome:
        watch, sd = _watch(data, "both", alpha), data[1].std(-1, ddof=1)
        distance = data[0].mean(-1) - data[1].mean(-1)
        away, reach = np.abs(distance), watch.reach * sd
        inside = (away < reach) & (away + reach < margin)
        if (k := data[0].shape[-1]) > 1:
            ratio = data[0].var(-1, ddof=1) / sd**2
            inside &= fdtrc(k - 1, data[1].shape[-1] - 1, ratio) > SCATTER
        return Outcome(inside, np.zeros(len(inside), bool))

    return Rule(decide, judge, unchanged(alpha).covers)


def any_night(nights: int, alpha: float) -> Rule:
    """Nothing has changed, and each run of the first arm is another night, which share alpha.

    Either side is bad. The night that is farthest from the reference decides.
    """

    def judge(row: Data) -> Finding:
        far = max(map(float, row[0]), key=lambda value: abs(value - row[1].mean()))
        return by_p(within(Sample.of(far), sample(row[1]), nights=nights, alpha=alpha))

    def decide(data: Data) -> Outcome:
        reach = ReferenceUse(data[1].shape[-1], alpha=alpha, nights=nights).reach
        low, high = _farthest(data)
        outside = np.maximum(-low, high) >= reach
        return Outcome(np.zeros(len(outside), bool), outside)

    return Rule(decide, judge)


def any_night_on_one_side(nights: int, alpha: float) -> Rule:
    """The same where one side is bad; CONTRADICTED is above in some night, CONFIRMED below."""

    def judge(row: Data) -> Finding:
        low, high = (Sample.of(float(end)) for end in (row[0].min(), row[0].max()))
        reference = sample(row[1])
        below = by_p(within(low, reference, side="lower", nights=nights, alpha=alpha))
        if below.conclusion is Conclusion.CONTRADICTED:
            return Finding(Conclusion.CONFIRMED, below.p, below.p_opposite)
        return by_p(within(high, reference, side="higher", nights=nights, alpha=alpha))

    def decide(data: Data) -> Outcome:
        reach = ReferenceUse(data[1].shape[-1], 1, "higher", alpha, nights).reach
        low, high = _farthest(data)
        return Outcome(low <= -reach, high >= reach)

    return Rule(decide, judge)


def _farthest(data: Data) -> tuple[Array, Array]:
    """The lowest and the highest night, from the mean of the reference, in its deviations."""
    new, reference = data
    mean, sd = reference.mean(-1), reference.std(-1, ddof=1)
    sd = np.where(np.ptp(reference, -1) == 0, np.nan, sd)
    return np.asarray((new.min(-1) - mean) / sd), np.asarray((new.max(-1) - mean) / sd)


def too_near(confidence: float, alpha: float) -> Rule:
    """Whether the limit of tolerance is too near, so that more than alpha lies beyond it.

    The new run is the value beyond which alpha lies: where that is outside, the limit is nearer.
    """

    def judge(row: Data) -> Finding:
        new, reference = map(sample, row)
        return by_p(within(new, reference, side="higher", confidence=confidence, alpha=alpha))

    def decide(data: Data) -> Outcome:
        n = data[1].shape[-1]
        reach = ReferenceUse(n, 1, "higher", alpha, confidence=confidence).reach
        outside = shifts(data, ReferenceUse(n)) >= reach
        return Outcome(np.zeros(len(outside), bool), outside)

    return Rule(decide, judge)


CONFIDENCE = 0.9
"""What is measured: nine references in ten."""

BATCH = 0.3
"""How far two runs of one batch correlate, where the reference is of one and the new run is not."""


def draws_of(cell: Cell, k: int, shift: float = 0.0, *, batch: float = 0.0) -> Draw:
    """``k`` new runs, shifted, and the ``n`` of a reference, which may share what its batch has."""

    def draw(rng: np.random.Generator, draws: int) -> Data:
        new, reference = (
            math.sqrt(1 - batch) * noise(rng, cell.distribution, (draws, size))
            + math.sqrt(batch) * noise(rng, cell.distribution, (draws, 1))
            for size in (k, cell.n)
        )
        return new + shift, reference

    return draw


def nothing_changed(k: int, cell: Cell, *, batch: float = 0.0) -> Setup:
    """New runs are like those of the reference, and either side is bad."""
    return Setup(unchanged(cell.alpha), draws_of(cell, k, batch=batch), 0.0)


def nothing_changed_on_one_side(k: int, cell: Cell) -> Setup:
    return Setup(one_side(cell.alpha), draws_of(cell, k))


def at_the_margin(k: int, cell: Cell) -> Setup:
    """The shift is the margin, three times the reach of a reference that is known."""
    margin = -3 * float(ndtri(cell.alpha / 2)) * math.sqrt(1 / k + 1 / cell.n)
    return Setup(within_margin(margin, cell.alpha), draws_of(cell, k, margin), margin)


def nightly(nights: int, cell: Cell, *, sides: int = 2) -> Setup:
    """A run a night, of which none is another."""
    rule = any_night if sides == 2 else any_night_on_one_side
    return Setup(rule(nights, cell.alpha), draws_of(cell, nights))


def references(beyond: float, cell: Cell) -> Setup:
    """References, each with a run at the value that ``alpha`` of all runs exceed."""

    def draw(rng: np.random.Generator, draws: int) -> Data:
        return np.full((draws, 1), beyond), noise(rng, cell.distribution, (draws, cell.n))

    return Setup(too_near(CONFIDENCE, cell.alpha), draw)


def shares_of_items(count: int, mean: float, cell: Cell) -> Setup:
    """Shares of so many items near 1: skewed, and with ties."""

    def draw(rng: np.random.Generator, draws: int) -> Data:
        new, reference = (rng.binomial(count, mean, (draws, size)) / count for size in (1, cell.n))
        return new, reference

    return Setup(unchanged(cell.alpha), draw, 0.0)
