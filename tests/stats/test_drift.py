"""Looks that contradict each other: what counts as drift, and how rarely honest seeds show it."""

from __future__ import annotations

import numpy as np
import pytest

from repro.stats import stopping as ask
from repro.stats.anytime import Array, threshold
from repro.stats.contrast import Contrast
from repro.stats.records import Interval
from repro.stats.stopping import Drift, drift

SEED = 20_261_122
HIGHER, SAME = ask.difference("higher"), ask.equivalence(-1, 1)


def at(*ends: tuple[float, float]) -> dict[int, Interval]:
    """Intervals at looks 4, 5, 6, ..."""
    return {n: Interval(low, high, 0.95) for n, (low, high) in enumerate(ends, start=4)}


def last(intervals: dict[int, Interval], se: float = 0.1) -> Contrast:
    """The contrast in the middle of the last interval."""
    own = list(intervals.values())[-1]
    return Contrast((own.low + own.high) / 2, se, 20)


CASES: dict[str, tuple[ask.Question, dict[int, Interval], Drift]] = {
    "nothing decided": (HIGHER, at((-1, 3), (-1, 2)), "none"),
    "undecided, and apart": (SAME, at((-5, 0), (0.5, 5)), "apart"),
    "decided and kept": (HIGHER, at((-1, 3), (0.5, 2), (0.4, 1.5)), "none"),
    "decided, and open again": (HIGHER, at((0.5, 4), (-0.5, 2)), "none"),
    "decided, then beyond": (HIGHER, at((0.5, 4), (-3, -0.5)), "reversed"),
    "contradicted, then as claimed": (HIGHER, at((-4, -0.5), (0.5, 3)), "reversed"),
    "decided, then far smaller": (HIGHER, at((5, 9), (0.5, 3)), "apart"),
    "the estimate is on the other side": (HIGHER, at((0.5, 4), (-2, 1)), "leaning"),
    "within the margin, then above": (SAME, at((-0.5, 0.5), (1.5, 3)), "reversed"),
    "above the margin, then below": (SAME, at((1.5, 3), (-3, -1.5)), "reversed"),
    "different, then the other way": (
        ask.difference("different"),
        at((0.5, 4), (-3, -0.5)),
        "reversed",
    ),
    "trivial, then against": (
        ask.difference("higher", smallest_effect=5.0),
        at((0.5, 4), (-3, -0.5)),
        "reversed",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_counts_as_drift(name: str) -> None:
    """From none to reversed, by the intervals of all looks."""
    question, intervals, expected = CASES[name]
    assert drift(question, intervals, last(intervals)) == expected


def test_an_estimate_within_its_error_of_the_border_leans_nowhere() -> None:
    """One standard error on the other side is no sign of anything."""
    intervals = at((0.5, 4), (-2, 1))
    assert drift(HIGHER, intervals, last(intervals, se=0.6)) == "none"


def looks(sd: float, effect: float, draws: int) -> tuple[Array, Array, Array]:
    """Effects, standard errors and numbers of pairs at 4 to 60 pairs; shape (draw, look)."""
    rng = np.random.default_rng([SEED, int(sd), int(10 * effect)])
    n = np.arange(1, 61)
    means, variances = [], []
    for centre, scatter in ((effect, sd), (0.0, 1.0)):
        x = rng.normal(centre, scatter, (draws, 60))
        mean = np.cumsum(x, axis=1) / n
        means.append(mean)
        squares = np.cumsum(x**2, axis=1) - n * mean**2
        variances.append(squares[:, 3:] / (n[3:] - 1))
    se = np.sqrt((variances[0] + variances[1]) / n[3:])
    return (means[0] - means[1])[:, 3:], se, n[3:].astype(float)


@pytest.mark.parametrize("effect", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("sd", [1.0, 3.0])
@pytest.mark.parametrize(
    ("question", "most"),
    [
        (HIGHER, 0.005),
        (ask.equivalence(-0.5, 0.5), 0.01),
        (ask.non_superiority(0.5, "higher"), 0.01),
    ],
    ids=["higher", "equivalence", "non_superiority"],
)
def test_seeds_of_one_kind_hardly_ever_drift(
    question: ask.Question, most: float, sd: float, effect: float
) -> None:
    """Of 3,000 processes to 60 pairs fewer than 1 % show anything, and .1 % a reversal."""
    effects, se, n = looks(sd, effect, 3_000)
    reach = threshold(n, n, alpha=question.tails * 0.05) * se
    low, high = effects - reach, effects + reach
    inside = np.zeros(len(effects), bool)
    for border in question.borders:
        inside |= ((low > border) | (high < border)).any(axis=1)
    suspects = np.flatnonzero(inside | (low.max(axis=1) > high.min(axis=1)))
    found = []
    for draw in suspects:
        intervals = {
            int(k): Interval(float(a), float(b), 0.95)
            for k, a, b in zip(n, low[draw], high[draw], strict=True)
            if np.isfinite(a)
        }
        contrast = Contrast(float(effects[draw, -1]), float(se[draw, -1]), 2 * 60 - 2)
        found.append(drift(question, intervals, contrast))
    assert sum(one != "none" for one in found) < most * 3_000
    assert found.count("reversed") <= 3
