"""t, F, r, chi-squared and z as they are printed: p again by `scipy`, and what is refused."""

from __future__ import annotations

from itertools import combinations

import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from repro.audit.audit import audit_paths
from repro.audit.statistics import in_text
from repro.errors import SpecError
from tests.audit.printed import correlation, rows_of


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
        ("t(28) = 2.20,\np = .90", 2 * stats.t.sf(2.2, 28), "does not", "DECISION-INCONSISTENT"),
        ("(F(1, 28) =\n4.53, p = .042)", stats.f.sf(4.53, 1, 28), "holds", "CONSISTENT"),
        ("t(30) = 2.5, p =\n.018", 2 * stats.t.sf(2.5, 30), "holds", "CONSISTENT"),
        ("t(28) = 1.2, p &lt; .05", 2 * stats.t.sf(1.2, 28), "does not", "DECISION-INCONSISTENT"),
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
    row = rows_of(tmp_path, text + "\n")[0]
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
        (row,) = rows_of(tmp_path, f"H(2) = {h:.4f}, p = {p:.4f}")
        assert row.answer != "does not"


def test_entropies_are_no_tests(tmp_path):
    text = "| Method | bits |\n|---|---|\n| A | 1.3 ± 0.2 |\n| B | 1.9 ± 0.2 |\n\n"
    (row,) = rows_of(tmp_path, f"{text}The entropies are H(2) = 1.3 and Q(1) = 3; n = 5, SD.")
    assert row.kind == "comparison"


def test_ends_are_those_of_rounding(tmp_path):
    """2.20 is 2.195 to 2.205, so its p is the range of both."""
    (row,) = rows_of(tmp_path, "t(28) = 2.20, p = .036\n")
    expected = [2 * stats.t.sf(end, 28) for end in (2.205, 2.195)]
    assert row.p_interval == pytest.approx(expected, rel=1e-12)
    (row,) = rows_of(tmp_path, "t(28) = 2.20, p = .036\n", rounding="truncate")
    assert row.p_interval == pytest.approx(
        [2 * stats.t.sf(end, 28) for end in (2.21, 2.20)], rel=1e-12
    )


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
        rows_of(tmp_path, text)
    assert what in str(caught.value)


def test_precision_recall_and_f_are_results(tmp_path):
    """P, R and F of a tagger are no test statistics."""
    text = "Method,P,R,F\nA,.91 ± .01,.90 ± .01,.90 ± .01\nB,.92 ± .01,.91 ± .01,.91 ± .01\n"
    assert rows_of(tmp_path, text)[0].kind == "comparison"


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
    found = in_text(text, "a.txt").statements
    said = {each.id.partition(": ")[2]: (each.kind, each.p and each.p.text) for each in found}
    assert said == read


def test_a_text_and_a_table_below_it_are_both_read(tmp_path):
    text = "We find t(28) = 2.20, p = .036.\n\n| A | test | p |\n|---|---|---|\n"
    rows = rows_of(tmp_path, f"{text}| x | t(28) = 2.20 | .21 |\n")
    assert {row.p_printed: row.answer for row in rows} == {".21": "does not", ".036": "holds"}


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
    assert [row.answer for row in rows_of(tmp_path, text)] == [answer]


def test_a_correction_makes_no_p_smaller(tmp_path):
    text = "Bonferroni-corrected: t(28) = 2.20, p = .001; t(28) = 2.20, p = .09"
    assert [row.answer for row in rows_of(tmp_path, text)] == ["does not", "cannot say"]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("All had normal or corrected-to-normal vision.", "does not"),
        ("All p-values are uncorrected.", "does not"),
        ("Degrees of freedom are Greenhouse-Geisser corrected.", "does not"),
        ("Degrees of freedom were corrected using Huynh-Feldt estimates.", "does not"),
        ("Standard errors are White-corrected.", "does not"),
        ("Post hoc tests were corrected.", "cannot say"),
        ("After correction for multiple comparisons:", "cannot say"),
        ("Post hoc tests are those of Scheffé.", "cannot say"),
        ("Groups are compared by Games-Howell.", "cannot say"),
        ("Sphericity was corrected for by Greenhouse-Geisser, tests by Bonferroni.", "cannot say"),
    ],
)
def test_what_else_is_corrected_makes_no_p_larger(tmp_path, words, answer):
    """p is .036: another printed one may be a corrected p only where p-values are corrected."""
    assert 2 * stats.t.sf(2.2, 28) == pytest.approx(0.0362, abs=1e-4)
    (row,) = rows_of(tmp_path, f"{words} They differed, t(28) = 2.20, p = .20.")
    assert row.answer == answer


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
    (found,) = in_text(text, "a.txt").statements
    assert (found.text, found.p and found.p.text) == read


def test_p_may_stand_before_each_statistic_of_a_line():
    found = in_text("p < .001, t(28) = 2.20; p = .036, t(28) = 3.90", "a.txt").statements
    assert [each.p and each.p.text for each in found] == ["< .001", ".036"]


def test_a_decimal_comma_of_p_is_refused(tmp_path):
    with pytest.raises(SpecError, match="not plain"):
        rows_of(tmp_path, "t(28) = 2.20, p=0,36")


@pytest.mark.parametrize("said", ["ns", "p > .05"])
def test_no_significance_is_not_that_of_the_other_side(tmp_path, said):
    """One-sided it takes a p of .98, which nobody prints as n.s."""
    (row,) = rows_of(tmp_path, f"t(28) = 2.20, {said}")
    assert row.answer == "does not"


def test_a_p_of_zero_says_nothing(tmp_path):
    with pytest.raises(SpecError, match="a p of 0 has no digits"):
        rows_of(tmp_path, "t(28) = 2.20, p = 0")


@pytest.mark.parametrize(
    ("side", "answer"), [("greater than", "holds"), ("not equal to", "cannot say")]
)
def test_what_r_says_of_the_alternative(tmp_path, side, answer):
    """The p of one side is half of .0411."""
    text = "data: a and b\nt = 2.2013, df = 17.84, p-value = 0.02056\n"
    text += f"alternative hypothesis: true difference in means is {side} 0\n"
    (row,) = rows_of(tmp_path, text)
    assert row.answer == answer
    assert stats.t.sf(2.2013, 17.84) == pytest.approx(0.02056, abs=5e-6)


def test_what_one_statistic_says_is_not_of_another(tmp_path):
    """Neither its tails, nor that its degrees of freedom are rounded."""
    text = "χ²(3) = 8.10, p = .060\nF(2, 57) = 4.1, p = .030\nWelch t(17.8) = 2.31, p = .033"
    assert [row.answer for row in rows_of(tmp_path, text)] == ["does not", "does not", "holds"]
    text = "F(2, 57) = 4.10, p = .030. We used Welch tests where variances differed."
    assert [row.answer for row in rows_of(tmp_path, text)] == ["does not"]
    text = "t(28) = 2.20, NS\nt(30) = 1.80, one-tailed p = .041"
    assert [row.answer for row in rows_of(tmp_path, text)] == ["does not", "holds"]
    (row,) = rows_of(tmp_path, "t(28) = 2.20, two-tailed, p = .018")
    assert row.answer == "does not"


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
    (row,) = rows_of(tmp_path, text)
    assert row.answer == answer
    assert row.p_interval == pytest.approx((2 * min(tails),) * 2, abs=5e-6)


def test_f_of_variances_in_words_and_of_sas(tmp_path):
    (row,) = rows_of(tmp_path, "The ratio of two variances: F(9, 9) = 0.216, p = .032.")
    assert row.answer == "holds"
    sas = "Method    Num DF  Den DF  F Value  Pr > F\nFolded F       9       9     4.64  {}\n"
    assert [rows_of(tmp_path, sas.format(p))[0].answer for p in ("0.0320", "0.0160")] == [
        "holds",
        "cannot say",
    ]
    (row,) = rows_of(tmp_path, "F(9, 9) = 4.64, p = .016")
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
    (row,) = rows_of(tmp_path, text)
    assert (row.answer, row.p_interval[0] < correlation(0.31, 48) < row.p_interval[1]) == (
        "holds",
        True,
    )
    assert rows_of(tmp_path, text.replace("n = 50", "n = 30").replace("N = 50", "N = 30"))[
        0
    ].answer.startswith("does")
    (row,) = rows_of(tmp_path, "t(28) = 2.20, p = .036, r = .38, n = 60")
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
    rows = rows_of(tmp_path, "t28 = 2.20, p = .036\nt28 = 2.20, p = .36\nt(3) = 1.0")
    assert [row.answer for row in rows] == ["holds", "does not", "does not"]


def test_a_p_further_on_is_not_that_of_an_r(tmp_path):
    """`r = 0.5, n = 20` are settings where what follows is another p."""
    text = "For r = 0.5, n = 20, dropout p = 0.1 we had t(28) = 2.20, p = .036.\n"
    assert [each.id for each in rows_of(tmp_path, text)] == ["1: we had"]


POST_HOC = "Post hoc tests were Bonferroni-corrected."


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("No correction for multiple comparisons was applied. {}, p = .20.", "does not"),
        ("P values were not adjusted for multiplicity. {}, p = .20.", "does not"),
        ("Bonferroni correction was not applied. {}, p = .20.", "does not"),
        (f"The p values were not corrected. {{}}, p = .20. {POST_HOC}", "does not"),
        (f"The p values were not corrected. {POST_HOC} {{}}, p = .20.", "cannot say"),
        (f"{POST_HOC} {{}}, p = .20. The other p values are uncorrected.", "cannot say"),
        (f"P values of main effects are not corrected. {{}}, p = .20. {POST_HOC}", "cannot say"),
        (f"{POST_HOC} {{}}, p = .20 (uncorrected).", "does not"),
        (f"{POST_HOC} {{}}, uncorrected p = .20.", "does not"),
        (f"{POST_HOC} {{}}, p = .20, not corrected, but p = .60 by Bonferroni.", "does not"),
        (f"{POST_HOC} {{}}, p = .036 (uncorrected).", "holds"),
        ("The p values were not corrected. {}, Bonferroni-corrected p = .072.", "cannot say"),
        ("No difference remained significant after correction by Holm. {}, p = .20.", "cannot say"),
        ("It did not survive correction for multiple testing: {}, p = .072.", "cannot say"),
        ("Results with and without Bonferroni correction: {}, p = .072.", "cannot say"),
        ("Uncorrected visual acuity, by Bonferroni: {}, p = .072.", "cannot say"),
        ("{}, p(FWE-corr) = .072.", "cannot say"),
    ],
)
def test_a_p_that_is_said_to_be_uncorrected_is_judged(tmp_path, text, answer):
    """p is .036. What is said last before a p, or next to it, is of it; a part is not all."""
    (row,) = rows_of(tmp_path, text.format("They differed, t(28) = 2.20"))
    assert row.answer == answer


def test_values_in_turn_have_their_p_in_turn(tmp_path):
    text = "t(28) = 2.20, 1.10, and 3.00, p = .036, .28, .06, respectively"
    rows = rows_of(tmp_path, text)
    assert [row.answer for row in rows] == ["holds", "holds", "does not"]
    for row, t in zip(rows, (2.2, 1.1, 3), strict=True):
        assert row.p_interval[0] <= 2 * stats.t.sf(t, 28) <= row.p_interval[1]
    for text in ("ts(28) = 2.20 and 3.00, ps < .05", "F(1, 28) = 4.84 and 9, both p < .05"):
        assert [row.answer for row in rows_of(tmp_path, text)] == ["holds", "holds"]


def test_values_with_fewer_p_are_named(tmp_path):
    """Nothing says which p is of which, nor that it is of all."""
    path = tmp_path / "a.txt"
    path.write_text("t(28) = 2.20, 1.10, and 3.00, p = .036, .28. t(30) = 2.50, p = .018")
    (audit,) = audit_paths([path])
    assert [row.p_printed for row in audit.rows] == [".018"]
    assert "2.20, 1.10, and 3.00, p = .036" in audit.lead[0]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ("F(2.87) = 5.43, p = .002", "F(2.87) needs 2 degrees of freedom"),
        ("t(28) = 2,20, p = ,036", "not plain"),
        ("t(28) = 2.20, p = 1.36", "1.36"),
        ("r(48) = 1.31, p = .02", "between -1 and 1"),
    ],
)
def test_one_misprint_does_not_refuse_a_text(tmp_path, wrong, named):
    path = tmp_path / "a.txt"
    path.write_text(f"We find {wrong}.\nAnd t(28) = 2.20, p = .036.\n")
    (audit,) = audit_paths([path])
    assert [(row.id, row.answer) for row in audit.rows] == [("1: And", "holds")]
    assert "line 1, " in audit.lead[0]
    assert named in audit.lead[0]
    assert audit.lead[0].count("line 1, ") == 1


@pytest.mark.parametrize("bound", ["F(1, 20) < 1", "t(45) < 1.6", "r(48) < .10", "z < 1"])
def test_a_bound_without_a_p_claims_nothing(tmp_path, bound):
    answers = [row.answer for row in rows_of(tmp_path, f"t(28) = 2.20, p = .036. All {bound}.")]
    assert answers in (["holds"], ["holds", "cannot say"])
    assert rows_of(tmp_path, "F(1, 20) < 1, p < .05")[0].answer == "does not"


@pytest.mark.parametrize(
    ("sign", "answer"),
    [
        (">=", "does not"),
        ("=>", "does not"),
        ("&gt;=", "does not"),
        ("<=", "holds"),
        ("=<", "holds"),
    ],
)
def test_a_relation_may_be_printed_in_two_signs(tmp_path, sign, answer):
    """p is .0089."""
    (row,) = rows_of(tmp_path, f"t(30) = 2.80, p {sign} .05")
    assert row.answer == answer
    (row,) = rows_of(
        tmp_path, f"| x | t | df | p |\n|---|---|---|---|\n| a | 2.80 | 30 | {sign} .05 |"
    )
    assert row.answer == answer


def test_a_p_with_two_points_is_named(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("A: t(28) = 2.20, p = .036; B: t(30) = 2.80, p = .0.009. See fig. 2.5.1.")
    (audit,) = audit_paths([path])
    assert [row.id for row in audit.rows] == ["1: A"]
    assert "p '= .0.009' has a number that is not plain" in audit.lead[0]


LIST = "A vs B, t(28) = 2.75, p = {}; A vs C, t(28) = 3.40, p = {}; B vs C, t(28) = 1.90, p = {}."
RAW = [2 * stats.t.sf(t, 28) for t in (2.75, 3.4, 1.9)]


@pytest.mark.parametrize(
    "words",
    [
        "Pairwise comparisons (Bonferroni-corrected p values): {}",
        "Bonferroni-adjusted p-values (3 comparisons) are reported: {}",
        "Pairwise (Bonferroni-corrected, three tests): {}",
        "All p values were Bonferroni-corrected. {}",
        "All p values are corrected for multiple comparisons by Bonferroni. {}",
        "{} All p values are Bonferroni-corrected.",
    ],
)
def test_p_that_are_all_said_to_be_corrected(tmp_path, words):
    """By Bonferroni for three tests; raw ones are not what the text says."""
    for times, answer in ((3, "holds"), (1, "cannot say")):
        said = words.format(LIST.format(*(f"{times * p:.4f}" for p in RAW)))
        assert [row.answer for row in rows_of(tmp_path, said)] == [answer] * 3
    said = words.format(LIST.format(".031", ".006", ".020"))
    assert [row.answer for row in rows_of(tmp_path, said)] == ["holds", "holds", "does not"]


def test_only_the_largest_p_of_holm_is_the_raw_one(tmp_path):
    words = "All p values are Holm-adjusted. "
    adjusted = multipletests(RAW, method="holm")[1]
    rows = rows_of(tmp_path, words + LIST.format(*(f"{p:.4f}" for p in adjusted)))
    assert [row.answer for row in rows] == ["holds"] * 3
    rows = rows_of(tmp_path, words + LIST.format(*(f"{p:.4f}" for p in RAW)))
    assert [row.answer for row in rows] == ["cannot say", "cannot say", "holds"]
    assert "not corrected, and the text says that it is" in rows[0].reason
    rows = rows_of(tmp_path, f"{words}All 6 comparisons: {LIST.format(*(f'{p:.4f}' for p in RAW))}")
    assert [row.answer for row in rows] == ["cannot say", "cannot say", "holds"]


@pytest.mark.parametrize(
    "text",
    [
        "F(2, 57) = 4.10, p = .022. Pairs (Bonferroni-corrected p values): t(28) = 2.2, p = .073.",
        "Post hoc tests were Holm-corrected. F(2, 57) = 4.10, p = .022; t(28) = 2.2, p = .036.",
        "p values of post hoc tests are Holm-corrected. t(28) = 2.2, p = .036; t(9) = 3, p = .015.",
        "t(28) = 2.20, p = .036; t(9) = 3, Bonferroni-corrected p = .030.",
        "The p values were not Bonferroni-corrected. t(28) = 2.2, p = .036; t(9) = 3, p = .015.",
        "All p values are Holm-adjusted. t(28) = 9.20, p < .001; t(28) = 8.1, p < .001.",
    ],
)
def test_a_p_of_which_no_family_is_named_may_be_the_raw_one(tmp_path, text):
    assert rows_of(tmp_path, text)[0].answer == "holds"


@pytest.mark.parametrize("df", ["df1 = 2, df2 = 57", "df = 2, 57", "df1=2; df2=57"])
def test_degrees_of_freedom_may_have_their_names(tmp_path, df):
    rows = rows_of(tmp_path, f"F({df}) = 4.10, p = .022; F({df}) = 4.10, p = .22")
    assert [row.answer for row in rows] == ["holds", "does not"]
