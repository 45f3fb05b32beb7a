"""The e-value's formulas against quadrature, root finding and scipy's noncentral t."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from repro.errors import ClaimError
from repro.stats.anytime import confidence_sequence, e_value, one_sided_e_value, threshold
from repro.stats.contrast import student_contrast
from repro.stats.records import Sample

SEED = 1908


def arms(effect: float, n: int = 20, seed: int = SEED) -> tuple[Sample, Sample]:
    """Two normal samples whose means differ by ``effect`` standard deviations."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(effect, 1, n), rng.normal(0, 1, n)
    return Sample.of(*map(float, a)), Sample.of(*map(float, b))


@pytest.mark.parametrize(
    ("t", "n_a", "n_b", "g"),
    [(2.1, 5, 5, 1.0), (-3.0, 4, 9, 0.25), (1.0, 10, 10, 4.0), (0.0, 3, 3, 1.0), (6.0, 4, 4, 1.0)],
)
def test_e_is_the_ratio_of_two_likelihoods(t, n_a, n_b, g):
    """
    e is scipy's noncentral t density, averaged over the prior by quadrature, over the central
    one; the one-sided e is the same with the positive half of the prior.
    """
    nu, root = n_a + n_b - 2, math.sqrt(n_a * n_b / (n_a + n_b))
    null = stats.t.pdf(t, nu)

    def density(delta: float) -> float:
        likelihood = float(stats.nct.pdf(t, nu, delta * root))
        return likelihood * float(stats.norm.pdf(delta, 0, math.sqrt(g)))

    halves = [
        integrate.quad(density, low, high, limit=200)[0]
        for low, high in ((-8 * math.sqrt(g), 0.0), (0.0, 8 * math.sqrt(g)))
    ]
    assert float(e_value(t, n_a, n_b, g)) == pytest.approx(sum(halves) / null, rel=1e-6)
    one_sided = float(one_sided_e_value(t, n_a, n_b, g))
    assert one_sided == pytest.approx(2 * halves[1] / null, rel=1e-6)


@pytest.mark.parametrize("n", [3, 5, 10])
def test_the_expectation_of_e_is_one(n):
    """
    Under no difference e and the one-sided e average 1, by quadrature over Student's density.
    """
    for e in (e_value, one_sided_e_value):
        mean, _ = integrate.quad(
            lambda t, e=e: float(e(t, n, n)) * float(stats.t.pdf(t, 2 * n - 2)), -np.inf, np.inf
        )
        assert mean == pytest.approx(1, abs=1e-6)


@given(st.floats(0, 0.05), st.integers(3, 30))
def test_the_one_sided_e_is_valid_below_its_border(shift, n):
    """
    The one-sided e grows with t, so that a difference below the border can only lower it, and it
    is never more than twice the two-sided one.
    """
    t = np.linspace(-6, 6, 121) + shift
    values = one_sided_e_value(t, n, n)
    assert np.all(np.diff(values) > 0)
    assert np.all(values <= 2 * e_value(t, n, n) * (1 + 1e-12))


@given(st.integers(2, 200), st.integers(2, 200), st.floats(0.01, 0.49), st.floats(0.1, 10))
def test_the_threshold_is_where_e_reaches_one_over_alpha(n_a, n_b, alpha, g):
    """
    The closed form of the threshold is the root of e = 1/alpha; where it is infinite no t gives
    as much.
    """
    border = float(threshold(n_a, n_b, alpha=alpha, g=g))
    if math.isinf(border):
        assert float(e_value(1e12, n_a, n_b, g)) <= 1 / alpha * (1 + 1e-9)
        return
    assert float(e_value(border, n_a, n_b, g)) == pytest.approx(1 / alpha, rel=1e-6)
    assert float(e_value(0.999 * border, n_a, n_b, g)) < 1 / alpha


def test_the_confidence_sequence_is_the_inversion_of_e():
    """
    Its ends are the differences, found by scipy's root finder, at which e is 1/alpha.
    """
    contrast = student_contrast(*arms(0.7))
    interval = confidence_sequence(contrast, 20, 20, alpha=0.05)

    def excess(border: float) -> float:
        return float(e_value(contrast.statistic(border), 20, 20)) - 20

    low = optimize.brentq(excess, contrast.effect - 10, contrast.effect)
    high = optimize.brentq(excess, contrast.effect, contrast.effect + 10)
    assert (interval.low, interval.high) == pytest.approx((low, high), rel=1e-9)


@pytest.mark.parametrize(("n", "g"), [(1, 1.0), (5, 0.0), (5, -1.0), (5, math.inf), (5, math.nan)])
def test_bad_sizes_and_priors_are_refused(n, g):
    """
    A single value an arm, and a prior without a positive finite variance, are refused.
    """
    for call in (e_value, one_sided_e_value):
        with pytest.raises(ClaimError, match=r"at least two values|variance g"):
            call(1.0, n, n, g)


def test_with_a_known_standard_deviation_it_is_the_mixture_of_normals():
    """For a mean of ``n`` values: the half normal prior with variance g, in closed form."""
    z, n = np.array([-1.0, 0.5, 2.0, 4.8]), 10
    a = 1 + n
    expected = (
        2 / np.sqrt(a) * np.exp(z**2 / 2 * (1 - 1 / a)) * stats.norm.cdf(z * np.sqrt(1 - 1 / a))
    )
    assert one_sided_e_value(z, n, None, df=1e9) == pytest.approx(expected, rel=1e-6)
