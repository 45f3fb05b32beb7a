"""Would another choice change the verdict? What is tried, what raises a flag, what is said."""

from __future__ import annotations

from typing import Any

import pytest

from repro.judging.document import Document
from repro.report.blocks import Paragraph, TableBlock
from repro.report.sections.analyses import all_analyses, robustness
from tests.judging.made import LOSS, judged, made
from tests.judging.test_kinds import difference

TRIMMED = {"a": (4.2, 4.5, 4.1, 4.6, 4.4, 4.3), "b": (4.6, 4.8, 4.5, 4.9, 4.4, 5.0)}
"""Welch p = .018, Student .017, permutation .032, Yuen .064."""

WON = {
    "a": (5.0, 4.89, 4.82, 5.02, 4.8, 5.2, 5.04, 4.99),
    "b": (5.36, 5.14, 5.16, 5.39, 5.96, 4.89, 5.88, 5.29),
}
"""a wins seven of eight: p = .035; without one of the seven .063."""

PLANNED = {"min": 2, "plan": 8}
PROPORTION = {"kind": "proportion", "of": ["a", "b"], "clusters": "none"}


def said(document: Document) -> list[str]:
    """The paragraphs of the section, as one reads them."""
    blocks = [one for one in robustness(document) if isinstance(one, Paragraph)]
    return [f"{one.lead} {one.text}".strip() for one in blocks]


def names(document: Document, choice: str) -> list[str]:
    """The analyses of the first expectation in which this was chosen."""
    return [one.name for one in document.robustness[0].analyses if one.choice == choice]


def test_no_flag_says_what_it_covers_and_which_analyses_differ() -> None:
    """Yuen's test alone concludes otherwise: no flag, and the same breath says so."""
    document = judged(made(difference(), seeds={"min": 2, "plan": 6}), TRIMMED)
    assert document.verdict.flags == ()
    assert said(document)[0] == (
        "No flag: the conclusion of the claim is the same without each seed in turn and by every "
        "other test of the same means. 1 of 17 other analyses concludes otherwise."
    )


def test_only_tests_of_means_are_other_tests_of_the_same_question() -> None:
    """Trimmed means and ranks are other quantities, whose tests have another null."""
    document = judged(made(difference(), seeds={"min": 2, "plan": 6}), TRIMMED)
    assert names(document, "test") == [
        "Student's t-test (equal variances)",
        "permutation of Welch's t",
    ]
    assert names(document, "quantity") == [
        "Brunner-Munzel test (ranks)",
        "Yuen's test (trimmed means)",
    ]
    assert names(judged(made(difference("yuen")), TRIMMED), "test") == []


@pytest.mark.parametrize(
    ("a", "b", "other"),
    [
        (
            (9.0, 6.7, 10.3),
            (12.1, 10.8, 11.3, 11.9, 11.1, 11.9, 12.1),
            "CONFIRMED",
        ),
        (
            (11.0, 10.8, 11.4),
            (11.3, 12.5, 13.0, 13.6, 12.3, 10.7, 12.1),
            "INCONCLUSIVE",
        ),
    ],
)
def test_another_test_of_the_means_raises_the_flag(
    a: tuple[float, ...], b: tuple[float, ...], other: str
) -> None:
    """Welch .103 and permutation .017; Welch .024 and Student .090 (scipy): the flag names both."""
    document = judged(made(difference(), seeds={"min": 2, "plan": 3}), {"a": a, "b": b})
    flags = [flag.text for flag in document.verdict.flags if flag.kind == "choice of test"]
    assert flags == [
        f"Loss, A minus B: by Student's t-test (equal variances) it would be {other}.",
        f"Loss, A minus B: by permutation of Welch's t it would be {other}.",
    ]


@pytest.mark.parametrize("design", ["independent", "paired"])
def test_units_of_a_proportion_are_left_out_whole(design: str) -> None:
    """Its units are matched by number, so the design makes no difference to what can be tried."""
    document = judged(made(PROPORTION, design=design, seeds=PLANNED), WON)
    (flag,) = document.verdict.flags
    assert flag.text == (
        "It hangs on one pair in 7 of 8 cases: without pair 0 it would be INCONCLUSIVE."
    )
    assert names(document, "seed") == [f"without pair {number}" for number in range(8)]
    assert len(document.results[0].left_out) == 8


def test_a_mean_beside_a_proportion_keeps_its_partners() -> None:
    """Of a difference single seeds are left out; the proportion beside it loses the whole unit."""
    document = judged(made(difference(), PROPORTION, seeds=PLANNED), WON)
    assert [len(one.left_out) for one in document.results] == [16, 8]
    assert {one.refused for part in document.robustness for one in part.analyses} == {""}
    flag = next(one for one in document.verdict.flags if one.kind == "one seed left out")
    assert flag.text == (
        "It hangs on one seed in 14 of 16 cases: without seed 0 (A) it would be INCONCLUSIVE."
    )


def clusters(first: int, shift: int = 0) -> dict[str, Any]:
    """Six arms of five points that fall together; in each the number ``first`` is far off."""
    return {
        arm: {
            "size": [place + 0.1 * i for i in range(5)],
            "loss": [-place + 0.05 * i + (9 * place if i == first else 0) for i in range(5)],
        }
        for place, arm in enumerate("abcdef")
    }


ASSOCIATION = {
    "kind": "association",
    "of": list("abcdef"),
    "against": "size",
    "points": "replicates",
    "direction": "negative",
}
SIZES = {"loss": LOSS, "size": {**LOSS, "label": "size"}}


def associated(**more: Any) -> Any:
    """A claim about points that are clustered by six arms."""
    seeds = {"min": 2, "plan": 5}
    return made(ASSOCIATION, arms="abcdef", measurements=SIZES, seeds=seeds, **more)


def test_clusters_lose_the_same_seed_of_every_arm() -> None:
    """Clusters change places only where they are alike, so each loses the same number."""
    document = judged(associated(), clusters(first=2))
    assert names(document, "seed") == [f"without seed {n} of every arm" for n in range(5)]
    (flag,) = document.verdict.flags
    assert flag.text == (
        "With one seed of every arm left out it stays CONTRADICTED in 4 of 5 cases: one seed of "
        "every arm can tip it, so more are needed, and none may be dropped."
    )


def test_no_flag_says_that_seeds_left_every_arm() -> None:
    """Where one number at a time was left out of all arms, that is what was tried."""
    document = judged(associated(), clusters(first=9))
    assert said(document)[0] == (
        "No flag: the conclusion of the claim is the same without each seed in turn, in every arm."
    )
    (table,) = [
        one for one in all_analyses(document) if isinstance(one, TableBlock) and len(one.rows) == 1
    ]
    assert table.rows[0][1] == "every arm"


def test_what_could_not_be_tried_is_said_with_its_reason() -> None:
    """Four units cannot decide, and nothing is called unchanged that was not tried."""
    a = {"a": WON["a"][:5], "b": WON["b"][:5]}
    one = {"kind": "proportion", "of": ["a", "b"], "clusters": "none"}
    document = judged(made(one, seeds={"min": 2, "plan": 5}), a)
    assert document.verdict.conclusion == "CONFIRMED"
    assert said(document)[0] == (
        "No flag, but none of the choices that could raise one was tried. Leaving out a seed could "
        "not be tried: 4 units cannot decide: even if all agree p = 0.0625, above alpha = 0.05 "
        "(one-sided); add units. 5 of 5 other analyses cannot be made."
    )
    (table,) = [
        one
        for one in all_analyses(document)
        if isinstance(one, TableBlock) and "Each" in one.caption
    ]
    why = (
        "cannot be tested 5 of 5 times (4 units cannot decide: even if all agree p = 0.0625, above "
        "alpha = 0.05 (one-sided); add units)"
    )
    assert table.rows == (("The units of loss, share in which A beats B", "every arm", why),)


def test_a_unit_without_a_partner_is_named_by_its_arm() -> None:
    """A reader knows arms by their labels, and no function by its name."""
    document = judged(made(PROPORTION, seeds=PLANNED), {**WON, "b": WON["b"][:7]})
    assert document.results[0].sentence == (
        "Not tested: units are matched by number, and some have no partner: 7 only in A; leave "
        "them out of every arm, or add their partners."
    )
