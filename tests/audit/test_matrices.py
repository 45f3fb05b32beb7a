"""Matrices of correlations with stars, and tables whose rows are what is printed of each method."""

from __future__ import annotations

import pytest
from scipy import stats

from repro.errors import SpecError
from tests.audit.printed import audited, welch

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
CSV = ",A,B,C\nA,1,,\nB,.32**,1,\nC,-.15,.41***,1\n"
TRIMMED = LOWER.replace("\t\t\n", "\n").replace("\t\n", "\n")


def p_of(r, n):
    """Two-sided p of a correlation of n pairs."""
    return 2 * stats.t.sf(abs(r) * ((n - 2) / (1 - r * r)) ** 0.5, n - 2)


@pytest.mark.parametrize("table", [LOWER, FULL, BLANKS, MOMENTS, TRIMMED, CSV])
def test_each_correlation_of_a_matrix_is_tested_once(tmp_path, table):
    rows, _ = audited(tmp_path, table + NOTE)
    ps = sorted(p_of(r, 120) for r in (0.32, 0.15, 0.41))
    found = sorted(row.p_interval for row in rows.values())
    assert all(low <= p <= high for p, (low, high) in zip(ps, found, strict=True))
    assert [row.answer for row in rows.values()] == ["holds"] * 3
    wrong = table.replace("-.15", "-.25").replace(".32**", ".32").replace(".41***", ".21***")
    rows, _ = audited(tmp_path, wrong + NOTE)
    assert [row.answer for row in rows.values()] == ["does not"] * 3


def test_a_note_with_commas_is_no_row(tmp_path):
    note = "Correlations, N = 120. * p < .05, ** p < .01, *** p < .001\n"
    rows, _ = audited(tmp_path, CSV + note, "t.csv")
    assert [row.answer for row in rows.values()] == ["holds"] * 3


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


WELCH = welch((93.4, 0.2, 5), (92.1, 0.3, 5))
"""Of A and B in the tables below."""


@pytest.mark.parametrize(
    "text",
    [
        "\tA\tB\nMean\t93.4\t92.1\nSD\t0.2\t0.3\nn\t5\t5\n",
        "\tA\tB\nn\t5\t5\nMean\t93.4\t92.1\nSD\t(0.2)\t(0.3)\n",
        "Metric,A,B\nAccuracy,93.4,92.1\nAccuracy SD,0.2,0.3\n\nMean over 5 seeds.\n",
        "| | A | B |\n|---|---|---|\n| Acc | 93.4 | 92.1 |\n| Std | ±0.2 | ±0.3 |\n\n5 seeds\n",
        "Method\tA\tB\nScore\t93.4\t92.1\nStandard error\t0.0894427\t0.1341641\nn\t5\t5\n",
    ],
)
def test_deviations_below_their_means(tmp_path, text):
    (row,) = audited(tmp_path, text)[0].values()
    assert row.id.startswith("A vs B")
    assert row.p_welch == pytest.approx(WELCH, rel=1e-4)
    assert row.answer == "holds"


def test_several_metrics_each_with_its_deviations(tmp_path):
    text = "Metric\tA\tB\tp\nAccuracy\t93.4\t92.1\t.001\nSD\t0.2\t0.3\t\n"
    text += "F1\t83.4\t82.1\t.21\nSD\t0.4\t0.3\t\nn\t5\t6\t\n"
    first, second = audited(tmp_path, text)[0].values()
    ps = [welch((93.4, 0.2, 5), (92.1, 0.3, 6)), welch((83.4, 0.4, 5), (82.1, 0.3, 6))]
    assert [first.p_welch, second.p_welch] == pytest.approx(ps)
    assert (first.id, first.p_printed) == ("A (n = 5) vs B (n = 6), Accuracy", ".001")
    assert second.p_printed == ".21"


def test_p_in_a_row_below_is_of_the_two_methods(tmp_path):
    text = "\tA\tB\nMean\t93.4\t92.1\nSE\t0.2\t0.3\nn\t5\t5\np\t.01\t\n"
    (row,) = audited(tmp_path, text)[0].values()
    se = 5**0.5
    assert row.p_welch == pytest.approx(welch((93.4, 0.2 * se, 5), (92.1, 0.3 * se, 5)))
    assert (row.p_printed, row.answer) == (".01", "holds")


@pytest.mark.parametrize("name", ["SD", "Std"])
def test_a_method_may_be_called_sd(tmp_path, name):
    """Stable Diffusion, or standard training."""
    rows, _ = audited(tmp_path, f"Method\tFID\nGAN\t23.1 ± 0.2\n{name}\t12.3 ± 0.3\n", n=5)
    assert list(rows) == [f"{name} vs GAN, FID"]
    rows, _ = audited(tmp_path, f"Method\tFID\nGAN\t23.1\n{name}\t12.3\nOurs\t9.3\n", n=5)
    assert "cannot say" in {row.answer for row in rows.values()}
    assert not any("±" in row.id or row.p_welch for row in rows.values())


def test_details_name_no_n_where_it_is_printed(tmp_path):
    text = "Method,Accuracy\nA,93.4 (0.2)\nB,92.1 (0.3)\n"
    (row,) = audited(tmp_path, text, n=5)[0].values()
    assert {*row.details} == {"p_sd", "p_se", "p_ci95-t", "p_ci95-z"}
    (row,) = audited(tmp_path, text)[0].values()
    assert "p_sd_n_5" in row.details
