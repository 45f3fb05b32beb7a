"""Sequential claims whose later seeds contradict the first crossing: INVALID, or flagged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from repro.expectations.verdict_words import Validity
from repro.judging.assemble import check_claim
from repro.judging.document import Document
from repro.judging.judge import judge_claim
from repro.specs.claim import Claim
from repro.stats.stopping import SequentialResult
from tests.judging.made import made, seen
from tests.judging.test_kinds import difference, margin

SEED = 20_261_122
METHODS: dict[str, dict[str, Any]] = {
    "eprocess_t": {"method": "eprocess_t"},
    "group_obf": {"method": "group_obf", "looks": [5, 10, 15, 20, 25, 30, 35, 40]},
}


def claim(one: dict[str, Any] | None = None, method: str = "eprocess_t", **how: Any) -> Claim:
    """That the loss of a is higher, at looks from five pairs on."""
    return made(
        one or difference(direction="higher"),
        sequential={**METHODS[method], **how},
        seeds={"min": 5, "plan": 5, "max": 40},
    )


def steps(*parts: tuple[int, float], sd: float = 1.0) -> tuple[list[float], list[float]]:
    """Two arms whose difference is another one in each part: (pairs, difference)."""
    rng = np.random.default_rng(SEED)
    shifts = np.concatenate([np.full(pairs, shift) for pairs, shift in parts])
    a, b = rng.normal(50, sd, (2, len(shifts)))
    return [float(x) for x in a + shifts], [float(x) for x in b]


def judged(of: Claim, a: Sequence[float], b: Sequence[float]) -> Document:
    """The document of runs with these values, in the order of their numbers."""
    return check_claim(of, replace(seen(of, {"a": a, "b": b}), tables={}))


def drift_flag(document: Document) -> list[str]:
    """What the box of the verdict says about drift."""
    return [flag.text for flag in document.verdict.flags if flag.kind == "drift"]


@pytest.mark.parametrize(
    "one",
    [
        difference(direction="higher"),
        difference(direction="higher", smallest_effect={"abs": 0.5, "why": "less is no gain"}),
        difference(direction="different"),
        margin("equivalence", {"abs": 2.0, "why": "two units"}),
        margin("non_superiority", {"abs": 2.0, "why": "two units"}),
    ],
    ids=["higher", "by more than 0.5", "different", "equivalence", "non_superiority"],
)
def test_seeds_that_say_the_opposite_make_a_claim_invalid(one: dict[str, Any]) -> None:
    """Decided early, and the interval of all seeds lies wholly on the other side."""
    margins = one["kind"] != "difference"
    early, late = (-5.0, 1.0) if one["kind"] == "non_superiority" else (6.0, -6.0)
    early, late = (0.0, 9.0) if one["kind"] == "equivalence" else (early, late)
    document = judged(claim(one), *steps((6, early), (34, late), sd=0.5 if margins else 1.0))
    assert document.verdict.validity == "INVALID", document.verdict
    reason = document.verdict.validity_reason
    assert "pairs; all 40 say the opposite" in reason
    assert "the difference drifted" in reason
    assert document.verdict.conclusion is None
    assert [result.conclusion for result in document.results] == [None]
    assert document.changes[0].text.startswith("Find out in what the first seeds differ")


def test_the_case_of_the_statistician() -> None:
    """Five pairs at +5 and 35 at -3: not CONFIRMED above a sentence that says the opposite."""
    a, b = steps((5, 5.0), (35, -3.0))
    verdict = judged(claim(), a, b).verdict
    assert verdict.validity == "INVALID"
    assert verdict.validity_reason == (
        "'e0': confirmed at 5 pairs; all 40 say the opposite: the difference drifted, so these "
        "seeds are not of one kind"
    )


def test_planned_looks_drift_as_well() -> None:
    """A boundary that was crossed at the second look, and 30 pairs that say the contrary."""
    a, b = steps((10, 6.0), (30, -6.0))
    verdict = judged(claim(method="group_obf"), a, b).verdict
    assert verdict.validity == "INVALID"
    assert "confirmed at 10 pairs; all 40 say the opposite" in verdict.validity_reason


def test_intervals_without_anything_in_common_are_a_flag() -> None:
    """A difference that shrank from 8 to 1.5 was there throughout: it stands, with a flag."""
    a, b = steps((6, 8.0), (34, 1.5))
    document = judged(claim(), a, b)
    assert document.verdict.conclusion == "CONFIRMED"
    (said,) = drift_flag(document)
    assert said == (
        "'e0': confirmed at 5 pairs; the intervals of its looks, up to all 40 pairs, have "
        "nothing in common."
    )


def test_a_claim_may_declare_that_no_drift_is_allowed() -> None:
    """`drift: any` makes the same evidence INVALID; the default is no part of a digest."""
    a, b = steps((6, 8.0), (34, 1.5))
    strict = claim(drift="any")
    verdict = judged(strict, a, b).verdict
    assert verdict.validity == "INVALID"
    assert "have nothing in common" in verdict.validity_reason
    assert claim(drift="reversed").digest() == claim().digest() != strict.digest()


def test_a_mean_on_the_other_side_is_a_flag_and_both_numbers_are_told() -> None:
    """The sentence beside CONFIRMED has the numbers that it rests on, then those of all pairs."""
    a, b = steps((5, 6.0), (35, -2.2), sd=1.5)
    document = judged(claim(), a, b)
    assert document.verdict.conclusion == "CONFIRMED"
    assert document.results[0].effect is not None
    assert document.results[0].effect < 0
    assert any("the mean of all 40 lies on the other side" in text for text in drift_flag(document))
    assert document.verdict.sentence.startswith("Loss, first 5 pairs: A is ")
    sentence = document.results[0].sentence
    first, _, later = sentence.partition("decided at 5 pairs")
    assert " higher than B" in first
    assert " lower than B" not in first
    assert "All 40 pairs: A is " in later
    assert " lower than B" in later


@pytest.mark.parametrize("effect", [0.0, 0.6, 1.5])
@pytest.mark.parametrize("method", METHODS)
def test_honest_claims_are_hardly_ever_accused(method: str, effect: float) -> None:
    """Of 120 processes without drift at most 4 are flagged (1 % are expected) and none INVALID."""
    of = claim(method=method)
    flagged = 0
    for number in range(120 if method == "eprocess_t" else 40):
        rng = np.random.default_rng([SEED, number])
        a, b = rng.normal(50 + effect, 1, 40), rng.normal(50, 1, 40)
        evidence = replace(seen(of, {"a": list(a), "b": list(b)}), tables={})
        one = judge_claim(of, evidence)
        assert one.validity is Validity.VALID
        result = one.decisive[0].result
        assert isinstance(result, SequentialResult)
        flagged += result.drift != "none"
    assert flagged <= 4
