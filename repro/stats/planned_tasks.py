"""Can a design over tasks decide? The power of its tests, as `repro.stats.planning` has others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtr

from repro.stats.coefficients import POWER_SEED, midranks
from repro.stats.planning import PlannedTest
from repro.stats.power import PairedDesign, power_above, power_equivalence, smallest_size
from repro.stats.simulated import DRAWS
from repro.stats.task_aggregates import Aggregate

Array: TypeAlias = npt.NDArray[np.floating[Any]]

Kernel: TypeAlias = Callable[[Array, Array], tuple[Array, Array, Array]]

HALF = 0.5
"""The probability of improvement of arms that are alike."""

MOST_VALUES = 2_000_000
LEAST_DRAWS = 500
"""What is drawn of an arm at once: fewer draws where there are many tasks."""

MOST_RUNS = 20_000
"""Runs of an arm up to which a number for the power is looked for."""


@dataclass(frozen=True, slots=True)
class PlannedOverTasks(PlannedTest):
    """An aggregate over ``tasks``, of ``n`` runs each: the gain lies above ``low``, below ``high``.

    ``sd`` is that of the runs of a task. A is higher by ``effect`` in every task; for
    ``improvement`` it is the probability that a run of A beats one of B. The tasks lie one standard
    deviation of a run apart, which matters to the interquartile mean alone.
    """

    tasks: int = 3
    aggregate: Aggregate = "mean"

    name: ClassVar[str] = "an aggregate over tasks"
    units: ClassVar[str] = "runs per task"

    @property
    def kernel(self) -> Kernel:
        """Effect, standard error and degrees of freedom of each draw."""
        return KERNELS[self.aggregate]

    @property
    def claims_smallness(self) -> bool:
        return self.high is not None or self.least < 0

    @property
    def decide(self) -> Callable[[Array, Array, float], npt.NDArray[np.bool_]]:
        """Of runs (draws, tasks, n): does the gain lie within the region, one-sided?"""
        kernel = self.kernel

        def decide(a: Array, b: Array, alpha: float) -> npt.NDArray[np.bool_]:
            effect, se, df = kernel(a, b)
            inside = stdtr(df, -(effect - self.least) / se) < alpha
            if self.high is not None:
                inside &= stdtr(df, (effect - self.high) / se) < alpha
            return np.asarray(inside)

        return decide

    def simulated(
        self, decide: Callable[[Array, Array, float], npt.NDArray[np.bool_]]
    ) -> tuple[float, float]:
        """The power by simulation, and its Monte Carlo standard error."""
        n, shift = self.n[0], self.truth
        draws = max(LEAST_DRAWS, min(DRAWS, MOST_VALUES // (self.tasks * n)))
        generator = np.random.default_rng(POWER_SEED)
        a, b = generator.standard_normal((2, draws, self.tasks, n))
        sd = 1.0
        if self.aggregate == "improvement":
            shift = math.sqrt(2) * float(ndtri(shift))
        else:
            sd = self.arms.sd_a
        levels = ndtri((np.arange(self.tasks) + 0.5) / self.tasks)[:, None]
        found = decide(sd * (levels + a) + shift, sd * (levels + b), self.alpha)
        power = float(np.mean(found))
        return power, max(math.sqrt(power * (1 - power) / draws), 1 / draws)

    def sized(self, size: float) -> Self:
        """A margin of this size, an effect, or for a probability a size on what it leaves."""
        if self.claims_smallness:
            return replace(self, low=-size, high=None if self.high is None else size)
        if self.aggregate == "improvement":
            return replace(self, effect=1 - HALF * math.exp(-min(size, 30.0)))
        return replace(self, effect=size)

    def detected(self, size: float) -> float | None:
        return size if self.claims_smallness else self.sized(size).effect

    def seeds(self, power: float) -> int | None:
        most = max(self.n[0], min(100, MOST_RUNS // self.tasks))
        return smallest_size(self.chance, target=power, cap=most)


@dataclass(frozen=True, slots=True)
class PlannedBySeed(PlannedOverTasks):
    """The probability of improvement by runs of all tasks, which go wholly together: as of one."""

    tasks: int = 1
    aggregate: Aggregate = "improvement"

    name: ClassVar[str] = "the probability of improvement by seed"
    units: ClassVar[str] = "seeds"

    @property
    def kernel(self) -> Kernel:
        return _of_ranks


@dataclass(frozen=True, slots=True)
class PlannedMetaAnalysis(PlannedTest):
    """A mean effect of ``tasks`` drawn by chance, above ``low``, below ``high``, or between both.

    ``sd`` is that of the effects over tasks, as they are measured with ``n`` runs each.
    """

    tasks: int = 3

    name: ClassVar[str] = "a mean effect over tasks"

    @property
    def claims_smallness(self) -> bool:
        return self.high is not None or self.least < 0

    def computed(self) -> float:
        design = PairedDesign(self.arms.sd_a, self.tasks, self.alpha)
        if self.high is None:
            return power_above(design, self.truth, self.least)
        return power_equivalence(design, self.truth, low=self.least, high=self.high)

    def sized(self, size: float) -> Self:
        if self.claims_smallness:
            return replace(self, low=-size, high=None if self.high is None else size)
        return replace(self, effect=size)

    def detected(self, size: float) -> float | None:
        return size

    def refused(self) -> str:
        """Never for its runs: the tasks say how effects vary."""
        return ""

    def seeds(self, power: float) -> int | None:
        """None: the scatter of the effects is planned, and more runs do not change it."""
        del power
        return None

    def remedy(self, seeds: int | None) -> str:
        del seeds
        return "more tasks would give more, and more runs would not"

    @property
    def sizes(self) -> str:
        return f"{self.tasks} tasks"


def _of_means(a: Array, b: Array) -> tuple[Array, Array, Array]:
    tasks, n = a.shape[1:]
    variances = np.concatenate([x.var(-1, ddof=1) / n / tasks**2 for x in (a, b)], axis=1)
    return a.mean((1, 2)) - b.mean((1, 2)), *_satterthwaite(variances, n - 1.0)


def _of_interquartile_means(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Values beyond the quartiles are moved there; only the kept share has degrees of freedom."""
    tasks, n = a.shape[1:]
    size, cut = tasks * n, tasks * n // 4
    kept = size - 2 * cut
    means, variances = [], []
    for arm in (a, b):
        ordered = np.sort(arm.reshape(len(arm), size), axis=-1)
        low, high = (ordered[:, place, None, None] for place in (cut, size - cut - 1))
        means.append(ordered[:, cut : size - cut].mean(-1))
        variances.append(np.clip(arm, low, high).var(-1, ddof=1) * n / (kept * (kept - 1)))
    both = np.concatenate(variances, axis=1)
    return means[0] - means[1], *_satterthwaite(both, (n - 1) * kept / size)


def _of_improvement(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Each run is placed: the share of the runs of the other arm that it beats, or that beat it."""
    tasks, n = a.shape[1:]
    beats = a[..., :, None] > b[..., None, :]
    placed = (beats.mean(-1), beats.mean(-2))
    variances = [np.maximum(x.var(-1, ddof=1) / n, 1 / n**4) / tasks**2 for x in placed]
    return placed[0].mean((1, 2)), *_satterthwaite(np.concatenate(variances, axis=1), n - 1.0)


def _of_ranks(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Ranks among both arms, as shares of their number, averaged over the tasks of each run."""
    n = a.shape[2]
    ranks = midranks(np.concatenate((a, b), axis=-1)).mean(1) / (2 * n)
    first, second = ranks[:, :n], ranks[:, n:]
    errors = [np.maximum(x.var(-1, ddof=1) / n, 1 / n**4) for x in (first, second)]
    found = _satterthwaite(np.stack(errors, axis=1), n - 1.0)
    return HALF + first.mean(-1) - second.mean(-1), *found


def _satterthwaite(variances: Array, df: float) -> tuple[Array, Array]:
    """Standard error and degrees of freedom, from the variances (draws, parts) of all parts."""
    total = variances.sum(-1)
    return np.sqrt(total), total**2 / ((variances**2).sum(-1) / df)


KERNELS: Mapping[Aggregate, Kernel] = {
    "mean": _of_means,
    "iqm": _of_interquartile_means,
    "improvement": _of_improvement,
}
