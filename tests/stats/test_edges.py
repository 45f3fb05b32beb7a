"""Edges of the tests that other tests pass by: round-off, ties, exact sizes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from repro.errors import ClaimError
from repro.stats.coefficients import correlate
from repro.stats.contrast import RelativeDifference
from repro.stats.correlation import association, magnitude
from repro.stats.multiplicity import holm
from repro.stats.records import Sample, p_values
from repro.stats.t_tests import paired


def test_round_off_is_no_variation_of_pairs():
    """
    Pairs a million in size that differ by .1 but for round-off are refused, as if they did.
    """
    base = (1e6, 2e6, 3e6, 4e6)
    with pytest.raises(ClaimError, match="all pairs differ by the same amount"):
        paired(Sample.of(*(x + 0.1 for x in base)), Sample.of(*base))


@pytest.mark.parametrize(
    ("method", "error"),
    [
        ("pearson", lambda n, rho: 1 / math.sqrt(n - 3)),
        ("spearman", lambda n, rho: math.sqrt((1 + rho**2 / 2) / (n - 3))),
        ("kendall", lambda n, rho: math.sqrt(0.437 / (n - 4))),
    ],
)
def test_a_size_above_a_bound_may_have_either_sign(method, error):
    """
    p of *at least* is the chance at the bound of a z as large with either sign, each method
    with its own standard error (Fisher 1921; Bonett & Wright 2000; Fieller et al. 1957).
    """
    x = Sample.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
    y = Sample.of(2, 1, 4, 3, 7, 5, 9, 6, 8, 12, 10, 11)
    found, n, bound = magnitude(x, y, method=method, at_least=0.25), 12, 0.25
    z, edge = math.atanh(found.effect), math.atanh(bound) + bound / (2 * (n - 1))
    se = error(n, bound)
    assert found.p == pytest.approx(norm.sf((z - edge) / se) + norm.sf((z + edge) / se), rel=1e-9)


def test_five_clusters_are_enough():
    """
    An association of points in five clusters is judged; how p was found is said.
    """
    x = Sample.of(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
    y = Sample.of(1.5, 2.5, 2.0, 4.5, 5.5, 5.0, 7.5, 9.0, 8.5, 10.5)
    found = association(x, y, clusters=[i // 2 for i in range(10)])
    assert found.clusters == 5
    assert found.p_method == "cluster permutation, exact"


@pytest.mark.parametrize(("count", "p"), [(5, 1 / 120), (7, 1 / 5040), (11, 1 / 10_000)])
def test_the_smallest_p_of_whole_clusters(count, p):
    """
    Where no other order is as extreme, p is 1 / k!, or of drawn ones 1 / (m + 1).
    """
    values = [float(cluster**3) + point / 9 for cluster in range(count) for point in range(3)]
    x, clusters = Sample.of(*values), [i // 3 for i in range(len(values))]
    assert association(x, x, clusters=clusters).p == pytest.approx(p, rel=1e-12)


def test_how_kendalls_p_was_found():
    """
    Without ties scipy's p is exact up to 33 points; with a tie among twelve it is normal.
    """
    y = [3.0, 1.0, 4.0, 2.0, 6.0, 5.0, 8.0, 7.0, 10.0, 9.0, 12.0, 11.0]
    x = Sample.of(*map(float, range(12)))
    assert association(x, Sample.of(*y), method="kendall").p_method == "exact"
    tied = Sample.of(*y[:-1], 12.0)
    assert association(x, tied, method="kendall").p_method == "normal"


def test_zeros_correlate_with_nothing():
    """
    A variable that is 0 throughout has coefficient 0, not a division by 0.
    """
    assert float(correlate(np.zeros(5), np.arange(5.0), "pearson")) == 0.0


def test_a_strong_correlation_is_never_beyond_one():
    """
    Round-off takes no coefficient beyond 1 or -1.
    """
    rng = np.random.default_rng(1895)
    x = rng.normal(size=(2000, 7))
    for sign in (1, -1):
        found = correlate(x, sign * x * 3.3 + 0.1, "pearson")
        assert float(np.abs(found).max()) <= 1


def test_a_constant_arm_has_its_first_value_as_its_mean():
    """
    Replicates that agree but for round-off have the first one's value, and no spread.
    """
    found = Sample.of(0.3, 0.1 + 0.2, 0.3).summary()
    assert (found.mean, found.sd) == (0.3, 0.0)


def test_a_relative_interval_reaches_over_a_gap():
    """
    Two replicates of A: near the border where A alone decides, degrees of freedom fall, and
    borders far beyond some that are rejected are not. The interval holds them all.
    """
    found = RelativeDifference(4.175, 0.6466, 2, 1.0, 0.2798, 23)
    low = found.interval(0.9).low
    assert found.beyond(0.5).p_greater() < 0.05
    assert found.beyond(low).p_greater() == pytest.approx(0.05, abs=1e-9)
    further = [found.beyond(low - step).p_greater() for step in np.geomspace(1e-4, 1e4, 200)]
    assert max(further) < 0.05
    assert low < 0


def test_a_two_sided_p_is_at_most_one():
    """
    With ties both one-sided p-values can exceed one half; twice the smaller is cut at 1.
    """
    assert p_values("two-sided", 0.7, 0.6) == (1.0, None)


def test_holm_of_nothing_is_nothing():
    """
    No p-values have no adjusted ones.
    """
    assert holm(()) == ()
