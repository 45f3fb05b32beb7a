from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from repro.errors import ClaimError
from repro.stats.counts import DRAWS, paired_outcomes, sign_test
from repro.stats.records import Sample, known

SEED = 1947
BETTER: Any = "more"
counts = st.integers(0, 30)


def units(*outcomes):
    """Two samples whose units come out as given: 1 a win of the first, -1 a loss, 0 a tie."""
    zero = Sample.of(*(0.0 for _ in outcomes))
    return Sample.of(*map(float, outcomes)), zero


@given(counts, counts, counts, st.sampled_from([0.25, 0.5, 0.8]))
def test_the_sign_test_is_binomial(wins, losses, ties, more_than):
    """
    p is the binomial tail of the untied units, and the interval Clopper and Pearson's of
    statsmodels; ties change neither.
    """
    wins += 18  # enough units to decide
    result = sign_test(wins, losses, ties, more_than=more_than)
    untied = wins + losses
    assert result.p == pytest.approx(stats.binom.sf(wins - 1, untied, more_than), rel=1e-9)
    assert result.p_opposite == pytest.approx(stats.binom.cdf(wins, untied, more_than), rel=1e-9)
    low, high = proportion_confint(wins, untied, alpha=0.1, method="beta")
    own = known(result.interval)
    assert (own.low, own.high) == pytest.approx((low, high), rel=1e-9)
    assert (result.effect, result.n) == (wins / untied, (untied,))
    assert result.ties == ties


def test_the_sign_test_by_hand():
    """
    Nine of ten: p = 11/1024, and 1023/1024 for the contrary.
    """
    result = sign_test(9, 1, 3)
    assert (result.p, result.p_opposite) == pytest.approx((11 / 1024, 1023 / 1024))
    assert (result.exact, result.wins, result.losses, result.ties) == (True, 9, 1, 3)
    assert result.low == 0.5


def test_units_are_matched_by_number():
    """
    A wins where its value of the same unit is better, wherever that stands; values equal up to
    round-off tie.
    """
    a = Sample((1.0, 0.1 + 0.2, 5.0, 7.0, 8.0, 9.0), (5, 4, 3, 2, 1, 0))
    b = Sample((8.0, 6.0, 6.0, 6.0, 0.3, 0.0), (0, 1, 2, 3, 4, 5))
    higher = paired_outcomes(a, b)
    lower = paired_outcomes(a, b, better="lower")
    assert (higher.wins, higher.losses, higher.ties) == (4, 1, 1)
    assert (lower.wins, lower.losses, lower.ties) == (1, 4, 1)
    assert higher.test == "sign"
    assert higher == sign_test(4, 1, 1)


def flips(sums):
    """One-sided p by all sign flips, tried one by one."""
    every = [
        sum(sign * one for sign, one in zip(signs, sums, strict=True))
        for signs in itertools.product((-1, 1), repeat=len(sums))
    ]
    return np.mean(np.array(every) >= sum(sums)), np.mean(np.array(every) <= sum(sums))


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from([-1, 0, 1])), min_size=12).filter(
        lambda rows: len({cluster for cluster, _ in rows}) >= 5 and any(sign for _, sign in rows)
    )
)
def test_all_sign_flips_by_hand(rows):
    """
    With clusters p is the share of sign flips of whole clusters at least as extreme.
    """
    a, b = units(*(sign for _, sign in rows))
    result = paired_outcomes(a, b, clusters=[cluster for cluster, _ in rows])
    sums = [sum(s for c, s in rows if c == k) for k in {c for c, _ in rows}]
    assert (result.p, result.p_opposite) == pytest.approx(flips(sums))
    assert result.clusters == len(sums)
    assert result.interval is None


@settings(deadline=None, max_examples=20)
@given(st.lists(st.sampled_from([-1, 1]), min_size=6, max_size=16))
def test_clusters_of_one_are_the_sign_test(outcomes):
    """
    Where every unit is its own cluster the flips are fair coins: the binomial sign test.
    """
    a, b = units(*outcomes)
    clustered = paired_outcomes(a, b, clusters=range(len(outcomes)))
    alone = paired_outcomes(a, b)
    assert (clustered.p, clustered.p_opposite) == pytest.approx((alone.p, alone.p_opposite))


def test_clusters_matter():
    """
    Forty of forty-eight units won, all in eight of twelve clusters of four, are not forty-eight
    independent wins.
    """
    outcomes = [1] * 32 + [-1] * 16
    a, b = units(*outcomes)
    assert known(paired_outcomes(a, b).p) < 0.02
    clustered = paired_outcomes(a, b, clusters=[i // 4 for i in range(48)])
    assert known(clustered.p) == pytest.approx(stats.binom.sf(7, 12, 0.5))


def test_many_clusters_are_drawn():
    """
    Beyond 16 clusters some flips are drawn: never p = 0, near the exact p, and the same in any
    order of units and arms.
    """
    rng = np.random.default_rng(SEED)
    outcomes = rng.choice([-1, 1], 60, p=[0.35, 0.65])
    a, b = units(*outcomes)
    labels = [i // 2 for i in range(60)]
    result = paired_outcomes(a, b, clusters=labels)
    assert result.exact is False
    swapped = paired_outcomes(b, a, clusters=labels)
    assert (swapped.p_opposite, swapped.p) == (result.p, result.p_opposite)
    backwards = Sample(a.values[::-1], a.replicates[::-1])
    assert paired_outcomes(backwards, b, clusters=labels[::-1]).p == result.p
    alone = paired_outcomes(a, b, clusters=range(60))
    exact = known(paired_outcomes(a, b).p)
    assert known(alone.p) == pytest.approx(exact, abs=4 * (exact / DRAWS) ** 0.5 + 2 / DRAWS)
    every = units(*[1] * 60)
    assert paired_outcomes(*every, clusters=range(60)).p == 1 / (DRAWS + 1)


@pytest.mark.parametrize("size", [1, 4])
def test_the_level_of_the_cluster_test(size):
    """
    Where arms are alike, and units of a cluster alike or independent, the cluster test errs in
    at most alpha of cases.
    """
    draws, rng = 400, np.random.default_rng([SEED, size])
    hits = 0
    for _ in range(draws):
        shared = np.repeat(rng.choice([-1, 1], 10), size)
        a, b = units(*shared)
        hits += (
            known(paired_outcomes(a, b, clusters=[i // size for i in range(10 * size)]).p) <= 0.05
        )
    expected = 11 / 1024
    assert abs(hits / draws - expected) <= 4 * np.sqrt(expected * (1 - expected) / draws)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sign_test(4, 0), "4 units cannot decide"),
        (lambda: sign_test(4, 0, alpha=0.07), ""),
        (lambda: sign_test(3, 0, more_than=0.7, alpha=0.02), "3 units cannot decide"),
        (lambda: sign_test(0, 0, 9), "every unit is a tie"),
        (lambda: sign_test(9, -1), "counts are not negative"),
        (lambda: sign_test(9, 1, more_than=1.0), "a share lies between 0 and 1"),
        (lambda: paired_outcomes(*units(1, 1, 1, 1, 1), better=BETTER), "better is lower"),
        (
            lambda: paired_outcomes(*units(1, 1, 1, 1, 1), clusters=range(5), more_than=0.6),
            "only more than one half",
        ),
        (
            lambda: paired_outcomes(*units(1, 1, 1, 1, 1, 1), clusters=(0, 0, 1, 1, 2, 3)),
            "4 clusters cannot decide",
        ),
        (
            lambda: paired_outcomes(*units(1, 1, 1, 1, 1), clusters=range(4)),
            "4 clusters are named for 5 units",
        ),
        (
            lambda: paired_outcomes(Sample.of(1.0, 2.0), Sample.of(1.0)),
            "paired_outcomes compares pairs.*no partner: 1 only in A",
        ),
        (
            lambda: paired_outcomes(Sample.of(1.0, 2.0).summary(), Sample.of(1.0)),
            "value of every replicate",
        ),
    ],
)
def test_what_cannot_be_counted_is_refused(call, message):
    """
    Too few units, clusters or pairs, impossible counts, unmatched units and summaries are
    refused; just enough are not.
    """
    if message:
        with pytest.raises(ClaimError, match=message):
            call()
    else:
        assert call().p > 0
