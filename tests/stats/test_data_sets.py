"""Effects over data sets by signed ranks and signs: against scipy, and published tables."""

from __future__ import annotations

import itertools
import math
from typing import Any, Literal

import numpy as np
import pytest
from scipy import stats

from repro.errors import ClaimError, TooFewError
from repro.stats.data_sets import ByOrder, OrderedEffects, mean_ranks, surely_above
from repro.stats.random_effects import MetaAnalysisResult, TestOfEffects, meta_analysis
from repro.stats.records import Sample, known

RNG = np.random.default_rng(31)

TREES = np.array(
    [
        (0.763, 0.768, 0.771, 0.798),
        (0.599, 0.591, 0.590, 0.569),
        (0.954, 0.971, 0.968, 0.967),
        (0.628, 0.661, 0.654, 0.657),
        (0.882, 0.888, 0.886, 0.898),
        (0.936, 0.931, 0.916, 0.931),
        (0.661, 0.668, 0.609, 0.685),
        (0.583, 0.583, 0.563, 0.625),
        (0.775, 0.838, 0.866, 0.875),
        (1.000, 1.000, 1.000, 1.000),
        (0.940, 0.962, 0.965, 0.962),
        (0.619, 0.666, 0.614, 0.669),
        (0.972, 0.981, 0.975, 0.975),
        (0.957, 0.978, 0.946, 0.970),
    ]
)
"""Demsar (2006), table 6: areas under the curve of C4.5, C4.5+m, C4.5+cf, C4.5+m+cf, 14 sets."""

LEARNERS = np.array(
    [
        (0.219, 0.202, 0.249, 0.165, 0.261),
        (0.803, 0.750, 0.813, 0.692, 0.798),
        (0.859, 0.814, 0.845, 0.542, 0.816),
        (0.809, 0.774, 0.673, 0.275, 0.785),
        (0.768, 0.790, 0.727, 0.872, 0.706),
        (0.759, 0.654, 0.734, 0.703, 0.714),
        (0.693, 0.611, 0.572, 0.689, 0.572),
        (0.544, 0.531, 0.558, 0.439, 0.541),
        (0.945, 0.954, 0.978, 0.541, 0.858),
        (0.725, 0.705, 0.739, 0.625, 0.717),
        (0.674, 0.736, 0.721, 0.356, 0.704),
        (0.801, 0.357, 0.520, 0.309, 0.520),
        (0.785, 0.770, 0.841, 0.659, 0.759),
        (0.710, 0.402, 0.728, 0.120, 0.674),
        (0.691, 0.827, 0.667, 0.527, 0.638),
        (0.743, 0.739, 0.830, 0.549, 0.746),
        (0.990, 0.482, 0.941, 0.857, 0.990),
        (0.867, 0.098, 0.915, 0.986, 0.784),
        (0.821, 0.872, 0.815, 0.885, 0.778),
        (0.893, 0.824, 0.902, 0.739, 0.885),
        (0.799, 0.655, 0.925, 0.517, 0.755),
        (0.845, 0.731, 0.693, 0.653, 0.704),
        (0.741, 0.701, 0.591, 0.663, 0.619),
        (0.799, 0.994, 0.603, 0.269, 0.621),
        (0.949, 0.955, 0.989, 0.770, 0.954),
        (0.555, 0.505, 0.569, 0.312, 0.556),
        (0.928, 0.928, 0.945, 0.419, 0.897),
        (0.915, 0.857, 0.860, 0.700, 0.777),
        (0.855, 0.796, 0.857, 0.607, 0.809),
        (0.906, 0.359, 0.895, 0.641, 0.918),
    ]
)
"""Garcia and Herrera (2008), JMLR 9: C4.5, nearest neighbour, naive Bayes, kernel, CN2; 30 sets."""

C45, C45_M = (tuple(TREES[:, place].tolist()) for place in (0, 1))

SIDES: tuple[Literal["greater", "less"], ...] = ("greater", "less")


def by_scipy(effects: Any, side: str, **how: Any) -> float:
    return float(stats.wilcoxon(effects, alternative=side, **how).pvalue)  # type: ignore[call-overload]


def of_tasks(values: tuple[float, ...]) -> Sample:
    numbers = tuple(range(len(values)))
    return Sample(values, numbers, tasks=tuple(f"set {number:02}" for number in numbers))


def of_effects(*effects: float, test: ByOrder = "wilcoxon") -> OrderedEffects:
    return OrderedEffects(tuple(effects), test, 1e-12)


@pytest.mark.parametrize("n", [5, 6, 12, 13, 30, 50, 51, 90])
@pytest.mark.parametrize("limit", [0.0, 0.3])
def test_signed_ranks_are_those_of_scipy(n: int, limit: float) -> None:
    """Counted to 50 effects; beyond, normal without a correction, as scipy takes them too."""
    effects = RNG.normal(0.2, 1, n)
    one = of_effects(*effects)
    for found, side in zip((one.p_greater(limit), one.p_less(limit)), SIDES, strict=True):
        assert found == pytest.approx(by_scipy(effects - limit, side), rel=1e-12)


@pytest.mark.parametrize("n", [7, 11, 13])
def test_ties_and_zeros_are_those_of_scipy(n: int) -> None:
    """Where scipy tries all signs: with whole numbers ranks are shared, and zeros are left out."""
    effects = RNG.integers(-2, 5, n).astype(float)
    assert len(set(np.abs(effects).tolist())) < n
    one = of_effects(*effects)
    for found, side in zip((one.p_greater(0.0), one.p_less(0.0)), SIDES, strict=True):
        assert found == pytest.approx(by_scipy(effects, side))


def test_differences_of_decimals_are_tied() -> None:
    """0.8 − 0.7 and 0.4 − 0.3 are not one number to a computer, and are one difference."""
    a, b = (0.8, 0.4, 0.9, 0.95, 0.5, 0.6), (0.7, 0.3, 1.0, 0.75, 0.2, 0.2)
    found = meta_analysis(of_tasks(a), of_tasks(b), region=(0.0, None), test="wilcoxon")
    assert found.p == pytest.approx(by_scipy([1, 1, -1, 2, 3, 4], "greater"), rel=1e-12)


@pytest.mark.parametrize("n", [5, 8, 25, 60])
def test_signs_are_those_of_scipy(n: int) -> None:
    effects = RNG.normal(0.2, 1, n)
    one, above = of_effects(*effects, test="sign"), int(np.sum(effects > 0))
    for found, side in zip((one.p_greater(0.0), one.p_less(0.0)), SIDES, strict=True):
        assert found == pytest.approx(float(stats.binomtest(above, n, alternative=side).pvalue))


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
@pytest.mark.parametrize("effects", [RNG.normal(1, 1, 12), RNG.integers(1, 6, 12) - 2.0])
def test_the_interval_holds_what_is_not_rejected(test: ByOrder, effects: np.ndarray) -> None:
    """Every limit on a fine grid, but for the ends themselves, at which effects are tied."""
    one = of_effects(*effects, test=test)
    interval = one.interval(0.9)
    for limit in np.linspace(-4, 6, 997):
        if min(abs(limit - interval.low), abs(limit - interval.high)) > 1e-9:
            rejected = min(one.p_greater(limit), one.p_less(limit)) <= 0.05
            assert rejected == (limit not in interval), limit


def test_the_signed_rank_interval_and_estimate_are_hollander_and_wolfes() -> None:
    """Hollander and Wolfe's depression scores, as R's wilcox.test prints them.

    `wilcox.test(x, y, paired = TRUE, alternative = "greater")`: V = 40, p = 0.01953; with
    `conf.int = TRUE` a pseudomedian of 0.46, and at least 95 % from 0.010 to 0.786.
    """
    x = (1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30)
    y = (0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29)
    one = of_effects(*(a - b for a, b in zip(x, y, strict=True)))
    assert one.p_greater(0.0) == pytest.approx(0.01953, abs=5e-6)
    assert one.effect == pytest.approx(0.46)
    interval = one.interval(0.95)
    assert (interval.low, interval.high) == pytest.approx((0.010, 0.786))


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
def test_too_few_effects_are_refused(test: ByOrder) -> None:
    """Four effects of one sign have a p of a sixteenth."""
    with pytest.raises(TooFewError, match="4 tasks cannot decide"):
        of_effects(1, 2, 3, 4, test=test).interval(0.9)
    assert of_effects(1, 2, 3, 4, 5, test=test).p_greater(0.0) == 1 / 32


def test_the_next_data_set_lies_between_two_that_were_found() -> None:
    """The second ones from both ends of 39 hold it in 90 %; no two of 12 do: 84.6 %."""
    interval = of_effects(*range(39)).prediction(0.9)
    assert (interval.low, interval.high, interval.level) == (1.0, 37.0, 0.9)
    few = of_effects(*range(12)).prediction(0.9)
    assert (few.low, few.high) == (0.0, 11.0)
    assert few.level == pytest.approx(11 / 13)


def demsar(test: TestOfEffects) -> MetaAnalysisResult:
    return meta_analysis(of_tasks(C45_M), of_tasks(C45), region=(0.0, None), test=test)


def test_demsars_table_2() -> None:
    """Better on ten of 14 sets, equal on two (3.1.3), by the tests of ``scipy.stats``."""
    effects = np.round(np.array(C45_M) - np.array(C45), 3)
    t, ranks, signs = demsar("t"), demsar("wilcoxon"), demsar("sign")
    assert t.p == pytest.approx(float(stats.ttest_1samp(effects, 0, alternative="greater").pvalue))
    nonzero = effects[effects != 0]
    exact = stats.PermutationMethod(n_resamples=10**6)
    reference = by_scipy(nonzero, "greater", method=exact)
    assert ranks.p == pytest.approx(reference, rel=1e-12)
    assert signs.p == pytest.approx(float(stats.binomtest(10, 12, alternative="greater").pvalue))
    assert ranks.signs == signs.signs == (10, 2, 2)


def test_one_run_per_task_is_the_paired_t_test_over_tasks() -> None:
    """With its interval, and that of a new data set, a t of the effects with √(1 + 1/n)."""
    one = demsar("t")
    effects = np.array(C45_M) - np.array(C45)
    reference = stats.ttest_rel(C45_M, C45, alternative="two-sided").confidence_interval(0.9)
    assert (known(one.interval).low, known(one.interval).high) == pytest.approx(tuple(reference))
    reach = float(stats.t.ppf(0.95, 13)) * effects.std(ddof=1) * math.sqrt(1 + 1 / 14)
    assert one.prediction.high == pytest.approx(effects.mean() + reach)
    assert one.heterogeneity is None


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
@pytest.mark.parametrize("n", [5, 12, 60])
def test_many_draws_at_once_are_decided_as_each(test: ByOrder, n: int) -> None:
    rows = RNG.normal(0.5, 1, (200, n))
    one_by_one = [of_effects(*row, test=test).p_greater(0.0) <= 0.05 for row in rows]
    assert surely_above(test, rows, 0.05).tolist() == one_by_one
    assert 0 < sum(one_by_one) < 200


def test_chances_of_ranks_are_all_signs() -> None:
    """By trying the 128 signs of seven ranks, two of them shared."""
    ranks = (1.0, 2.5, 2.5, 4.0, 5.0, 6.0, 7.0)
    every = itertools.product((0, 1), repeat=7)
    sums = [sum(r for r, s in zip(ranks, signs, strict=True) if s) for signs in every]
    one = of_effects(1, 2, 2, 3, 4, -5, 6)
    assert one.p_greater(0.0) == sum(total >= 22 for total in sums) / 128


def test_demsars_mean_ranks_friedman_and_nemenyi() -> None:
    """His 3.143, 2.000, 2.893 and 1.964; 9.28 and F 3.69 without ties; difference 1.25 (3.2.2).

    On `voting` he ranks the last two 2 and 3, which are printed alike.
    """
    values = TREES + 0.0001 * (np.arange(14)[:, None] == 12) * (np.arange(4) == 2)
    one, n, k = mean_ranks(values, better="higher"), 14, 4
    assert one.ranks == pytest.approx((3.143, 2.000, 2.893, 1.964), abs=5e-4)
    plain = 12 * n / (k * (k + 1)) * (sum(r**2 for r in one.ranks) - k * (k + 1) ** 2 / 4)
    assert plain == pytest.approx(9.28, abs=0.005)
    assert (n - 1) * plain / (n * (k - 1) - plain) == pytest.approx(3.69, abs=0.005)
    assert one.critical_difference == pytest.approx(1.25, abs=0.005)
    tenth = mean_ranks(TREES, better="higher", alpha=0.1).critical_difference
    assert tenth == pytest.approx(1.12, abs=0.005)


@pytest.mark.parametrize("values", [TREES, RNG.normal(size=(9, 5)), RNG.integers(0, 4, (20, 3))])
def test_friedmans_test_is_that_of_scipy_and_its_f_a_two_way_analysis(values: np.ndarray) -> None:
    """With ties, too: Iman and Davenport's F is that of the ranks by methods and data sets."""
    one, (n, k) = mean_ranks(values.astype(float), better="lower"), values.shape
    reference = stats.friedmanchisquare(*values.T)
    assert one.chi_squared == pytest.approx(float(reference.statistic))
    assert one.p == pytest.approx(float(reference.pvalue))
    ranks = stats.rankdata(values, axis=1)
    between = n * ((ranks.mean(0) - (k + 1) / 2) ** 2).sum()
    rest = ((ranks - (k + 1) / 2) ** 2).sum() - between
    f = between / (k - 1) / (rest / (k - 1) / (n - 1))
    assert one.f == pytest.approx(f)
    assert one.p_of_f == pytest.approx(float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))))


def test_mean_ranks_of_one_order_and_of_none() -> None:
    """All data sets in one order, or all methods alike in each."""
    order = mean_ranks(np.arange(12.0).reshape(4, 3), better="higher")
    assert order.ranks == (3, 2, 1)
    assert (order.f, order.p_of_f, order.chi_squared) == (math.inf, 0, 8)
    same = mean_ranks(np.ones((4, 3)), better="higher")
    assert (same.ranks, same.p, same.p_of_f) == ((2, 2, 2), 1, 1)
    with pytest.raises(ClaimError, match="no order to compare"):
        mean_ranks(np.ones((4, 1)), better="higher")


def test_autoranks_worked_example() -> None:
    """The example of its README, with its seed: p of Friedman's test, mean ranks and difference."""
    rng = np.random.RandomState(42)
    columns = [rng.normal(mean, 0.3, 50).clip(0, 1) for mean in (0.2, 0.3, 0.5, 0.8, 0.85, 0.9)]
    one = mean_ranks(np.column_stack(columns), better="higher")
    assert one.p == pytest.approx(2.3412212612346733e-28, rel=1e-9)
    assert one.ranks == pytest.approx((5.40, 4.71, 3.95, 2.47, 2.29, 2.18))
    assert one.critical_difference == pytest.approx(1.0662484349869374, abs=2e-5)


def test_scmamps_worked_example() -> None:
    """Its vignette on the table of Garcia and Herrera (2008): Friedman 39.647, F 14.309, their p.

    It counts no ties, of which there are four here; with them both are a little larger, as in
    ``scipy``. At its p of `friedmanPost` the normal of two mean ranks is that of Nemenyi's test.
    """
    one, n, k = mean_ranks(LEARNERS, better="higher"), 30, 5
    assert np.abs(np.subtract.outer(one.ranks, one.ranks))[0] == pytest.approx(
        (0, 1.15, 0.1, 2.233333, 1.016667), abs=1e-6
    )
    plain = 12 * n / (k * (k + 1)) * (sum(r**2 for r in one.ranks) - k * (k + 1) ** 2 / 4)
    f = (n - 1) * plain / (n * (k - 1) - plain)
    assert (plain, f) == pytest.approx((39.647, 14.309), abs=5e-4)
    assert float(stats.chi2.sf(plain, k - 1)) == pytest.approx(5.121e-08, rel=1e-4)
    assert float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))) == pytest.approx(1.593e-09, rel=3e-4)
    ties = sum(
        count**3 - count for row in LEARNERS for count in np.unique(row, return_counts=True)[1]
    )
    assert one.chi_squared == pytest.approx(plain / (1 - ties / (n * k * (k**2 - 1))))
    assert one.p == pytest.approx(float(stats.friedmanchisquare(*LEARNERS.T).pvalue))
    error = one.critical_difference / float(stats.studentized_range.ppf(0.95, k, np.inf))
    for other, p in {1: 0.004848763, 3: 4.486991e-08, 4: 0.012763008}.items():
        far = (one.ranks[other] - one.ranks[0]) / error / math.sqrt(2)
        assert 2 * float(stats.norm.sf(far)) == pytest.approx(p, rel=1e-6)


def test_the_difference_of_nemenyi_is_that_of_scikit_posthocs() -> None:
    """Its test of `posthoc_nemenyi_friedman`: at its p the difference of two ranks is critical."""
    blocks = np.array([[4, 3, 4, 4, 5, 6, 3], [1, 2, 3, 5, 6, 7, 7], [1, 2, 6, 4, 1, 5, 1]])
    one = mean_ranks(blocks.astype(float), better="lower")
    for (i, j), p in {(0, 2): 0.8414506, (1, 2): 0.8833015, (0, 3): 0.9177741}.items():
        far = abs(one.ranks[i] - one.ranks[j]) / one.critical_difference
        q = far * float(stats.studentized_range.ppf(0.95, 7, np.inf))
        assert float(stats.studentized_range.sf(q, 7, np.inf)) == pytest.approx(p, abs=1e-5)


def test_ranks_where_lower_is_better() -> None:
    """As scipy ranks each data set; of higher values the ranks are turned."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(7, 4))
    expected = stats.rankdata(values, axis=1).mean(axis=0)
    assert mean_ranks(values, better="lower").ranks == pytest.approx(list(expected))
    assert mean_ranks(values, better="higher").ranks == pytest.approx(list(5 - expected))
