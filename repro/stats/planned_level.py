"""Can a design place one arm? Its median exactly, a mean near an end of its range by items."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, bdtrc, chdtrc, ndtr

from repro.errors import ClaimError
from repro.stats.bounded_mean import SCATTERS, p_of_betting
from repro.stats.coefficients import POWER_SEED
from repro.stats.planning import PlannedTest
from repro.stats.power import power_share
from repro.stats.simulated import DRAWS, Confirmed, Decide

MOST = 1000
"""So many replicates are looked through for the fewest that do."""


@dataclass(frozen=True, slots=True)
class PlannedMedian(PlannedTest):
    """A median that lies within its limit by ``effect``, in the units of ``sd``.

    Of normal values each keeps the limit with the chance ``Phi(effect / sd)``, and the sign test
    counts those that do: its power is a sum of binomial chances (Dixon 1953; Conover 1999, 3.4).
    """

    name: ClassVar[str] = "a level of the median"

    def computed(self) -> float:
        if not self.sd:
            raise ClaimError(f"planning for {self.name} needs a standard deviation")
        within = float(ndtr(self.truth / self.sd[0]))
        return power_share(self.n[0], within, of=0.5, alpha=self.alpha)

    def surest(self) -> tuple[float, str]:
        return 0.5 ** self.n[0], "even if every replicate agrees"

    def refused(self) -> str:
        return self.beyond_reach()

    def seeds(self, power: float) -> int | None:
        """The first number, for the power is not monotone: a replicate more can cost some."""
        return next((n for n in range(1, MOST + 1) if self.chance(n) >= power), None)


Array: TypeAlias = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class PlannedItems(PlannedTest):
    """A share that lies above ``low`` by ``effect``, in the units of a range that is ``span`` wide.

    Each replicate is a share of ``items``; each item is right by the same chance, alone. One that
    is claimed to be at most a limit is planned as the share that is wrong.
    """

    items: int = 1
    span: float = 1.0
    name: ClassVar[str] = "a level of items"

    @property
    def decide(self) -> Decide:
        def decide(a: Array, b: Array, alpha: float) -> Confirmed:
            del b
            return p_of_shares(a, self.items, self.least)[0] <= alpha

        return decide

    def simulated(self, decide: Decide) -> tuple[float, float]:
        share = min(1.0, self.least + self.truth / self.span)
        right = np.random.default_rng(POWER_SEED).binomial(self.items, share, (DRAWS, self.n[0]))
        power = float(np.mean(decide(right / self.items, np.zeros(0), self.alpha)))
        return power, max(math.sqrt(power * (1 - power) / DRAWS), 1 / DRAWS)

    def sized(self, size: float) -> Self:
        """So far above the limit, and no farther than the end of the range."""
        return replace(self, effect=min(size, self.span * (1 - self.least)))

    def surest(self) -> tuple[float, str]:
        return self.least ** (self.n[0] * self.items), "even if every item is right"

    def refused(self) -> str:
        return self.beyond_reach()

    def seeds(self, power: float) -> int | None:
        """The first number, for the power is not monotone."""
        return next((n for n in range(1, 101) if self.chance(n) >= power), None)


def p_of_shares(shares: Array, items: int, limit: float) -> tuple[Array, Array]:
    """One-sided p of each row, a sample: that the mean share is above ``limit``, and below.

    As ``bounded_level`` has them, where each replicate is a share of ``items``.
    """
    n = shares.shape[1]
    right = np.rint(shares * items)
    total = right.sum(1)
    above = np.where(total > 0, bdtrc(total - 1, n * items, limit), 1.0)
    below = bdtr(total, n * items, limit)
    mean = total / n
    squares = ((right - mean[:, None]) ** 2).sum(1)
    scale = mean * (1 - mean / items)
    apart = chdtrc(n - 1, squares / np.where(scale > 0, scale, 1.0)) <= SCATTERS
    above[apart] = p_of_betting(shares[apart], limit)
    below[apart] = p_of_betting(1 - shares[apart], 1 - limit)
    return above, below
