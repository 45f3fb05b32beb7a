"""Random effects of tasks: against statsmodels, and closed forms."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.oneway import anova_oneway

from repro.errors import ClaimError, TooFewError
from repro.stats.random_effects import (
    MetaAnalysisResult,
    Weights,
    cochran_q,
    hartung_knapp,
    heterogeneity,
    meta_analysis,
    paule_mandel,
)
from repro.stats.records import known
from tests.stats.test_task_aggregates import sample

RNG = np.random.default_rng(11)
SHIFTS = np.array([0.9, -0.3, 1.4, 0.6, 0.2, 1.1])
A = RNG.standard_normal((6, 5)) * 0.7 + SHIFTS[:, None]
B = RNG.standard_normal((6, 4))
EFFECTS = A.mean(1) - B.mean(1)
VARIANCES = A.var(1, ddof=1) / 5 + B.var(1, ddof=1) / 4


def found(weights: Weights = "equal", alpha: float = 0.05) -> MetaAnalysisResult:
    return meta_analysis(sample(A), sample(B), region=(0.0, None), weights=weights, alpha=alpha)


def test_hartung_and_knapps_interval_is_that_of_statsmodels() -> None:
    """Paule and Mandel's tau squared, the mean, and its standard error (HKSJ) by statsmodels."""
    reference = combine_effects(EFFECTS, VARIANCES, method_re="iterated", use_t=True, alpha=0.1)
    one = found("inverse_variance")
    assert one.effect == pytest.approx(float(reference.mean_effect_re), rel=1e-6)
    assert one.se == pytest.approx(float(reference.sd_eff_w_re_hksj), rel=1e-6)
    t = stats.t(5, float(reference.mean_effect_re), float(reference.sd_eff_w_re_hksj))
    interval = known(one.interval)
    assert (interval.low, interval.high) == pytest.approx(t.interval(0.9), rel=1e-6)
    assert one.p == pytest.approx(float(t.cdf(0.0)), rel=1e-5)
    assert paule_mandel(EFFECTS, VARIANCES) == pytest.approx(float(reference.tau2), rel=1e-5)


def known_heterogeneity(one: MetaAnalysisResult):
    assert one.heterogeneity is not None
    return one.heterogeneity


@pytest.mark.parametrize("weights", ["equal", "inverse_variance"])
def test_how_far_tasks_differ_is_told_without_weights(weights: Weights) -> None:
    """The variance of the effects, less the mean of theirs; whatever weights the mean has."""
    spread, between = known_heterogeneity(found(weights)), statistics.variance(EFFECTS.tolist())
    within = statistics.fmean(VARIANCES.tolist())
    assert spread.tau**2 == pytest.approx(between - within, rel=1e-12)
    assert spread.i_squared == pytest.approx(1 - within / between, rel=1e-12)


@pytest.mark.parametrize("sd", [(1.0,) * 5, (0.5, 1.0, 1.5, 2.0, 3.0)])
def test_that_tasks_are_alike_is_brown_and_forsythes_test(sd: tuple[float, ...]) -> None:
    """Of means of groups of one size it is that of statsmodels, with Mehrotra's df."""
    groups = [
        scale * row
        for scale, row in zip(sd, np.random.default_rng(2).normal(size=(5, 4)), strict=True)
    ]
    reference = anova_oneway(groups, use_var="bf")
    means = np.array([group.mean() for group in groups])
    variances = np.array([group.var(ddof=1) / 4 for group in groups])
    spread = heterogeneity(means, variances, np.full(5, 3.0))
    assert spread.p == pytest.approx(float(reference.pvalue), rel=1e-9)


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("sd", [(1.0,) * 5, (1.0, 1.0, 1.0, 1.0, 3.0), (0.5, 1.0, 1.5, 2.0, 3.0)])
def test_tasks_that_are_alike_are_seldom_called_different(n: int, sd: tuple[float, ...]) -> None:
    """In at most 5 %, and what sampling adds, with few runs too; tau squared is unbiased before 0.

    Cochran's Q by chi-squared errs far more often: with three runs in 18 to 20 % of cases.
    """
    draws, rng = 4000, np.random.default_rng([n, len(set(sd))])
    arms = rng.standard_normal((2, draws, 5, n)) * np.array(sd)[:, None]
    effects = arms[0].mean(-1) - arms[1].mean(-1)
    parts = arms.var(-1, ddof=1) / n
    variances, df = parts.sum(0), parts.sum(0) ** 2 / (parts**2 / (n - 1)).sum(0)
    spreads = [heterogeneity(*rows) for rows in zip(effects, variances, df, strict=True)]
    called = np.mean([each.p <= 0.05 for each in spreads])
    assert called <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / draws)
    excess = effects.var(-1, ddof=1) - variances.mean(-1)
    assert abs(excess.mean()) <= 4 * excess.std() / math.sqrt(draws)
    if n == 3:
        q = [cochran_q(*rows) for rows in zip(effects, variances, strict=True)]
        assert np.mean(stats.chi2.sf(q, 4) <= 0.05) > 0.15


def test_round_off_is_no_scatter_between_tasks() -> None:
    """A is better by 0.1 in each of three tasks, whose values are in the millions."""
    for size in (1.0, 1e6):
        b = [[size], [2 * size], [3 * size]]
        a = [[value + 0.1 for value in row] for row in b]
        with pytest.raises(ClaimError, match="all tasks have the same effect"):
            meta_analysis(sample(a), sample(b), region=(0.0, None))


@pytest.mark.parametrize("value", [0.1, 0.5, 0.3])
def test_runs_that_agree_have_no_variance_whatever_their_value(value: float) -> None:
    """Three times 0.1 has a variance of 1e-34 in floating point."""
    a = [[value] * 3, [1.0, 1.1, 1.2], [2.0, 2.2, 2.1]]
    b = [[value + 1] * 3, [1.4, 1.1, 1.3], [2.6, 2.2, 2.5]]
    assert meta_analysis(sample(a), sample(b), region=(0.0, None)).heterogeneity is None
    with pytest.raises(ClaimError, match="a task whose runs do not vary"):
        meta_analysis(sample(a), sample(b), region=(0.0, None), weights="inverse_variance")


def test_tau_squared_gives_q_its_expected_value() -> None:
    """Cochran's Q with it has as many degrees of freedom as tasks less one; without any, 0."""
    tau_squared = paule_mandel(EFFECTS, VARIANCES)
    assert tau_squared > 0
    assert cochran_q(EFFECTS, VARIANCES, tau_squared) == pytest.approx(5, rel=1e-9)
    assert paule_mandel(np.array([1.0, 1.1, 0.9]), np.array([1.0, 1.0, 1.0])) == 0.0


def test_of_equal_variances_tau_squared_has_a_closed_form() -> None:
    """The variance of the effects less that within."""
    effects = np.array([0.0, 2.0, 5.0, 1.0])
    expected = statistics.variance(effects.tolist()) - 0.5
    assert paule_mandel(effects, np.full(4, 0.5)) == pytest.approx(expected, rel=1e-10)


def test_equal_weights_are_students_test_of_the_effects() -> None:
    """Scipy's t-test of one sample, one value a task, one-sided."""
    reference = stats.ttest_1samp(EFFECTS, 0.0, alternative="greater")
    one = found()
    assert one.effect == pytest.approx(float(EFFECTS.mean()))
    assert one.p == pytest.approx(float(reference.pvalue), rel=1e-9)
    assert one.p_opposite == pytest.approx(1 - float(reference.pvalue), rel=1e-9)
    interval = known(one.interval)
    two_sided = stats.ttest_1samp(EFFECTS, 0.0).confidence_interval(0.9)
    assert (interval.low, interval.high) == pytest.approx((two_sided.low, two_sided.high))
    assert one.parts == pytest.approx({f"t{i}": each for i, each in enumerate(EFFECTS)})


def test_the_prediction_of_equal_weights_is_that_of_one_more_normal_value() -> None:
    """Mean and t with the standard deviation times the root of 1 + 1/k; covers as it says."""
    one = found()
    reach = float(stats.t.ppf(0.95, 5)) * float(EFFECTS.std(ddof=1)) * math.sqrt(1 + 1 / 6)
    low, high = one.effect - reach, one.effect + reach
    assert (one.prediction.low, one.prediction.high) == pytest.approx((low, high))
    rng, hits, draws = np.random.default_rng(5), 0, 2000
    for _ in range(draws):
        values = rng.standard_normal((7, 3)) + rng.standard_normal((7, 1))
        base = rng.standard_normal((7, 3))
        drawn = meta_analysis(sample(values[:6]), sample(base[:6]), region=(0.0, None))
        hits += float(values[6].mean() - base[6].mean()) in drawn.prediction
    assert hits / draws == pytest.approx(0.9, abs=4 * math.sqrt(0.09 / draws))


def test_the_prediction_of_inverse_variances_is_higginss() -> None:
    """Tau squared and the squared error, t with two degrees of freedom fewer than tasks."""
    one = found("inverse_variance", alpha=0.025)
    tau = math.sqrt(paule_mandel(EFFECTS, VARIANCES))
    reach = float(stats.t.ppf(0.975, 4)) * math.hypot(tau, known(one.se))
    assert one.prediction.high - one.effect == pytest.approx(reach)
    assert one.prediction.level == pytest.approx(0.95)


def test_one_run_a_task_is_enough_for_equal_weights() -> None:
    """Nothing is then known of heterogeneity, and inverse variances do not exist."""
    a, b = sample(A[:, :1]), sample(B[:, :1])
    one = meta_analysis(a, b, region=(0.0, None))
    assert one.heterogeneity is None
    assert one.p == pytest.approx(
        float(stats.ttest_1samp(A[:, 0] - B[:, 0], 0.0, alternative="greater").pvalue)
    )
    with pytest.raises(TooFewError, match="a single run of tasks 't0'"):
        meta_analysis(a, b, region=(0.0, None), weights="inverse_variance")


def test_what_cannot_be_tested_is_refused() -> None:
    same = np.tile(np.arange(4.0)[:, None], (1, 3))
    with pytest.raises(ClaimError, match="all tasks have the same effect"):
        meta_analysis(sample(same + 1), sample(same), region=(0.0, None))
    with pytest.raises(ClaimError, match="a task whose runs do not vary"):
        meta_analysis(
            sample(same + SHIFTS[:4, None]), sample(same), region=(0.0, None),
            weights="inverse_variance",
        )  # fmt: skip


def test_a_fixed_weight_is_a_weighted_mean() -> None:
    """Two thirds and one third: by hand."""
    contrast = hartung_knapp(np.array([1.0, 4.0]), np.array([2.0, 1.0]))
    assert contrast.effect == pytest.approx(2.0)
    assert contrast.se == pytest.approx(math.sqrt((2 * 1 + 1 * 4) / 1 / 3))
    assert contrast.df == 1
