"""Two arms over a benchmark of tasks: each number against another way to compute it."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from scipy import stats
from scipy.stats import mstats

from repro.errors import ClaimError, TooFewError
from repro.stats.records import Sample, known
from repro.stats.task_aggregates import (
    Aggregate,
    Better,
    over_tasks,
    resampled,
)

TASKS = 5
LEVELS = np.arange(TASKS) * 2.0


def runs(shift: float, n: int, seed: int) -> np.ndarray:
    """Runs of five tasks that lie two standard deviations apart: one row a task."""
    rng = np.random.default_rng(seed)
    return LEVELS[:, None] + shift + rng.standard_normal((TASKS, n))


def sample(rows: np.ndarray | list[list[float]]) -> Sample:
    """The rows as the values of tasks t0, t1, ..."""
    pairs = [(f"t{task}", i, float(v)) for task, row in enumerate(rows) for i, v in enumerate(row)]
    tasks, numbers, values = zip(*pairs, strict=True)
    return Sample(values, numbers, tasks=tasks)


A, B = runs(0.8, 4, 1), runs(0.0, 6, 2)


def above(aggregate: Aggregate, a: np.ndarray = A, b: np.ndarray = B, better: Better = "higher"):
    limit = 0.5 if aggregate == "improvement" else 0.0
    return over_tasks(
        sample(a), sample(b), aggregate=aggregate, better=better, region=(limit, None)
    )


def test_the_difference_of_interquartile_means_pools_all_runs_of_all_tasks() -> None:
    reference = stats.trim_mean(A, 0.25, axis=None) - stats.trim_mean(B, 0.25, axis=None)
    assert above("iqm").effect == pytest.approx(float(reference), rel=1e-12)


def test_the_error_of_an_interquartile_mean_is_that_of_winsorised_values() -> None:
    """By scipy's winsorised values and the standard library's variances."""
    total, weights = 0.0, 0.0
    for rows in (A, B):
        size = rows.size
        moved = np.asarray(mstats.winsorize(rows.ravel(), limits=(0.25, 0.25))).reshape(rows.shape)
        kept = size - 2 * (size // 4)
        n = rows.shape[1]
        parts = [n * statistics.variance(map(float, row)) / kept / (kept - 1) for row in moved]
        total += math.fsum(parts)
        weights += math.fsum(part**2 / ((n - 1) * kept / size) for part in parts)
    found = above("iqm")
    assert found.se == pytest.approx(math.sqrt(total), rel=1e-12)
    assert found.df == pytest.approx(total**2 / weights, rel=1e-12)


def test_the_mean_over_tasks_is_a_sum_of_welch_differences() -> None:
    """Its error is the root of the mean square of Welch's errors, by scipy, task by task."""
    welch = [stats.ttest_ind(a, b, equal_var=False) for a, b in zip(A, B, strict=True)]
    differences = [float(a.mean() - b.mean()) for a, b in zip(A, B, strict=True)]
    errors = [d / float(each.statistic) for d, each in zip(differences, welch, strict=True)]
    found = above("mean")
    assert found.effect == pytest.approx(statistics.fmean(differences), rel=1e-12)
    assert found.se == pytest.approx(math.hypot(*errors) / TASKS, rel=1e-10)
    t = found.effect / known(found.se)
    assert found.p == pytest.approx(float(stats.t.sf(t, known(found.df))), rel=1e-9)
    assert list(found.parts.values()) == pytest.approx(differences)


def test_the_probability_of_improvement_is_the_mean_of_mann_whitneys() -> None:
    """U over the number of pairs in each task (scipy), ties counted as one half."""
    a, b = np.round(A), np.round(B)
    shares = [
        float(stats.mannwhitneyu(x, y).statistic) / (len(x) * len(y))
        for x, y in zip(a, b, strict=True)
    ]
    assert above("improvement", a, b).effect == pytest.approx(statistics.fmean(shares), rel=1e-12)
    lower = above("improvement", a, b, better="lower").effect
    assert lower == pytest.approx(1 - statistics.fmean(shares), rel=1e-12)


def test_the_error_of_one_task_is_brunner_and_munzels() -> None:
    """Three tasks alike: the error is that of scipy's test over the root of three."""
    a, b = np.array([[1.0, 4, 6, 9]] * 3), np.array([[2.0, 3, 5, 7, 1]] * 3)
    statistic = float(stats.brunnermunzel(b[0], a[0]).statistic)
    found = above("improvement", a, b)
    assert (found.effect - 0.5) / known(found.se) == pytest.approx(statistic * math.sqrt(3))


def test_complete_separation_is_not_certain() -> None:
    """Two runs a task that never overlap still leave a margin of error."""
    found = above("improvement", LEVELS[:, None] + [[20.0, 21.0]], LEVELS[:, None] + [[0.0, 1.0]])
    assert found.effect == 1.0
    assert known(found.interval).high == 1.0
    assert 0.5 < known(found.interval).low < 1.0


def test_the_probability_of_improvement_has_no_units() -> None:
    """Values near 1e12 are compared within their task as any others are."""
    near, far = above("improvement"), above("improvement", 1e12 * A, 1e12 * B)
    assert (far.effect, far.se, far.p) == (near.effect, near.se, near.p)


@pytest.mark.parametrize("aggregate", ["iqm", "mean", "improvement"])
def test_a_bootstrap_within_tasks_has_a_variance_that_is_too_small(aggregate: Aggregate) -> None:
    """Of a mean it is that of Student's, times (n - 1) / n: the correction that is needed."""
    a, b = runs(0.3, 3, 5), runs(0.0, 3, 6)
    drawn = resampled(aggregate, list(a), list(b), "higher", draws=20_000)
    plain = above(aggregate, a, b)
    assert float(drawn.mean()) == pytest.approx(plain.effect, abs=0.1)
    if aggregate == "mean":
        assert float(drawn.std()) == pytest.approx(known(plain.se) * math.sqrt(2 / 3), rel=0.02)
    assert float(drawn.std()) < known(plain.se)


def test_the_bootstrap_takes_percentiles_and_is_the_same_every_time() -> None:
    found = [
        over_tasks(
            *(sample(A), sample(B)), aggregate="iqm", better="higher", region=(0.0, None),
            bootstrap=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    assert found[0] == found[1]
    interval = known(found[0].interval)
    drawn = resampled("iqm", list(np.sort(A)), list(np.sort(B)), "higher")
    assert (interval.low, interval.high) == pytest.approx(np.percentile(drawn, (5, 95)))
    assert found[0].test == "over_tasks iqm bootstrap"


def test_equivalence_takes_the_larger_p_of_both_sides() -> None:
    found = over_tasks(sample(A), sample(B), aggregate="mean", better="higher", region=(-2.0, 2.0))
    t = stats.t(known(found.df), loc=found.effect, scale=known(found.se))
    assert found.p == pytest.approx(max(float(t.cdf(-2.0)), float(t.sf(2.0))))
    assert (known(found.interval).low, known(found.interval).high) == pytest.approx(
        (float(t.ppf(0.05)), float(t.ppf(0.95)))
    )


def test_tasks_are_matched_by_name_and_their_order_has_no_say() -> None:
    """The same rows in another order of tasks and runs give the same result."""
    shuffled = np.random.default_rng(3).permutation(len(sample(A).values))
    a = sample(A)
    mixed = Sample(
        tuple(a.values[i] for i in shuffled),
        tuple(a.replicates[i] for i in shuffled),
        tasks=tuple(a.tasks[i] for i in shuffled),
    )
    for aggregate in ("iqm", "mean", "improvement"):
        again = over_tasks(
            mixed, sample(B), aggregate=aggregate, better="higher", region=(0.5, None)
        )
        first = over_tasks(a, sample(B), aggregate=aggregate, better="higher", region=(0.5, None))
        assert again == first


def test_unequal_numbers_of_runs_are_refused_by_the_interquartile_mean_alone() -> None:
    rows = [list(map(float, row)) for row in A]
    rows[2] = rows[2][:3]
    short = sample(rows)
    with pytest.raises(TooFewError, match="'t2' has 3 and 't0' 4"):
        over_tasks(short, sample(B), aggregate="iqm", better="higher", region=(0.0, None))
    found = over_tasks(short, sample(B), aggregate="mean", better="higher", region=(0.0, None))
    assert found.runs == ((3, 4), (6, 6))
    assert found.n == (3, 6)


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (A[:2], B[:2], "2 tasks are no benchmark"),
        (A[:4], B, "A has no run of task 't4'"),
        (A, B[:3], "B has no run of tasks 't3', 't4'"),
        (A[:, :1], B, "a single run of tasks 't0', 't1'"),
        (np.ones((3, 3)), np.ones((3, 3)), "nothing is known of chance"),
    ],
)
def test_what_cannot_be_tested_is_refused(a: np.ndarray, b: np.ndarray, said: str) -> None:
    with pytest.raises(ClaimError, match=said):
        over_tasks(sample(a), sample(b), aggregate="mean", better="higher", region=(0.0, None))


def test_a_sample_of_several_tasks_has_no_mean_of_runs() -> None:
    """Nothing can pool the runs of tasks by mistake."""
    with pytest.raises(ClaimError, match="the values are of 5 tasks"):
        sample(A).summary()
    assert [each.n for each in sample(A).by_task().values()] == [4] * TASKS
    with pytest.raises(ClaimError, match="a replicate occurs twice"):
        Sample((1.0, 2.0), (0, 0), tasks=("t", "t"))
