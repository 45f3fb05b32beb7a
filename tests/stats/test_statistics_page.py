"""The numbers that the page on statistics calls *computed* are what the code computes."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from repro.stats.coefficients import fisher_interval, restricted_r
from repro.stats.contrast import student_contrast
from repro.stats.correlation import p_by_student
from repro.stats.counts import clopper_pearson
from repro.stats.group_sequential import boundaries
from repro.stats.measured_cells import measured_rates
from repro.stats.multiplicity import benjamini_hochberg, holm
from repro.stats.power import (
    PowerDesign,
    detectable,
    power_difference,
    power_equivalence,
    power_student,
    seeds_needed,
)
from repro.stats.records import Summary
from repro.stats.replication import z_value

PAGE = (Path(__file__).parents[2] / "docs/explanation/statistics.md").read_text(encoding="utf-8")
TEXT = " ".join(PAGE.split())


def design(n: int, sd: float = 1.0) -> PowerDesign:
    """Two like arms."""
    return PowerDesign(sd, sd, n, n)


def numbers(pattern: str) -> list[float]:
    """The numbers in the one place of the page that the pattern finds, its groups or a list."""
    match = re.search(pattern, TEXT)
    assert match is not None, pattern
    return [float(one) for one in re.findall(r"-?\d*\.?\d+(?:e-?\d+)?", " ".join(match.groups()))]


@pytest.mark.parametrize("n", [10, 20, 30])
def test_the_power_of_equivalence(n: int) -> None:
    """Every cell of the table, to two digits."""
    (row,) = re.findall(rf"^\| {n} \| (.*) \|$", PAGE, re.MULTILINE)
    found = [power_equivalence(design(n, 0.15), 0, low=-m, high=m) for m in (0.1, 0.15, 0.2, 0.3)]
    assert [float(cell) for cell in row.split(" | ")] == pytest.approx(found, abs=0.0051)


def test_seeds_for_an_equivalence() -> None:
    """The seeds per arm that give 80 %."""
    seeds = numbers(r"80 % at ±0\.2 takes (\d+) seeds per arm, at ±0\.1 it takes (\d+)")
    for margin, found in zip((0.2, 0.1), seeds, strict=True):
        power = partial(power_equivalence, effect=0, low=-margin, high=margin)
        assert seeds_needed(design(2, 0.15), power) == found


def test_detectable_differences() -> None:
    """What Welch's test finds with a power of 80 %, and a third for d33."""
    found = numbers(
        r"deviations: ([\d.]+) with 3 seeds per arm, ([\d.]+) with 5, ([\d.]+) with 10, "
        r"([\d.]+) with 20, ([\d.]+) with 30 \("
    )
    for n, size in zip((3, 5, 10, 20, 30), found, strict=True):
        sought = detectable(partial(power_difference, design(n)), 1)
        assert size == pytest.approx(sought, abs=0.0051)
    (d33,) = numbers(r"\(d33 = ([\d.]+) standard deviations for ten seeds per arm")
    third = detectable(partial(power_student, design(10)), 1, 1 / 3)
    assert d33 == pytest.approx(third, abs=0.0051)


def test_the_usual_formula_promises_too_much() -> None:
    """Welch's power where Student's is .80."""
    found = numbers(r"has (\.\d+), (\.\d+) and (\.\d+) with 3, 5 and 10 seeds")
    for n, power in zip((3, 5, 10), found, strict=True):
        effect = detectable(partial(power_student, design(n)), 1)
        assert effect is not None
        assert power == pytest.approx(power_difference(design(n), effect), abs=0.0051)


def test_correlations() -> None:
    """The two intervals, and what a restriction leaves of .5."""
    for n, r in ((72, 0.48), (36, 0.53)):
        interval = fisher_interval("pearson", r, n, 0.95)
        assert interval is not None
        shown = f"{r:.2f}".removeprefix("0.")
        ends = numbers(rf"{n} points, r = \.{shown} has (?:the interval )?\((.*?)\)")
        assert ends == pytest.approx([interval.low, interval.high], abs=0.0051)
        assert float(p_by_student(np.array(r), n)) < 1e-3
    left = numbers(r"a true \.5 becomes (\.\d+), (\.\d+), (\.\d+) or (\.\d+)")
    from scipy.stats import truncnorm

    spreads = [float(np.sqrt(truncnorm(-k, k).var())) for k in (1.5, 1, 0.75, 0.5)]
    assert left == pytest.approx([restricted_r(0.5, u) for u in spreads], abs=0.0006)


def test_bounds_and_families() -> None:
    """What ten and twenty seeds show, and the adjusted p of GSS on WikiText-2."""
    shares = numbers(r"10 of 10 show at least ([\d.]+) % .*? 20 of 20 show ([\d.]+) %")
    lower = [100 * clopper_pearson(n, n, level=0.9).low for n in (10, 20)]
    assert shares == pytest.approx(lower, abs=0.051)
    p = [0.392, 0.262, 1.91e-5, 2.02e-15, 3.46e-4, 2.74e-2, 2.98e-7, 2.04e-13]
    found = numbers(r"becomes (\.\d+) by Holm and (\.\d+) by Benjamini")
    assert found == pytest.approx([holm(p)[5], benjamini_hochberg(p)[5]], abs=0.00051)


def test_planned_looks_and_the_z_of_a_paper() -> None:
    """The boundaries of four looks; z is not t."""
    bounds = numbers(r"seeds have z = ([\d.]+), ([\d.]+), ([\d.]+), ([\d.]+), nominal")
    assert bounds == pytest.approx(boundaries((0.25, 0.5, 0.75, 1.0), 0.05), abs=0.0006)
    contrast = student_contrast(Summary(10, 54.88, 0.26), Summary(10, 57.08, 0.10))
    t, z = numbers(r"on Penn Treebank t is (\d+) and z is (\d+\.\d)")
    assert t == pytest.approx(-contrast.statistic(), abs=0.5)
    assert z == pytest.approx(-z_value(contrast), abs=0.051)


def rate(test: str, n: int, ratio: float = 1.0, others: int | None = None) -> float:
    """The largest measured rate of a test with normal values."""
    cells = (one for one in measured_rates() if one.test == test and one.n == n)
    return max(
        one.rate
        for one in cells
        if one.others == others and one.sd_ratio == ratio and one.distribution == "normal"
    )


@pytest.mark.parametrize(
    ("pattern", "cells"),
    [
        (
            r"Student at 3:1: (\.\d+), (\.\d+), (\.\d+) with 3, 5 and 10",
            [("student", n, 3.0, None) for n in (3, 5, 10)],
        ),
        (
            r"t at 3:1: (\.\d+) with 5 seeds, (\.\d+) with 10",
            [("permutation", n, 3.0, None) for n in (5, 10)],
        ),
        (
            r"Brunner–Munzel at 3:1: (\.\d+) with 5 seeds, (\.\d+) with 10",
            [("brunner_munzel", n, 3.0, None) for n in (5, 10)],
        ),
        (
            r"Yuen at 3:1: (\.\d+) with 5 seeds, (\.\d+) with 10",
            [("yuen", n, 3.0, None) for n in (5, 10)],
        ),
        (
            r"Separation, one-sided, at 3:1: (\.\d+) with 3",
            [("separation", 3, 3.0, None)],
        ),
        (r"\(3 and 30\): Welch (\.\d+)", [("welch", 3, 1.0, 30)]),
    ],
)
def test_error_rates(pattern: str, cells: list[tuple[str, int, float, int | None]]) -> None:
    """The rates of section 2.2 are those that were measured."""
    assert numbers(pattern) == pytest.approx([rate(*cell) for cell in cells], abs=0.00051)
