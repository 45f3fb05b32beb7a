from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from scipy import stats

from repro.errors import ClaimError
from repro.stats.coefficients import correlate, p_beyond, p_within
from repro.stats.correlation import magnitude
from repro.stats.records import Sample, known
from tests.stats.correlated import ALL, DRAWS, ends, normal, pairs, two
from tests.stats.fig2_points import PTB, WT2, figure

SEED = 1921


@pytest.mark.parametrize("n", [5, 10, 30])
@pytest.mark.parametrize("rho", [0.1, 0.5, 0.8])
def test_a_bound_on_the_size_holds_its_level(n, rho):
    """
    At the bound itself normal data confirm neither *below* nor *above* in more than .05.
    """
    r = correlate(*normal(np.random.default_rng([SEED, n, int(10 * rho)]), n, rho), "pearson")
    limit = 0.05 + 4 * math.sqrt(0.05 * 0.95 / DRAWS)
    assert np.mean(p_within(r, n, rho, "pearson") <= 0.05) <= limit
    assert np.mean(p_beyond(r, n, rho, "pearson") <= 0.05) <= limit


def test_the_bias_is_what_holds_the_level():
    """
    Ten normal points exceed a bound of .5 in .048 of cases; with the bias left in, in .056.
    """
    r = correlate(*normal(np.random.default_rng(SEED), 10, 0.5), "pearson")
    sd = math.sqrt(0.05 * 0.95 / DRAWS)
    assert np.mean(p_beyond(r, 10, 0.5, "pearson") <= 0.05) == pytest.approx(0.048, abs=4 * sd)
    naive = (np.arctanh(r) - math.atanh(0.5)) * math.sqrt(7)
    assert np.mean(naive >= stats.norm.ppf(0.95)) == pytest.approx(0.056, abs=4 * sd)


def test_a_size_by_hand():
    """
    On WikiText-2 p follows from z = atanh(.538), its bias and its error 1 / sqrt(32).
    """
    x, y = figure(WT2)
    z, error = math.atanh(stats.pearsonr(x.values, y.values).statistic), 1 / math.sqrt(32)
    edge = math.atanh(0.3) + 0.3 / 68
    above = stats.norm.sf((z - edge) / error) + stats.norm.sf((z + edge) / error)
    result = magnitude(x, y, at_least=0.3)
    assert result.p == pytest.approx(above, rel=1e-9)
    assert result.p_opposite == pytest.approx(stats.norm.cdf((z - edge) / error), rel=1e-9)
    assert (result.low, result.high, known(result.interval).level) == (0.3, None, 0.9)
    assert magnitude(x, y, at_most=0.3).p == result.p_opposite
    assert magnitude(x, y, at_most=0.3).p_opposite == result.p


@pytest.mark.parametrize("text", [PTB, WT2])
def test_weak_is_undecided_in_figure_2(text):
    """
    Neither *below .5* nor *at least .5* is confirmed by the points of figure 2.
    """
    assert known(magnitude(*figure(text), at_most=0.5).p) > 0.05
    assert known(magnitude(*figure(text), at_least=0.5).p) > 0.05


@ALL
@settings(max_examples=25)
@given(pairs)
def test_the_smallest_confirmable_bound_is_on_the_edge(method, xy):
    """
    The end of the interval that is farther from 0, as a bound, has exactly p = alpha.
    """
    x, y = two(xy)
    assume(not x.constant and not y.constant)
    assume(abs(float(correlate(np.array(x.values), np.array(y.values), method))) < 0.99)
    wide = magnitude(x, y, method=method, at_most=0.999)
    low, high = ends(wide.interval)
    smallest = max(-low, high)
    assert magnitude(x, y, method=method, at_most=smallest).p == pytest.approx(0.05, rel=1e-6)
    assert low <= wide.effect + 0.1
    assert high >= wide.effect - 0.1


@ALL
@settings(max_examples=25)
@given(pairs)
def test_a_larger_bound_is_harder_to_exceed(method, xy):
    """
    The p-value of *at least* never falls as its bound rises.
    """
    x, y = two(xy)
    assume(not x.constant and not y.constant)
    assume(abs(float(correlate(np.array(x.values), np.array(y.values), method))) < 0.99)
    bounds = (0.01, 0.2, 0.4, 0.6, 0.8, 0.95)
    p = [known(magnitude(x, y, method=method, at_least=bound).p) for bound in bounds]
    assert p == sorted(p)


@ALL
def test_a_wider_bound_never_takes_confirmation_away(method):
    """
    The p of *at most* falls as the bound grows, that of *at least* rises.
    """
    x, y = figure(PTB)
    bounds = np.linspace(0.05, 0.95, 19)
    below = [known(magnitude(x, y, method=method, at_most=float(b)).p) for b in bounds]
    above = [known(magnitude(x, y, method=method, at_least=float(b)).p) for b in bounds]
    assert below == sorted(below, reverse=True)
    assert above == sorted(above)


@pytest.mark.parametrize(
    "bounds", [{}, {"at_most": 0.0}, {"at_most": 1.0}, {"at_least": -0.5}, {"at_most": math.nan}]
)
def test_a_size_needs_one_bound(bounds):
    """
    No bound and bounds outside 0 to 1 are refused.
    """
    with pytest.raises(ClaimError, match="one bound between 0 and 1"):
        magnitude(*figure(WT2), **bounds)
    with pytest.raises(ClaimError, match="one bound"):
        magnitude(*figure(WT2), at_most=0.5, at_least=0.1)


def test_the_size_of_a_perfect_correlation_is_not_tested():
    """
    Points on one line have an infinite z, which would confirm any bound with p = 0.
    """
    x = Sample.of(1.0, 2.0, 3.0, 4.0, 5.0)
    with pytest.raises(ClaimError, match="infinite z"):
        magnitude(x, x, at_least=0.5)
