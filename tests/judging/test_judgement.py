"""Claims as a whole: trees of expectations, families of claims, associations, refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from repro.judging.assemble import check_claim, document_of
from repro.judging.document import Document
from repro.judging.judge import Judgement, e_values, judge_claim, judge_families
from repro.specs.claim import Claim
from repro.stats.anytime import EProcessResult
from tests.judging.made import LOSS, judged, made, seen
from tests.judging.test_kinds import HIGH, LOW, difference, margin

SEED = 20260405
SIZES = {"loss": LOSS, "size": {**LOSS, "label": "size"}}


def draws(mean: float, n: int, sd: float, seed: int = SEED) -> list[float]:
    """Losses around a mean."""
    return [float(x) for x in np.random.default_rng(seed).normal(mean, sd, n)]


HOLDS, FAILS = difference(), difference(direction="higher")
OPEN = margin("equivalence", {"abs": 2.0, "why": "two units of loss"})


@pytest.mark.parametrize(
    ("tree", "conclusion"),
    [
        ({"all": ["e0", "e1"]}, "CONTRADICTED"),
        ({"any": ["e0", "e1"]}, "CONFIRMED"),
        ({"any": ["e1", "e2"]}, "INCONCLUSIVE"),
        ({"all": ["e0", {"any": ["e0", "e1"]}]}, "CONFIRMED"),
        ({"any": [{"all": ["e1", "e2"]}, {"all": ["e0", {"any": ["e2", "e0"]}]}]}, "CONFIRMED"),
        ({"any": ["e1", {"all": ["e1", "e0"]}]}, "CONTRADICTED"),
    ],
)
def test_trees_of_expectations(tree: dict[str, Any], conclusion: str) -> None:
    """e0 holds, e1 is contradicted, e2 (a difference of just its margin) is open."""
    document = judged(made(HOLDS, FAILS, OPEN, combine=tree), {"a": LOW, "b": HIGH})
    assert [one.conclusion for one in document.results] == [
        "CONFIRMED",
        "CONTRADICTED",
        "INCONCLUSIVE",
    ]
    assert document.verdict.conclusion == conclusion
    assert document.verdict.sentence.startswith("The declared combination ")


def test_a_part_that_cannot_be_tested_leaves_a_conjunction_untested() -> None:
    """A test that refuses its evidence is NOT-TESTED, says why, and so is the whole."""
    flat = {"a": [10.0, 10, 10], "b": [11.0, 11, 11]}
    document = judged(made(HOLDS, difference("student")), flat)
    assert document.verdict.validity == "VALID"
    assert document.verdict.conclusion == "NOT-TESTED"
    assert {one.conclusion for one in document.results} == {"NOT-TESTED"}
    start = "Not tested, and more seeds would not help: both arms have variance 0"
    assert document.results[0].sentence.startswith(start)
    assert document.verdict.sentence.startswith(
        "Both parts could not be tested. More seeds would not help: both arms have variance 0"
    )
    instead = "use ratio (then an exact comparison), separation or bound."
    assert [step.text for step in document.changes] == [
        f"Loss, A minus B (difference, e0): {instead}",
        f"Loss, A minus B (difference, e1): {instead}",
    ]
    assert document.robustness == ()


@pytest.mark.parametrize(
    ("one", "values", "why"),
    [
        (
            {"kind": "ratio", "of": ["a", "b"], "at_least": {"value": 2, "why": "so many times"}},
            {"a": [-1.0, 2], "b": [1.0, 2]},
            "logarithms",
        ),
        (difference("permutation"), {"a": [1.0, 2, 3], "b": [4.0, 5, 6]}, "cannot decide"),
        (margin("equivalence"), {"a": [10.0, 10], "b": [10.0, 10]}, "variance 0"),
    ],
)
def test_refusals_are_sentences(one: Any, values: Any, why: str) -> None:
    """What a test refuses, the report says; nothing is concluded and nothing raised."""
    document = judged(made(one), values)
    assert document.verdict.conclusion == "NOT-TESTED"
    assert why in document.verdict.sentence
    assert ("more seeds would not help" in document.verdict.sentence) == (why != "cannot decide")
    assert document.results[0].effect is None


def family(method: str, *members: str) -> dict[str, Any]:
    return {
        "name": "both",
        "method": method,
        "members": list(members),
        "why": "both are about loss",
    }


def together(*claims: tuple[Claim, Sequence[float]], b: Sequence[float] = HIGH) -> list[Document]:
    """Documents of claims, each on its own values of a, judged as families."""
    alone: list[Judgement] = [judge_claim(one, seen(one, {"a": a, "b": b})) for one, a in claims]
    return [document_of(one) for one in judge_families(alone)]


@pytest.mark.parametrize(("method", "kept"), [("holm", "INCONCLUSIVE"), ("bh", "CONFIRMED")])
def test_a_family_raises_what_its_members_need(method: str, kept: str) -> None:
    """p = 4e-8 and 0.03 of three: by Holm .03 becomes .06, by BH .045 (one is not judged)."""
    own = family(method, "strong", "weak", "absent")
    weak = (9.38, 11.98, 9.68, 11.08, 9.78)
    documents = together(
        (made(HOLDS, id="strong", family=own), LOW), (made(HOLDS, id="weak", family=own), weak)
    )
    p = documents[1].results[0].p
    assert p is not None
    assert 0.025 < p < 0.033
    assert [one.verdict.conclusion for one in documents] == ["CONFIRMED", kept]
    part = documents[1].family
    assert part is not None
    assert [one.judged for one in part.members] == [True, True, False]
    assert part.members[1].adjusted == pytest.approx(p * (2 if method == "holm" else 1.5))
    if kept == "INCONCLUSIVE":
        assert documents[1].verdict.sentence.startswith("Confirmed by itself, but not at its level")


def test_a_claim_outside_the_family_is_left_alone() -> None:
    """Only members are adjusted, in whatever order they are given."""
    own = family("holm", "weak", "absent")
    weak = (9.38, 11.98, 9.68, 11.08, 9.78)
    pair = [(made(HOLDS, id="weak", family=own), weak), (made(HOLDS, id="other"), weak)]
    forward, backward = together(*pair), together(*pair[::-1])
    assert [one.verdict.conclusion for one in forward] == ["INCONCLUSIVE", "CONFIRMED"]
    assert [one.verdict for one in backward[::-1]] == [one.verdict for one in forward]


def sequential(**more: Any) -> Claim:
    seeds = {"min": 4, "plan": 4, "max": 30}
    return made(HOLDS, sequential={"method": "eprocess_t"}, seeds=seeds, **more)


def test_e_values_make_a_family_of_sequential_claims() -> None:
    """e of 121 alone is above 20, and above 40 among two; e between 20 and 40 is not enough."""
    own = family("e_bh", "strong", "weak")
    mild = (11.0, 11.14, 10.85, 11.3, 10.7)
    strong, weak = together(
        (sequential(id="strong", family=own), LOW), (sequential(id="weak", family=own), mild)
    )
    assert strong.verdict.conclusion == "CONFIRMED"
    assert strong.family is not None
    values = [one.value for one in strong.family.members]
    assert values[0] == pytest.approx(120.98901770175257)
    assert strong.family.members == weak.family.members if weak.family else False


def test_a_member_without_e_values_counts_as_nothing() -> None:
    """A claim of one look has no e-value; it weakens nobody, and is not confirmed by e-BH."""
    own = family("e_bh", "grows", "stands")
    grows, stands = together(
        (sequential(id="grows", family=own), LOW), (made(HOLDS, id="stands", family=own), LOW)
    )
    assert grows.verdict.conclusion == "CONFIRMED"
    assert stands.verdict.conclusion == "INCONCLUSIVE"


def test_the_e_value_of_a_tree_is_that_of_its_weakest_part() -> None:
    """Whichever way a tree errs, one of its parts does: the least e-value is one of the whole."""
    of = made(
        HOLDS,
        margin("non_superiority"),
        combine={"any": ["e0", "e1"]},
        sequential={"method": "eprocess_t"},
        seeds={"min": 4, "plan": 4, "max": 30},
    )
    one = judge_claim(of, seen(of, {"a": LOW, "b": HIGH}))
    own, contrary = e_values(one)
    first, second = (part.result for part in one.decisive)
    assert isinstance(first, EProcessResult)
    assert isinstance(second, EProcessResult)
    assert own == min(r.e for r in (first, second))
    assert contrary == min(r.e_opposite for r in (first, second))


def association(arms: str = "a", **more: Any) -> Claim:
    one = {
        "kind": "association",
        "of": list(arms),
        "against": "size",
        "points": "replicates",
        **more,
    }
    return made(one, arms=arms, measurements=SIZES)


def pairs(rho: float, n: int, seed: int = SEED) -> dict[str, list[float]]:
    """Two measurements whose sample correlation is exactly ``rho``."""
    x, noise = np.random.default_rng(seed).normal(size=(2, n))
    x -= x.mean()
    noise -= noise.mean() + x * (noise @ x) / (x @ x)
    y = rho * x / np.linalg.norm(x) + np.sqrt(1 - rho**2) * noise / np.linalg.norm(noise)
    return {"size": [float(v) for v in x], "loss": [float(v) for v in y]}


@pytest.mark.parametrize(
    ("claim", "rho", "conclusion"),
    [
        ({"direction": "positive"}, 0.5, "CONFIRMED"),
        ({"direction": "negative"}, 0.5, "CONTRADICTED"),
        ({"direction": "positive"}, 0.2, "INCONCLUSIVE"),
        ({"magnitude_at_most": {"value": 0.6, "why": "a weak one"}}, 0.1, "CONFIRMED"),
        ({"magnitude_at_most": {"value": 0.3, "why": "a weak one"}}, 0.8, "CONTRADICTED"),
        ({"magnitude_at_least": {"value": 0.5, "why": "a strong one"}}, 0.9, "CONFIRMED"),
        ({"magnitude_at_least": {"value": 0.5, "why": "a strong one"}}, 0.6, "INCONCLUSIVE"),
    ],
)
def test_associations_by_direction_and_by_size(claim: Any, rho: float, conclusion: str) -> None:
    """r of 30 points: .5 has p = .005, .2 has .29; Fisher's z interval decides on sizes."""
    document = judged(association(**claim), {"a": pairs(rho, 30)})
    (one,) = document.results
    assert one.conclusion == conclusion
    assert one.effect == pytest.approx(rho)
    assert len(one.points) == 30
    assert "over 30 points" in one.sentence


def test_a_window_shows_what_it_does() -> None:
    """Points outside are drawn and not counted; the report says what the restriction predicts."""
    window = {"low": -0.1, "high": 0.1, "why": "the middle of the range"}
    document = judged(association(direction="positive", within=window), {"a": pairs(0.9, 40)})
    (one,) = document.results
    inside = sum(point.counted for point in one.points)
    assert 4 <= inside < 40
    assert one.details["window"].startswith(f"{inside} of 40 points; the whole range has r = +0.90")
    empty = {"low": 50, "high": 60, "why": "where no point is"}
    refused = judged(association(direction="positive", within=empty), {"a": pairs(0.9, 40)})
    assert "0 points lie in the declared window" in refused.verdict.sentence


def test_replicates_of_several_arms_are_clustered() -> None:
    """A strong correlation between five arms is not 50 independent points."""
    values = {
        arm: {
            "size": [place + x / 9 for x in draws(0, 10, 0.1, SEED + place)],
            "loss": [place % 2 + x for x in draws(0, 10, 0.1, SEED + 9 + place)],
        }
        for place, arm in enumerate("abcde")
    }
    (one,) = judged(association("abcde", direction="positive"), values).results
    assert one.test.endswith("permutation of whole arms")
    assert one.conclusion == "INCONCLUSIVE"
    assert one.interval is None
    assert "over 50 points. So it looks negative, against the claim" in one.sentence
    assert {point.arm for point in one.points} == set("abcde")


def test_arms_with_different_numbers_of_seeds_are_refused() -> None:
    """Whole arms change places only where all have as many points, and the report says so."""
    values = {arm: pairs(0.5, 8 if arm == "c" else 9, SEED + ord(arm)) for arm in "abcde"}
    document = judged(association("abcde", direction="positive"), values)
    assert "clusters have 8 to 9 points" in document.verdict.sentence


def test_leaving_out_a_seed_of_a_pair_leaves_out_the_pair() -> None:
    """Ten pairs are left out ten times, not twenty; the flag and the panel say pair."""
    a, b = draws(10, 10, 1.0), draws(10.9, 10, 1.0, SEED + 1)
    of = sequential()
    document = check_claim(of, seen(of, {"a": a, "b": b}, order="finished"))
    names = [one.name for one in document.robustness[0].analyses if one.choice == "seed"]
    assert names == [f"without pair {number}" for number in range(10)]
    assert len(document.results[0].left_out) == 10


def test_planned_looks_leave_no_seed_out() -> None:
    """Without one seed the last look was not reached, which says nothing about that seed."""
    how = {"method": "group_obf", "looks": [5, 10]}
    of = made(HOLDS, sequential=how, seeds={"min": 5, "plan": 5, "max": 10})
    values = {"a": draws(10, 10, 0.3), "b": draws(12, 10, 0.3, SEED + 1)}
    document = check_claim(of, seen(of, values))
    assert document.verdict.conclusion == "CONFIRMED"
    assert document.results[0].left_out == ()
    assert [flag.kind for flag in document.verdict.flags] == ["order of a table"]


def test_a_slow_test_is_not_repeated_for_every_seed() -> None:
    """Ten against ten have 184,756 splits: it is made once, and the panel says so."""
    of = made(difference("permutation"))
    document = check_claim(of, seen(of, {"a": LOW * 2, "b": HIGH * 2}))
    (one,) = document.robustness
    assert one.analyses[0].conclusion == "CONFIRMED"
    (seeds,) = [each for each in one.analyses if each.choice == "seed"]
    assert seeds.conclusion is None
    assert seeds.refused.startswith("not computed: ")
    welch = check_claim(made(HOLDS), seen(made(HOLDS), {"a": LOW * 2, "b": HIGH * 2}))
    tests = {each.name: each for each in welch.robustness[0].analyses}
    assert tests["permutation of Welch's t"].refused.startswith("not computed: ")
