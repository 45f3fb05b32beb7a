"""Runs that span tasks: one run is evaluated on all of them, so its values move together.

Seeds are then crossed with tasks, and the seed is the unit: its values are brought to one number,
and the numbers of the seeds are compared as those of any two arms (Miller 2024: errors clustered by
what is drawn). That holds as well where each task has runs of its own, whose numbers agree by
chance of their naming. Tests that take such values for independent err in 10 to 34 % of cases per
direction instead of 5 % (``benchmarks/levels``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from repro.errors import TooFewError
from repro.stats.coefficients import midranks
from repro.stats.contrast import Contrast, mean_difference, satterthwaite
from repro.stats.random_effects import (
    MetaAnalysisResult,
    hartung_knapp,
    heterogeneity,
    signs_of,
    within_tasks,
)
from repro.stats.records import ROUND_OFF, Sample, check_alpha, levelled, match
from repro.stats.task_aggregates import (
    HALF,
    Aggregate,
    Better,
    Found,
    Kernel,
    OverTasksResult,
    PlannedOverTasks,
    Region,
    Runs,
    as_probability,
    effects_of_tasks,
    interquartile_mean,
    matched_tasks,
    result_over,
    satterthwaite_of,
)

Table: TypeAlias = npt.NDArray[np.floating[Any]]
"""The values of one arm: one row a seed, one column a task."""

SHUFFLES = 1_999
SHUFFLE_SEED = 20_261_126

DECLARE = "declare `runs: per_task` if each task has separate runs"

BY_RANKS = "over_tasks improvement by seed"
RANDOM_EFFECTS = "meta_analysis by seed"


def spans_tasks(arm: Sample) -> bool:
    """Whether some seed has values of several tasks."""
    return len(set(arm.replicates)) < arm.n


@dataclass(frozen=True, slots=True)
class Crossed:
    """Both arms over the same tasks: one row a seed, in order of its number, one column a task."""

    tasks: list[str]
    numbers: tuple[tuple[int, ...], tuple[int, ...]]
    a: Table
    b: Table

    @classmethod
    def of(cls, a: Sample, b: Sample) -> Crossed:
        """``ClaimError`` as ``matched_tasks``; ``TooFewError`` for a seed without some task."""
        tasks, _, _ = matched_tasks(a, b, fewest=1)
        arms = [_table(arm, tasks, name) for arm, name in zip(levelled(a, b), "AB", strict=True)]
        (first, own), (second, others) = arms
        if min(len(first), len(second)) < 2:
            raise TooFewError(
                "one run on all tasks says nothing of other runs, however many tasks there are",
                advice=f"{DECLARE}, or add seeds",
            )
        return cls(tasks, (first, second), own, others)

    def by_seed(self, aggregate: Aggregate, better: Better) -> tuple[Sample, Sample]:
        """One number a seed: its mean over the tasks, its interquartile mean, or its mean rank.

        Ranks are those among the runs of both arms in each task, the best highest, as shares of
        their number: mean A - mean B + 1/2 is the probability of improvement.
        """
        tables: Sequence[Table] = (self.a, self.b)
        if aggregate == "improvement":
            both = np.vstack(tables) if better == "higher" else -np.vstack(tables)
            ranks = np.column_stack([midranks(column) for column in both.T]) / len(both)
            tables = (ranks[: len(self.a)], ranks[len(self.a) :])
        reduce = interquartile_mean if aggregate == "iqm" else fmean
        first, second = (tuple(map(reduce, table)) for table in tables)
        return Sample(first, self.numbers[0]), Sample(second, self.numbers[1])

    def differences(self) -> tuple[Table, Table]:
        """Those of the pairs, and zeros; ``UnmatchedError`` for a seed without a partner."""
        match([Sample((0.0,) * len(own), own) for own in self.numbers], RANDOM_EFFECTS)
        return self.a - self.b, np.zeros_like(self.a)

    @property
    def runs(self) -> tuple[list[Table], list[Table]]:
        """The values of each task, by arm."""
        return list(self.a.T), list(self.b.T)


def _table(arm: Sample, tasks: Sequence[str], name: str) -> tuple[tuple[int, ...], Table]:
    runs = zip(arm.replicates, arm.tasks, strict=True)
    values = dict(zip(runs, arm.values, strict=True))
    numbers = tuple(sorted(set(arm.replicates)))
    for number in numbers:
        if absent := [task for task in tasks if (number, task) not in values]:
            raise TooFewError(
                f"{name} is without a value of seed {number} in task '{absent[0]}', and a seed "
                "with values of several tasks is taken for one run on all of them",
                advice=f"add the value, or {DECLARE}",
            )
    return numbers, np.array([[values[number, task] for task in tasks] for number in numbers])


def over_seeds(
    a: Sample,
    b: Sample,
    *,
    aggregate: Aggregate,
    better: Better,
    region: Region,
    alpha: float = 0.05,
    paired: bool = False,
) -> OverTasksResult:
    """A against B over the tasks of both, the seed as the unit: does the effect lie in ``region``?

    The effect is the difference of the means over seeds, each by its mean (or interquartile mean)
    over the tasks, tested by Welch's t, or of ``paired`` arms by Student's of the differences; or
    the probability of improvement, by Welch's t of the mean ranks of the seeds. Result and levels
    as ``over_tasks``. ``ClaimError`` as ``Crossed.of``, and as for a test of means.
    """
    check_alpha(alpha)
    crossed = Crossed.of(a, b)
    seeds = crossed.by_seed(aggregate, better)
    parts = effects_of_tasks(aggregate, *crossed.runs, better)
    if aggregate == "improvement":
        test, contrast = BY_RANKS, _improvement(*seeds, effect=math.fsum(parts) / len(parts))
    else:
        test = _test_of_means(region, paired=paired)
        contrast = mean_difference(*seeds, paired=paired, test=test)
    over = crossed.tasks, *crossed.runs
    result = result_over(OverTasksResult, test, contrast, region, alpha, over, parts, paired=paired)
    return as_probability(result) if aggregate == "improvement" else result


def _test_of_means(region: Region, *, paired: bool) -> str:
    """What the same test of two arms is called, whose error rates and power it has."""
    limits = [limit for limit in region if limit is not None]
    if len(limits) > 1:
        return "tost"
    if limits != [0]:
        return "non_inferiority"
    return "paired" if paired else "welch"


def _improvement(a: Sample, b: Sample, *, effect: float) -> Contrast:
    """By Welch's t of mean ranks, each arm with at least the variance of one pair that was lost."""
    least = 1 / (a.n * b.n)
    errors = [max(arm.summary().standard_error, least) for arm in (a, b)]
    return Contrast(effect, math.hypot(*errors), satterthwaite(errors, (a.n, b.n)))


def meta_analysis_over_seeds(
    a: Sample, b: Sample, *, region: Region, alpha: float = 0.05, paired: bool = False
) -> MetaAnalysisResult:
    """A against B over tasks that stand for others, by runs that span them.

    The mean effect errs by what the tasks differ, and by what a run has in common on all of them
    (``of_both``). The prediction for another task is for other runs, too. Result and errors as
    ``meta_analysis`` with equal weights, and ``Crossed.of``; of ``paired`` arms also
    ``UnmatchedError`` for a seed without a partner.
    """
    check_alpha(alpha)
    crossed = Crossed.of(a, b)
    effects = crossed.a.mean(axis=0) - crossed.b.mean(axis=0)
    largest = float(max(np.abs(crossed.a).max(), np.abs(crossed.b).max()))
    of_tasks = hartung_knapp(effects, np.ones_like(effects), largest=largest)
    tables = crossed.differences() if paired else (crossed.a, crossed.b)
    contrast = of_both(of_tasks, tables)
    k, over = len(effects), (crossed.tasks, *crossed.runs)
    new = Contrast(contrast.effect, math.hypot(contrast.se, math.sqrt(k) * of_tasks.se), k - 1)
    within = within_tasks(*(list(_alone(table).T) for table in tables))
    return result_over(
        MetaAnalysisResult,
        RANDOM_EFFECTS,
        contrast,
        region,
        alpha,
        over,
        effects,
        paired=paired,
        prediction=new.interval(1 - 2 * alpha),
        heterogeneity=within and heterogeneity(effects, *within),
        signs=signs_of(effects, ROUND_OFF * largest),
    )


def of_both(of_tasks: Contrast, tables: Sequence[Table]) -> Contrast:
    """A mean effect with the error that tasks, or items, and seeds make together.

    Each table has a row per seed and a column per task. The variance is that of the effects of the
    tasks over their number, plus that of the means of the seeds over theirs, less the rest, which
    both hold, and never less than either. The degrees of freedom are Satterthwaite's. A table that
    is constant 0 has no say.
    """
    k = tables[0].shape[1]
    seeds = [(float(t.mean(axis=1).var(ddof=1)) / len(t), len(t) - 1) for t in tables]
    rest = math.fsum(
        float((_alone(t) ** 2).sum()) / (len(t) - 1) / k / (k * len(t)) for t in tables
    )
    of_seeds = math.fsum(variance for variance, _ in seeds)
    variance = max(of_tasks.se**2 + of_seeds - rest, of_tasks.se**2, of_seeds)
    parts = ((of_tasks.se**2, of_tasks.df), *seeds)
    df = variance**2 / math.fsum(part**2 / size for part, size in parts)
    return Contrast(of_tasks.effect, math.sqrt(variance), df)


def _alone(table: Table) -> Table:
    """What neither the seed nor the task explains, as large as it would be without the seeds."""
    k = table.shape[1]
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    return np.asarray(rest * math.sqrt(k / (k - 1)))


def moving_together(arms: Iterable[Sample]) -> float:
    """How often so much would move together by seed over tasks, were each task's runs its own.

    A permutation test: the seeds of each task and arm are renumbered. The statistic is the sum
    over seeds of their squared mean residual, the residuals of a task being its values less their
    mean, in its standard deviations. 1 where no seed has values of several tasks.
    """
    arms = [arm for arm in arms if spans_tasks(arm)]
    if not arms:
        return 1.0
    rng = np.random.default_rng(SHUFFLE_SEED)
    drawn = np.zeros(SHUFFLES + 1)
    for arm in arms:
        places = {number: place for place, number in enumerate(sorted(set(arm.replicates)))}
        sums, counts = np.zeros((SHUFFLES + 1, len(places))), np.zeros(len(places))
        for runs in arm.by_task().values():
            own = [places[number] for number in runs.replicates]
            rest = np.asarray(runs.values) - math.fsum(runs.values) / runs.n
            rest /= math.sqrt(float(rest @ rest)) or 1.0
            sums[0, own] += rest
            sums[1:, own] += rng.permuted(np.tile(rest, (SHUFFLES, 1)), axis=1)
            counts[own] += 1
        drawn += ((sums / counts) ** 2).sum(axis=1)
    as_large = drawn[1:] >= drawn[0] * (1 - ROUND_OFF)
    return (1 + int(np.count_nonzero(as_large))) / (SHUFFLES + 1)


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


def _of_ranks(a: Runs, b: Runs, better: Better) -> Found:
    """Ranks among both arms, as shares of their number, averaged over the tasks of each run."""
    del better
    n = a[0].shape[-1]
    both = [midranks(np.concatenate(runs, axis=-1)) for runs in zip(a, b, strict=True)]
    ranks = np.mean(both, axis=0) / (2 * n)
    first, second = ranks[:, :n], ranks[:, n:]
    errors = [np.maximum(x.var(-1, ddof=1) / n, 1 / n**4) for x in (first, second)]
    found = satterthwaite_of(errors, (n - 1, n - 1))
    return HALF + first.mean(-1) - second.mean(-1), *found
