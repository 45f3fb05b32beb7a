"""The box: at most 30 words whatever a document holds; what matters is named by a rule."""

from __future__ import annotations

import pytest

from repro.judging.document import Document, FlagPart
from repro.judging.reason import MOST, headline, leaning, reason, sentence, together
from tests.judging.made import judged, made
from tests.judging.test_kinds import difference
from tests.report.cases import all_documents

BETTER = difference()
LOW, HIGH, WIDE = (9.8, 10.1, 9.9, 10.2, 10.0), (11.9, 12.1, 12.0, 12.2, 11.8), (8.0, 13.0, 9.5)


@pytest.mark.parametrize("name", list(all_documents()))
def test_a_box_has_at_most_thirty_words(name: str) -> None:
    """The reason that is there, and the one that is made of the parts; hostile texts too."""
    document = all_documents()[name]
    for said in (sentence(document), reason(document)):
        assert len(f"{headline(document)} {said}".split()) <= MOST


def test_a_long_reason_of_an_older_report_is_told_shortly() -> None:
    """Its own words stand where they are short enough."""
    document = judged(made(BETTER), {"a": LOW, "b": HIGH})
    assert sentence(document) == document.verdict.sentence
    verdict = document.verdict.model_copy(update={"sentence": "word " * 200})
    assert sentence(document.model_copy(update={"verdict": verdict})) == reason(document)


def test_parts_are_counted_and_what_goes_against_the_claim_is_named() -> None:
    """Five seeds decide nothing; the first arm looks worse, where it is claimed to be better."""
    values = {"a": (10.0, 12.5, 11.1, 13.0, 9.0), "b": (10.1, 9.0, 11.0, 10.0, 12.0)}
    document = judged(
        made(BETTER, {**BETTER, "smallest_effect": {"abs": 0.1, "why": "less does not matter"}}),
        values,
    )
    assert document.verdict.conclusion == "INCONCLUSIVE"
    assert document.verdict.sentence == (
        "Five seeds per arm decide none of the claim's two parts. "
        "On loss A looks worse than B, against the claim."
    )


def test_a_conjunction_that_holds_says_so_and_one_finding() -> None:
    document = judged(made(BETTER, BETTER), {"a": LOW, "b": HIGH})
    assert document.verdict.sentence == "Both parts hold. Loss: A is 2.00 lower than B."


def test_a_full_stop_in_a_label_ends_no_sentence() -> None:
    """Nor is a bracket of a label taken for an interval."""
    of = made(BETTER)
    arms = {
        name: arm.model_copy(update={"label": f"Adam vs. SGD (p = 0.1) {name}"})
        for name, arm in of.arms.items()
    }
    document = judged(of.model_copy(update={"arms": arms}), {"a": LOW, "b": HIGH})
    first = "Loss: Adam vs. SGD (p = 0.1) a is 2.00 lower than Adam vs. SGD (p = 0.1) b."
    assert document.verdict.sentence == f"{first} Better, as claimed."


@pytest.mark.parametrize(
    ("claimed", "effect", "lean"),
    [
        ("above", 0.6, "to"), ("above", 0.2, "short"), ("above", -0.1, "against"),
        ("below", -0.9, "to"), ("below", 0.9, "against"),
        ("between", 0.0, "to"), ("between", 2.0, "against"), ("outside", 2.0, "to"),
        ("none", 2.0, ""), ("above", None, ""),
    ],
)  # fmt: skip
def test_where_an_effect_lies(claimed: str, effect: float | None, lean: str) -> None:
    """On the claimed side of the limits, on the other side of none, or between."""
    result = judged(made(BETTER), {"a": LOW, "b": HIGH}).results[0]
    limits = (0.5,) if claimed == "above" else (-0.5,) if claimed == "below" else (-0.5, 0.5)
    parts = tuple({"value": value, "label": "limit", "why": ""} for value in limits)
    changed = {"effect": effect, "claimed": claimed, "limits": parts}
    one = type(result).model_validate({**result.model_dump(), **changed})
    assert leaning(one) == lean


def test_names_that_end_alike() -> None:
    """Their last word is told once."""
    assert (
        together(["validation perplexity", "test perplexity"]) == "validation and test perplexity"
    )
    assert together(["loss", "test perplexity"]) == "loss and test perplexity"


def test_doubts_are_in_the_heading() -> None:
    document = judged(made(BETTER), {"a": LOW, "b": HIGH})
    flag = FlagPart(kind="tolerance", text="it could turn")
    assert headline(_with(document)).endswith("scale")
    assert headline(_with(document, flag)).endswith(", but fragile")


def _with(document: Document, *flags: FlagPart) -> Document:
    verdict = document.verdict.model_copy(update={"flags": flags})
    return document.model_copy(update={"verdict": verdict})
