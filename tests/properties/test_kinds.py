"""The properties say something: values are drawn on which each kind is confirmed, or is not."""

from __future__ import annotations

import pytest
from hypothesis import Phase, find, settings

from repro.expectations.kinds import Expectation
from repro.expectations.verdict_words import Conclusion
from repro.schema.messages import all_kinds
from tests.properties.kinds import KINDS, Values, first, known_claim, values_of

ENOUGH = settings(
    max_examples=400, derandomize=True, database=None, deadline=None, phases=(Phase.generate,)
)
UNDECIDED = ("difference, either way",)
"""Kinds that nothing contradicts: that would take an equivalence."""


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_confirmed_and_contradicted_by_some_values(name: str) -> None:
    """Among the values that the properties draw some confirm the claim, and some contradict it."""
    claim = known_claim(name)
    wanted = {Conclusion.CONFIRMED, Conclusion.CONTRADICTED}
    if name in UNDECIDED:
        wanted.remove(Conclusion.CONTRADICTED)
    for word in sorted(wanted):

        def concludes(values: Values, word: Conclusion = word) -> bool:
            return first(claim, values).conclusion is word

        assert find(values_of(KINDS[name]), concludes, settings=ENOUGH)


def test_no_kind_of_expectation_is_left_out() -> None:
    """Every kind that a claim file may name has its properties tested.

    Those over tasks or items, whose values have two names, have theirs in ``test_tasks`` of
    expectations and in ``test_item_scores`` of statistics.
    """
    kinds = {*all_kinds(Expectation)} - {"over_tasks", "meta_analysis", "items"}
    assert kinds == {KINDS[name].write(1.0, 1.0)["kind"] for name in KINDS}
