from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from repro.errors import ClaimError
from repro.stats.contrast import Contrast
from repro.stats.replication import both_positive, sceptical, z_value

SEED = 20200229
P01, P02 = stats.norm.isf(0.005), stats.norm.isf(0.01)  # two-sided p-values of .01 and .02


@pytest.mark.parametrize(
    ("z_original", "z_ours", "ratio", "field", "printed"),
    [
        (P01, P02, 2.0, "nominal", 0.05790852),
        (P01, P02, 2.0, "golden", 0.02273138),
        (P02, P01, 0.5, "golden", 0.008786301),
        (P01, P01, 2.0, "golden", 0.03496702 / 2),  # printed for two sides
        (2.0, 3.0, 2.0, "z", 1.531634),
        (3.0, 2.0, 2.0, "z", 1.531634),
    ],
)
def test_the_printed_examples(z_original, z_ours, ratio, field, printed):
    """
    The examples printed in the manual of ReplicationSuccess 1.3.1 (Held et al.) are met.
    """
    found = getattr(sceptical(z_original, z_ours, ratio), field)
    assert found == pytest.approx(printed, rel=1e-6)


@pytest.mark.parametrize(("field", "printed"), [("golden", 0.06167928), ("controlled", 0.06530978)])
def test_the_printed_levels(field, printed):
    """
    A nominal value at the printed level is .025 when recalibrated (levels for .025 and c = 1).
    """
    z = stats.norm.isf(printed) * math.sqrt(2)
    found = sceptical(z, z, 1.0)
    assert found.nominal == pytest.approx(printed, rel=1e-6)
    assert getattr(found, field) == pytest.approx(0.025, abs=1e-6)


def test_equal_studies_need_a_p_of_0056():
    """
    Two equal results succeed at a nominal .025 from a two-sided p of .0056 on (Held 2020).
    """
    z = stats.norm.isf(0.0056 / 2)
    assert sceptical(z, z, 1.0).nominal == pytest.approx(0.025, abs=2e-4)


@pytest.mark.parametrize("ratio", [0.05, 0.7, 1.0, 1.0000001, 4.0, 30.0])
@pytest.mark.parametrize(("z_original", "z_ours"), [(2.1, 3.3), (-8.0, -1.2)])
def test_the_z_solves_its_equation(z_original, z_ours, ratio):
    """
    The sceptical z is the root of its defining equation below both z-values.
    """
    z = sceptical(z_original, z_ours, ratio).z
    assert 0 < z < min(abs(z_original), abs(z_ours))
    assert (z_original**2 / z**2 - 1) * (z_ours**2 / z**2 - 1) == pytest.approx(ratio, rel=1e-6)


@pytest.mark.parametrize("ratio", [0.3, 1.0, 2.0, 10.0])
def test_the_chance_of_both_agrees_with_brute_force(ratio):
    """
    The chance under no effect is scipy's double integral of the normal density over z >= 1.
    """

    def ours_needed(original: float) -> float:
        return math.sqrt(1 + ratio / (original**2 - 1))

    expected, _ = integrate.dblquad(
        lambda y, x: math.exp(-(x**2 + y**2) / 2) / (2 * math.pi), 1 + 1e-9, 9, ours_needed, 40
    )
    assert both_positive(1.0, ratio) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("z", [1e-3, 0.5, 2.0, 8.0, 15.0])
def test_the_integral_meets_the_closed_form(z):
    """
    Next to a ratio of 1 the integral gives the closed form ``(1 - Phi(2 z)) / 2``, far out too.
    """
    assert both_positive(z, 1 + 1e-12) == pytest.approx(stats.norm.sf(2 * z) / 2, rel=1e-8)
    assert both_positive(z, 1.0) == pytest.approx(stats.norm.sf(2 * z) / 2, rel=1e-12)


@pytest.mark.parametrize("ratio", [0.4, 1.0, 3.0])
def test_controlled_errs_as_rarely_as_two_tests(ratio):
    """
    Without effects, both positive and controlled p at most .1 has the chance .1 squared.
    """
    draws = 1_000_000
    z_original, z_ours = np.random.default_rng(SEED).standard_normal((2, draws))
    positive = (z_original > 0) & (z_ours > 0)
    harmonic = 2 / (z_original**-2 + z_ours**-2)
    arithmetic = (z_original**2 + z_ours**2) / 2
    squared = harmonic / (1 + np.sqrt(1 + (ratio - 1) * harmonic / arithmetic))
    low, high = 0.0, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if both_positive(middle, ratio) > 0.01 else (low, middle)
    rate = np.mean(positive & (squared >= high**2))
    assert sceptical(high * math.sqrt(2), high * math.sqrt(2), 1.0).z == pytest.approx(high)
    assert rate == pytest.approx(0.01, abs=4 * math.sqrt(0.01 * 0.99 / draws))


def test_opposite_signs_never_succeed():
    """
    Effects of opposite signs give the complement of every p; no effect at all gives one half.
    """
    same, opposite = sceptical(2.0, 2.5, 1.5), sceptical(2.0, -2.5, 1.5)
    for field in ("nominal", "golden", "controlled"):
        assert getattr(opposite, field) == pytest.approx(1 - getattr(same, field))
    none = sceptical(0.0, 3.0, 2.0)
    assert (none.z, none.nominal, none.golden, none.controlled) == (0.0, 0.5, 0.5, 0.5)


def test_z_is_the_quantile_of_p_and_no_ratio():
    """
    MoS on PTB: Student's t is 25, and z only 7.9 (statistics.md 1.9).
    """
    contrast = Contrast(-2.20, math.hypot(0.26, 0.10) / math.sqrt(10), 18)
    assert contrast.statistic() == pytest.approx(-25, abs=0.05)
    assert z_value(contrast) == pytest.approx(-7.9, abs=0.05)
    assert z_value(contrast) == pytest.approx(stats.norm.ppf(stats.t.cdf(contrast.statistic(), 18)))
    assert z_value(Contrast(3.0, 1.0, 1e9)) == pytest.approx(3.0, rel=1e-6)
    assert z_value(Contrast(1e4, 1.0, 1e9)) > 37


@pytest.mark.parametrize("bad", [(math.inf, 1, 1), (1, math.nan, 1), (1, 1, 0), (1, 1, math.inf)])
def test_impossible_numbers_are_refused(bad):
    """
    Infinite z-values and ratios of variances that are not above 0 are refused.
    """
    with pytest.raises(ClaimError, match=r"finite|above 0"):
        sceptical(*bad)


@pytest.mark.parametrize("z", [0.01, 0.5, 2.0, 5.0])
@pytest.mark.parametrize(
    ("ratio", "rel"), [(1e-60, 1e-12), (1e-32, 1e-12), (1e-16, 1e-12), (1e-12, 1e-9)]
)
def test_an_original_far_more_precise_than_ours_or_far_less(z, ratio, rel):
    """
    Ratios of variances near 0 have the limit of two z-values above z, whatever their scale.
    """
    assert both_positive(z, ratio) == pytest.approx(float(stats.norm.sf(z)) ** 2, rel=rel)


@pytest.mark.parametrize("ratio", [1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("z", [0.5, 2.0, 5.0])
def test_small_ratios_agree_with_another_integral(z, ratio):
    """
    The chance is that over the survival function of the original (a bounded interval, scipy).
    """

    def ours(survival):
        beyond = (stats.norm.isf(survival) / z) ** 2 - 1
        return stats.norm.sf(z * math.sqrt(1 + ratio / beyond)) if beyond > 0 else 0.0

    top = float(stats.norm.sf(z))
    reference = integrate.quad(ours, 0, top, epsabs=0, epsrel=1e-8, limit=200)[0]
    assert both_positive(z, ratio) == pytest.approx(reference, rel=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("exponent", [-60, -12, 0, 24, 60])
@pytest.mark.parametrize("z_original", [-37.5, 1e-9, 2.0, 37.5])
@pytest.mark.parametrize("z_ours", [-37.5, 1e-200])
def test_no_ratio_of_variances_is_too_extreme(z_original, z_ours, exponent):
    """
    Every z-value and every ratio that the evidence can have gives four finite numbers.
    """
    found = sceptical(z_original, z_ours, 10.0**exponent)
    assert math.isfinite(found.z)
    assert all(0 <= p <= 1 for p in (found.nominal, found.golden, found.controlled))
