"""Another unit of measurement, in the values and in every margin, changes no verdict."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.properties.kinds import (
    KINDS,
    each,
    first,
    known_claim,
    on_edge,
    values_of,
    words,
)

UNITS = (0.001, 0.7, 3.0, 1024.0, 98765.432)


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=10)
@given(data=st.data())
def test_a_unit_changes_no_verdict(name: str, data: st.DataObject) -> None:
    """In any unit the verdict is the same, and so are the p-values."""
    values = data.draw(values_of(KINDS[name]))
    unit = data.draw(st.sampled_from(UNITS))
    own = first(known_claim(name), values)
    other = first(
        known_claim(name, unit), each(values, lambda column: [unit * one for one in column])
    )
    assume(not on_edge(own))
    assert words(own) == words(other)
    assert (other.finding.p, other.finding.p_opposite) == pytest.approx(
        (own.finding.p, own.finding.p_opposite), rel=1e-5, abs=1e-300
    )


@pytest.mark.parametrize("name", [name for name in KINDS if name.startswith("ass")])
@settings(max_examples=10)
@given(data=st.data())
def test_each_variable_of_an_association_has_its_own_unit(name: str, data: st.DataObject) -> None:
    """A correlation has no unit, so each of its variables may change its own."""
    values = data.draw(values_of(KINDS[name]))
    unit = data.draw(st.sampled_from(UNITS))
    scaled = {
        arm: {**own, "size": [unit * one for one in own["size"]]} for arm, own in values.items()
    }
    own, other = (first(known_claim(name), v) for v in (values, scaled))
    assume(not on_edge(own))
    assert words(own) == words(other)
    if own.result is not None and other.result is not None:
        assert own.result.effect == pytest.approx(other.result.effect, abs=1e-9)


LEVELS = st.lists(st.integers(0, 8).map(lambda step: 9 + step / 8), min_size=4, max_size=6)
