"""What looking after each run does to a test, against closed forms and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, ttest_1samp, ttest_ind

from repro.stats import optional_stopping as stopping
from repro.stats.anytime import one_sided_e_value

# The share of programs exactly at the target that each rule accepts. One test at a fixed number of
# runs accepts at its level. 4.9 % was found before, with other code, from 20,000 draws.
ERROR = 4.0
"""Standard errors of a simulation that a share may differ by."""


def within(share: float, expected: float, draws: int) -> bool:
    return abs(share - expected) < ERROR * np.sqrt(expected * (1 - expected) / draws)


def test_one_look_keeps_the_level() -> None:
    """Student's t-test and the z-test, each at its own."""
    assert within(stopping.found(stopping.t_test, 0.0, 0.01, looks=False), 0.01, stopping.DRAWS)
    assert within(stopping.found(stopping.z_test, 0.0, 0.001, looks=False), 0.001, stopping.DRAWS)


def test_a_look_after_each_run_accepts_five_times_as_many() -> None:
    """4.9 % instead of 1 %."""
    assert within(stopping.found(stopping.t_test, 0.0, 0.01), 0.049, 20_000)


def test_the_e_process_keeps_its_level_whenever_one_stops() -> None:
    """Ville's inequality: it reaches 100 in at most 1 % of records, at any of the looks."""
    assert stopping.found(stopping.e_process, 0.0, 0.01) < 0.01
    assert stopping.found(stopping.e_process, 1.0, 0.01) > 0.7


def test_the_power_of_one_look_is_the_exact_one() -> None:
    """The z-test, whose power has a closed form."""
    for below in (0.5, 1.0):
        power = norm.cdf(below * np.sqrt(stopping.LAST) - norm.isf(0.001))
        assert within(
            stopping.found(stopping.z_test, below, 0.001, looks=False), power, stopping.DRAWS
        )


def test_looks_are_those_of_scipy() -> None:
    """After each run from the fourth on, one at a time."""
    drawn = np.random.default_rng(3).normal(-0.9, 1, (40, 20))
    p = [
        [ttest_1samp(row[:n], 0, alternative="less").pvalue for n in range(4, 21)] for row in drawn
    ]
    expected = np.array(p) < 0.01
    assert np.array_equal(stopping.t_test(drawn, 0.01, 4), expected)
    assert 0 < expected.mean() < 1


def test_with_two_looks_of_a_z_test_the_share_is_that_of_a_bivariate_normal() -> None:
    """From the 9th of 10 runs on: means of 9 and 10 runs correlate by sqrt(9/10)."""
    from scipy.stats import multivariate_normal

    limit, rho = norm.ppf(0.05), np.sqrt(9 / 10)
    both = multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf([limit, limit])
    found = stopping.found(stopping.z_test, 0.0, 0.05, first=9, last=10)
    assert within(found, 0.1 - both, stopping.DRAWS)


def test_many_runs_are_simulated_in_little_memory() -> None:
    assert 0.03 < stopping.found(stopping.t_test, 0.0, 0.01, first=3, last=200) < 0.15


@pytest.mark.parametrize("scatter", [1.0, 4.0])
def test_against_another_record_the_share_is_that_of_scipys_welch(scatter: float) -> None:
    """Five runs stay, and up to 10 are new; other draws, one test after each run."""
    rng, draws = np.random.default_rng(11), 40_000
    old, new = rng.normal(3.28, 0.001, (draws, 5)), rng.normal(3.28, 0.001 * scatter, (draws, 10))
    accepted = np.zeros(draws, dtype=bool)
    for n in range(3, 11):
        test = ttest_ind(new[:, :n], old, axis=1, equal_var=False, alternative="less")
        accepted |= test.pvalue < 0.01
    found = stopping.found_against(5, 0.01, scatter, first=3, last=10)
    assert within(found, accepted.mean(), draws // 2)  # both are simulated
    assert found > 0.02


def test_against_a_record_of_very_many_runs_it_is_the_share_of_a_limit() -> None:
    """Their mean is then known."""
    known = stopping.found(stopping.t_test, 0.0, 0.01, first=3, last=8)
    found = stopping.found_against(1_000, 0.01, 1.0, first=3, last=8)
    assert within(found, known, 2_000_000 // 1_008)


@pytest.mark.parametrize(("old", "last"), [(3, 20), (5, 20), (20, 20)])
@pytest.mark.parametrize("scatter", [0.25, 1.0, 4.0])
def test_the_e_value_of_welch_keeps_its_level_while_one_record_grows(
    old: int, last: int, scatter: float
) -> None:
    """With scipy's t and degrees of freedom, after each run."""
    rng, draws = np.random.default_rng(12), 10_000
    fixed, new = rng.normal(0, 1, (draws, old)), rng.normal(0, scatter, (draws, last))
    most = np.zeros(draws)
    for n in range(3, last + 1):
        test = ttest_ind(fixed, new[:, :n], axis=1, equal_var=False)
        most = np.maximum(most, one_sided_e_value(test.statistic, n, old, df=test.df))
    assert (most >= 20).mean() < 0.05
    assert (most >= 100).mean() < 0.012
