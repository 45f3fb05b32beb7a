"""One arm against a constant: Student's t and the sign test, against scipy and by hand."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest
from scipy import stats

from repro.errors import ClaimError, TooFewError
from repro.expectations.decision_rules import by_interval, by_p
from repro.expectations.verdict_words import Conclusion
from repro.stats.one_sample import (
    Better,
    Side,
    level_where_sd_is,
    mean_level,
    mean_level_known_sd,
    median_level,
    p_of_scatter,
)
from repro.stats.records import Sample, Summary, known

SIDES: tuple[Side, ...] = ("at_least", "at_most")
LOSSES = Sample.of(3.2776, 3.2785, 3.2763, 3.2791, 3.2802, 3.2779, 3.2768, 3.2790)


@pytest.mark.parametrize(("side", "tail"), [("at_most", "less"), ("at_least", "greater")])
def test_a_mean_is_held_to_a_constant_by_students_t(
    side: Side, tail: Literal["less", "greater"]
) -> None:
    found = mean_level(LOSSES, side=side, limit=3.28, alpha=0.01)
    reference = stats.ttest_1samp(LOSSES.values, 3.28, alternative=tail)
    assert found.p == pytest.approx(reference.pvalue, rel=1e-12)
    assert found.p_opposite == pytest.approx(1 - reference.pvalue, rel=1e-9)
    assert found.statistic == pytest.approx(reference.statistic, rel=1e-12)
    assert (found.df, found.n) == (7, (8,))
    interval = stats.ttest_1samp(LOSSES.values, 3.28).confidence_interval(0.98)
    assert known(found.interval).low == pytest.approx(interval.low, rel=1e-12)
    assert known(found.interval).high == pytest.approx(interval.high, rel=1e-12)
    summary = LOSSES.summary()
    assert mean_level(summary, side=side, limit=3.28, alpha=0.01) == found


@pytest.mark.parametrize(("side", "sign"), [("at_most", 1), ("at_least", -1)])
def test_a_mean_with_a_known_standard_deviation_is_held_to_a_constant_by_z(
    side: Side, sign: int
) -> None:
    found = mean_level_known_sd(LOSSES, sd=0.0013, side=side, limit=3.28, alpha=0.001)
    mean, se = float(np.mean(LOSSES.values)), 0.0013 / np.sqrt(8)
    assert found.p == pytest.approx(stats.norm.cdf(sign * (mean - 3.28) / se), rel=1e-12)
    assert found.p_opposite == pytest.approx(stats.norm.sf(sign * (mean - 3.28) / se), rel=1e-12)
    assert found.statistic == pytest.approx((mean - 3.28) / se, rel=1e-12)
    low, high = stats.norm.interval(0.998, loc=mean, scale=se)
    assert known(found.interval).low == pytest.approx(low, rel=1e-12)
    assert known(found.interval).high == pytest.approx(high, rel=1e-12)
    assert (found.df, found.n) == (None, (8,))


def test_the_z_test_holds_its_level_and_loses_it_where_the_scatter_is_larger() -> None:
    """At the limit, over 40,000 samples of four that scatter as declared, or twice as much."""
    generator, n, draws = np.random.default_rng(13), 4, 40_000
    for factor in (1.0, 2.0):
        means = generator.normal(3.28, factor * 0.0013, (draws, n)).mean(axis=1)
        p = [
            mean_level_known_sd(
                Summary(n, float(mean), None), sd=0.0013, side="at_most", limit=3.28
            )
            for mean in means
        ]
        share = np.mean([known(each.p) <= 0.05 for each in p])
        expected = stats.norm.sf(stats.norm.isf(0.05) / factor)
        assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / draws)


def test_a_known_standard_deviation_decides_for_equal_replicates_and_for_one() -> None:
    equal = mean_level_known_sd(Sample.of(3.27, 3.27), sd=0.01, side="at_most", limit=3.28)
    assert not equal.exact
    assert equal.p == pytest.approx(stats.norm.sf(2**0.5))
    alone = mean_level_known_sd(Sample.of(3.27), sd=0.01, side="at_most", limit=3.28)
    assert alone.p == pytest.approx(stats.norm.sf(1))


def test_interval_and_p_of_a_mean_agree() -> None:
    """The interval ends below the limit exactly where p is below alpha."""
    generator = np.random.default_rng(28)
    for _ in range(200):
        sample = Sample.of(*map(float, generator.normal(0.4, 1.0, 6)))
        found = mean_level(sample, side="at_least", limit=0.0)
        finding = by_interval(found, edge_is_claimed=True).conclusion
        assert (finding is Conclusion.CONFIRMED) == (known(found.p) < 0.05)
        assert (finding is Conclusion.CONTRADICTED) == (known(found.p_opposite) < 0.05)


@pytest.mark.parametrize("n", [5, 8, 11, 20])
@pytest.mark.parametrize("side", ["at_most", "at_least"])
def test_a_median_is_held_to_a_constant_by_signs(n: int, side: Side) -> None:
    """scipy's binomial test of the side, and its interval of the median by order."""
    generator = np.random.default_rng(n)
    for _ in range(20):
        values = generator.lognormal(size=n)
        found = median_level(Sample.of(*map(float, values)), side=side, limit=1.0)
        within = int(np.sum(values < 1.0 if side == "at_most" else values > 1.0))
        reference = stats.binomtest(within, n, 0.5, alternative="greater").pvalue
        assert found.p == pytest.approx(reference, rel=1e-12)
        assert found.effect == pytest.approx(np.median(values), rel=1e-15)
        interval: Any = stats.quantile_test(values, p=0.5).confidence_interval(0.9)
        assert known(found.interval).low == interval.low
        assert known(found.interval).high == interval.high
        if found.p != found.p_opposite:
            inside = by_interval(found, edge_is_claimed=True).conclusion
            assert by_p(found).conclusion is inside


def test_a_value_at_the_limit_keeps_it() -> None:
    """The limit is claimed: of the null, a median beyond it, at most half of all values keep it."""
    values = Sample.of(1.0, 1.0, 0.5, 0.6, 0.7, 0.8)
    found = median_level(values, side="at_most", limit=1.0)
    assert [found.p, found.p_opposite] == pytest.approx([1 / 64, 1.0])
    found = median_level(values, side="at_least", limit=1.0)
    assert [found.p, found.p_opposite] == pytest.approx([57 / 64, 22 / 64])
    summed = median_level(Sample.of(*[0.1 + 0.2] * 6), side="at_most", limit=0.3)
    assert summed.p == pytest.approx(1 / 64)


@pytest.mark.parametrize("side", ["at_most", "at_least"])
def test_ties_at_the_limit_never_cost_the_level(side: Side) -> None:
    """Exactly, of values on three points: whatever their chances, if the claim is false.

    The claim is false where the lower (or the upper) median lies beyond the limit, so that at most
    half of all values keep it.
    """
    signs = {"at_most": 1.0, "at_least": -1.0}[side]
    n, alpha = 9, 0.05
    for keeps in (0.5, 0.45, 0.2):
        for tied in (0.0, 0.3, keeps):
            chances = (keeps - min(tied, keeps), min(tied, keeps), 1 - keeps)
            wrong = 0.0
            for below in range(n + 1):
                for at in range(n + 1 - below):
                    counts = (below, at, n - below - at)
                    values = [-signs] * below + [0.0] * at + [signs] * counts[2]
                    found = median_level(Sample.of(*values), side=side, limit=0.0, alpha=alpha)
                    if found.p is not None and found.p <= alpha:
                        wrong += float(stats.multinomial.pmf(counts, n, chances))
            assert wrong <= alpha


@pytest.mark.parametrize(
    ("side", "better", "p", "p_opposite"),
    [
        ("at_most", "lower", 7, 63),
        ("at_least", "higher", 64, 1),
        ("at_most", "higher", 1, 64),
        ("at_least", "lower", 63, 7),
    ],
)
def test_what_diverged_lies_beyond_any_limit_on_the_worse_side(
    side: Side, better: Better, p: int, p_opposite: int
) -> None:
    """Five of six below 3.28, and one that was given the next value, but has none."""
    values = (3.270, 3.271, 3.272, 3.273, 3.274, 3.274000003)
    sample = Sample(values, tuple(range(6)), diverged=(5,))
    found = median_level(sample, side=side, limit=3.28, better=better)
    assert known(found.p) * 64 == pytest.approx(p)
    assert known(found.p_opposite) * 64 == pytest.approx(p_opposite)
    end = known(found.interval).high if better == "lower" else known(found.interval).low
    assert math.isinf(end)


def test_of_a_median_among_censored_values_only_a_bound_is_known() -> None:
    sample = Sample.of(*(3000.0, 3500.0, 3900.0), *[4000.0] * 5)
    found = median_level(sample, side="at_least", limit=3500.0, censored_at=4000.0)
    assert (found.effect, found.beyond) == (4000.0, ">")
    assert known(found.interval).high == math.inf
    assert known(found.interval).low == 3500.0
    half = Sample.of(*(3000.0, 3500.0, 3800.0), *[4000.0] * 3)
    found = median_level(half, side="at_least", limit=3500.0, censored_at=4000.0)
    assert (found.effect, found.beyond) == (3900.0, ">")
    most = Sample.of(*(3000.0, 3500.0, 3800.0, 3900.0), *[4000.0] * 2)
    found = median_level(most, side="at_least", limit=3500.0, censored_at=4000.0)
    assert (found.effect, found.beyond) == (3850.0, "")


def test_where_most_diverged_the_median_has_no_value() -> None:
    values = Sample((0.9, 0.8, 0.7, 0.7, 0.7), tuple(range(5)), diverged=(2, 3, 4))
    found = median_level(values, side="at_least", limit=0.6, better="higher")
    assert (found.effect, found.beyond) == (0.7, "<")
    assert known(found.p_opposite) == pytest.approx(0.5)


@pytest.mark.parametrize("values", [(1.0,) * 5, (100.0,) * 5, (0.93,) * 8, (0.0,) * 3])
def test_equal_replicates_say_nothing_of_a_mean(values: tuple[float, ...]) -> None:
    """At a limit of the scale, where rare failures hide, and elsewhere: 1 / 2^n is no p of a mean.

    Of the median it is.
    """
    for side in SIDES:
        with pytest.raises(ClaimError, match="nothing of their mean; declare `range` and `items`"):
            mean_level(Sample.of(*values), side=side, limit=0.5)
    median = median_level(Sample.of(*values), side="at_most", limit=200.0, alpha=0.2)
    assert median.p == pytest.approx(0.5 ** len(values))


def test_what_cannot_decide_is_refused() -> None:
    with pytest.raises(TooFewError, match="a single value has no variance"):
        mean_level(Sample.of(1.0), side="at_most", limit=2.0)
    with pytest.raises(TooFewError, match=r"4 replicates cannot decide: .* p = 0.0625, above"):
        median_level(Sample.of(1.0, 2.0, 3.0, 4.0), side="at_most", limit=9.0)
    with pytest.raises(ClaimError, match="needs the value of every replicate"):
        median_level(Summary(9, 1.0, 0.1), side="at_most", limit=2.0)
    for sd in (0.0, float("inf"), float("nan")):
        with pytest.raises(ClaimError, match="finite and above 0"):
            mean_level_known_sd(LOSSES, sd=sd, side="at_most", limit=2.0)
    with pytest.raises(ClaimError, match="finite number"):
        mean_level(LOSSES, side="at_most", limit=float("nan"))


def test_a_scatter_beyond_the_known_one_has_the_p_of_chi_squared() -> None:
    """Against scipy's distribution; a single value, or a printed mean alone, says nothing."""
    values = (1.0, 2.0, 4.0, 4.5)
    reference = stats.chi2.sf(3 * np.var(values, ddof=1) / 0.8**2, 3)
    assert p_of_scatter(Sample.of(*values), 0.8) == pytest.approx(reference)
    assert p_of_scatter(Sample.of(1.0), 0.8) is None
    assert p_of_scatter(Summary(5, 1.0, None), 0.8) is None


def test_the_level_that_is_lost_is_found_by_simulation() -> None:
    """Twice the scatter that is taken for known, 40,000 means of four seeds at the limit."""
    values = 2.0 * np.random.default_rng(4).standard_normal((40_000, 4))
    rate = np.mean(values.mean(axis=1) / (1.0 / 2) > stats.norm.isf(0.05))
    assert level_where_sd_is(2.0, sd=1.0) == pytest.approx(rate, abs=0.008)


@pytest.mark.parametrize("limit", [4.0, 5.0])
def test_what_was_not_reached_does_not_keep_a_limit_beyond_the_budget(limit: float) -> None:
    """Values of 4 or more are not known to be at most 4, nor to be above 5."""
    found = median_level(Sample.of(4.0, 4.0, 4.0, 4.0, 4.0), side="at_most", limit=limit,
                         censored_at=4.0)  # fmt: skip
    assert found.p == 1.0
    above = median_level(Sample.of(4.0, 4.0, 4.0, 4.0, 4.0), side="at_least", limit=limit,
                         censored_at=4.0)  # fmt: skip
    assert above.p_opposite == 1.0
    assert known(above.p) == (1 / 32 if limit == 4.0 else 1.0)
