"""A table has no order in time: however its seeds are numbered, the verdict is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from repro.evidence.evidence import Evidence, TableSource, TidyTable
from repro.expectations.verdict_words import Conclusion
from repro.judging.assemble import check_claim
from repro.judging.document import Document
from repro.judging.gather import from_table
from repro.judging.judge import Judgement, judge_claim
from repro.judging.verdict import joined
from repro.judging.verdict import judge as judge_part
from repro.report.junit import junit
from repro.report.sections.interim_looks import looks_title
from repro.specs.claim import Claim
from tests.judging.made import judged, made, seen
from tests.judging.test_kinds import difference, margin

METHODS: dict[str, dict[str, Any]] = {
    "eprocess_t": {
        "sequential": {"method": "eprocess_t"},
        "seeds": {"min": 4, "plan": 10, "max": 40},
    },
    "group_obf": {
        "sequential": {"method": "group_obf", "looks": [5, 10, 15, 20]},
        "seeds": {"min": 5, "plan": 5, "max": 20},
    },
}
SEED = 20_261_122


def sequential(method: str, one: dict[str, Any] | None = None) -> Claim:
    """A claim that the loss of a is higher, at looks."""
    return made(one or difference(direction="higher"), **METHODS[method])


def null(number: int, n: int = 20) -> tuple[list[float], list[float]]:
    """Two arms without a difference."""
    a, b = np.random.default_rng([SEED, number]).normal(80, 2, (2, n))
    return [float(x) for x in a], [float(x) for x in b]


def judge(claim: Claim, a: list[float], b: list[float]) -> Judgement:
    """The judgement of a table with these values, seeds counted from 0."""
    return judge_claim(claim, seen(claim, {"a": a, "b": b}))


def conclusion(claim: Claim, a: list[float], b: list[float]) -> Conclusion:
    """What a table with these values, seeds counted from 0, is judged to be."""
    finding = judge(claim, a, b).finding
    assert finding is not None
    return finding.conclusion


def joined_words(claim: Claim, a: list[float], b: list[float]) -> Conclusion:
    """What the parts of such a table say together, whose signs of order nobody looks for."""
    evidence = seen(claim, {"a": a, "b": b})
    parts = tuple(judge_part(each, claim, evidence.read) for each in claim.expectations)
    return joined(claim, parts).conclusion


@pytest.mark.parametrize("method", METHODS)
def test_seeds_sorted_against_each_other_confirm_nothing(method: str) -> None:
    """Of 300 null tables, sorted by value, at most 2.5 % are confirmed, and as many contradicted.

    With seed numbers taken for time it was 19 and 20 of 20. 14 of 300 has a chance of 1 % at 2.5 %.
    """
    claim = sequential(method)
    found = []
    for number in range(300):
        falling, rising = sorted(null(number)[0], reverse=True), sorted(null(number)[1])
        found.append(joined_words(claim, falling, rising))
        if number < 15:
            assert found[-1] is conclusion(claim, falling, rising)
    assert found.count(Conclusion.CONFIRMED) <= 14
    assert found.count(Conclusion.CONTRADICTED) <= 14


@pytest.mark.parametrize("kind", ["difference", "equivalence", "non_inferiority"])
@pytest.mark.parametrize("method", METHODS)
def test_no_numbering_changes_a_verdict(method: str, kind: str) -> None:
    """The same values under other seed numbers give the same p, interval and words."""
    claim = sequential(method, None if kind == "difference" else margin(kind))
    a, b = null(7)
    shuffled = [float(x) for x in np.random.default_rng(SEED).permutation(b)]
    first, other = judge(claim, sorted(a), sorted(b)), judge(claim, a, shuffled)
    assert first.finding is not None
    assert other.finding is not None
    assert first.finding.conclusion is other.finding.conclusion
    assert first.finding.p == pytest.approx(other.finding.p, rel=1e-9)
    left, right = first.decisive[0].result, other.decisive[0].result
    assert left is not None
    assert right is not None
    assert left.interval is not None
    assert right.interval is not None
    assert left.interval.low == pytest.approx(right.interval.low, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_which_seeds_have_partners_decides_nothing(method: str) -> None:
    """Numbers that match only where a is high and b is low select no values: all are judged."""
    claim = sequential(method)
    found = 0
    for number in range(60):
        a, b = (sorted(arm) for arm in null(number))
        rows = {
            "a": {seed: {"loss": value} for seed, value in enumerate(a)},
            "b": {seed + 10: {"loss": value} for seed, value in enumerate(b)},
        }
        table = TidyTable(TableSource("made.csv", "0" * 64), rows)
        finding = judge_claim(claim, from_table(claim, table)).finding
        assert finding is not None
        found += finding.conclusion is not Conclusion.INCONCLUSIVE
    assert found <= 7


@pytest.mark.parametrize("method", METHODS)
def test_a_real_difference_is_found_in_any_order(method: str) -> None:
    """Judged at once, twenty seeds 2 sd apart are enough for either method."""
    a, b = null(1)
    values = {"a": sorted(x + 4 for x in a), "b": sorted(b, reverse=True)}
    document = judged(sequential(method), values)
    assert document.verdict.conclusion == "CONFIRMED"


def text_of(document: Document) -> str:
    """Everything that the report's data and its JUnit form say."""
    return document.model_dump_json() + junit(document)


@pytest.mark.parametrize("method", METHODS)
def test_nobody_is_said_to_have_looked_at_a_table(method: str) -> None:
    """The flag is always there, the one look is the last, and no looks are told of."""
    a, b = null(3)
    document = judged(sequential(method), {"a": a, "b": b})
    flags = {flag.kind: flag.text for flag in document.verdict.flags}
    assert flags["order of a table"] == (
        "made.csv: a table has no order in time, so it was judged once, at its last look, with "
        "all its seeds."
    )
    (part,) = document.sequential
    assert part.order == "unknown"
    assert [look.seeds for look in part.looks] == [20]
    assert part.crossing is None
    assert "looked at" not in text_of(document)
    assert looks_title(document) == "The sequential test"


@pytest.mark.parametrize("method", METHODS)
def test_a_declared_order_is_followed_and_named(method: str) -> None:
    """With an order the claim is judged look by look; that it was only declared is a flag."""
    a, b = null(3)
    document = judged(sequential(method), {"a": a, "b": b}, order="finished")
    flags = {flag.kind: flag.text for flag in document.verdict.flags}
    assert flags["order of a table"] == (
        "made.csv: the order of its seeds is the table's own (column 'finished'), declared, not "
        "observed."
    )
    (part,) = document.sequential
    assert part.order == "declared"
    assert len(part.looks) > 1
    assert "It was looked at" not in text_of(document)
    assert "nobody is on record as having looked" in text_of(document)


def test_runs_are_looked_at_as_before() -> None:
    """Evidence that is no table has the order of its numbers, and no flag."""
    claim = sequential("eprocess_t")
    a, b = null(3)
    evidence = Evidence(seen(claim, {"a": a, "b": b}).arms)
    document = check_claim(claim, evidence)
    assert "order of a table" not in {flag.kind for flag in document.verdict.flags}
    (part,) = document.sequential
    assert part.order == "observed"
    assert len(part.looks) == 17
    assert looks_title(document) == "How often it was looked at"


def test_arms_of_unequal_size_are_judged_whole() -> None:
    """Eleven and seven seeds have no pairs: all eighteen count, and the report says how many."""
    claim = made(difference(direction="higher"), **METHODS["eprocess_t"])
    claim = claim.model_copy(update={"seeds": claim.seeds.model_copy(update={"plan": 7})})
    a, b = null(5)
    document = judged(claim, {"a": [x + 6 for x in a[:11]], "b": b[:7]})
    assert document.verdict.conclusion == "CONFIRMED"
    assert document.results[0].details["seeds"] == "11 and 7"


def test_more_seeds_than_the_end_are_flagged() -> None:
    """A sequential claim ends at its largest number of seeds, and a table may go on."""
    a, b = null(3, 23)
    document = judged(sequential("group_obf"), {"a": a, "b": b})
    flags = {flag.kind: flag.text for flag in document.verdict.flags}
    assert "20 seeds" in flags["more seeds than planned"]
    fewer = judged(sequential("group_obf"), {"a": a[:17], "b": b[:17]})
    assert "more seeds than planned" not in {flag.kind for flag in fewer.verdict.flags}
