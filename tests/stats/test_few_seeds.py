"""The standing line of t-tests of few seeds: which have it, and whose rates it prints."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from repro.judging.assemble import check_claim
from repro.report.sections import sections
from repro.schema.value_scale import ValueScale
from repro.stats.bounded_mean import POOLED, p_of_shares
from repro.stats.error_rates import NAMES, T_TESTS, few_seeds
from repro.stats.one_sample import mean_level
from repro.stats.ranks import brunner_munzel
from repro.stats.records import Sample
from repro.stats.t_tests import paired, student, tost, welch
from tests.judging.made import made, seen

VALUES = (1.0, 2.0, 4.0, 3.5, 2.5, 3.0, 1.5, 2.2)


def arm(n: int, shift: float = 0.0) -> Sample:
    """The first of the values, or a shifted arm that scatters more."""
    more = 0.1 if shift else 0.0
    return Sample.of(*(value + shift + more * i**2 for i, value in enumerate(VALUES[:n])))


def worst(test: str, n: int, shape: str) -> str:
    """The highest rate of these cells in the file itself."""
    data: Any = json.loads(files("repro.stats").joinpath("levels.json").read_text(encoding="utf-8"))
    rows = [dict(zip(data["columns"], row, strict=True)) for row in data["rates"]]
    rates = [
        row["rate"]
        for row in rows
        if (row["test"], row["n"], row["others"], row["distribution"]) == (test, n, None, shape)
    ]
    return f"{100 * max(rates):.2g} %"


@pytest.mark.parametrize(
    ("result", "test", "unit"),
    [
        (welch(arm(5), arm(5, 1.0)), "welch", "seeds"),
        (welch(arm(5), arm(5, 1.0), alternative="greater"), "welch one-sided", "seeds"),
        (paired(arm(5), arm(5, 1.0)), "paired", "pairs"),
        (paired(arm(5), arm(5, 1.0), alternative="less"), "non_inferiority paired", "pairs"),
        (tost(arm(5), arm(5, 1.0), low=-9, high=9), "tost", "seeds"),
        (mean_level(arm(5), side="at_least", limit=1.0), "level", "seeds"),
    ],
)
def test_the_rates_are_those_that_were_measured(result: Any, test: str, unit: str) -> None:
    skewed, failing = worst(test, 5, "lognormal"), worst(test, 5, "collapsed")
    assert few_seeds(result) == (
        f"With 5 {unit}, skew and rare failures cannot be seen: with skew the test errs in up to "
        f"{skewed} of cases instead of 5 %, and where one seed in five fails, in up to {failing} "
        "(measured)."
    )


def test_what_was_not_measured_is_not_printed() -> None:
    said = few_seeds(student(arm(5), arm(5, 1.0)))
    assert said == "With 5 seeds, skew and rare failures cannot be seen."


def test_enough_seeds_and_other_tests_have_no_such_line() -> None:
    assert few_seeds(welch(arm(8), arm(8, 1.0))) == ""
    assert few_seeds(welch(arm(7), arm(8, 1.0))).startswith("With 7 seeds")
    assert few_seeds(brunner_munzel(arm(5), arm(5, 0.4))) == ""


@pytest.mark.parametrize("n", list(POOLED))
def test_pooled_items_say_what_few_seeds_hide(n: int) -> None:
    """The rate in the line is that of shares of which two items of a seed correlate by .05."""
    rng, draws = np.random.default_rng(20_261_126), 40_000
    chances = rng.beta(0.95 * 19, 0.05 * 19, (draws, n))
    above, _ = p_of_shares(rng.binomial(100, chances) / 100, 100, 0.95)
    rate = float(np.mean(above <= 0.05))
    assert rate == pytest.approx(POOLED[n], abs=4 * math.sqrt(rate * (1 - rate) / draws))
    shares = Sample.of(*(0.97, 0.96, 0.98, 0.97, 0.95, 0.96, 0.97)[:n])
    exact = mean_level(shares, side="at_least", limit=0.9, scale=ValueScale(0, 1, 100))
    assert few_seeds(exact) == (
        f"With {n} seeds, scatter beyond that of their items is seldom seen: where two items of a "
        f"seed correlate by .05, the test errs in {100 * POOLED[n]:.2g} % of cases instead of 5 % "
        "(measured with 100 items at .95)."
    )


def test_every_t_test_is_one_that_has_a_name() -> None:
    assert {test for test in T_TESTS if not test.startswith("ratio_")} <= set(NAMES)


def test_a_report_has_the_line_once() -> None:
    """In the document with its test, in the report with the parts."""
    two = [
        {"kind": "difference", "of": ["a", "b"], "direction": side} for side in ("lower", "higher")
    ]
    claim = made(*two, seeds={"min": 3, "plan": 3})
    values = {"a": [1.0, 2.0, 3.5, 2.2], "b": [1.5, 2.5, 2.0, 4.0]}
    document = check_claim(claim, seen(claim, values))
    for result in document.results:
        assert result.details["few_seeds"].startswith("With 4 seeds, skew and rare failures")
    assert str(sections(document)).count("skew and rare failures cannot be seen") == 1
    where = next(each for each in sections(document) if each.title.startswith("The parts"))
    assert "With 4 seeds" in str(where)
