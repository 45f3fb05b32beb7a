"""What R, SAS and statsmodels print: p again by `scipy`."""

from __future__ import annotations

import pytest
from scipy import stats

from repro.audit.audit import audit_paths
from repro.audit.render import to_text
from repro.errors import SpecError
from tests.audit.printed import audited, rows_of

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
    assert [row.answer for row in rows_of(tmp_path, text)] == ["holds"] * 3
    wrong = text.replace("-2.601   0.0123", "-2.601   0.0323").replace("0.012  ", "0.032  ")
    assert [row.answer for row in rows_of(tmp_path, wrong)] == ["does not", "holds", "holds"]


def test_a_summary_without_degrees_of_freedom_is_refused(tmp_path):
    text = LM.replace("on 48 degrees of freedom", "").replace("F-statistic", "")
    with pytest.raises(SpecError, match="t without degrees of freedom"):
        [row.answer for row in rows_of(tmp_path, text)]


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
    rows = rows_of(tmp_path, text)
    assert [row.answer for row in rows] == ["holds"] * len(ps)
    for row, each in zip(rows, ps, strict=True):
        low, high = row.p_interval
        assert low <= stats.f.sf(*each) <= high
    wrong = rows_of(tmp_path, text.replace(printed, ".21"))
    assert [row.answer for row in wrong].count("does not") == 1


def test_an_f_without_its_error_is_refused(tmp_path):
    with pytest.raises(SpecError, match="in a row Residual"):
        rows_of(tmp_path, SAS)
    with pytest.raises(SpecError, match="error terms of other rows"):
        rows_of(tmp_path, f"{SAS_MODEL}Hypotheses Using method(a) as an Error Term\n{SAS}")


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
    rows = rows_of(tmp_path, f"{text}\ndf = 27\n")
    error = (10.49209 / 27 / 10) ** 0.5  # of a mean, by the table of ANOVA above
    for row, diff in zip(rows, (0.371, 0.494, 0.865), strict=True):
        low, high = row.p_interval
        assert low <= stats.studentized_range.sf(diff / error, 3, 27) <= high
        assert row.answer == "holds"
    wrong = text.replace("0.1979960", "0.0197996").replace("0.198", "0.0198")
    rows = rows_of(tmp_path, f"{wrong}\nResiduals   27 10.492  0.3886\n")
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
        rows_of(tmp_path, text)


def test_a_p_by_tukey_is_no_wrong_p_of_t(tmp_path):
    text = "contrast    estimate  SE df t.ratio p.value\n"
    text += "ctrl-trt1    0.371 0.279 27   1.331  0.3909\n"
    rows = rows_of(tmp_path, f"{text}\nP value adjustment: tukey method\n")
    assert [row.answer for row in rows] == ["cannot say"]


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
    (row,) = rows_of(tmp_path, "".join(f"{prefix}{line}\n" for line in lines))
    assert (row.answer, row.details["df"]) == ("holds", (1724,))
    assert 2 * stats.t.sf(5.03, 1724) == pytest.approx(5.41e-7, rel=1e-2)


def test_levene_of_r_names_no_residuals(tmp_path):
    text = (
        "Levene's Test for Homogeneity of Variance (center = median)\n"
        "       Df F value    Pr(>F)    \ngroup   1  12.955 0.0003408 ***\n      723         \n"
    )
    (row,) = rows_of(tmp_path, text)
    assert (row.answer, row.details["df"]) == ("holds", (1, 723))
    assert stats.f.sf(12.955, 1, 723) == pytest.approx(0.0003408, rel=1e-3)


def test_output_of_reprex_with_its_code(tmp_path):
    marked = "".join(f"#> {line}\n" for line in LM.splitlines())
    rows = rows_of(tmp_path, f"fit <- lm(dist ~ speed, data = cars)\nsummary(fit)\n{marked}")
    assert [row.answer for row in rows] == ["holds"] * 3
    code = "".join(f"x{at} <- f({at})\n" for at in range(20))
    marked = "".join(f"## {line}\n" for line in LM.replace("0.0123", "0.0323").splitlines())
    rows = rows_of(tmp_path, f"# Speeds\n\n```r\n{code}```\n\n{marked}")
    assert [row.answer for row in rows] == ["does not", "holds", "holds"]


@pytest.mark.parametrize("blank", [" ", "  "])
def test_t_of_a_generalised_model_has_the_df_of_its_residuals(tmp_path, blank):
    """Not those of the null deviance, which stands first."""
    text = (
        "            Estimate Std. Error t value Pr(>|t|)   \n"
        "(Intercept)   0.9500     0.4000   2.375   0.0449 * \n"
        "x             0.3000     0.1000   3.000   {} * \n---\n"
        "(Dispersion parameter for quasipoisson family taken to be 1.2)\n\n"
        f"    Null deviance: 20.10  on 9{blank}degrees of freedom\n"
        f"Residual deviance:  9.40  on 8{blank}degrees of freedom\n"
    )
    p = 2 * stats.t.sf(3, 8)
    for printed, answer in ((f"{p:.4f}", "holds"), (f"{2 * stats.t.sf(3, 9):.4f}", "does not")):
        row = rows_of(tmp_path, text.format(printed))[1]
        assert (row.answer, row.details["df"]) == (answer, (8,))
        assert row.p_interval[0] < p < row.p_interval[1]


STATA = """      Source |       SS           df       MS      Number of obs   =        74
-------------+----------------------------------   F(2, 71)        =     69.75
       Model |   1619.2877         2  809.643849   Prob > F        =    0.0000
    Residual |  824.171761        71   11.608053   R-squared       =    0.6627
-------------+----------------------------------   Adj R-squared   =    0.6532
       Total |  2443.45946        73  33.4720474   Root MSE        =    3.4071

------------------------------------------------------------------------------
         mpg | Coefficient  Std. err.      t    P>|t|     [95% conf. interval]
-------------+----------------------------------------------------------------
      weight |  -.0065879   .0006371   -10.34   0.000    -.0078583   -.0053175
       group |
          B  |  -1.650029   1.075994    -1.53   0.130      -3.7955    .4954422
       _cons |    41.6797   2.165547    19.25   0.000     37.36172    45.99768
------------------------------------------------------------------------------
"""
"""Stata 18, data set auto, but for the name of a group."""
LOGIT = """                           Logit Regression Results
==============================================================================
                 coef    std err          z      P>|z|      [0.025      0.975]
------------------------------------------------------------------------------
GPA            2.8261      1.263      2.238      0.025       0.351       5.301
TUCE           0.0952      0.142      0.672      0.502      -0.182       0.373
==============================================================================
"""


def _with_df(text, df):
    """The summary of a regression with other degrees of freedom."""
    text = text.replace("48", f"{df}").replace("0.0123", f"{2 * stats.t.sf(2.601, df):.4f}")
    text = text.replace("0.012 ", f"{2 * stats.t.sf(2.601, df):.3f} ")
    text = text.replace("1.49e-12 ***", f"{2 * stats.t.sf(9.464, df):.2e} ***")
    return text.replace("1.49e-12", f"{stats.f.sf(89.57, 1, df):.2e}")


T_TESTS = "\tWelch Two Sample t-test\n\ndata:  a\nt = 2.2, df = 28, p-value = 0.03622\n\n"
SAS_T = """Method           Variances        DF    t Value    Pr > |t|
Pooled           Equal            46      -2.41      0.0200
Satterthwaite    Unequal      41.337      -2.39      0.0215

Method      Num DF    Den DF    F Value    Pr > F
Folded F        22        24       1.66    0.2281
"""


@pytest.mark.parametrize(
    ("text", "count", "printed", "wrong"),
    [
        (STATA, 4, "   0.130", "   0.030"),
        (STATA, 4, "=    0.0000", "=    0.0420"),
        (f"{LM}\n{_with_df(LM, 12)}", 6, "0.0232", "0.0323"),
        (f"{OLS}\n{_with_df(OLS, 12)}", 6, "0.023 ", "0.033 "),
        (f"{OLS}\n{LOGIT}", 5, "0.502", "0.052"),
        (f"{LM}\n{R_AOV}", 4, "0.0159", "0.1590"),
        (f"{T_TESTS}{R_AOV}> summary(m)\n{R_AOV.replace('0.0159', '.0159')}", 3, " .0159", " .159"),
        (f"{LM}\n{T_TESTS}", 4, "0.03622", "0.3622"),
        (f"{TUKEY}\nResiduals 27 1.0 2.0\n\n{T_TESTS}", 4, "0.03622", "0.3622"),
        (SAS_T, 3, "0.0215", "0.0021"),
    ],
)
def test_every_printout_of_a_file_is_judged(tmp_path, text, count, printed, wrong):
    def answers(said):
        return [row.answer for row in rows_of(tmp_path, said)]

    assert answers(text) == ["holds"] * count
    changed = answers(text.replace(printed, wrong))
    assert len(changed) == count
    assert changed.count("holds") == count - 1
    assert ("does not" in changed) != ("Tukey" in text)  # which may correct any p of the file


SENTENCE = "The groups differed in age, t(58) = 2.20, p = .032.\n\n"
OF_STATISTICS = ["Outcome t df p", "Stress 2.35 58 .022", "Sleep 1.10 58 {}"]
OF_MEANS = ["Method Acc p", "Base 93.1±0.3 -", "Ours 93.2±0.2 {}"]


def _in_each_form(lines):
    rows = [line.split() for line in lines]
    yield "\n".join("| " + " | ".join(row) + " |" for row in rows).replace(
        "\n", "\n|" + "---|" * len(rows[0]) + "\n", 1
    )
    yield "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in rows).join(
        ["<table>", "</table>"]
    )
    yield (
        "<table>\n"
        + "".join("<tr>\n" + "".join(f"<td>{c}</td>\n" for c in row) + "</tr>\n" for row in rows)
        + "</table>"
    )
    body = " \\\\\n".join(" & ".join(row) for row in rows)
    yield f"\\begin{{tabular}}{{lccc}}\n{body} \\\\\n\\end{{tabular}}"
    yield f"\\begin{{tabular}}{{lccc}} {body} \\\\ \\end{{tabular}}".replace("\n", " ")
    yield from ("\n".join(sign.join(row) for row in rows) for sign in ("\t", ";"))
    yield "\n".join("".join(cell.ljust(14) for cell in row) for row in rows)


@pytest.mark.parametrize("table", [*_in_each_form(OF_STATISTICS)])
@pytest.mark.parametrize("below", [False, True])
def test_a_table_of_statistics_next_to_a_sentence_is_judged(tmp_path, table, below):
    for p, answer in ((".276", "holds"), (".028", "does not")):
        parts = [SENTENCE, table.replace("{}", p) + "\n\n"]
        answers = [r.answer for r in rows_of(tmp_path, "".join(parts[::-1] if below else parts))]
        assert sorted(answers, key="does not".__eq__) == ["holds", "holds", answer]


@pytest.mark.parametrize(
    "table",
    [
        *_in_each_form(OF_MEANS),
        *_in_each_form([e.replace(" 58", "").replace(" df", "") for e in OF_STATISTICS]),
    ],
)
@pytest.mark.parametrize("below", [False, True])
def test_a_p_in_a_table_that_is_not_read_is_named(tmp_path, table, below):
    """Means next to a statistic, and t without its degrees of freedom."""
    parts = [SENTENCE, table.replace("{}", ".028") + "\n\n"]
    (tmp_path / "a.txt").write_text("".join(parts[::-1] if below else parts))
    (audit,) = audit_paths([tmp_path / "a.txt"])
    assert [row.answer for row in audit.rows] == ["holds"]
    assert "p .028 (in a table that is not read)" in audit.lead[0]
    assert to_text([audit], 100).endswith(f"; {audit.unread} with a p not read")
    assert audit.unread == (2 if ".022" in table else 1)


@pytest.mark.parametrize(
    "head",
    ["           Estimate  Std.Error  Pr(>|t|)", "            coef    se      P>|t|",
     "             Chisq  Df  Pr(>Chisq)", "             est  Effect  Sig. (2-tailed)"],
)  # fmt: skip
def test_a_p_below_a_head_of_another_program_is_named(tmp_path, head):
    row = f"{'Sleep'.ljust(12)} 1.10  58.0 {'.028'.rjust(len(head) - 24)}"
    _, said = audited(tmp_path, f"{SENTENCE}{head}\n{row}\n")
    assert "Sleep, p .028" in said


def test_what_is_no_column_of_p_is_not_named(tmp_path):
    for table in (
        "| Model | P | R | F1 |\n|---|---|---|---|\n| A | .91 | .93 | .92 |\n",
        "Here p is a share, and q the rest: .30 and .70 of all.\nAgain .20 and .80 of all.\n",
        "| Method | Acc |\n|---|---|\n| A | .91 |\n",
    ):
        _, said = audited(tmp_path, f"{SENTENCE}{table}")
        assert "Not read" not in said


JAMOVI = """Independent Samples T-Test
                          Statistic    df      p       Mean difference   SE difference   Cohen's d
score    Student's t      2.113        31.0    0.043   5.47              2.59            0.739
rt       {:15}  1.204        31.0    0.238   12.1              10.0            0.421
"""


def test_a_column_statistic_is_that_of_its_rows(tmp_path):
    text = JAMOVI.format("Student's t")
    assert [row.answer for row in rows_of(tmp_path, text)] == ["holds", "holds"]
    wrong = rows_of(tmp_path, text.replace("0.238", "0.024"))
    assert [row.answer for row in wrong] == ["holds", "does not"]
    with pytest.raises(SpecError, match="which test its statistic is of"):
        rows_of(tmp_path, JAMOVI.format("Mann-Whitney U"))


@pytest.mark.parametrize("bar", [" |", ""])
@pytest.mark.parametrize("decided", [{}, {"methods": "columns"}, {"methods": "rows"}])
def test_weka_is_refused_with_what_to_write(tmp_path, bar, decided):
    text = (
        f"Dataset                   (1) trees.J4{bar} (2) bayes (3) lazy\n{'-' * 60}\n"
        f"iris                      (100)   94.73(5.30){bar}   95.53(5.02)    95.40(4.80)\n"
        f"diabetes                  (100)   74.49(5.27){bar}   75.75(5.32)    70.62(4.67) *\n"
        f"ionosphere                (100)   89.74(4.38){bar}   82.17(6.14) *  87.10(5.12)\n"
        f"{'-' * 60}\n                                (v/ /*){bar}      (0/1/0)        (0/1/1)\n"
    )
    without_key = text[: text.rindex("(v/")]
    with pytest.raises(SpecError, match="Weka") as caught:
        audited(tmp_path, text, **decided)
    head, row = caught.value.problems[0].expected.split(", below it ")
    rows, _ = audited(tmp_path, f"{head}\n|---|---|---|\n{row}\n")
    assert [*rows] == ["J48 vs IBk, iris"]
    with pytest.raises(SpecError, match=r"a result in the name|no column of results"):
        audited(tmp_path, without_key)


STATA_T = """Two-sample t test with {} variances
    diff = mean(a) - mean(b)                                      t =  -2.2000
H0: diff = 0                     {} =       28

    Ha: diff < 0                 Ha: diff != 0                 Ha: diff > 0
 Pr(T < t) = 0.0181         Pr(|T| > |t|) = {}          Pr(T > t) = 0.9819
"""
JULIA_T = "t = -2.2000 (df = 28)\n\nHₐ: diff < 0       Hₐ: diff != 0\nPr(|T| > |t|) = {2}\n"


@pytest.mark.parametrize("text", [STATA_T, JULIA_T])
@pytest.mark.parametrize("words", ["Degrees of freedom", "Satterthwaite's degrees of freedom"])
def test_t_of_stata_and_julia(tmp_path, text, words):
    p = 2 * stats.t.sf(2.2, 28)
    for printed, answer in ((f"{p:.4f}", "holds"), ("0.3620", "does not")):
        (row,) = rows_of(tmp_path, text.format("equal", words, printed))
        assert (row.answer, row.details["df"]) == (answer, (28,))


@pytest.mark.parametrize(
    "text",
    [
        "t-Test: Two-Sample\ndf\t26\nt Stat\t2.213213\nP(T<=t) two-tail\t0.003551\n",
        "Unpaired t test\nP value\t0.0316\nt, df\tt=2.331, df=18\n",
        "   Source | Partial SS   df   MS    F  Prob>F\n----+----\n Model | 9.1 2 4.5 5.8 0.006\n",
        "               T        dof     p-val\nT-test -3.400711   8.000000  0.009351\n",
    ],
)
def test_other_printouts_are_refused_with_what_to_write(tmp_path, text):
    with pytest.raises(SpecError, match="which is not read") as caught:
        rows_of(tmp_path, text)
    assert [row.answer for row in rows_of(tmp_path, caught.value.problems[0].expected)] == ["holds"]
