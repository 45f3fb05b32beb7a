"""Spreads as a claim declares them: what is concluded, said, drawn and refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from repro.expectations.kinds import kind_of
from repro.judging.document import Document
from repro.report.figure_data import effect_axis
from repro.specs.claim import Claim
from tests.judging.made import judged, made, only

WHY = {"why": "what a reader would call more"}
NOISY = (3.1, 2.2, 4.0, 2.9, 3.6, 1.5, 4.4, 2.6)
STEADY = (3.0, 2.9, 3.1, 3.05, 2.95, 2.85, 3.15, 3.0)
"""Mean deviations from the median of 0.7375 and 0.075, whose ratio is 9.83."""


def claim(design: str = "independent", **how: Any) -> Claim:
    seeds = {"min": 5, "plan": 8}
    return made({"kind": "spread", "of": ["a", "b"], **how}, design=design, seeds=seeds)


def found(a: Sequence[float], b: Sequence[float], **how: Any) -> Any:
    return only(claim(**how), {"a": a, "b": b})


@pytest.mark.parametrize(
    ("size", "conclusion", "said"),
    [
        (
            {"at_least": {"value": 2, **WHY}},
            "CONFIRMED",
            "At least 2 times, as claimed (one-sided p",
        ),
        (
            {"at_most": {"value": 2, **WHY}},
            "CONTRADICTED",
            "More than that, against the claim (one-sided p",
        ),
        (
            {"at_least": {"value": 7, **WHY}},
            "INCONCLUSIVE",
            "At least 7 times is not shown (one-sided p",
        ),
        ({"at_most": {"value": 9, **WHY}}, "INCONCLUSIVE", "A looks to scatter more than 9.00"),
        (
            {"within_factor": {"value": 1.5, **WHY}},
            "CONTRADICTED",
            "Further apart than that, against the claim (one-sided p",
        ),
    ],
)
def test_what_is_concluded_and_said(size: Any, conclusion: str, said: str) -> None:
    result = found(NOISY, STEADY, **size)
    assert result.conclusion == conclusion
    assert result.effect == pytest.approx(0.7375 / 0.075)
    assert "Loss: A scatters 9.83 times as much as B (90% interval " in result.sentence
    assert said in result.sentence


def test_an_interval_without_an_end_hides_no_verdict() -> None:
    """B's scatter cannot be told from none; A's is more than B's for all that."""
    how: dict[str, Any] = {"of": ["a", "b"], "at_least": {"value": 1, **WHY}}
    claimed = made({"kind": "spread", **how}, design="paired", seeds={"min": 5, "plan": 5})
    a, b = (3.593, 0.673, -3.259, -0.735, 1.811), (0.733, 0.972, -2.237, -0.015, 0.627)
    result = only(claimed, {"a": a, "b": b})
    assert result.p is not None
    assert result.p < 0.05
    assert result.conclusion == "CONFIRMED"
    assert "(90% interval from 1.01 up)" in result.sentence


def test_alike_within_a_factor() -> None:
    """Enough seeds of one distribution show that neither scatters twice as much as the other."""
    a, b = np.random.default_rng(3).standard_normal((2, 60)).round(3).tolist()
    how = {"within_factor": {"value": 2, **WHY}}
    claimed = made({"kind": "spread", "of": ["a", "b"], **how}, seeds={"min": 5, "plan": 60})
    result = only(claimed, {"a": a, "b": b})
    assert result.conclusion == "CONFIRMED"
    assert "Within a factor of 2, as claimed" in result.sentence
    assert [limit.value for limit in result.limits] == [0.5, 2.0]


def test_pairs_are_judged_pair_by_pair() -> None:
    """The design decides, and the report shows what ignoring the pairs would say."""
    how: dict[str, Any] = {"at_least": {"value": 2, **WHY}}
    document = judged(claim("paired", **how), {"a": NOISY, "b": STEADY})
    assert "within pairs" in document.results[0].test
    analyses = [each.name for group in document.robustness for each in group.analyses]
    assert any("pairs ignored" in name for name in analyses)


def test_its_axis_is_logarithmic() -> None:
    """Twice as much and half as much are equally far from alike."""
    document: Document = judged(claim(at_least={"value": 2, **WHY}), {"a": NOISY, "b": STEADY})
    (result,) = document.results
    assert effect_axis(document, result, [0.5, 2.0]).scale == "log"


def test_the_design_says_what_it_can_detect() -> None:
    """Of the F-test the factor follows from its quantiles: sqrt(F(.95) / F(.2)) for 80 %."""
    from scipy.stats import f

    document = judged(claim(test="f", at_least={"value": 1, **WHY}), {"a": NOISY, "b": STEADY})
    expected = (f.ppf(0.95, 7, 7) / f.ppf(0.2, 7, 7)) ** 0.5
    assert document.design[0].minimum_detectable == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize(
    ("how", "what"),
    [
        ({}, "a spread with no limit"),
        ({"at_least": {"value": 1, **WHY}, "at_most": {"value": 2, **WHY}}, "together"),
        ({"at_least": {"value": 0, **WHY}}, "0 is no ratio of standard deviations"),
        ({"at_most": {"value": "structural", **WHY}}, "structural is no ratio"),
    ],
)
def test_what_says_nothing_is_a_mistake(how: Any, what: str) -> None:
    made_claim = claim(**how)
    (declared,) = made_claim.expectations
    found = [each.what for each in kind_of(declared).mistakes(declared, made_claim.context())]
    assert any(what in each for each in found)


def test_pairs_have_no_f_test() -> None:
    made_claim = claim("paired", test="f", at_least={"value": 1, **WHY})
    (declared,) = made_claim.expectations
    (mistake,) = kind_of(declared).mistakes(declared, made_claim.context())
    assert mistake.expected == "levene"


def test_a_constant_arm_is_not_tested() -> None:
    document = judged(claim(at_least={"value": 2, **WHY}), {"a": NOISY, "b": [3.0] * 8})
    assert document.results[0].conclusion == "NOT-TESTED"
    assert "does not vary" in str(document.results[0])


def test_power_of_pairs_is_not_made_up() -> None:
    """The correlation of pairs is in no plan."""
    made_claim = claim("paired", at_least={"value": 2, **WHY})
    document = judged(made_claim, {"a": NOISY, "b": STEADY})
    assert "no power is computed for pairs" in document.design[0].note.lower()


def test_least_seeds_are_those_of_the_test() -> None:
    from repro.stats.spreads import LEAST_SEEDS

    made_claim = claim(at_least={"value": 2, **WHY})
    (declared,) = made_claim.expectations
    assert kind_of(declared).least_seeds(declared, 0.05, paired=False) == LEAST_SEEDS
