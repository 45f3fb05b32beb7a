"""Swapping the arms flips signs, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from repro.expectations.verdict_words import Conclusion
from repro.stats.records import TestResult
from tests.properties.kinds import (
    DIFFERENCES,
    FLIPPED,
    KINDS,
    ORDERS,
    SMALLEST,
    Kind,
    Values,
    claim_of,
    first,
    known_claim,
    plain,
    renamed,
    values_of,
    words,
    written,
)

SWAP = {"a": "b", "b": "a"}
PAIR = Kind(plain("ordering", direction="increasing"), n=4)
FLIPS = (
    *DIFFERENCES,
    *("ratio", "separation", "proportion", "proportion, clustered"),
    *("difference, eprocess_t", "difference, group_obf"),
)
KEEPS = (
    "difference, either way",
    *("equivalence, abs", "equivalence, of_gain"),
    *("equivalence, eprocess_t", "equivalence, group_obf"),
)


def close(p: float | tuple[float, float]) -> Any:
    """The p-values but for round-off."""
    return pytest.approx(p, rel=1e-7, abs=1e-300)


def effects(one: TestResult | None, other: TestResult | None) -> tuple[float, float]:
    """The effects of two tests that were not refused."""
    assert one is not None
    assert other is not None
    return one.effect, other.effect


@pytest.mark.parametrize("name", FLIPS)
@settings(max_examples=12)
@given(data=st.data())
def test_swapping_the_arms_turns_the_verdict_around(name: str, data: st.DataObject) -> None:
    """What is confirmed of A and B is contradicted of B and A, with the same p-values."""
    values = data.draw(values_of(KINDS[name]))
    own, other = (first(known_claim(name), v) for v in (values, renamed(values, SWAP)))
    if own.result is not None and own.result.test == "ratio" and own.result.exact:
        assume(own.result.effect != 1)  # at least once as large, from either side
    assert other.conclusion is FLIPPED[own.conclusion]
    assert (own.result is None) == (other.result is None)
    mine = own.finding.p, own.finding.p_opposite
    assert (other.finding.p_opposite, other.finding.p) == close(mine)


@pytest.mark.parametrize("name", KEEPS)
@settings(max_examples=12)
@given(data=st.data())
def test_a_symmetric_claim_does_not_know_its_first_arm(name: str, data: st.DataObject) -> None:
    """That two arms differ, or hardly do, is the same claim in either order."""
    values = data.draw(values_of(KINDS[name]))
    own, other = (first(known_claim(name), v) for v in (values, renamed(values, SWAP)))
    assert words(own) == words(other)
    mine = own.finding.p, own.finding.p_opposite
    assert (other.finding.p, other.finding.p_opposite) == close(mine)


@pytest.mark.parametrize("name", [*DIFFERENCES, *SMALLEST])
@settings(max_examples=10)
@given(data=st.data())
def test_lower_of_one_is_higher_of_the_other(name: str, data: st.DataObject) -> None:
    """A is lower than B exactly where B is higher than A; a smallest effect changes nothing."""
    values = data.draw(values_of(KINDS[name]))
    own = first(known_claim(name), values)
    other = first(claim_of(KINDS[name], of=["b", "a"], direction="higher"), values)
    assert words(own) == words(other)
    assert (other.finding.p, other.finding.p_opposite) == close(
        (own.finding.p, own.finding.p_opposite)
    )
    if own.result is not None:
        one, two = effects(own.result, other.result)
        total = 1.0 if own.result.test == "brunner_munzel" else 0.0
        assert one + two == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("way", ["abs", "of_gain"])
@settings(max_examples=12)
@given(data=st.data())
def test_not_better_is_not_worse_from_the_other_side(way: str, data: st.DataObject) -> None:
    """A is not better than B by a margin exactly where B is not worse than A by it."""
    own_kind, other_kind = (KINDS[f"non_{x}, {way}"] for x in ("superiority", "inferiority"))
    values = data.draw(values_of(own_kind))
    own = first(claim_of(own_kind), values)
    other = first(claim_of(other_kind, of=["b", "a"]), values)
    assert words(own) == words(other)
    assert other.finding.p == close(own.finding.p)
    assert other.finding.p_opposite == close(own.finding.p_opposite)


@settings(max_examples=20)
@given(data=st.data())
def test_a_ratio_turns_over(data: st.DataObject) -> None:
    """The ratio of B to A is the reciprocal of that of A to B, and so are the interval's ends."""
    values = data.draw(values_of(KINDS["ratio of two"]))
    claim = known_claim("ratio of two")
    own, other = (first(claim, v).result for v in (values, renamed(values, SWAP)))
    one, two = effects(own, other)
    assert one * two == pytest.approx(1, rel=1e-12)
    if own is not None and own.interval is not None:
        assert other is not None
        assert other.interval is not None
        assert own.interval.low * other.interval.high == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("name", ORDERS)
@settings(max_examples=10)
@given(data=st.data())
def test_rising_is_falling_the_other_way(name: str, data: st.DataObject) -> None:
    """Arms that rise in their order are arms that fall in the reverse of it."""
    kind = KINDS[name]
    values = data.draw(values_of(kind))
    own = first(known_claim(name), values)
    other = first(claim_of(kind, of=["c", "b", "a"], direction="decreasing"), values)
    assert words(own) == words(other)
    assert (other.finding.p, other.finding.p_opposite) == close(
        (own.finding.p, own.finding.p_opposite)
    )


@pytest.mark.parametrize("name", ["trend, jonckheere", "trend, kendall", "two arms in order"])
@settings(max_examples=12)
@given(data=st.data())
def test_falling_contradicts_rising(name: str, data: st.DataObject) -> None:
    """A trend that is confirmed one way is contradicted the other way; so is an order of two."""
    kind = KINDS.get(name, PAIR)
    values = data.draw(values_of(kind))
    own = first(claim_of(kind), values)
    other = first(claim_of(written(kind, direction="decreasing")), values)
    assert other.conclusion is FLIPPED[own.conclusion]


@settings(max_examples=15)
@given(data=st.data())
def test_an_order_and_its_reverse_are_never_both_confirmed(data: st.DataObject) -> None:
    """Arms that are confirmed to rise are contradicted to fall."""
    values = data.draw(values_of(KINDS["ordering"]))
    up = first(known_claim("ordering"), values).conclusion
    down = first(claim_of(KINDS["ordering"], direction="decreasing"), values).conclusion
    if Conclusion.CONFIRMED in (up, down):
        assert {up, down} == {Conclusion.CONFIRMED, Conclusion.CONTRADICTED}


ASSOCIATIONS = ("association, pearson", "association, spearman", "association, kendall")


def against(values: Values, sign: int) -> Values:
    """The values with the second measurement times a sign."""
    return {
        arm: {**own, "size": [sign * one for one in own["size"]]} for arm, own in values.items()
    }


@pytest.mark.parametrize("name", [*ASSOCIATIONS, "association, of arms"])
@settings(max_examples=10)
@given(data=st.data())
def test_the_sign_of_a_variable_is_that_of_the_association(name: str, data: st.DataObject) -> None:
    """With one variable's sign turned, so are the coefficient and the verdict; p stays."""
    values = data.draw(values_of(KINDS[name]))
    claim = known_claim(name)
    own, other = (first(claim, v) for v in (values, against(values, -1)))
    assert other.conclusion is FLIPPED[own.conclusion]
    if own.result is not None:
        one, two = effects(own.result, other.result)
        assert one == pytest.approx(-two, abs=1e-12)
        assert other.finding.p_opposite == close(own.finding.p)


@pytest.mark.parametrize(
    "name", [*ASSOCIATIONS, "magnitude_at_most, pearson", "magnitude_at_least, kendall"]
)
@settings(max_examples=7)
@given(data=st.data())
def test_an_association_does_not_know_its_first_variable(name: str, data: st.DataObject) -> None:
    """x goes with y exactly as y goes with x, and the size of it is without a sign."""
    kind = KINDS[name]
    values = data.draw(values_of(kind))
    own = first(known_claim(name), values)
    other = first(claim_of(kind, measurement="size", against="loss"), values)
    assert words(own) == words(other)
    assert other.finding.p == close(own.finding.p)
    if name.startswith("magnitude"):
        mirrored = first(known_claim(name), against(values, -1))
        assert mirrored.conclusion is own.conclusion
        assert mirrored.finding.p == close(own.finding.p)


MIRRORED: Mapping[str, str] = {"at_most": "at_least", "at_least": "at_most"}


@pytest.mark.parametrize("name", ["bound from above", "bound from below", "bound of a share"])
@settings(max_examples=12)
@given(data=st.data())
def test_a_bound_has_a_mirror_image(name: str, data: st.DataObject) -> None:
    """At most a limit is at least its negative, of the negative values."""
    kind = KINDS[name]
    values = data.draw(values_of(kind))
    expectation = kind.write(1.0, 1.0)
    (side,) = MIRRORED.keys() & expectation.keys()
    turned = {
        **{k: v for k, v in expectation.items() if k != side},
        MIRRORED[side]: {**expectation[side], "value": -expectation[side]["value"]},
    }
    mirror = Kind(lambda unit, wide: turned, arms="a", n=kind.n)
    negative = {"a": {"loss": [-one for one in values["a"]["loss"]]}}
    one = claim_of(mirror, of=["a"])
    own = first(known_claim(name), values)
    other = first(one, {"a": {**values["a"], **negative["a"]}})
    assert words(own) == words(other)
    assert own.finding == other.finding
