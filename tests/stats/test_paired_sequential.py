"""Sequential tests of arms that are paired by seed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from repro.errors import ClaimError
from repro.stats.anytime import (
    e_value,
    one_sided_e_value,
    predicted_power,
    sequential,
    threshold,
)
from repro.stats.group_sequential import (
    boundaries,
    conditional_power,
    group_obf,
)
from repro.stats.planning import PlannedSequential, power_of_test
from repro.stats.records import Sample, known
from repro.stats.stopping import difference, equivalence, non_inferiority

SEED = 20201124
DRAWS = 20_000
LOOKS = np.arange(3, 61)
DIFFERENT = difference("different")


def statistics(mean: float = 0.0, draws: int = DRAWS, n: int = 60) -> tuple[Any, Any, Any]:
    """Running t, mean and standard error of normal differences at 3, 4, ... pairs."""
    values = mean + np.random.default_rng(SEED).standard_normal((draws, n))
    sizes = np.arange(1, n + 1)
    means = np.cumsum(values, axis=1) / sizes
    squares = np.cumsum(values**2, axis=1) - sizes * means**2
    se = np.sqrt(squares[:, 2:] / (sizes[2:] - 1) / sizes[2:])
    return means[:, 2:] / se, means[:, 2:], se


def pair(differences: Any) -> tuple[Sample, Sample]:
    """Arms that scatter far more than their differences."""
    common = 50 + 9 * np.random.default_rng(7).standard_normal(len(differences))
    return Sample.of(*map(float, common + differences)), Sample.of(*map(float, common))


@pytest.mark.parametrize(
    ("t", "n", "g"), [(0.3, 2, 1.0), (2.5, 5, 1.0), (-4.0, 9, 0.25), (3, 20, 4)]
)
def test_it_is_the_ratio_of_the_densities_of_t(t, n, g):
    """A noncentral t with a normal prior, integrated, over the central one."""

    def weighted(delta: float) -> float:
        density = stats.nct.pdf(t, n - 1, delta * math.sqrt(n))
        return float(density * stats.norm.pdf(delta, scale=math.sqrt(g)))

    reach = 12 * math.sqrt(g)
    parts = [(-reach, -1), (-1, 0), (0, 1), (1, reach)]
    mass = [integrate.quad(weighted, *part, limit=200)[0] for part in parts]
    null = stats.t.pdf(t, n - 1)
    assert float(e_value(t, n, None, g)) == pytest.approx(sum(mass) / null, rel=1e-5)
    above = 2 * sum(mass[2:]) / null
    assert float(one_sided_e_value(t, n, None, g)) == pytest.approx(above, rel=1e-5)


@pytest.mark.parametrize("n", [5, 8, 30])
def test_the_threshold_is_where_it_reaches_its_bound(n):
    """One over alpha; four pairs never do."""
    border = float(threshold(n, None, alpha=0.05))
    assert float(e_value(border, n, None)) == pytest.approx(20)
    assert float(e_value(1e9, 4, None)) == pytest.approx(5**1.5)
    assert math.isinf(float(threshold(4, None, alpha=0.05)))


def test_the_level_when_looked_at_after_every_pair():
    """Of 3 to 60 pairs without a difference fewer than one in twenty ever cross."""
    t, *_ = statistics()
    rate = np.mean(np.any(e_value(t, LOOKS, None) >= 20, axis=1))
    assert rate <= 0.05
    assert rate > 0.01
    naive = np.mean(np.any(np.abs(t) > stats.t.isf(0.025, LOOKS - 1), axis=1))
    assert naive > 0.25


def test_the_confidence_sequence_covers_at_all_looks_together():
    """With a chance of at least .95, of a difference that is not 0."""
    _, mean, se = statistics(0.7)
    reach = threshold(LOOKS, None, alpha=0.05) * se
    assert np.mean(np.any(np.abs(mean - 0.7) > reach, axis=1)) <= 0.05


def test_equivalence_at_its_margin_errs_seldom():
    """Looked at after every pair, by the 1 - 2 alpha sequence, one side at level alpha."""
    _, mean, se = statistics(0.5)
    reach = threshold(LOOKS, None, alpha=0.1) * se
    assert np.mean(np.any((mean + reach < 0.5) & (mean - reach > -0.5), axis=1)) <= 0.05


def test_a_one_sided_e_value_is_one_on_average():
    """When one stops at the first large one, or at the end."""
    t, *_ = statistics()
    values = one_sided_e_value(t, LOOKS, None)
    stop = np.argmax(np.column_stack([values >= 5, np.ones(len(t), dtype=bool)]), axis=1)
    stopped = values[np.arange(len(t)), np.minimum(stop, len(LOOKS) - 1)]
    assert np.mean(stopped) == pytest.approx(1.0, abs=4 * np.std(stopped) / math.sqrt(DRAWS))


def test_pairs_decide_by_their_differences():
    """What the arms share is in none of them, and would hide it."""
    a, b = pair(1.0 + 0.5 * np.random.default_rng(3).standard_normal(12))
    looks = list(range(5, 13))
    found = sequential(a, b, difference("higher"), looks=looks, paired=True)
    plain = sequential(a, b, difference("higher"), looks=looks)
    assert found.decided == "confirmed"
    assert plain.decided is None
    assert found.paired
    assert (found.n, found.df) == ((12, 12), 11)
    differences = np.array(a.values) - np.array(b.values)
    t = stats.ttest_1samp(differences, 0).statistic
    assert found.e == pytest.approx(float(e_value(t, 12, None)), rel=1e-6)
    own = known(found.interval)
    reach = float(threshold(12, None, alpha=0.05)) * known(found.se)
    assert (own.low, own.high) == pytest.approx((found.effect - reach, found.effect + reach))


@pytest.mark.parametrize(
    ("question", "decided"),
    [
        (equivalence(-1.0, 1.0), "confirmed"),
        (non_inferiority(0.2, "higher"), "confirmed"),
        (non_inferiority(0.2, "lower"), "contradicted"),
        (difference("lower"), "contradicted"),
    ],
)
def test_margins_of_pairs_are_decided(question, decided):
    """Of thirty pairs that differ by .5, sd .2."""
    a, b = pair(0.5 + 0.2 * np.random.default_rng(4).standard_normal(30))
    found = sequential(a, b, question, looks=list(range(5, 31)), paired=True)
    assert found.decided == decided
    planned = [10, 20, 30]
    fixed = group_obf(a, b, question, looks=planned, planned_looks=planned, paired=True)
    assert fixed.decided == decided


def test_a_pair_without_its_partner_is_left_out():
    """And named."""
    a, b = pair(1.0 + 0.3 * np.random.default_rng(5).standard_normal(9))
    found = sequential(a, b.without(4), DIFFERENT, looks=[5, 6, 7, 8], paired=True)
    assert found.left_out == (4,)
    assert found.n == (8, 8)
    once = sequential(a, b.without(4), DIFFERENT, looks=None, paired=True)
    assert once.left_out == (4,)
    assert once.e == found.e


def test_looks_at_differences_that_do_not_vary_are_left_out():
    """As long as later ones do; else it is refused."""
    a = Sample.of(2.0, 3.5, 4.0, 7.0)
    b = Sample.of(1.0, 2.5, 3.0, 5.0)
    found = sequential(a, b, DIFFERENT, looks=[2, 3, 4], paired=True)
    assert found.looks == (4,)
    with pytest.raises(ClaimError, match="differ by the same amount"):
        sequential(a, b, DIFFERENT, looks=[2, 3], paired=True)


def test_planned_looks_keep_their_level():
    """Paired t-tests at 5, 10, 15 and 20 pairs against the nominal levels."""
    planned = [5, 10, 15, 20]
    bounds = boundaries(tuple(n / 20 for n in planned), 0.05)
    t, *_ = statistics(n=20)
    crossed = np.zeros(DRAWS, dtype=bool)
    for n, bound in zip(planned, bounds, strict=True):
        p = 2 * stats.t.sf(np.abs(t[:, n - 3]), n - 1)
        crossed |= p <= 2 * stats.norm.sf(bound)
    assert np.mean(crossed) == pytest.approx(0.05, abs=4 * math.sqrt(0.05 * 0.95 / DRAWS) + 0.002)


def test_planned_looks_take_the_paired_t():
    """At the last of them the p is that of scipy's paired test against the level left for it."""
    a, b = pair(0.6 + 0.8 * np.random.default_rng(6).standard_normal(20))
    found = group_obf(a, b, DIFFERENT, looks=[10, 20], planned_looks=[10, 20], paired=True)
    theirs = stats.ttest_rel(a.values, b.values)
    assert known(found.statistic) == pytest.approx(theirs.statistic)
    assert (found.df, found.paired) == (19, True)
    assert (found.decided == "confirmed") == (theirs.pvalue <= found.nominal)
    turned = Sample(b.values[::-1], b.replicates[::-1])
    once = group_obf(a, turned, DIFFERENT, looks=None, planned_looks=[10, 20], paired=True)
    assert known(once.interval) == known(found.interval)


def test_the_power_that_is_planned_is_that_of_the_process():
    """By simulation of our own, looked at after every pair."""
    found, error = power_of_test(PlannedSequential((20,), (1.5,), effect=1.2, paired=True))
    t, *_ = statistics(1.2 / 1.5, n=20)
    crossed = e_value(t, LOOKS[:18], None) >= 20
    first = crossed.argmax(axis=1)
    right = crossed.any(axis=1) & (t[np.arange(DRAWS), first] > 0)
    assert found == pytest.approx(np.mean(right), abs=4 * (known(error) + 0.004))


def test_what_more_pairs_could_do_goes_by_the_differences():
    """Predicted and conditional power: large where the arms alone would promise nothing."""
    a, b = pair(0.6 + 0.3 * np.array([-1.3, -0.8, -0.3, 0.3, 0.8, 1.3]))
    assert predicted_power(a, b, DIFFERENT, maximum=25, paired=True) > 0.7
    assert predicted_power(a, b, DIFFERENT, maximum=25) < 0.1
    how: dict[str, Any] = {"looks": [6], "planned_looks": [6, 25]}
    assert conditional_power(a, b, DIFFERENT, **how, paired=True) > 0.7
    assert conditional_power(a, b, DIFFERENT, **how) < 0.2


@pytest.mark.parametrize(("n", "least"), [(4, "0.0894"), (3, "0.25")])
def test_too_few_pairs_cannot_decide(n, least):
    """Whatever they show; five can."""
    planned = PlannedSequential((n,), (1.0,), effect=9.0, paired=True)
    assert f"the smallest p of the e-process is {least}" in planned.refused()
    assert replace(planned, n=(5,)).refused() == ""
