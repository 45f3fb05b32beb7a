from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import stdtrit
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.power import TTestIndPower

from repro.errors import ClaimError
from repro.stats.contrast import Contrast, effect_ratio, welch_contrast
from repro.stats.records import Sample, Summary, known
from repro.stats.replication import (
    fixed_effect,
    predict,
    replicate,
    sceptical,
    small_telescopes,
)
from repro.stats.t_tests import student, welch

SEED = 20150301
ORIGINAL = Summary(10, 54.88, 0.26), Summary(10, 57.08, 0.10)
OURS = Sample.of(55.1, 54.8, 55.4, 55.3, 54.7), Sample.of(57.0, 57.3, 57.2, 57.1, 57.4)


def test_the_studies():
    """
    Effects, intervals and p-values are those of the tests themselves, the original's its own.
    """
    found = replicate(ORIGINAL, OURS, original_test="student")
    ours = welch(*OURS)
    assert found.ours.p == ours.p
    assert found.ours.interval == ours.interval
    assert found.original.p == student(*ORIGINAL).p
    assert found.original.interval == welch(*ORIGINAL).interval
    assert replicate(ORIGINAL, OURS).original.p == welch(*ORIGINAL).p
    assert found.prediction == predict(ORIGINAL, OURS)
    assert (found.compatible, found.same_sign, found.significant) == (True, True, True)
    assert found.covered == (found.original.effect in known(ours.interval))
    variances = (found.original.se / found.ours.se) ** 2
    assert found.sceptical == sceptical(found.original.z, found.ours.z, variances)


def test_a_failed_replication():
    """
    An effect of the opposite sign is neither compatible, nor significant, nor covering.
    """
    found = replicate(ORIGINAL, (OURS[1], OURS[0]))
    assert (found.compatible, found.same_sign, found.significant) == (False, False, False)
    assert not found.covered
    assert found.small_telescopes.p <= 0.05
    assert known(found.sceptical).golden > 0.5


def test_the_q_test_of_the_manual():
    """
    Effects 2 and 0.5 with errors 1 and 0.5 have Q's p 0.1797125 (manual of ReplicationSuccess).
    """
    n = 10**6
    sd = math.sqrt(n / 2)
    original = Summary(n, 2.0, sd), Summary(n, 0.0, sd)
    ours = Summary(n, 0.5, sd / 2), Summary(n, 0.0, sd / 2)
    found = replicate(original, ours).fixed_effect
    assert found.q_p == pytest.approx(0.1797125, abs=1e-5)


def test_the_fixed_effect_of_statsmodels():
    """
    Pooled effect, its error and Q are those of statsmodels' fixed-effect meta-analysis.
    """
    found = replicate(ORIGINAL, OURS)
    effects = [found.original.effect, found.ours.effect]
    expected = combine_effects(
        np.array(effects), np.array([found.original.se**2, found.ours.se**2])
    )
    assert found.fixed_effect.effect == pytest.approx(expected.mean_effect_fe)
    assert found.fixed_effect.se == pytest.approx(expected.sd_eff_w_fe)
    assert found.fixed_effect.q == pytest.approx(expected.q)


def test_a_shared_baseline_is_counted_once():
    """
    With one baseline on both sides A is pooled alone, and its error alone enters Q and Fieller.
    """
    ours = OURS[0], ORIGINAL[1]
    found = replicate(ORIGINAL, ours, shared_baseline=True)
    a, b = ORIGINAL[0], OURS[0].summary()
    pooled = combine_effects(
        np.array([a.mean, b.mean]), np.array([a.standard_error**2, b.standard_error**2])
    )
    se = math.hypot(pooled.sd_eff_w_fe, ORIGINAL[1].standard_error)
    assert found.fixed_effect.effect == pytest.approx(pooled.mean_effect_fe - ORIGINAL[1].mean)
    assert found.fixed_effect.se == pytest.approx(se)
    assert found.fixed_effect.q == pytest.approx(pooled.q)
    assert found.sceptical is None
    assert found.notes == ("no sceptical p-value: the studies share their baseline",)
    assert replicate(ORIGINAL, ours).notes == ()


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("shift", [-0.4, -0.05, 0.1, 0.6])
def test_the_parts_agree_with_each_other(shared, shift):
    """
    Prediction interval, Q-test and Fieller's set of ratios say the same about compatibility.
    """
    ours = Summary(5, ORIGINAL[0].mean + shift, 0.3), ORIGINAL[1]
    found = replicate(ORIGINAL, ours, shared_baseline=shared)
    ratio = found.effect_ratio
    assert found.compatible == (found.fixed_effect.q_p >= 0.05)
    assert found.compatible == (known(ratio.low) <= 1 <= known(ratio.high))


def test_fieller_is_exact_where_the_original_is():
    """
    Of an original without error the ratio's interval is ours, divided by the original's effect.
    """
    ours = Contrast(3.0, 0.5, 8)
    found = effect_ratio(Contrast(2.0, 0.0, 8), ours, df=8)
    assert known(found.low) == pytest.approx(ours.interval(0.95).low / 2)
    assert known(found.high) == pytest.approx(ours.interval(0.95).high / 2)
    assert found.ratio == 1.5


@pytest.mark.parametrize(
    ("original", "ours", "said"),
    [
        ((4.0, 1.0), (2.0, 1.0), "every ratio from"),
        ((1.0, 1.0), (4.0, 1.0), "any ratio but those between"),
        ((1.0, 1.0), (1.0, 1.0), "any ratio, because the original's effect may be 0"),
        ((0.0, 1.0), (4.0, 1.0), "any ratio but those between"),
    ],
)
def test_the_shapes_of_fieller_set(original, ours, said):
    """
    A ratio belongs to the set exactly if ours minus it times the original's may be 0.
    """
    found = effect_ratio(
        Contrast(original[0], original[1], 20), Contrast(ours[0], ours[1], 20), df=20
    )
    assert found.said.startswith(said)
    assert (found.low is None) == (found.high is None) == (not said.startswith("every"))
    assert (found.ratio is None) == (original[0] == 0)
    t = stats.t.ppf(0.975, 20)
    grid = np.linspace(-50, 50, 100_001)
    inside = np.abs(ours[0] - grid * original[0]) <= t * np.hypot(ours[1], grid * original[1])
    changes = grid[1:][np.diff(inside)]
    printed = [float(word) for word in found.said.replace(",", "").split() if _number(word)]
    ends = [] if said.startswith("any ratio, because") else printed
    assert changes == pytest.approx(ends[:2], rel=6e-3, abs=2e-3)
    assert bool(inside[0]) == (not said.startswith("every"))


def _number(word: str) -> bool:
    return word.lstrip("-").replace(".", "").isdigit() and word != "0"


@pytest.mark.parametrize("sign", [1, -1])
def test_a_half_line_of_ratios(sign):
    """
    Where the original's effect is exactly t errors from 0, the ratios form a half-line.
    """
    edge = Contrast(-float(stdtrit(4, (1 - 0.95) / 2)), 1.0, 4)
    ours = Contrast(sign * 5 * edge.effect, 1.0, 4)
    found = effect_ratio(edge, ours, df=4)
    end = sign * 24 / 10  # (25 - 1) t² / (2 * 5 t²)
    assert (found.low, found.high) == (None, None)
    assert found.said.startswith(f"every ratio {'above' if sign > 0 else 'below'} {end:.3g}")
    everything = effect_ratio(Contrast(0.0, 0.0, 4), edge, df=4)
    assert everything.ratio is None
    assert everything.said.startswith("any ratio, because")


@pytest.mark.parametrize("n", [3, 10, 20])
def test_d33_has_a_third_of_the_power(n):
    """
    Student's d33 is the effect for which statsmodels gives a power of 1/3; .5 sd at n = 20.
    """
    original = Summary(n, 1.0, 2.0), Summary(n, 0.0, 2.0)
    found = small_telescopes(original, Contrast(0.0, 1.0, 9), original_test="student")
    power = TTestIndPower().power(found.d33 / 2, n, 0.025, alternative="larger")
    assert power == pytest.approx(1 / 3, abs=1e-6)
    if n == 20:
        assert found.d33 / 2 == pytest.approx(0.5, abs=0.005)  # Simonsohn 2015
    if n == 10:
        assert found.d33 / 2 == pytest.approx(0.72, abs=0.005)  # statistics.md 1.2


def test_small_telescopes_by_simulation():
    """
    Welch's d33 is found by a third of simulated originals; ours errs at alpha when d33 is true.
    """
    original = Summary(5, 1.0, 2.0), Summary(7, 0.0, 1.0)
    d33 = small_telescopes(original, Contrast(0.0, 1.0, 9)).d33
    generator, draws = np.random.default_rng(SEED), 100_000
    a = generator.normal(d33, 2.0, (draws, 5))
    b = generator.normal(0.0, 1.0, (draws, 7))
    test = stats.ttest_ind(a, b, axis=1, equal_var=False)
    rate = np.mean((test.pvalue <= 0.05) & (test.statistic > 0))
    assert rate == pytest.approx(1 / 3, abs=4 * math.sqrt(2 / 9 / draws))
    ours = Contrast(d33 - 1.0, 0.5, 12)
    assert small_telescopes(original, ours).p == pytest.approx(stats.t.cdf(-2.0, 12))


def test_small_telescopes_look_the_way_of_the_original():
    """
    Of a negative original d33 is negative, and swapping all arms changes no p.
    """
    found = replicate(ORIGINAL, OURS).small_telescopes
    swapped = replicate(ORIGINAL[::-1], OURS[::-1]).small_telescopes
    assert found.d33 == -swapped.d33 < 0
    assert found.p == swapped.p
    none = Summary(20, 57.2, 0.15), Summary(20, 57.2, 0.15)
    assert replicate(ORIGINAL, none).small_telescopes.p <= 0.05 < found.p


def test_two_and_a_half_times_the_sample():
    """
    2.5 times the original's size refutes a false effect with about 80 % (Simonsohn 2015).
    """
    original = Summary(40, 1.0, 1.0), Summary(40, 0.0, 1.0)
    d33 = small_telescopes(original, Contrast(0.0, 1.0, 9), original_test="student").d33
    power = TTestIndPower().power(d33, 100, 0.05, alternative="larger")
    assert 0.77 < power < 0.82


def test_a_ratio_is_compared_on_logarithms():
    """
    Scaling both arms of a study leaves everything as it is; the prediction is that of ratios.
    """
    original = Summary(11, 9981.0, 20.0), Summary(11, 402.0, 1.0)
    ours = Sample.of(9900.0, 9950.0, 9990.0), Sample.of(402.0, 401.0, 403.0)
    found = replicate(original, ours, ratio=True)
    assert found.scale == "log ratio"
    assert found.prediction == predict(original, ours, ratio=True)
    assert found.ours.effect == pytest.approx(welch_contrast(ours[0].log(), ours[1].log()).effect)
    assert found.compatible
    tenfold = tuple(Sample.of(*(10 * value for value in arm.values)) for arm in ours)
    scaled = replicate(original, (tenfold[0], tenfold[1]), ratio=True)
    assert scaled.ours.effect == pytest.approx(found.ours.effect)
    assert scaled.fixed_effect.q == pytest.approx(found.fixed_effect.q, rel=1e-6)


def test_what_cannot_be_compared():
    """
    Unknown spreads, pairs of constant arms, unknown tests and ratios of 0 are refused.
    """
    constant = Sample.of(1.0, 1.0), Sample.of(2.0, 2.0)
    with pytest.raises(ClaimError, match="standard deviation of each arm"):
        replicate((Summary(10, 54.0, None), ORIGINAL[1]), OURS)
    with pytest.raises(ClaimError, match="variance 0"):
        replicate(ORIGINAL, constant)
    with pytest.raises(ClaimError, match="welch or student, not 'z'"):
        small_telescopes(ORIGINAL, Contrast(0.0, 1.0, 9), original_test="z")  # type: ignore[arg-type]
    with pytest.raises(ClaimError, match="means above 0"):
        replicate((Summary(10, 0.0, 1.0), ORIGINAL[1]), OURS, ratio=True)
    with pytest.raises(ClaimError, match="alpha"):
        replicate(ORIGINAL, OURS, alpha=0.7)


def test_coverage_of_the_pooled_interval_and_the_ratio():
    """
    With five seeds an arm, pooled interval and Fieller's set cover .95, the textbook's .90.
    """
    generator, draws = np.random.default_rng(SEED), 4000
    covered = inside = textbook = 0
    for _ in range(draws):
        values = generator.normal([3.0, 0.0, 3.0, 0.0], 1.0, (5, 4))
        arms = [Summary(5, float(x.mean()), float(x.std(ddof=1))) for x in values.T]
        original, ours = (arms[0], arms[1]), (arms[2], arms[3])
        first, second = welch_contrast(*original), welch_contrast(*ours)
        df = predict(original, ours).df
        ratio = effect_ratio(first, second, df=df)
        covered += ratio.low is None or known(ratio.low) <= 1 <= known(ratio.high)
        pooled = fixed_effect(original, ours, 0.95, df)
        inside += 3.0 in pooled.interval
        textbook += abs(pooled.effect - 3.0) <= 1.96 * pooled.se
    assert covered / draws == pytest.approx(0.95, abs=0.015)
    assert inside / draws == pytest.approx(0.95, abs=0.015)
    assert textbook / draws == pytest.approx(0.90, abs=0.015)
