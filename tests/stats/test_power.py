from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from statsmodels.stats.power import TTestIndPower

from repro.errors import ClaimError
from repro.stats.power import (
    Array,
    PowerDesign,
    detectable,
    power_above,
    power_difference,
    power_equivalence,
    power_ratio,
    seeds_needed,
    seeds_to_settle,
)
from repro.stats.ranks import separation
from repro.stats.records import Sample, Summary, known
from repro.stats.t_tests import non_superiority, ratio_of_geometric_means, student, tost, welch

SEEDS = PowerDesign(0.15, 0.15, 10, 10)


@pytest.mark.parametrize(
    ("n", "margin", "power"),
    [
        (10, 0.10, 0.03),
        (10, 0.15, 0.39),
        (10, 0.20, 0.78),
        (10, 0.30, 0.99),
        (20, 0.10, 0.33),
        (20, 0.15, 0.86),
        (20, 0.20, 0.99),
        (20, 0.30, 1.00),
        (30, 0.10, 0.63),
        (30, 0.15, 0.97),
    ],
)
def test_equivalence_of_seeds(n, margin, power):
    """
    With sd .15 and no true difference, equivalence has the power of the table in statistics.md 1.2.
    """
    found = power_equivalence(SEEDS.balanced(n), 0.0, low=-margin, high=margin)
    assert found == pytest.approx(power, abs=0.0075)


@pytest.mark.parametrize(("n", "power"), [(3, 0.70), (5, 0.78), (10, 0.80)])
def test_the_pooled_formula_promises_too_much(n, power):
    """
    Where the pooled formula promises .80, Welch's test has .70, .78 and .80 at n = 3, 5, 10.
    """
    effect = TTestIndPower().solve_power(nobs1=n, alpha=0.05, power=0.8)
    assert round(power_difference(PowerDesign(1, 1, n, n), effect), 2) == power


@pytest.mark.parametrize("n", [2, 3, 5, 10, 40])
@pytest.mark.parametrize("effect", [0.0, 0.5, 2.0])
def test_one_varying_arm_has_the_noncentral_t_power(n, effect):
    """
    Where only one arm varies, the power is scipy's noncentral t with n - 1 degrees of freedom.
    """
    critical = stats.t.isf(0.05, n - 1)
    expected = stats.nct.sf(critical, n - 1, effect * math.sqrt(n)) if effect else 0.05
    for design in (PowerDesign(1, 0, n, 7), PowerDesign(0, 1, 7, n)):
        assert power_above(design, effect, 0.0) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("sd_a", "sd_b", "n_a", "n_b"), [(1, 1, 3, 3), (3, 1, 5, 3), (1, 2, 2, 9)])
@pytest.mark.parametrize("effect", [0.0, 1.5])
def test_brute_force_integration_agrees(sd_a, sd_b, n_a, n_b, effect):
    """
    The quadrature agrees with an adaptive integral over the two variance estimates.
    """

    def chance(u: Array, v: Array) -> Array:
        part_a = sd_a**2 * stats.chi2.ppf(u, n_a - 1) / (n_a * (n_a - 1))
        part_b = sd_b**2 * stats.chi2.ppf(v, n_b - 1) / (n_b * (n_b - 1))
        df = (part_a + part_b) ** 2 / (part_a**2 / (n_a - 1) + part_b**2 / (n_b - 1))
        reach = stats.t.isf(0.05, df) * np.sqrt(part_a + part_b)
        return np.asarray(
            stats.norm.sf((reach - effect) / math.hypot(sd_a / n_a**0.5, sd_b / n_b**0.5))
        )

    nodes, weights = np.polynomial.legendre.leggauss(400)
    u = np.sin(np.pi * (nodes + 1) / 4) ** 2
    w = weights * np.pi / 4 * np.sin(np.pi * (nodes + 1) / 2)
    expected = float(w @ chance(u[:, None], u[None, :]) @ w)
    found = power_above(PowerDesign(sd_a, sd_b, n_a, n_b), effect, 0.0)
    assert found == pytest.approx(expected, abs=2e-6)


def test_equivalence_with_one_varying_arm_is_a_single_integral():
    """
    Where one arm varies, the power of equivalence is a single integral over its variance.
    """
    n, margin, effect = 6, 1.0, 0.2
    critical, se = stats.t.isf(0.05, n - 1), 1 / math.sqrt(n)

    def integrand(x):
        reach = critical * math.sqrt(x / (n - 1) / n)
        inside = stats.norm.cdf((margin - effect - reach) / se) - stats.norm.cdf(
            (reach - margin - effect) / se
        )
        return max(0.0, inside) * stats.chi2.pdf(x, n - 1)

    limit = (margin / critical) ** 2 * n * (n - 1)
    expected, _ = integrate.quad(integrand, 0, limit, epsabs=1e-12)
    found = power_equivalence(PowerDesign(1, 0, n, 4), effect, low=-margin, high=margin)
    assert found == pytest.approx(expected, abs=1e-8)


def test_a_ratio_is_a_difference_of_logarithms():
    """
    The power of a ratio is that of the one-sided test on logarithms.
    """
    design = PowerDesign(0.1, 0.02, 5, 5)
    found = power_ratio(design, 4.0, at_least=3.0)
    assert found == power_above(design, math.log(4), math.log(3))
    with pytest.raises(ClaimError, match="ratios lie above 0"):
        power_ratio(design, 4.0, at_least=0.0)


@given(
    st.floats(0.1, 3), st.floats(0.1, 3), st.integers(2, 30), st.integers(2, 30), st.floats(-2, 2)
)
def test_power_is_symmetric(sd_a, sd_b, n_a, n_b, effect):
    """
    Equivalence is symmetric in the arms and in the sign of the effect; a power is a probability.
    """
    one = power_equivalence(PowerDesign(sd_a, sd_b, n_a, n_b), effect, low=-1, high=1)
    other = power_equivalence(PowerDesign(sd_b, sd_a, n_b, n_a), -effect, low=-1, high=1)
    assert one == pytest.approx(other, abs=1e-9)
    assert 0 <= one <= 1


def test_seeds_needed_is_the_smallest_size():
    """
    The number of seeds reaches the target, and one seed fewer does not.
    """
    for margin in (0.1, 0.2, 0.5):

        def power(design: PowerDesign, margin: float = margin) -> float:
            return power_equivalence(design, 0.02, low=-margin, high=margin)

        n = known(seeds_needed(SEEDS, power))
        assert power(SEEDS.balanced(n)) >= 0.8 > power(SEEDS.balanced(n - 1))


def test_seeds_that_never_suffice():
    """
    At the border no number of seeds suffices; the cap itself is tried.
    """
    assert seeds_needed(SEEDS, lambda design: power_above(design, 1.0, 1.0)) is None
    assert seeds_needed(SEEDS, lambda design: float(design.n_a >= 100), cap=100) == 100
    assert seeds_needed(SEEDS, lambda design: float(design.n_a >= 101), cap=100) is None
    assert seeds_needed(SEEDS, lambda _: 1.0) == 2


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ((1, 1, 1, 5), "two replicates"),
        ((0, 0, 5, 5), "certain"),
        ((-1, 1, 5, 5), "not negative"),
        ((math.nan, 1, 5, 5), "finite"),
        ((1, 1, 5, 5, 0.6), "alpha"),
    ],
)
def test_impossible_designs_are_refused(bad, message):
    """
    Single replicates, no variation, and impossible deviations and levels are refused.
    """
    with pytest.raises(ClaimError, match=message):
        PowerDesign(*bad)


def test_impossible_questions_are_refused():
    """
    Margins the wrong way round and a target that is no probability are refused.
    """
    with pytest.raises(ClaimError, match="from low to high"):
        power_equivalence(SEEDS, 0.0, low=1, high=-1)
    with pytest.raises(ClaimError, match="power lies between"):
        seeds_needed(SEEDS, lambda _: 1.0, target=1.0)


def test_what_is_detectable():
    """
    The smallest detectable effect has the power, a smaller one less; at a border nothing has it.
    """
    found = known(detectable(lambda effect: power_difference(SEEDS, effect), SEEDS.se))
    assert power_difference(SEEDS, found) == pytest.approx(0.80, abs=1e-8)
    assert power_difference(SEEDS, found * 0.999) < 0.80
    assert detectable(lambda _: 0.5, 1.0) is None
    rough = known(detectable(lambda size: size, 0.01, 0.4, precision=0.01))
    assert 0.4 <= rough < 0.4 * 1.02
    with pytest.raises(ClaimError, match="power lies between"):
        detectable(lambda _: 0.5, 1.0, 0.0)


A, B = Summary(5, 56.39, 0.19), Summary(5, 56.45, 0.10)


def test_what_would_settle_an_equivalence():
    """
    Inside the margins, the seeds that confirm; beyond one, those that contradict.
    """
    inside = known(seeds_to_settle(tost(A, B, low=-0.15, high=0.15), A, B))
    design = PowerDesign(0.19, 0.10, inside, inside)
    power = power_equivalence(design, -0.06, low=-0.15, high=0.15)
    assert (
        power >= 0.8 > power_equivalence(design.balanced(inside - 1), -0.06, low=-0.15, high=0.15)
    )
    beyond = known(seeds_to_settle(tost(A, B, low=-0.01, high=0.15), A, B))
    assert power_above(PowerDesign(0.19, 0.10, beyond, beyond), 0.05, 0.0) >= 0.8


def test_what_would_settle_a_difference():
    """
    A two-sided difference is settled at half its level on each side, by Student's test too.
    """
    for test in (welch, student):
        n = known(seeds_to_settle(test(A, B), A, B))
        assert power_difference(PowerDesign(0.19, 0.10, n, n), 0.06) >= 0.8
        assert power_difference(PowerDesign(0.19, 0.10, n - 1, n - 1), 0.06) < 0.8
    one_sided = known(seeds_to_settle(welch(A, B, alternative="less"), A, B))
    assert one_sided < n
    assert known(seeds_to_settle(welch(A, B), A, B, border=-0.02)) > n


def test_what_would_settle_a_non_superiority_and_a_ratio():
    """
    One-sided tests are settled by their distance from the border, a ratio's in logarithms.
    """
    n = known(seeds_to_settle(non_superiority(A, B, margin=0.2, better="lower"), A, B))
    assert power_above(PowerDesign(0.19, 0.10, n, n), 0.14, 0.0) >= 0.8
    a, b = Sample.of(9.0, 11.0, 14.0), Sample.of(4.0, 5.0, 4.5)
    result = ratio_of_geometric_means(a, b, at_least=2.0)
    n = known(seeds_to_settle(result, a, b))
    design = PowerDesign(a.log().summary().spread, b.log().summary().spread, n, n)
    assert power_ratio(design, result.effect, at_least=2.0) >= 0.8
    assert power_ratio(design.balanced(n - 1), result.effect, at_least=2.0) < 0.8


def test_what_nothing_settles():
    """
    An effect exactly at the border is never settled, nor is an exact comparison.
    """
    level = Summary(5, 1.0, 0.2), Summary(5, 0.75, 0.2)
    at_margin = tost(*level, low=-0.25, high=0.25)
    assert seeds_to_settle(at_margin, *level) is None
    constant = Sample.of(2.0, 2.0), Sample.of(1.0, 1.0)
    exact = ratio_of_geometric_means(*constant, at_least=2.0)
    assert seeds_to_settle(exact, *constant) is None


def test_separation_is_not_planned():
    """
    No number of seeds is computed for a test that compares no means.
    """
    a, b = Sample.of(1.0, 2.0, 3.0), Sample.of(4.0, 5.0, 6.0)
    with pytest.raises(ClaimError, match="separation compares no means"):
        seeds_to_settle(separation(a, b, direction="lower"), a, b)
