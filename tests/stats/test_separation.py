from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from repro.errors import ClaimError
from repro.stats.ranks import separation
from repro.stats.records import Sample, Summary, beyond

LOW, HIGH = Sample.of(1.0, 2.0, 3.0), Sample.of(10.0, 11.0, 12.0)
triples = st.lists(st.floats(-9, 9), min_size=3, max_size=6)


@pytest.mark.parametrize(
    ("a", "b", "direction", "factor", "p", "p_opposite", "pairs"),
    [
        (HIGH, LOW, "higher", 1.0, 0.05, 1.0, 1.0),
        (LOW, HIGH, "higher", 1.0, 1.0, 0.05, 0.0),
        (LOW, HIGH, "lower", 1.0, 0.05, 1.0, 1.0),
        (HIGH, LOW, "lower", 1.0, 1.0, 0.05, 0.0),
        (HIGH, LOW, "higher", 3.0, 0.05, 1.0, 1.0),
        (HIGH, LOW, "higher", 10 / 3, 1.0, 1.0, 8 / 9),
        (HIGH, LOW, "higher", 4.0, 1.0, 1.0, 6 / 9),
        (LOW, HIGH, "lower", 4.0, 1.0, 1.0, 6 / 9),
        (LOW, HIGH, "higher", 2.0, 1.0, 0.05, 0.0),
        (LOW, LOW, "higher", 1.0, 1.0, 1.0, 3 / 9),
    ],
)
def test_separation(a, b, direction, factor, p, p_opposite, pairs):
    """
    Only complete separation by the factor has the exact p; a tie, as at 10/3, separates nothing.
    """
    result = separation(a, b, direction=direction, factor=factor)
    assert (result.p, result.p_opposite) == (p, p_opposite)
    assert result.effect == pytest.approx(pairs)


def test_ten_against_ten():
    """
    Ten against ten, separated, has half of the two-sided exact p of 1.1e-5.
    """
    a, b = Sample.of(*range(10, 20)), Sample.of(*range(10))
    result = separation(a, b, direction="higher")
    assert result.p == 1 / 184_756
    exact = stats.mannwhitneyu(a.values, b.values, alternative="greater", method="exact")
    assert result.p == pytest.approx(exact.pvalue, rel=1e-12)


@given(triples, triples)
def test_the_directions_mirror_each_other(x, y):
    """
    A higher than B is B lower than A.
    """
    a, b = Sample.of(*x), Sample.of(*y)
    one = separation(a, b, direction="higher")
    other = separation(b, a, direction="lower")
    assert (one.p, one.p_opposite, one.effect) == (other.p, other.p_opposite, other.effect)


def test_too_few_replicates_are_refused():
    """
    Two against three cannot reach .05, three against three just can, and .01 needs more.
    """
    with pytest.raises(ClaimError, match=r"2 and 3 replicates cannot decide.*p = 0\.1"):
        separation(Sample.of(1.0, 2.0), LOW, direction="higher")
    assert separation(HIGH, LOW, direction="higher", alpha=0.05).p == 0.05
    with pytest.raises(ClaimError, match="cannot decide"):
        separation(HIGH, LOW, direction="higher", alpha=0.01)


@pytest.mark.parametrize(
    ("a", "direction", "factor", "message"),
    [
        (HIGH, "higher", 0.5, "at least 1"),
        (HIGH, "higher", float("inf"), "finite"),
        (HIGH, "up", 1.0, "higher or lower"),
        (Sample.of(-1.0, 2.0, 3.0), "higher", 2.0, "values above 0"),
        (Summary(3, 1.0, 1.0), "higher", 1.0, "value of every replicate"),
    ],
)
def test_meaningless_separations_are_refused(a, direction, factor, message):
    """
    Factors below 1, unknown directions, negative values under a factor and summaries are refused.
    """
    with pytest.raises(ClaimError, match=message):
        separation(a, LOW, direction=direction, factor=factor)


few = st.lists(st.sampled_from([0.0, 1.0, 1.0 + 1e-13, 2.0, -3.5, 7.25]), min_size=3, max_size=9)


@pytest.mark.parametrize("direction", ["higher", "lower"])
@given(few, few)
def test_pairs_are_counted_one_by_one(direction, a, b):
    """
    The share of pairs is that of looking at each pair, ties up to round-off aside.
    """
    first, second = Sample.of(*a), Sample.of(*b)
    upper, lower = (a, b) if direction == "higher" else (b, a)
    pairs = sum(beyond(x, y) for x in upper for y in lower)
    result = separation(first, second, direction=direction)
    assert result.effect == pytest.approx(pairs / (len(a) * len(b)))
