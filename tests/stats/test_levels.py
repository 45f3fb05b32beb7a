"""Error rates of the public tests, by simulation against the exact rates of ``power``.

Every cell calls the function that judges claims. The seed is written once; no rate may be
further than four binomial standard deviations from the exact one.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from repro.stats.counts import share
from repro.stats.power import (
    Array,
    PowerDesign,
    power_above,
    power_difference,
    power_equivalence,
    power_ratio,
)
from repro.stats.ranks import separation
from repro.stats.records import Sample, Summary, known
from repro.stats.replication import predict
from repro.stats.t_tests import (
    non_inferiority,
    non_superiority,
    ratio_of_geometric_means,
    student,
    tost,
    welch,
)

SEED = 1908
DRAWS = 5000
CELLS = pytest.mark.parametrize(
    ("n", "sd"), [(3, 1.0), (5, 1.0), (10, 1.0), (3, 3.0), (5, 3.0), (10, 3.0)]
)


def summaries(
    rng: np.random.Generator, n: int, mean: float, sd: float, draws: int = DRAWS
) -> list[Summary]:
    """Summaries of normal samples."""
    values = rng.normal(mean, sd, (draws, n))
    means, sds = values.mean(1), values.std(1, ddof=1)
    return [Summary(n, float(m), float(s)) for m, s in zip(means, sds, strict=True)]


def samples(values: Array) -> list[Sample]:
    """The rows of an array as samples."""
    return [Sample.of(*map(float, row)) for row in values]


def generator(*cell: float) -> np.random.Generator:
    """A generator of its own for each cell."""
    return np.random.default_rng([SEED, *(int(1000 * part) for part in cell)])


def assert_rate(hits: list[bool], expected: float) -> None:
    """The share of hits is the expected one, within four binomial standard deviations."""
    rate = float(np.mean(hits))
    assert abs(rate - expected) <= 4 * math.sqrt(expected * (1 - expected) / len(hits))


@CELLS
def test_welch_holds_its_level(n, sd):
    """
    Welch's test errs as often as computed, at most .053, and its interval covers the rest.
    """
    design = PowerDesign(sd, 1, n, n)
    level = 2 * power_difference(design, 0.0)
    assert level <= 0.0535
    rng = generator(n, sd)
    pairs = zip(summaries(rng, n, 7, sd), summaries(rng, n, 5, 1), strict=True)
    results = [welch(a, b) for a, b in pairs]
    assert_rate([2.0 not in known(result.interval) for result in results], level)


@CELLS
def test_welch_has_the_planned_power(n, sd):
    """
    Welch's test finds a difference as often as planned.
    """
    effect = 2 * math.hypot(sd, 1) / math.sqrt(n)
    rng = generator(n, sd, 1)
    pairs = zip(summaries(rng, n, effect, sd), summaries(rng, n, 0, 1), strict=True)
    results = [welch(a, b) for a, b in pairs]
    found = [known(result.p) <= 0.05 and result.effect > 0 for result in results]
    assert_rate(found, power_difference(PowerDesign(sd, 1, n, n), effect))


@pytest.mark.parametrize(
    ("n", "sd", "level"),
    [
        (3, 1.0, 0.05),
        (5, 1.0, 0.05),
        (10, 1.0, 0.05),
        (3, 3.0, 0.075),
        (5, 3.0, 0.067),
        (10, 3.0, 0.059),
    ],
)
def test_student_loses_its_level_where_spreads_differ(n, sd, level):
    """
    Student's test errs in .05 of cases with equal spreads, and as statistics.md 2.2 lists at 3:1.
    """
    rng = generator(n, sd, 2)
    pairs = zip(summaries(rng, n, 0, sd), summaries(rng, n, 0, 1), strict=True)
    assert_rate([known(student(a, b).p) <= 0.05 for a, b in pairs], level)


@CELLS
@pytest.mark.parametrize("place", [0.0, 1.0, 1.2])
def test_equivalence_holds_its_level(n, sd, place):
    """
    Equivalence is confirmed as often as computed: at the margin and beyond at most .051.
    """
    design, margin = PowerDesign(sd, 1, n, n), 4 * math.hypot(sd, 1) / math.sqrt(n)
    chance = power_equivalence(design, place * margin, low=-margin, high=margin)
    rng = generator(n, sd, place)
    pairs = zip(summaries(rng, n, place * margin, sd), summaries(rng, n, 0, 1), strict=True)
    assert_rate([known(tost(a, b, low=-margin, high=margin).p) <= 0.05 for a, b in pairs], chance)
    if place >= 1:
        assert chance <= 0.0515


@CELLS
def test_equivalence_is_falsely_contradicted_as_rarely(n, sd):
    """
    A difference exactly at the margin is found beyond it in at most .051 of cases.
    """
    margin = 4 * math.hypot(sd, 1) / math.sqrt(n)
    level = power_above(PowerDesign(sd, 1, n, n), 0.0, 0.0)
    assert level <= 0.0515
    rng = generator(n, sd, 3)
    pairs = zip(summaries(rng, n, margin, sd), summaries(rng, n, 0, 1), strict=True)
    results = [tost(a, b, low=-margin, high=margin) for a, b in pairs]
    assert_rate([known(result.p_opposite) <= 0.05 for result in results], level)


@CELLS
@pytest.mark.parametrize("distance", [0.0, 3.0])
def test_one_sided_margins_hold_their_level(n, sd, distance):
    """
    Non-superiority and non-inferiority err, and succeed, as often as computed.
    """
    scale, margin = math.hypot(sd, 1) / math.sqrt(n), 0.3
    design = PowerDesign(sd, 1, n, n)
    chance = power_above(design, distance * scale, 0.0)
    rng = generator(n, sd, 4, distance)
    gain = margin - distance * scale
    pairs = list(zip(summaries(rng, n, gain, sd), summaries(rng, n, 0, 1), strict=True))
    higher = [
        known(non_superiority(a, b, margin=margin, better="higher").p) <= 0.05 for a, b in pairs
    ]
    assert_rate(higher, chance)
    lower = [
        known(non_inferiority(a, b, margin=margin, better="lower").p) <= 0.05 for a, b in pairs
    ]
    assert lower == higher


@CELLS
@pytest.mark.parametrize("excess", [0.0, 3.0])
def test_a_ratio_holds_its_level(n, sd, excess):
    """
    The ratio of geometric means errs, and succeeds, as often as computed.
    """
    sd_a, sd_b, draws = 0.1 * sd, 0.1, 4000
    ratio = 3 * math.exp(excess * math.hypot(sd_a, sd_b) / math.sqrt(n))
    rng = generator(n, sd, 5, excess)
    a = samples(np.exp(rng.normal(math.log(400 * ratio), sd_a, (draws, n))))
    b = samples(np.exp(rng.normal(math.log(400), sd_b, (draws, n))))
    found = [
        known(ratio_of_geometric_means(x, y, at_least=3).p) <= 0.05
        for x, y in zip(a, b, strict=True)
    ]
    chance = power_ratio(PowerDesign(sd_a, sd_b, n, n), ratio, at_least=3)
    assert_rate(found, chance)
    if excess == 0:
        assert chance <= 0.0515


@pytest.mark.parametrize("n", [3, 5])
def test_separation_is_exact_for_like_arms(n):
    """
    Two like arms separate by chance in 1 / C(2n, n) of cases, either way.
    """
    rng = generator(n, 6)
    pairs = zip(
        samples(rng.normal(size=(DRAWS, n))), samples(rng.normal(size=(DRAWS, n))), strict=True
    )
    results = [separation(a, b, direction="higher") for a, b in pairs]
    assert_rate([known(result.p) <= 0.05 for result in results], 1 / math.comb(2 * n, n))
    assert_rate([known(result.p_opposite) <= 0.05 for result in results], 1 / math.comb(2 * n, n))


@pytest.mark.parametrize(("n", "least", "most"), [(3, 0.06, 0.08), (5, 0.0, 0.012)])
def test_separation_is_unsafe_only_for_three_unlike_arms(n, least, most):
    """
    At a 3:1 ratio of spreads three replicates separate in .07 of cases, five in under .01.
    """
    rng = generator(n, 7)
    a, b = samples(rng.normal(0, 3, (DRAWS, n))), samples(rng.normal(0, 1, (DRAWS, n)))
    hits = [
        known(separation(x, y, direction="higher").p) <= 0.05 for x, y in zip(a, b, strict=True)
    ]
    assert least <= np.mean(hits) <= most


@pytest.mark.parametrize("n", [5, 10, 30])
@pytest.mark.parametrize("of", [0.5, 0.7, 0.9])
def test_a_share_never_exceeds_its_level(n, of):
    """
    Summed over all outcomes, a share at its border is confirmed, or contradicted, in at most
    alpha of cases.
    """
    confirmed, contradicted = 0.0, 0.0
    for k in range(n + 1):
        result = share(Sample.of(*([1.0] * k + [2.0] * (n - k))), of=of, at_most=1)
        confirmed += stats.binom.pmf(k, n, of) * (known(result.interval).low > of)
        contradicted += stats.binom.pmf(k, n, of) * (known(result.interval).high < of)
    assert confirmed <= 0.05
    assert contradicted <= 0.05


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("sd", [1.0, 3.0])
def test_a_replication_lands_in_its_prediction_interval(n, sd):
    """
    The prediction interval covers the replication's effect in .940 (three replicates, spreads
    3:1) to .953 of cases.
    """
    rng = generator(n, sd, 8)
    draws = 4000
    original = [summaries(rng, 10, mean, one, draws) for mean, one in ((5, sd), (3, 1))]
    ours = [summaries(rng, n, mean, one, draws) for mean, one in ((5, sd), (3, 1))]
    hits = [
        (r_a.mean - r_b.mean) in predict((o_a, o_b), (r_a, r_b)).interval
        for o_a, o_b, r_a, r_b in zip(*original, *ours, strict=True)
    ]
    error = 4 * math.sqrt(0.05 * 0.95 / draws)
    assert 0.940 - error <= np.mean(hits) <= 0.953 + error


@pytest.mark.parametrize("n", [3, 5, 10])
def test_a_replicated_ratio_lands_in_its_prediction_interval(n):
    """
    Predicted from the original's raw mean and deviation, with a coefficient of variation of
    .1, the ratio of our geometric means is covered as well.
    """
    rng = generator(n, 9)
    draws = 4000
    raw = [np.exp(rng.normal(mean, 0.1, (draws, 10))) for mean in (3, 0)]
    original = [
        [Summary(10, float(m), float(s)) for m, s in zip(x.mean(1), x.std(1, ddof=1), strict=True)]
        for x in raw
    ]
    ours = [samples(np.exp(rng.normal(mean, 0.1, (draws, n)))) for mean in (3, 0)]
    hits = [
        r_a.geometric_mean / r_b.geometric_mean
        in predict((o_a, o_b), (r_a, r_b), ratio=True).interval
        for o_a, o_b, r_a, r_b in zip(*original, *ours, strict=True)
    ]
    error = 4 * math.sqrt(0.05 * 0.95 / draws)
    assert 0.940 - error <= np.mean(hits) <= 0.953 + error
