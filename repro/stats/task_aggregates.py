"""Two arms over a fixed benchmark of tasks, with a few runs each: one number, and its interval.

The tasks are not drawn from anything; only runs are, within each task and arm. The aggregates are
those of Agarwal et al. (2021, section 4.3): the interquartile mean of all runs of all tasks, the
mean, and the probability of improvement, the mean over tasks of P(A better than B).

Their interval is the percentile interval of a bootstrap within tasks, which is too short with few
runs a task: a resampled variance is (n - 1) / n of what it should be. The default here is Student's
t on the standard error within tasks. That of the interquartile mean comes from winsorised values,
as for a trimmed mean (Tukey & McLaughlin 1963; Yuen 1974), and that of the probability of
improvement from placements (Brunner & Munzel 2000).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import fdtrc, ndtri, stdtr

from repro.errors import ClaimError, TooFewError
from repro.stats.coefficients import POWER_SEED
from repro.stats.contrast import Contrast
from repro.stats.data_sets import OrderedEffects
from repro.stats.planning import PlannedTest
from repro.stats.power import smallest_size
from repro.stats.records import (
    ROUND_OFF,
    Interval,
    R,
    Sample,
    TestResult,
    check_alpha,
    known,
    levelled,
)
from repro.stats.simulated import DRAWS, frequency

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Aggregate: TypeAlias = Literal["iqm", "mean", "improvement"]
Better: TypeAlias = Literal["lower", "higher"]
Runs: TypeAlias = Sequence[Array]
"""The values of one arm: one array a task, in the order of the tasks.

The last axis is that of the runs; where many draws are tested at once, they come before it.
"""

Region: TypeAlias = tuple[float | None, float | None]
"""The limits of what is claimed, from below and from above; one of them may be absent."""

FEWEST_TASKS = 3
BOOTSTRAP_SEED = 20_210_830
RESAMPLES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OverTasksResult(TestResult):
    """``tasks`` is their number, ``runs`` the fewest and the most of a task, by arm.

    ``parts`` are the effects of the tasks alone, ``n`` the fewest runs of a task in each arm.
    """

    tasks: int
    runs: tuple[tuple[int, int], ...]
    parts: Mapping[str, float]


def over_tasks(
    a: Sample,
    b: Sample,
    *,
    aggregate: Aggregate,
    better: Better,
    region: Region,
    alpha: float = 0.05,
    bootstrap: bool = False,
) -> OverTasksResult:
    """A against B over the tasks of both: does the effect lie within ``region``?

    The effect is the aggregate of A minus that of B in the units of the values, or the probability
    of improvement, for which ``better`` says which values are good. ``p`` is the larger of the
    one-sided p-values, ``p_opposite`` the smaller one of *beyond a limit*; the interval has level
    ``1 - 2 alpha``. ``bootstrap``: percentiles of resamples within each task and arm.

    ``ClaimError`` for arms of different tasks, fewer than three tasks, a task with one run, and
    values without any scatter; for ``iqm`` also where tasks differ in their number of runs, which
    would weigh them differently.
    """
    check_alpha(alpha)
    names, first, second = over = matched_tasks(a, b)
    if aggregate == "iqm":
        for runs in (first, second):
            _need_equal(names, runs)
    contrast = contrast_over_tasks(aggregate, first, second, better)
    parts = effects_of_tasks(aggregate, first, second, better)
    test = f"over_tasks {aggregate}"
    result = result_over(OverTasksResult, test, contrast, region, alpha, over, parts)
    if bootstrap:
        result = _by_resamples(result, resampled(aggregate, first, second, better), region)
    return as_probability(result) if aggregate == "improvement" else result


def result_over(
    kind: Callable[..., R],
    test: str,
    found: Contrast | OrderedEffects,
    region: Region,
    alpha: float,
    over: tuple[Sequence[str], Runs, Runs],
    parts: Iterable[float],
    **more: Any,
) -> R:
    """A result of this kind: does the effect that was found lie within the region?

    ``over`` are the tasks and the runs of both arms, ``parts`` the effects of the tasks; ``more``
    are other fields of the result.
    """
    names, *arms = over
    p, p_opposite = p_of_region(found.p_greater, found.p_less, region)
    return kind(
        test=test,
        effect=found.effect,
        alpha=alpha,
        n=tuple(min(map(len, runs)) for runs in arms),
        interval=found.interval(1 - 2 * alpha),
        p=p,
        p_opposite=p_opposite,
        se=found.se,
        df=found.df,
        low=region[0],
        high=region[1],
        tasks=len(names),
        runs=tuple((min(map(len, runs)), max(map(len, runs))) for runs in arms),
        parts=dict(zip(names, map(float, parts), strict=True)),
        **more,
    )


def _by_resamples(result: OverTasksResult, drawn: Array, region: Region) -> OverTasksResult:
    """The same result by the percentiles of resamples, which have no standard error."""
    low, high = (float(end) for end in np.quantile(drawn, (result.alpha, 1 - result.alpha)))
    interval = Interval(low, high, 1 - 2 * result.alpha)
    p, p_opposite = p_of_region(*_shares_beyond(drawn), region)
    test = f"{result.test} bootstrap"
    return replace(
        result, test=test, interval=interval, p=p, p_opposite=p_opposite, se=None, df=None
    )


def as_probability(result: OverTasksResult) -> OverTasksResult:
    """The same result with its interval cut at 0 and 1."""
    low, high, level = astuple(known(result.interval))
    return replace(result, interval=Interval(max(0.0, low), min(1.0, high), level))


def p_of_region(
    above: Callable[[float], float], below: Callable[[float], float], region: Region
) -> tuple[float, float]:
    """The larger one-sided p of lying within the limits, and the smaller one of lying beyond one.

    ``above`` gives the p of *the effect lies above a limit*, ``below`` that of *below it*.
    """
    ends = zip(region, ((above, below), (below, above)), strict=True)
    limits = [(inside(at), outside(at)) for at, (inside, outside) in ends if at is not None]
    return max(p for p, _ in limits), min(p for _, p in limits)


def widest_task(a: Runs, b: Runs) -> tuple[int, float, float]:
    """The place of the task whose runs scatter most, how many times the others', and its p.

    Both arms about their own mean, in each task; the p is that of the F-test of variances against
    all other tasks together, times the number of tasks. The ratio is infinite where no other
    varies.
    """
    squares = [
        sum(float(((x - x.mean()) ** 2).sum()) for x in pair) for pair in zip(a, b, strict=True)
    ]
    sizes = [len(x) + len(y) - 2 for x, y in zip(a, b, strict=True)]
    place = max(range(len(sizes)), key=lambda i: squares[i] / sizes[i])
    own, rest = sizes[place], sum(sizes) - sizes[place]
    others = (math.fsum(squares) - squares[place]) / rest
    if others <= 0:
        return place, math.inf, 0.0
    ratio = squares[place] / own / others
    return place, math.sqrt(ratio), min(1.0, len(sizes) * float(fdtrc(own, rest, ratio)))


def effects_of_tasks(aggregate: Aggregate, a: Runs, b: Runs, better: Better) -> list[float]:
    """The effect in each task alone: the difference of means, or the chance of improvement."""
    if aggregate == "improvement":
        return [float(wins(x, y, better).mean()) for x, y in zip(a, b, strict=True)]
    return [float(x.mean() - y.mean()) for x, y in zip(a, b, strict=True)]


def wins(a: Array, b: Array, better: Better) -> Array:
    """For each run of A and each of B: 1 where A is better, one half where they are equal."""
    sign = 1 if better == "higher" else -1
    return np.heaviside(sign * (a[..., :, None] - b[..., None, :]), 0.5)


def contrast_over_tasks(aggregate: Aggregate, a: Runs, b: Runs, better: Better) -> Contrast:
    """The effect with its standard error and degrees of freedom (Satterthwaite's).

    ``ClaimError`` where no task has any scatter that counts; the probability of improvement, which
    has no units, leaves something to chance in any case.
    """
    effect, se, df = KERNELS[aggregate](a, b, better)
    largest = max(float(np.abs(runs).max()) for runs in (*a, *b))
    if aggregate != "improvement" and se <= ROUND_OFF * largest:
        raise ClaimError(
            "no task has runs that differ in a way that counts here, so nothing is known of chance",
            advice="add runs, or compare the tasks alone",
        )
    return Contrast(float(effect), float(se), float(df))


Found: TypeAlias = tuple[Array, Array, Array]
"""The effect, its standard error and degrees of freedom: of one draw, or of each of many."""


def _of_means(a: Runs, b: Runs, better: Better) -> Found:
    del better
    tasks = len(a)
    variances = [runs.var(-1, ddof=1) / runs.shape[-1] / tasks**2 for runs in (*a, *b)]
    effect = sum(x.mean(-1) - y.mean(-1) for x, y in zip(a, b, strict=True)) / tasks
    return effect, *satterthwaite_of(variances, [runs.shape[-1] - 1 for runs in (*a, *b)])


def _of_interquartile_means(a: Runs, b: Runs, better: Better) -> Found:
    """Values beyond the quartiles are moved there; only the kept share has degrees of freedom."""
    del better
    means, variances, df = [], [], []
    for arm in (a, b):
        ordered = np.sort(np.concatenate(arm, axis=-1))
        size = ordered.shape[-1]
        cut = _cut(size)
        kept = size - 2 * cut
        means.append(ordered[..., cut : size - cut].mean(-1))
        low, high = ordered[..., cut, None], ordered[..., size - cut - 1, None]
        for runs in arm:
            n = runs.shape[-1]
            variances.append(n * np.clip(runs, low, high).var(-1, ddof=1) / (kept * (kept - 1)))
            df.append((n - 1) * kept / size)
    return means[0] - means[1], *satterthwaite_of(variances, df)


def _of_improvement(a: Runs, b: Runs, better: Better) -> Found:
    """The placement of a run is the share of the other arm's runs of its task that it beats.

    A task in which all runs of an arm are better has at least the variance of one in which a single
    pair was lost: else a few runs would leave nothing to chance.
    """
    shares, variances, df = [], [], []
    for x, y in zip(a, b, strict=True):
        table = wins(x, y, better)
        least = 1 / (x.shape[-1] * y.shape[-1]) ** 2
        shares.append(table.mean((-2, -1)))
        for placements in (table.mean(-1), table.mean(-2)):
            n = placements.shape[-1]
            variance = np.maximum(placements.var(-1, ddof=1) / n, least)
            variances.append(variance / len(a) ** 2)
            df.append(n - 1)
    return np.mean(shares, axis=0), *satterthwaite_of(variances, df)


def satterthwaite_of(variances: Sequence[Array], df: Sequence[float]) -> tuple[Array, Array]:
    """Standard error and degrees of freedom, from the variances of all parts, and theirs."""
    total = np.sum(variances, axis=0)
    parts = [variance**2 / each for variance, each in zip(variances, df, strict=True)]
    with np.errstate(invalid="ignore"):  # where nothing varies there are none
        return np.sqrt(total), total**2 / np.sum(parts, axis=0)


Kernel: TypeAlias = Callable[[Runs, Runs, Better], Found]

KERNELS: Mapping[Aggregate, Kernel] = {
    "mean": _of_means,
    "iqm": _of_interquartile_means,
    "improvement": _of_improvement,
}


def resampled(
    aggregate: Aggregate, a: Runs, b: Runs, better: Better, *, draws: int = RESAMPLES
) -> Array:
    """The effect in each of so many resamples of the runs within each task and arm."""
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    if aggregate == "improvement":
        shares = [
            np.einsum(
                "di,ij,dj->d", _weights(rng, draws, x), wins(x, y, better), _weights(rng, draws, y)
            )
            for x, y in zip(a, b, strict=True)
        ]
        return np.asarray(np.mean(shares, axis=0))
    effects = []
    for arm in (a, b):
        drawn = [runs[rng.integers(len(runs), size=(draws, len(runs)))] for runs in arm]
        if aggregate == "mean":
            effects.append(np.mean([runs.mean(axis=1) for runs in drawn], axis=0))
        else:
            ordered = np.sort(np.concatenate(drawn, axis=1), axis=1)
            cut = _cut(ordered.shape[1])
            effects.append(ordered[:, cut : ordered.shape[1] - cut].mean(axis=1))
    return np.asarray(effects[0] - effects[1])


def _weights(rng: np.random.Generator, draws: int, runs: Array) -> Array:
    """How often each run is drawn, as a share: one row a resample."""
    n = len(runs)
    return rng.multinomial(n, np.full(n, 1 / n), size=draws) / n


def _shares_beyond(drawn: Array) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """One-sided p-values of resamples: the share of them on the other side of a limit."""

    def share(beyond: npt.NDArray[np.bool_]) -> float:
        return (1 + int(np.count_nonzero(beyond))) / (len(drawn) + 1)

    return (lambda limit: share(drawn <= limit)), (lambda limit: share(drawn >= limit))


def interquartile_mean(values: Array) -> float:
    """The mean of the middle half of the values."""
    cut = _cut(len(values))
    return float(np.sort(values)[cut : len(values) - cut].mean())


def _cut(size: int) -> int:
    """How many of the lowest, and of the highest, an interquartile mean leaves out."""
    return size // 4


def matched_tasks(a: Sample, b: Sample, *, fewest: int = 2) -> tuple[list[str], Runs, Runs]:
    """The names of the tasks, and the runs of both arms in that order.

    Values that are equal up to round-off are ties. ``ClaimError`` for a task that only one arm has,
    fewer than three tasks, and a task with fewer than ``fewest`` runs.
    """
    first, second = (arm.by_task() for arm in levelled(a, b))
    for place, (tasks, others) in enumerate(((first, second), (second, first))):
        alone = [task for task in tasks if task not in others]
        if alone:
            raise TooFewError(
                f"{'BA'[place]} has no run of {_named(alone)}",
                advice="add its runs, or leave the task out of the claim",
            )
    if len(first) < FEWEST_TASKS:
        raise ClaimError(
            f"{len(first)} tasks are no benchmark",
            advice=f"compare each alone, or add tasks up to {FEWEST_TASKS} or more",
        )
    names = sorted(first)
    single = [task for task in names if min(first[task].n, second[task].n) < fewest]
    if single:
        raise TooFewError(f"a single run of {_named(single)} has no variance", advice="add runs")
    return names, _runs(first, names), _runs(second, names)


def _runs(arm: Mapping[str, Sample], names: Sequence[str]) -> list[Array]:
    """The values of each task, in order, so that their numbers have no say in a resample."""
    return [np.sort(np.asarray(arm[task].values)) for task in names]


def _need_equal(names: Sequence[str], runs: Runs) -> None:
    sizes = dict(zip(names, map(len, runs), strict=True))
    if len(set(sizes.values())) > 1:
        few, many = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
        raise TooFewError(
            f"the interquartile mean pools the runs of all tasks, and '{few}' has {sizes[few]} "
            f"and '{many}' {sizes[many]} in one arm",
            advice="add the missing runs, or declare "
            "`aggregate: mean`, in which every task has the same weight",
        )


def _named(tasks: Sequence[str]) -> str:
    shown = ", ".join(f"'{task}'" for task in tasks[:5])
    more = f" and {len(tasks) - 5} more" if len(tasks) > 5 else ""
    return f"{'task' if len(tasks) == 1 else 'tasks'} {shown}{more}"


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
            effect, se, df = kernel(
                list(np.moveaxis(a, 1, 0)), list(np.moveaxis(b, 1, 0)), "higher"
            )
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
        return frequency(found)

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
