"""The level of a conclusion: in the record, and beside its word wherever it is shown."""

from __future__ import annotations

from html import escape
from typing import Any

import pytest

from repro.judging.assemble import document_of
from repro.judging.document import Document
from repro.judging.judge import judge_claim, judge_families
from repro.report.formats import rendered
from repro.report.junit import junit
from repro.report.parts import parts
from repro.report.to_paste import markdown
from repro.schema.numbers import NO_BREAK, unbroken
from tests.judging.made import judged, made, only, seen

LOW, HIGH = (10.0, 10.1, 9.9, 10.2, 9.8), (12.0, 12.3, 11.8, 12.1, 11.9)
VALUES = {"a": LOW, "b": HIGH}
WIDE = {"abs": 5, "why": "what matters"}
BETTER = {"kind": "difference", "of": ["a", "b"], "direction": "lower"}
SAME = {"kind": "equivalence", "of": ["a", "b"], "margin": WIDE}
KEPT = {"kind": "bound", "of": ["a"], "at_most": {"value": 11, "why": "a limit that matters"}}
E_PROCESS: dict[str, Any] = {
    "sequential": {"method": "eprocess_t"},
    "seeds": {"min": 4, "plan": 4, "max": 30},
}


@pytest.mark.parametrize(
    ("one", "level", "tails"),
    [
        (BETTER, 0.025, 1),
        ({**BETTER, "test": "permutation"}, 0.025, 1),
        ({**BETTER, "test": "brunner_munzel"}, 0.025, 1),
        ({**BETTER, "direction": "different"}, 0.05, 2),
        ({**BETTER, "smallest_effect": {"abs": 1, "why": "what matters"}}, 0.025, 1),
        ({**BETTER, "tails": 1}, 0.05, 1),
        (SAME, 0.05, 1),
        ({**SAME, "kind": "non_inferiority"}, 0.05, 1),
        (
            {
                "kind": "ratio",
                "of": ["b", "a"],
                "at_least": {"value": 1, "why": "as it is claimed"},
            },
            0.05,
            1,
        ),
        (
            {
                "kind": "separation",
                "of": ["b", "a"],
                "at_least": {"value": 1, "why": "as it is claimed"},
            },
            0.05,
            1,
        ),
        ({"kind": "proportion", "of": ["a", "b"], "clusters": "none"}, 0.05, 1),
        ({**KEPT, "share": {"value": 0.5, "why": "most of the seeds"}}, 0.05, 1),
        (KEPT, None, 1),
    ],
)
def test_the_level_of_an_expectation(one: Any, level: float | None, tails: int) -> None:
    """A direction by two tails has half of alpha; what is one-sided has alpha; a bound has none."""
    document = judged(made(one), VALUES)
    assert document.results[0].conclusion == "CONFIRMED"
    assert document.results[0].strength == document.verdict.strength
    part = document.verdict.strength
    assert part is not None
    assert (part.one_sided_level, part.tails, part.looks) == (level, tails, "one")


@pytest.mark.parametrize(("alpha", "told"), [(0.05, False), (0.08, True), (0.2, True)])
@pytest.mark.parametrize("b", [HIGH, (10.1, 10.4, 9.6, 10.5, 9.7)])
def test_a_level_above_five_percent_is_said_in_the_box(
    alpha: float, told: bool, b: tuple[float, ...]
) -> None:
    """Half of alpha alone would look like a strict test; of what stays open it is said too."""
    document = judged(made(BETTER, alpha=alpha), {"a": LOW, "b": b})
    table = parts(document)
    assert table is not None
    said = f"the declared level is {100 * alpha:g}%, above the usual 5%."
    assert (said in table.note.replace("The", "the")) == told
    pasted = markdown(document, {}, (), "repro compare").replace(f"{NO_BREAK}%", "%")
    assert (f"- {said[:-1]}" in pasted) == told


def test_an_association_has_the_level_of_its_direction() -> None:
    """Its p is two-sided: a sign is found at half of alpha."""
    fields = {
        "measurements": {
            "loss": {"kind": "reported", "label": "loss", "better": "lower"},
            "size": {"kind": "reported", "label": "size", "better": "higher"},
        }
    }
    one = {"kind": "association", "of": ["a"], "against": "size", "points": "replicates"}
    values = {"a": {"loss": list(LOW), "size": [2 * v for v in LOW]}}
    levels = []
    for claimed in ({"direction": "positive"}, {"direction": "different"}):
        found = only(made({**one, **claimed}, arms="a", **fields), values)
        assert found.strength is not None
        levels.append((found.strength.one_sided_level, found.strength.tails))
    assert levels == [(0.025, 1), (0.05, 2)]


def test_a_sequential_conclusion_says_when_it_holds() -> None:
    """The e-process at every look, whenever one stops; the planned looks together."""
    found = judged(made(BETTER, **E_PROCESS), VALUES, order="night").verdict
    assert found.strength is not None
    assert (found.strength.one_sided_level, found.strength.looks) == (0.025, "every")
    looks: dict[str, Any] = {
        "sequential": {"method": "group_obf", "looks": [4, 5]},
        "seeds": {"min": 4, "plan": 4, "max": 5},
    }
    planned = judged(made(SAME, **looks), VALUES, order="night").verdict.strength
    assert planned is not None
    assert (planned.one_sided_level, planned.looks) == (0.05, "planned")
    at_once = judged(made(BETTER, **E_PROCESS), VALUES).verdict.strength
    assert at_once is not None
    assert (at_once.one_sided_level, at_once.looks) == (0.025, "one")


def test_a_claim_is_as_strong_as_its_weakest_part() -> None:
    """A margin at 5 % beside a difference at 2.5 %; an exact part weakens nothing."""
    for several, level in (
        ((BETTER, SAME), 0.05),
        ((BETTER, KEPT), 0.025),
        ((KEPT, KEPT), None),
    ):
        document = judged(made(*several), VALUES)
        assert document.verdict.conclusion == "CONFIRMED"
        assert document.verdict.strength is not None
        assert document.verdict.strength.one_sided_level == level
    either = judged(made(BETTER, SAME, combine={"any": ["e0", "e1"]}), VALUES).verdict.strength
    assert either is not None
    assert either.one_sided_level == 0.05


def test_one_seed_beyond_a_bound_is_no_chance() -> None:
    """It contradicts a conjunction for certain, whatever the level of the other parts."""
    broken = {**KEPT, "at_most": {"value": 10, "why": "a limit that matters"}}
    both = judged(made(SAME, broken), VALUES).verdict
    assert both.conclusion == "CONTRADICTED"
    assert both.strength is not None
    assert both.strength.one_sided_level is None
    either = judged(made(SAME, broken, combine={"any": ["e0", "e1"]}), VALUES).verdict
    assert either.conclusion == "CONFIRMED"
    assert either.strength is not None
    assert either.strength.one_sided_level == 0.05


@pytest.mark.parametrize(("method", "level"), [("holm", 0.025), ("bh", 0.025), ("e_bh", 0.05)])
def test_a_family_has_the_level_of_the_family(method: str, level: float) -> None:
    """Its method keeps it over all members, and is named."""
    family = {"name": "two", "method": method, "members": ["x", "y"], "why": "about one loss"}
    more: dict[str, Any] = E_PROCESS if method == "e_bh" else {}
    claims = [made(BETTER, id=name, family=family, **more) for name in "xy"]
    alone = [judge_claim(claim, seen(claim, VALUES)) for claim in claims]
    for one in judge_families(alone):
        part = document_of(one).verdict.strength
        assert part is not None
        assert (part.one_sided_level, part.family) == (level, method)


def test_nothing_that_was_not_concluded_has_a_strength() -> None:
    """A test that was refused, a rule that is only repeated, and evidence that is not valid."""
    flat = judged(made(BETTER), {"a": (10.0,) * 5, "b": (11.0,) * 5})
    assert flat.verdict.strength is flat.results[0].strength is None
    repeated = {**BETTER, "test": "student", "role": "context", "rule": "as_published"}
    assert judged(made(SAME, repeated), VALUES).results[1].strength is None
    short = judged(made(BETTER, seeds={"min": 7, "plan": 7}), VALUES)
    assert short.verdict.validity == "INCOMPLETE"
    assert short.verdict.strength is short.results[0].strength is None


def test_three_of_three_say_what_they_can_carry() -> None:
    """All of three within a bound: at least .05 ** (1 / 3) of all seeds would be."""
    three = only(made(KEPT), {"a": LOW[:3], "b": HIGH[:3]})
    assert three.sentence.endswith("3 seeds show that for at least 36.8% of all (one-sided 95%).")
    assert pytest.approx(0.368, abs=5e-4) == 0.05 ** (1 / 3)
    beyond = only(made({**KEPT, "at_most": {"value": 10, "why": "a limit that matters"}}), VALUES)
    assert "of all" not in beyond.sentence


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (judged(made(BETTER), VALUES), "error rate at most 2.5%"),
        (judged(made({**BETTER, "direction": "different"}), VALUES), "error rate at most 5%"),
        (judged(made(SAME), VALUES), "error rate at most 5%"),
        (
            judged(made(BETTER, **E_PROCESS), VALUES, order="night"),
            "error rate at most 2.5% at every look",
        ),
        (judged(made(KEPT), VALUES), "exact, for these seeds"),
    ],
)
def test_every_rendering_shows_the_level_beside_the_word(document: Document, said: str) -> None:
    """HTML and JUnit; of the PDF its text is that of the HTML."""
    said += "" if "exact" in said else " if the test's assumptions hold"
    page = rendered(document)["report.html"].decode()
    shown = escape(unbroken(said))
    assert f"CONFIRMED ({shown})" in page  # of the part
    assert f"{shown[0].upper()}{shown[1:]}." in page  # of the claim, below its parts
    assert junit(document).count(f"found CONFIRMED ({unbroken(said)})") >= 2
