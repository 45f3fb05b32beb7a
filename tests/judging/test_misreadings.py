"""Verdicts, flags and sentences that a reader could take for more, or for other, than they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from repro.evidence.evidence import PublishedArm, TableSource, TidyTable
from repro.evidence.published import PublishedNumbers
from repro.judging.assemble import check_claim, document_of
from repro.judging.design_power import design_parts
from repro.judging.document import Document
from repro.judging.gather import from_table
from repro.judging.judge import judge_claim, judge_families
from repro.judging.registration import recorded
from repro.registry.registry import Registry
from repro.specs.arm import Arm
from repro.specs.claim import Claim
from repro.store.run_store import RunStore
from tests.judging.made import LOSS, judged, made, only
from tests.judging.test_kinds import HIGH, LOW, difference, margin

TWO = {"abs": 2.0, "why": "two units of loss"}
WEAK = (9.38, 11.98, 9.68, 11.08, 9.78)
PRINTED = {
    "expectation": "e0",
    "locator": "Table 1",
    "arms": {
        name: {"mean": mean, "sd": "0.2", "n": 5} for name, mean in (("a", "10"), ("b", "12"))
    },
}


def numbered(of: Claim, first: int, n: int) -> Document:
    """a wins in each of n units, numbered from ``first``."""
    seeds = range(first, first + n)
    rows = {
        arm: {seed: {"loss": value} for seed in seeds} for arm, value in (("a", 1.0), ("b", 2.0))
    }
    return check_claim(of, from_table(of, TidyTable(TableSource("made.csv", "0" * 64), rows)))


@pytest.mark.parametrize("first", [0, 1, 2, 100])
def test_clusters_are_counted_from_the_first_unit(first: int) -> None:
    """12 units are 4 clusters of 3, too few to decide, also where a table counts from 1."""
    of = made({"kind": "proportion", "of": ["a", "b"], "clusters": 3})
    document = numbered(of, first, 12)
    assert document.verdict.conclusion == "NOT-TESTED"
    assert "4 clusters cannot decide" in document.verdict.sentence
    assert numbered(of, first, 15).results[0].p == pytest.approx(1 / 32)


def test_clusters_in_a_row_lose_no_unit() -> None:
    """Without unit 0 the units of every cluster would be others, and so would the question."""
    of = made({"kind": "proportion", "of": ["a", "b"], "clusters": 3})
    (result,) = numbered(of, 0, 15).results
    assert {each.conclusion for each in result.left_out} == {None}
    assert all("units in a row" in each.refused for each in result.left_out)


def test_ties_are_said_to_be_left_out() -> None:
    """6 wins, no loss, 94 ties: what is confirmed is a share of the units that do not tie."""
    one = {"kind": "proportion", "of": ["a", "b"], "clusters": "none"}
    found = only(made(one), {"a": [1.0] * 100, "b": [2.0] * 6 + [1.0] * 94})
    assert found.conclusion == "CONFIRMED"
    assert found.statement.endswith("in more than 50%, ties left out")
    assert "in 6 and loses in 0, 94 ties left out. More than 50%, as claimed" in found.sentence


@pytest.mark.parametrize(("method", "n"), [("pearson", 4), ("kendall", 5)])
def test_the_fewest_points_of_a_correlation_are_judged(method: str, n: int) -> None:
    """None of them can be left out, which is no reason to judge nothing."""
    sizes = {"loss": LOSS, "size": {**LOSS, "label": "size"}}
    arms = "abcde"[:n]
    one = {"kind": "association", "of": list(arms), "against": "size", "points": "arms"}
    of = made({**one, "method": method, "direction": "positive"}, arms=arms, measurements=sizes)
    values = {
        arm: {"loss": [i, i + 0.2], "size": [i * i, i * i + 0.3]} for i, arm in enumerate(arms)
    }
    found = only(of, values)
    assert found.conclusion == "CONFIRMED"
    assert "without_one_point" not in found.details


def test_seeds_of_the_same_arms_are_not_planned_as_points_of_their_own() -> None:
    """At worst the seeds of an arm agree: five arms can find what their five means can."""
    sizes = {"loss": LOSS, "size": {**LOSS, "label": "size"}}
    one = {"kind": "association", "of": list("abcde"), "against": "size", "direction": "positive"}
    seeds, means = (
        design_parts(made({**one, "points": points}, arms="abcde", measurements=sizes))[0]
        for points in ("replicates", "arms")
    )
    assert seeds.minimum_detectable is not None
    assert seeds.minimum_detectable == means.minimum_detectable


def baseline(mean: str, sd: str, values: list[float], **more: Any) -> Document:
    """My values of a against a printed b."""
    printed = PublishedNumbers(published={"loss": PublishedArm(mean=mean, sd=sd, n=5)})
    plain = made(difference(**more))
    arms = {"a": plain.arms["a"], "b": Arm(label="B", source=printed)}
    of = plain.model_copy(update={"arms": arms})
    rows = {"a": {seed: {"loss": value} for seed, value in enumerate(values)}}
    return check_claim(of, from_table(of, TidyTable(TableSource("made.csv", "0" * 64), rows)))


@pytest.mark.parametrize(
    ("mean", "sd", "flagged"),
    [
        ("11", "0.2", True),
        ("11.0", "0.2", False),
        ("10.60", "0.0", True),
        ("10.600", "0.00", False),
    ],
)
def test_a_conclusion_that_hangs_on_printed_digits_is_flagged(
    mean: str, sd: str, *, flagged: bool
) -> None:
    """11 may be 10.5, and a deviation of 0.0 may be 0.05; 11.0 and 0.00 leave less room."""
    values = [10.4, 10.6, 10.3, 10.7, 10.55] if mean.startswith("11") else [10.52, 10.55, 10.54]
    document = baseline(mean, sd, values)
    assert document.verdict.conclusion == "CONFIRMED"
    texts = [one.text for one in document.verdict.flags if one.kind == "rounding"]
    assert bool(texts) == flagged
    if flagged:
        (text,) = texts
        assert text == (
            "Loss, A minus B: within the rounding of the printed numbers (B) it could be "
            "INCONCLUSIVE."
        )


def test_a_part_that_a_tree_does_not_need_is_no_matter_of_holm() -> None:
    """With *any*, a part contradicted at p = 4e-8 says nothing about a Holm level."""
    tree = {"any": ["e0", "e1"]}
    document = judged(
        made(difference(), difference(direction="higher"), combine=tree), {"a": LOW, "b": HIGH}
    )
    assert document.verdict.conclusion == "CONFIRMED"
    assert "multiplicity" not in {one.kind for one in document.verdict.flags}
    undecided = made(difference(direction="higher"), margin("equivalence", TWO), combine=tree)
    document = judged(undecided, {"a": LOW, "b": HIGH})
    assert document.verdict.conclusion == "INCONCLUSIVE"
    assert "multiplicity" not in {one.kind for one in document.verdict.flags}
    assert not any("Holm" in step.text for step in document.changes)


@pytest.mark.parametrize(
    ("direction", "word"), [("lower", "CONFIRMED"), ("higher", "CONTRADICTED")]
)
def test_what_its_family_leaves_open_is_explained_by_the_family(direction: str, word: str) -> None:
    """p = 0.03 alone, 0.09 among three: the step names the family, and no Holm of one part."""
    names = ["made", "second", "third"]
    family = {"name": "both", "method": "holm", "members": names, "why": "all are about loss"}
    of = made(difference(direction=direction), family=family)
    (one,) = judge_families([judge_claim(of, from_table(of, table(WEAK, HIGH)))])
    document = document_of(one)
    assert document.verdict.conclusion == "INCONCLUSIVE"
    (step,) = document.changes
    assert step.text == (
        f"By itself the claim is {word}, but not at its level among the 3 claims of its family: "
        "fresh seeds, declared first, would tell."
    )


def table(a: tuple[float, ...], b: tuple[float, ...]) -> TidyTable:
    rows = {
        arm: {seed: {"loss": value} for seed, value in enumerate(own)}
        for arm, own in (("a", a), ("b", b))
    }
    return TidyTable(TableSource("made.csv", "0" * 64), rows)


@pytest.mark.parametrize(
    "one",
    [margin("equivalence", {"relative": 0.2, "why": "a fifth of b"}), difference("brunner_munzel")],
    ids=["relative", "brunner_munzel"],
)
def test_effects_in_other_units_are_not_set_beside_the_papers(one: Any) -> None:
    """A relative difference, or a chance, is no difference of means: there is nothing to print."""
    document = judged(made(one, published=[PRINTED]), {"a": LOW, "b": HIGH})
    assert document.verdict.agreement == "NOT-CHECKABLE"
    assert "replication should lie" not in document.verdict.agreement_reason
    assert "units" in document.verdict.agreement_reason


def test_a_difference_that_is_found_is_never_called_equality() -> None:
    """0.004 of pairs, of which each scatters by 0.16, is printed with the digits that it takes."""
    high = [value + 0.004 + place / 10_000 for place, value in enumerate(LOW, start=-2)]
    found = only(made(difference(test="paired"), design="paired"), {"a": LOW, "b": high})
    assert found.conclusion == "CONFIRMED"
    assert found.sentence.startswith("Loss: A is 0.004 lower than B (95% interval")
    relative = margin("equivalence", {"relative": 0.01, "why": "one in a hundred"})
    low, high = [1 + value / 1e6 for value in LOW], [1 + value / 1e6 for value in HIGH]
    found = only(made(relative), {"a": low * 1, "b": high})
    assert found.sentence.startswith("Loss: A is 0.000200% lower than B (90% interval")


def test_seeds_without_a_partner_are_named() -> None:
    """A sequential test looks at pairs: seeds 5 to 7 of a and 25 to 27 of b have none."""
    seeds = {"min": 4, "plan": 4, "max": 30}
    of = made(difference(), sequential={"method": "eprocess_t"}, seeds=seeds)
    rows = {
        "a": {seed: {"loss": value} for seed, value in enumerate((*LOW, 9.9, 10.1, 10.0))},
        "b": {
            seed if seed < 5 else seed + 20: {"loss": value}
            for seed, value in enumerate((*HIGH, 11.9, 12.1, 12.0))
        },
    }
    found = from_table(of, TidyTable(TableSource("made.csv", "0" * 64), rows))
    document = check_claim(of, replace(found, tables={}))
    assert document.results[0].details["without_a_partner"] == "5, 6, 7, 25, 26, 27; left out"
    whole = judged(of, {"a": LOW, "b": HIGH}, order="finished")
    assert "without_a_partner" not in whole.results[0].details


def test_a_claim_on_a_table_is_never_called_declared_beforehand(tmp_path: Path) -> None:
    """Nothing of it is run, so its numbers were there first: no record is made or claimed."""
    of = made(difference())
    registry = Registry(RunStore(tmp_path / "store"))
    registry.register(of)
    one = recorded(judge_claim(of, from_table(of, table(LOW, HIGH))), registry)
    registration = document_of(one).registration
    assert registration is not None
    assert registration.state == "none"


def test_a_part_that_was_never_tested_hides_no_fragility() -> None:
    """e0 cannot be tested at all; that e1, which decides alone, hangs on one seed is still said."""
    flat = {"a": [10.0] * 4, "b": [11.0] * 4, "c": [11.9, 10.8, 11.3, 11.5]}
    other = {**difference(), "of": ["a", "c"]}
    of = made(difference(), other, arms="abc", combine={"any": ["e0", "e1"]})
    document = judged(of, flat)
    assert [one.conclusion for one in document.results] == ["NOT-TESTED", "CONFIRMED"]
    assert document.verdict.conclusion == "CONFIRMED"
    assert "one seed left out" in {one.kind for one in document.verdict.flags}


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (difference(), "Better, as claimed"),
        (margin("non_inferiority"), "Not worse by 0.5 or more, as claimed"),
    ],
    ids=["difference", "margin"],
)
def test_a_verdict_that_stands_says_when_it_was_reached(one: Any, said: str) -> None:
    """Decided at 4 pairs; what came later points the other way, and is not the reason."""
    seeds = {"min": 4, "plan": 4, "max": 30}
    of = made(one, sequential={"method": "eprocess_t"}, seeds=seeds)
    late = {"a": (*LOW, *(value + 3 for value in LOW * 2)), "b": (*HIGH, *LOW, *LOW)}
    document = judged(of, late, order="finished")
    assert document.verdict.conclusion == "CONFIRMED"
    assert document.verdict.sentence.startswith("Loss, first 4 pairs: A is 2.00 lower than B")
    assert said in document.results[0].sentence
    first, _, later = document.results[0].sentence.partition(
        " That was decided at 4 pairs and stands, whatever came later."
    )
    assert first.startswith("Loss, first 4 pairs: A is 2.00 lower than B")
    assert later.startswith(" All 15 pairs: A is 1.33 higher than B")
    assert "drift" in {flag.kind for flag in document.verdict.flags}
    early = judged(of, {"a": LOW[:4], "b": HIGH[:4]})
    assert early.verdict.conclusion == "CONFIRMED"
    assert "decided at" not in early.results[0].sentence


def test_an_undecided_tree_names_how_its_parts_are_joined() -> None:
    """Each of two holds at p = 0.03 alone and none at Holm's level: the reason is how they join."""
    joined = "The declared combination (at least one of e0, e1 by Holm) is not decided."
    other = {**difference(), "of": ["a", "c"]}
    of = made(difference(), other, arms="abc", combine={"any": ["e0", "e1"]})
    document = judged(of, {"a": WEAK, "b": HIGH, "c": [value + 0.02 for value in HIGH]})
    assert [one.conclusion for one in document.results] == ["CONFIRMED", "CONFIRMED"]
    assert document.verdict.conclusion == "INCONCLUSIVE"
    assert document.verdict.sentence.startswith(joined)
    flat = made(difference(), {**other, "of": ["d", "c"]}, arms="abcd", combine=of.combine)
    document = judged(flat, {"a": WEAK, "b": HIGH, "c": [12.0] * 5, "d": [11.0] * 5})
    assert [one.conclusion for one in document.results] == ["CONFIRMED", "NOT-TESTED"]
    assert document.verdict.conclusion == "INCONCLUSIVE"
    assert document.verdict.sentence.startswith(joined)


def test_printed_seeds_are_not_told_to_grow() -> None:
    """A number of seeds for both arms is no advice where one of them is printed."""
    document = baseline("10.70", "0.20", [10.4, 10.6, 10.3, 10.9, 10.55])
    assert document.verdict.conclusion == "INCONCLUSIVE"
    (step,) = document.changes
    assert step.text == (
        "Loss, A minus B: how many seeds would settle it is not computed: "
        "printed ones (B) cannot grow."
    )


@pytest.mark.parametrize(
    "how", [{"method": "eprocess_t"}, {"method": "group_obf", "looks": [3, 6]}], ids=str
)
def test_a_look_at_which_nothing_varied_says_nothing(how: dict[str, Any]) -> None:
    """It is left out of the looks that are shown, and the later ones stand as they are."""
    of = made(difference(), seeds={"min": 3, "plan": 3, "max": 6}, sequential=how)
    values = {"a": [1.0, 1, 1, 3, 1, 1], "b": [1.0, 1, 1, 1, 2, 1]}
    document = judged(of, values, order="finished")
    (part,) = document.sequential
    assert [look.seeds for look in part.looks] == ([4, 5, 6] if "g" not in str(how) else [6])
    assert document.results[0].p is not None
