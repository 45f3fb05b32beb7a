"""Claims whose design pairs the arms by seed, judged on values that were made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from repro.check.design import design_parts
from repro.specs.claim import Claim
from repro.stats.equivalence import non_superiority, tost, tost_relative
from repro.stats.planning import seeds_to_settle
from repro.stats.power_paired import power_paired_above, power_paired_equivalence
from repro.stats.result import TestResult, known
from repro.stats.sample import Sample
from tests.check.made import judged, made, only

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
def test_margins_are_judged_by_pairs(one: dict[str, Any], expected: TestResult, name: str) -> None:
    """By the differences seed by seed, and under that name."""
    found = only(paired(**one), {"a": A, "b": B})
    assert found.p == expected.p
    assert found.test == name
    assert found.conclusion == "CONFIRMED"
    own = known(found.interval)
    assert (own.low, own.high) == (known(expected.interval).low, known(expected.interval).high)
    assert found.smallest_confirmable_margin == expected.details["smallest_confirmable_margin"]


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
    assert any(f"about {seeds} pairs of seeds" in step.text for step in document.changes)


@pytest.mark.parametrize("size", [0.2, 0.5])
def test_margins_of_pairs_are_planned_by_the_scatter_of_differences(size: float) -> None:
    """At the paired design's own power."""
    scatter = {"loss": {"sd_of_differences": 0.3, "why": WHY}}
    of = paired(kind="equivalence", margin=margin(abs=size)).model_copy(
        update={"planned_sd": made(planned_sd=scatter).planned_sd}
    )
    (part,) = design_parts(of)
    assert part.power == power_paired_equivalence(0.3, 6, 0.0, low=-size, high=size)
    smallest = known(part.minimum_detectable)
    at = power_paired_equivalence(0.3, 6, 0.0, low=-smallest, high=smallest)
    assert at == pytest.approx(0.8)
    least = known(part.seeds_80)
    assert power_paired_equivalence(0.3, least, 0.0, low=-size, high=size) >= 0.8
    one_sided = of.model_copy(
        update={
            "expectations": paired(kind="non_inferiority", margin=margin(abs=size)).expectations
        }
    )
    (part,) = design_parts(one_sided)
    assert part.power == power_paired_above(0.3, 6, 0.0, -size)


def test_a_relative_margin_of_pairs_is_planned_by_a_relative_scatter() -> None:
    """Which that of the differences in their units is not."""
    of = paired(kind="equivalence", margin=margin(relative=0.01))
    (part,) = design_parts(of)
    assert part.note == "The claim plans no relative_sd_of_differences of 'loss' (planned_sd)."
    planned = {"loss": {"relative_sd_of_differences": 0.005, "why": WHY}}
    (part,) = design_parts(
        of.model_copy(update={"planned_sd": made(planned_sd=planned).planned_sd})
    )
    assert part.power == power_paired_equivalence(0.005, 6, 0.0, low=-0.01, high=0.01)
