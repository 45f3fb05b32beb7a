"""Tests in tables, by columns or in cells: p again by `scipy`, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from repro.errors import SpecError
from tests.audit.printed import rows_of


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("Test,t,df,p\na,2.20,28,.036\nb,1.00,28,.04\n", ("holds", "does not")),
        (
            (
                "| Effect | F | df1 | df2 | p |\n|---|---|---|---|---|\n"
                "| A | 4.1 | 2 | 57 | <.05 |\n| B | 0.4 | 2 | 57 | n.s. |\n"
            ),
            ("holds", "holds"),
        ),
        ("Pair\tr\tn\tp\nx-y\t.31\t50\t.03\nx-z\t.31\t50\t.30\n", ("holds", "does not")),
        ("Test\tH\tdf\tp\nA\t7.1\t2\t.029\nB\t7.1\t2\t.29\n", ("holds", "does not")),
        (
            (
                "\tChi-Square\tdf\tAsymp. Sig. (2-sided)\nPearson\t7.200a\t2\t.027\n"
                "Likelihood Ratio\t7.1\t2\t.29\n"
            ),
            ("holds", "does not"),
        ),
        ("Pair,z,p\nx,1.96,.05\ny,2.58,.01\n", ("holds", "holds")),
        ('Effect,F,df,p\nA,4.1,"2, 57",.022\nB,4.1,"2, 57",.2\n', ("holds", "does not")),
        (
            "Item & t(28) & p \\\\\nA & 2.20 & .036 \\\\\nB & 2.20 & .36 \\\\\n",
            ("holds", "does not"),
        ),
        (
            (
                "| Effect | test |\n|---|---|\n"
                "| A | t(28) = 2.20, p = .036 |\n| B | t(28) = 2.2, p = .2 |\n"
            ),
            ("holds", "does not"),
        ),
        (
            (
                "| Effect | Test | p (exact) |\n|---|---|---|\n"
                "| Method | F(2, 57) = 4.10 | .022 |\n| Size | t(28) = 2.20 | .21 |\n"
            ),
            ("holds", "does not"),
        ),
        (
            (
                "| A | p | test |\n|---|---|---|\n"
                "| x | .036 | t(28) = 2.20 |\n| y | .21 | t(28) = 2.20 |\n"
            ),
            ("holds", "does not"),
        ),
        (
            "Test,statistic,P>|t|\nx,t(28) = 2.20,.036\ny,t(28) = 2.20,.21\n",
            ("holds", "does not"),
        ),
        (
            "Test,statistic,p-val.\nx,t(28) = 2.20,p < .05\ny,t(28) = 2.20,p < .01\n",
            ("holds", "does not"),
        ),
        (
            (
                "Test,statistic,Sig.\nx,t(28) = 2.20,*\ny,t(28) = 2.20,***\n\n"
                "* p < .05, *** p < .001\n"
            ),
            ("holds", "does not"),
        ),
        (
            'Effect,statistic,p,other,p-value\nA,"F(2, 57) = 4.10",.022,t(28) = 2.2,.2\n',
            ("holds", "does not"),
        ),
    ],
)
def test_columns_and_cells(tmp_path, text, answers):
    """Statistics in columns of their own, in cells, and with df in the header."""
    rows = rows_of(tmp_path, text)
    assert tuple(row.answer for row in rows) == answers
    assert rows[0].kind == "statistic"


def test_a_statistic_without_a_name_is_asked_for_one(tmp_path):
    """The advice works when it is followed."""
    text = "id,statistic,df,p\na,1.80,40,0.04\nb,2.20,28,0.036\n"
    with pytest.raises(SpecError) as caught:
        rows_of(tmp_path, text)
    assert caught.value.problems[0].advice == "name the column of statistics after its test"
    first, second = rows_of(tmp_path, text.replace("statistic", "t"))
    assert (first.answer, second.answer) == ("cannot say", "holds")


def test_a_table_of_anova_has_the_second_df_in_the_row_of_errors(tmp_path):
    """An F is tested against the next row of errors below it."""
    text = "Source & $df$ & $MS$ & $F$ & $p$ \\\\\nA & 3 & 4.13 & 8.26 & $<$.001 \\\\\n"
    text += "Residuals & 36 & 0.50 & & \\\\\n"
    text += "B & 2 & 1.1 & 4.91 & .20 \\\\\nError & 54 & 25 & & \\\\\n"
    one, other = rows_of(tmp_path, text)
    assert (one.answer, one.details["df"]) == ("holds", (3, 36))
    assert (other.answer, other.details["df"]) == ("does not", (2, 54))
    assert other.p_interval == pytest.approx([stats.f.sf(f, 2, 54) for f in (4.915, 4.905)])


def test_a_table_of_coefficients_has_its_df_below_it(tmp_path):
    text = "Term,Estimate,Std. Error,t value,Pr(>|t|)\nwidth,-.11,.07,-1.571,.0122\n"
    (row,) = rows_of(tmp_path, f"{text}\nResidual df: 50\n")
    assert row.p_interval == pytest.approx([2 * stats.t.sf(t, 50) for t in (1.5715, 1.5705)])
    assert (row.answer, row.grade) == ("does not", "DECISION-INCONSISTENT")


@pytest.mark.parametrize(
    ("head", "cells"),
    [
        ("Welch t | df", "3.2279 | 60.46"),
        ("t stat. | df", "3.2279 | 60.46"),
        ("tstat | df", "3.2279 | 60.46"),
        ("t (Welch) | df", "3.2279 | 60.46"),
        ("t-test | df", "3.2279 | 60.46"),
        ("t(df) | d", "3.2279 (60.46) | 0.65"),
    ],
)
def test_columns_of_t_by_other_names(head, cells, tmp_path):
    table = f"| Cell | {head} | p |\n|---|---|---|---|\n| a_1 vs b | {cells} | %s |\n"
    for p, answer in (("0.002016", "holds"), ("0.02", "does not"), ("**< 10⁻²**", "holds")):
        (row,) = rows_of(tmp_path, table % p)
        assert row.answer == answer
        assert "a_1 vs b" in row.id


def test_coefficients_without_degrees_of_freedom_are_refused(tmp_path):
    text = "| DV | Predictor | β | SE | t | p |\n|---|---|---|---|---|---|\n"
    with pytest.raises(SpecError, match="a table of coefficients"):
        rows_of(tmp_path, f"{text}| A | S | -0.605 | 0.024 | -25.6 | <0.001 |\n")


SPSS = """\t\tLevene's Test for Equality of Variances\t\tt-test for Equality of Means\t\t\t\t\t\t
\t\tF\tSig.\tt\tdf\tSig. (2-tailed)\tMean Difference\tStd. Error Difference\t95% Interval\t
\t\t\t\t\t\t\t\t\tLower\tUpper
score\tEqual variances assumed\t.512\t.480\t2.200\t28\t.036\t1.10000\t.50000\t.07578\t2.12422
\tEqual variances not assumed\t\t\t2.200\t27.312\t.036\t1.10000\t.50000\t.07466\t2.12534
"""


def test_t_tests_of_spss_stand_next_to_the_test_of_levene(tmp_path):
    rows = rows_of(tmp_path, SPSS)
    expected = [stats.f.sf(0.512, 1, 28), *(2 * stats.t.sf(2.2, df) for df in (28, 27.312))]
    assert [row.p_interval for row in rows] == [pytest.approx((p, p), rel=2e-2) for p in expected]
    assert [row.answer for row in rows] == ["holds"] * 3
    assert "score Equal variances not assumed" in rows[2].id
    rows = rows_of(tmp_path, SPSS.replace(".036\t", ".018\t").replace(".480", ".048"))
    assert [row.answer for row in rows] == ["does not"] * 3  # one-sided is not what its head says
    new = SPSS.replace("\tSig. (2-tailed)\tMean Difference", "\tOne-Sided p\tTwo-Sided p")
    rows = rows_of(tmp_path, new.replace("\t.036\t1.10000", "\t.018\t.036"))
    assert [row.answer for row in rows] == ["holds"] * 3
    short = SPSS.splitlines(keepends=True)
    with pytest.raises(SpecError, match="10 cells in a table of 11 columns"):
        rows_of(tmp_path, "".join([short[1][1:], *short[3:]]))


def test_a_table_of_several_tests_is_refused(tmp_path):
    """Without a word on Levene nothing says the first df of F."""
    with pytest.raises(SpecError, match="several tests: t, F"):
        rows_of(tmp_path, "Contrast\tF\tp\tt\tdf\tp\nA\t4.1\t.022\t2.2\t28\t.036\n")


@pytest.mark.parametrize(
    ("head", "row", "advice"),
    [
        ("OR | 95% CI", "2.31 | 1.10–4.85", "3.92 ln"),
        ("HR (95% CI)", "2.31 (1.10–4.85)", "3.92 ln"),
        ("β | SE | 95% CI", "0.12 | 0.05 | [0.02, 0.22]", "divided by its standard error"),
    ],
)
def test_ratios_with_a_p_each_are_no_methods(tmp_path, head, row, advice):
    """z of the first is 2.21, by the advice, and its p .027."""
    z = 3.92 * np.log(2.31) / np.log(4.85 / 1.10)
    assert 2 * stats.norm.sf(z) == pytest.approx(0.027, abs=1e-3)
    rule = "|---" * (head.count("|") + 3) + "|"
    body = f"| Age | {row} | .27 |\n| Sex | {row} | .03 |\n"
    with pytest.raises(SpecError, match="table of coefficients") as refused:
        rows_of(tmp_path, f"| Predictor | {head} | p |\n{rule}\n{body}")
    assert advice in str(refused.value)


def test_a_p_of_r_in_markdown_is_one_column(tmp_path):
    head = "| | Estimate | Std. Error | t value | Pr(>|t|) |\n|---|---|---|---|---|\n"
    text = head + "| age | 0.031 | 0.014 | 2.21 | {} |\n\ndf = 116\n"
    assert 2 * stats.t.sf(2.21, 116) == pytest.approx(0.029, abs=1e-3)
    assert [rows_of(tmp_path, text.format(p))[0].answer for p in (0.029, 0.29)] == [
        "holds",
        "does not",
    ]


def test_heads_of_several_words_without_one_over_the_names(tmp_path):
    text = "              t   df   Sig. (2-tailed)   Mean Difference\n"
    text += "Score      2.20   28        .036              3.10\n"
    text += "Memory     1.10   28        .028              1.20\n"
    assert 2 * stats.t.sf([2.2, 1.1], 28) == pytest.approx([0.0362, 0.2807], abs=1e-4)
    rows = rows_of(tmp_path, f"Independent Samples Test\n{text}")
    assert [row.answer for row in rows] == ["holds", "does not"]


@pytest.mark.parametrize(
    "text",
    [
        (
            "         (1)       (2)\nx       0.34**    0.36**\n       (0.12)    (0.11)\n"
            "y       0.10      0.12\n       (0.10)    (0.10)\n\n** p < .01\n"
        ),
        "Variable,Model 1,Model 2\nx,0.34**,0.36**\n,(0.12),(0.11)\nR2,0.20,0.25\n\n** p < .01\n",
        (
            "| | Model 1 | Model 2 |\n|---|---|---|\n| x | 0.34** | 0.36** |\n"
            "| | (0.12) | (0.11) |\n| Observations | 100 | 100 |\n"
            "\nStandard errors in parentheses. ** p < .01\n"
        ),
        "Predictor,b (SE) Model 1,b (SE) Model 2\nx,0.34 (0.12)**,0.36 (0.11)**\n\n** p < .01\n",
    ],
)
def test_coefficients_by_model_are_refused_with_what_to_write(tmp_path, text):
    """The models are no methods: each coefficient is held to its error."""
    with pytest.raises(SpecError, match=r"name,z,p.* divided by its error"):
        rows_of(tmp_path, text)
    rows = rows_of(tmp_path, "name,z,p\nx (1),2.83,<.01\nx (2),3.27,<.01\n")
    assert [row.answer for row in rows] == ["holds", "holds"]
    assert 2 * stats.norm.sf(0.34 / 0.12) == pytest.approx(rows[0].p_interval[0], rel=0.05)


def test_models_with_results_are_compared(tmp_path):
    text = "Metric,Model 1,Model 2\nR2,0.91±0.01,0.93±0.01\nAcc,93.1±0.3,94.2±0.2\n\nSD, n = 5\n"
    assert len(rows_of(tmp_path, text)) == 2
