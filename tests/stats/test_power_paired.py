"""The power of tests of pairs, against the noncentral t and against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from repro.errors import ClaimError
from repro.stats.power import (
    PairedDesign,
    power_above,
    power_difference,
    power_equivalence,
    seeds_to_settle,
)
from repro.stats.records import Sample, known
from repro.stats.t_tests import non_superiority, tost


@pytest.mark.parametrize("n", [2, 3, 5, 10, 40, 400])
@pytest.mark.parametrize("effect", [-0.5, 0.0, 0.2, 0.9, 2.0, 6.0])
@pytest.mark.parametrize("alpha", [0.05, 0.005])
def test_one_border_has_the_power_of_the_noncentral_t(n, effect, alpha):
    """Scipy's, whose noncentrality is the distance in standard errors."""
    found = power_above(PairedDesign(1.5, n, alpha), effect, 0.1)
    shift = (effect - 0.1) / (1.5 / math.sqrt(n))
    expected = stats.nct.sf(stats.t.isf(alpha, n - 1), n - 1, shift)
    assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("n", [3, 8, 30])
def test_statsmodels_agrees_on_a_difference(n):
    """Its power of a one-sample t-test at half the level."""
    expected = TTestPower().power(1.0 / 1.5, n, 0.025, alternative="larger")
    found = power_difference(PairedDesign(1.5, n), 1.2, smallest_effect=0.2)
    assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("n", [2, 3, 6, 20])
@pytest.mark.parametrize("effect", [0.0, 0.3, 0.9])
def test_equivalence_is_drawn(n, effect):
    """From mean and standard deviation, which are independent."""
    generator, draws = np.random.default_rng(7), 400_000
    mean = effect + generator.standard_normal(draws) / math.sqrt(n)
    reach = stats.t.isf(0.05, n - 1) * np.sqrt(generator.chisquare(n - 1, draws) / (n - 1) / n)
    share = np.mean((mean - reach > -1) & (mean + reach < 1))
    found = power_equivalence(PairedDesign(1.0, n), effect, low=-1, high=1)
    assert found == pytest.approx(share, abs=4 * math.sqrt(0.25 / draws))


def test_wide_margins_leave_one_border():
    """Beyond which nothing lies."""
    wide = power_equivalence(PairedDesign(1.0, 6), 0.2, low=-1.0, high=1000.0)
    assert wide == pytest.approx(power_above(PairedDesign(1.0, 6), 0.2, -1.0), abs=1e-10)


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (1.0, -1.0)])
def test_margins_run_from_low_to_high(low, high):
    """Others are refused."""
    with pytest.raises(ClaimError, match="margins run from low to high"):
        power_equivalence(PairedDesign(1.0, 5), 0.0, low=low, high=high)


def test_the_pairs_that_would_settle_it():
    """As many as have a power of .8 were effect and scatter those found, and one fewer has not."""
    a, b = Sample.of(2.1, 2.9, 1.2, 2.2), Sample.of(2.0, 2.4, 1.3, 1.9)
    sd = float(np.std(np.array(a.values) - np.array(b.values), ddof=1))
    equal = tost(a, b, low=-0.4, high=0.4, paired=True)
    n = known(seeds_to_settle(equal, a, b))
    powers = [
        power_equivalence(PairedDesign(sd, size), equal.effect, low=-0.4, high=0.4)
        for size in (n - 1, n)
    ]
    assert powers[0] < 0.8 <= powers[1]
    above = non_superiority(a, b, margin=0.05, better="higher", paired=True)
    n = known(seeds_to_settle(above, a, b))
    powers = [power_above(PairedDesign(sd, size), above.effect, 0.05) for size in (n - 1, n)]
    assert powers[0] < 0.8 <= powers[1]
