"""The noise floor, against noncentral t, chi-squared and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from repro.errors import ClaimError
from repro.stats.noise_floor import NoiseFloor, lucky_records


def test_the_scatter_is_known_as_well_as_chi_squared_says() -> None:
    """METHODS: .69 to 1.83 times what was seen, of ten runs."""
    low, high = NoiseFloor(10, 1.0).reach
    assert (low, high) == pytest.approx(
        tuple(np.sqrt(9 / stats.chi2.isf([0.025, 0.975], 9))), rel=1e-12
    )
    assert (round(low, 2), round(high, 2)) == (0.69, 1.83)


def test_differences_that_luck_explains() -> None:
    """The sentence that users are to read: 0.030 with 3 seeds, and 29 seeds to find 0.010."""
    floor = NoiseFloor(10, 0.01323)
    assert floor.between_means(3) == pytest.approx(0.030, abs=5e-5)
    assert floor.seeds_to_find(0.010) == 29
    assert floor.seeds_to_find(1.0) == 2
    for n, enough in ((28, False), (29, True)):
        shift = 0.010 / 0.01323 * np.sqrt(n / 2)
        df = 2 * n - 2
        limit = stats.t.isf(0.025, df)
        power = stats.nct.sf(limit, df, shift) + stats.nct.cdf(-limit, df, shift)
        assert bool(power >= 0.8) == enough


def test_two_single_runs_differ_by_more_in_five_percent() -> None:
    """With an estimated scatter, over references, and shared among several comparisons."""
    rng = np.random.default_rng(4)
    runs = rng.standard_normal((40_000, 12))
    sds = runs[:, :10].std(axis=1, ddof=1)
    apart = runs[:, 10] - runs[:, 11]
    unit = NoiseFloor(10, 1.0)
    assert (np.abs(apart) > unit.single() * sds).mean() == pytest.approx(0.05, abs=0.005)
    assert (apart > unit.single(5, sides=1) * sds).mean() == pytest.approx(0.01, abs=0.002)


@pytest.mark.parametrize("runs", [3, 5, 10])
@pytest.mark.parametrize("seeds", [3, 5, 10])
def test_means_differ_by_more_in_at_most_five_percent(runs: int, seeds: int) -> None:
    """The scatter is known by the baseline alone: 17 % where three runs count as eighteen."""
    rng = np.random.default_rng([7, runs, seeds])
    sds = rng.standard_normal((40_000, runs)).std(axis=1, ddof=1)
    apart = rng.standard_normal(40_000) * np.sqrt(2 / seeds)
    floor = NoiseFloor(runs, 1.0).between_means(seeds)
    assert (np.abs(apart) > floor * sds).mean() <= 0.05 + 0.004
    assert floor == pytest.approx(
        stats.t.isf(0.025, min(runs - 1, 2 * seeds - 2)) * np.sqrt(2 / seeds)
    )


def test_lucky_records_are_as_many_as_in_a_simulation() -> None:
    values = np.random.default_rng(5).standard_normal((20_000, 101))
    best = np.minimum.accumulate(values, axis=1)
    records = (values[:, 1:] < best[:, :-1]).sum(axis=1).mean()
    assert lucky_records(100) == pytest.approx(records, abs=0.06)
    assert lucky_records(1) == 0.5


def test_what_says_nothing_of_scatter_is_refused() -> None:
    for runs, sd in ((2, 1.0), (10, 0.0), (10, float("nan"))):
        with pytest.raises(ClaimError):
            NoiseFloor(runs, sd)
