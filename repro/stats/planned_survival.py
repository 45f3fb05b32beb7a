"""Can a design decide who is sooner? The power of the log-rank test, by simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from repro.stats.coefficients import POWER_SEED
from repro.stats.planning import PlannedTest
from repro.stats.ranks import separation_p
from repro.stats.simulated import DRAWS, Confirmed, Decide, draw_signs, draw_splits

Array: TypeAlias = npt.NDArray[np.floating[Any]]

NEVER = 1.0
"""The budget, in which a time is measured here: one of that much or more was not reached."""

LARGEST_HAZARD = 36.0
"""Beyond it the share that is there within the budget is 1, in float64."""

LARGEST_SIZE = 30.0
"""Of a logarithm of a ratio of hazards: what is looked for is far smaller."""


@dataclass(frozen=True, slots=True)
class PlannedSurvivals(PlannedTest):
    """``effect`` is the share of the runs of A that is there within the budget ``at``.

    ``low`` is that of B, even where it is the higher one. The test is one-sided, for the arm that
    is planned to be there sooner, unless ``two_sided``. The hazards of the arms are in a constant
    ratio: the test sees only the order of the times, so its power hangs on nothing else. The
    difference of means within the budget that belongs to it takes each hazard to be constant in
    time as well. Runs of a pair share nothing: what makes both sooner or later adds to the power.
    """

    at: float = 1.0
    two_sided: bool = False

    name: ClassVar[str] = "a log-rank test"

    @property
    def hazards(self) -> tuple[float, float]:
        """Of A and of B, in one budget."""
        return -math.log1p(-self.truth), -math.log1p(-self.least)

    @property
    def difference(self) -> float:
        """How much longer A takes than B within the budget, on average."""
        a, b = (-math.expm1(-hazard) / hazard for hazard in self.hazards)
        return self.at * (a - b)

    @property
    def a_is_sooner(self) -> bool:
        """Whether A is planned to be there sooner, or as soon."""
        return self.truth >= self.least

    @property
    def decide(self) -> Decide:
        """Is the arm that is planned to be there sooner found to be so?"""

        def decide(a: Array, b: Array, alpha: float) -> Confirmed:
            higher, lower = log_rank_p(a, b, paired=self.paired)
            if self.two_sided:
                return np.asarray(2 * np.minimum(higher, lower) <= alpha)
            return np.asarray((higher if self.a_is_sooner else lower) <= alpha)

        return decide

    def simulated(self, decide: Decide) -> tuple[float, float]:
        generator, sizes = np.random.default_rng(POWER_SEED), (self.n[0], self.n[-1])
        a, b = (
            generator.standard_exponential((DRAWS, n)) / hazard
            for n, hazard in zip(sizes, self.hazards, strict=True)
        )
        power = float(np.mean(decide(a, b, self.alpha)))
        return power, max(math.sqrt(power * (1 - power) / DRAWS), 1 / DRAWS)

    def sized(self, size: float) -> Self:
        """B as planned, and a size on the logarithm of the ratio of hazards for A."""
        sign = 1 if self.a_is_sooner else -1
        ratio = math.exp(sign * min(size, LARGEST_SIZE))
        hazard = min(self.hazards[1] * ratio, LARGEST_HAZARD)
        return replace(self, effect=-math.expm1(-hazard))

    def detected(self, size: float) -> float:
        """The difference of mean times within the budget."""
        return abs(self.sized(size).difference)

    def surest(self) -> tuple[float, str]:
        tails = 2 if self.two_sided else 1
        p = separation_p(self.n[0], self.n[-1], paired=self.paired)
        return tails * p, "even if every pair agrees" if self.paired else "even complete separation"


def log_rank_p(a: Array, b: Array, *, paired: bool = False) -> tuple[Array, Array]:
    """One-sided p of each row: that A is there sooner than B, and later, by permutation.

    Times of ``NEVER`` or more were not reached; no others may be equal. All splits up to a
    thousand (exchanges within pairs up to 1,024), else so many at random: the test itself tries
    more, which costs power only in the third digit.
    """
    n = a.shape[1]
    scores = _scores(np.concatenate([a, b], axis=1))
    orders = draw_signs(n) if paired else draw_splits(n, scores.shape[1])
    exchanged = scores[:, :n] - scores[:, n:] if paired else scores
    tails = []
    for part in np.array_split(exchanged, -(-len(exchanged) // 500)):
        sums = part @ orders
        seen = sums[:, :1]
        tails.append([np.mean(sums >= seen - 1e-9, 1), np.mean(sums <= seen + 1e-9, 1)])
    sooner, later = np.concatenate(tails, axis=1)
    return sooner, later


def _scores(times: Array) -> Array:
    """Those of `repro.stats.survival.log_rank_scores`, row by row."""
    order = np.argsort(times, axis=1)
    reached = np.take_along_axis(times, order, 1) < NEVER
    at_risk = np.arange(times.shape[1], 0, -1)
    found = np.empty_like(times)
    np.put_along_axis(found, order, reached - np.cumsum(reached / at_risk, axis=1), 1)
    return found
