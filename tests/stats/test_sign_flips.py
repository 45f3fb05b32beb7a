"""The permutation test within pairs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from repro.errors import ClaimError
from repro.stats.ranks import paired_permutation
from repro.stats.records import Alternative, Sample, known
from repro.stats.simulated import paired_permutation as simulated
from repro.stats.t_tests import TESTS

numbers = st.lists(st.floats(-9, 9).map(lambda x: round(x, 1)), min_size=6, max_size=9)


def pair(values: list[float]) -> tuple[Sample, Sample]:
    b = np.arange(len(values)) % 4 * 1.5
    return Sample.of(*map(float, np.array(values) + b)), Sample.of(*map(float, b))


@given(numbers, st.sampled_from(["two-sided", "greater", "less"]))
def test_all_exchanges_are_counted(values, alternative: Alternative):
    """By hand: every choice of signs, ties with the observed one included."""
    if np.ptp(values) < 0.05:
        return
    found = paired_permutation(*pair(values), alternative=alternative, alpha=0.2)
    sums = np.array([np.dot(s, values) for s in product((1, -1), repeat=len(values))])
    greater, less = np.mean(sums >= sum(values) - 1e-7), np.mean(sums <= sum(values) + 1e-7)
    expected = {"greater": greater, "less": less, "two-sided": min(1.0, 2 * min(greater, less))}
    assert known(found.p) == pytest.approx(expected[alternative])
    assert found.effect == pytest.approx(np.mean(values), abs=1e-12)


def test_scipy_agrees():
    """Its permutation test of samples."""
    values = [0.9, -0.2, 1.4, 0.6, 1.1, 0.3, 0.8]
    a, b = pair(values)
    theirs = stats.permutation_test(
        (np.array(a.values), np.array(b.values)),
        lambda x, y: np.mean(x - y),
        permutation_type="samples",
        alternative="greater",
    )
    found = paired_permutation(a, b, alternative="greater")
    assert known(found.p) == pytest.approx(theirs.pvalue)
    assert found.exact


def test_many_pairs_are_drawn():
    """The same every time, near what all exchanges would give."""
    generator = np.random.default_rng(5)
    values = list(map(float, generator.standard_normal(24) + 0.5))
    found = paired_permutation(*pair(values))
    assert found == paired_permutation(*pair(values))
    assert found.exact is False
    assert known(found.p) == pytest.approx(stats.ttest_1samp(values, 0).pvalue, rel=0.3)


def test_five_pairs_cannot_decide():
    """Two of 32 exchanges are as far out as any."""
    with pytest.raises(ClaimError, match=r"5 pairs cannot decide: .* 0\.0625 \(two-sided\)"):
        paired_permutation(*pair([1.0, 2.0, 3.0, 4.0, 6.0]))


@pytest.mark.parametrize("n", [6, 8, 12])
def test_the_level_of_skewed_but_symmetric_pairs(n):
    """Cauchy differences have no mean to speak of; exchanges keep the level."""
    generator, draws = np.random.default_rng(n), 4000
    differences = generator.standard_cauchy((draws, n))
    rejected = simulated(differences, np.zeros_like(differences), 0.05)
    rejected |= simulated(-differences, np.zeros_like(differences), 0.05)
    assert np.mean(rejected) <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / draws)


def test_the_simulated_test_is_the_test():
    """Where all exchanges are tried."""
    generator = np.random.default_rng(9)
    a, b = generator.standard_normal((2, 200, 7))
    found = simulated(a + 0.8, b, 0.05)
    ours = [
        known(result.p) <= 0.05 and result.effect > 0
        for x, y in zip(a + 0.8, b, strict=True)
        for result in (TESTS["paired_permutation"](Sample.of(*x), Sample.of(*y)),)
    ]
    assert list(found) == ours
