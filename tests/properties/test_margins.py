"""What is easier to confirm is confirmed wherever the harder claim is."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.errors import ClaimError
from repro.expectations.decision_rules import by_interval
from repro.expectations.verdict_words import Conclusion
from repro.stats.records import Summary
from repro.stats.t_tests import MarginResult, non_inferiority_relative, tost, tost_relative
from tests.properties.kinds import (
    EXACT,
    KINDS,
    MARGINS,
    SIZES,
    SMALLEST,
    claim_of,
    first,
    known_claim,
    values_of,
)

CONFIRMED, CONTRADICTED = Conclusion.CONFIRMED, Conclusion.CONTRADICTED
SIZED = (
    *MARGINS,
    *SMALLEST,
    *("ratio of two", "proportion"),
    *(name for name in EXACT if name != "separation"),
    *SIZES,
    *(f"{kind}, {how}" for kind in ("equivalence", "non_superiority") for how in ("eprocess_t",)),
    *(f"{kind}, {how}" for kind in ("equivalence", "non_superiority") for how in ("group_obf",)),
)


@pytest.mark.parametrize("name", SIZED)
@settings(max_examples=12)
@given(data=st.data())
def test_a_wider_margin_never_unconfirms(name: str, data: st.DataObject) -> None:
    """With a wider margin, or a smaller size to exceed, what is confirmed stays confirmed."""
    values = data.draw(values_of(KINDS[name]))
    wide = data.draw(st.sampled_from((1.0625, 1.25, 2.0)))
    narrow, wider = (first(known_claim(name, 1.0, each), values) for each in (1.0, wide))
    assert (narrow.result is None) == (wider.result is None)
    if narrow.conclusion is CONFIRMED:
        assert wider.conclusion is CONFIRMED
    if wider.conclusion is CONTRADICTED:
        assert narrow.conclusion is not CONFIRMED
    if "relative" not in name:  # whose degrees of freedom change with the margin, and p a little
        assert wider.finding.p <= narrow.finding.p * (1 + 1e-9)
        assert wider.finding.p_opposite >= narrow.finding.p_opposite * (1 - 1e-9)


@pytest.mark.parametrize("kind", ["equivalence", "non_superiority", "non_inferiority"])
@settings(max_examples=12)
@given(data=st.data())
def test_confirmed_is_within_the_smallest_confirmable_margin(
    kind: str, data: st.DataObject
) -> None:
    """A margin just above the smallest confirmable one confirms, one just below does not."""
    name = f"{kind}, abs"
    values = data.draw(values_of(KINDS[name]))
    own = first(known_claim(name), values)
    if own.result is None:
        return
    assert isinstance(own.result, MarginResult)
    smallest = own.result.smallest_confirmable_margin
    for factor, confirmed in ((1 + 1e-6, True), (1 - 1e-6, False)):
        if smallest * factor > 0:
            margin = {"abs": smallest * factor, "why": "the edge of what can be confirmed"}
            again = first(claim_of(KINDS[name], margin=margin), values)
            assert (again.conclusion is CONFIRMED) == confirmed


arms = st.builds(Summary, st.integers(2, 30), st.floats(5, 50), st.floats(0.01, 3))
shares = st.floats(0.01, 0.4)


@settings(max_examples=30)
@given(arms, arms, shares, st.floats(1.01, 2))
def test_a_wider_relative_margin_never_unconfirms(
    a: Summary, b: Summary, relative: float, factor: float
) -> None:
    """Margins relative to mean B widen as absolute ones do, also on summaries."""
    for test, rule in (
        (tost_relative, by_interval),
        (
            partial(non_inferiority_relative, better="higher"),
            by_interval,
        ),
    ):
        try:
            narrow, wide = (
                rule(test(a, b, relative=size)) for size in (relative, factor * relative)
            )
        except ClaimError:
            continue
        assert narrow.conclusion is not CONFIRMED or wide.conclusion is CONFIRMED


@settings(max_examples=30)
@given(arms, arms, st.floats(0.1, 5), st.floats(0.1, 5), st.floats(1.01, 4))
def test_either_margin_may_widen(
    a: Summary, b: Summary, below: float, above: float, factor: float
) -> None:
    """Of two unequal margins each may widen alone."""
    narrow = by_interval(tost(a, b, low=-below, high=above))
    for low, high in ((-below * factor, above), (-below, above * factor)):
        wide = by_interval(tost(a, b, low=low, high=high))
        assert narrow.conclusion is not CONFIRMED or wide.conclusion is CONFIRMED
        assert wide.p <= narrow.p
