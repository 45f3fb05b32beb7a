"""Runs that span tasks: the seed is the unit, each number against another way to compute it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from repro.errors import ClaimError, TooFewError
from repro.stats.crossed import meta_analysis_over_seeds, moving_together, over_seeds
from repro.stats.records import Sample, known
from repro.stats.task_aggregates import (
    Aggregate,
    Better,
    OverTasksResult,
    Region,
    over_tasks,
)

Rows = np.ndarray
"""One row a seed, one column a task."""


def drawn(n: int, tasks: int, seed: int, shared: float = 0.5, shift: float = 0.0) -> Rows:
    """Runs with this share of their variance in all tasks, which lie two apart."""
    rng = np.random.default_rng(seed)
    own = math.sqrt(1 - shared) * rng.standard_normal((n, tasks))
    return own + math.sqrt(shared) * rng.standard_normal((n, 1)) + 2 * np.arange(tasks) + shift


def sample(rows: Rows, first: int = 0) -> Sample:
    """The rows as seeds from ``first`` on, the columns as tasks t0, t1, ..."""
    runs = [(f"t{t}", first + s, float(v)) for s, row in enumerate(rows) for t, v in enumerate(row)]
    tasks, numbers, values = zip(*runs, strict=True)
    return Sample(values, numbers, tasks=tasks)


A, B = drawn(5, 8, 1, shift=0.7), drawn(6, 8, 2)


def compared(
    aggregate: Aggregate,
    a: Rows = A,
    b: Rows = B,
    *,
    region: Region | None = None,
    better: Better = "higher",
    paired: bool = False,
) -> OverTasksResult:
    limit = 0.5 if aggregate == "improvement" else 0.0
    return over_seeds(
        sample(a),
        sample(b),
        aggregate=aggregate,
        better=better,
        region=region or (limit, None),
        paired=paired,
    )


def test_pooled_runs_that_share_decide_null_tables_far_too_often() -> None:
    """The reason: of 100 tables at 5 % to either side more than 30 are decided."""
    decided = 0
    for seed in range(100):
        a, b = (sample(drawn(5, 10, 2 * seed + arm)) for arm in (0, 1))
        pooled = over_tasks(a, b, aggregate="mean", better="higher", region=(0.0, None))
        decided += min(known(pooled.p), known(pooled.p_opposite)) <= 0.05
    assert decided > 30


@pytest.mark.parametrize("aggregate", ["mean", "iqm"])
def test_the_seeds_are_compared_by_welch(aggregate: Aggregate) -> None:
    """By scipy's test of the mean, or the trimmed mean, of each seed over the tasks."""
    seeds = [
        rows.mean(axis=1) if aggregate == "mean" else stats.trim_mean(rows, 0.25, axis=1)
        for rows in (A, B)
    ]
    reference = stats.ttest_ind(*seeds, equal_var=False, alternative="greater")
    found, interval = compared(aggregate), reference.confidence_interval(0.95)
    assert found.effect == pytest.approx(float(seeds[0].mean() - seeds[1].mean()), rel=1e-12)
    assert found.p == pytest.approx(float(reference.pvalue), rel=1e-10)
    assert found.p_opposite == pytest.approx(1 - float(reference.pvalue), rel=1e-10)
    assert known(found.interval).low == pytest.approx(float(interval.low), rel=1e-10)
    assert (found.n, found.tasks, found.test) == ((5, 6), 8, "welch")


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_the_probability_of_improvement_is_tested_by_mean_ranks(better: Better) -> None:
    """Its value is the mean of Mann-Whitney's over tasks; its p that of the ranks of the seeds."""
    sign = 1 if better == "higher" else -1
    shares = [
        stats.mannwhitneyu(sign * a, sign * b).statistic / (a.size * b.size)
        for a, b in zip(A.T, B.T, strict=True)
    ]
    ranks = np.mean(
        [
            stats.rankdata(np.concatenate([sign * a, sign * b]))
            for a, b in zip(A.T, B.T, strict=True)
        ],
        axis=0,
    )
    reference = stats.ttest_ind(ranks[:5], ranks[5:], equal_var=False, alternative="greater")
    found = compared("improvement", better=better)
    assert found.effect == pytest.approx(float(np.mean(shares)), rel=1e-12)
    assert found.p == pytest.approx(float(reference.pvalue), rel=1e-10)


def test_pairs_are_compared_within_each_seed() -> None:
    """By scipy's paired test of the means; a seed without a partner is named."""
    both = B[:5]
    reference = stats.ttest_rel(A.mean(axis=1), both.mean(axis=1), alternative="greater")
    found = compared("mean", A, both, paired=True)
    assert found.p == pytest.approx(float(reference.pvalue), rel=1e-10)
    assert found.paired
    with pytest.raises(TooFewError, match="5 only in B"):
        compared("mean", A, B, paired=True)


def test_a_margin_takes_both_sides() -> None:
    a, b = (rows.mean(axis=1) for rows in (A, B))
    above = stats.ttest_ind(a + 1.5, b, equal_var=False, alternative="greater").pvalue
    below = stats.ttest_ind(a - 1.5, b, equal_var=False, alternative="less").pvalue
    found = compared("mean", region=(-1.5, 1.5))
    assert found.p == pytest.approx(max(above, below), rel=1e-10)
    assert (found.test, compared("mean", region=(-1.5, None)).test) == ("tost", "non_inferiority")


def test_complete_separation_is_not_certain() -> None:
    """Of three runs against three: a split as extreme comes by chance in one case of twenty."""
    found = compared(
        "improvement", drawn(3, 4, 3, shared=0.9, shift=50), drawn(3, 4, 4, shared=0.9)
    )
    assert found.effect == 1
    assert 0.005 < known(found.p) < 0.05
    assert known(found.interval).high <= 1


def two_way(a: Rows, b: Rows) -> tuple[float, float]:
    """Variance and degrees of freedom of the mean effect, by sums of squares written out."""
    k = a.shape[1]
    effects = [float(np.mean(a[:, t]) - np.mean(b[:, t])) for t in range(k)]
    of_tasks, parts, rest = float(np.var(effects, ddof=1)) / k, [], 0.0
    for rows in (a, b):
        n = len(rows)
        parts.append((float(np.var([row.mean() for row in rows], ddof=1)) / n, n - 1))
        left = sum(
            (rows[s, t] - rows[s].mean() - rows[:, t].mean() + rows.mean()) ** 2
            for s in range(n)
            for t in range(k)
        )
        rest += float(left) / ((n - 1) * (k - 1)) / (n * k)
    of_seeds = sum(part for part, _ in parts)
    variance = max(of_tasks, of_seeds, of_tasks + of_seeds - rest)
    df = variance**2 / (of_tasks**2 / (k - 1) + sum(part**2 / df for part, df in parts))
    return variance, df


def test_a_mean_effect_errs_by_tasks_and_by_seeds() -> None:
    found = meta_analysis_over_seeds(sample(A), sample(B), region=(0.0, None))
    variance, df = two_way(A, B)
    assert found.se == pytest.approx(math.sqrt(variance), rel=1e-10)
    assert found.df == pytest.approx(df, rel=1e-10)
    assert found.p == pytest.approx(stats.t.sf(found.effect / math.sqrt(variance), df), rel=1e-10)
    effects = A.mean(axis=0) - B.mean(axis=0)
    reach = stats.t.isf(0.05, 7) * math.sqrt(variance + effects.var(ddof=1))
    assert found.prediction.high == pytest.approx(found.effect + reach, rel=1e-10)


def test_what_runs_have_in_common_adds_to_what_tasks_differ() -> None:
    """Where nothing else scatters, both variances add up."""
    of_tasks, of_seeds = np.array([0.0, 1.0, 3.0, 4.0]), np.array([0.0, 2.0, 3.0])
    a, b = of_seeds[:, None] + 2 * of_tasks, of_seeds[::-1, None] + of_tasks
    found = meta_analysis_over_seeds(sample(a), sample(b), region=(0.0, None))
    both = of_tasks.var(ddof=1) / 4 + 2 * of_seeds.var(ddof=1) / 3
    assert found.se == pytest.approx(math.sqrt(both), rel=1e-12)


def test_pairs_take_what_their_arms_share_out_of_a_mean_effect() -> None:
    """The seed moves both arms of a pair alike, so only the tasks are left."""
    common = drawn(4, 1, 9)
    a, b = common + 1.0 + np.array([0.0, 0.5, 0.1, 0.4]), common + np.zeros(4)
    found = meta_analysis_over_seeds(sample(a), sample(b), region=(0.0, None), paired=True)
    assert found.se == pytest.approx(np.std([0.0, 0.5, 0.1, 0.4], ddof=1) / 2, rel=1e-9)


def test_what_has_no_answer_is_refused() -> None:
    """A single run, and a seed that is not in every task: what is missing, and what to do."""
    with pytest.raises(TooFewError, match="one run on all tasks says nothing of other runs"):
        compared("mean", A[:1], B)
    rows = sample(A)
    less = Sample(rows.values[1:], rows.replicates[1:], tasks=rows.tasks[1:])
    with pytest.raises(TooFewError, match="A is without a value of seed 0 in task 't0'"):
        over_seeds(less, sample(B), aggregate="mean", better="higher", region=(0.0, None))
    with pytest.raises(ClaimError, match="both arms have variance 0"):
        compared("mean", np.ones((3, 4)), np.ones((3, 4)))


@pytest.mark.parametrize("aggregate", ["mean", "iqm", "improvement"])
@pytest.mark.parametrize(("n", "tasks", "shared"), [(5, 10, 0.5), (3, 5, 0.5), (5, 26, 0.0)])
def test_null_tables_are_seldom_decided(
    aggregate: Aggregate, n: int, tasks: int, shared: float
) -> None:
    """Of 200, at most 18 to either side, also where each task has runs of its own."""
    better, worse = 0, 0
    for seed in range(1000, 1200):
        a, b = (drawn(n, tasks, 2 * seed + arm, shared) for arm in (0, 1))
        found = compared(aggregate, a, b)
        better += known(found.p) <= 0.05
        worse += known(found.p_opposite) <= 0.05
    assert max(better, worse) <= 18


@pytest.mark.parametrize(
    ("n", "tasks", "shared", "between"), [(5, 10, 0.5, 0.0), (3, 5, 0.5, 1.0), (5, 10, 0.0, 1.0)]
)
def test_null_effects_are_seldom_decided(n: int, tasks: int, shared: float, between: float) -> None:
    """The same of mean effects, whether or not the tasks differ."""
    better, worse = 0, 0
    for seed in range(1000, 1200):
        a, b = (drawn(n, tasks, 2 * seed + arm, shared) for arm in (0, 1))
        a += between * np.random.default_rng([seed, 7]).standard_normal(tasks)
        found = meta_analysis_over_seeds(sample(a), sample(b), region=(0.0, None))
        better += known(found.p) <= 0.05
        worse += known(found.p_opposite) <= 0.05
    assert max(better, worse) <= 18


def test_what_moves_together_has_the_p_of_all_permutations() -> None:
    """Of three tasks and three seeds all 216 are tried here; the product draws."""
    rows = np.array([[0.0, 5.0, 1.0], [1.0, 9.0, 1.5], [3.0, 6.0, 4.0]])
    rest = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    orders = list(itertools.permutations(range(3)))
    sizes = [
        float((np.stack([rest[list(o), t] for t, o in enumerate(each)]).mean(axis=0) ** 2).sum())
        for each in itertools.product(orders, repeat=3)
    ]
    share = np.mean(np.array(sizes) >= float((rest.mean(axis=1) ** 2).sum()) - 1e-9)
    assert moving_together([sample(rows)]) == pytest.approx(float(share), abs=0.04)


def test_separate_runs_are_seldom_said_to_move_together() -> None:
    """At 1 %, of 300 tables; a run that spans ten tasks is found nearly always."""
    tables = [[sample(drawn(5, 10, 2 * s + arm, 0.0)) for arm in (0, 1)] for s in range(300)]
    assert sum(moving_together(arms) <= 0.01 for arms in tables) <= 8
    spanning = [[sample(drawn(5, 10, 2 * s + arm)) for arm in (0, 1)] for s in range(20)]
    assert sum(moving_together(arms) <= 0.01 for arms in spanning) >= 19


def test_tasks_without_a_seed_in_common_do_not_move_together() -> None:
    rows = drawn(3, 4, 1, shared=0.99)
    tasks = [
        Sample(tuple(map(float, column)), tuple(range(10 * t, 10 * t + 3)), tasks=(f"t{t}",) * 3)
        for t, column in enumerate(rows.T)
    ]
    joined = Sample(
        tuple(value for each in tasks for value in each.values),
        tuple(number for each in tasks for number in each.replicates),
        tasks=tuple(task for each in tasks for task in each.tasks),
    )
    assert moving_together([joined]) == 1.0
