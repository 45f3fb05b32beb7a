"""What single cells of a printed table say: brackets, thousands, words, and one message a kind."""

from __future__ import annotations

import pytest

from repro.errors import SpecError
from tests.audit.printed import audited, welch

GCN = r"""
\begin{tabular}{lccc} \toprule
\textbf{Method} & \textbf{Citeseer} & \textbf{Cora} & \textbf{NELL} \\ \midrule
Planetoid* & $64.7$ (26s) & $75.7$ (13s) & $61.9$ (185s) \\
GCN (this paper) & $\bf 70.3$ (7s) & $\bf 81.5$ (4s) & $\bf 66.0$ (48s) \\
GCN (rand. splits) & $67.9\pm 0.5$ & $80.1 \pm 0.5$ & $58.4 \pm 1.7$ \\ \bottomrule
\end{tabular}
"""
"""Kipf and Welling 2017, numbers of Table 2; the times are those of training."""


def test_a_time_in_brackets_is_not_a_spread(tmp_path):
    """The table is read; nothing holds by a number of seconds."""
    rows, said = audited(tmp_path, GCN, "t.tex")
    assert {row.answer for row in rows.values()} == {"cannot say"}
    assert "no spread (±)" in " ".join([said, *(row.reason for row in rows.values())])
    assert "What is in brackets, as in '64.7 (26s)', is not a spread." in said


@pytest.mark.parametrize(
    "inside",
    ["7s", "26 sec", "1.2h", "12M", "+0.4", "-0.4", "−0.4", "↑0.4", "+0.4%", "3x", "2.1 GB"],
)
def test_what_brackets_hold_beside_a_spread(tmp_path, inside):
    """Times, sizes and signed changes are none; the other rows keep theirs."""
    text = f"Method\tAcc\nA\t90.0 (0.5)\nB\t92.0 (0.6)\nC\t91.0 ({inside})\n"
    rows, said = audited(tmp_path, text, plus_minus="sd", n=10)
    assert "is not a spread" in said
    assert rows["B vs A, Acc"].p_welch == pytest.approx(welch((92, 0.6, 10), (90, 0.5, 10)))
    assert "no spread" in rows["B vs C, Acc"].reason


def test_a_change_behind_a_spread_is_left_out(tmp_path):
    """Mean and spread are read, and one and the same p is not printed as a range."""
    text = "Method\tAcc\nA\t90.0 ± 0.5\nB\t92.0 ± 0.6 (+2.0)\nC\t90.0 ± 0.6 (7s)\n"
    rows, said = audited(tmp_path, text, plus_minus="sd", n=10)
    assert rows["B vs A, Acc"].p_welch == pytest.approx(welch((92, 0.6, 10), (90, 0.5, 10)))
    assert "as in '92.0 ± 0.6 (+2.0)', is not a spread" in said
    rows, _ = audited(tmp_path, "Method\tAcc\nA\t90 ± 9\nB\t90 ± 9\n")
    assert "1 to 1" not in next(iter(rows.values())).reason


@pytest.mark.parametrize("inside", ["±0.5", "+/-0.5", "+-0.5", "sd 0.5", "0.5", "0.5%"])
def test_a_spread_in_brackets_stays_one(tmp_path, inside):
    """Signs of a spread are not those of a change."""
    text = f"Method\tAcc\nA\t90.0 ({inside})\nB\t92.0 (0.6)\n"
    (row,) = audited(tmp_path, text, plus_minus="sd", n=10)[0].values()
    assert row.p_welch == pytest.approx(welch((92, 0.6, 10), (90, 0.5, 10)))


def test_a_braced_thousand_of_latex(tmp_path):
    """`1{,}934` is 1934, and the mean is of that size."""
    text = "Method & Return \\\\\nA & $1{,}934 \\pm 210$ \\\\\nB & $2{,}401 \\pm 190$ \\\\\n"
    (row,) = audited(tmp_path, text, "t.tex", plus_minus="sd", n=10)[0].values()
    assert row.p_welch == pytest.approx(welch((1934, 210, 10), (2401, 190, 10)))


def test_a_braced_decimal_comma_of_latex(tmp_path):
    """Where one such comma can be a decimal one only, all are."""
    text = "Method & Acc \\\\\nA & $1{,}934 \\pm 0{,}21$ \\\\\nB & $2{,}401 \\pm 0{,}19$ \\\\\n"
    (row,) = audited(tmp_path, text, "t.tex", plus_minus="sd", n=10)[0].values()
    assert row.p_welch == pytest.approx(welch((1.934, 0.21, 10), (2.401, 0.19, 10)))


def test_latex_in_a_table_of_another_form(tmp_path):
    """Dollars, bold and a star as a PDF has it, in Markdown; p of Welch keeps the bound."""
    text = "| Method | Acc |\n|---|---|\n| A | $93.1 \\pm 0.2$ |\n"
    text += "| B | $\\mathbf{94.1} \\pm 0.3^{*}$ |\n\nstd over 5 runs; ∗ p < 0.05 versus A\n"
    rows, _ = audited(tmp_path, text)
    row = rows["B vs A, Acc"]
    assert (row.p_printed, row.answer) == ("<0.05", "holds")
    assert row.p_welch == pytest.approx(welch((94.1, 0.3, 5), (93.1, 0.2, 5)))


@pytest.mark.parametrize("mark", ["•", "◦", " ○", "†"])
def test_a_mark_behind_a_number_is_not_part_of_it(tmp_path, mark):
    """As tables of many data sets mark wins and losses."""
    text = f"Method\tAcc\nA\t90.0 ± 0.5{mark}\nB\t92.0 ± 0.6\n"
    (row,) = audited(tmp_path, text, plus_minus="sd", n=10)[0].values()
    assert row.p_welch == pytest.approx(welch((92, 0.6, 10), (90, 0.5, 10)))


def test_mistakes_of_one_kind_are_one_message(tmp_path):
    """Its places are named, three of them; another kind has its message."""
    bad = "".join(f"M{at}\tabout {at}\t9{at}.0 ± 1\n" for at in range(8))
    with pytest.raises(SpecError) as caught:
        audited(tmp_path, f"Method\tAcc\tF1\n{bad}" + "A\t9{}.1\tx9\nB\t1.0(3)\t5(2)\n" + GOOD)
    first, *rest = caught.value.problems
    assert (first.place.line, first.place.column) == (2, 4)
    assert "'about 0' is not a number with its spread; likewise 3:4, 4:4, 5:4 and " in first.what
    assert len(rest) < 3


BLEU = """\
| Model | BLEU | Time |
|---|---|---|
| Base | 27.3 ± .2 | 1.1 ± .1 |
| Mid | 27.4 ± .3 | 1.2 ± .1 |
| Ours | 28.3±.3** | 1.3 ± .1 |

Note: mean ± sd of 5 runs. {}
"""


@pytest.mark.parametrize(
    "note",
    [
        "** p < .01 against Base",
        "** p < .01 vs. the Base",
        "** p < .01 compared with base.",
        "** p < .01. Stars: significantly better than Base.",
        "** p < .01, relative to Base, * p < .05, relative to Base",
    ],
)
def test_a_note_names_what_stars_are_against(tmp_path, note):
    """Every method against it in the column of stars, whose p by Welch keeps the bound."""
    rows, said = audited(tmp_path, BLEU.format(note))
    assert {name for name in rows if name.endswith("BLEU")} == {
        "Ours vs Base, BLEU",
        "Mid vs Base, BLEU",
    }
    row = rows["Ours vs Base, BLEU"]
    assert (row.p_printed, row.answer) == ("<.01", "holds")
    assert row.p_welch == pytest.approx(welch((28.3, 0.3, 5), (27.3, 0.2, 5)))
    assert "against Base, as the table says" in said
    assert "--baseline" not in said


@pytest.mark.parametrize(
    "note",
    ["** p < .01", "** p < .01 against Base and * p < .05 against Mid", "** p < .01 vs Other"],
)
def test_a_note_that_names_no_one_method(tmp_path, note):
    """The option is asked for."""
    rows, said = audited(tmp_path, BLEU.format(note))
    assert all(row.p_printed is None for row in rows.values())
    assert "Nothing says which method stars compare with" in said


def test_the_header_of_p_names_its_baseline(tmp_path):
    """Where more than one method has no p."""
    text = "Method\tAcc\tp (vs B)\nA\t90.0 ± 1.0\t-\nB\t91.0 ± 1.0\t-\nC\t94.0 ± 1.0\t<.001\n"
    rows, _ = audited(tmp_path, text, plus_minus="sd", n=10)
    assert rows["C vs B, Acc"].answer == "holds"
    assert "A vs B, Acc" in rows


GOOD = "".join(f"G{at}\t9{at}.0 ± 1\t8{at}.0 ± 1\n" for at in range(10))


def test_no_cell_has_two_messages(tmp_path):
    """A comma that may be either and a text that is not a number are one mistake."""
    with pytest.raises(SpecError) as caught:
        audited(tmp_path, "Method\tAcc\nA\t1300 ± 5\nB\t1,234 or so\nC\t1200 ± 5\n")
    assert len(caught.value.problems) == 1


def test_words_among_numbers_are_left_unread(tmp_path):
    """A run out of memory has no result; the others do."""
    text = "Method\tAcc\nA\t90.0 ± 0.5\nB\t92.0 ± 0.6\nC\tOOM\n"
    rows, said = audited(tmp_path, text, plus_minus="sd", n=10)
    assert [*rows] == ["B vs A, Acc"]
    assert "Left unread: 'OOM'" in said


BELOW = welch((93.4, 0.2, 5), (94.1, 0.2, 5))
NOTE = "Accuracy, mean and standard deviation of 5 runs."


@pytest.mark.parametrize(
    ("columns", "base", "ours"),
    [
        (r"l r@{${}\pm{}$}l", "93.4 & 0.2", "94.1 & 0.2"),
        (r"l*{1}{r@{\,$\pm$\,}l}", "93.4 & 0.2", r"\textbf{94.1} & \textbf{0.2}"),
        (r"lc", r"\makecell{93.4 \\ $\pm$0.2}", r"\makecell[t]{\textbf{94.1}\\($\pm$ 0.2)}"),
        (r"lc", r"\shortstack{93.4\\(0.2)}", r"\shortstack{94.1\\(0.2)}"),
        (r"lc", "$93.4_{0.2}$", r"$\mathbf{94.1}_{0.2}$"),
        (r"lc", r"93.4 \\ & (0.2)", r"94.1 \\ & (0.2)"),
        (r"lc", r"93.4 \\ & $\pm$0.2", r"94.1 \\ & $\pm$0.2"),
    ],
)
def test_a_spread_beside_or_below_its_mean(tmp_path, columns, base, ours):
    two = "@" in columns
    head = r"\multicolumn{2}{c}{CIFAR-10}" if two else "CIFAR-10"
    table = rf"\begin{{table}}\caption{{{NOTE}}}\begin{{tabular}}{{{columns}}}Method & {head} \\"
    table += rf" Base & {base} \\ Ours & {ours} \\ \end{{tabular}}\end{{table}}"
    (row,) = audited(tmp_path, table, "t.tex")[0].values()
    assert row.p_welch == pytest.approx(BELOW)


def test_columns_of_a_wide_table_are_joined(tmp_path):
    """The width of `tabular*` is not its columns, and cells over both columns stay one."""
    table = rf"""\begin{{table}}\caption{{{NOTE}}}
\begin{{tabular*}}{{\linewidth}}{{@{{\extracolsep{{\fill}}}}l r@{{${{}}\pm{{}}$}}l r@{{ $\pm$ }}l}}
Method & \multicolumn{{2}}{{c}}{{A}} & \multicolumn{{2}}{{c}}{{B}} \\
Base & 93.4 & 0.2 & \multicolumn{{2}}{{c}}{{--}} \\
Ours & 94.1 & 0.2 & 75.0 & 0.4 \\
\end{{tabular*}}\end{{table}}"""
    (row,) = audited(tmp_path, table, "t.tex")[0].values()
    assert (row.id, row.p_welch) == ("Ours vs Base, A", pytest.approx(BELOW))


def test_a_number_below_another_is_a_spread_only_where_it_is_said(tmp_path):
    text = (
        "| Method | Accuracy |\n|---|---|\n| Base | 93.4_{0.2} |\n| Ours | 94.1<sub>0.2</sub> |\n"
    )
    with pytest.raises(SpecError, match="nothing says what stands below the number") as refused:
        audited(tmp_path, text, n=5)
    assert "--plus-minus" in str(refused.value)
    (row,) = audited(tmp_path, text, n=5, plus_minus="sd")[0].values()
    assert row.p_welch == pytest.approx(BELOW)
    thousands = text.replace("93.4_{0.2}", "1_000")
    with pytest.raises(SpecError, match="nothing to compare"):
        audited(tmp_path, thousands, n=5, plus_minus="sd")


@pytest.mark.parametrize("cell", ["93.4 ± 0.2 ms", "93.4ms ± 0.2ms", "(93.4 ± 0.2) ms"])
def test_one_unit_is_read_and_two_are_refused(tmp_path, cell):
    text = f"| Method | Latency (lower is better) |\n|---|---|\n| Base | {cell} |\n"
    text += "| Ours | 94.1 ± 0.2 ms |\n\nmean and sd of 5 runs\n"
    (row,) = audited(tmp_path, text)[0].values()
    assert (row.id.split(",")[0], row.p_welch) == ("Base vs Ours", pytest.approx(BELOW))
    with pytest.raises(SpecError, match="in another unit"):
        audited(tmp_path, text.replace("0.2 ms |\n\n", "0.2 s |\n\n"))


def test_coefficients_are_not_compared_with_each_other(tmp_path):
    text = "| | Model 1 |\n|---|---|\n| Intercept | 1.20*** |\n| | (0.10) |\n| Size | 0.45** |\n"
    with pytest.raises(SpecError, match="a table of coefficients"):
        audited(tmp_path, text + "| | (0.15) |\n\n** p < .01, *** p < .001\n")


def test_cells_of_a_pasted_anova_stand_below_their_heads(tmp_path):
    text = "Source   df   SS     MS     F     p\n"
    text += (
        "Group    2    10.5   5.25   4.20  .026\nError    27   33.75  1.25\nTotal    29   44.25\n"
    )
    (row,) = audited(tmp_path, text)[0].values()
    assert row.answer == "holds"
    (row,) = audited(tmp_path, text.replace(".026", ".25"))[0].values()
    assert row.answer == "does not"


PERCENT = "Model,Accuracy,Std,Seeds\nCNN,91.2%,0.4%,5\nOURS,92.5%,0.6%,5\n"


@pytest.mark.parametrize(
    "text",
    [
        PERCENT,
        PERCENT.replace("%,0", ",0").replace("Accuracy", "Accuracy (%)"),
        PERCENT.replace("%,5", ",5").replace("Std", "Std (%)"),
        PERCENT.replace("%", "").replace("Accuracy", "Accuracy (%)"),
        PERCENT.replace("%", " %"),
        "Model,CNN,OURS\nAccuracy,91.2%,92.5%\nStd,0.4%,0.6%\nSeeds,5,5\n",
    ],
)
def test_a_mean_and_its_deviation_in_percent(tmp_path, text):
    """The sign is a unit, in the cells or in a name."""
    ((name, row),) = audited(tmp_path, text, "t.csv")[0].items()
    assert name.startswith("OURS vs CNN")
    assert row.p_welch == pytest.approx(welch((92.5, 0.6, 5), (91.2, 0.4, 5)))


@pytest.mark.parametrize("text", [PERCENT.replace("%,5", ",5"), PERCENT.replace("%,0", ",0")])
def test_percent_with_one_of_mean_and_deviation_is_refused(tmp_path, text):
    with pytest.raises(SpecError, match="two units in one comparison"):
        audited(tmp_path, text, "t.csv")


@pytest.mark.parametrize(
    ("cell", "mean", "sd"),
    [
        ("10,214 ± 430", 10214, 430),
        ("1,010,214 ± 43", 1010214, 43),
        ("1,214 ± 1,430", 1214, 1430),
    ],
)
def test_a_comma_that_can_only_be_that_of_a_thousand(tmp_path, cell, mean, sd):
    """It stands twice, or next to hundreds without one; in other cells of the table too."""
    text = f"Method\tReturn\nA\t{cell}\nB\t1,300 ± 500\n"
    (row,) = audited(tmp_path, text, plus_minus="sd", n=5)[0].values()
    assert row.p_welch == pytest.approx(welch((mean, sd, 5), (1300, 500, 5)))


def test_advice_on_a_comma_leads_on(tmp_path):
    text = "Method\tReturn\nA\t1,234 ± 5\nB\t1,300 ± 5\n"
    with pytest.raises(SpecError) as caught:
        audited(tmp_path, text)
    assert "leave the comma out of a thousand" in caught.value.problems[0].advice
    for written in (text.replace(",", ""), text.replace(",", ".")):
        assert audited(tmp_path, written)[0]


def test_a_count_with_its_share_is_no_mean_with_a_deviation(tmp_path):
    """.60 is the p of Welch's test of 40 ± 50 and 36 ± 46.2, which nobody computed."""
    assert welch((40, 50.0, 80), (36, 46.2, 78)) == pytest.approx(0.60, abs=0.01)
    text = "| V | Drug (n = 80) | Placebo (n = 78) | p |\n|---|---|---|---|\n"
    text += "| Female | 40 (50.0%) | 36 (46.2%) | .60 |\n| Age | 44.1 (10.2) | 45.0 (9.8) | .57 |\n"
    rows, _ = audited(
        tmp_path, text + "\nMean (SD) or number (%).\n", methods="columns", plus_minus="sd"
    )
    assert [row.answer for row in rows.values()] == ["cannot say", "holds"]


@pytest.mark.parametrize(
    "text",
    [
        "Method;Score\nA;0,812±0,010\nB;0,823±0,010\n",
        "Method\tScore\nA\t0,812±0,010\nB\t0,823±0,010\n",
        "Method;Score;p\nA;1,812±0,010;\nB;1,823±0,010;0,120\n",
        "Method;Score;Other\nA;1,812±0,010;10,5\nB;1,823±0,010;10,7\n",
        "Method;Score;Time\nA;0,812±0,010;1.2±0.1\nB;0,823±0,010;1.3±0.1\n",
        "Method;Score;Time\nA;0,812±0.010;1.2±0.1\nB;0,823±0.010;1.3±0.1\n",
    ],
)
def test_a_comma_behind_zero_is_a_decimal_one(tmp_path, text):
    """No thousand begins with 0; and one comma that is decimal tells of all."""
    row = next(iter(audited(tmp_path, f"{text}\nSD over n = 5 runs\n")[0].values()))
    assert row.p_welch == pytest.approx(welch((0.812, 0.01, 5), (0.823, 0.01, 5)))


@pytest.mark.parametrize("spread", ["±100", "±430"])
def test_a_thousand_stays_one(tmp_path, spread):
    text = f"Method;Count\nA;10,812{spread}\nB;10,913{spread}\n\nSD over n = 5 runs\n"
    (row,) = audited(tmp_path, text)[0].values()
    expected = [(each, float(spread[1:]), 5) for each in (10812, 10913)]
    assert row.p_welch == pytest.approx(welch(*expected))
    with pytest.raises(SpecError, match="may be a thousand"):
        audited(tmp_path, "Method;Count\nA;1,812±5\nB;1,913±5\n\nSD over n = 5 runs\n")
