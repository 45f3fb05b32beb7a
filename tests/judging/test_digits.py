"""How many digits a report shows of numbers that were not measured here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from repro.judging.document import Document
from repro.report.blocks import DotPlot, Figure
from repro.report.figure_data import effect_note, main_figure
from repro.report.junit import junit
from repro.report.markdown import summary as markdown
from repro.report.sections.statements import _evidence as evidence_of
from repro.schema.numbers import unbroken
from tests.judging.made import LOSS, judged, made
from tests.judging.test_kinds import difference

SHARES = {
    "a": (0.0423, 0.0412, 0.0431, 0.0419, 0.0428),
    "b": (0.0497, 0.0489, 0.0501, 0.0493, 0.0505),
}


def test_errors_as_fractions_can_be_told_apart() -> None:
    """Two digits were asked for by default, and all values would be 0.04 or 0.05."""
    document = judged(made(difference()), SHARES)
    assert document.measurements[0].digits == 5
    sentence = document.results[0].sentence
    assert "0.00744 lower" in sentence
    assert "−0.00" in sentence.replace("-", "−")


@pytest.mark.parametrize(("factor", "digits"), [(1, 5), (10, 4), (30, 2), (1000, 2), (1e-6, 11)])
def test_there_are_more_digits_only_where_they_are_wanted(factor: float, digits: int) -> None:
    """What was declared is enough where the scatter shows in it."""
    values = {arm: [factor * value for value in own] for arm, own in SHARES.items()}
    assert judged(made(difference()), values).measurements[0].digits == digits


def test_digits_that_were_declared_are_the_fewest() -> None:
    """A reader who asked for six gets six."""
    of = made(difference(), measurements={"loss": {**LOSS, "digits": 6}})
    assert judged(of, SHARES).measurements[0].digits == 6


def test_arms_that_do_not_vary_are_told_apart() -> None:
    """By as many digits as their difference needs."""
    values = {"a": [0.0423] * 5, "b": [0.0497] * 5}
    assert judged(made(difference()), values).measurements[0].digits == 4


def test_the_digest_of_a_claim_does_not_depend_on_its_evidence() -> None:
    """Digits are how it is worded, and not what is claimed."""
    of = made(difference())
    assert judged(of, SHARES).claim.digest == of.digest()


# Scattered by 0.3 to 0.4 over seeds, and by 0.005 within pairs.
ACROSS = (71.0312, 70.6127, 71.3741, 70.8839, 71.2068, 71.1153)
PAIRS = {
    "a": (71.0092, 70.5857, 71.3431, 70.8599, 71.1778, 71.0887),
    "b": ACROSS,
}


def of_pairs(one: dict[str, Any], values: Mapping[str, Sequence[float]] = PAIRS) -> Document:
    """A paired claim on two arms that go up and down together."""
    seeds = {"min": 3, "plan": 6}
    return judged(made({"of": ["a", "b"], **one}, design="paired", seeds=seeds), values)


def row_notes(document: Document) -> list[str]:
    """What the main figure writes beside each arm."""
    figure = main_figure(document)
    assert isinstance(figure, Figure)
    assert isinstance(figure.plot, DotPlot)
    return [row.note for row in figure.plot.panels[0].rows]


def test_a_paired_difference_has_digits_of_its_own() -> None:
    """By half its interval; two decimals would say 0.03, −0.03 to −0.02."""
    document = of_pairs({"kind": "difference", "direction": "lower", "test": "paired"})
    (result,) = document.results
    assert "A is 0.0266 lower than B (95% interval −0.0300 to −0.0232)" in result.sentence
    assert effect_note(document, result).startswith("−0.0266, 95% interval −0.0300 to −0.0232")
    assert "| −0.0266 (−0.0300 to −0.0232), " in markdown([document])
    assert unbroken("0.0266 lower than B (95% interval −0.0300 to −0.0232)") in junit(document)
    assert document.measurements[0].digits == 2
    assert row_notes(document) == ["71.01 ± 0.26, 6 seeds", "71.04 ± 0.27, 6 seeds"]


def test_a_paired_difference_has_no_more_digits_than_its_values_carry() -> None:
    """A mean of values with two decimals has one more, whatever the interval is."""
    values = {arm: [round(value, 2) for value in own] for arm, own in PAIRS.items()}
    (result,) = of_pairs(
        {"kind": "difference", "direction": "lower", "test": "paired"}, values
    ).results
    assert result.digits == 3
    assert "0.025 lower" in result.sentence


def test_a_test_without_an_interval_shows_the_scatter_of_pairs_too() -> None:
    one = {"kind": "difference", "direction": "lower", "test": "paired_permutation"}
    (result,) = of_pairs(one).results
    assert result.interval is None
    assert "0.0266 lower" in result.sentence


def test_what_a_margin_is_compared_with_has_digits_of_its_own() -> None:
    """Effect, interval, and the smallest margin that could have been confirmed."""
    one = {"kind": "equivalence", "margin": {"abs": "0.05", "why": "a reason"}}
    document = of_pairs(one)
    (result,) = document.results
    assert "0.0266 lower than B (90% interval −0.0293 to −0.0239)" in result.sentence
    assert ("Smallest confirmable margin", "0.0293") in evidence_of(document, result)


def test_a_relative_difference_has_digits_of_its_own() -> None:
    """In percent: a tenth of one would say 0.0%."""
    one = {"kind": "equivalence", "margin": {"relative": "0.01", "why": "a reason"}}
    document = of_pairs(one)
    (result,) = document.results
    assert "0.0374% lower" in result.sentence
    assert effect_note(document, result).startswith("−0.0374%, 90% interval −0.0412% to −0.0337%")


def test_independent_arms_have_the_digits_of_their_measurement() -> None:
    """Their difference scatters as they do."""
    document = judged(made(difference()), PAIRS)
    assert document.results[0].digits == document.measurements[0].digits == 2


@pytest.mark.parametrize(
    ("half", "digits"), [(0.09, 2), (0.041, 2), (0.039, 3), (0.011, 3), (0.5, 2)]
)
def test_a_second_significant_digit_follows_a_small_first_one(half: float, digits: int) -> None:
    """0.73, -0.83 to -0.64, says as much as three decimals would; half of it is 0.09."""
    noise = (-1.0, 1.0, -0.5, 0.5, 0.3, -0.3)
    t, sd = 2.570582, 0.732120  # of 5 degrees of freedom; of the noise
    pairs = [half * math.sqrt(6) / (t * sd) * x for x in noise]
    values = {"a": [b + 0.123456 + d for b, d in zip(ACROSS, pairs, strict=True)], "b": ACROSS}
    (result,) = of_pairs(
        {"kind": "difference", "direction": "lower", "test": "paired"}, values
    ).results
    assert result.interval is not None
    low, high = result.interval.low, result.interval.high
    assert low is not None
    assert high is not None
    assert (high - low) / 2 == pytest.approx(half, rel=1e-5)
    assert result.digits == digits


def test_a_report_of_old_is_shown_as_it_was() -> None:
    """It does not say how many digits an effect has."""
    document = of_pairs({"kind": "difference", "direction": "lower", "test": "paired"})
    (result,) = document.results
    old = result.model_copy(update={"digits": None})
    assert effect_note(document, old).startswith("−0.03, 95% interval −0.03 to −0.02")
