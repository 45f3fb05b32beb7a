"""What every test result keeps to: p is a chance, the interval holds the estimate, both agree."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from repro.expectations.verdict_words import Conclusion
from repro.stats.records import TestResult
from tests.properties.kinds import (
    KINDS,
    Kind,
    claim_of,
    difference,
    first,
    known_claim,
    on_edge,
    values_of,
)

CONFIRMED, CONTRADICTED = Conclusion.CONFIRMED, Conclusion.CONTRADICTED
RATIOS = ("ratio", "ratio of two")
T_TESTS = [f"difference, {test}" for test in ("welch", "student", "paired", "yuen")]
REGIONS = (
    *(
        f"{kind}, {way}"
        for kind in ("equivalence", "non_superiority")
        for way in ("abs", "of_gain")
    ),
    *(f"non_inferiority, {way}" for way in ("abs", "of_gain")),
    *RATIOS,
    "bound of a share",
)


def holds(result: TestResult) -> None:
    """The interval is one, at a level, around the effect."""
    if result.interval is not None:
        slack = 1e-12 * max(1.0, abs(result.effect))
        assert result.interval.low - slack <= result.effect <= result.interval.high + slack
        assert 0 < result.interval.level < 1


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=10)
@given(data=st.data())
def test_a_p_value_is_a_chance(name: str, data: st.DataObject) -> None:
    """Every p lies in [0, 1], an interval holds its estimate, and a refused test finds nothing."""
    own = first(known_claim(name), data.draw(values_of(KINDS[name])))
    for p in (own.finding.p, own.finding.p_opposite):
        assert 0 <= p <= 1
    if own.result is None:
        assert own.refused
        assert own.conclusion is Conclusion.NOT_TESTED
        return
    for known in (own.result.p, own.result.p_opposite):
        assert known is None or 0 <= known <= 1
    holds(own.result)


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=10)
@given(data=st.data())
def test_a_conclusion_never_goes_beyond_its_p(name: str, data: st.DataObject) -> None:
    """What is confirmed has p at most alpha, what is contradicted the p of the contrary."""
    own = first(known_claim(name), data.draw(values_of(KINDS[name])))
    assume(not on_edge(own))
    sequential = own.result is not None and own.result.test in ("eprocess_t", "group_obf")
    if own.conclusion is CONFIRMED:
        assert own.finding.p <= 0.05
        assert sequential or own.finding.p_opposite > 0.05
    if own.conclusion is CONTRADICTED:
        assert own.finding.p_opposite <= 0.05
        assert sequential or own.finding.p > 0.05


@pytest.mark.parametrize("name", T_TESTS)
@settings(max_examples=12)
@given(data=st.data())
def test_p_and_interval_of_a_difference_agree(name: str, data: st.DataObject) -> None:
    """p is at most alpha exactly where the interval lies wholly on one side of 0."""
    own = first(known_claim(name), data.draw(values_of(KINDS[name])))
    assume(own.result is not None and not on_edge(own))
    assert own.result is not None
    assert own.result.interval is not None
    assert own.result.p is not None
    assert (own.result.p <= 0.05) == (0 not in own.result.interval)


@pytest.mark.parametrize("name", REGIONS)
@settings(max_examples=12)
@given(data=st.data())
def test_p_and_interval_of_a_region_agree(name: str, data: st.DataObject) -> None:
    """p is at most alpha where the interval lies inside, p_opposite where outside, nowhere else."""
    own = first(known_claim(name), data.draw(values_of(KINDS[name])))
    assume(own.result is not None and own.result.interval is not None and not on_edge(own))
    assert own.result is not None
    assert (own.finding.p <= 0.05) == (own.conclusion is CONFIRMED)
    assert (own.finding.p_opposite <= 0.05) == (own.conclusion is CONTRADICTED)


@pytest.mark.parametrize("test", ["welch", "student", "permutation", "brunner_munzel"])
@settings(max_examples=10)
@given(data=st.data())
def test_different_is_either_higher_or_lower(test: str, data: st.DataObject) -> None:
    """*Different* is confirmed exactly where one of the two directions is."""
    kind = Kind(difference(test), n=5)
    values = data.draw(values_of(kind))
    lower, higher, different = (
        first(claim_of(kind, direction=each), values).conclusion
        for each in ("lower", "higher", "different")
    )
    assert (different is CONFIRMED) == (CONFIRMED in (lower, higher))
    assert (CONFIRMED in (lower, higher)) == (CONTRADICTED in (lower, higher))
