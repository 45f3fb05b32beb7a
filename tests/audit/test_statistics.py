"""t, F, r, chi-squared and z as they are printed: p again by `scipy`, and what is refused."""

from __future__ import annotations

from itertools import combinations

import pytest
from scipy import stats

from repro.audit.audit import audit_paths
from repro.audit.statistics import in_text
from repro.errors import SpecError


def audited(folder, text, name="table.txt", **options):
    """The rows of the audit of a text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    (audit,) = audit_paths([path], **options)
    return audit.rows


def correlation(r, df):
    """Two-sided p of a correlation."""
    return 2 * stats.t.sf(r * (df / (1 - r * r)) ** 0.5, df)


@pytest.mark.parametrize(
    ("text", "p", "answer", "grade"),
    [
        ("t(28) = 2.20, p = .036", 2 * stats.t.sf(2.2, 28), "holds", "CONSISTENT"),
        ("t(28) = -2.20, p = .036", 2 * stats.t.sf(2.2, 28), "holds", "CONSISTENT"),
        ("*t*(28) = −2.20, *p* = .04", 2 * stats.t.sf(2.2, 28), "holds", "CONSISTENT"),
        ("$t(28) = 2.20$, $p = .036$", 2 * stats.t.sf(2.2, 28), "holds", "CONSISTENT"),
        ("t(23.41) = 2.20, p = .038", 2 * stats.t.sf(2.2, 23.41), "holds", "CONSISTENT"),
        ("F(2, 57) = 4.1, p < .05", stats.f.sf(4.1, 2, 57), "holds", "CONSISTENT"),
        ("F(2,57)=4.1, MSE = 1.30, p<.05", stats.f.sf(4.1, 2, 57), "holds", "CONSISTENT"),
        ("r(48) = .31, p = .03", correlation(0.31, 48), "holds", "CONSISTENT"),
        (r"$\chi^2(2, N = 90) = 7.2$, p = .027", stats.chi2.sf(7.2, 2), "holds", "CONSISTENT"),
        ("χ²(1) = 3.84, p = n.s., t(9) = 1.0, p = .34", None, None, None),
        ("t(28) = 2.20, p = .018", 2 * stats.t.sf(2.2, 28), "cannot say", "CONSISTENT-IF"),
        ("one-tailed: t(28) = 2.20, p = .018", 2 * stats.t.sf(2.2, 28), "holds", "CONSISTENT-IF"),
        ("t(28) = 2.20, p = .36", 2 * stats.t.sf(2.2, 28), "does not", "DECISION-INCONSISTENT"),
        ("t(28) = 2.20, p < .001", 2 * stats.t.sf(2.2, 28), "does not", "INCONSISTENT"),
        ("F(2, 57) = 4.1, n.s.", stats.f.sf(4.1, 2, 57), "does not", "DECISION-INCONSISTENT"),
        ("Bonferroni: F(2, 57) = 4.1, p = .06", None, "cannot say", "CONSISTENT-IF"),
        ("t(28) = 2.05, p < .05", 2 * stats.t.sf(2.05, 28), "cannot say", "DECISION-FRAGILE"),
        ("t(28) = 2.20", 2 * stats.t.sf(2.2, 28), "holds", "NOT-CHECKABLE"),
        ("F(1, 20) = 0.5", stats.f.sf(0.5, 1, 20), "does not", "NOT-CHECKABLE"),
        ("F(1, 20) < 1, p > .05", None, "holds", "CONSISTENT"),
        ("t = 2.20 (df = 28, p = .36)", 2 * stats.t.sf(2.2, 28), "does not", None),
        ("t = 2.20, df = 28, p = .036", 2 * stats.t.sf(2.2, 28), "holds", None),
        ("t = 2.20, p = .036 (df = 28)", 2 * stats.t.sf(2.2, 28), "holds", None),
        ("t = 2.20, df = 28, 95% CI [0.1, 2], p = .36", 2 * stats.t.sf(2.2, 28), "does not", None),
        ("t = 2.20 with 28 degrees of freedom (p = .36)", None, "does not", None),
        ("t[28] = 2.20, p = .36", 2 * stats.t.sf(2.2, 28), "does not", None),
        ("F = 4.10 (df = 2, 57; p = .022)", stats.f.sf(4.1, 2, 57), "holds", None),
        ("F = 4.10 on 2 and 57 df, p = .22", stats.f.sf(4.1, 2, 57), "does not", None),
        ("F = 4.10, df = 1,998, p = .043", stats.f.sf(4.1, 1, 998), "holds", None),
        ("χ² = 7.2 (df = 2, N = 90, p = .27)", stats.chi2.sf(7.2, 2), "does not", None),
        ("t(1,998) = 2.20, p = .028", 2 * stats.t.sf(2.2, 1998), "holds", None),
        ("t = 2.20, df = 1,998, p = .36", 2 * stats.t.sf(2.2, 1998), "does not", None),
        ("H(2) = 7.1, p = .029", stats.chi2.sf(7.1, 2), "holds", "CONSISTENT"),
        ("H(2, N = 30) = 7.10, p = .36", stats.chi2.sf(7.1, 2), "does not", None),
        ("H(2) = 1.20, p < .05", stats.chi2.sf(1.2, 2), "does not", None),
        ("Q(3) = 8.1, p = .044", stats.chi2.sf(8.1, 3), "holds", None),
        ("Friedman: χ²_F(2) = 7.0, p = .20", stats.chi2.sf(7, 2), "does not", None),
        ("q(3, 27) = 3.90, p = .027", stats.studentized_range.sf(3.9, 3, 27), "holds", None),
        ("t(10) = 9.99, p = .000", 2 * stats.t.sf(9.99, 10), "holds", "CONSISTENT"),
    ],
)
def test_a_line(tmp_path, text, p, answer, grade):
    """The p of the printed statistic lies in the range; the answer and the grade say the rest."""
    row = audited(tmp_path, text + "\n")[0]
    low, high = row.p_interval
    if p is not None:
        assert low <= p <= high
    if answer is not None:
        assert (row.answer, grade or str(row.grade)) == (answer, str(row.grade))


def test_an_exact_p_of_few_values_is_not_accused(tmp_path):
    """H of three values in each of three groups: 1 680 orders, and chi-squared is rough."""
    orders = {
        (one, two, tuple(sorted({*range(1, 10)} - {*one} - {*two})))
        for one in combinations(range(1, 10), 3)
        for two in combinations(sorted({*range(1, 10)} - {*one}), 3)
    }
    found = sorted(round(stats.kruskal(*each).statistic, 6) for each in orders)
    assert len(found) == 1680
    for h in sorted({*found}):
        p = sum(each >= h for each in found) / 1680
        (row,) = audited(tmp_path, f"H(2) = {h:.4f}, p = {p:.4f}")
        assert row.answer != "does not"


def test_entropies_are_no_tests(tmp_path):
    text = "| Method | bits |\n|---|---|\n| A | 1.3 ± 0.2 |\n| B | 1.9 ± 0.2 |\n\n"
    (row,) = audited(tmp_path, f"{text}The entropies are H(2) = 1.3 and Q(1) = 3; n = 5, SD.")
    assert row.kind == "comparison"


def test_ends_are_those_of_rounding(tmp_path):
    """2.20 is 2.195 to 2.205, so its p is the range of both."""
    (row,) = audited(tmp_path, "t(28) = 2.20, p = .036\n")
    expected = [2 * stats.t.sf(end, 28) for end in (2.205, 2.195)]
    assert row.p_interval == pytest.approx(expected, rel=1e-12)
    (row,) = audited(tmp_path, "t(28) = 2.20, p = .036\n", rounding="truncate")
    assert row.p_interval == pytest.approx(
        [2 * stats.t.sf(end, 28) for end in (2.21, 2.20)], rel=1e-12
    )


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
    rows = audited(tmp_path, text)
    assert tuple(row.answer for row in rows) == answers
    assert rows[0].kind == "statistic"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("t(28) = 2,20, p = ,036\n", "not plain"),
        ("F(57) = 4.1, p = .02\n", "2 degrees of freedom"),
        ("t(1, 234) = 4.1, p = .02\n", "1 degrees of freedom"),
        ("t(1,23) = 4.1, p = .02\n", "1 degrees of freedom"),
        ("χ²(1,998) = 4.1, p = .04\n", "χ²(2, N = 90) = 7.20"),  # 1,998 or N = 998
        ("t = 2.20, p = .036\n", "t(28) = 2.20"),
        ("F = 4.10 and p = .022\n", "F(2, 57) = 4.10"),
        ("Spearman r = .31, n = 50, p = .03\n", "n - 2"),
        ("H = 7.1, p = .029\n", "H(2) = 7.10"),
        ("U = 45, p = .03\n", "z = 2.10"),
        ("t = 2,20, df = 28, p = ,036\n", "2,20 is not a plain number"),
        ("r(48) = 1.31, p = .02\n", "between -1 and 1"),
        ("t(0) = 1.31, p = .02\n", "above 0"),
        ("F(2, 57) = -4.1, p = .02\n", "not negative"),
        ("t(28) = 2.20, p = 1.036\n", "1.036"),
        ("| Effect | Test | p |\n|---|---|---|\n| A | t(28) = 2.20 | 1.036 |\n", "1.036"),
    ],
)
def test_what_is_no_statistic_is_refused(tmp_path, text, what):
    """A number that may mean another is never read."""
    with pytest.raises(SpecError) as caught:
        audited(tmp_path, text)
    assert what in str(caught.value)


def test_precision_recall_and_f_are_results(tmp_path):
    """P, R and F of a tagger are no test statistics."""
    text = "Method,P,R,F\nA,.91 ± .01,.90 ± .01,.90 ± .01\nB,.92 ± .01,.91 ± .01,.91 ± .01\n"
    assert audited(tmp_path, text)[0].kind == "comparison"


def test_what_else_a_text_holds_is_said_to_be_unread(tmp_path):
    """A table of means beside a statistic in its note; columns of statistics are read whole."""
    text = "| Method | Acc |\n|---|---|\n| A | 93.4 ± 0.2 |\n\nA and C: t(9) = 2.30, p = .047\n"
    for name, words, unread in (
        ("a.md", text, True),
        ("b.csv", "id,t,df,p\na,2.2,28,.04\n", False),
    ):
        (tmp_path / name).write_text(words, encoding="utf-8")
        (audit,) = audit_paths([tmp_path / name])
        assert any("Nothing else of the text is read" in each for each in audit.findings) == unread


def test_a_statistic_without_a_name_is_asked_for_one(tmp_path):
    """The advice works when it is followed."""
    text = "id,statistic,df,p\na,1.80,40,0.04\nb,2.20,28,0.036\n"
    with pytest.raises(SpecError) as caught:
        audited(tmp_path, text)
    assert caught.value.problems[0].advice == "name the column of statistics after its test"
    first, second = audited(tmp_path, text.replace("statistic", "t"))
    assert (first.answer, second.answer) == ("cannot say", "holds")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("t(28) = 2.20, p = .20; q = 3.2, p = .036", {"line 1": ("t", ".20")}),
        ("chi2(2, N = 80) = 6.1, p = .20; z = 1.96, p = .05", {"line 1": ("z", ".05")}),
        ("t(28) = 2.20, r = .38, d = 0.8, p = .036", {"line 1": ("t", ".036")}),
        (
            "We saw z = 2.5, p = .20; and then F(1, 40) = 5.2 for memory, r(40) = .31, ns",
            {"We saw": ("z", ".20"), "and then": ("F", None), "for memory": ("r", "n.s.")},
        ),
    ],
)
def test_a_statistic_has_the_p_and_the_words_that_follow_the_one_before(text, read):
    """Not those of a later one; an effect size may stand between."""
    found = in_text(text, "a.txt")
    said = {each.id.partition(": ")[2]: (each.kind, each.p and each.p.text) for each in found}
    assert said == read


def test_a_text_and_a_table_below_it_are_both_read(tmp_path):
    text = "We find t(28) = 2.20, p = .036.\n\n| A | test | p |\n|---|---|---|\n"
    rows = audited(tmp_path, f"{text}| x | t(28) = 2.20 | .21 |\n")
    assert {row.p_printed: row.answer for row in rows} == {".21": "does not", ".036": "holds"}


def test_a_table_of_anova_has_the_second_df_in_the_row_of_errors(tmp_path):
    """An F is tested against the next row of errors below it."""
    text = "Source & $df$ & $MS$ & $F$ & $p$ \\\\\nA & 3 & 4.13 & 8.26 & $<$.001 \\\\\n"
    text += "Residuals & 36 & 0.50 & & \\\\\n"
    text += "B & 2 & 1.1 & 4.91 & .20 \\\\\nError & 54 & 25 & & \\\\\n"
    one, other = audited(tmp_path, text)
    assert (one.answer, one.details["df"]) == ("holds", (3, 36))
    assert (other.answer, other.details["df"]) == ("does not", (2, 54))
    assert other.p_interval == pytest.approx([stats.f.sf(f, 2, 54) for f in (4.915, 4.905)])


def test_a_table_of_coefficients_has_its_df_below_it(tmp_path):
    text = "Term,Estimate,Std. Error,t value,Pr(>|t|)\nwidth,-.11,.07,-1.571,.0122\n"
    (row,) = audited(tmp_path, f"{text}\nResidual df: 50\n")
    assert row.p_interval == pytest.approx([2 * stats.t.sf(t, 50) for t in (1.5715, 1.5705)])
    assert (row.answer, row.grade) == ("does not", "DECISION-INCONSISTENT")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("t(2.3) = 4.30, p = .041", "holds"),  # of 2.25: .0405
        ("t(4.6) = 4.24, p = .0101", "holds"),
        ("t(4.6) = 4.24, p = .0103", "does not"),
        ("t(4) = 4.24, p = .0101", "does not"),
        ("Welch's test: t(5) = 4.24, p = .0095", "holds"),  # of 4.5 to 5.5 by rounding
        ("Student's test: t(5) = 4.24, p = .0095", "does not"),
    ],
)
def test_degrees_of_freedom_are_rounded_where_they_can_be(text, answer, tmp_path):
    assert [row.answer for row in audited(tmp_path, text)] == [answer]


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
        (row,) = audited(tmp_path, table % p)
        assert row.answer == answer
        assert "a_1 vs b" in row.id


def test_a_correction_makes_no_p_smaller(tmp_path):
    text = "Bonferroni-corrected: t(28) = 2.20, p = .001; t(28) = 2.20, p = .072"
    assert [row.answer for row in audited(tmp_path, text)] == ["does not", "cannot say"]


LM = """Call:
lm(formula = dist ~ speed, data = cars)

Coefficients:
            Estimate Std. Error t value Pr(>|t|)
(Intercept) -17.5791     6.7584  -2.601   0.0123 *
speed         3.9324     0.4155   9.464 1.49e-12 ***
---
Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1

Residual standard error: 15.38 on 48 degrees of freedom
Multiple R-squared:  0.6511,	Adjusted R-squared:  0.6438
F-statistic: 89.57 on 1 and 48 DF,  p-value: 1.49e-12
"""
"""R 4, data set cars: https://stat.ethz.ch/R-manual/R-devel/library/datasets/html/cars.html"""

OLS = """                            OLS Regression Results
Dep. Variable:                   dist   R-squared:                       0.651
Method:                 Least Squares   F-statistic:                     89.57
Df Residuals:                      48   Prob (F-statistic):           1.49e-12
Df Model:                           1
Covariance Type:            nonrobust
==============================================================================
                 coef    std err          t      P>|t|      [0.025      0.975]
------------------------------------------------------------------------------
Intercept    -17.5791      6.758     -2.601      0.012     -31.168      -3.990
speed          3.9324      0.416      9.464      0.000       3.097       4.768
==============================================================================
Omnibus:                        8.975   Durbin-Watson:                   1.676
"""


@pytest.mark.parametrize("text", [LM, OLS], ids=["R", "statsmodels"])
def test_the_summary_of_a_regression(text, tmp_path):
    assert [row.answer for row in audited(tmp_path, text)] == ["holds"] * 3
    wrong = text.replace("-2.601   0.0123", "-2.601   0.0323").replace("0.012  ", "0.032  ")
    assert [row.answer for row in audited(tmp_path, wrong)] == ["does not", "holds", "holds"]


def test_a_summary_without_degrees_of_freedom_is_refused(tmp_path):
    text = LM.replace("on 48 degrees of freedom", "").replace("F-statistic", "")
    with pytest.raises(SpecError, match="t without degrees of freedom"):
        [row.answer for row in audited(tmp_path, text)]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("t(28) = 2.20, 95% CI [0.1, 2.3], p = .36", ("t(28) = 2.20", ".36")),
        ("t(28) = 2.20, two-tailed p = .36", ("t(28) = 2.20", ".36")),
        ("p = .36, t(28) = 2.20", ("t(28) = 2.20", ".36")),
        ("t(28) = 2.20, Holm-adjusted p = .36", ("t(28) = 2.20", ".36")),
        ("t(28) = 2.20, NS", ("t(28) = 2.20", "n.s.")),
        ("t(28) = 2.20, p = ns", ("t(28) = 2.20", "n.s.")),
        ("t(28) = 2.20, p ≈ .36", ("t(28) = 2.20", ".36")),
        ("t = 2.20, df = 28, p-value = 0.36", ("t(28) = 2.20", "0.36")),
        ("F = 4.1, num df = 2, denom df = 57, p-value = 0.02", ("F(2, 57) = 4.1", "0.02")),
        ("X-squared = 7.2, df = 2, p-value = 0.027", ("χ²(2) = 7.2", "0.027")),
        ("$t_{28} = 2.2$, $p=.36$", ("t(28) = 2.2", ".36")),
        ("t₂₈ = 2.20, p = .36", ("t(28) = 2.20", ".36")),
        ("chi-square(3) = 8.1, p = .04", ("χ²(3) = 8.1", ".04")),
        ("F(1, 1,234) = 4.1, p = .04", ("F(1, 1234) = 4.1", ".04")),
        ("t(28) = 2.20 with p-value .36", ("t(28) = 2.20", ".36")),
        ("t(28) = 2.20, p of .36", ("t(28) = 2.20", ".36")),
        ("t(28) = 2.20; p = .36", ("t(28) = 2.20", ".36")),
        ("t(28) = 2.20 (see p 12)", ("t(28) = 2.20", None)),
        ("t(28) = 2.20 (p, 3 seeds)", ("t(28) = 2.20", None)),
        ("t(28) = 2.20; not significant", ("t(28) = 2.20", "n.s.")),
        ("t(28) = 2.20; r = .31, p = .36", ("t(28) = 2.20", None)),
        ("t(28) = 2.20. The other p = .36", ("t(28) = 2.20", None)),
        ("A differs (t(28) = 2.20), and so on | p = .36", ("t(28) = 2.20", None)),
    ],
)
def test_a_p_stands_anywhere_in_what_is_said_of_its_statistic(text, read):
    (found,) = in_text(text, "a.txt")
    assert (found.text, found.p and found.p.text) == read


def test_p_may_stand_before_each_statistic_of_a_line():
    found = in_text("p < .001, t(28) = 2.20; p = .036, t(28) = 3.90", "a.txt")
    assert [each.p and each.p.text for each in found] == ["< .001", ".036"]


def test_a_decimal_comma_of_p_is_refused(tmp_path):
    with pytest.raises(SpecError, match="not plain"):
        audited(tmp_path, "t(28) = 2.20, p=0,36")


@pytest.mark.parametrize("said", ["ns", "p > .05"])
def test_no_significance_is_not_that_of_the_other_side(tmp_path, said):
    """One-sided it takes a p of .98, which nobody prints as n.s."""
    (row,) = audited(tmp_path, f"t(28) = 2.20, {said}")
    assert row.answer == "does not"


def test_a_p_of_zero_says_nothing(tmp_path):
    with pytest.raises(SpecError, match="a p of 0 has no digits"):
        audited(tmp_path, "t(28) = 2.20, p = 0")


def test_coefficients_without_degrees_of_freedom_are_refused(tmp_path):
    text = "| DV | Predictor | β | SE | t | p |\n|---|---|---|---|---|---|\n"
    with pytest.raises(SpecError, match="a table of coefficients"):
        audited(tmp_path, f"{text}| A | S | -0.605 | 0.024 | -25.6 | <0.001 |\n")


@pytest.mark.parametrize(
    ("side", "answer"), [("greater than", "holds"), ("not equal to", "cannot say")]
)
def test_what_r_says_of_the_alternative(tmp_path, side, answer):
    """The p of one side is half of .0411."""
    text = "data: a and b\nt = 2.2013, df = 17.84, p-value = 0.02056\n"
    text += f"alternative hypothesis: true difference in means is {side} 0\n"
    (row,) = audited(tmp_path, text)
    assert row.answer == answer
    assert stats.t.sf(2.2013, 17.84) == pytest.approx(0.02056, abs=5e-6)


def test_what_one_statistic_says_is_not_of_another(tmp_path):
    """Neither its tails, nor that its degrees of freedom are rounded."""
    text = "χ²(3) = 8.10, p = .060\nF(2, 57) = 4.1, p = .030\nWelch t(17.8) = 2.31, p = .033"
    assert [row.answer for row in audited(tmp_path, text)] == ["does not", "does not", "holds"]
    text = "F(2, 57) = 4.10, p = .030. We used Welch tests where variances differed."
    assert [row.answer for row in audited(tmp_path, text)] == ["does not"]
    text = "t(28) = 2.20, NS\nt(30) = 1.80, one-tailed p = .041"
    assert [row.answer for row in audited(tmp_path, text)] == ["does not", "holds"]
    (row,) = audited(tmp_path, "t(28) = 2.20, two-tailed, p = .018")
    assert row.answer == "does not"


SPSS = """\t\tLevene's Test for Equality of Variances\t\tt-test for Equality of Means\t\t\t\t\t\t
\t\tF\tSig.\tt\tdf\tSig. (2-tailed)\tMean Difference\tStd. Error Difference\t95% Interval\t
\t\t\t\t\t\t\t\t\tLower\tUpper
score\tEqual variances assumed\t.512\t.480\t2.200\t28\t.036\t1.10000\t.50000\t.07578\t2.12422
\tEqual variances not assumed\t\t\t2.200\t27.312\t.036\t1.10000\t.50000\t.07466\t2.12534
"""


def test_t_tests_of_spss_stand_next_to_the_test_of_levene(tmp_path):
    rows = audited(tmp_path, SPSS)
    expected = [stats.f.sf(0.512, 1, 28), *(2 * stats.t.sf(2.2, df) for df in (28, 27.312))]
    assert [row.p_interval for row in rows] == [pytest.approx((p, p), rel=2e-2) for p in expected]
    assert [row.answer for row in rows] == ["holds"] * 3
    assert "score Equal variances not assumed" in rows[2].id
    rows = audited(tmp_path, SPSS.replace(".036\t", ".018\t").replace(".480", ".048"))
    assert [row.answer for row in rows] == ["does not"] * 3  # one-sided is not what its head says
    new = SPSS.replace("\tSig. (2-tailed)\tMean Difference", "\tOne-Sided p\tTwo-Sided p")
    rows = audited(tmp_path, new.replace("\t.036\t1.10000", "\t.018\t.036"))
    assert [row.answer for row in rows] == ["holds"] * 3
    short = SPSS.splitlines(keepends=True)
    with pytest.raises(SpecError, match="10 cells in a table of 11 columns"):
        audited(tmp_path, "".join([short[1][1:], *short[3:]]))


def test_a_table_of_several_tests_is_refused(tmp_path):
    """Without a word on Levene nothing says the first df of F."""
    with pytest.raises(SpecError, match="several tests: t, F"):
        audited(tmp_path, "Contrast\tF\tp\tt\tdf\tp\nA\t4.1\t.022\t2.2\t28\t.036\n")


SAS = """Source                      DF      Type III SS    Mean Square   F Value   Pr > F

method                       2      120.0000000     60.0000000      4.10   0.0217
size                         1       10.0000000     10.0000000      0.68   0.4118
"""
SAS_MODEL = """                                        Sum of
Source                      DF         Squares     Mean Square    F Value    Pr > F
Model                        3     130.0000000      43.3333333       2.96    0.0397
Error                       57     834.1000000      14.6333333
Corrected Total             60     964.1000000

R-Square     Coeff Var      Root MSE    y Mean
0.125760      19.53         3.825       19.5

"""
R_AOV = """            Df Sum Sq Mean Sq F value Pr(>F)
group        2  3.766  1.8832   4.846 0.0159 *
Residuals   27 10.492  0.3886
---
Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1
"""


@pytest.mark.parametrize(
    ("text", "ps", "printed"),
    [
        (f"{SAS}Error 57 834.1 14.63\n", [(4.1, 2, 57), (0.68, 1, 57)], "0.0217"),
        (f"{SAS_MODEL}{SAS}", [(2.96, 3, 57), (4.1, 2, 57), (0.68, 1, 57)], "0.0217"),
        (R_AOV, [(4.846, 2, 27)], "0.0159"),
        (
            (
                "     Sum Sq Mean Sq NumDF DenDF F value    Pr(>F)\n"
                "Days  30031   30031     1    17  45.853 3.264e-06 ***\n"
            ),
            [(45.853, 1, 17)],
            "3.264e-06",
        ),
        (
            (
                "            df    sum_sq   mean_sq         F    PR(>F)\n"
                "C(group)   2.0   3.76634  1.883170  4.846088   0.01591\n"
                "Residual  27.0  10.49209  0.388596       NaN       NaN\n"
            ),
            [(4.846088, 2, 27)],
            "0.01591",
        ),
        (
            (
                "Source\tType III Sum of Squares\tdf\tMean Square\tF\tSig.\n"
                "Corrected Model\t120.000a\t2\t60.000\t4.100\t.022\nError\t834.1\t57\t14.633\t\t\n"
                "Corrected Total\t954.1\t59\t\t\t\na. R Squared = .126\n"
            ),
            [(4.1, 2, 57)],
            ".022",
        ),
        (
            (
                "Source\t\tType III Sum of Squares\tdf\tMean Square\tF\tSig.\n"
                "time\tSphericity Assumed\t10.0\t2\t5.0\t4.10\t.024\n"
                "\tGreenhouse-Geisser\t10.0\t1.52\t6.6\t4.10\t.037\n"
                "Error(time)\tSphericity Assumed\t46.3\t38\t1.22\t\t\n"
                "\tGreenhouse-Geisser\t46.3\t28.9\t1.6\t\t\n"
            ),
            [(4.1, 2, 38), (4.1, 1.52, 28.9)],
            ".024",
        ),
    ],
)
def test_tables_of_anova_as_programs_print_them(tmp_path, text, ps, printed):
    rows = audited(tmp_path, text)
    assert [row.answer for row in rows] == ["holds"] * len(ps)
    for row, each in zip(rows, ps, strict=True):
        low, high = row.p_interval
        assert low <= stats.f.sf(*each) <= high
    wrong = audited(tmp_path, text.replace(printed, ".21"))
    assert [row.answer for row in wrong].count("does not") == 1


def test_an_f_without_its_error_is_refused(tmp_path):
    with pytest.raises(SpecError, match="in a row Residual"):
        audited(tmp_path, SAS)
    with pytest.raises(SpecError, match="error terms of other rows"):
        audited(tmp_path, f"{SAS_MODEL}Hypotheses Using method(a) as an Error Term\n{SAS}")


TUKEY = """  Tukey multiple comparisons of means
    95% family-wise confidence level

Fit: aov(formula = weight ~ group, data = PlantGrowth)

$group
            diff        lwr       upr     p adj
trt1-ctrl -0.371 -1.0622161 0.3202161 0.3908711
trt2-ctrl  0.494 -0.1972161 1.1852161 0.1979960
trt2-trt1  0.865  0.1737839 1.5562161 0.0120064

"""
"""R 4, data set PlantGrowth, three groups of ten plants."""

TUKEY_OF_STATSMODELS = """Multiple Comparison of Means - Tukey HSD, FWER=0.05
====================================================
group1 group2 meandiff p-adj   lower   upper  reject
----------------------------------------------------
  ctrl   trt1   -0.371 0.3909 -1.0622 0.3202  False
  ctrl   trt2    0.494  0.198 -0.1972 1.1852  False
  trt1   trt2    0.865  0.012  0.1738 1.5562   True
----------------------------------------------------
"""


TUKEY_CSV = """comparison,diff,lwr,upr,p adj
trt1-ctrl,-0.371,-1.062,0.320,0.391
trt2-ctrl,0.494,-0.197,1.185,0.198
trt2-trt1,0.865,0.174,1.556,0.012
"""


@pytest.mark.parametrize("text", [TUKEY, TUKEY_OF_STATSMODELS, TUKEY_CSV])
def test_tukey_takes_its_q_from_the_interval(text, tmp_path):
    rows = audited(tmp_path, f"{text}\ndf = 27\n")
    error = (10.49209 / 27 / 10) ** 0.5  # of a mean, by the table of ANOVA above
    for row, diff in zip(rows, (0.371, 0.494, 0.865), strict=True):
        low, high = row.p_interval
        assert low <= stats.studentized_range.sf(diff / error, 3, 27) <= high
        assert row.answer == "holds"
    wrong = text.replace("0.1979960", "0.0197996").replace("0.198", "0.0198")
    rows = audited(tmp_path, f"{wrong}\nResiduals   27 10.492  0.3886\n")
    assert [row.answer for row in rows] == ["holds", "does not", "holds"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (TUKEY, "a line df = 27 below"),
        ("(I) group\t(J) group\tMean Difference (I-J)\tSig.\na\tb\t1.1*\t.002\n", "diff,lwr,upr"),
        (f"{TUKEY}df = 2, 27", "a line df = 27 below"),
        (f"{TUKEY}df = 27".replace("trt2-trt1  0.865", "trt3-trt1  0.865"), "each pair of groups"),
    ],
)
def test_tukey_without_its_groups_and_df_is_refused(text, what, tmp_path):
    with pytest.raises(SpecError, match=what):
        audited(tmp_path, text)


def test_a_p_by_tukey_is_no_wrong_p_of_t(tmp_path):
    text = "contrast    estimate  SE df t.ratio p.value\n"
    text += "ctrl-trt1    0.371 0.279 27   1.331  0.3909\n"
    rows = audited(tmp_path, f"{text}\nP value adjustment: tukey method\n")
    assert [row.answer for row in rows] == ["cannot say"]


VARIANCES = (
    "\tF test to compare two variances\n\ndata:  a and b\n"
    "F = {}, num df = 9, denom df = 9, p-value = {}\n"
    "alternative hypothesis: true ratio of variances is {} 1\n"
)


@pytest.mark.parametrize("prefix", ["", "## ", "    ## "])
@pytest.mark.parametrize(
    ("f", "p", "side", "answer"),
    [
        ("0.21567", 0.03206, "not equal to", "holds"),
        ("4.6367", 0.03206, "not equal to", "holds"),
        ("4.6367", 0.01603, "not equal to", "does not"),
        ("0.21567", 0.9840, "not equal to", "does not"),
        ("4.6367", 0.01603, "greater than", "holds"),
        ("0.21567", 0.01603, "less than", "holds"),
    ],
)
def test_f_of_two_variances_has_two_ends(tmp_path, f, p, side, answer, prefix):
    """var.test of R: twice the smaller tail, or one tail where its alternative says so."""
    tails = stats.f.cdf(float(f), 9, 9), stats.f.sf(float(f), 9, 9)
    assert 2 * min(tails) == pytest.approx(0.03206, abs=5e-6)
    text = VARIANCES.format(f, p, side)
    text = "".join(f"{prefix}{line}\n" for line in text.splitlines())
    (row,) = audited(tmp_path, text)
    assert row.answer == answer
    assert row.p_interval == pytest.approx((2 * min(tails),) * 2, abs=5e-6)


def test_f_of_variances_in_words_and_of_sas(tmp_path):
    (row,) = audited(tmp_path, "The ratio of two variances: F(9, 9) = 0.216, p = .032.")
    assert row.answer == "holds"
    sas = "Method    Num DF  Den DF  F Value  Pr > F\nFolded F       9       9     4.64  {}\n"
    assert [audited(tmp_path, sas.format(p))[0].answer for p in ("0.0320", "0.0160")] == [
        "holds",
        "cannot say",
    ]
    (row,) = audited(tmp_path, "F(9, 9) = 4.64, p = .016")
    assert row.answer == "holds"


@pytest.mark.parametrize(
    "text",
    [
        "r = -.31, n = 50, p = .03",
        "r = .31 (N = 50, p = .03)",
        "r = .31 (n = 50), p = .03",
        "The correlation was r = .31, p = .03, n = 50.",
    ],
)
def test_a_correlation_with_its_number_of_pairs(tmp_path, text):
    """t of 48 degrees of freedom; behind another statistic r is the size of its effect."""
    (row,) = audited(tmp_path, text)
    assert (row.answer, row.p_interval[0] < correlation(0.31, 48) < row.p_interval[1]) == (
        "holds",
        True,
    )
    assert audited(tmp_path, text.replace("n = 50", "n = 30").replace("N = 50", "N = 30"))[
        0
    ].answer.startswith("does")
    (row,) = audited(tmp_path, "t(28) = 2.20, p = .036, r = .38, n = 60")
    assert row.details["statistic"] == "t"


def test_what_is_not_read_is_named_by_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(
        "t(28) = 2.20, p = .036\nt(18) = 2.1, p > .05; b = 0.3, t = 3.0, p = .003\n"
        "Spearman's r = .31, n = 50, p = .03\nW = 41, p = .02\n"
    )
    (audit,) = audit_paths([path])
    assert len(audit.rows) == 2
    (lead,) = audit.lead
    assert all(f"line {each}" in lead for each in ("2, t = 3.0", "3, r = .31", "4, W = 41"))


def test_df_next_to_t(tmp_path):
    rows = audited(tmp_path, "t28 = 2.20, p = .036\nt28 = 2.20, p = .36\nt(3) = 1.0")
    assert [row.answer for row in rows] == ["holds", "does not", "does not"]


@pytest.mark.parametrize("prefix", ["## ", "# ", "    ## "])
def test_output_of_r_that_knitr_marks(tmp_path, prefix):
    lines = [
        "            Estimate Std. Error t value Pr(>|t|)    ",
        "season        19.709      3.918   5.030 5.41e-07 ***",
        "---",
        "Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1",
        "",
        "Residual standard error: 152.5 on 1724 degrees of freedom",
    ]
    (row,) = audited(tmp_path, "".join(f"{prefix}{line}\n" for line in lines))
    assert (row.answer, row.details["df"]) == ("holds", (1724,))
    assert 2 * stats.t.sf(5.03, 1724) == pytest.approx(5.41e-7, rel=1e-2)


def test_levene_of_r_names_no_residuals(tmp_path):
    text = (
        "Levene's Test for Homogeneity of Variance (center = median)\n"
        "       Df F value    Pr(>F)    \ngroup   1  12.955 0.0003408 ***\n      723         \n"
    )
    (row,) = audited(tmp_path, text)
    assert (row.answer, row.details["df"]) == ("holds", (1, 723))
    assert stats.f.sf(12.955, 1, 723) == pytest.approx(0.0003408, rel=1e-3)


def test_a_p_further_on_is_not_that_of_an_r(tmp_path):
    """`r = 0.5, n = 20` are settings where what follows is another p."""
    text = "For r = 0.5, n = 20, dropout p = 0.1 we had t(28) = 2.20, p = .036.\n"
    assert [each.id for each in audited(tmp_path, text)] == ["1: we had"]
