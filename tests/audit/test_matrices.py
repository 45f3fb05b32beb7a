"""Matrices of correlations with stars, and tables whose rows are what is printed of each method."""

from __future__ import annotations

import pytest
from scipy import stats

from repro.errors import SpecError
from tests.audit.printed import audited

NOTE = "\nNote. N = 120. * p < .05, ** p < .01, *** p < .001\n"
LOWER = "\t1\t2\t3\n1. Age\t-\t\t\n2. Size\t.32**\t-\t\n3. Loss\t-.15\t.41***\t-\n"
FULL = (
    "| | Age | Size | Loss |\n|---|---|---|---|\n| Age | 1 | .32** | -.15 |\n"
    "| Size | .32** | 1 | .41*** |\n| Loss | -.15 | .41*** | 1 |\n"
)
BLANKS = "         1      2      3\n1. Age   -\n2. Size  .32**  -\n3. Loss  -.15   .41***  -\n"
MOMENTS = (
    "Variable\tM\tSD\t1\t2\n1. Age\t30.1\t5.2\t-\t\n2. Size\t4.2\t1.1\t.32**\t-\n"
    "3. Loss\t2.2\t0.3\t-.15\t.41***\n"
)
TRIMMED = LOWER.replace("\t\t\n", "\n").replace("\t\n", "\n")


def p_of(r, n):
    """Two-sided p of a correlation of n pairs."""
    return 2 * stats.t.sf(abs(r) * ((n - 2) / (1 - r * r)) ** 0.5, n - 2)


@pytest.mark.parametrize("table", [LOWER, FULL, BLANKS, MOMENTS, TRIMMED])
def test_each_correlation_of_a_matrix_is_tested_once(tmp_path, table):
    rows, _ = audited(tmp_path, table + NOTE)
    ps = sorted(p_of(r, 120) for r in (0.32, 0.15, 0.41))
    found = sorted(row.p_interval for row in rows.values())
    assert all(low <= p <= high for p, (low, high) in zip(ps, found, strict=True))
    assert [row.answer for row in rows.values()] == ["holds"] * 3
    wrong = table.replace("-.15", "-.25").replace(".32**", ".32").replace(".41***", ".21***")
    rows, _ = audited(tmp_path, wrong + NOTE)
    assert [row.answer for row in rows.values()] == ["does not"] * 3


def test_a_row_that_prints_nothing_is_called_by_its_number(tmp_path):
    rows, _ = audited(tmp_path, TRIMMED.replace("1. Age\t-\n", "1. Age\n") + NOTE)
    assert "1: Size with 1" in rows


def test_the_legend_of_spss(tmp_path):
    note = "**. Correlation is significant at the 0.01 level (2-tailed).\nN = 90\n"
    rows, _ = audited(tmp_path, LOWER.replace(".41***", ".31**") + note)
    assert [row.answer for row in rows.values()] == ["holds", "does not", "holds"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (LOWER + NOTE.replace("N = 120. ", ""), "a line n = 120"),
        (LOWER + NOTE.replace("120", "118-120"), "a line n = 120"),
        (LOWER + NOTE.replace("Note.", "Note. Spearman correlations."), "not Pearson"),
        (LOWER + NOTE.replace("Note.", "Note. Women above the diagonal."), "one half"),
        (FULL.replace("| .32** | 1", "| .22* | 1") + NOTE, "for one pair"),
        (
            (
                "\t\tAge\tSize\nAge\tPearson Correlation\t1\t.32**\n\tSig. (2-tailed)\t\t.000\n"
                "\tN\t120\t120\nSize\tPearson Correlation\t.32**\t1\n"
            ),
            "rows of Pearson Correlation",
        ),
    ],
)
def test_a_matrix_that_is_not_plain_is_refused(tmp_path, text, what):
    with pytest.raises(SpecError, match=what):
        audited(tmp_path, text)


def test_a_matrix_of_p_is_none_of_correlations(tmp_path):
    with pytest.raises(SpecError, match="whether the methods are"):
        audited(tmp_path, "Pairwise p\n\tA\tB\tC\nA\t1\t.03\t.20\nB\t.03\t1\t.04\nC\t.20\t.04\t1\n")
