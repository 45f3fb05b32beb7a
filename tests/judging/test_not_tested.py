"""A test that refuses the evidence is NOT-TESTED: a word of its own, and never fragile."""

from __future__ import annotations

from typing import Any

import pytest

from repro.evidence.evidence import TableSource, TidyTable
from repro.expectations.verdict_words import NOT_TESTED
from repro.judging.assemble import document_of
from repro.judging.document import Document
from repro.judging.exit_status import exit_code, verdict_of
from repro.judging.gather import from_table
from repro.judging.interim import should_stop
from repro.judging.judge import judge_claim, judge_families
from repro.report.formats import rendered
from repro.report.junit import junit
from repro.report.markdown import summary
from repro.specs.claim import Claim, Expect
from tests.judging.made import judged, made, seen

BETTER = {"kind": "difference", "of": ["a", "b"], "direction": "lower"}
PAIRED = {**BETTER, "test": "paired"}
LOW, HIGH = (10.0, 10.1, 9.9, 10.2, 9.8), (12.0, 12.3, 11.8, 12.1, 11.9)
FLAT = {"a": (10.0,) * 5, "b": (11.0,) * 5}


def on_rows(claim: Claim, rows: dict[str, dict[int, float]]) -> Document:
    """The document of a claim on values by seed."""
    values = {
        arm: {seed: {"loss": value} for seed, value in own.items()} for arm, own in rows.items()
    }
    table = TidyTable(TableSource("made.csv", "0" * 64), values)
    return document_of(judge_claim(claim, from_table(claim, table)))


def one_partner_missing() -> Document:
    """Pairs of which the one numbered 5 has no partner, so that the paired test refuses them."""
    claim = made(PAIRED, design="paired", seeds={"min": 4, "plan": 4})
    a = dict(enumerate(LOW)) | {5: 10.0}
    return on_rows(claim, {"a": a, "b": dict(enumerate(HIGH))})


def test_a_missing_partner_is_not_tested_and_no_pair_is_to_be_dropped() -> None:
    """A paired test that never ran has no conclusion to hang on one pair."""
    document = one_partner_missing()
    assert document.verdict.conclusion == "NOT-TESTED"
    assert "one seed left out" not in {flag.kind for flag in document.verdict.flags}
    assert document.results[0].left_out == ()
    assert document.robustness == ()
    assert "some have no partner" in document.verdict.sentence
    assert exit_code([verdict_of(document)]) == 3


def test_more_seeds_are_no_advice_where_they_would_not_help() -> None:
    """Arms without variance stay so; too few replicates are another matter."""
    flat = judged(made(BETTER), FLAT)
    assert flat.verdict.sentence.startswith("Not tested, and more seeds would not help: ")
    assert "use ratio (then an exact comparison), separation or bound" in flat.results[0].sentence
    assert flat.changes[0].text == (
        "Loss, A minus B: use ratio (then an exact comparison), separation or bound."
    )
    few = judged(made({**BETTER, "test": "permutation"}), {"a": LOW[:3], "b": HIGH[:3]})
    assert few.verdict.conclusion == "NOT-TESTED"
    assert few.verdict.sentence.startswith("Not tested: 3 and 3 replicates cannot decide")
    assert few.changes[0].text.endswith("add replicates.")


@pytest.mark.parametrize(("expected", "code"), [("not_tested", 0), ("inconclusive", 3)])
def test_it_may_be_expected(expected: Any, code: int) -> None:
    """A claim may declare it, and only the word itself is as expected."""
    claim = made(BETTER, expect=Expect(conclusion=expected, why="its arms cannot vary"))
    document = judged(claim, FLAT)
    assert document.verdict.expected == expected.upper().replace("_", "-")
    assert document.verdict.as_expected == (code == 0)
    assert exit_code([verdict_of(document)]) == code


def test_an_alternative_hides_nothing() -> None:
    """Of two that may hold, what is tested decides alone, at its level among both."""
    tree = {"any": ["e0", "e1"]}
    claim = made(BETTER, {**BETTER, "of": ["c", "b"]}, arms="abc", combine=tree)
    document = judged(claim, {"a": (11.0,) * 5, "b": (12.0,) * 5, "c": LOW})
    assert [one.conclusion for one in document.results] == ["NOT-TESTED", "CONFIRMED"]
    assert document.verdict.conclusion == "CONFIRMED"
    assert all("NOT-TESTED" not in flag.text for flag in document.verdict.flags)


def test_a_refused_part_is_not_repeated_without_some_seeds() -> None:
    """Without pair 5 the refused test would run, and the whole would hold: no flag says so."""
    open_ = {**BETTER, "of": ["a", "b"], "smallest_effect": {"abs": 2.1, "why": "what matters"}}
    tree = {"any": ["e0", "e1"]}
    claim = made(PAIRED, open_, design="paired", seeds={"min": 4, "plan": 4}, combine=tree)
    a = dict(enumerate(LOW)) | {5: 10.0}
    document = on_rows(claim, {"a": a, "b": dict(enumerate(HIGH))})
    assert document.results[0].conclusion == "NOT-TESTED"
    assert document.verdict.conclusion == "INCONCLUSIVE"
    assert "without pair 5" not in " ".join(flag.text for flag in document.verdict.flags)


@pytest.mark.parametrize("tree", [None, {"all": ["e0", "e1"]}])
def test_why_a_part_is_refused_is_told_and_so_is_what_the_other_found(tree: Any) -> None:
    """Whoever reads that one of two has no result learns why, and what became of the other."""
    claim = made(BETTER, {**BETTER, "of": ["c", "b"]}, arms="abc", combine=tree)
    document = judged(claim, {"a": (11.0,) * 5, "b": (12.0,) * 5, "c": LOW})
    assert document.verdict.conclusion == "NOT-TESTED"
    head = "One of its two parts could not be tested." if tree is None else "The declared comb"
    assert document.verdict.sentence.startswith(head)
    assert "More seeds would not help: " in document.verdict.sentence
    assert [part.conclusion for part in document.results] == ["NOT-TESTED", "CONFIRMED"]


def test_a_refusal_names_the_arms_and_not_the_letters_of_the_statistics() -> None:
    """A user has no arms A and B."""
    margin = {"relative": 0.1, "why": "a tenth of the other"}
    claim = made({"kind": "equivalence", "of": ["x", "y"], "margin": margin}, arms="xy")
    document = judged(claim, {"x": LOW, "y": (-0.1, 0.1, -0.2, 0.15, 0.02)})
    assert "the mean of Y, -0.006, is not safely different from 0" in document.results[0].sentence
    document = judged(claim, {"x": (0.0,) * 5, "y": LOW})
    assert "X is 0 in every replicate, so no share of the mean of Y" in document.results[0].sentence


@pytest.mark.parametrize(
    ("expected", "outcome"),
    [("not_tested", "as expected"), ("confirmed", "not as expected: CONFIRMED was")],
)
def test_what_a_file_declares_is_told_as_declared(expected: Any, outcome: str) -> None:
    """Whether it was a prediction or was written down after the runs, only its reason can say."""
    claim = made(BETTER, expect=Expect(conclusion=expected, why="its arms cannot vary"))
    page = rendered(judged(claim, FLAT))["report.html"].decode()
    word = expected.upper().replace("_", "-")
    assert f"<b>Expected, {word}:</b> <bdi>Its arms cannot vary." in page
    assert outcome in page


def test_a_family_counts_it_as_having_found_nothing() -> None:
    """Its p is 1, so Holm doubles the p of the other member; it keeps its word."""
    family = {"name": "two", "method": "holm", "members": ["x", "y"], "why": "about one loss"}
    x, y = (made(BETTER, id=name, family=family) for name in "xy")
    alone = [judge_claim(x, seen(x, {"a": LOW, "b": HIGH})), judge_claim(y, seen(y, FLAT))]
    first, second = (document_of(one) for one in judge_families(alone))
    assert first.verdict.conclusion == "CONFIRMED"
    assert second.verdict.conclusion == "NOT-TESTED"
    assert first.family is not None
    assert [one.value for one in first.family.members] == [first.results[0].p, 1.0]
    assert first.family.members[0].adjusted == pytest.approx(2 * (first.results[0].p or 0))


def test_a_sequential_claim_goes_on() -> None:
    """Pairs that do not vary yet may vary tomorrow: nothing is decided, so nothing stops."""
    assert not should_stop(NOT_TESTED, ())
    seeds = {"min": 4, "plan": 4, "max": 30}
    claim = made(BETTER, sequential={"method": "eprocess_t"}, seeds=seeds)
    document = judged(claim, {arm: own[:4] for arm, own in FLAT.items()})
    assert document.verdict.conclusion == "NOT-TESTED"
    assert document.changes[1].text.startswith("Add seeds to its table")


def test_every_rendering_has_the_word() -> None:
    """In words and with an icon of its own; a build shows it as a failure."""
    document = one_partner_missing()
    page = rendered(document)["report.html"].decode()
    assert "Not tested at paper scale" in page
    assert "but fragile" not in page
    assert "NOT-TESTED" in summary([document])
    assert '<failure message="expected CONFIRMED, found NOT-TESTED: Not tested: ' in junit(document)
