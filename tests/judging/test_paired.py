"""Claims whose design pairs the arms by seed, judged on values that were made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from repro.errors import ClaimError
from repro.expectations.kinds import kind_of
from repro.expectations.margins import Equivalence
from repro.expectations.sequential import aligned, run_sequential
from repro.judging.design_power import design_parts
from repro.judging.document_parts import Analysis
from repro.specs.claim import Claim
from repro.stats.anytime import balanced
from repro.stats.power import PairedDesign, power_above, power_equivalence, seeds_to_settle
from repro.stats.records import Sample, known
from repro.stats.t_tests import MarginResult, non_superiority, tost, tost_relative
from tests.judging.made import judged, made, only

A = (38.6, 38.9, 38.1, 38.7, 38.4, 39.4)
B = (38.8, 39.0, 38.4, 38.8, 38.7, 39.5)
WHY = "a reason for this size"


def paired(**one: Any) -> Claim:
    """A paired claim of one expectation on two arms."""
    return made({"of": ["a", "b"], **one}, design="paired", seeds={"min": 3, "plan": 6})


def margin(**size: Any) -> dict[str, Any]:
    return {**size, "why": WHY}


CASES = [
    (
        {"kind": "equivalence", "margin": margin(abs=0.5)},
        tost(Sample.of(*A), Sample.of(*B), low=-0.5, high=0.5, paired=True),
        "two one-sided paired t-tests (TOST)",
    ),
    (
        {"kind": "equivalence", "margin": margin(relative=0.01)},
        tost_relative(Sample.of(*A), Sample.of(*B), relative=0.01, paired=True),
        "two one-sided paired t-tests (TOST, of a contrast with a share of b)",
    ),
    (
        {
            "kind": "non_superiority",
            "margin": margin(of_gain={"share": 0.5, "gain": "0.8"}),
        },
        non_superiority(Sample.of(*A), Sample.of(*B), margin=0.4, better="lower", paired=True),
        "paired t-test against the margin, one-sided",
    ),
]


@pytest.mark.parametrize(("one", "expected", "name"), CASES)
def test_margins_are_judged_by_pairs(
    one: dict[str, Any], expected: MarginResult, name: str
) -> None:
    """By the differences seed by seed, and under that name."""
    found = only(paired(**one), {"a": A, "b": B})
    assert found.p == expected.p
    assert found.test == name
    assert found.conclusion == "CONFIRMED"
    own = known(found.interval)
    assert (own.low, own.high) == (known(expected.interval).low, known(expected.interval).high)
    assert found.smallest_confirmable_margin == expected.smallest_confirmable_margin


def test_a_pair_is_left_out_whole() -> None:
    """Each of them in turn."""
    found = only(paired(kind="equivalence", margin=margin(abs=0.5)), {"a": A, "b": B})
    assert [one.replicate for one in found.left_out] == [0, 1, 2, 3, 4, 5]
    assert {one.refused for one in found.left_out} == {""}


def test_what_would_settle_it_counts_pairs_by_their_differences() -> None:
    """Not by the scatter of the arms, which is four times as large."""
    generator = np.random.default_rng(3)
    common = generator.standard_normal(6)
    a, b = common + 0.1 * generator.standard_normal((2, 6)) + np.array([[0.13], [0.0]])
    document = judged(paired(kind="equivalence", margin=margin(abs=0.2)), {"a": a, "b": b})
    assert document.verdict.conclusion == "INCONCLUSIVE"
    arms = Sample.of(*a), Sample.of(*b)
    seeds = seeds_to_settle(tost(*arms, low=-0.2, high=0.2, paired=True), *arms)
    assert any(f"About {seeds} fresh pairs of seeds" in step.text for step in document.changes)


@pytest.mark.parametrize("size", [0.2, 0.5])
def test_margins_of_pairs_are_planned_by_the_scatter_of_differences(size: float) -> None:
    """At the paired design's own power."""
    scatter = {"loss": {"sd_of_differences": 0.3, "why": WHY}}
    of = paired(kind="equivalence", margin=margin(abs=size)).model_copy(
        update={"planned_sd": made(planned_sd=scatter).planned_sd}
    )
    (part,) = design_parts(of)
    assert part.power == power_equivalence(PairedDesign(0.3, 6), 0.0, low=-size, high=size)
    smallest = known(part.minimum_detectable)
    at = power_equivalence(PairedDesign(0.3, 6), 0.0, low=-smallest, high=smallest)
    assert at == pytest.approx(0.8)
    least = known(part.seeds_80)
    assert power_equivalence(PairedDesign(0.3, least), 0.0, low=-size, high=size) >= 0.8
    one_sided = of.model_copy(
        update={
            "expectations": paired(kind="non_inferiority", margin=margin(abs=size)).expectations
        }
    )
    (part,) = design_parts(one_sided)
    assert part.power == power_above(PairedDesign(0.3, 6), 0.0, -size)


def test_a_relative_margin_of_pairs_is_planned_by_a_relative_scatter() -> None:
    """Which that of the differences in their units is not."""
    of = paired(kind="equivalence", margin=margin(relative=0.01))
    (part,) = design_parts(of)
    assert part.note == "The claim plans no relative_sd_of_differences of 'loss' (planned_sd)."
    planned = {"loss": {"relative_sd_of_differences": 0.005, "why": WHY}}
    (part,) = design_parts(
        of.model_copy(update={"planned_sd": made(planned_sd=planned).planned_sd})
    )
    assert part.power == power_equivalence(PairedDesign(0.005, 6), 0.0, low=-0.01, high=0.01)


@pytest.mark.parametrize(
    ("one", "name"),
    [
        (
            {"kind": "ratio", "of": ["b", "a"], "at_least": {"value": 1.001, "why": WHY}},
            "paired t-test on logarithms, one-sided (ratio of geometric means)",
        ),
        (
            {"kind": "separation", "of": ["c", "a"], "at_least": {"value": 1, "why": WHY}},
            "complete separation of pairs, exact",
        ),
        (
            {"kind": "ordering", "of": ["a", "b", "c"], "direction": "increasing"},
            "one-sided paired t-tests of every two arms, Holm",
        ),
        (
            {
                "kind": "trend",
                "of": ["a", "b", "c"],
                "direction": "increasing",
                "test": "paired",
            },
            "t-test of the slopes of the seeds, one-sided",
        ),
    ],
)
def test_every_kind_of_two_or_more_arms_goes_by_pairs(one: dict[str, Any], name: str) -> None:
    """What the arms share would hide it from tests of independent arms."""
    values = {"a": A, "b": B, "c": [x + 2 + y / 100 for x, y in zip(B, A, strict=True)]}
    claim = made(one, arms="abc", design="paired", seeds={"min": 5, "plan": 6})
    found = only(claim, values)
    assert found.test == name
    assert found.conclusion == "CONFIRMED"
    assert found.sentence
    (part,) = design_parts(claim)
    assert part.power is None
    assert part.note


def sequential_claim(one: dict[str, Any], **how: Any) -> Claim:
    """A paired claim that is looked at."""
    seeds = {"min": 5, "plan": 5, "max": 20}
    return made({"of": ["a", "b"], **one}, design="paired", seeds=seeds, sequential=how)


def as_independent(one: dict[str, Any]) -> dict[str, str]:
    """The test of independent arms, where one is named."""
    return {"test": "welch"} if one["kind"] == "difference" else {}


LOOKED = [
    ({"kind": "difference", "direction": "lower", "test": "paired"}, "CONFIRMED"),
    ({"kind": "equivalence", "margin": margin(abs=0.6)}, "CONFIRMED"),
    ({"kind": "non_superiority", "margin": margin(abs=0.6)}, "CONFIRMED"),
]


@pytest.mark.parametrize(("one", "conclusion"), LOOKED)
@pytest.mark.parametrize(
    ("how", "name"),
    [
        ({"method": "eprocess_t"}, "t e-process of pairs, valid at every look"),
        (
            {"method": "group_obf", "looks": [5, 12, 20]},
            "paired t-test at planned looks (O'Brien-Fleming spending)",
        ),
    ],
)
def test_pairs_may_be_looked_at(
    one: dict[str, Any], conclusion: str, how: dict[str, Any], name: str
) -> None:
    """Every night, or at planned numbers of them; the same in whatever order the table is."""
    generator = np.random.default_rng(11)
    b = 40 + 3 * generator.standard_normal(12)
    values = {"a": b - 0.3 + 0.1 * generator.standard_normal(12), "b": b}
    document = judged(sequential_claim(one, **how), values)
    found = document.results[0]
    assert (found.test, found.conclusion) == (name, conclusion)
    (part,) = document.sequential
    assert part.looks
    independent = sequential_claim(one, **how).model_copy(update={"design": "independent"})
    changed = {"expectations": made({"of": ["a", "b"], **one, **as_independent(one)}).expectations}
    plain = judged(independent.model_copy(update=changed), values)
    assert plain.results[0].conclusion == "INCONCLUSIVE"


def other_analyses(one: dict[str, Any], **values: Any) -> dict[str, Analysis]:
    document = judged(paired(**one), values)
    return {each.name: each for each in document.robustness[0].analyses if each.choice != "seed"}


def test_a_difference_of_pairs_is_tried_by_their_signs_and_without_them() -> None:
    """The signs ask the same question; arms taken as independent show what the pairs are worth."""
    found = other_analyses({"kind": "difference", "direction": "lower", "test": "paired"}, a=A, b=B)
    assert [(each.choice, each.conclusion) for each in found.values()] == [
        ("declared", "CONFIRMED"),
        ("test", "CONFIRMED"),
        ("design", "INCONCLUSIVE"),
        ("scale", "CONFIRMED"),
    ]
    assert found["the permutation test within pairs"].p == 2**-5


def test_a_margin_of_pairs_is_tried_without_them() -> None:
    """And no flag is raised: that independent arms would show less is no doubt."""
    one = {"kind": "equivalence", "margin": margin(abs=0.4)}
    found = other_analyses(one, a=A, b=B)
    assert found["the arms as independent, pairs ignored"].conclusion == "INCONCLUSIVE"
    document = judged(paired(**one), {"a": A, "b": B})
    assert document.verdict.flags == ()


def test_a_permutation_within_pairs_can_be_declared() -> None:
    """And is judged by its p."""
    one = {"kind": "difference", "direction": "lower", "test": "paired_permutation"}
    found = only(paired(**one), {"a": A, "b": B})
    assert found.test == "permutation test within pairs, two-sided"
    assert (found.conclusion, found.p) == ("CONFIRMED", 2**-5)


def test_what_is_separated_in_a_paired_design_are_combinations() -> None:
    """Of any seed with any seed: the pairs of the design are fewer."""
    claim = made(
        {"kind": "separation", "of": ["b", "a"], "at_least": {"value": 1, "why": WHY}},
        design="paired",
        seeds={"min": 5, "plan": 6},
    )
    found = only(claim, {"a": A, "b": B})
    assert found.conclusion == "INCONCLUSIVE"
    assert "in 23 of 36 combinations of seeds" in found.sentence
    assert "in every combination of seeds" in found.statement


def test_pairs_keep_their_seeds_in_a_declared_order() -> None:
    """A table's order says when a seed was there; the pair is there when both are."""
    claim = sequential_claim({"kind": "equivalence", "margin": margin(abs=1)}, method="eprocess_t")
    (one,) = claim.expectations
    assert isinstance(one, Equivalence)
    a = Sample((10.0, 11.0, 12.0, 13.0), (3, 0, 7, 1), order="declared")
    b = Sample((20.0, 21.0, 22.0, 23.0), (0, 1, 3, 9), order="declared")
    first, second = balanced(*aligned(one, claim.context(), (a, b)))
    assert list(zip(first.values, second.values, strict=True)) == [
        (11.0, 20.0),
        (10.0, 22.0),
        (13.0, 21.0),
    ]


def test_a_table_without_an_order_is_judged_once_by_its_pairs() -> None:
    """However its seeds are numbered; and too few pairs are told, whatever the seeds."""
    claim = sequential_claim({"kind": "equivalence", "margin": margin(abs=1)}, method="eprocess_t")
    (one,) = claim.expectations
    assert isinstance(one, Equivalence)
    a = Sample(A, (0, 1, 2, 3, 4, 5), order="unknown")
    b = Sample(B, (0, 1, 2, 3, 4, 5), order="unknown")
    turned = [Sample(arm.values[::-1], arm.replicates[::-1], order="unknown") for arm in (a, b)]
    context = claim.context()
    asked = kind_of(one).question(one, context)
    found = run_sequential(one, asked, context, (a, b))
    again = run_sequential(one, asked, context, turned)
    assert found.paired
    assert known(found.p) == pytest.approx(known(again.p))
    late = Sample(B, (4, 5, 6, 7, 8, 9), order="unknown")
    with pytest.raises(ClaimError, match="2 seeds are fewer than the first look needs"):
        run_sequential(one, asked, context, (a, late))
