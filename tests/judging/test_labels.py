"""Messages name arms by their labels."""

from __future__ import annotations

import pytest

from repro.report.lookups import title_of
from tests.judging.made import LOSS, judged, made
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


@pytest.mark.parametrize(
    ("label", "head"),
    [("loss", "Loss: A is"), ("val_loss", "val_loss: A is"), ("eval.error", "eval.error: A is")],
)
def test_a_name_of_a_program_has_no_capital_at_the_start_of_a_sentence(
    label: str, head: str
) -> None:
    """`Val_loss` is the name of nothing."""
    claim = made(difference(), measurements={"loss": {**LOSS, "label": label}})
    document = judged(claim, {"a": (1.0, 1.1, 1.2), "b": (2.0, 2.1, 2.2)})
    assert document.results[0].sentence.startswith(head)
    assert title_of(document, document.results[0].id).startswith(head.partition(":")[0])
