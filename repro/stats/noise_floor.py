"""What luck alone does between runs of one program, by the scatter of its repeated runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import chdtri, stdtrit

from repro.errors import ClaimError
from repro.stats.power import PowerDesign, power_student, seeds_needed

LEAST_RUNS = 3
MOST_SEEDS = 100_000


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """The standard deviation ``sd`` of ``runs`` runs with normal values, in their units.

    ``ClaimError`` for fewer than three runs, and where they do not scatter.
    """

    runs: int
    sd: float
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if self.runs < LEAST_RUNS:
            raise ClaimError(f"{self.runs} runs say nothing of how runs scatter: {LEAST_RUNS} do")
        if not (math.isfinite(self.sd) and self.sd > 0):
            raise ClaimError("all runs have one value: their scatter is below their last digit")

    @property
    def reach(self) -> tuple[float, float]:
        """The 95 % interval of the true standard deviation, by chi-squared."""
        df = self.runs - 1
        low, high = (self.sd * math.sqrt(df / float(chdtri(df, tail))) for tail in (0.025, 0.975))
        return low, high

    def single(self, tests: int = 1, *, sides: int = 2) -> float:
        """How far apart two single runs are with a chance of alpha, shared among ``tests``."""
        tail = self.alpha / sides / tests
        return -float(stdtrit(self.runs - 1, tail)) * self.sd * math.sqrt(2)

    def between_means(self, seeds: int) -> float:
        """The difference of two means of ``seeds`` runs that luck exceeds in at most alpha.

        For scatter as in these runs: ``t(1 - alpha / 2, df) s sqrt(2 / n)``. ``df`` is that of
        ``s``, as it is the yardstick, or, where this is less, that of a t-test of ``seeds`` runs
        per side, which finds no smaller difference.
        """
        df = min(self.runs - 1, 2 * seeds - 2)
        return -float(stdtrit(df, self.alpha / 2)) * self.sd * math.sqrt(2 / seeds)

    def seeds_to_find(self, effect: float, *, sd: float | None = None) -> int | None:
        """Seeds per side with which a t-test finds ``effect`` in 80 %; None beyond the cap."""
        spread = self.sd if sd is None else sd
        design = PowerDesign(spread, spread, 2, 2, self.alpha)
        return seeds_needed(design, lambda each: power_student(each, effect), cap=MOST_SEEDS)


def lucky_records(experiments: int) -> float:
    """How many of so many experiments beat all before them, if none has an effect.

    After a first run, the k-th of ``experiments`` is the best so far with a chance of
    ``1 / (k + 1)``, whatever the distribution of values without ties (Renyi 1962).
    """
    return math.fsum(1 / (k + 1) for k in range(1, experiments + 1))
