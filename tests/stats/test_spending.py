"""Group sequential boundaries against published ones, and the level of the tests that use them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from repro.errors import ClaimError
from repro.schema import numbers as fmt
from repro.stats.group_sequential import (
    _REACH,
    SMALLEST_P,
    _steps,
    _Walk,
    boundaries,
    conditional_power,
    group_obf,
    spent,
)
from repro.stats.records import Sample, known
from repro.stats.stopping import difference, equivalence, non_superiority, stop
from repro.stats.t_tests import welch

SEED = 1977
DRAWS = 20_000
PLAN = (5, 10, 15, 20)
QUARTERS = (0.25, 0.5, 0.75, 1.0)

# Two-sided alpha .05, Lan-DeMets spending of O'Brien-Fleming type. Equally spaced: gsDesign's
# sfLDOF, rpact's asOF, and the program of Reboussin, DeMets, Kim & Lan 2000. Unequally
# spaced: the R package ldbounds, which is that program.
PUBLISHED = {
    (0.5, 1.0): (2.963, 1.969),
    (1 / 3, 2 / 3, 1.0): (3.710, 2.511, 1.993),
    QUARTERS: (4.333, 2.963, 2.359, 2.014),
    (0.2, 0.4, 0.6, 0.8, 1.0): (4.877, 3.357, 2.680, 2.290, 2.031),
    (0.3, 1.0): (3.929, 1.960),
    (0.9, 1.0): (2.094, 2.053),
    (0.3, 0.9, 1.0): (3.929, 2.094, 2.053),
    (0.8, 0.9, 1.0): (2.250, 2.177, 2.072),
    (0.2, 0.4, 0.9, 1.0): (4.877, 3.357, 2.097, 2.054),
    (0.3, 0.6, 0.9, 1.0): (3.929, 2.670, 2.121, 2.063),
}


def crossing_probability(times: Sequence[float], bounds: Sequence[float]) -> float:
    """The chance that z ever exceeds its bound, in size, when there is no difference."""
    walk, crossed = _Walk.start(), 0.0
    for (step, time), z in zip(_steps(times), bounds, strict=True):
        bound = z * math.sqrt(time)
        crossed += walk.exit(bound, step)
        walk = walk.move(min(bound, _REACH * math.sqrt(time)), step)
    return crossed


def arms(effect: float, n: int = 20, seed: int = SEED) -> tuple[Sample, Sample]:
    """Two normal samples whose means differ by ``effect`` standard deviations."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(effect, 1, n), rng.normal(0, 1, n)
    return Sample.of(*map(float, a)), Sample.of(*map(float, b))


@pytest.mark.parametrize("times", PUBLISHED)
def test_published_boundaries(times):
    """
    Boundaries of equally and unequally spaced looks are the published ones to three digits.
    """
    assert boundaries(times, 0.05) == pytest.approx(PUBLISHED[times], abs=0.00051)


def test_the_nominal_levels_of_four_looks():
    """
    At n = 5, 10, 15, 20 of 20 the nominal two-sided levels are .0000147, .0031, .0183, .0440.
    """
    nominal = [2 * stats.norm.sf(z) for z in boundaries(QUARTERS, 0.05)]
    assert f"{nominal[0]:.7f}" == "0.0000147"
    assert nominal[1:] == pytest.approx([0.0031, 0.0183, 0.0440], abs=0.00006)


# Armitage, McPherson & Rowe 1969, Table 2: chance of ever exceeding the 5 % point of the normal
# distribution in so many equally spaced looks.
@pytest.mark.parametrize(
    ("looks", "chance"),
    [(1, 0.05), (2, 0.083), (3, 0.107), (4, 0.126), (5, 0.142), (10, 0.193), (20, 0.248)],
)
def test_repeated_significance_tests(looks, chance):
    """
    The recursive integration gives the published chances of error of repeated tests.
    """
    times = [(place + 1) / looks for place in range(looks)]
    assert crossing_probability(times, [1.959964] * looks) == pytest.approx(chance, abs=0.00051)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.10, 0.4])
@pytest.mark.parametrize("times", [*PUBLISHED, tuple(n / 60 for n in range(3, 61))])
def test_all_alpha_is_spent_and_no_more(times, alpha):
    """
    The boundaries together are crossed with chance alpha, those up to a look with what may be
    spent until then.
    """
    bounds = boundaries(times, alpha)
    assert crossing_probability(times, bounds) == pytest.approx(alpha, abs=1e-7)
    half = len(times) // 2 or 1
    expected = spent(times[half - 1], alpha)
    assert crossing_probability(times[:half], bounds[:half]) == pytest.approx(expected, abs=1e-7)


def test_two_looks_agree_with_the_bivariate_normal():
    """
    The chance of crossing in two looks is one minus scipy's bivariate normal box probability.
    """
    time, bounds = 0.37, np.array([2.5, 2.1])
    joint = stats.multivariate_normal([0, 0], [[1, math.sqrt(time)], [math.sqrt(time), 1]])
    low, high = np.meshgrid([-bounds[0], bounds[0]], [-bounds[1], bounds[1]], indexing="ij")
    corners = joint.cdf(np.stack([low, high], axis=-1))
    box = corners[1, 1] - corners[0, 1] - corners[1, 0] + corners[0, 0]
    assert crossing_probability([time, 1.0], list(bounds)) == pytest.approx(1 - box, abs=1e-6)


def test_nothing_is_spent_far_from_the_end():
    """
    Where next to no alpha may be spent the boundary is infinite, and no data can decide.
    """
    assert boundaries((0.01, 1.0), 0.05) == pytest.approx((math.inf, 1.959964), abs=1e-6)
    result = group_obf(*arms(50.0), difference("higher"), looks=[3], planned_looks=[3, 300])
    assert result.decided is None
    assert known(result.interval).low == -math.inf
    assert result.p == 1.0 or known(result.p) > 0.05


@pytest.mark.parametrize("times", [(), (0.0, 1.0), (0.5, 0.5), (0.6, 0.4), (0.5, 1.1), (-0.1, 1.0)])
def test_times_that_do_not_increase_are_refused(times):
    """
    Information times lie above 0, increase and end at 1 at most.
    """
    with pytest.raises(ClaimError, match="information times increase"):
        boundaries(times, 0.05)


@pytest.mark.parametrize("ratio", [1.0, 3.0])
def test_welch_at_the_nominal_levels_holds_alpha(ratio):
    """
    Four looks at Welch's p err in 5 % of cases, in .053 at a 3:1 ratio of standard deviations,
    where Student's errs in .059 (statistics.md 1.8).
    """
    rng = np.random.default_rng([SEED, int(ratio)])
    a, b = ratio * rng.standard_normal((DRAWS, 20)), rng.standard_normal((DRAWS, 20))
    nominal = [2 * stats.norm.sf(z) for z in boundaries(QUARTERS, 0.05)]
    for pooled, expected in ((False, {1.0: 0.050, 3.0: 0.053}), (True, {1.0: 0.050, 3.0: 0.059})):
        p = [stats.ttest_ind(a[:, :n], b[:, :n], axis=1, equal_var=pooled).pvalue for n in PLAN]
        rate = float(np.mean(np.any(np.transpose(p) <= nominal, axis=1)))
        assert abs(rate - expected[ratio]) < 4 * math.sqrt(0.05 * 0.95 / DRAWS)


def test_each_look_is_welchs_p_against_its_nominal_level():
    """
    A difference is decided at the first look whose Welch p is at most the nominal level, and
    there the repeated interval first excludes 0.
    """
    decided = 0
    for seed in range(40):
        a, b = arms(0.8, seed=seed)
        result = group_obf(a, b, difference("different"), looks=PLAN, planned_looks=PLAN)
        crossed = None
        for n, z in zip(PLAN, boundaries(QUARTERS, 0.05), strict=True):
            p = known(welch(Sample.of(*a.values[:n]), Sample.of(*b.values[:n])).p)
            if crossed is None and p <= 2 * stats.norm.sf(z):
                crossed = n
        assert result.decided_at == crossed
        assert (known(result.p) <= 0.05) == (crossed is not None)
        decided += crossed is not None
    assert 10 < decided < 40


def test_the_last_interval_is_welchs_at_the_nominal_level():
    """
    The repeated interval is Welch's own interval of one minus the nominal level.
    """
    a, b = arms(0.5)
    result = group_obf(a, b, difference("higher"), looks=PLAN, planned_looks=PLAN)
    nominal = result.nominal
    own = known(welch(a, b, alpha=nominal).interval)
    interval = known(result.interval)
    assert (interval.low, interval.high) == pytest.approx((own.low, own.high), rel=1e-12)
    assert interval.level == 0.95


def test_p_is_the_level_at_which_a_boundary_is_reached():
    """
    At an alpha just above p the claim is confirmed, just below it is not; likewise for margins.
    """
    a, b = arms(0.6)
    for question in (difference("higher"), equivalence(-1.3, 1.3), non_superiority(1.3, "higher")):
        p = known(group_obf(a, b, question, looks=PLAN, planned_looks=PLAN).p)
        assert 1e-6 < p < 0.4
        for alpha, decided in ((1.001 * p, "confirmed"), (0.999 * p, None)):
            result = group_obf(a, b, question, looks=PLAN, planned_looks=PLAN, alpha=alpha)
            assert result.decided == decided


def test_a_single_look_is_welchs_test():
    """
    One look at the end is Welch's test: the same p, two-sided and one-sided.
    """
    a, b = arms(0.4)
    two_sided = group_obf(a, b, difference("different"), looks=[20], planned_looks=[20])
    assert two_sided.p == pytest.approx(known(welch(a, b).p), rel=1e-5)
    one_sided = group_obf(a, b, non_superiority(1.0, "higher"), looks=[20], planned_looks=[20])
    shifted = Sample.of(*(value - 1.0 for value in a.values))
    expected = known(welch(shifted, b, alternative="less").p)
    assert one_sided.p == pytest.approx(expected, rel=1e-5)


def test_an_unplanned_look_costs_but_is_allowed():
    """
    A look that was not planned spends from what is left.
    """
    a, b = arms(0.4)
    planned = group_obf(a, b, difference("higher"), looks=PLAN, planned_looks=PLAN)
    more = group_obf(a, b, difference("higher"), looks=[5, 8, 10, 15, 20], planned_looks=PLAN)
    assert more.nominal < planned.nominal


@pytest.mark.parametrize(
    ("looks", "planned", "message"),
    [
        ([5, 10], [5], "lies beyond the plan"),
        ([5], [], "planned looks are increasing"),
        ([5], [10, 5], "planned looks are increasing"),
        ([10, 5], [5, 10], "looks are increasing"),
    ],
)
def test_looks_outside_the_plan_are_refused(looks, planned, message):
    """
    Looks beyond the last planned one, and plans that do not increase, are refused.
    """
    with pytest.raises(ClaimError, match=message):
        group_obf(*arms(0.4), difference("higher"), looks=looks, planned_looks=planned)


@pytest.mark.parametrize(
    "question", [difference("higher"), equivalence(-1.4, 1.4), non_superiority(1.2, "higher")]
)
def test_conditional_power_is_the_chance_of_the_last_look(question):
    """
    With the present estimates as truth, continuations judged at the last look decide as often
    as the conditional power says, up to the error of its normal approximation.
    """
    a, b = arms(0.45, n=10, seed=5)
    chance = conditional_power(a, b, question, looks=[5, 10], planned_looks=PLAN)
    rng = np.random.default_rng([SEED, 9])
    more = []
    for arm in (a, b):
        now = arm.summary()
        added = rng.normal(now.mean, now.spread, (DRAWS, 10))
        more.append(np.hstack([np.tile(arm.values, (DRAWS, 1)), added]))
    level = 2 * stats.norm.sf(boundaries((0.25, 0.5, 1.0), question.tails * 0.05)[-1])
    interval = stats.ttest_ind(*more, axis=1, equal_var=False).confidence_interval(1 - level)
    inside = [(interval.low <= edge) & (edge <= interval.high) for edge in question.borders]
    assert 0.05 < chance < 0.95
    assert chance == pytest.approx(1 - np.mean(np.any(inside, axis=0)), abs=0.03)


def test_futile_where_the_rest_of_the_plan_will_hardly_decide():
    """
    Without a difference half-way the conditional power is below 10 % and the advice is to stop;
    at the end of the plan it is 0.
    """
    a, b = arms(0.0, n=10, seed=1)
    shifted = Sample.of(*(value - a.summary().mean + b.summary().mean for value in a.values))
    looks, question = [5, 10], difference("higher")
    chance = conditional_power(shifted, b, question, looks=looks, planned_looks=PLAN)
    result = group_obf(shifted, b, question, looks=looks, planned_looks=PLAN)
    assert chance < 0.10
    assert stop(result, chance=chance) == "futile"
    assert conditional_power(*arms(0.0), difference("higher"), looks=PLAN, planned_looks=PLAN) == 0


def test_an_excluded_replicate_takes_its_pair_with_it():
    """
    Looks count pairs of one replicate number; those without a partner are named.
    """
    a, b = arms(0.5, n=10)
    result = group_obf(
        a.without(3), b.without(7), difference("higher"), looks=[5, 8], planned_looks=[5, 8]
    )
    assert result.n == (8, 8)
    assert result.left_out == (3, 7)


def test_the_smallest_p_is_printed_as_an_upper_bound():
    """
    Where the search for a level ends, the report says at most, and not that it is this.
    """
    a, b = Sample.of(*(1e6 + value for value in range(20))), Sample.of(*range(20))
    found = group_obf(a, b, difference("higher"), looks=(10, 20), planned_looks=(10, 20))
    assert found.p == SMALLEST_P == fmt.FLOOR
    assert fmt.p_value(known(found.p)) == "p ≤ 1e−10"
