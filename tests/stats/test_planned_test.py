from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestIndPower, TTestPower

from repro.stats import ranks
from repro.stats.anytime import sequential
from repro.stats.planning import (
    PlannedCorrelation,
    PlannedDifference,
    PlannedSequential,
    power_of_test,
)
from repro.stats.power import (
    PairedDesign,
    PowerDesign,
    power_association,
    power_difference,
    power_separation,
    power_share,
    power_student,
)
from repro.stats.records import Sample, known
from repro.stats.simulated import (
    Array,
    brunner_munzel,
    eprocess,
    permutation,
    simulated_power,
    yuen,
)
from repro.stats.stopping import difference
from repro.stats.t_tests import TESTS, student

SEED = 20201004
DRAWS = 100_000


def within(rate: np.floating[Any] | float, draws: int = DRAWS) -> float:
    """Four Monte Carlo standard errors."""
    return 4 * math.sqrt(max(float(rate * (1 - rate)), 1e-4) / draws)


def arms(sd_a: float, sd_b: float, n_a: int, n_b: int, effect: float):
    """Many draws of both arms."""
    generator = np.random.default_rng(SEED)
    return generator.normal(effect, sd_a, (DRAWS, n_a)), generator.normal(0, sd_b, (DRAWS, n_b))


@pytest.mark.parametrize("n", [2, 3, 10, 40])
@pytest.mark.parametrize("effect", [0.5, 1.5])
def test_students_power_is_that_of_statsmodels(n, effect):
    """
    With equal spreads Student's power is TTestIndPower's of the right tail, also for n and 2 n.
    """
    for ratio in (1, 2):
        expected = TTestIndPower().power(effect, n, 0.025, ratio=ratio, alternative="larger")
        found = power_student(PowerDesign(1, 1, n, ratio * n), effect)
        assert found == pytest.approx(expected, abs=1e-8)


def test_students_power_with_unequal_spreads():
    """
    With 3:1 spreads Student's power and level are those of simulated tests (.075 at n = 3).
    """
    design = PowerDesign(3, 1, 3, 3)
    assert 2 * power_student(design, 0.0) == pytest.approx(0.075, abs=5e-4)  # statistics.md 2.2
    test = stats.ttest_ind(*arms(3, 1, 3, 3, 4.0), axis=1)
    rate = np.mean((test.pvalue <= 0.05) & (test.statistic > 0))
    assert power_student(design, 4.0) == pytest.approx(rate, abs=within(rate))
    smaller = power_student(design, 4.5, smallest_effect=0.5)
    assert smaller == pytest.approx(power_student(design, 4.0))


@pytest.mark.parametrize("n", [2, 5, 12])
def test_paired_power(n):
    """
    The paired power is that of simulated paired tests on the differences.
    """
    differences = np.random.default_rng(SEED).normal(1.2, 1.5, (DRAWS, n))
    test = stats.ttest_1samp(differences, 0.2, axis=1)
    rate = np.mean((test.pvalue <= 0.05) & (test.statistic > 0))
    found = power_difference(PairedDesign(1.5, n), 1.2, smallest_effect=0.2)
    assert found == pytest.approx(rate, abs=within(rate))
    expected = TTestPower().power(1 / 1.5, n, 0.025, alternative="larger")
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("sd_a", "sd_b", "n_a", "n_b", "distance"),
    [(1, 1, 3, 3, 1.5), (3, 1, 5, 4, 4.0), (0.2, 1, 3, 6, 0.8), (1, 0, 4, 4, 1.0), (0, 1, 4, 4, 1)],
)
def test_the_power_of_separation(sd_a, sd_b, n_a, n_b, distance):
    """
    The integral for complete separation meets the share of simulated draws that are separated.
    """
    a, b = arms(sd_a, sd_b, n_a, n_b, distance)
    rate = np.mean(a.min(axis=1) > b.max(axis=1))
    found = power_separation(PowerDesign(sd_a, sd_b, n_a, n_b), distance)
    assert found == pytest.approx(rate, abs=within(rate))


def test_separation_of_alike_arms_is_one_order_among_all():
    """
    Without a distance the power of separation is its p, and 0 where that is above alpha.
    """
    for n_a, n_b in ((3, 3), (10, 10), (7, 4)):
        exact = 1 / math.comb(n_a + n_b, n_a)
        assert power_separation(PowerDesign(1, 1, n_a, n_b), 0.0) == pytest.approx(exact, rel=1e-4)
    assert power_separation(PowerDesign(1, 1, 3, 3, 0.04), 9.0) == 0.0


@pytest.mark.parametrize("n", [5, 14, 40])
def test_the_power_of_a_share(n):
    """
    A share's power is the sum of the chances of the counts that scipy's exact test calls enough.
    """
    enough = [
        k for k in range(n + 1) if stats.binomtest(k, n, 0.7, alternative="greater").pvalue <= 0.05
    ]
    expected = sum(stats.binom.pmf(k, n, 0.9) for k in enough)
    assert power_share(n, 0.9, of=0.7) == pytest.approx(expected, abs=1e-12)
    assert power_share(n, 0.7, of=0.7) <= 0.05


@pytest.mark.parametrize(("n", "rho"), [(10, 0.6), (36, 0.5), (36, 0.1)])
def test_the_power_of_an_association(n, rho):
    """
    Fisher's power meets the rate at which the test finds simulated correlations above .2.
    """
    generator = np.random.default_rng(SEED)
    x = generator.standard_normal((20_000, n))
    y = rho * x + math.sqrt(1 - rho**2) * generator.standard_normal((20_000, n))
    r = stats.pearsonr(x, y, axis=1).statistic
    reach = stats.norm.isf(0.05) / math.sqrt(n - 3)
    above = np.mean(np.arctanh(r) > math.atanh(0.2) + 0.2 / (2 * (n - 1)) + reach)
    small = np.mean(np.arctanh(np.abs(r)) < math.atanh(0.5) + 0.5 / (2 * (n - 1)) - reach)
    assert power_association(n, rho, low=0.2) == pytest.approx(above, abs=0.012)
    assert power_association(n, rho, low=-0.5, high=0.5) == pytest.approx(small, abs=0.012)


def test_the_power_of_an_association_in_a_textbook():
    """
    85 points find a correlation of .3 two-sidedly with 80 % (Cohen 1988, table 3.4.1: 85 or 84).
    """
    planned = PlannedCorrelation((10,), alpha=0.025, effect=0.3, low=0.0)
    assert known(planned.seeds(0.80)) == pytest.approx(84, abs=1)


def test_simulated_permutation_is_the_permutation_test():
    """
    The vectorised permutation test decides as scipy's exact one of Welch's t, twice its tail.
    """
    generator = np.random.default_rng(SEED)
    a, b = generator.normal(1.5, 1, (150, 5)), generator.normal(0, 2, (150, 4))

    def exact(x: Array, y: Array) -> float:
        every = stats.PermutationMethod()
        test = stats.ttest_ind(x, y, equal_var=False, alternative="greater", method=every)
        return float(test.pvalue)

    greater = np.array([exact(x, y) for x, y in zip(a, b, strict=True)])
    found = permutation(a, b, 0.05)
    assert found.tolist() == (2 * greater <= 0.05).tolist()
    assert 5 < found.sum() < 145


def test_simulated_brunner_munzel_is_the_test():
    """
    The vectorised Brunner-Munzel test decides as the test itself, permuted or by t.
    """
    generator = np.random.default_rng(SEED)
    for n, shift in ((3, 3.0), (5, 2.0), (8, 1.2), (12, 1.0)):
        a, b = generator.normal(shift, 1, (40, n)), generator.normal(0, 1, (40, n))
        expected = [
            known((result := ranks.brunner_munzel(Sample.of(*x), Sample.of(*y))).p) <= 0.05
            and result.effect > 0.5
            for x, y in zip(a, b, strict=True)
        ]
        assert brunner_munzel(a, b, 0.05).tolist() == expected
        assert any(expected) == (n > 3)


def test_simulated_yuen_trims():
    """
    With three values nothing is trimmed, and Yuen's power is Welch's; with ten it is less.
    """
    few, some = PowerDesign(1, 1, 3, 3), PowerDesign(1, 1, 10, 10)
    power, error = simulated_power(few, 3.0, yuen)
    assert power == pytest.approx(power_difference(few, 3.0), abs=4 * error)
    assert simulated_power(some, 1.0, yuen)[0] < power_difference(some, 1.0)


@pytest.mark.parametrize("n", [4, 5, 11])
def test_simulated_yuen_is_the_test(n):
    """
    Row by row.
    """
    generator = np.random.default_rng(SEED)
    a, b = generator.standard_t(2, (60, n)) + 2, generator.standard_t(2, (60, n + 2))
    expected = [
        known((result := TESTS["yuen"](Sample.of(*x), Sample.of(*y))).p) <= 0.05
        and result.effect > 0
        for x, y in zip(a, b, strict=True)
    ]
    assert yuen(a, b, 0.05).tolist() == expected
    assert 0 < sum(expected) < 60


@pytest.mark.parametrize("paired", [False, True])
def test_the_simulated_e_process_is_the_test(paired):
    """
    Row by row: it first crosses as higher.
    """
    generator = np.random.default_rng(SEED)
    a, b = generator.normal(1.0, 1, (60, 12)), generator.normal(0, 1, (60, 12))
    looks = range(3, 13)
    found = [
        sequential(Sample.of(*x), Sample.of(*y), difference("higher"), looks=looks, paired=paired)
        for x, y in zip(a, b, strict=True)
    ]
    expected = [result.decided == "confirmed" for result in found]
    assert eprocess(a, b, 0.05, first=3, paired=paired).tolist() == expected
    assert 0 < sum(expected) < 60


def test_the_power_of_the_e_process():
    """
    Looking every night to 60 pairs: .994 at d = 1, half of them by 18; 8 at d = 2; .021 at 0.
    """
    sixty = PowerDesign(1, 1, 60, 60)  # statistics.md 1.8
    assert simulated_power(sixty, 1.0, eprocess)[0] == pytest.approx(0.994, abs=0.005)
    assert 2 * simulated_power(sixty, 0.0, eprocess)[0] == pytest.approx(0.021, abs=0.009)
    for pairs, effect in ((18, 1.0), (8, 2.0)):
        by, _ = simulated_power(sixty.balanced(pairs), effect, eprocess)
        before, _ = simulated_power(sixty.balanced(pairs - 1), effect, eprocess)
        assert before - 0.02 < 0.5 < by + 0.02


@pytest.mark.parametrize("paired", [False, True])
def test_a_plan_says_when_an_e_process_stops(paired: bool) -> None:
    """As often as the test itself does, on other draws, with its prior and its first look."""
    effect, most, g, first = 1.2, 20, 4.0, 5
    planned = PlannedSequential((most,), (1.0,), paired=paired, g=g, first=first)
    found = planned.stopping(effect)
    rng, taken = np.random.default_rng(SEED), []
    for _ in range(400):
        a = Sample(tuple(rng.normal(effect, 1, most)), tuple(range(most)))
        noise = np.zeros(most) if paired else rng.normal(0, 1, most)
        b = Sample(tuple(noise), tuple(range(most)))
        tested = sequential(
            a, b, difference("higher"), looks=range(first, most + 1), g=g, paired=paired
        )
        taken.append(tested.decided_at or math.inf)
    error = float(np.minimum(taken, most).std()) / math.sqrt(400)
    assert found.mean == pytest.approx(float(np.minimum(taken, most).mean()), abs=4 * error)
    assert min(taken) >= first
    if found.nine_in_ten is None:
        assert np.mean(np.isfinite(taken)) < 0.95
    else:
        assert np.mean(np.array(taken) <= found.nine_in_ten) == pytest.approx(0.9, abs=0.07)
    assert found.best_mean == replace(planned, g=found.best_g).stopping(effect).mean
    assert found.best_mean <= found.mean


def test_simulation_says_how_sure_it_is():
    """
    Two halves of the draws agree within the stated error; the seed is constant; 1 is not certain.
    """
    design = PowerDesign(1, 1, 5, 5)
    power, error = simulated_power(design, 2.0, permutation, draws=2000)
    again, _ = simulated_power(design, 2.0, permutation, draws=2000)
    more, small = simulated_power(design, 2.0, permutation, draws=8000)
    assert power == again
    assert power == pytest.approx(more, abs=4 * math.hypot(error, small))
    assert error == pytest.approx(math.sqrt(power * (1 - power) / 2000))
    assert simulated_power(design, 99.0, permutation, draws=2000) == (1.0, 1 / 2000)


def test_a_plan_is_about_the_test_that_is_run():
    """
    The planned power of Student's test is the rate at which that very function confirms.
    """
    generator, confirmed, draws = np.random.default_rng(SEED), 0, 3000
    for _ in range(draws):
        a, b = generator.normal(2.0, 1.0, 4), generator.normal(0.0, 1.0, 4)
        result = student(Sample.of(*map(float, a)), Sample.of(*map(float, b)))
        confirmed += known(result.p) <= 0.05 and result.effect > 0
    power = power_of_test(PlannedDifference((4,), (1.0,), test="student", effect=2.0))[0]
    assert confirmed / draws == pytest.approx(power, abs=within(power, draws))
