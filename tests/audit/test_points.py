"""Correlations of digitised points: against scipy, and how a printed one is graded."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from repro.audit.audit import audit_paths
from repro.audit.audit_file import PrintedPoints
from repro.audit.comparison import Audited, Grade
from repro.audit.correlations import audit_points, correlation
from repro.audit.render import to_json
from repro.stats.records import Sample

SEED = 20180430
PUBLISHED = Path(__file__).parents[2] / "claims" / "published"

clouds = st.lists(
    st.tuples(st.integers(-99, 99), st.integers(-99, 99)), min_size=6, max_size=12, unique=True
).filter(lambda pairs: len({x for x, _ in pairs}) > 3 and len({y for _, y in pairs}) > 3)


def entry(pairs, r=None, better=None, windows=(), **printed):
    """Points with what is printed of them; x and y as they are printed."""
    document = {
        "id": "all",
        "values": [[repr(x), repr(y)] for x, y in pairs],
        "x": {"column": "x", "label": "x"},
        "y": {"column": "y", "label": "y", "better": better},
        "printed": {"r": r, "locator": "Figure 1", **printed},
        "windows": [{"locator": "text", **window} for window in windows],
    }
    return PrintedPoints.model_validate_json(json.dumps(document))


def audited(pairs, **how) -> list[Audited]:
    return list(audit_points(entry(pairs, **how), {}))


def number(row: Audited, name: str) -> float:
    value = row.details[name]
    assert isinstance(value, float)
    return value


def cloud(n=40, slope=0.7, seed=SEED):
    """Normal points, x and y to three decimals."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=n)
    y = 60 + slope * x + generator.normal(size=n)
    return [(round(a, 3), round(b, 3)) for a, b in zip(x.tolist(), y.tolist(), strict=True)]


@given(clouds)
def test_coefficients_and_p_are_those_of_scipy(pairs):
    """Pearson's r with its p, and Spearman's, ties and all."""
    x, y = np.array(pairs, dtype=float).T
    ours = correlation(Sample.of(*x.tolist()), Sample.of(*y.tolist()))
    pearson = stats.pearsonr(x, y)
    assert ours.r == pytest.approx(pearson.statistic, abs=1e-9)
    assert ours.p == pytest.approx(pearson.pvalue, rel=1e-4, abs=1e-9)
    assert ours.spearman == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)


def test_the_interval_is_fishers():
    """The interval of level 0.95 is scipy's, and leaving one out is done by hand."""
    x, y = np.array(cloud()).T
    ours = correlation(Sample.of(*x.tolist()), Sample.of(*y.tolist()))
    interval = stats.pearsonr(x, y).confidence_interval(0.95)
    assert ours.interval == pytest.approx((interval.low, interval.high), rel=1e-9)
    without = [
        stats.pearsonr(np.delete(x, one), np.delete(y, one)).statistic for one in range(len(x))
    ]
    assert ours.leave_one_out == pytest.approx((min(without), max(without)), rel=1e-9)


@pytest.mark.parametrize("better", [None, "higher", "lower"])
def test_an_axis_is_turned_so_that_more_is_better(better):
    """Lower is better turns the sign of r, and nothing else."""
    x, y = np.array(cloud()).T
    row = audited(cloud(), better=better)[0]
    sign = -1 if better == "lower" else 1
    assert row.details["r"] == pytest.approx(sign * stats.pearsonr(x, y).statistic)


def test_a_window_is_cut_on_the_printed_scale_even_if_turned():
    """The points of a window are those between its printed ends; Thorndike's case 2 follows."""
    pairs = cloud()
    x, y = np.array(pairs).T
    inside = (y >= 59.5) & (y <= 60.5)
    window = {"id": "middle", "low": "59.5", "high": "60.5", "r": "0.1"}
    row = audited(pairs, better="lower", windows=[window])[1]
    full, u = stats.pearsonr(x, -y).statistic, np.std(y[inside], ddof=1) / np.std(y, ddof=1)
    assert row.details["n"] == int(inside.sum())
    assert row.details["r"] == pytest.approx(stats.pearsonr(x[inside], -y[inside]).statistic)
    expected = full * u / math.sqrt(1 + full**2 * (u**2 - 1))
    assert row.details["predicted"] == pytest.approx(expected)


def test_points_that_round_into_a_window_are_tried():
    """A point at 60.53 is inside a window to 60.5 only when its ends are rounded."""
    pairs = [(1.0, 59.6), (2.0, 60.1), (3.0, 59.9), (4.0, 60.4), (5.0, 60.53), (6.0, 63.0)]
    window = {"id": "middle", "low": "59.5", "high": "60.5", "r": "0.5"}
    row = audited(pairs, windows=[window])[1]
    assert (row.details["n"], row.details["rounded_edges_n"]) == (4, 5)
    unchanged = audited(pairs[:4] + pairs[5:], windows=[window])[1]
    assert "rounded_edges_n" not in unchanged.details


def test_a_rounded_coefficient_is_consistent():
    """The r of the points, rounded to two digits, is CONSISTENT."""
    r = audited(cloud())[0].details["r"]
    assert audited(cloud(), r=f"{r:.2f}")[0].grade is Grade.CONSISTENT


def test_a_coefficient_whose_digits_were_cut_off_is_consistent_if_so():
    """The next lower number of two digits is CONSISTENT-IF(r truncated)."""
    r = number(audited(cloud())[0], "r")
    assert f"{r:.2f}" != f"{math.floor(r * 100) / 100:.2f}"
    row = audited(cloud(), r=f"{math.floor(r * 100) / 100:.2f}")[0]
    assert (row.grade, row.condition) == (Grade.CONSISTENT_IF, "r truncated")


def test_a_significant_coefficient_with_the_other_sign_decides_otherwise():
    """Printed without its sign, a strong negative r is DECISION-INCONSISTENT."""
    r = number(audited(cloud(), better="lower")[0], "r")
    row = audited(cloud(), better="lower", r=f"{-r:.2f}")[0]
    assert number(row, "p") < 0.05
    assert row.grade is Grade.DECISION_INCONSISTENT
    assert row.details["sign_matches"] is False
    assert row.matches == ("sign dropped",)


def test_an_insignificant_coefficient_with_the_other_sign_is_inconsistent():
    """Where neither sign is significant the decision is the same."""
    pairs = cloud(n=12, slope=-0.05)
    r = number(audited(pairs)[0], "r")
    row = audited(pairs, r=f"{-r:.2f}")[0]
    assert number(row, "p") > 0.05
    assert row.grade is Grade.INCONSISTENT
    assert row.details["sign_matches"] is False


def test_another_coefficient_is_inconsistent():
    """A number that is no rounding of r, with the same sign and decision."""
    row = audited(cloud(), r="0.99")[0]
    assert row.grade is Grade.INCONSISTENT
    assert row.matches == ()
    assert row.details["sign_matches"] is True


@pytest.mark.parametrize(
    ("sign", "grade"),
    [("positive", Grade.CONSISTENT), ("negative", Grade.DECISION_INCONSISTENT)],
)
def test_a_sign_in_words_is_checked(sign, grade):
    """A stated sign is CONSISTENT with points of that sign, and contradicted by others."""
    assert audited(cloud(), sign=sign)[0].grade is grade


def test_a_stated_sign_that_few_points_cannot_show_is_said():
    """Three points of r = -0.9 have the sign, and p = .29: both are said."""
    three = [(13215.0, -63.06), (17256.0, -64.38), (19427.0, -68.49)]
    assert any(
        "does not differ from 0" in one for one in audited(three, sign="negative")[0].findings
    )
    six = [(float(x), x + 0.1 * (-1) ** x) for x in range(6)]
    assert not any("differ from 0" in one for one in audited(six, sign="positive")[0].findings)


def test_a_window_of_three_points_blames_and_clears_nothing():
    """Without an interval nothing is said of what restriction of range explains."""
    pairs = [(float(x), float(x) + (0.4 if x % 3 else -0.3)) for x in range(9)]
    window = {"id": "three", "low": "1.0", "high": "4.0", "r": "0.9"}
    _, three = audited(pairs, r="0.9", windows=[window])
    assert three.grade is Grade.NOT_CHECKABLE
    assert not any("cause" in sentence for sentence in three.findings)


def test_what_does_not_vary_cannot_be_checked():
    """One x for all, two points, or nothing printed: there is no correlation to check."""
    constant = [(1.0, 2.0), (1.0, 3.0), (1.0, 5.0), (1.0, 4.0)]
    assert audited(constant, r="0.3")[0].grade is Grade.NOT_CHECKABLE
    assert audited(constant[:2], r="0.3")[0].grade is Grade.NOT_CHECKABLE
    assert audited(cloud())[0].grade is Grade.NOT_CHECKABLE


def test_an_empty_window_cannot_be_checked():
    """A window without enough points is NOT-CHECKABLE, and the others are not affected."""
    window = {"id": "far", "low": "90", "high": "91", "r": "0.5"}
    whole, far = audited(cloud(), sign="positive", windows=[window])
    assert whole.grade is Grade.CONSISTENT
    assert far.grade is Grade.NOT_CHECKABLE
    assert far.findings


@given(clouds, st.permutations(range(6)))
def test_the_order_of_the_points_does_not_matter(pairs, order):
    """The same points in another order give the same numbers."""
    shuffled = [pairs[place] for place in order] + pairs[6:]
    one, other = (audited([(float(x), float(y)) for x, y in p]) for p in (pairs, shuffled))
    assert one[0].details["r"] == pytest.approx(other[0].details["r"], abs=1e-12)
    assert one[0].details["spearman"] == pytest.approx(other[0].details["spearman"], abs=1e-12)


def test_the_numbers_are_in_the_json():
    """Each window is an object with n, r, interval, p, predicted and what matches."""
    audits = audit_paths([PUBLISHED / "parthiban2021_figure_2.yaml"])
    rows = {row["id"]: row for row in json.loads(to_json(audits))}
    details = rows["wt2_window"]["details"]
    assert rows["wt2_window"]["kind"] == "correlation"
    assert details["printed"] == "0.21"
    assert details["n"] == 26
    assert details["interval"][0] < details["r"] < details["interval"][1]
    assert {"p", "spearman", "leave_one_out", "predicted", "predicted_inside"} <= set(details)
