"""Values that differ by the order of floating-point additions alone: one value to every test."""

from __future__ import annotations

import math

import pytest

from repro.errors import ClaimError
from repro.expectations.decision_rules import certain, conclude_ratio
from repro.expectations.verdict_words import Conclusion
from repro.stats.correlation import association
from repro.stats.counts import bound, share
from repro.stats.ranks import brunner_munzel, separation
from repro.stats.records import Sample, beyond, levelled
from repro.stats.t_tests import ratio_of_geometric_means
from repro.stats.trends import trend

SUM = 0.1 + 0.2
"""0.30000000000000004."""


def test_beyond_is_more_than_round_off() -> None:
    """Infinite limits are beyond everything, and nothing is beyond itself."""
    assert SUM > 0.3
    assert not beyond(SUM, 0.3)
    assert beyond(0.3 * (1 + 1e-11), 0.3)
    assert beyond(0.0, -math.inf)
    assert not beyond(math.inf, math.inf)
    assert beyond(-0.3, -SUM * (1 + 1e-11))


def test_levelled_values_are_ties() -> None:
    """The smallest of each cluster stands for it; what differs stays as it is."""
    a, b = levelled(Sample.of(SUM, 1.0, -2.0), Sample.of(0.3, 1.0 + 1e-9))
    assert a.values == (0.3, 1.0, -2.0)
    assert b.values == (0.3, 1.0 + 1e-9)


def test_a_chain_of_values_is_not_one_value() -> None:
    """Each is compared with the first of its cluster, so that steps do not add up."""
    chain = [1.0 + 0.7e-12 * step for step in range(6)]
    (sample,) = levelled(Sample.of(*chain))
    assert len(set(sample.values)) == 3
    pairs = zip(chain, sample.values, strict=True)
    assert all(abs(before - after) <= 1e-12 for before, after in pairs)


@pytest.mark.parametrize("least", [1.1, 1.5, 2, 3, 5, 7, 10])
def test_a_ratio_that_is_met_exactly_is_at_least_that(least: float) -> None:
    """Whatever the decimals: 0.3 is three times 0.1, and a little less is not."""
    for tenths in range(1, 200):
        b = tenths / 10
        a = round(b * least, 6)
        found = ratio_of_geometric_means(Sample.of(*[a] * 5), Sample.of(*[b] * 5), at_least=least)
        assert conclude_ratio(found).conclusion is Conclusion.CONFIRMED, (a, b)
        less = Sample.of(*[a * (1 - 1e-9)] * 5)
        found = ratio_of_geometric_means(less, Sample.of(*[b] * 5), at_least=least)
        assert conclude_ratio(found).conclusion is Conclusion.CONTRADICTED, (a, b)


def test_arms_that_agree_are_not_separated() -> None:
    """Neither above nor below, and in no pair."""
    found = separation(Sample.of(*[SUM] * 5), Sample.of(*[0.3] * 5), direction="higher")
    assert (found.p, found.p_opposite, found.effect) == (1.0, 1.0, 0.0)
    found = separation(Sample.of(*[SUM] * 5), Sample.of(*[0.1] * 5), direction="higher", factor=3)
    assert (found.p, found.effect) == (1.0, 0.0)


def test_ranks_of_values_that_agree_are_ties() -> None:
    """Where nothing else differs there is nothing to rank; else they count one half."""
    with pytest.raises(ClaimError, match="all values of both arms agree"):
        brunner_munzel(Sample.of(*[SUM] * 6), Sample.of(*[0.3] * 6))
    found = brunner_munzel(Sample.of(SUM, 1, 2, 3), Sample.of(0.3, 1, 2, 3))
    assert found.effect == 0.5
    assert found.p == pytest.approx(1.0)


@pytest.mark.parametrize("test", ["jonckheere", "kendall"])
def test_a_trend_of_round_off_is_none(test: str) -> None:
    """Groups that agree are in no order."""
    groups = [Sample.of(*[value] * 4) for value in (0.3, SUM, 0.3 + 2e-16)]
    with pytest.raises(ClaimError, match="all values are equal"):
        trend(groups, direction="increasing", test=test)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["spearman", "kendall"])
def test_ranks_of_points_that_agree_are_ties(method: str) -> None:
    """A point that differs by round-off has the rank of its twin."""
    y = Sample.of(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    dust = association(Sample.of(SUM, 0.3, 1, 2, 3, 4), y, method=method)  # type: ignore[arg-type]
    twin = association(Sample.of(0.3, 0.3, 1, 2, 3, 4), y, method=method)  # type: ignore[arg-type]
    assert dust.effect == twin.effect
    assert dust.p == twin.p


def test_a_bound_that_is_met_is_kept() -> None:
    """Up to round-off, on either side, and no further."""
    sample = Sample.of(SUM, 0.3, 0.2)
    assert (
        certain(holds=not bound(sample, at_most=0.3).violators).conclusion is Conclusion.CONFIRMED
    )
    assert bound(Sample.of(0.3, 0.4), at_least=SUM).violators == ()
    assert bound(Sample.of(0.3 + 1e-9, 0.2), at_most=0.3).violators == (0,)
    assert share(sample, of=0.5, at_most=0.3).effect == 1.0
