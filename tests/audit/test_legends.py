"""What p, stars and daggers are said to compare and mean, and their check: Welch by scipy."""

from __future__ import annotations

import pytest
from scipy import stats

from repro.audit.printed_cells import legend_told
from tests.audit.printed import audited, welch

TABLE = (
    "| | CIFAR-10 | SVHN |\n|---|---|---|\n| Base | 93.40 (0.11) | 96.10 (0.05) |\n"
    "| Ours | 93.71 (0.09)* | 96.12 (0.06) |\n"
)
CAPTION = "Mean and standard error over 10 random seeds. "
AGAINST_BASE = [
    "* p < 0.05 against Base",
    "(*) p < .05 against Base.",
    "* marks a significant improvement over Base (p < 0.05).",
    "* indicates statistical significance (p < 0.05) compared to Base.",
    "*: significantly better than Base at p < 0.05.",
    "* significant at the 5% level against Base.",
    "* marks a gain of more than 0.2 points that is significant vs. Base (p < .05).",
    "Asterisks mark p < 0.05 against Base.",
    "An asterisk (*) marks p < 0.05 w.r.t. Base.",
    "Results marked * significantly outperform Base (p < 0.05).",
    "Significant improvements over Base (p < 0.05) are marked with *.",
    "*significantly different from Base (alpha = 0.05)",
]


@pytest.mark.parametrize("mark", "*†")
@pytest.mark.parametrize("legend", AGAINST_BASE)
def test_a_legend_in_a_sentence(tmp_path, legend, mark):
    """p = .043, and .030 to .060 by rounding, so p < .05 is open; it is of one comparison."""
    root = 10**0.5
    assert welch((93.71, 0.09 * root, 10), (93.40, 0.11 * root, 10)) == pytest.approx(0.0432, 1e-2)
    legend = legend.replace("*", mark).replace(
        "Asterisks", {"*": "Asterisks", "†": "Daggers"}[mark]
    )
    rows, said = audited(tmp_path, CAPTION + legend + "\n\n" + TABLE.replace("*", mark), "a.md")
    row = rows["Ours vs Base, CIFAR-10"]
    assert (row.answer, row.p_printed.lstrip("<0")) == ("cannot say", ".05")
    assert "no legend" not in said
    wrong = TABLE.replace("96.12 (0.06)", f"96.12 (0.06){mark}").replace("*", mark)
    rows, _ = audited(tmp_path, CAPTION + legend + "\n\n" + wrong, "a.md")
    assert rows["Ours vs Base, SVHN"].grade != "CONSISTENT"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("p < .05 (*), p < .01 (**)", {"*": 0.05, "**": 0.01}),
        ("p<.05*, p<.01**", {"*": 0.05, "**": 0.01}),
        ("* p<.05 ** p<.01 *** p<.001", {"*": 0.05, "**": 0.01, "***": 0.001}),
        ("* (**) p < 0.05 (0.01)", {"*": 0.05, "**": 0.01}),
        (
            "***, **, * denote significance at the 1%, 5%, 10% level",
            {"***": 0.01, "**": 0.05, "*": 0.1},
        ),
        ("two asterisks: p < .01, one asterisk: p < .05", {"**": 0.01, "*": 0.05}),
        ("* significant at 95% confidence", {"*": 0.05}),
        ("† and ‡ p < .05 and .01", {"†": 0.05, "‡": 0.01}),
        ("* (p < .05) over base, † over mid", {"*": 0.05}),
        ("* marks no significant difference at p < .05", {}),
        ("tests at p < .05. * marks the best", {}),
        ("* is the best; 95% confidence intervals", {}),
        ("*mean and sd of 5 runs; p < .05*", {}),
        ("**table 3** (p < .05)", {}),
    ],
)
def test_what_marks_mean(said, meant):
    """A level goes with the mark before it, or behind it where a level is first; else with none."""
    assert {mark: p.value for mark, p in legend_told(said).items()} == meant


@pytest.mark.parametrize(
    "cell",
    [
        "28.4 &plusmn; 0.3<sup>*</sup>",
        "28.4<sup>*</sup> &plusmn; 0.3",
        "28.4* <sub>±0.3</sub>",
        "28.4 <sub>(±0.3)</sub>(*)",
    ],
)
def test_a_star_and_a_spread_in_html(tmp_path, cell):
    """Raised or not, before the spread or behind it."""
    assert welch((28.4, 0.3, 4), (27.3, 0.2, 4)) == pytest.approx(0.00146, abs=1e-5)
    text = (
        "<table><tr><th>Model</th><th>BLEU</th></tr><tr><td>A</td><td>27.3 &plusmn; 0.2</td></tr>"
        f"<tr><td>B</td><td>{cell}</td></tr></table><p>* p &lt; .05 vs. A. Mean, SD of 4 runs.</p>"
    )
    rows, _ = audited(tmp_path, text, "a.html")
    assert rows["B vs A, BLEU"].answer == "holds"


def test_a_dagger_of_latex(tmp_path):
    text = (
        "\\begin{tabular}{lc}\nMethod & Acc \\\\\nA & 93.1 $\\pm$ 0.3 \\\\\n"
        "B & 94.2 $\\pm$ 0.2$^{\\dagger}$ \\\\\n\\end{tabular}\n"
        "\\caption{$n=5$ seeds, mean and SD. $\\dagger$: $p<0.05$ against A.}\n"
    )
    rows, _ = audited(tmp_path, text, "a.tex")
    assert (rows["B vs A, Acc"].answer, rows["B vs A, Acc"].p_printed) == ("holds", "<0.05")


@pytest.mark.parametrize(
    ("test", "answers"),
    [
        ("paired t-test", ("cannot say", "holds", "cannot say")),
        ("Wilcoxon signed-rank test", ("cannot say", "cannot say", "cannot say")),
        ("Welch's t-test", ("holds", "holds", "cannot say")),
    ],
)
def test_without_a_star_a_paired_test_may_say_more(tmp_path, test, answers):
    """Its p falls with the correlation of the arms, below .05 unless deviations differ much."""
    text = (
        "| Method | CIFAR | SVHN |\n|---|---|---|\n| Base | 93.4 ± 0.2 | 96.1 ± 0.2 |\n"
        "| Ours | 93.5 ± 0.2 | 96.5 ± 9.9 |\n| Mid | 94.9 ± 0.2* | 96.8 ± 0.2* |\n"
        "| Big | 97.1 ± 0.2 | 97.8 ± 0.2 |\n\n"
        f"Mean and SD of 5 seeds. * p < .05 against Base by a {test}.\n"
    )
    rows, _ = audited(tmp_path, text, "a.md")
    names = ("Ours vs Base, CIFAR", "Ours vs Base, SVHN", "Big vs Base, CIFAR")
    same, wide, best = map(rows.get, names)
    paired = test.startswith("paired")
    assert (same.answer, wide.answer, best.answer) == answers
    assert ("the arms are correlated suitably" in same.reason) == paired
    assert test.startswith("Wilcoxon") == ("the value of every run" in best.reason)
    rows, _ = audited(tmp_path, text.replace(" of 5 seeds", ""), "b.md")
    starred = rows["Mid vs Base, CIFAR"]
    assert ("correlated suitably" in starred.reason) == paired
    assert (starred.answer == "cannot say") == (not test.startswith("Welch"))


STEPS = (
    "Mean ± SD of 5 runs; Welch's t-test{}.\n\n| Model | F1 | p{} |\n|---|---|---|\n"
    "| BiLSTM | 88.1 ± 0.4 | |\n| BERT | 90.2 ± 0.3 | <0.001{} |\n| Ours | 90.4 ± 0.3 | {} |\n"
)


@pytest.mark.parametrize(
    ("words", "head"),
    [
        ("; p values compare each model with the one above it", ""),
        (" against the best baseline", ""),
        (", each row against the previous row", ""),
        ("; p: Ours against BERT, BERT against BiLSTM", ""),
        ("", " vs previous"),
        ("", " (vs. next best)"),
    ],
)
@pytest.mark.parametrize("p", ["0.32", "<0.001"])
def test_words_that_name_another_row_for_each_p(tmp_path, words, head, p):
    """Neither the honest p against BERT is accused, nor does one against BiLSTM hold."""
    assert welch((90.4, 0.3, 5), (90.2, 0.3, 5)) == pytest.approx(0.323, abs=1e-3)
    rows, _ = audited(tmp_path, STEPS.format(words, head, "", p))
    assert {row.answer for row in rows.values()} == {"cannot say"}
    assert not any(row.graded for row in rows.values())


def test_a_p_that_fits_another_row_than_the_one_without_a_p(tmp_path):
    rows, _ = audited(tmp_path, STEPS.format("", "", "", "0.32"))
    assert [row.answer for row in rows.values()] == ["holds", "cannot say"]
    rows, _ = audited(tmp_path, STEPS.format("", "", "", "0.002"))
    assert rows["Ours vs BiLSTM, F1"].answer == "does not"  # nor is it one against BERT
    for words in (" against BiLSTM", " against the previous best BiLSTM"):
        rows, _ = audited(tmp_path, STEPS.format(words, "", "", "<0.001"))
        assert [row.answer for row in rows.values()] == ["holds", "holds"]
    rows, _ = audited(tmp_path, STEPS.format(" against BiLSTM", "", "", "0.32"))
    assert rows["Ours vs BiLSTM, F1"].answer == "does not"


def test_a_caption_or_the_option_that_names_the_other_row(tmp_path):
    for words, given in ((" against BERT", None), ("", "BERT")):
        rows, _ = audited(tmp_path, STEPS.format(words, "", "", "0.32"), baseline=given)
        assert rows["Ours vs BERT, F1"].answer == "holds"
        assert rows["BiLSTM vs BERT, F1"].p_printed is None


def test_a_column_of_p_that_names_two_of_three_methods(tmp_path):
    text = (
        "Mean ± SD, 10 runs. Two-sided Welch t-test.\n\n| Data | Base | Mixup | Ours | {} |\n"
        "|---|---|---|---|---|\n| A | 85.12 ± 0.45 | 85.25 ± 0.40 | 85.30 ± 0.52 | 0.81 |\n"
        "| B | 71.49 ± 0.38 | 71.80 ± 0.35 | 72.01 ± 0.41 | 0.023 |\n"
    )
    assert welch((85.30, 0.52, 10), (85.25, 0.40, 10)) == pytest.approx(0.812, abs=1e-3)
    rows, _ = audited(tmp_path, text.format("p (Ours vs Mixup)"))
    found = {name: row.answer for name, row in rows.items() if row.p_printed}
    assert found == {"Ours vs Mixup, A": "holds", "Ours vs Mixup, B": "does not"}
    rows, _ = audited(tmp_path, text.format("p (vs best)"))
    assert not any(row.p_printed for row in rows.values())


CLINICAL = (
    "Values are mean ± SD. {}\n\n| Variable | Control (n = 30) | Treated (n = 30) | P |\n"
    "|---|---|---|---|\n| CRP | 5.1 ± 1.9 | 6.4 ± 2.1 | 0.015 |\n"
    "| BMI | 24.1 ± 3.1 | 25.0 ± 3.0 | 0.02 |\n"
)


@pytest.mark.parametrize(
    "words",
    [
        "Student's t-test; P values adjusted for age and sex.",
        "Student's t-test on the change from baseline.",
        "P values are from ANCOVA adjusted for baseline.",
        "Linear mixed models (Satterthwaite t-tests) gave P.",
        "P by logistic regression.",
        "P values by GEE with age as a covariate.",
        "Repeated measures ANOVA.",
        "P by bootstrap with 10,000 draws.",
        "P by a permutation test.",
        "Comparisons by t-test; CRP was log-transformed.",
    ],
)
def test_words_that_p_is_not_of_the_printed_means(tmp_path, words):
    """One p fits Student's test (.0148) and one does not (.258): neither says anything."""
    rows, _ = audited(tmp_path, CLINICAL.format(words))
    assert {row.answer for row in rows.values()} == {"cannot say"}
    assert all(row.p_printed and not row.graded for row in rows.values())


@pytest.mark.parametrize(
    "words",
    [
        "Student's t-test.",
        "Student's t-test; the models were trained under covariate shift.",
        "Bootstrapped 95 % intervals are in the appendix. Student's t-test.",
        "Student's t-test, not adjusted for multiple comparisons.",
        "Student's t-test on random permutations of MNIST.",
    ],
)
def test_words_that_leave_p_that_of_the_means(tmp_path, words):
    rows, _ = audited(tmp_path, CLINICAL.format(words))
    assert [row.p_printed for row in rows.values() if row.answer == "holds"] == ["0.015"]


CORRECTED = (
    "Mean ± standard deviation over 10 runs. P values are from two-sided {} against the "
    "baseline, {}.\n\n| Method | Accuracy (%) | p |\n|---|---|---|\n| Baseline | 85.12 ± 0.45 | – |"
    "\n| Dropout | 85.55 ± 0.41 | {} |\n| Mixup | 85.60 ± 0.52 | {} |\n"
    "| CutMix | 85.49 ± 0.38 | {} |\n"
)


@pytest.mark.parametrize(
    ("words", "ps", "answers"),
    [
        ("Holm-corrected", "0.116 0.116 0.116", "holds holds holds"),
        ("Holm-corrected", "0.039 0.041 0.063", "cannot cannot cannot"),
        ("Holm-corrected", "0.150 0.116 0.116", "cannot holds holds"),
        ("Holm-corrected", "0.001 0.116 0.116", "does holds holds"),
        ("Bonferroni-corrected", "0.116 0.122 0.189", "holds holds holds"),
        ("Bonferroni-corrected", "0.039 0.041 0.063", "cannot cannot cannot"),
        ("Bonferroni-corrected", "0.232 0.244 0.378", "cannot cannot cannot"),  # a family of 6
        ("Tukey-corrected", "0.116 0.122 0.189", "cannot cannot cannot"),
        ("FDR-adjusted", "0.039 0.041 0.063", "cannot cannot cannot"),
        ("uncorrected", "0.039 0.041 0.063", "holds holds holds"),
        ("without Bonferroni correction", "0.039 0.041 0.063", "holds holds holds"),
    ],
)
def test_p_that_are_said_to_be_corrected(tmp_path, words, ps, answers):
    base = (85.12, 0.45, 10)
    arms = (85.55, 0.41, 10), (85.60, 0.52, 10), (85.49, 0.38, 10)
    raw = [welch(arm, base) for arm in arms]
    assert raw == pytest.approx([0.0386, 0.0408, 0.0629], abs=1e-4)
    assert 3 * raw[0] == pytest.approx(0.116, abs=1e-3)  # Holm's, and of the others at least
    rows, said = audited(tmp_path, CORRECTED.format("Welch's t-tests", words, *ps.split()))
    assert " ".join(row.answer.split()[0] for row in rows.values()) == answers
    assert words[0] not in "HB" or "Holm's correction is over" not in said


def test_a_corrected_p_of_a_test_that_takes_more_than_means(tmp_path):
    text = CORRECTED.format("paired t-tests", "Holm-corrected", "0.001", "0.116", "0.116")
    assert {row.answer for row in audited(tmp_path, text)[0].values()} == {"cannot say"}
    text = text.replace("paired t-tests", "Welch's t-tests").replace(" over 10 runs", "")
    rows, _ = audited(tmp_path, text)
    assert {row.answer for row in rows.values()} == {"cannot say"}
    rows, _ = audited(tmp_path, text.replace("0.001", "0.116"), n=10)
    assert {row.answer for row in rows.values()} == {"holds"}


STARRED = (
    "Mean ± SD of 10 runs. * {}.\n\n| Method | Acc |\n|---|---|\n| Base | 85.12 ± 0.45 |\n"
    "| Dropout | 85.55 ± 0.41{} |\n| Mixup | 84.90 ± 0.52 |\n| CutMix | 86.49 ± 0.38{} |\n"
)


@pytest.mark.parametrize(
    ("legend", "stars", "answers"),
    [
        ("p < .05 vs. Base (two-sided Welch's t-test)", "* *", "holds holds holds"),
        ("p < .05 vs. Base (two-sided Welch's t-test)", "* ", "holds holds cannot"),
        ("p < .05 vs. Base (two-sided Welch's t-test), no star: n.s", "* ", "holds holds does"),
        ("p < .05 vs. Base (two-sided Welch's t-test)", " *", "cannot holds holds"),  # ddof 0
        ("p < .01 vs. Base (two-sided Welch's t-test)", " *", "holds holds holds"),
        ("p < .05 vs. Base (Welch's t-test, Bonferroni-corrected)", " *", "holds holds holds"),
        ("p < .05 vs. Base (Welch's t-test, Bonferroni-corrected)", "* ", "cannot holds cannot"),
        ("significantly better than Base (Welch's t-test, p < .05)", "* ", "holds does cannot"),
        ("p < .05 vs. Base (Mann-Whitney test)", "* ", "cannot cannot cannot"),
        # where the test is not named, and where only some values were tested, no star says nothing
        ("p < .05 vs. Base", "* ", "holds does holds"),
        ("the best method differs from Base (Welch's t-test, p < .05)", "* ", "holds does holds"),
    ],
)
def test_no_star_says_that_a_difference_is_not_significant(tmp_path, legend, stars, answers):
    base = (85.12, 0.45, 10)
    arms = (85.55, 0.41, 10), (84.90, 0.52, 10), (86.49, 0.38, 10)
    assert [welch(each, base) for each in arms] == pytest.approx([0.0386, 0.325, 9.4e-7], rel=0.01)
    rows, _ = audited(tmp_path, STARRED.format(legend, *stars.split(" ")))
    assert " ".join(row.answer.split()[0] for row in rows.values()) == answers


def test_a_worse_value_has_no_star_where_stars_mark_the_better(tmp_path):
    text = STARRED.replace("84.90", "83.90")
    assert welch((83.90, 0.52, 10), (85.12, 0.45, 10)) < 1e-4
    for legend, marked in (("significantly better than Base", 0), ("differs from Base", 1)):
        said = f"{legend} (Welch's t-test, p < .05)"
        rows, _ = audited(tmp_path, text.format(said, "*", "*"))
        row = rows["Mixup vs Base, Acc"]
        assert (row.graded, row.answer) == (False, "cannot say" if marked else "holds")
        assert ("star is missing, or the row was not tested" in row.reason) == bool(marked)


def test_stars_of_our_method_alone_say_nothing_of_others(tmp_path):
    text = STARRED.format("p < .05 vs. Base (Welch's t-test)", "", "*").replace("CutMix", "Ours")
    rows, _ = audited(tmp_path, text.replace("85.55", "86.55"))
    assert welch((86.55, 0.41, 10), (85.12, 0.45, 10)) < 1e-5
    assert [row.answer for row in rows.values()] == ["holds", "does not", "holds"]
    assert [bool(row.p_printed) for row in rows.values()] == [False, False, True]


def test_no_star_though_a_paired_test_is_significant_for_every_correlation(tmp_path):
    text = (
        "# Paired t-test over 10 seeds against SGD, * p < 0.05\nOptimizer,Acc (mean ± std)\n"
        "SGD,93.41 ± 0.22\nAdam,93.55 ± 0.25*\nLion,92.90 ± 0.31\nAdamW,93.50 ± 0.31\n"
    )
    most = 2 * stats.t.sf((93.41 - 92.90 - 0.01) / ((0.225 + 0.315) / 10**0.5), 9)
    assert most == pytest.approx(0.017, abs=1e-3)
    rows, _ = audited(tmp_path, text, "a.csv")
    assert [row.answer for row in rows.values()] == ["cannot say", "cannot say", "cannot say"]
    rows, _ = audited(tmp_path, text.replace("0.05", "0.05; no star: n.s."), "a.csv")
    assert [row.answer for row in rows.values()] == ["cannot say", "does not", "cannot say"]


def test_one_sided_p_of_both_signs(tmp_path):
    text = (
        "Mean ± SD of 10 runs; p of one-sided Welch t-tests (Ours better).\n\n"
        "| Method | Acc | p |\n|---|---|---|\n| Ours | 86.49 ± 0.38 | – |\n"
        "| Base | 85.12 ± 0.45 | <0.001 |\n| Mixup | 86.30 ± 0.52 | 0.18 |\n"
        "| CutMix | 86.62 ± 0.41 | {} |\n"
    )
    p = welch((86.62, 0.41, 10), (86.49, 0.38, 10)) / 2
    assert (p, 1 - p) == pytest.approx((0.236, 0.764), abs=1e-3)
    rows, _ = audited(tmp_path, text.format("0.24"))
    assert {row.answer for row in rows.values()} == {"cannot say"}
    rows, _ = audited(tmp_path, text.format("0.76"))
    assert {row.answer for row in rows.values()} == {"holds"}


def test_letters_of_significance_are_not_contradicted(tmp_path):
    """Tukey's test pools the deviations, and may find what Welch's with Holm does not."""
    text = (
        "Mean ± SE, n = 6 plots. Means followed by the same letter do not differ significantly "
        "(Tukey HSD, p < 0.05).\n\n| Treatment | Yield |\n|---|---|\n| Control | 4.12 ± 0.15 c |\n"
        "| N60 | 5.31 ± 0.18 b |\n| N120 | 6.02 ± 0.14 a |\n| N180 | 6.10 ± 0.20 a |\n"
    )
    rows, _ = audited(tmp_path, text)
    assert {row.answer for row in rows.values()} == {"holds", "cannot say"}
    assert "letters" in rows["N120 vs N180, Yield"].reason
    plain = text.replace("same letter do not differ significantly", "letter of their block")
    rows, _ = audited(tmp_path, plain)
    assert rows["N120 vs N180, Yield"].answer == "does not"
