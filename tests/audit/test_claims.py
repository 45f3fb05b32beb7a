"""Audit files: tables, comparisons, wins and points as they are declared; and ordinary claims."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scipy import stats

from repro.audit.audit import audit, audit_file
from repro.audit.comparison import Grade
from tests.audit.parthiban import comparison

CLAIMS = Path(__file__).parents[2] / "claims"


def test_a_table_is_its_comparisons_with_the_baseline(audited):
    """A row against the baseline is the comparison of the two, and n is the table's."""
    rows = audited("""
tables:
  - id: ptb
    locator: "Table 1"
    n: 10
    baseline: softmax
    family: one
    rows:
      ss: {mean: "57.03", sd: "0.15", p: "3.92e-1"}
      softmax: {mean: "57.08", sd: "0.10"}
      mos: {mean: "54.88", sd: "0.26", p: "2.02e-15"}
""")
    direct = audit(
        [
            comparison("ptb_ss", ("57.03", "0.15"), ("57.08", "0.10"), "3.92e-1", family="one"),
            comparison("ptb_mos", ("54.88", "0.26"), ("57.08", "0.10"), "2.02e-15", family="one"),
        ]
    )
    assert list(rows) == ["ptb_ss", "ptb_mos"]
    for own in direct:
        row = rows[own.id]
        assert (row.p_interval, row.matches, row.holm) == (own.p_interval, own.matches, own.holm)
        assert row.details["locator"] == "Table 1"


def test_a_declared_test_is_the_one_assumed(audited):
    """Test, tails, alpha and the size of one arm are those of the entry."""
    row = audited("""
comparisons:
  - id: pair
    locator: "Table 4"
    test: welch
    tails: 1
    alpha: 0.01
    arms: {a: {mean: "1.0", sd: "0.5", n: 7}, b: {mean: "2.0", sd: "1.0", n: 9}}
    p: "0.02"
""")["pair"]
    expected = stats.ttest_ind_from_stats(1, 0.5, 7, 2, 1, 9, equal_var=False).pvalue
    assert row.p_welch == pytest.approx(expected)
    assert row.alpha == 0.01
    assert row.assumed is not None
    assert row.assumed.startswith("welch one-sided")


def test_a_comparison_without_deviations_cannot_be_checked(audited):
    """Single runs are NOT-CHECKABLE, and what is missing is named."""
    row = audited("""
comparisons:
  - {id: runs, locator: "Table 4", arms: {a: {mean: "1.0"}, b: {mean: "2.0"}}, p: "0.02"}
""")["runs"]
    assert row.grade is Grade.NOT_CHECKABLE
    assert "sd" in row.findings[0]


@pytest.mark.parametrize(
    ("count", "grade"),
    [(1, Grade.CONSISTENT), (2, Grade.CONSISTENT_IF), (3, Grade.INCONSISTENT)],
)
def test_wins_are_counted_and_ties_left_open(audited, count, grade):
    """Of three benchmarks a wins one, and one tie may be a win before rounding."""
    text = f"""
wins:
  - id: games
    locator: Figure 4
    file: scores.csv
    counts: {{a: {{b: {count}}}, b: {{a: 1}}}}
"""
    row = audited(text, scores="id,a,b\nx,0.5,0.4\ny,0.3,0.3\nz,0.1,0.2\n")["games"]
    assert row.grade is grade
    assert row.details["ties"] == 1


def test_points_are_read_from_the_file_beside(audited):
    """The columns that are named, whatever their order and whatever else is there."""
    text = """
points:
  - id: all
    file: points.csv
    x: {column: rank, label: rank}
    y: {column: ppl, label: perplexity, better: lower}
    printed: {sign: negative, locator: Figure 1}
"""
    row = audited(text, points="ppl,other,rank\n1,9,1\n2,7,2\n4,9,3\n3,1,4\n")["all"]
    assert row.grade is Grade.CONSISTENT
    assert row.details["r"] == pytest.approx(-0.8)


def test_notes_are_shown(audited):
    """What a file notes about an entry stands among its findings."""
    places = "places: [{locator: here, value: '1'}, {locator: there, value: '1'}]"
    row = audited(f"same_quantity:\n  - {{id: one, what: rank, note: not sure of it, {places}}}")
    assert "not sure of it" in row["one"].findings


@pytest.mark.parametrize("name", ["fair_mos", "lms_plif_regularization", "mos_rank"])
def test_a_claim_is_audited_by_what_it_says_was_published(name):
    """One row an entry, with its locator; without six numbers it is NOT-CHECKABLE."""
    path = CLAIMS / f"{name}.yaml"
    text = path.read_text(encoding="utf-8").partition("\npublished:\n")[2].partition("\nscales:")[0]
    expected = re.findall(r"- expectation: (\w+)", text)
    result = audit_file(path)
    assert [row.id for row in result.rows] == expected
    assert all(row.details["locator"] for row in result.rows)


def test_the_p_of_the_fair_comparison_is_found_in_its_claim():
    """The shipped claim carries 0.62, which its own numbers do not give."""
    rows = {row.id: row for row in audit_file(CLAIMS / "fair_mos.yaml").rows}
    assert rows["as_published"].grade is Grade.INCONSISTENT
    assert rows["as_published"].assumed == "student two-sided ddof=1 n=10"
    assert rows["as_published"].p_student == pytest.approx(0.389, abs=5e-4)


def test_single_runs_of_a_claim_are_not_checkable():
    """Ranks of one run an arm have no deviation, so no p can be computed."""
    rows = {row.id: row for row in audit_file(CLAIMS / "mos_rank.yaml").rows}
    assert rows["far_above_moc"].grade is Grade.NOT_CHECKABLE
    assert rows["far_above_moc"].findings
