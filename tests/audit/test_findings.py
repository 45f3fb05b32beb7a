"""What is said of a printed comparison beside its grade."""

from __future__ import annotations

import pytest
from scipy import stats

from repro.audit.audit import audit
from repro.audit.comparison import PrintedArm, PrintedComparison
from repro.audit.findings import answer_of
from repro.evidence.published import PrintedNumber
from tests.audit.test_grade import SAME, graded, said


def test_an_inferred_one_sided_test_says_what_two_sided_would_decide():
    """A table that only a one-sided test fits, significant by it alone (scipy): it is said."""
    rows = [one_sided(f"row {i}", 1.7 + 0.01 * i) for i in range(2)]
    for row in audit(rows):
        assert (row.grade_text, row.assumed) == ("CONSISTENT", "welch one-sided ddof=1 n=10")
        assert said(row, "By welch two-sided ddof=1 n=10 the interval")
        assert said(row, "lies on the other side of alpha")


def test_one_p_alone_does_not_make_an_unusual_test_the_assumed_one():
    """What only a one-sided test explains is consistent only if it was one, unless declared."""
    (row,) = audit([one_sided("x", 1.7)])
    assert (row.grade_text, row.assumed) == (
        "CONSISTENT-IF(one-sided)",
        "welch two-sided ddof=1 n=10",
    )
    (declared,) = audit([one_sided("x", 1.7, tails=1)])
    assert declared.grade_text == "CONSISTENT"
    assert not said(declared, "two-sided")


def one_sided(name, sd, tails=None):
    """A row whose p is that of Welch's one-sided test by scipy."""
    p = stats.ttest_ind_from_stats(10, 0.4, 10, 8.95, sd, 10, equal_var=False).pvalue / 2
    return PrintedComparison(
        name,
        PrintedArm.read("10.000", "0.400", 10),
        PrintedArm.read("8.950", f"{sd:.3f}", 10),
        PrintedNumber.read(f"{p:.4f}"),
        tails=tails,
    )


def test_no_evidence_of_no_difference_is_said_only_where_the_numbers_are_not_significant():
    """A printed p above alpha that contradicts significant numbers is not about equivalence."""
    assert not said(graded("x", SAME, ("13.0", "1.0"), ".2"), "no evidence")
    assert said(graded("x", SAME, ("10.5", "1.0"), ".28"), "no evidence")
    assert not said(graded("x", SAME, ("10.5", "1.0"), ".28", test="paired"), "no evidence")


def test_a_bound_for_p_reads_as_printed():
    """`> .05` is not written with an equals sign before it."""
    row = graded("x", SAME, ("13.0", "1.0"), "> .05", test="welch")
    assert said(row, "p > .05 does not follow")


def test_rounding_may_leave_open_what_holms_correction_gives():
    """Alone both are significant over all rounding, and corrected only by the printed digits."""
    base, other = PrintedArm.read("90.1", "0.6", 5), PrintedArm.read("91.2", "0.5", 5)
    near = stats.ttest_ind_from_stats(90.15, 0.65, 5, 91.15, 0.55, 5, equal_var=False).pvalue
    plain = stats.ttest_ind_from_stats(90.1, 0.6, 5, 91.2, 0.5, 5, equal_var=False).pvalue
    assert near < 0.05 < 3 * near
    assert 3 * plain < 0.05
    rows = audit(
        [
            PrintedComparison("a", base, other),
            PrintedComparison("b", base, other),
            PrintedComparison("c", base, base),
        ]
    )
    assert rows[0].holm == pytest.approx(3 * plain)
    assert rows[0].holm_interval is not None
    assert rows[0].holm_interval[1] == pytest.approx(3 * near, rel=1e-3)
    assert answer_of(rows[0])[0] == "cannot say"
    assert "after Holm: open" in answer_of(rows[0])[1]
    assert answer_of(rows[2])[0] == "does not"
