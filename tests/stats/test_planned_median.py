"""The planned power of the sign test of a median, against the test itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

from repro.errors import ClaimError
from repro.stats.one_sample import PlannedMedian, median_level
from repro.stats.planning import assess, power_of_test
from repro.stats.records import Sample, known


@pytest.mark.parametrize(("n", "effect"), [(6, 1.5), (11, 1.0), (30, 0.5)])
def test_the_power_is_that_of_the_test(n: int, effect: float) -> None:
    """2,000 samples of normal values whose median is within the limit by ``effect``, sd 2."""
    planned = PlannedMedian((n,), (2.0,), effect=2 * effect, paired=True)
    promised, error = power_of_test(planned)
    values = 7.0 - 2 * effect + 2 * np.random.default_rng(n).standard_normal((2000, n))
    found = np.mean(
        [
            known(median_level(Sample.of(*row), side="at_most", limit=7.0).p) <= 0.05
            for row in values
        ]
    )
    assert error is None
    assert found == pytest.approx(promised, abs=4 * math.sqrt(promised * (1 - promised) / 2000))


def test_every_number_keeps_its_promise() -> None:
    """80 % at what is detectable, and at the seeds, which are the first that have it."""
    found = assess(PlannedMedian((10,), (0.5,), effect=0.4, paired=True))
    smallest, seeds = known(found.minimum_detectable), known(found.seeds80)

    def power(n: int, effect: float) -> float:
        return power_of_test(PlannedMedian((n,), (0.5,), effect=effect, paired=True))[0]

    assert power(10, smallest) == pytest.approx(0.8, abs=1e-6)
    assert power(seeds, 0.4) >= 0.8
    assert all(power(n, 0.4) < 0.8 for n in range(5, seeds))


def test_at_the_limit_the_power_is_the_level_of_the_test() -> None:
    """Eight seeds: seven or more on one side, 9 of 256."""
    assert power_of_test(PlannedMedian((8,), (1.0,), effect=0.0))[0] == pytest.approx(9 / 256)


def test_what_cannot_decide_is_refused() -> None:
    found = assess(PlannedMedian((4,), (1.0,), effect=3.0))
    said = "4 replicates cannot decide: even if every replicate agrees has p = 0.0625, above 0.05"
    assert found.refused == said


def test_without_a_scatter_nothing_is_planned() -> None:
    with pytest.raises(ClaimError, match="needs a standard deviation"):
        power_of_test(PlannedMedian((8,), effect=1.0))
