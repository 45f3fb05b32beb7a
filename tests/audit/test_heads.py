"""What heads a printed table: rows above its rule, whatever stands in them, and groups of rows."""

from __future__ import annotations

import pytest
from scipy import stats

from repro.errors import SpecError
from tests.audit.printed import audited, welch

ROWS = ("ERM", "71.7 ± 0.1", "72.9 ± 0.2"), ("IRM", "72.5 ± 0.1", "73.3 ± 0.5")
SAID = "\nMean and standard deviation, n = 5\n"


def latex(head, *, rule=r"\midrule", top=r"\toprule"):
    body = "".join(f"{' & '.join(row)} \\\\\n" for row in ROWS).replace("±", r"$\pm$")
    return (
        f"\\begin{{tabular}}{{lcc}}\n{top}\n{' & '.join(head)} \\\\ {rule}\n{body}"
        f"\\bottomrule\n\\end{{tabular}}{SAID}"
    )


def markdown(head):
    rows = "".join(f"| {' | '.join(row)} |\n" for row in (head, "---", *ROWS) if row != "---")
    first, rest = rows.split("\n", 1)
    return f"{first}\n|---|---|---|\n{rest}{SAID}"


def html(head, open_="<tr>", close="</tr>"):
    body = "".join(f"<tr><th>{a}</th><td>{b}</td><td>{c}</td></tr>" for a, b, c in ROWS)
    named = "".join(f"<th>{name}</th>" for name in head)
    return f"<table>{open_}{named}{close}{body}</table>{SAID}"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (latex(("\\textbf{Algorithm}", "\\textbf{+90\\%}", "\\textbf{-90\\%}")), ("+90%", "-90%")),
        (latex(("Method", "0.5", "0.9"), rule="\\hline", top="\\hline"), ("0.5", "0.9")),
        (latex(("Method", "15", "30"), top=""), ("15", "30")),
        (markdown(("Method", "+90%", "0.5")), ("+90%", "0.5")),
        (html(("Method", "+90%", "0.5")), ("+90%", "0.5")),
        (html(("Method", "+90%", "0.5"), "<thead><tr>", "</tr></thead>"), ("+90%", "0.5")),
    ],
)
def test_what_stands_above_the_first_rule_is_the_header(tmp_path, text, names):
    rows, said = audited(tmp_path, text, better="higher")
    first, second = (f"IRM vs ERM, {name}" for name in names)
    assert {name: row.p_welch for name, row in rows.items()} == {
        first: pytest.approx(welch((72.5, 0.1, 5), (71.7, 0.1, 5))),
        second: pytest.approx(welch((73.3, 0.5, 5), (72.9, 0.2, 5))),
    }
    assert "guessed" not in said


def test_results_above_a_rule_are_not_a_header(tmp_path):
    """Rows without a header, and rows cut out of the middle of a table."""
    headless = latex(("SGD", "70.1 ± 0.2", "71.1 ± 0.2"))
    rows, _ = audited(tmp_path, headless, better="higher")
    assert rows["IRM vs SGD"].p_welch == pytest.approx(welch((72.5, 0.1, 5), (70.1, 0.2, 5)))
    cut = "SGD & 70.1 & 71.1 \\\\\nAdam & 72.1 & 73.1 \\\\ \\midrule\nOurs & 74.2 & 75.1 \\\\\n"
    rows, _ = audited(tmp_path, cut, better="higher", methods="rows")
    assert "SGD" in rows["none of 4 pairs"].reason


def test_a_line_across_the_table_is_no_part_of_a_name(tmp_path):
    r"""`\multicolumn` with braces within, a group right below the header, and `<br/>`."""
    group = "\\multicolumn{3}{@{}l}{\\emph{Supervised}} \\\\\n"
    text = latex(("Method", "CIFAR-10", "CIFAR-100")).replace("ERM", f"{group}ERM<br/>(2020)")
    rows, _ = audited(tmp_path, text)
    assert set(rows) == {"IRM vs ERM (2020), CIFAR-10", "IRM vs ERM (2020), CIFAR-100"}


NFT = """
| {} | Stage | Pass@1 | Pass@2 |
|---|---|---|---|
| MATH | Supervised | 40.1 ± 0.6 | 50.2 ± 0.5 |
| {}   | + NFT      | 45.3 ± 0.7 | 54.0 ± 0.6 |
| AIME | Supervised | 10.1 ± 0.6 | 15.2 ± 0.5 |
| {}   | + NFT      | 12.3 ± 0.7 | 17.0 ± 0.6 |

mean ± std over 5 seeds
"""


@pytest.mark.parametrize(
    "names", [("Benchmark / model", "MATH", "AIME"), ("Benchmark", "", ""), ("", "", "")]
)
def test_a_name_signed_as_a_method_is_compared_within_the_column_before(tmp_path, names):
    rows, said = audited(tmp_path, NFT.format(*names))
    of = welch((45.3, 0.7, 5), (40.1, 0.6, 5)), welch((17.0, 0.6, 5), (15.2, 0.5, 5))
    assert set(rows) == {
        f"+ NFT vs Supervised, {part}, Pass@{k}" for part in ("MATH", "AIME") for k in (1, 2)
    }
    assert rows["+ NFT vs Supervised, MATH, Pass@1"].p_welch == pytest.approx(of[0])
    assert rows["+ NFT vs Supervised, AIME, Pass@2"].p_welch == pytest.approx(of[1])
    assert "over 4 comparisons" in said


@pytest.mark.parametrize(
    "head", ["Hit@1, Hit@10", "R@5, R@10", "BLEU-1, BLEU-4", "Top-1, Top-5", "P@1, NDCG@10"]
)
@pytest.mark.parametrize("corner", ["Benchmark", "", "Model"])
def test_columns_of_one_metric_with_numbers_are_no_methods(tmp_path, head, corner):
    first, second = head.split(", ")
    body = "".join(
        f"| {name} | {a} ± 0.6 | {b} ± 0.5 |\n"
        for name, a, b in (("Plain", 40.1, 50.2), ("+ NFT", 45.3, 54.0))
    )
    text = f"| {corner} | {first} | {second} |\n|---|---|---|\n{body}{SAID}"
    assert set(audited(tmp_path, text)[0]) == {
        f"+ NFT vs Plain, {name}" for name in (first, second)
    }


BALANCE = r"""
\begin{tabular}{lcccc} \toprule
Covariate & Control & Treatment & Difference & P-value \\ \midrule
Age & 34.21 & 34.52 & 0.31 & 0.753 \\
 & (0.70) & (0.69) & (0.98) & \\
Income & 2.31 & 2.45 & 0.14 & 0.210 \\
 & (0.08) & (0.08) & (0.11) & \\
N & 500 & 510 & & \\ \bottomrule
\end{tabular}
Standard errors in parentheses.
"""


def test_groups_are_compared_within_each_covariate_by_standard_errors(tmp_path):
    by_se = 2 * stats.norm.sf(0.31 / (0.7**2 + 0.69**2) ** 0.5)
    for text in (BALANCE, BALANCE.replace("Covariate", "").replace("N &", "Observations &")):
        rows, said = audited(tmp_path, text)
        age, income = rows.values()
        assert age.id == "Control (n = 500) vs Treatment (n = 510), Age"
        assert (age.p_printed, age.answer, income.answer) == ("0.753", "holds", "holds")
        arms = (34.21, 0.70 * 500**0.5, 500), (34.52, 0.69 * 510**0.5, 510)
        assert age.p_welch == pytest.approx(welch(*arms)) == pytest.approx(by_se, abs=1e-3)
        assert "Left unread: Difference." in said


def test_sizes_that_give_a_printed_p_are_a_range_and_what_is_known_is_not_asked(tmp_path):
    without_n = BALANCE.replace("N & 500 & 510 & & \\\\", "")
    age = audited(tmp_path, without_n)[0]["Control vs Treatment, Age"]
    assert age.reason == "p = 0.753 follows for n from 5 to 1,000. Decide it by --n"
    unsaid = audited(tmp_path, BALANCE.replace("Standard errors in parentheses.", ""))[0]
    assert {row.reason.partition("Decide it by ")[2] for row in unsaid.values()} == {"--plus-minus"}


def test_delta_and_gain_are_methods_where_they_are_no_differences(tmp_path):
    rows = "| Base | 90.1 ± 0.6 |\n| Delta | 91.0 ± 0.5 |\n| Gain | {} |\n"
    text = f"| Method | Acc |\n|---|---|\n{rows}{SAID}"
    found, said = audited(tmp_path, text.format("92.0 ± 0.4"))
    assert {name: row.p_welch for name, row in found.items()} == {
        "Gain vs Delta, Acc": pytest.approx(welch((92.0, 0.4, 5), (91.0, 0.5, 5))),
        "Gain vs Base, Acc": pytest.approx(welch((92.0, 0.4, 5), (90.1, 0.6, 5))),
    }
    assert "over 3 comparisons" in said
    for gain in ("0.9 ± 0.2", "1.0 ± 0.2", "0.9"):  # 1 % of 90.1 is 0.9
        found, said = audited(tmp_path, text.format(gain))
        assert set(found) == {"Delta vs Base, Acc"}
        assert "Left unread: Gain" in said


@pytest.mark.parametrize(
    ("gain", "pairs"), [("0.9 ± 0.2", {"A vs B"}), ("93.1 ± 0.2", {"A vs B", "Gain vs B"})]
)
def test_a_column_that_is_dropped_is_named_wherever_it_stands(tmp_path, gain, pairs):
    text = f"| Task | Gain | A | B |\n|---|---|---|---|\n| T | {gain} | 90.1 ± 0.6 | 91.0 ± 0.4 |\n"
    found, said = audited(tmp_path, text + SAID)
    assert {name.removesuffix(", T") for name in found} >= pairs
    assert ("Left unread: Gain" in said) == (len(pairs) == 1)


def test_columns_of_statistics_are_not_methods(tmp_path):
    text = "\\begin{tabular}{lccc}\nGroup & $k$ & $t$ & $p$ \\\\ \\midrule\n"
    text += "A & 10 & 2.31 & .046 \\\\\n"
    with pytest.raises(SpecError, match="statistics are printed") as error:
        audited(tmp_path, text + "B & 12 & 1.90 & .084 \\\\ \\bottomrule\n\\end{tabular}\n")
    assert "columns such as t, df, p" in str(error.value)
    body = "| X | 90.1 ± 0.6 | 92.0 ± 0.4 | 5.9 | .001 |\n"
    rows, said = audited(tmp_path, f"| Task | A | B | t | p |\n|---|---|---|---|---|\n{body}{SAID}")
    assert rows["A vs B, X"].p_welch == pytest.approx(welch((90.1, 0.6, 5), (92.0, 0.4, 5)))
    assert (len(rows), rows["A vs B, X"].p_printed) == (1, ".001")
    assert "Left unread: t." in said


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("Méthode | CIFAR-10 | Moyenne", "moyenne et écart-type"),
        ("Verfahren | CIFAR-10 | Mittel", "Mittelwert ± Standardabweichung"),
        ("方法 | CIFAR-10 | 平均", "平均值±标准差"),
        ("Modelo | CIFAR-10 | Media", "media ± desviación estándar"),
    ],
)
def test_heads_in_other_languages_are_read(tmp_path, head, said):
    body = "| Eins | 98.10 ± 0.20 | 98.1 |\n| Zwei | 98.90 ± 0.10 | 98.9 |\n"
    rows, told = audited(tmp_path, f"| {head} |\n|---|---|---|\n{body}\n{said}, n = 5\n")
    ((name, row),) = rows.items()
    assert name == "Zwei vs Eins, CIFAR-10"
    assert row.p_welch == pytest.approx(welch((98.9, 0.1, 5), (98.1, 0.2, 5)))
    assert ("guessed" in told, f"Left unread: {head.rpartition(' ')[2]}." in told) == (False, True)


def test_a_column_of_deviations_may_be_headed_in_another_language(tmp_path):
    text = "Verfahren,Genauigkeit,Standardabweichung,n\nBasis,81.5,0.3,5\nUnsere,82.5,0.2,5\n"
    ((name, row),) = audited(tmp_path, text)[0].items()
    assert name == "Basis vs Unsere, Genauigkeit"
    assert row.p_welch == pytest.approx(welch((82.5, 0.2, 5), (81.5, 0.3, 5)))


def test_a_markdown_table_is_found_below_many_lines_of_prose(tmp_path):
    prose = "\n".join(f"Sentence {at} of the text, with a comma." for at in range(9))
    text = (
        prose + "\n\n| Method | Acc |\n|---|---|\n| A | 90.1 ± 0.6 |\n| B | 92.0 ± 0.4 |\n" + SAID
    )
    ((_, row),) = audited(tmp_path, text)[0].items()
    assert row.p_welch == pytest.approx(welch((92.0, 0.4, 5), (90.1, 0.6, 5)))


def test_the_p_of_two_methods_or_values_of_metrics_are_read(tmp_path):
    rows, _ = audited(
        tmp_path, "dataset,A,B,p-value\ncora,81.5±0.3,82.3±0.4,0.01\nx,7±1,9±1,0.02\n", n=5
    )
    assert rows["B vs A, cora"].p_printed == "0.01"
    text = "dataset,metric,A,B\ncora,acc,81.5,82.3\ncora,f1,80.1,81.0\n"
    assert set(audited(tmp_path, text)[0]) == {"B vs A, cora acc", "B vs A, cora f1"}


def test_what_trains_networks_is_compared_and_not_these(tmp_path):
    """Rows of one name are told apart by the groups that they stand in."""
    text = (
        "| DNN (Budget) | SGD | SWA (1 Budget) |\n|---|---|---|\n| CIFAR-100 | | |\n"
        "| VGG-16 (200) | 72.55 ± 0.10 | 73.91 ± 0.12 |\n"
        "| ResNet-164 (150) | 78.49 ± 0.36 | 79.77 ± 0.17 |\n| CIFAR-10 | | |\n"
        "| VGG-16 (200) | 93.25 ± 0.16 | 93.59 ± 0.16 |\n"
    )
    rows, told = audited(tmp_path, text + SAID, better="higher")
    assert {name: row.p_welch for name, row in rows.items()} == {
        f"SWA (1 Budget) vs SGD, {name}": pytest.approx(welch((*a, 5), (*b, 5)))
        for name, a, b in (
            ("CIFAR-100, VGG-16 (200)", (73.91, 0.12), (72.55, 0.1)),
            ("ResNet-164 (150)", (79.77, 0.17), (78.49, 0.36)),
            ("CIFAR-10, VGG-16 (200)", (93.59, 0.16), (93.25, 0.16)),
        )
    }
    assert "'SGD' trains VGG-16 (200)" in told


def test_se_in_the_name_of_a_method_is_not_a_standard_error(tmp_path):
    rows = "| SE-ResNet-50 | 77.02 ± 0.09 |\n| + SE | 76.10 ± 0.08 |\n| CBAM | 77.34 ± 0.11 |\n"
    found, said = audited(tmp_path, f"| Method | Acc |\n|---|---|\n{rows}{SAID}")
    assert {name: row.p_welch for name, row in found.items()} == {
        "CBAM vs SE-ResNet-50, Acc": pytest.approx(welch((77.34, 0.11, 5), (77.02, 0.09, 5))),
        "CBAM vs + SE, Acc": pytest.approx(welch((77.34, 0.11, 5), (76.1, 0.08, 5))),
    }
    assert "± is read as standard deviation" in said
    named = rows.replace("+ SE", "Ours (SE)").replace("SE-ResNet-50", "ResNet")
    found, _ = audited(tmp_path, f"| Method | Acc |\n|---|---|\n{named}{SAID}")
    arm = (76.1, 0.08 * 5**0.5, 5)
    assert found["CBAM vs Ours (SE), Acc"].p_welch == pytest.approx(welch((77.34, 0.11, 5), arm))


def test_steps_behind_names_that_come_again_are_a_part_of_these(tmp_path):
    rows = "| Hopper | 1M | 2100 ± 300 | 3100 ± 150 |\n| Hopper | 3M | 2600 ± 250 | 3300 ± 120 |\n"
    text = f"| Env | Steps | PPO | SAC |\n|---|---|---|---|\n{rows}{SAID}"
    assert set(audited(tmp_path, text, better="higher")[0]) == {
        "SAC vs PPO, Hopper 1M",
        "SAC vs PPO, Hopper 3M",
    }


def test_a_difference_with_its_interval_is_left_unread(tmp_path):
    text = (
        "Outcome & Control & Drug & Mean difference (95\\% CI) \\\\ \\midrule\n"
        "BMI & 31.2 (4.5) & 30.1 (4.3) & $-1.1$ ($-2.3$ to 0.1) \\\\ \\bottomrule\n"
    )
    text = f"\\begin{{tabular}}{{llll}} \\toprule\n{text}\\end{{tabular}}\nmean (SD), n = 100\n"
    rows, said = audited(tmp_path, text)
    assert rows["Control vs Drug, BMI"].p_welch == pytest.approx(
        welch((31.2, 4.5, 100), (30.1, 4.3, 100))
    )
    assert "Left unread: Mean difference (95% CI)" in said


@pytest.mark.parametrize(("tick", "cross"), [("\\checkmark", ""), ("✓", "✗"), ("✓", "x")])
def test_rows_of_ticks_are_called_after_the_columns_ticked(tmp_path, tick, cross):
    rows = (
        f"| {cross} | {cross} | 74.1 ± 0.3 |\n| {tick} | {cross} | 75.2 ± 0.2 |\n"
        f"| {tick} | {tick} | 76.4 ± 0.2 |\n"
    )
    text = f"| Aug | EMA | Acc |\n|---|---|---|\n{rows}{SAID}"
    assert {name: row.p_welch for name, row in audited(tmp_path, text)[0].items()} == {
        "Aug + EMA vs Aug, Acc": pytest.approx(welch((76.4, 0.2, 5), (75.2, 0.2, 5))),
        "Aug + EMA vs none, Acc": pytest.approx(welch((76.4, 0.2, 5), (74.1, 0.3, 5))),
    }


def test_sizes_of_data_sets_are_not_numbers_of_runs_nor_methods(tmp_path):
    text = (
        "| Dataset | N | d | PBP | Dropout |\n|---|---|---|---|---|\n"
        "| Boston | 506 | 13 | 3.01 ± 0.18 | 2.97 ± 0.19 |\n"
        "| Year | 515,345 | 90 | 8.879 ± NA | 8.849 ± NA |\n\n"
        "Test RMSE, mean ± standard error over 20 splits\n"
    )
    rows, said = audited(tmp_path, text)
    by = 20**0.5
    assert rows["Dropout vs PBP, Boston"].p_welch == pytest.approx(
        welch((3.01, 0.18 * by, 20), (2.97, 0.19 * by, 20))
    )
    assert len(rows) == 1
    assert "n = 20, as the text" in said
    assert "Left unread: N, d, Year" in said
    few = text.replace("506", "20").replace("515,345", "10").replace(" over 20 splits", "")
    row = audited(tmp_path, few)[0]["Dropout vs PBP, Boston"]
    assert row.p_welch == pytest.approx(welch((3.01, 0.18 * by, 20), (2.97, 0.19 * by, 20)))


def test_a_first_row_all_in_bold_is_a_header(tmp_path):
    body = "".join(f"<tr><td>{a}</td><td>{b}</td><td>{c}</td></tr>" for a, b, c in ROWS)
    head = "".join(f"<td><b>{name}</b></td>" for name in ("Method", "1%", "0.5"))
    rows, _ = audited(tmp_path, f"<table><tr>{head}</tr>{body}</table>{SAID}", better="higher")
    assert set(rows) == {"IRM vs ERM, 1%", "IRM vs ERM, 0.5"}


CLINICAL = (
    "Mean ± SD. {}\n\n| Variable | Control (n = 30) | Treated (n = 30) | {} |\n|---|---|---|---|\n"
    "| CRP | 5.1 ± 1.9 | 6.4 ± 2.1 | {} |\n| BMI | 24.1 ± 3.1 | 25.0 ± 3.0 | {} |\n"
)


@pytest.mark.parametrize(
    ("head", "words"),
    [
        *((head, "Student's t-test.") for head in ("p-val", "pval", "p-wert", "p_{Student}")),
        *((head, "") for head in ("p, Student's test", "p (Student)", "Student's p")),
    ],
)
def test_names_of_a_column_of_p(tmp_path, head, words):
    arms = ((5.1, 1.9, 30), (6.4, 2.1, 30)), ((24.1, 3.1, 30), (25.0, 3.0, 30))
    ps = [stats.ttest_ind_from_stats(*a, *b).pvalue for a, b in arms]
    assert ps == pytest.approx([0.0148, 0.258], abs=1e-3)
    rows, _ = audited(tmp_path, CLINICAL.format(words, head, "0.015", "0.02"))
    assert [(row.p_printed, row.answer == "holds") for row in rows.values()] == [
        ("0.015", True),
        ("0.02", False),
    ]


@pytest.mark.parametrize("head", ["P adj", "p_adj", "adj. p", "adjusted p-value"])
def test_a_column_of_p_that_its_name_says_are_corrected(tmp_path, head):
    rows, _ = audited(tmp_path, CLINICAL.format("Student's t-test.", head, "0.015", "0.258"))
    assert {row.answer for row in rows.values()} == {"cannot say"}
    assert all("corrected" in row.reason for row in rows.values())


@pytest.mark.parametrize("head", ["p for trend", "P for interaction", "q", "q-value"])
def test_a_column_of_another_p_is_neither_a_method_nor_read(tmp_path, head):
    rows, said = audited(tmp_path, CLINICAL.format("Student's t-test.", head, "0.015", "0.02"))
    assert len(rows) == 2
    assert not any(row.p_printed for row in rows.values())
    assert f"Left unread: {head}." in said


def test_p_below_each_of_two_groups_of_columns(tmp_path):
    text = (
        "\\begin{table}\\caption{Mean $\\pm$ SD, 12 participants per group; two-sided Student's "
        "$t$ test against Control.}\n\\begin{tabular}{lcccc}\\toprule\n"
        " & \\multicolumn{2}{c}{Recall} & \\multicolumn{2}{c}{Latency (ms)} \\\\\n"
        "Group & Score & $p$ & Time & $p$ \\\\ \\midrule\n"
        "Control & $14.2 \\pm 3.1$ & -- & $612 \\pm 88$ & -- \\\\\n"
        "Sleep & $17.5 \\pm 2.8$ & 0.012 & $580 \\pm 92$ & 0.39 \\\\\n"
        "Nap & $16.0 \\pm 3.4$ & 0.19 & $601 \\pm 79$ & 0.07 \\\\\n"
        "\\bottomrule\\end{tabular}\\end{table}\n"
    )
    wrong = stats.ttest_ind_from_stats(601, 79, 12, 612, 88, 12).pvalue
    assert wrong == pytest.approx(0.75, abs=0.01)
    rows, _ = audited(tmp_path, text, "a.tex")
    found = [(row.p_printed, row.answer) for row in rows.values()]
    assert found == [(p, "holds") for p in ("0.012", "0.19", "0.39")] + [("0.07", "does not")]
    rows, _ = audited(tmp_path, text.replace("$p$", "P"), "a.tex")  # P may be a precision
    assert not any(row.p_printed for row in rows.values())
