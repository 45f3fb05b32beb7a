"""Messages name arms by their labels."""

from __future__ import annotations

from tests.judging.made import judged, made
from tests.judging.test_kinds import HIGH, LOW, difference


def test_seeds_without_a_partner_are_named_by_label() -> None:
    """`only in A` would be the place of the arm, and no name that the user gave."""
    of = made(difference("paired"), design="paired", seeds={"min": 3, "plan": 3})
    arms = {
        name: arm.model_copy(update={"label": label})
        for (name, arm), label in zip(of.arms.items(), ("with dropout", "plain"), strict=True)
    }
    document = judged(of.model_copy(update={"arms": arms}), {"a": LOW, "b": HIGH[:4]})
    assert "4 only in with dropout" in document.results[0].sentence
