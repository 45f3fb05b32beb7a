"""Can a design place the median of one arm? The exact power of the sign test of normal values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scipy.special import ndtr

from repro.errors import ClaimError
from repro.stats.planning import PlannedTest
from repro.stats.power import power_share

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
