"""What ± is, n, p and its test, as captions, headers, cells and marks of printed tables say them.

Answers are computed apart by scipy and statsmodels, from the numbers typed out again in each case.
"""

from __future__ import annotations

import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from repro.audit.audit import audit_paths
from repro.audit.printed_pairs import Decided
from repro.errors import SpecError
from tests.audit.printed import audited, welch


def test_runs_and_spread_are_those_of_their_row_or_column(tmp_path):
    text = "| Method | Acc (std, n=5) | F1 (se) |\n|---|---|---|\n"
    text += "| Plain | 71.2 ± 0.4 | 10.10 ± 0.20 |\n| Ours | 73.0 ± 0.5 | 11.40 ± 0.30 |\n"
    rows, _ = audited(tmp_path, text)
    first, second = rows["Ours vs Plain, Acc (std, n=5)"], rows["Ours vs Plain, F1 (se)"]
    assert (first.answer, "by every reading" in first.reason) == ("holds", True)
    assert (second.answer, "Decide it by --n" in second.reason) == ("cannot say", True)
    rows, _ = audited(tmp_path, text, n=12)
    alone = [
        welch((73.0, 0.5, 5), (71.2, 0.4, 5)),
        welch((11.4, 0.3 * 12**0.5, 12), (10.1, 0.2 * 12**0.5, 12)),
    ]
    after = multipletests(alone, method="holm")[1]
    for row, p, q in zip(rows.values(), alone, after, strict=True):
        assert f"yes (p = {p:.3g}); after Holm: yes (p = {q:.3g})" in row.reason


def test_a_95_percent_interval_is_one_of_t_or_of_z(tmp_path):
    """With few runs they differ, and an answer stands only where both give it."""
    text = "| Model | PPL ↓ |\n|---|---|\n| A | 24.10 ± 0.30 |\n| B | {} |\n\n± 95% CI of 3 runs.\n"
    by = {"ci95-t": 3**0.5 / stats.t.ppf(0.975, 2), "ci95-z": 3**0.5 / stats.norm.ppf(0.975)}
    for printed, answer in (("23.65 ± 0.20", "cannot say"), ("21.90 ± 0.20", "holds")):
        ((name, row),) = audited(tmp_path, text.format(printed))[0].items()
        assert row.answer == answer
        mean = float(printed[:5])
        for reading, factor in by.items():
            p = welch((mean, 0.2 * factor, 3), (24.1, 0.3 * factor, 3))
            alone = audited(
                tmp_path, text.format(printed).replace("95% CI", "x"), plus_minus=reading
            )
            assert f"(p = {p:.3g})" in alone[0][name].reason
            assert (p < 0.05) == ("yes" in alone[0][name].reason)
    text = text.format("23.65 ± 0.20").replace("3 runs", "600 runs")
    assert audited(tmp_path, text)[0][name].p_welch is not None  # of so many they are one


@pytest.mark.parametrize(
    ("cell", "mean"),
    [
        ("12.0 ± 0.5^b", 12.0),
        ("12.0 ± 0.5<sup>b</sup>", 12.0),
        ("12.0 (11.5-12.5)", 12.0),
    ],
)
def test_marks_behind_a_value_are_not_of_it(tmp_path, cell, mean):
    text = f"| Method | Loss |\n|---|---|\n| A | 14.0 (0.5) |\n| B | {cell} |\n"
    reading = "ci95-t" if "-" in cell else "sd"
    (row,) = audited(tmp_path, text, n=5, plus_minus="sd")[0].values()
    by = 5**0.5 / stats.t.ppf(0.975, 4) if reading == "ci95-t" else 1
    p = welch((mean, 0.5 * by, 5), (14.0, 0.5, 5))
    assert p < 0.05
    assert row.answer == "holds"


def test_not_significant_behind_a_value_is_a_claim(tmp_path):
    text = "| Model | Dice |\n|---|---|\n| U-Net | 7.0 (0.5) |\n| A | 9.0 (0.5)* |\n"
    text += "| B | 9.1 (0.5) n.s. |\n\n* p<.05 against U-Net; mean (SD) of 9 runs.\n"
    rows, _ = audited(tmp_path, text)
    assert rows["A vs U-Net, Dice"].answer == "holds"
    assert rows["B vs U-Net, Dice"].answer != "holds"


def test_a_command_of_latex_stands_for_what_it_means(tmp_path):
    table = r"\begin{tabular}{lc}Method & Acc \\ A & 48.70\std{0.84} \\ B & 53.11\std{0.92} \\"
    table += r"\end{tabular}"
    for said in (
        r"\newcommand{\std}[1]{\scriptsize{$\pm$#1}}",
        r"\def\std#1{\,{\tiny $\pm$#1}}",
        "",
    ):
        (row,) = audited(tmp_path, f"{said}\n{table}\n", "t.tex", n=5, plus_minus="sd")[0].values()
        assert row.p_welch == pytest.approx(welch((53.11, 0.92, 5), (48.7, 0.84, 5)))


@pytest.mark.parametrize("across", [False, True])
def test_methods_may_have_their_numbers_of_runs_in_their_names(tmp_path, across):
    text = "| Method | Acc |\n|---|---|\n"
    text += "| Plain (n=5) | 71.2 ± 0.4 |\n| Ours (8 seeds) | 72.0 ± 0.5 |\n"
    if across:
        text = "| Data set | Plain (n=5) | Ours (8 seeds) |\n|---|---|---|\n"
        text += "| Iris (n=150) | 71.2 ± 0.4 | 72.0 ± 0.5 |\n"
    rows, _ = audited(tmp_path, text, plus_minus="sd", better="higher")
    (row,) = rows.values()
    assert f"yes (p = {welch((72.0, 0.5, 8), (71.2, 0.4, 5)):.3g})" in row.reason


@pytest.mark.parametrize("name", ["Data set", "Method"])
def test_how_many_items_a_data_set_has_is_no_number_of_runs(tmp_path, name):
    text = f"| {name} | A | B |\n|---|---|---|\n| Iris (n=150) | 71.2 ± 0.4 | 72.0 ± 0.5 |\n"
    if name == "Method":
        text = "| Method | Acc |\n|---|---|\n| A | 71.2 ± 0.4 |\n| B | 72.0 ± 0.5 |\n"
        text += "\nOn n = 150 images.\n"
    rows, _ = audited(tmp_path, text, plus_minus="sd")
    (row,) = rows.values()
    assert (row.answer, "Decide it by --n" in row.reason) == ("cannot say", True)


@pytest.mark.parametrize(
    ("caption", "factor"),
    [
        ("mean and standard deviation of 5 runs", 1),
        ("mean and std. error of 5 runs", 5**0.5),
        ("Error bars are two standard errors over 5 runs", 5**0.5 / 2),
        ("± 2 SE, n = 5", 5**0.5 / 2),
        ("± 1.96 standard errors of 5 runs", 5**0.5 / 1.96),
        ("mean ± two standard deviations over 5 seeds", 1 / 2),
        ("± 2σ of 5 runs", 1 / 2),
        ("mean ± 0.5 std over 5 seeds", 2),
        ("half a standard deviation of 5 runs", 2),
        ("1.5 standard deviations, 5 runs", 2 / 3),
        ("double the standard error of 5 runs", 5**0.5 / 2),
        ("n = 5 for each method; Base has 0.93 std 0.02", 1),
        ("std, at least 0.0 std, of 5 runs", 1),
        *(
            (f"{level}% confidence intervals of 100 runs", 10 / stats.t.ppf(0.5 + level / 200, 99))
            for level in (68, 90, 95, 99)
        ),
    ],
)
def test_a_caption_says_how_many_deviations_or_errors(tmp_path, caption, factor):
    """And of which level an interval is: 68 % are one error, about, and 99 % two and a half."""
    text = "| Method | Acc |\n|---|---|\n| Base | 84.10 ± 0.90 |\n| Ours | 85.40 ± 0.50 |\n"
    (row,) = audited(tmp_path, f"{text}\n{caption}\n")[0].values()
    n = 100 if "100" in caption else 5
    p = welch((85.4, 0.5 * factor, n), (84.1, 0.9 * factor, n))
    assert f"(p = {p:.3g})" in row.reason
    assert row.answer == ("holds" if p < 0.05 else "does not")


@pytest.mark.parametrize(
    "caption",
    [
        "Average of the best 3 of 10 runs",
        "top 3 of 20 seeds",
        "5-fold cross-validation, repeated 10 times",
        "5 evaluation runs of one trained model",
        "Average of 5 runs (3 for Base)",
        "5 seeds except Base (single run)",
        "two random seeds and three splits",
        "5 leave-one-out splits",
        "10 seeds of one policy trained once",
    ],
)
def test_n_is_a_number_of_independent_runs(tmp_path, caption):
    text = "| Method | Acc |\n|---|---|\n| Base | 84.1 ± 0.9 |\n| Ours | 85.4 ± 0.5 |\n"
    (row,) = audited(tmp_path, f"{text}\n{caption}, with standard deviation.\n")[0].values()
    assert (row.answer, "Decide it by --n" in row.reason) == ("cannot say", True)


NAMED = """\
Mean (standard deviation) over 20 random seeds. {} against Adam; **p < 0.01, *p < 0.05.

| Optimizer | CIFAR-10 | CIFAR-100 |
|---|---|---|
| Adam | 93.12 (0.25) | 72.04 (0.41) |
| SGD | 93.30 (0.21)** | 73.05 (0.35)** |
| Lion | 93.15 (0.30) | 72.10 (0.52)** |
"""


@pytest.mark.parametrize("told", [True, False])
def test_a_test_that_the_caption_names_is_the_one_that_is_computed(tmp_path, told):
    rows, _ = audited(tmp_path, NAMED.format("two-sided Welch's t-test" if told else "Tested"))
    lion, sgd = rows["Lion vs Adam, CIFAR-100"], rows["SGD vs Adam, CIFAR-10"]
    assert welch((72.1, 0.52, 20), (72.04, 0.41, 20)) > 0.6
    assert lion.answer == ("does not" if told else "cannot say")
    assert (lion.grade == "DECISION-INCONSISTENT") == told
    assert 0.01 < welch((93.3, 0.21, 20), (93.12, 0.25, 20)) < 0.02
    assert sgd.answer == ("does not" if told else "cannot say")
    rows, _ = audited(tmp_path, NAMED.format("Bonferroni-corrected Welch's t-tests"))
    assert rows["Lion vs Adam, CIFAR-100"].answer == "does not"  # no correction makes p smaller


def test_a_column_may_name_the_test(tmp_path):
    text = "method,mean,sd,n,p,test\nAdam,72.04,0.41,20,,\nLion,72.10,0.52,20,0.004,welch\n"
    (row,) = audited(tmp_path, text)[0].values()
    assert (row.answer, row.grade) == ("does not", "DECISION-INCONSISTENT")


@pytest.mark.parametrize(
    "caption",
    [
        "Median and interquartile range over 10 seeds",
        "± is half of the min-max range over 10 seeds",
        "mean and variance of 10 runs",
        "standard deviation over 10 bootstrap replicates",
    ],
)
def test_a_range_is_not_taken_for_a_deviation(tmp_path, caption):
    text = "| Method | Acc |\n|---|---|\n| Base | 84.10 ± 0.90 |\n| Ours | 84.80 ± 0.90 |\n"
    (row,) = audited(tmp_path, f"{text}\n{caption}\n")[0].values()
    assert row.answer == "cannot say"


@pytest.mark.parametrize("reading", ["ci95-t", "ci95-z"])
def test_the_level_of_an_interval_is_that_of_the_table(tmp_path, reading):
    text = "| Method | Acc |\n|---|---|\n| Base | 84.10 ± 0.90 |\n| Ours | 85.40 ± 0.50 |\n"
    text += "\nMean with 90% confidence intervals over 5 seeds.\n"
    (row,) = audited(tmp_path, text, plus_minus=reading)[0].values()
    of = stats.t(4).ppf(0.95) if reading == "ci95-t" else stats.norm.ppf(0.95)
    p = welch((85.4, 0.5 * 5**0.5 / of, 5), (84.1, 0.9 * 5**0.5 / of, 5))
    assert f"(p = {p:.3g})" in row.reason


@pytest.mark.parametrize(
    "cell",
    [
        r"\num{53.11 +- 0.92}",
        r"\SI{53.11 \pm 0.92}{\percent}",
        r"$53.11_{\scriptstyle\pm\,0.92}$",
        r"$53.11 \mathbin{\pm} 0.92$",
        r"53.11 \textcolor{gray}{$\pm$0.92}",
        r"\textbf{53.11} \std{0.92}",
        r"\ms{53.11}{0.92}",
    ],
)
def test_cells_of_latex(tmp_path, cell):
    table = r"\newcommand{\ms}[2]{#1$_{\pm #2}$}" + "\n" + r"\begin{tabular}{lc}Method & Acc \\"
    table += rf" A & 48.70$\pm$0.84 \\ B & {cell} \\ \end{{tabular}}"
    (row,) = audited(tmp_path, table, "t.tex", n=5, plus_minus="sd")[0].values()
    assert row.p_welch == pytest.approx(welch((53.11, 0.92, 5), (48.7, 0.84, 5)))


@pytest.mark.parametrize("swapped", [True, False])
@pytest.mark.parametrize("decided", [{}, {"better": "higher"}, {"baseline": "Base"}])
def test_the_p_of_a_row_is_of_its_two_values(tmp_path, swapped, decided):
    """Whichever of them is better, named or first."""
    base, ours = ("84.1 ± 0.9", "83.1 ± 0.9"), ("85.4 ± 0.5", "83.4 ± 0.5")
    first, second = (ours, base) if swapped else (base, ours)
    heads = "Ours | Base" if swapped else "Base | Ours"
    text = f"| Metric | {heads} | p |\n|---|---|---|---|\n"
    text += f"| Accuracy | {first[0]} | {second[0]} | 0.60 |\n"
    text += f"| F1 | {first[1]} | {second[1]} | 0.001 |\n\nmean ± sd of 10 runs, Welch's t-test\n"
    rows, _ = audited(tmp_path, text, **decided)
    assert welch((85.4, 0.5, 10), (84.1, 0.9, 10)) < 0.01
    assert welch((83.4, 0.5, 10), (83.1, 0.9, 10)) > 0.3
    assert {row.p_printed for row in rows.values()} == {"0.60", "0.001"}
    assert {row.grade for row in rows.values()} == {"DECISION-INCONSISTENT"}


def test_a_p_of_three_values_in_a_row_is_said_to_be_of_none(tmp_path):
    text = "| Metric | A | B | C | p |\n|---|---|---|---|---|\n"
    text += "| Accuracy | 84.1 ± 0.9 | 85.4 ± 0.5 | 83.1 ± 0.9 | 0.60 |\n"
    rows, said = audited(tmp_path, text, n=10, plus_minus="sd")
    assert all(row.p_printed is None for row in rows.values())
    assert "Nothing says which two values the p of a row compares" in said


def test_each_column_has_the_p_behind_it(tmp_path):
    text = "| Method | Accuracy | p | F1 | p (F1) |\n|---|---|---|---|---|\n"
    text += "| Base | 84.1 ± 0.9 | - | 83.1 ± 0.9 | - |\n"
    text += "| Ours | 85.4 ± 0.5 | 0.001 | 83.4 ± 0.5 | 0.001 |\n"
    rows, _ = audited(tmp_path, f"{text}\nmean ± sd of 10 runs, two-sided Welch's t-test\n")
    assert rows["Ours vs Base, Accuracy"].answer == "holds"
    assert rows["Ours vs Base, F1"].grade == "DECISION-INCONSISTENT"


def test_two_numbers_of_runs_that_differ_are_neither(tmp_path):
    text = (
        "| Method | Accuracy (n = 200) |\n|---|---|\n| Base | 84.1 ± 0.9 |\n| Ours | 85.4 ± 0.5 |\n"
    )
    rows, _ = audited(tmp_path, f"{text}\nMean and sd over 5 seeds\n")
    (row,) = rows.values()
    assert (row.answer, "Decide it by --n" in row.reason) == ("cannot say", True)


@pytest.mark.parametrize(
    "cell",
    [
        "12.0 ± 0.5<sup>1</sup>", "12.0 ± 0.5^1", "12.0 ± 0.5¹", "12.0 ± 0.5[^1]", "12.0 ± 0.5ᵃ",
        "***12.0 ± 0.5***", "*12.0 ± 0.5*", "<u>12.0 ± 0.5</u>",
        "<b>12.0 ± 0.5</b>",
        "12.0 &plusmn; 0.5", r"$\mathbf{12.0} \pm \mathbf{0.5}$", "**12.0** ± **0.5**",
    ],
)  # fmt: skip
def test_forms_of_a_value(tmp_path, cell):
    text = f"| Method | Loss |\n|---|---|\n| A | 14.0 ± 0.5 |\n| B | {cell} |\n"
    (row,) = audited(tmp_path, text, n=5, plus_minus="sd")[0].values()
    assert row.p_welch == pytest.approx(welch((12.0, 0.5, 5), (14.0, 0.5, 5)))


def test_a_power_of_ten_is_not_a_footnote(tmp_path):
    text = "| Method | Loss |\n|---|---|\n| A | 10<sup>3</sup> |\n| B | 12.0 ± 0.5 |\n"
    with pytest.raises(SpecError):
        audited(tmp_path, text, n=5, plus_minus="sd")


def test_each_row_may_name_its_test(tmp_path):
    text = (
        "method,mean,sd,n,p,test\nA,72.04,0.41,20,,\nB,72.10,0.52,20,0.004,wilcoxon signed-rank\n"
    )
    text += "C,72.10,0.52,20,0.004,welch\n"
    rows, _ = audited(tmp_path, text)
    assert (rows["B vs A, mean"].answer, rows["C vs A, mean"].answer) == ("cannot say", "does not")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("Student networks of a distilled teacher.", False),
        ("Student's t-test.", True),
        ("Welch's t-test; a permutation-invariant encoder with bias-corrected Adam.", True),
        ("Teacher and student, Welch's t-test.", True),
    ],
)
def test_words_of_other_things_name_no_test(tmp_path, words, named):
    rows, _ = audited(tmp_path, NAMED.format("Tested").replace("Mean", f"{words} Mean"))
    assert (rows["Lion vs Adam, CIFAR-100"].grade == "DECISION-INCONSISTENT") == named


def test_a_footnote_of_html_is_not_a_digit(tmp_path):
    cells = [("A", "14.0 &plusmn; 0.3<sup>1</sup>"), ("B<sup>a</sup>", "93.1<sup>2</sup> ± 0.5")]
    body = "".join(f"<tr><td>{name}</td><td>{cell}</td></tr>" for name, cell in cells)
    text = f"<table><tr><th>Method</th><th>Acc</th></tr>{body}</table>"
    ((name, row),) = audited(tmp_path, text, "t.html", n=5, plus_minus="sd")[0].items()
    assert name == "Ba vs A, Acc"
    assert row.p_welch == pytest.approx(welch((93.1, 0.5, 5), (14.0, 0.3, 5)))


@pytest.mark.parametrize(
    ("caption", "answer"),
    [("90% confidence intervals", "level"), ("median [IQR]", "cannot"), ("min and max", "cannot")],
)
def test_what_stands_in_brackets_is_what_the_caption_says(tmp_path, caption, answer):
    text = "| Method | Acc |\n|---|---|\n"
    text += "| A | 84.10 [83.20, 85.00] |\n| B | 85.40 [84.90, 85.90] |\n"
    (row,) = audited(tmp_path, f"{text}\n{caption}, 200 runs\n")[0].values()
    if answer == "cannot":
        assert (row.answer, "a range" in row.reason) == ("cannot say", True)
    else:
        by = 200**0.5 / stats.t.ppf(0.95, 199)
        p = welch((85.4, 0.5 * by, 200), (84.1, 0.9 * by, 200))
        assert f"(p = {p:.3g})" in row.reason


@pytest.mark.parametrize(
    ("caption", "open_"),
    [
        ("Median accuracy over 5 runs (standard deviation in parentheses)", True),
        ("We report medians across 5 random seeds, with standard deviations", True),
        ("Median score, mean and standard deviation over 5 runs", False),
        ("Mean and standard deviation over 5 runs; the median game is Pong", False),
    ],
)
def test_medians_of_runs_are_not_judged_as_means(tmp_path, caption, open_):
    text = (
        f"{caption}.\n\n| Method | Accuracy |\n|---|---|\n| A | 90.0 (0.5) |\n| B | 92.0 (0.4) |\n"
    )
    (row,) = audited(tmp_path, text)[0].values()
    assert (row.answer == "cannot say", "of medians" in row.reason) == (open_, open_)
    if not open_:
        assert f"(p = {welch((92.0, 0.4, 5), (90.0, 0.5, 5)):.3g})" in row.reason


@pytest.mark.parametrize(
    "caption",
    [
        "Mean ± standard deviation of 4 runs, of which the worst was discarded",
        "Mean ± std of 5 runs; failed runs are excluded",
        "Mean ± std over 5 seeds, trimmed of the best and worst run",
        "Mean ± std over 5 seeds, after dropping the lowest",
        "Mean ± std over 5 seeds with outliers removed",
        "Mean ± std over 5 seeds (diverged runs are left out)",
        "Max over 5 seeds; ± the standard deviation",
        "Peak accuracy over 5 seeds ± std",
        "Highest accuracy of 5 runs, ± is the standard deviation",
        "Mean (of maxima) ± std, 5 seeds",
        "± is the standard deviation divided by 2, 5 runs",
        "Mean ± RMSE, 5 seeds",
        "Mean ± CV (%) of 5 runs",
        "Geometric mean ± geometric SD of 5 runs",
    ],
)
@pytest.mark.parametrize("head", ["Acc", "Acc (mean ± SD)"])
def test_words_that_take_the_basis_of_a_test_away(tmp_path, caption, head):
    """Runs left out by their results make a deviation too small; others are no deviations."""
    table = f"| Method | {head} |\n|---|---|\n| Base | 93.1 ± 0.3 |\n| Ours | 94.6 ± 0.4 |\n"
    (row,) = audited(tmp_path, f"{caption}.\n\n{table}", "a.md")[0].values()
    chosen = "chosen" in row.reason
    assert row.answer == "cannot say" or (head != "Acc" and not chosen)
    if head == "Acc":
        (row,) = audited(tmp_path, table, "a.md", n=5, plus_minus="sd")[0].values()
        assert row.answer == "holds"


@pytest.mark.parametrize(
    "caption",
    [
        "Mean ± std over 5 seeds; the best is in bold",
        "Mean ± std over 5 seeds with dropout; the highest mean over 5 seeds is in bold",
        "Mean ± std over 5 seeds; we remove duplicates from the test set",
        "Mean ± std over 5 seeds; RMSE is in the appendix",
    ],
)
def test_words_that_leave_the_basis(tmp_path, caption):
    table = "| Method | Acc |\n|---|---|\n| Base | 93.1 ± 0.3 |\n| Ours | 94.6 ± 0.4 |\n"
    (row,) = audited(tmp_path, f"{caption}.\n\n{table}", "a.md")[0].values()
    assert row.answer == "holds"


def test_columns_of_errors_and_bounds_are_not_compared(tmp_path):
    text = "Method,Acc,std error,lower,upper,n\nA,84.1,0.9,83,85,5\nB,85.4,0.5,84,86,5\n"
    ((name, row),) = audited(tmp_path, text, "t.csv")[0].items()
    assert name == "B vs A, Acc"
    assert row.p_welch == pytest.approx(welch((85.4, 0.5 * 5**0.5, 5), (84.1, 0.9 * 5**0.5, 5)))


def test_a_test_of_ranks_needs_the_values(tmp_path):
    rows, _ = audited(tmp_path, NAMED.format("Wilcoxon signed-rank test"))
    assert "takes the value of every run" in rows["Lion vs Adam, CIFAR-100"].reason


@pytest.mark.parametrize(
    "legend",
    [
        "* p < .05, ** p < .01",
        "*, ** denote p < .05, .01",
        "* and ** mean significant at p < 0.05 and p < 0.01",
        "*/**: p < .05/.01",
    ],
)
def test_a_legend_of_stars(tmp_path, legend):
    text = "| Model | Dice |\n|---|---|\n| U-Net | 7.0 (0.5) |\n| A | 9.0 (0.5)** |\n"
    text += f"| B | 7.1 (0.5)** |\n\nMean (SD) of 9 runs against U-Net, Welch's test; {legend}.\n"
    rows, _ = audited(tmp_path, text)
    assert rows["A vs U-Net, Dice"].answer == "holds"
    assert rows["B vs U-Net, Dice"].answer == "does not"


def test_percent_and_shares_are_not_compared(tmp_path):
    text = "| Method | Acc |\n|---|---|\n| A | 84.1 % ± 0.9 |\n| B | 0.854 ± 0.005 |\n"
    with pytest.raises(SpecError, match=r"84\.1 is in percent, and 0\.854 looks like a share"):
        audited(tmp_path, text, n=5, plus_minus="sd")


def test_a_caption_above_a_csv_says_which_way_is_better(tmp_path):
    text = '"Balanced error rate, mean over 10 seeds (standard deviation)",,\n'
    text += "dataset,auto-sklearn,auto-WEKA\nCifar-10,51.70 (0.20),56.95 (0.52)\n"
    rows, said = audited(tmp_path, text, "t.csv", methods="columns")
    assert list(rows) == ["auto-sklearn vs auto-WEKA, Cifar-10"]
    assert "Higher is taken" not in said


@pytest.mark.parametrize(
    "name", ["Men, n (%)", "Men, No. (%)", "Sex = male (%)", "Age, median (IQR)"]
)
def test_counts_with_their_percent_are_not_means(tmp_path, name):
    """Of 48 and 51 people: .012 is the p of chi-squared, and no t-test gives it."""
    text = "| Characteristic | A (n = 48) | B (n = 51) | p |\n|---|---|---|---|\n"
    text += "| Age, mean (SD) | 64.1 (9.0) | 60.2 (9.5) | .04 |\n"
    text += f"| {name} | 30 (62.5) | 19 (37.3) | .012 |\n"
    rows, _ = audited(tmp_path, text, methods="columns")
    age, men = rows.values()
    assert (age.answer, men.answer) == ("holds", "cannot say")
    assert welch((64.1, 9.0, 48), (60.2, 9.5, 51)) == pytest.approx(0.04, abs=0.003)
    text += "\nTwo-sided Welch t tests for continuous, chi-square tests for other variables.\n"
    rows, _ = audited(tmp_path, text, methods="columns")
    assert [row.answer for row in rows.values()] == ["holds", "cannot say"]


def test_columns_named_std_dev_are_deviations(tmp_path):
    text = "Method,Accuracy [%],Std. dev.,Runs\nBaseline,84.1,0.9,5\nOurs,85.4,0.5,5\n"
    (row,) = audited(tmp_path, text, "t.csv")[0].values()
    assert row.p_welch == pytest.approx(welch((85.4, 0.5, 5), (84.1, 0.9, 5)))


@pytest.mark.parametrize("head", ["P value vs. Base", "p vs Base", "P (vs. Base)", "p"])
def test_columns_of_p_may_name_the_other_side(tmp_path, head):
    text = f"| Method | Acc | {head} | F1 | {head} | Difference (95% CI) |\n"
    text += "|---|---|---|---|---|---|\n"
    text += "| Base | 84.1 (0.9) | - | 83.1 (0.9) | - | - |\n"
    text += "| Ours | 85.4 (0.5) | .60 | 83.4 (0.5) | .37 | 1.3 (0.6 to 2.0) |\n"
    rows, _ = audited(tmp_path, f"{text}\nMean (SD) over 10 seeds; two-sided Welch t tests.\n")
    assert rows["Ours vs Base, Acc"].grade == "DECISION-INCONSISTENT"
    assert rows["Ours vs Base, F1"].answer == "holds"


@pytest.mark.parametrize("heads", ["p (MSE) | p (MAE)", "p (MAE) | p (MSE)"])
def test_columns_of_p_are_of_what_they_name(tmp_path, heads):
    ps = {"p (MSE)": "<0.001", "p (MAE)": "0.05"}
    text = f"| Method | MSE | MAE | {heads} |\n|---|---|---|---|---|\n"
    text += "| Base | 8.41 (0.09) | 8.31 (0.09) | - | - |\n| Ours | 8.20 (0.05) | 8.25 (0.02) | "
    text += " | ".join(ps[head] for head in heads.split(" | ")) + " |\n"
    rows, _ = audited(tmp_path, f"{text}\nMean (SD) over 10 seeds; two-sided Welch t tests.\n")
    assert welch((8.2, 0.05, 10), (8.41, 0.09, 10)) < 0.001
    assert {name: row.p_printed for name, row in rows.items()} == {
        "Ours vs Base, MSE": "<0.001",
        "Ours vs Base, MAE": "0.05",
    }
    assert rows["Ours vs Base, MSE"].answer == "holds"


def test_the_best_is_judged_by_errors_where_the_table_prints_errors(tmp_path):
    """By t = 1.05 nothing is ruled out; taken for deviations, two would be."""
    text = "| Method | RMSE |\n|---|---|\n| VI | 4.32 ± 0.29 |\n| PBP | 3.01 ± 0.18 |\n"
    text += "| Dropout | 2.97 ± 0.19 |\n\nMean ± standard error over 20 splits.\n"
    _, said = audited(tmp_path, text)
    by, n = 20**0.5, 20
    assert welch((2.97, 0.19 * by, n), (3.01, 0.18 * by, n)) > 0.8
    assert "Dropout, PBP may be the best; ruled out: VI" in said or (
        "PBP, Dropout may be the best; ruled out: VI" in said
    )


def test_a_text_of_many_commands_is_read_in_time(tmp_path):
    """The first hundred count: each is looked for in every cell."""
    many = "".join(
        f"\\newcommand{{\\{'m' * (1 + n % 60)}{'x' * (n // 60)}}}[1]{{#1#1}}\n" for n in range(3000)
    )
    table = r"\begin{tabular}{lc}Method & Acc \\ A & 48.70$\pm$0.84 \\ B & 53.11$\pm$0.92 \\"
    text = f"{many}{table}\\end{{tabular}}"
    (row,) = audited(tmp_path, text, "t.tex", n=5, plus_minus="sd")[0].values()
    assert row.p_welch == pytest.approx(welch((53.11, 0.92, 5), (48.7, 0.84, 5)))


VIRAL = """| Characteristic | Low VL{low} | High VL{high} | P-value |
|---|---|---|---|
| Age, mean (SD) | 60.3 (17.8) | 64.1 (18.1) | <0.001 |
| Weight, mean (SD) | 80.3 (17.8) | 81.1 (18.1) | 0.05 |

{note}
"""


@pytest.mark.parametrize(
    ("low", "high", "note", "n"),
    [
        (" (n=3,990)", " (n=3,990)", "", 3990),
        (" (n=3 990)", " (n=3’990)", "", 3990),
        ("", "", "n = 1,250 per group", 1250),
        ("", "", "n=30 (15 per group)", 15),
        ("", "", "N=30, 15 per group", 15),
        (" (n=3.990)", " (n=3.990)", "", None),
        ("", "", "n=5-10 animals", None),
        ("", "", "n = 3\N{EN DASH}6 mice", None),
        ("", "", "n = 3\N{EN DASH}6 mice per group", None),
        ("", "", "n=3-6 per group", None),
        ("", "", "n = 3 to 6 mice per group", None),
        ("", "", "3\N{EN DASH}6 mice per group", None),
        ("", "", "3 independent experiments with 6 replicates each", None),
        ("", "", "Total N=60", None),
        ("", "", "n = 5 vs. 3", None),
        ("", "", "n = 5/3", None),
        ("", "", "n = 5, 3", None),
        ("", "", "n = 10 and 3, respectively", None),
        ("", "", "mean and SD (n = 5, 95 % CI in the appendix)", 5),
        ("", "", "a fixed set of 10 seeds, but the number of episodes differs", None),
    ],
)
def test_a_number_of_runs_is_whole_and_of_one_arm(tmp_path, low, high, note, n):
    rows, _ = audited(tmp_path, VIRAL.format(low=low, high=high, note=note))
    age, weight = rows.values()
    if n is None:
        assert age.p_welch is None
        assert "n" in age.reason
    else:
        assert age.p_welch == pytest.approx(welch((60.3, 17.8, n), (64.1, 18.1, n)), rel=1e-6)
        assert weight.p_welch == pytest.approx(welch((80.3, 17.8, n), (81.1, 18.1, n)), rel=1e-6)


def test_sizes_of_effects_are_no_methods(tmp_path):
    text = "| Feature | Max score | Human Mean (SD) | AI Mean (SD) | p-value | Cohen's d |\n"
    text += "|---|---|---|---|---|---|\n| CV | 8 | 0.42 (0.18) | 0.25 (0.11) | 0.1776 | -1.14 |\n"
    (row,) = audited(tmp_path, text, n=50)[0].values()
    assert row.id.startswith("Human Mean (SD) vs AI Mean (SD)")
    assert row.answer != "holds"  # Welch's p is 1e-7, and the printed one 0.18


def test_a_p_of_two_rows_is_that_of_their_pair(tmp_path):
    text = "| Usefulness | Group | n | Mean (SD) | p-value |\n|---|---|---|---|---|\n"
    text += "| Goals | High | 5 | 51 (5.15) | .036 |\n| | Low | 5 | 31.8 (14.26) | |\n"
    text += "| Planning | High | 5 | 52 (5.52) | .156 |\n| | Low | 5 | 40.6 (14.35) | |\n"
    rows, _ = audited(tmp_path, text)
    assert [row.p_welch for row in rows.values()] == [
        pytest.approx(welch((51, 5.15, 5), (31.8, 14.26, 5))),
        pytest.approx(welch((52, 5.52, 5), (40.6, 14.35, 5))),
    ]


def test_an_unreadable_cell_is_told_and_its_column_stays(tmp_path):
    text = "| Task | AIRS | Ours |\n|---|---|---|\n| Hopper | 36.4±0.8 | 36.6±0.2 |\n"
    text += "| Walker | 39.7±0.2 | 39..8±0.3 |\n| Reacher | -2.8±0.2 | 2,6,6±0.3 |\n"
    with pytest.raises(SpecError, match=r"39\.\.8"):
        audited(tmp_path, text, n=10, plus_minus="sd", better="higher")
    spaced = r"\begin{tabular}{lcc}Task & AIRS & Ours \\ Hopper & 36.4(0.8) &"
    spaced += r" $\mathbf{3 6 . 6 ( 0 . 2})$ \\ \end{tabular}"
    (row,) = audited(tmp_path, spaced, n=10, plus_minus="sd", better="higher")[0].values()
    assert row.p_welch == pytest.approx(welch((36.6, 0.2, 10), (36.4, 0.8, 10)))


def test_the_deviation_of_a_mean_is_its_error(tmp_path):
    text = "| Method | Acc |\n|---|---|\n| Base | 93.10 ± 0.30 |\n| A | 93.60 ± 0.30 |\n\n"
    text += "mean ± standard deviation of the mean over 5 runs"
    (row,) = audited(tmp_path, text)[0].values()
    sd = 0.3 * 5**0.5
    assert row.p_welch == pytest.approx(welch((93.1, sd, 5), (93.6, sd, 5)))


def test_deviations_in_a_column_as_spss_heads_it(tmp_path):
    text = "| Group | N | Mean | Std. Deviation |\n|---|---|---|---|\n"
    text += "| Male | 22 | 1796.49 | 49.71 |\n| Female | 17 | 1610.77 | 25.43 |\n"
    (row,) = audited(tmp_path, text)[0].values()
    assert row.p_welch == pytest.approx(welch((1796.49, 49.71, 22), (1610.77, 25.43, 17)))


@pytest.mark.parametrize(
    "name",
    [
        "Time to accuracy 90 (s)",
        "1 - accuracy",
        "Accuracy drop (%)",
        "Accuracy gap",
        "Negative reward",
        "Error-free rate",
    ],
)
def test_a_word_that_turns_a_metric_says_no_direction(tmp_path, name):
    text = f"| Method | {name} |\n|---|---|\n| A | 93.1 ± 0.3 |\n| B | 93.6 ± 0.3 |\n"
    text += "| C | 94.6 ± 0.3 |\n\nAccuracy drop under attack\n"
    rows, _ = audited(tmp_path, text, n=5, plus_minus="sd")
    assert len(rows) == 3  # all pairs
    rows, _ = audited(tmp_path, text, n=5, plus_minus="sd", better="lower")
    assert len(rows) == 2  # the best and every other


@pytest.mark.parametrize("name", ["EER (%)", "Hallucination (%)"])
def test_rates_of_errors_are_better_lower(tmp_path, name):
    text = f"| Method | {name} |\n|---|---|\n| A | 93.1 ± 0.3 |\n| B | 93.6 ± 0.3 |\n"
    (row,) = audited(tmp_path, text, n=5, plus_minus="sd")[0]
    assert row.startswith("A vs B")


def test_a_second_column_of_p_is_named_as_unread(tmp_path):
    text = "| Method | Acc | p vs Base | p vs A |\n|---|---|---|---|\n"
    text += "| Base | 93.10 ± 0.30 | - | - |\n"
    text += "| A | 93.60 ± 0.30 | 0.030 | - |\n| B | 94.60 ± 0.30 | 0.00005 | 0.60 |\n"
    _, said = audited(tmp_path, text, n=5, plus_minus="sd")
    assert "p vs A" in said


def test_a_mark_that_means_a_p_is_told(tmp_path):
    text = "| Method | Acc |\n|---|---|\n| A | 94.5 ± 0.3 |\n| B | 94.6 ± 0.3† |\n\n"
    text += "† denotes significance against the second best (p < 0.05, paired t-test); 5 runs"
    rows, _ = audited(tmp_path, text, plus_minus="sd")
    assert (rows["B vs A, Acc"].p_printed, rows["B vs A, Acc"].answer) == ("<0.05", "cannot say")
    _, said = audited(tmp_path, text.replace("p < 0.05, ", ""), plus_minus="sd")
    assert "What † says of significance is not checked." in said


def test_a_method_with_other_words_in_its_cells_is_not_left_out(tmp_path):
    text = "| Task | A | B | Ours |\n|---|---|---|---|\n"
    text += "| CIFAR | 90.1±0.3 | 90.9±0.3 | 95.9 ± 0.3 (new SOTA) |\n"
    with pytest.raises(SpecError, match="new SOTA"):
        audited(tmp_path, text, n=5, plus_minus="sd")


@pytest.mark.parametrize(
    ("caption", "n"),
    [
        ("Averaged over the final evaluation and 5 seeds; mean and SD", 5),
        ("Mean ± std over seeds {0,1,2,3,4}", 5),
        ("Mean ± std (seeds = [1, 2, 3])", 3),
        ("mean ± std, runs: 5", 5),
        ("mean ± std, number of seeds: 5", 5),
        ("Mean ± std over 10 tasks and 5 seeds", None),
        ("Mean ± std over the ten tasks and 5 seeds", None),
        ("Mean ± std, seed = 42", None),
        ("Mean ± std, runs: 1, 2, 3", None),
    ],
)
def test_more_words_on_the_number_of_runs(tmp_path, caption, n):
    text = f"{caption}.\n\n| Method | Acc |\n|---|---|\n| A | 90.0 ± 0.5 |\n| B | 92.0 ± 0.4 |\n"
    (row,) = audited(tmp_path, text, "a.md")[0].values()
    p = None if n is None else pytest.approx(welch((92.0, 0.4, n), (90.0, 0.5, n)))
    assert row.p_welch == p


@pytest.mark.parametrize(
    ("words", "by"),
    [
        ("95% confidence interval (t)", "t"),
        ("90% CI (Student)", "t"),
        ("95% intervals of the t distribution, confidence intervals", "t"),
        ("95% CI (normal approximation)", "z"),
        ("95% confidence interval; p by Student's t-test", ""),
    ],
)
def test_a_caption_may_say_of_which_distribution_an_interval_is(tmp_path, words, by):
    text = (
        f"Mean ± {words}, 5 seeds.\n\n| Method | Acc |\n|---|---|\n| A | 90.0 ± 0.5 |\n"
        "| B | 90.9 ± 0.4 |\n"
    )
    (row,) = audited(tmp_path, text, "a.md")[0].values()
    level = 0.9 if "90" in words else 0.95
    by_t, by_z = stats.t.ppf((1 + level) / 2, 4), stats.norm.ppf((1 + level) / 2)
    root = 5**0.5 / (by_t if by == "t" else by_z)
    p = welch((90.9, 0.4 * root, 5), (90.0, 0.5 * root, 5))
    assert row.p_welch == (pytest.approx(p) if by else None)


def test_the_option_that_decides_many_pairs_is_named_once(tmp_path):
    body = "".join(f"| M{at} | {90 + at / 5} ± 0.4 |\n" for at in range(6))
    path = tmp_path / "a.md"
    path.write_text(f"Mean ± std.\n\n| Method | Acc |\n|---|---|\n{body}", encoding="utf-8")
    (audit,) = audit_paths([path], decided=Decided(baseline="M0"))
    assert "Decide what is open in 5 pairs by --n." in audit.lead
    assert not any("--n" in row.reason for row in audit.rows)
    (audit,) = audit_paths([path], decided=Decided(baseline="M0", n=5))
    assert not any("--n" in each for each in audit.lead)


@pytest.mark.parametrize(
    ("words", "cells", "answers"),
    [
        ("No runs were excluded.", ("Ours | 91.2 ± 0.3 |",), ["holds"]),
        ("Outliers were not removed.", ("Ours | 91.2 ± 0.3 |",), ["holds"]),
        ("Outliers were removed.", ("Ours | 91.2 ± 0.3 |",), ["cannot say"]),
        ("We trimmed videos to 10 s.", ("Ours | 91.2 ± 0.3 |",), ["holds"]),
        ("Learning rate was adjusted for each model.", ("Ours | 91.2 ± 0.3 | 0.4",), ["does not"]),
        ("P is adjusted for age.", ("Ours | 91.2 ± 0.3 | 0.4",), ["cannot say"]),
    ],
)
def test_words_on_other_things_leave_means_and_p_as_they_are(tmp_path, words, cells, answers):
    """Welch's p of both is 0.00041."""
    head = "| Method | Acc | p |\n|---|---|---|\n" if "0.4" in cells[0] else None
    head = head or "| Method | Acc |\n|---|---|\n"
    text = f"Mean ± SD over 5 runs, Welch's t-test vs Base. {words}\n\n{head}"
    text += "| Base | 90.1 ± 0.3 |" + " |" * ("0.4" in cells[0]) + "\n"
    text += "\n".join(f"| {cell} |" if "0.4" in cell else f"| {cell}" for cell in cells)
    rows, _ = audited(tmp_path, text + "\n", "t.md")
    assert [row.answer for row in rows.values()] == answers


def test_a_row_that_may_be_untested_is_not_accused_for_want_of_a_star(tmp_path):
    """Welch's p of 97.0 against 90.1 is 4e-10; that of a human, or of a forest, was not said."""
    text = "Mean ± SD over 5 runs. * p < .05 vs Base (Welch t-test).{}\n\n"
    text += "| Method | Acc |\n|---|---|\n| Base | 90.1 ± 0.3 |\n"
    text += "| Mid | 91.2 ± 0.3* |\n| Ours | 91.3 ± 0.3* |\n"
    text += "| {} | 97.0 ± 0.3 |\n"
    for words, answer in (("", "cannot say"), (" Values without a star are n.s.", "does not")):
        for name in ("Human", "Random forest"):
            rows, _ = audited(tmp_path, text.format(words, name), "t.md")
            assert rows[f"{name} vs Base, Acc"].answer == answer
