"""The ways in which papers write a statistic: p again by `scipy`, and what is named as unread."""

from __future__ import annotations

import re
import time
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from repro.audit.audit import audit_paths
from repro.errors import SpecError
from tests.audit.printed import audited, correlation, rows_of

F = stats.f.sf(4.61, 1, 58)
T = 2 * stats.t.sf(2.2, 28)
CHI = stats.chi2.sf(3.78, 1)


@pytest.mark.parametrize(
    ("written", "p", "text"),
    [
        ("F1,58 = 4.61", F, "F(1, 58) = 4.61"),
        ("F 1,58 = 4.61", F, "F(1, 58) = 4.61"),
        ("F_{1,58} = 4.61", F, "F(1, 58) = 4.61"),
        ("F_(1, 58) = 4.61", F, "F(1, 58) = 4.61"),
        ("F₁,₅₈ = 4.61", F, "F(1, 58) = 4.61"),
        ("F<sub>1,58</sub> = 4.61", F, "F(1, 58) = 4.61"),
        ("ΔF(1, 58) = 4.61", F, "F(1, 58) = 4.61"),
        ("F change(1, 58) = 4.61", F, "F(1, 58) = 4.61"),
        ("F1(1, 58) = 4.61", F, "F(1, 58) = 4.61"),
        ("$F_{Welch}(1, 58) = 4.61$", F, "F(1, 58) = 4.61"),
        ("F(1,\n58) = 4.61", F, "F(1, 58) = 4.61"),
        ("F(1, 58)\n= 4.61", F, "F(1, 58) = 4.61"),
        ("t_28 = 2.2", T, "t(28) = 2.2"),
        ("t28 = 2.2", T, "t(28) = 2.2"),
        ("χ²1 = 3.78", CHI, "χ²(1) = 3.78"),
        ("χ²(1, n = 90) = 3.78", CHI, "χ²(1) = 3.78"),
        (r"$\chi^{2}_{1} = 3.78$", CHI, "χ²(1) = 3.78"),
        (r"$\chi_{1}^{2} = 3.78$", CHI, "χ²(1) = 3.78"),
        ("χ<sup>2</sup>(1) = 3.78", CHI, "χ²(1) = 3.78"),
        ("Δχ²(1) = 3.78", CHI, "χ²(1) = 3.78"),
        ("LRT χ2(1) = 3.78", CHI, "χ²(1) = 3.78"),
        ("Qb(1) = 3.78", CHI, "Qb(1) = 3.78"),
        ("Q_M(df = 1) = 3.78", CHI, "QM(1) = 3.78"),
        ("QE(df=1) = 3.78", CHI, "QE(1) = 3.78"),
        ("LR(1) = 3.78", CHI, "LR(1) = 3.78"),
        ("rs(48) = .30", correlation(0.3, 48), "rs(48) = .30"),
        ("$r_s(48) = .30$", correlation(0.3, 48), "rs(48) = .30"),
        ("ρ(48) = .30", correlation(0.3, 48), "ρ(48) = .30"),
        (r"$\rho(48) = .30$", correlation(0.3, 48), "ρ(48) = .30"),
        ("Spearman's r(48) = .30", correlation(0.3, 48), "ρ(48) = .30"),
        ("minF'(1, 58) = 4.61", F, "F(1, 58) = 4.61"),
        ("t(28) = –2.2", T, "t(28) = -2.2"),
        ("S-Bχ²(1) = 3.78", CHI, "χ²(1) = 3.78"),
        ("LRT = 3.78, df = 1", CHI, "LRT(1) = 3.78"),
        ("χ²\n(1) = 3.78", CHI, "χ²(1) = 3.78"),
        ("*χ*^2^(1) = 3.78", CHI, "χ²(1) = 3.78"),
        ("*F*~1,58~ = 4.61", F, "F(1, 58) = 4.61"),
        ("F(1,\n58)\n= 4.61", F, "F(1, 58) = 4.61"),
        (r"$F(1,\,58)~=~4.61$", F, "F(1, 58) = 4.61"),
        ("F(1/58) = 4.61", F, "F(1, 58) = 4.61"),
        ("F-value(1, 58) = 4.61", F, "F(1, 58) = 4.61"),
        ("|t(28)| = 2.2", T, "t(28) = 2.2"),
        ("t(28) = +2.2", T, "t(28) = 2.2"),
        ("r48 = .30", correlation(0.3, 48), "r(48) = .30"),
        ("z-score = 2.193", 2 * stats.norm.sf(2.193), "z = 2.193"),
        ("Wald(1) = 3.78", CHI, "Wald(1) = 3.78"),
        ("r_{partial}(48) = .30", correlation(0.3, 48), "r(48) = .30"),
        ("Spearman's and then Pearson's r(48) = .30", correlation(0.3, 48), "r(48) = .30"),
        ("z = 2.193", 2 * stats.norm.sf(2.193), "z = 2.193"),
        ("U = 12,345, z = -2.193", 2 * stats.norm.sf(2.193), "z = -2.193"),
        ("The groups differed, Z = 2.193", 2 * stats.norm.sf(2.193), "z = 2.193"),
    ],
)
def test_a_way_to_write_a_statistic(tmp_path, written, p, text):
    """The printed p holds, a tenth of it does not, and nothing is called unread."""
    for share, answer in ((1, "holds"), (0.1, "does not")):
        rows, said = audited(tmp_path, f"{written}, P = {share * p:.4f}\n")
        (row,) = rows.values()
        assert row.p_interval[0] <= p <= row.p_interval[1]
        assert row.answer == answer
        assert text in row.reason
        assert "Not read" not in said


@pytest.mark.parametrize("n", [5, 6, 7, 8])
def test_an_exact_p_of_spearman_is_not_accused(tmp_path, n):
    """The share of all orders of few values with such a correlation; t is rough there."""
    orders = np.array(list(permutations(range(n))))
    rhos = 1 - 6 * ((orders - np.arange(n)) ** 2).sum(axis=1) / (n * (n * n - 1))
    found = [rho for rho in np.unique(rhos) if 0 < rho < 1]
    ps = [np.mean(abs(rhos) > rho - 1e-9) for rho in found]
    pairs = [pair for pair in zip(found, ps, strict=True) if pair[1] > 0.005]
    for share, accused in ((1, False), (0.1, True)):
        lines = [f"rs({n - 2}) = {rho:.4f}, p = {share * p:.4f}\n" for rho, p in pairs]
        answers = [row.answer for row in rows_of(tmp_path, "".join(lines))]
        assert answers.count("does not") == len(pairs) * accused


def test_what_is_not_read_has_its_reason(tmp_path):
    text = (
        "t(28) = 2.20, p = .036; F change = 2.28, p = .036. Kendall's τ(48) = .30, p = .003.\n"
        "There b = 0.31, SE = 0.11, p = .006, and OR = 1.52 (95% CI 1.10 to 2.11; n = 410), p = .01"
        ".\nNo p is missing here: t(28) = 2.20, d = 0.80, p = .036 (n = 30). * p < .05\n"
    )
    rows, said = audited(tmp_path, text)
    assert [row.answer for row in rows.values()] == ["holds", "holds"]
    assert "line 1, F change = 2.28 (no degrees of freedom: write F(2, 57) = 4.10" in said
    assert "line 1, τ(48) = .30 (its p takes every value: print its z)" in said
    assert "line 2, b = 0.31 (not a known statistic" in said
    assert "line 2, OR = 1.52 (not a known statistic" in said
    assert "line 3" not in said


def test_z_without_a_p_is_any_number(tmp_path):
    text = "At z = 2.1 mm we find t(28) = 2.20, p = .036. x = 1, y = -3, z = 45 (p = .003).\n"
    rows, said = audited(
        tmp_path, text + "There z = 4, T(1, 45) = 5.2, p = .003; z = 4, p = .0001."
    )
    assert [row.answer for row in rows.values()] == ["holds", "holds"]
    assert "line 2, T(1, 45) = 5.2" in said


def test_names_are_without_tags(tmp_path):
    text = (
        '<p class="x">t(28) = 2.20, p = .036</p>\n<li><b>Speed &amp; size</b>: t(28) = 2.2, p = .36'
    )
    assert list(audited(tmp_path, text)[0]) == ["1: line 1", "2: Speed and size"]
    (row,) = rows_of(tmp_path, "p <.05 for all, t(28) = 2.20 and more > 2 of them")
    assert row.p_printed is None


ONE = "All tests are one-sided.\n"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (f"{ONE}t(46) = -2.50, p > .05.", "holds"),  # .992 on the other side
        (f"{ONE}t(46) = 2.50, p > .05.", "cannot say"),
        (f"{ONE}t(46) = 2.50, p = .008.", "holds"),
        (f"{ONE}t(46) = 2.50, p = .003.", "does not"),
        ("t(46) = -2.50, p > .05, with one-tailed\ntests throughout.", "holds"),
        ("t(46) = -2.50, p > .05.", "cannot say"),
        ("t(46) = -2.50, p > .05, two-tailed.", "does not"),
        ("We used two-tailed tests. There t(46) = -2.50, p > .05.", "does not"),
        ("We used two-tailed tests. There t(46) = 2.50, p = .008.", "does not"),
        ("Tests are two-tailed unless noted. There t(46) = 2.50, p = .008.", "cannot say"),
    ],
)
def test_what_is_said_of_the_sides_of_all_tests(tmp_path, text, answer):
    assert stats.t.cdf(2.5, 46) == pytest.approx(0.992, abs=5e-4)
    (row,) = rows_of(tmp_path, text)
    assert row.answer == answer


@pytest.mark.parametrize(
    "text",
    [
        "t(28) = 2.20, p = .018.\nt(30) = 1.80, one-tailed p = .041.",
        "t(28) = 2.20, p = .018; F(1, 30) = 3.24, one-tailed p = .041.",
        "t(28) = 2.20, p = .018. A rise, z = 1.80, one-tailed p = .036.",
        "One-tailed for the first hypothesis only.\nt(28) = 2.20, p = .018.",
    ],
)
def test_one_sided_is_said_of_what_it_stands_next_to(tmp_path, text):
    """.018 is half of .0362, and nothing tells that this test was one-sided."""
    first, *others = rows_of(tmp_path, text)
    assert (first.answer, [row.answer for row in others]) == ("cannot say", ["holds"] * len(others))
    assert first.reason.endswith("which nothing says of it")


def test_honest_bounds_of_one_sided_tests_are_not_accused(tmp_path):
    """Without a word, for t in the direction of the test and against it."""
    generator = np.random.default_rng(1)
    lines = []
    for t in generator.standard_t(46, 300):
        p = stats.t.sf(t, 46)
        lines.append(f"t(46) = {t:.2f}, p {'< .05' if p < 0.05 else '> .05'}\n")
    (tmp_path / "a.txt").write_text("".join(lines))
    (audit,) = audit_paths([tmp_path / "a.txt"])
    assert not [row for row in audit.rows if row.answer == "does not"]
    assert sum(row.answer == "cannot say" for row in audit.rows) < 30


@pytest.mark.parametrize("mark", ["†", "+", ".", "·", "#", r"$^{\cdot}$", r"$\cdot$"])
def test_a_mark_of_p_below_a_tenth(tmp_path, mark):
    """As a cell, and in a table of LaTeX; its legend says what it means."""
    legend = f"\n{mark.replace('^', '').replace('{', '').replace('}', '')} p < .10, * p < .05\n"
    rows = (("x", "2.20", "*"), ("y", "1.80", mark), ("z", "1.00", mark))
    text = "Test & t(28) & p \\\\\n" + "".join(f"{' & '.join(row)} \\\\\n" for row in rows)
    found = rows_of(tmp_path, text + legend)
    ps = [2 * stats.t.sf(t, 28) for t in (2.2, 1.8, 1)]
    assert [p < at for p, at in zip(ps, (0.05, 0.1, 0.1), strict=True)] == [True, True, False]
    assert [row.answer for row in found] == ["holds", "holds", "does not"]


def test_a_plus_behind_a_number_is_no_mark_without_its_legend(tmp_path):
    text = "| A | t(28) | p |\n|---|---|---|\n| x | 1.80 | .083+ |\n| y | 1.00 | .20+ |\n\n"
    rows = rows_of(tmp_path, f"{text}+ p < .1")
    assert [row.answer for row in rows] == ["holds", "does not"]
    with pytest.raises(SpecError, match=re.escape("'.083+' is not a number")):
        rows_of(tmp_path, f"{text}* p < .05")


@pytest.mark.parametrize(
    "p",
    [
        "; P = {}",
        "; n = 47; p = {}",
        " (p = {}, two-tailed)",
        ", p(two-tailed) = {}",
        ", pbonf = {}",
        ", $p_{{adj}} = {}$",
        ", both ps = {}",
        ", p-val = {}",
        ", p: {}",
        ", p's = {}",
        ", pFDR = {}",
        ", $p_{{\\mathrm{{FWE}}}} = {}$",
        ", p.adj = {}",
        ", ptwo-tailed = {}",
        ", p equal to {}",
        ", $p \\approx {}$",
        ", $p \\leq {}$",
        ", Sig. (2-tailed) = {}",
    ],
)
def test_a_way_to_write_p(tmp_path, p):
    """As printed by the statistic; ten times as much is seen, if only as a corrected one."""
    right, wrong = (f"t(45) = 2.31{p.format(each)}" for each in (".026", ".26"))
    assert stats.t.sf(2.31, 45) * 2 == pytest.approx(0.0255, abs=1e-4)
    assert [row.answer for row in rows_of(tmp_path, right)] == ["holds"]
    (row,) = rows_of(tmp_path, wrong)
    if "leq" not in p:  # as a bound ten times the p is no mistake
        assert row.answer == ("cannot say" if re.search("bonf|adj|F", p) else "does not")
    assert row.p_printed.endswith(".26")


@pytest.mark.parametrize(
    "power", ["1.1 × 10⁻⁷", "1.1 x 10-7", "1.1e-7", r"$1.1 \times 10^{-7}$", "1.1*10^-7"]
)
def test_a_p_with_a_power_of_ten(tmp_path, power):
    p = 2 * stats.t.sf(6.31, 45)
    assert p == pytest.approx(1.1e-7, rel=0.05)
    (row,) = rows_of(tmp_path, f"t(45) = 6.31, p = {power}")
    assert row.answer == "holds"
    for bound, answer in (("10⁻⁵", "holds"), ("10^{-8}", "does not"), ("10-5", "holds")):
        (row,) = rows_of(tmp_path, f"t(45) = 6.31, p < {bound}")
        assert row.answer == answer


def test_what_scipy_prints(tmp_path):
    result = stats.ttest_ind([1, 2, 3, 4], [3, 4, 5, 7])
    (row,) = rows_of(tmp_path, f"{result}\n")
    assert (row.answer, row.details["df"]) == ("holds", (6,))
    (row,) = rows_of(tmp_path, "TtestResult(statistic=2.31, pvalue=0.255, df=45.0)\n")
    assert row.answer == "does not"


def test_what_is_not_read_over_two_lines(tmp_path):
    _, said = audited(tmp_path, "t(28) = 2.20, p = .036; F change = 2.28,\np = .036 * p < .05\n")
    assert "line 2, F change = 2.28" in said


def test_a_long_line_takes_no_longer_a_word(tmp_path):
    """Each p looks back at its own words alone."""
    text = "a = 3, b = 4, p = .036 and so on; " * 6000 + "t(28) = 2.20, p = .036"
    begin = time.process_time()
    assert len(rows_of(tmp_path, text)) == 1
    assert time.process_time() - begin < 20


LEGEND = "\n\n* p < .05, *** p < .001\n"


@pytest.mark.parametrize(
    "text",
    [
        "A: t(28) = 2.20*; B: t(28) = 1.00*; C: t(28) = 2.20***. **D: t(28) = 1.00**",
        "A: t(28) = 2.20*, p = .036; B: t(28) = 1.00*, p = .04; C: t(28) = 2.20***; t(28) = 1.00",
        "E,Test\nA,t(28) = 2.20*\nB,t(28) = 1.00*\nC,t(28) = 2.20***\nD,t(28) = 1.00",
        "E,t,df\nA,2.20*,28\nB,1.00*,28\nC,2.20***,28\nD,1.00,28",
        "| E | t(28) |\n|---|---|\n| A | 2.20* |\n| B | 1.00* |\n| C | 2.20*** |\n| D | 1.00 |",
        "E,t(28)\nA,2.20*\nB,1.00*\nC,2.20***\nD,1.00",
    ],
)
def test_stars_behind_a_statistic_are_its_p(tmp_path, text):
    """.036 is below .05, and neither .326 nor is .036 below .001."""
    a, b, c, d = rows_of(tmp_path, text + LEGEND)
    assert [row.answer for row in (a, b, c)] == ["holds", "does not", "does not"]
    assert all(row.p_printed for row in (a, b, c))
    assert d.p_printed is None


@pytest.mark.parametrize(
    ("t", "p", "answer"),
    [
        (2.31, ".01 < p < .05", "holds"),  # .0255
        (4.31, ".01 < p < .05", "does not"),  # .0001
        (4.31, "0.01 ≤ p ≤ 0.05", "does not"),
        (1.75, ".05 < p < .10", "holds"),  # .087
        (2.31, ".05 < p < .10", "does not"),
    ],
)
def test_a_p_between_two_bounds(tmp_path, t, p, answer):
    (row,) = rows_of(tmp_path, f"t(45) = {t}, {p}")
    low, high = row.p_interval
    assert low <= 2 * stats.t.sf(t, 45) <= high
    assert row.answer == answer


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("both, t(28) = 2.20 and t(28) = 3.00, were (p = {} and p = {})", ".036 .006"),
        ("t(28) = 2.20, and t(28) = 3.00, ps = {} and {}, respectively", ".036 .006"),
        ("A, t(28) = 2.20, and B, t(28) = 3.00 (both ps < {})", "<.05 <.05"),
        ("A, t(28) = 2.20, and B, t(28) = 3.00, both p < {}", "<.05 <.05"),
        ("A, t(28) = 2.20, and B, t(28) = 3.00, p < {} for both", "<.05 <.05"),
        ("t(28) = 2.20, d = 0.4, and t(28) = 3.00, d = 0.6, ps = {} and {}", ".036 .006"),
        ("A (p = {}, t(28) = 2.20) and B (p = {}, t(28) = 3.00)", ".036 .006"),
        ("A (p = {}; t(28) = 2.20) and B (p = {}; t(28) = 3.00)", ".036 .006"),
    ],
)
def test_each_of_two_statistics_has_its_own_p(tmp_path, text, printed):
    t = [2 * stats.t.sf(each, 28) for each in (2.2, 3.0)]
    assert t == pytest.approx([0.0362, 0.0056], abs=1e-4)
    ps = printed.replace("<", "").split()
    rows = rows_of(tmp_path, text.format(*ps))
    assert [row.answer for row in rows] == ["holds", "holds"]
    assert [row.p_printed.replace(" ", "") for row in rows] == printed.split()
    rows = rows_of(tmp_path, text.format(".001", ".001"))
    assert [row.answer for row in rows] == ["does not", "does not"]


@pytest.mark.parametrize(
    "said",
    [
        "Risk fell (hazard ratio, 0.74; 95% CI, 0.60 to 0.91; P = .004).",
        "0.74 (95% CI 0.60 to 0.91; P = .004) in a sentence",
        "There was a trend over quartiles (P for trend = 0.03).",
        "P-heterogeneity = 0.45",
        "P_interaction < 0.001",
        "The slope had Pr(>|t|) = .0208.",
        "Pr(|T| > |t|) = 0.0208",
        "Prob > chi2 = 0.0312",
        "Asymp. Sig. (2-tailed) = .031",
        "And also p' = .062.",
        "By Fisher's exact test, p = .02.",
        "Ours is better (p < .01, bootstrap).",
        "p1 = .03 for the first",
        "pFWE = 0.03",
        "It was low, p ≪ .001.",
        "The effect was marginal, p = 0,06.",
        "A vs C differed (P=NS).",
        "t(28) = 2.20, p = .036, and after covariates p = .051.",
        "t(28) = 2.20, p = .036 (Bonferroni-adjusted p = .072).",
        "Survival was longer (log-rank P < 0.001).",
    ],
)
def test_every_p_is_judged_or_named(tmp_path, said):
    rows, told = audited(tmp_path, f"A differed, t(30) = 2.50, p = .018.\n{said}\n")
    assert "1: A differed" in rows
    assert "Not read: line 2, " in told


@pytest.mark.parametrize(
    "said",
    [
        "Significance was set at p < .05.",
        "A P value of less than 0.05 was considered significant.",
        "Note: * p < .05, ** p < .01, *** p < .001",
        "Bold: p < .05.",
        "Dropout p = 0.1 was used.",
        "t(28) = 2.20, P = NS.",
        "p = .036, t(28) = 2.20",
    ],
)
def test_a_level_and_what_is_judged_are_not_named(tmp_path, said):
    _, told = audited(tmp_path, f"A differed, t(30) = 2.50, p = .018.\n{said}\n")
    assert "Not read" not in told


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            (
                "| Method | Acc |\n|---|---|\n| A | 93.1±0.3 |\n| B | 94.2±0.2 |\n\n"
                "SD, n = 5; z = 2.1, p = .036; F change = 2.28, p = .036; B is better (p = .008).\n"
            ),
            ["line 6, z = 2.1", "F change = 2.28", "better (p = .008)"],
        ),
        (
            (
                "<table><tr><th>Method</th><th>Acc</th></tr><tr><td>A</td><td>93.1±0.3</td></tr>"
                "<tr><td>B</td><td>94.2±0.2</td></tr></table><p>SD, n = 5. B: p = .008.</p>"
            ),
            ["B: p = .008"],
        ),
        ("id,t,df,p\nage,2.20,28,.036\nsex,-,-,.41\n", ["line 3, sex, p = .41"]),
        (
            (
                "| x | test | p |\n|---|---|---|\n| A | t(28) = 2.20 | .036 |\n"
                "| B | U = 45 | .03 |\n| C | Fisher | <.001 |\n"
            ),
            ["line 4, U = 45", "line 5, C, Fisher, p <.001"],
        ),
    ],
)
def test_a_p_next_to_a_table_is_named(tmp_path, text, named):
    rows, told = audited(tmp_path, text)
    assert len(rows) == 1
    assert all(each in told for each in named), told
    assert "p = .036 (no" not in told


def test_a_p_alone_is_refused_as_such(tmp_path):
    with pytest.raises(SpecError, match="no statistic stands with this p"):
        audited(tmp_path, "The effect was significant (p = .03).\n")


MINUS = ("\N{MINUS SIGN}", "\N{EN DASH}", "\N{NON-BREAKING HYPHEN}", "\N{MINUS SIGN}\N{THIN SPACE}")


@pytest.mark.parametrize("minus", MINUS)
@pytest.mark.parametrize(
    "text",
    [
        "Method,Score\nA,-2.995 ± 0.2\nB,1.995 ± 0.2\n\nn = 5 SD\n",
        "Method,mean,sd,n\nA,-2.995,0.2,5\nB,1.995,0.2,5\n",
        "id,mean_a,sd_a,n_a,mean_b,sd_b,n_b,p\nx,-2.995,0.2,5,1.995,0.2,5,.0001\n",
        "effect\tt\tdf\tp\na\t-2.20\t28\t.036\n",
        "| Method | Score |\n|---|---|\n| A | -2.995 (0.2) |\n| B | 1.995 (0.2) |\n\nn = 5, SD\n",
        (
            "\\begin{tabular}{lc} M & S \\\\ \\hline A & $-2.9 \\pm 0.2$ \\\\ "
            "B & $1 \\pm 0.2$ \\\\ \\end{tabular} n = 5 SD"
        ),
        (
            "<table><tr><th>M</th><th>S</th></tr><tr><td>A</td><td>-2.9 ± 0.2</td></tr>"
            "<tr><td>B</td><td>1.9 ± 0.2</td></tr></table><p>n = 5, SD</p>"
        ),
        "Method  Score\nA       -2.995±0.2\nB       1.995±0.2\n\nn = 5 SD\n",
        "Method;Score\nA;-2,99 ± 0,20\nB;1,99 ± 0,20\n\nn = 5 SD\n",
        "They differed, t(28) = -2.20, p = .036, r(48) = -.31, p = .03. z = -2.10, p = .036.",
    ],
)
def test_a_minus_is_one_however_it_is_printed(tmp_path, text, minus):
    rows = rows_of(tmp_path, text)
    assert [
        (row.answer, row.p_interval) for row in rows_of(tmp_path, text.replace("-", minus))
    ] == [(row.answer, row.p_interval) for row in rows]


def test_a_dash_of_a_range_or_apart_is_no_minus(tmp_path):
    """Behind a number it is that of a range; before a blank it may be an empty cell."""
    (row,) = rows_of(tmp_path, "t(28) = 2.20, 95% CI 0.1 –2.3, p = .036")
    assert row.answer == "holds"
    with pytest.raises(SpecError, match="a dash apart may be a minus"):
        rows_of(tmp_path, "Method Score\nA - 2.995±0.2\nB - 1.995±0.2\n\nn = 5 SD\n")
    rows, _ = audited(tmp_path, "Method X Y\nA - 2.9±0.2\nB 1.9±0.2 2.1±0.2\n\nn = 5 SD\n")
    assert [*rows] == ["A vs B, Y"]


@pytest.mark.parametrize(
    "text", ["Recall improved considerably (p < .01).", "p < .001 for recall.", "Faster, p < .01."]
)
def test_a_p_of_a_result_is_no_legend(tmp_path, text):
    _, said = audited(tmp_path, f"t(28) = 3.00, p = .0056.\n{text}\n")
    assert "no statistic stands with this p" in said


def test_a_relation_behind_an_equals_sign_is_read(tmp_path):
    (row,) = rows_of(tmp_path, "t(28) = 2.20, p = <.001\n")
    assert (row.answer, row.p_printed) == ("does not", "<.001")


def test_corrected_p_of_post_hoc_tests_are_not_all(tmp_path):
    text = "Post hoc p-values were Bonferroni-corrected. "
    text += "F(1, 28) = 4.84, p = .036. r(28) = .36, p = .051."
    assert {row.answer for row in rows_of(tmp_path, text)} == {"holds"}


def test_columns_of_t_df_and_p_are_not_those_of_another_program(tmp_path):
    rows = rows_of(tmp_path, "t, df, p\n2.20, 28, .036\n3.00, 28, .006\n", "t.csv")
    assert [row.answer for row in rows] == ["holds", "holds"]
