"""The interval of a p-value under rounding, against scipy at random points of the box."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from scipy import stats

from repro.audit.audit import audit
from repro.audit.p_range import Box, Variant, enumerate_variants, feasible
from tests.audit.parthiban import ELEVEN, comparisons

SEED = 20210202
POINTS = 4_000

BOXES = {
    "equal sizes": Box((0.11, 0.13), (0.085, 0.095), (0.125, 0.135), 10, 10),
    "unequal sizes": Box((0.2, 0.4), (0.05, 0.15), (0.35, 0.45), 3, 25),
    "wide deviations": Box((0.5, 1.5), (0.05, 2.0), (0.05, 2.0), 4, 6),
    "one deviation from 0": Box((0.5, 0.6), (0.0, 0.5), (0.2, 0.3), 5, 12),
    "difference around 0": Box((-0.02, 0.04), (0.1, 0.2), (0.1, 0.2), 10, 10),
    "mostly the contrary": Box((-0.5, 0.1), (0.1, 0.2), (0.1, 0.2), 5, 5),
    "two replicates": Box((1.0, 3.0), (0.3, 0.9), (0.1, 1.5), 2, 2),
    "very significant": Box((2.19, 2.21), (0.095, 0.105), (0.255, 0.265), 10, 10),
}
VARIANTS = [
    variant
    for variant in enumerate_variants(None, other_n=True, against=(False, True))
    if variant.shift == 0 or (variant.shift == 1 and variant.ddof == 1)
]


def points(box, count):
    """Means and deviations in the box: inside, on its faces, edges and corners."""
    generator = np.random.default_rng(SEED)
    share = np.clip(generator.uniform(-1, 2, (3, count)), 0, 1)
    ends = np.array([box.difference, box.sd_a, box.sd_b])
    return ends[:, :1] + (ends[:, 1:] - ends[:, :1]) * share


def p_values(box, variant, difference, sd_a, sd_b):
    """The variant's p at each point, by scipy."""
    n_a, n_b = box.n_a + variant.shift, box.n_b + variant.shift
    if variant.ddof == 0:
        sd_a, sd_b = sd_a * np.sqrt(n_a / (n_a - 1)), sd_b * np.sqrt(n_b / (n_b - 1))
    alternative: Literal["two-sided", "less", "greater"] = "two-sided"
    if variant.tails == 1:
        alternative = "less" if variant.against else "greater"
    found = stats.ttest_ind_from_stats(
        difference,
        sd_a,
        n_a,
        0 * difference,
        sd_b,
        n_b,
        equal_var=variant.test == "student",
        alternative=alternative,
    )
    return found.pvalue


@pytest.mark.parametrize("name", BOXES)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_no_point_of_the_box_lies_outside_and_the_ends_are_reached(name, variant):
    """Of 4,000 points, corners among them, none lies beyond the interval, some come near its ends.

    A two-sided p reaches 1 only where the difference is exactly 0, which is tried too.
    """
    box = BOXES[name]
    ((low, high),) = feasible([box], variant)
    difference, sd_a, sd_b = points(box, POINTS)
    if box.difference[0] <= 0 <= box.difference[1]:
        difference[:50] = 0
    found = p_values(box, variant, difference, sd_a, sd_b)
    assert found.min() >= low * (1 - 1e-9)
    assert found.max() <= high * (1 + 1e-9)
    assert found.min() <= 1.1 * low
    assert found.max() >= high / 1.1


@pytest.mark.parametrize("name", BOXES)
def test_the_extremes_of_welch_on_the_edges_are_those_of_a_fine_grid(name):
    """Student at corners, Welch on edges: a grid of 401 by 401 deviations finds no others."""
    box = BOXES[name]
    sd_a, sd_b = (
        grid.ravel()
        for grid in np.meshgrid(np.linspace(*box.sd_a, 401), np.linspace(*box.sd_b, 401))
    )
    near = max(box.difference[0], 0.0)
    far = max(abs(end) for end in box.difference)
    for test in ("student", "welch"):
        ((low, high),) = feasible([box], Variant(test))
        at_far = p_values(box, Variant(test), np.full_like(sd_a, far), sd_a, sd_b).min()
        assert at_far / 1.001 <= low <= at_far * (1 + 1e-9)
        if near > 0:
            at_near = p_values(box, Variant(test), np.full_like(sd_a, near), sd_a, sd_b).max()
            assert at_near * (1 - 1e-9) <= high <= at_near * 1.001
        else:
            assert high == 1


def test_welch_has_its_extreme_inside_an_edge():
    """Here no corner of the box gives Welch's least p: its degrees of freedom peak between."""
    box = Box((10.0, 10.0), (0.9, 1.1), (0.01, 2.0), 30, 2)
    corners = [
        p_values(box, Variant(), np.array([10.0]), np.array([a]), np.array([b]))[0]
        for a in box.sd_a
        for b in box.sd_b
    ]
    ((low, high),) = feasible([box], Variant())
    assert high == pytest.approx(max(corners), rel=1e-9)
    inside = p_values(
        box, Variant(), np.full(2001, 10.0), np.full(2001, 0.9), np.linspace(*box.sd_b, 2001)
    )
    assert low == pytest.approx(min(inside), rel=1e-4)


@pytest.mark.parametrize("name", ELEVEN)
def test_the_eleven_intervals(name):
    """From the printed table come the intervals that an independent search has found."""
    (row,) = audit(comparisons([name], test="student"))
    assert row.p_interval is not None
    low, high = row.p_interval
    for ours, known in ((low, ELEVEN[name][3]), (high, ELEVEN[name][4])):
        digits = len(known.partition("e")[0].replace(".", "").lstrip("0"))
        assert float(f"{ours:.{digits - 1}e}") == float(known)


def test_both_deviations_may_be_0():
    """With no deviation at all any difference is certain: p from 0, and 1 where it may be none."""
    apart = Box((0.5, 0.7), (0.0, 0.0), (0.0, 0.0), 5, 5)
    together = Box((-0.1, 0.1), (0.0, 0.0), (0.0, 0.0), 5, 5)
    for test in ("student", "welch"):
        assert feasible([apart, together], Variant(test)) == [(0, 0), (0, 1)]


def test_a_paired_test_may_have_any_correlation():
    """The ends are the paired t-tests with correlation +1 and -1, by scipy's t distribution."""
    box = Box((0.5, 0.5), (1.0, 1.0), (1.5, 1.5), 8, 8)
    ((low, high),) = feasible([box], Variant("paired"))
    for ours, sd in ((low, 0.5), (high, 2.5)):
        assert ours == pytest.approx(2 * stats.t.sf(0.5 / (sd / np.sqrt(8)), 7), rel=1e-9)


def test_a_paired_test_against_the_difference_may_have_any_correlation():
    """Its p is 1 minus that of the other alternative, so its ends are those the other way round."""
    box = Box((0.5, 0.5), (1.0, 1.0), (1.5, 1.5), 8, 8)
    ((low, high),) = feasible([box], Variant("paired", 1, against=True))
    for ours, sd in ((high, 0.5), (low, 2.5)):
        assert ours == pytest.approx(stats.t.cdf(0.5 / (sd / np.sqrt(8)), 7), rel=1e-9)


def test_rows_do_not_change_each_other():
    """Each box has the same interval alone and among others."""
    boxes = list(BOXES.values())
    for variant in (Variant("welch"), Variant("student", 1)):
        together = feasible(boxes, variant)
        assert together == [feasible([box], variant)[0] for box in boxes]
