"""Which variants reproduce a printed p, and which one fits a whole table."""

from __future__ import annotations

import pytest

from repro.audit.audit import audit
from repro.audit.findings import table_findings
from repro.audit.p_range import Box, Variant, enumerate_variants, feasible
from tests.audit.parthiban import ELEVEN, PTB, TEN, comparison, comparisons

STUDENT = "student two-sided ddof=1 n=10"


def by_id(rows):
    return {row.id: row for row in rows}


def test_eight_variants_and_twenty_four_where_the_paper_mentions_another_n():
    """Two tests, two tails, two ddof; three sizes only with a reason; paired only if declared."""
    assert len(set(enumerate_variants(None, other_n=False))) == 8
    assert len(set(enumerate_variants(None, other_n=True))) == 24
    assert len(set(enumerate_variants("paired", other_n=False))) == 12


def test_a_label_is_stable():
    """The name of a variant says test, tails, ddof and the sizes that it takes."""
    assert Variant("student").label((10, 10)) == STUDENT
    assert Variant("welch", 1, 0, -1).label((10, 12)) == "welch one-sided ddof=0 n=9+11"
    assert Variant().label((None, 10)) == "welch two-sided ddof=1"
    against = Variant("welch", 1, against=True)
    assert against.label((5, 5)) == "welch one-sided against the difference ddof=1 n=5"


def test_row_by_row_2_to_17_variants_fit_the_ten_and_jointly_only_one():
    """Of 24 variants 2 to 17 reproduce each p; all ten only Student, two-sided, ddof 1, n = 10."""
    rows = audit(comparisons(TEN), other_n=(11,))
    counts = [len(row.matches) for row in rows]
    assert (min(counts), max(counts)) == (2, 17)
    assert set.intersection(*(set(row.matches) for row in rows)) == {STUDENT}
    assert {row.assumed for row in rows} == {STUDENT}
    assert "only variant that fits the table jointly (10 of 10" in rows[0].assumed_why


def test_a_p_that_nothing_fits_does_not_hide_the_test_of_the_others():
    """With the infeasible 0.62 among them the ten still name their test, and it is judged by it."""
    rows = audit(comparisons())
    assert {row.assumed for row in rows} == {STUDENT}
    assert "10 of 11" in rows[0].assumed_why
    assert by_id(rows)["PTB MoS, Softmax"].matches == ()


def test_eleven_seeds_do_not_give_0_62_either():
    """0.62 is not feasible from its table, not even by n = 9 or n = 11."""
    (row,) = audit(comparisons(["PTB MoS, Softmax"]), other_n=(11,))
    assert row.matches == ()
    assert any("none of the 24 variants" in sentence for sentence in row.findings)
    assert any("0.034" in sentence for sentence in row.findings)


def test_several_variants_that_fit_leave_welch():
    """A p that Student and Welch both reproduce does not say which it was."""
    (row,) = audit(comparisons(["PTB SS"]))
    assert len(row.matches) > 1
    assert row.assumed == "welch two-sided ddof=1 n=10"
    assert row.assumed_why.startswith("by default: ")


def test_rows_that_contradict_each_other_leave_welch():
    """One p of Student's test and one of Welch's: no variant fits both."""
    rows = audit(
        [
            comparison("student", PTB, ("54.88", "0.26"), "2.02e-15"),
            comparison("welch", PTB, ("54.88", "0.26"), "1.89e-11"),
        ]
    )
    assert {label.split()[0] for label in rows[0].matches} == {"student"}
    assert {label.split()[0] for label in rows[1].matches} == {"welch"}
    assert {row.assumed for row in rows} == {"welch two-sided ddof=1 n=10"}
    assert [row.grade_text for row in rows] == ["CONSISTENT-IF(student)", "CONSISTENT"]


def test_a_declared_test_is_assumed_whatever_fits():
    """The column decides, and the tails with it; the others are inferred without that row."""
    rows = by_id(audit([*comparisons(TEN[1:]), *comparisons(TEN[:1], test="welch", tails=1)]))
    assert rows[TEN[0]].assumed == "welch one-sided ddof=1 n=10"
    assert rows[TEN[0]].assumed_why == "declared by the table"
    assert rows[TEN[1]].assumed == STUDENT


def test_declared_tails_leave_the_test_to_be_inferred():
    """Tails without a test: the joint test, with the tails of the row."""
    rows = audit([*comparisons(TEN[1:]), *comparisons(TEN[:1], tails=2)])
    assert {row.assumed for row in rows} == {STUDENT}


def test_a_one_sided_p_is_that_of_the_direction_printed():
    """Half the two-sided p matches one-sided variants only, whichever arm is ahead."""
    for a, b in ((PTB, ("54.88", "0.26")), (("54.88", "0.26"), PTB)):
        (row,) = audit([comparison("half", a, b, "1.01e-15")])
        assert row.matches == ("student one-sided ddof=1 n=10",)


def test_population_deviations_are_found():
    """A p computed as if the deviations had n in the denominator names ddof=0."""
    (row,) = audit([comparison("ddof", PTB, ("54.88", "0.26"), "5.1e-15")])
    assert row.matches == ("student two-sided ddof=0 n=10",)


def test_another_n_in_the_table_makes_neighbours_admissible():
    """A row of ten beside one of eleven: n = 9 and n = 11 are tried for it, else not."""
    ten = comparison("ten", PTB, ("54.88", "0.26"), "5.3e-17")
    eleven = comparison("eleven", PTB, ("54.88", "0.26"), "", n=(11, 11))
    alone, (beside, _) = audit([ten])[0], audit([ten, eleven])
    assert alone.matches == ()
    assert "student two-sided ddof=1 n=11" in beside.matches
    assert all(label.endswith("n=11") for label in beside.matches)


def test_ten_p_values_come_from_rounded_summaries():
    """All digits of ten p-values are those of the rounded numbers; of the eleventh they are not."""
    rows = audit(comparisons())
    assert sum(row.equals_rounded is True for row in rows) == 10
    assert any("10 of 11 printed p-values equal" in one for one in table_findings(rows))


def test_coarse_p_values_are_no_fingerprint():
    """One digit each falls on the p of the rounded numbers by chance, so nothing is said."""
    coarse = [
        comparison(name, *ELEVEN[name][:2], f"{float(ELEVEN[name][2]):.1f}")
        for name in ("PTB SS", "PTB GSS", "PTB PLIF, frozen")
    ]
    rows = audit(coarse)
    assert all(row.equals_rounded for row in rows)
    assert not any("rounded summaries" in one for one in table_findings(rows))


def test_p_values_of_unrounded_numbers_are_no_fingerprint():
    """P-values from other numbers in the same boxes match, yet differ in their digits."""
    moved = [
        comparison(name, *ELEVEN[name][:2], p)
        for name, p in (("PTB SS", "0.401"), ("PTB GSS", "0.275"), ("WT2 SS", "3.61e-4"))
    ]
    rows = audit(moved)
    assert all(row.matches and row.equals_rounded is False for row in rows)
    assert not any("rounded summaries" in one for one in table_findings(rows))


def test_the_order_of_rows_does_not_matter():
    """Every row is the same, whichever stands first."""
    forward, backward = audit(comparisons()), audit(comparisons()[::-1])
    assert by_id(forward) == by_id(backward)


@pytest.mark.parametrize(
    ("model", "difference", "sd"),
    [
        ("round", (0.14, 0.16), (0.165, 0.175)),
        ("truncate", (0.14, 0.16), (0.17, 0.18)),
        ("ceil", (0.14, 0.16), (0.16, 0.17)),
    ],
)
def test_the_interval_is_that_of_the_rounding_model(model, difference, sd):
    """64.15 v. 64.30, both with 0.17: each model has its box, and the record says which it was."""
    (row,) = audit(comparisons(["WT2 PLIF, frozen"], test="student"), rounding=model)
    assert row.rounding == model
    assert row.p_interval == pytest.approx(
        feasible([Box(difference, sd, sd, 10, 10)], Variant("student"))[0], rel=1e-9
    )
