"""The grade of a printed p, the corrections over its family, and what else is said of it."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from repro.audit.audit import audit
from repro.audit.comparison import LEGEND, Audit, Grade, fails
from repro.audit.p_range import Variant
from repro.audit.render import to_json
from repro.errors import ClaimError
from tests.audit.parthiban import EIGHT, ELEVEN, PTB, comparison, comparisons

SAME = ("10.0", "1.0")


def graded(name, a, b, p, **how):
    """The only row of a table of one."""
    (row,) = audit([comparison(name, a, b, p, **how)])
    return row


def said(row, words):
    """Whether a finding of the row has these words."""
    return any(words in sentence for sentence in row.findings)


# Two arms of ten, 10.0 and 11.0 with deviation 1.0: Student gives 0.0382, and 0.0185 to 0.0713
# over all rounding, Welch practically the same; one-sided the half. alpha is chosen around them.
@pytest.mark.parametrize(
    ("b", "p", "how", "grade", "survives"),
    [
        (("11.0", "1.0"), "0.04", {"test": "student"}, "DECISION-FRAGILE", False),
        (("11.0", "1.0"), "0.9", {"test": "student"}, "INCONSISTENT", False),
        (("11.0", "1.0"), "0.9", {}, "NOT-BY-T-TEST", False),
        (("11.0", "1.0"), "0.04", {"test": "student", "alpha": 0.1}, "CONSISTENT", True),
        (("11.0", "1.0"), "0.5", {"test": "student", "alpha": 0.1}, "DECISION-INCONSISTENT", True),
        (("11.0", "1.0"), "0.002", {"test": "student", "alpha": 0.1}, "INCONSISTENT", True),
        (("11.0", "1.0"), "0.002", {"alpha": 0.01}, "NOT-BY-T-TEST", True),
        (("11.0", "1.0"), "0.002", {"test": "welch", "alpha": 0.01}, "DECISION-INCONSISTENT", True),
        (("11.0", "1.0"), "<0.1", {"test": "student", "alpha": 0.1}, "CONSISTENT", True),
        (("11.0", "1.0"), ">0.1", {"test": "student", "alpha": 0.1}, "DECISION-INCONSISTENT", True),
        (("11.0", "1.0"), "0.012", {"alpha": 0.1, "tails": 2}, "CONSISTENT-IF(one-sided)", True),
        (("11.0", "1.0"), "0.012", {"alpha": 0.015, "tails": 2}, "NOT-BY-T-TEST", True),
        (
            ("11.0", "1.0"),
            "0.012",
            {"alpha": 0.015, "tails": 2, "test": "student"},
            "DECISION-INCONSISTENT",
            True,
        ),
        (("11.0", "1.0"), "0.012", {"alpha": 0.015}, "CONSISTENT-IF(one-sided)", True),
        (("11.0", "1.0"), "", {"alpha": 0.1}, "NOT-CHECKABLE", True),
    ],
)
def test_each_grade_has_its_example(b, p, how, grade, survives):
    """The worst that applies is the grade; whether rounding leaves the decision is said beside."""
    row = graded("row", SAME, b, p, **how)
    assert row.grade_text == grade
    assert row.decision_survives_rounding is survives


def test_the_papers_rows():
    """0.62 does not follow from its table, 6.41e-2 spans .05, the nine others are consistent."""
    grades = {row.id: row.grade for row in audit(comparisons())}
    assert grades.pop("PTB MoS, Softmax") is Grade.INCONSISTENT
    assert grades.pop("WT2 PLIF, frozen") is Grade.DECISION_FRAGILE
    assert set(grades.values()) == {Grade.CONSISTENT}


def test_the_grades_stand_in_the_order_of_the_rules():
    """statistics.md 2.1: the worst first; each has its line in the legend."""
    assert [str(grade) for grade in sorted(Grade, key=lambda one: one.rank)] == [
        "DECISION-INCONSISTENT",
        "DECISION-FRAGILE",
        "INCONSISTENT",
        "NOT-BY-T-TEST",
        "NOT-BY-COUNTS",
        "CONSISTENT-IF",
        "CONSISTENT",
        "NOT-CHECKABLE",
    ]
    assert set(LEGEND) == set(Grade)


def test_a_policy_fails_its_grade_and_the_worse():
    """Never fails nothing; what cannot be checked never fails."""
    assert fails([Grade.DECISION_FRAGILE], Grade.INCONSISTENT)
    assert fails([Grade.INCONSISTENT], Grade.INCONSISTENT)
    assert not fails([Grade.INCONSISTENT], Grade.DECISION_INCONSISTENT)
    assert not fails([Grade.DECISION_INCONSISTENT], None)
    assert not fails([Grade.NOT_CHECKABLE, Grade.CONSISTENT], Grade.CONSISTENT_IF)


def test_gss_on_wt2_fails_holm():
    """.0274 in a family of eight is .082 by Holm and .0365 by Benjamini-Hochberg; it is said."""
    rows = {row.id: row for row in audit(comparisons(EIGHT))}
    gss = rows["WT2 GSS"]
    assert f"{gss.holm:.3f}" == "0.082"
    assert f"{gss.bh:.4f}" == "0.0365"
    assert said(gss, "not after Holm over its family of 8: 0.0822")
    assert [name for name, row in rows.items() if said(row, "not after Holm")] == ["WT2 GSS"]


@pytest.mark.parametrize("method", ["holm", "fdr_bh"])
def test_statsmodels_agrees_on_the_family(method):
    """Both corrections over the printed p-values are those of multipletests."""
    rows = audit(comparisons())
    theirs = multipletests([float(ELEVEN[row.id][2]) for row in rows], method=method)[1]
    ours = [row.holm if method == "holm" else row.bh for row in rows]
    assert ours == pytest.approx(list(theirs), rel=1e-12)


def test_families_are_corrected_apart():
    """Each named family, and the rows without one, by themselves; alone a p stays as it is."""
    (lone, *rest) = audit([*comparisons(EIGHT[:1], family="own"), *comparisons(EIGHT[1:4])])
    assert lone.holm == lone.bh == 0.392
    assert [row.holm for row in rest] == pytest.approx([0.262, 2 * 1.91e-5, 3 * 2.02e-15])


def test_a_family_takes_bounds_and_computed_p_values():
    """Of `<0.001` its bound counts, of a p not printed the computed one, of nothing nothing."""
    bound = comparison("bound", PTB, ("54.88", "0.26"), "<0.001")
    computed = comparison("computed", PTB, ("57.03", "0.15"), "", test="student")
    nothing = comparison("nothing", PTB, ("57.03", ""), "")
    rows = audit([bound, computed, nothing])
    assert rows[0].holm == 0.002
    assert rows[1].holm == rows[1].p_student
    assert rows[2].holm is rows[2].bh is None


def test_the_nominal_p_values_are_scipys():
    """From the numbers as printed, two-sided, Student and Welch."""
    (row,) = audit([comparison("x", ("1.5", "0.7"), ("2.25", "1.9"), "0.2", n=(7, 12))])
    for ours, pooled in ((row.p_student, True), (row.p_welch, False)):
        theirs = stats.ttest_ind_from_stats(1.5, 0.7, 7, 2.25, 1.9, 12, equal_var=pooled)
        assert ours == pytest.approx(theirs.pvalue, rel=1e-9)


def test_the_smallest_confirmable_margin_is_the_far_end_of_the_90_percent_interval():
    """TOST by Welch at alpha .05 confirms a margin just above it, and not one just below."""
    row = graded("x", ("56.39", "0.19"), ("56.45", "0.10"), "0.62")
    margin, se = row.smallest_confirmable_margin, math.hypot(0.19, 0.10) / math.sqrt(10)
    df = se**4 / ((0.19**2 / 10) ** 2 / 9 + (0.10**2 / 10) ** 2 / 9)
    for factor, confirmed in ((1.001, True), (0.999, False)):
        nearest = factor * margin - 0.06
        assert bool(stats.t.sf(nearest / se, df) < 0.05) is confirmed
    assert said(row, "-0.206 to +0.086")


@pytest.mark.parametrize(
    ("a", "b", "n", "lacks"),
    [
        (("", "0.1"), ("2", "0.1"), (5, 5), "mean_a"),
        (("1", ""), ("2", ""), (5, 5), "sd_a, sd_b"),
        (("1", "0.1"), ("2", "0.1"), (5, None), "n_b"),
    ],
)
def test_what_is_not_printed_is_not_checkable(a, b, n, lacks):
    """A number that is missing is named; nothing is computed without it, but the family is."""
    row = graded("x", a, b, "0.03", n=n)
    assert row.grade is Grade.NOT_CHECKABLE
    assert said(row, f"Not printed: {lacks};")
    assert row.p_interval is row.p_welch is row.decision_survives_rounding is None
    assert row.holm == 0.03


def test_without_a_printed_p_everything_else_is_computed():
    """The interval, both p-values and the decision are there, and the missing p is said."""
    row = graded("x", *ELEVEN["PTB MoS"][:2], "")
    assert row.grade is Grade.NOT_CHECKABLE
    assert said(row, "No p is printed")
    assert row.decision_survives_rounding is True
    assert row.p_interval[0] < row.p_welch < row.p_interval[1]


def test_two_deviations_printed_as_0():
    """There is no p from the numbers as printed, but still an interval over rounding."""
    row = graded("x", ("10.0", "0.0"), ("10.3", "0.0"), "<0.001")
    assert row.p_student is row.p_welch is row.smallest_confirmable_margin is None
    assert row.p_interval[0] == 0
    assert row.grade is Grade.CONSISTENT


def test_a_paired_p_names_the_correlation_that_it_takes():
    """The correlation that the printed p implies gives that p back by the paired t-test."""
    row = graded("x", ("10.00", "1.00"), ("10.50", "1.20"), "0.0123", test="paired")
    assert row.grade is Grade.CONSISTENT_IF
    r = float(row.condition.removeprefix("correlation "))
    sd = math.sqrt(1.0 + 1.44 - 2 * r * 1.2)
    p = 2 * stats.t.sf(0.5 / (sd / math.sqrt(10)), 9)
    assert p == pytest.approx(0.0123, rel=0.1)
    assert row.decision_survives_rounding is None


def test_a_paired_p_that_no_correlation_gives_is_inconsistent():
    """Even with a correlation of +1 the difference is too small for the printed p."""
    row = graded("x", ("10.00", "1.00"), ("10.01", "3.00"), "0.001", test="paired")
    assert row.grade is Grade.DECISION_INCONSISTENT


def test_the_other_test_is_named_where_it_decides_otherwise():
    """WT2 GSS: Student's interval ends below .05, Welch's reaches .051."""
    row = {row.id: row for row in audit(comparisons())}["WT2 GSS"]
    assert row.grade is Grade.CONSISTENT
    assert said(row, "By welch two-sided ddof=1 n=10 the interval 0.0152 to 0.0511 contains alpha")


def test_a_condition_that_the_decision_depends_on_says_so():
    """One-sided significant, two-sided not: the condition decides, and the finding says it."""
    row = graded("x", SAME, ("11.0", "1.0"), "0.012", alpha=0.015)
    assert said(row, "the decision at alpha 0.015 is the other one")
    assert not said(graded("x", SAME, ("11.0", "1.0"), "0.012", alpha=0.1), "the other one")


def test_a_p_printed_at_alpha_is_too_coarse():
    """`.05` is any p from .045 to .055, on either side of .05."""
    assert said(graded("x", SAME, ("11.0", "1.0"), ".05"), "too coarsely")
    assert not said(graded("x", SAME, ("11.0", "1.0"), ".04"), "too coarsely")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"alpha": 0.5}, "alpha"),
        ({"p": "1.2"}, "between 0 and 1"),
        ({"p": "-0.1"}, "between 0 and 1"),
        ({"p": "<0"}, "between 0 and 1"),
        ({"n": (1, 10)}, "at least 2"),
        ({"a": ("1", "-0.1")}, "not negative"),
        ({"a": ("<1", "0.1")}, "bound"),
        ({"n": (5, 6), "test": "paired"}, "one size"),
    ],
)
def test_a_comparison_that_means_nothing_is_refused(how, message):
    """An impossible number is a ClaimError where the comparison is made."""
    given = {"name": "x", "a": SAME, "b": SAME, "p": "0.5", **how}
    with pytest.raises(ClaimError, match=message):
        comparison(**given)


def test_two_comparisons_of_one_id_are_refused():
    """An id names one row."""
    with pytest.raises(ClaimError, match="two comparisons have the id 'PTB SS'"):
        audit(comparisons(["PTB SS", "PTB SS"]))


def test_swapping_the_arms_changes_nothing_but_the_sign():
    """Grade, interval, matches and margin are the same with A and B exchanged."""
    for a, b, p, *_ in ELEVEN.values():
        one, two = graded("x", a, b, p), graded("x", b, a, p)
        assert one.p_interval == pytest.approx(two.p_interval, rel=1e-9)
        assert (one.grade, one.matches) == (two.grade, two.matches)
        assert one.smallest_confirmable_margin == pytest.approx(two.smallest_confirmable_margin)


def test_units_do_not_matter():
    """A thousand times the same numbers give the same p-values and grade."""
    small = graded("x", ("57.08", "0.10"), ("56.95", "0.13"), "0.02")
    large = graded("x", ("57.08e3", "0.10e3"), ("56.95e3", "0.13e3"), "0.02")
    assert small.p_interval == pytest.approx(large.p_interval, rel=1e-9)
    assert small.grade is large.grade


NUMBERS = ["0", "0.0", "1", "1e100", "1e-100", "57.08", "0.10", "12345678901234567890", ""]
P_VALUES = ["", "0", "1", "0.000", "1.000", "1e-300", "<0.001", ">.05", "0.05", ">0", "2e-15"]


@given(st.data())
def test_extreme_numbers_are_audited_without_a_warning(data):
    """Zeros, huge and tiny numbers, bounds: every interval is one of probabilities, in order."""
    pick = st.sampled_from
    test = data.draw(pick([None, "student", "welch", "paired"]))
    n_a = data.draw(pick([2, 3, 10, 10**9 - 1, None]))
    n_b = n_a if test == "paired" else data.draw(pick([2, 11]))
    a, b = ((data.draw(pick(NUMBERS)), data.draw(pick(NUMBERS))) for _ in "ab")
    tails, alpha = data.draw(pick([None, 1, 2])), data.draw(pick([0.05, 1e-9, 0.4999]))
    row = graded(
        "x", a, b, data.draw(pick(P_VALUES)), n=(n_a, n_b), test=test, tails=tails, alpha=alpha
    )
    assert json.loads(to_json([Audit("", "", (row,))]))[0]["grade"] == row.grade_text
    if row.p_interval is not None:
        assert 0 <= row.p_interval[0] <= row.p_interval[1] <= 1


def test_the_assumed_variant_is_welch_by_default():
    """Without anything to infer from, the default is the safe test."""
    assert graded("x", SAME, ("11.0", "1.0"), "").assumed == Variant().label((10, 10))
