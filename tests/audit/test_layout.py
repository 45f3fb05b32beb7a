"""Where the methods of a pasted table are: by its words and names, never by a silent guess.

The answers are computed apart, by `scipy`, from the numbers typed out again.
"""

from __future__ import annotations

import pytest
from scipy import stats

from repro.errors import SpecError
from tests.audit.printed import audited, rows_of, welch
from tests.commands import repro

VIT = """\
| | Ours-JFT (ViT-H/14) | Ours-I21k (ViT-L/16) | BiT-L (ResNet152x4) | Noisy Student |
|---|---|---|---|---|
| ImageNet | **88.55** ± 0.04 | 85.30 ± 0.02 | 87.54 ± 0.02 | 88.4/88.5* |
| ImageNet ReaL | **90.72** ± 0.05 | 88.62 ± 0.05 | 90.54 | 90.55 |
| CIFAR-10 | **99.50** ± 0.06 | 99.15 ± 0.03 | 99.37 ± 0.06 | − |
| CIFAR-100 | **94.55** ± 0.04 | 93.25 ± 0.05 | 93.51 ± 0.08 | − |
| TPUv3-core-days | 2.5k | 0.23k | 9.9k | 12.3k |

Accuracies: means and standard deviations over three fine-tuning runs.
"""
"""Dosovitskiy et al. 2021, numbers of Table 2."""

ROWS = "{}\tA\tB\nx\t1.0 ± 0.1\t2.0 ± 0.1\ny\t1.5 ± 0.1\t2.5 ± 0.1\n"


def test_data_sets_are_not_compared_with_each_other(tmp_path):
    """Methods are in the header, n is in words, and both are said."""
    rows, said = audited(tmp_path, VIT)
    assert not any(name.startswith(("CIFAR", "ImageNet")) for name in rows)
    row = rows["Ours-JFT (ViT-H/14) vs BiT-L (ResNet152x4), ImageNet"]
    assert row.p_welch == pytest.approx(welch((88.55, 0.04, 3), (87.54, 0.02, 3)))
    assert row.answer == "holds"
    assert "n = 3" in said
    assert "TPUv3-core-days" in said
    assert "'88.4/88.5*'" in said


def test_what_was_guessed_is_said_first(tmp_path):
    """On the terminal above the answers; in Markdown too; turned, it is not said."""
    path = tmp_path / "t.md"
    path.write_text(VIT, encoding="utf-8")
    said = "Methods are the columns, guessed because 'ImageNet' is a data set"
    assert repro("audit", path).stdout.startswith(said)
    assert said in repro("audit", path, "--markdown").stdout
    assert "guessed because" not in repro("audit", path, "--methods", "columns").stdout
    assert "CIFAR-10 vs ImageNet" in repro("audit", path, "--methods", "rows").stdout


def test_where_nothing_tells_nothing_is_guessed(tmp_path):
    """An empty corner and names that say nothing: one message, and the option that decides."""
    with pytest.raises(SpecError) as caught:
        audited(tmp_path, ROWS.format(""))
    (problem,) = caught.value.problems
    assert "nothing says whether the methods are the rows or the columns" in str(problem)
    assert "--methods rows or --methods columns" in str(problem)
    rows, _ = audited(tmp_path, ROWS.format(""), methods="columns", n=5, plus_minus="sd")
    assert [*rows] == ["A vs B, x", "A vs B, y"]


@pytest.mark.parametrize(
    ("baseline", "pairs"), [("a", ["B vs A, x", "B vs A, y"]), ("x", ["y vs x, A", "y vs x, B"])]
)
def test_a_baseline_tells_where_methods_are(tmp_path, baseline, pairs):
    """Its name is that of a column or of a row, so nothing is guessed."""
    rows, said = audited(tmp_path, ROWS.format(""), n=5, plus_minus="sd", baseline=baseline)
    assert [*rows] == pairs
    assert "guessed" not in said


@pytest.mark.parametrize("corner", ["Method", "Model", "Algorithm", "Data set", "Task", "Corpus"])
def test_a_word_in_the_corner_is_no_guess(tmp_path, corner):
    """What the table says needs no remark."""
    rows, said = audited(tmp_path, ROWS.format(corner), n=5, plus_minus="sd")
    turned = corner in ("Data set", "Task", "Corpus")
    assert ("A vs B, x" in rows) == turned
    assert ("x vs y, A" in rows) != turned
    assert "guessed" not in said


@pytest.mark.parametrize(
    ("corner", "rows", "columns", "side", "because"),
    [
        ("", ("GCN", "X"), ("Cora", "Citeseer"), "rows", "'Cora' is a data set"),
        ("Dataset", ("GCN", "GAT"), ("Cora", "Citeseer"), "rows", "'Cora' is a data set"),
        ("Model", ("MNLI", "SST-2"), ("X", "Y"), "columns", "'MNLI' is a data set"),
        ("", ("Hopper-v3", "Ant-v3"), ("X", "Y"), "columns", "'Hopper-v3' is a data set"),
        ("", ("Breakout", "Q*bert"), ("X", "Y"), "columns", "'Breakout' is a data set"),
        ("", ("WMT14 En-De", "IWSLT14"), ("X", "Y"), "columns", "'WMT14 En-De' is a data set"),
        ("", ("X", "Ours"), ("P", "Q"), "rows", "'Ours' names a method"),
        ("", ("P", "Q"), ("X (Li et al., 2019)", "Y"), "columns", "names a method"),
        ("Model", ("VGG-16", "ResNet"), ("SGD", "SWA (ours)"), "columns", "names a method"),
        ("", ("P", "Q"), ("Accuracy", "F1"), "rows", "'Accuracy' is a metric"),
        ("Dataset", ("X", "Y (ours)"), ("P", "Q"), "rows", "'Y (ours)' names a method"),
        ("", ("Accuracy", "F1"), ("P", "Q"), "columns", "'Accuracy' is a metric"),
        ("", ("P", "Q"), ("SGD", "Adam"), "columns", "'SGD' names a method"),
        ("Drug", ("P", "Q"), ("X", "Y"), "rows", "the first column is headed 'Drug'"),
        ("", ("ImageNet pretraining", "None"), ("COCO", "VOC"), "rows", "'COCO' is a data set"),
    ],
)
def test_names_tell_where_methods_are(tmp_path, corner, rows, columns, side, because):
    """Data sets outweigh the word in the corner; then come methods, metrics, a headed column."""
    text = f"{corner}\t{columns[0]}\t{columns[1]}\n" + "".join(
        f"{row}\t{61 + at}.0 ± 0.1\t{72 + at}.0 ± 0.1\n" for at, row in enumerate(rows)
    )
    found, said = audited(tmp_path, text, n=5, plus_minus="sd", better="higher")
    assert f"Methods are the {side}, guessed because" in said
    assert because in said
    a, b = rows if side == "rows" else columns
    assert all({*name.rpartition(", ")[0].split(" vs ")} == {a, b} for name in found)


@pytest.mark.parametrize(
    ("cells", "side"),
    [
        (("**3.0** ± 0.1", "2.0 ± 0.1", "**4.0** ± 0.1", "1.0 ± 0.1"), "columns"),
        (("**3.0** ± 0.1", "**2.0** ± 0.1", "1.0 ± 0.1", "1.0 ± 0.1"), "rows"),
    ],
)
def test_bold_tells_where_methods_are(tmp_path, cells, side):
    """The best of each row, or of each column, is in bold."""
    text = f"| | A | B |\n|---|---|---|\n| x | {cells[0]} | {cells[1]} |\n"
    text += f"| y | {cells[2]} | {cells[3]} |\n"
    _, said = audited(tmp_path, text, n=5, plus_minus="sd")
    assert f"Methods are the {side}, guessed because each" in said


def test_one_method_over_data_sets_is_nothing_to_compare(tmp_path):
    """ImageNet is not compared with CIFAR where there is one method only."""
    with pytest.raises(SpecError, match="nothing to compare"):
        audited(tmp_path, "\tOurs\nImageNet\t88.5 ± 0.1\nCIFAR-10\t99.4 ± 0.1\n", n=5)


@pytest.mark.parametrize(
    ("words", "n"),
    [
        ("averaged over three fine-tuning runs", 3),
        ("over five random seeds", 5),
        ("mean of ten trials", 10),
        ("averages of 7 independent training runs", 7),
        ("means of 100 runs with other initializations", 100),
        ("each experiment was repeated twelve times", 12),
        ("n = five", 5),
    ],
)
def test_a_number_of_runs_in_words(tmp_path, words, n):
    """p is that of so many runs."""
    text = f"Method\tAcc\nA\t90.0 ± 1.0\nB\t91.5 ± 1.2\nNote: ± is the sd, {words}.\n"
    rows, said = audited(tmp_path, text)
    assert f"n = {n}," in said
    expected = welch((90.0, 1.0, n), (91.5, 1.2, n))
    assert rows["B vs A, Acc"].p_welch == pytest.approx(expected)


def test_a_p_is_never_0(tmp_path):
    """A range from 0 is a bound; a p too small for a computer is one too."""
    text = "Method\tAcc\nA\t10.00 ± 0.04\nB\t99.50 ± 0.06\n"
    for decided in ({}, {"n": 1000, "plus_minus": "sd"}):
        (row,) = audited(tmp_path, text, **decided)[0].values()
        assert stats.ttest_ind_from_stats(10, 0.04, 1000, 99.5, 0.06, 1000).pvalue == 0
        assert "p < " in row.reason
        assert "p = 0 " not in row.reason
        assert "p = 0)" not in row.reason


def unordered(names):
    """The compared pairs, whichever of two is named first."""
    split = (name.partition(", ") for name in names)
    return {(frozenset(pair.split(" vs ")), where) for pair, _, where in split}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (  # a domain is not a method, whatever heads the column
            (
                "| Domain | Art | Clipart |\n|---|---|---|\n| ERM | 61 ± 1 | 52 ± 1 |\n"
                "| CORAL | 65 ± 1 | 54 ± 1 |\n"
            ),
            {"CORAL vs ERM, Art", "CORAL vs ERM, Clipart"},
        ),
        (  # nor is a split, and a method may be called after a data set
            (
                "| Method | Train acc | Test acc |\n|---|---|---|\n"
                "| MNIST-CNN | 99 ± 1 | 98 ± 1 |\n"
                "| ViT | 99.5 ± 1 | 97 ± 1 |\n"
            ),
            {"ViT vs MNIST-CNN, Train acc", "MNIST-CNN vs ViT, Test acc"},
        ),
        (
            (
                "| Method | RMSE |\n|---|---|\n| MC Dropout | 2.97 ± 0.19 |\n"
                "| Concrete Dropout | 2.78 ± 0.16 |\n"
            ),
            {"Concrete Dropout vs MC Dropout, RMSE"},
        ),
        (  # training data may be what is compared
            (
                "| Training data | Accuracy | F1 |\n|---|---|---|\n| MNLI | 84 ± 0.2 | 83 ± 0.2 |\n"
                "| MNLI + SNLI | 85 ± 0.2 | 84 ± 0.2 |\n"
            ),
            {"MNLI + SNLI vs MNLI, Accuracy", "MNLI + SNLI vs MNLI, F1"},
        ),
        (  # a gain, a p and a count are results of no method
            (
                "| Dataset | #classes | Baseline | Ours | Δ |\n|---|---|---|---|---|\n"
                "| CIFAR-10 | 10 | 93.4 ± 0.2 | 94.1 ± 0.2 | +0.7 ± 0.3 |\n"
            ),
            {"Ours vs Baseline, CIFAR-10"},
        ),
        (
            (
                "| Method | RMSE |\n|---|---|\n| VI | 4.3 ± 0.3 |\n| PBP | 3.0 ± 0.2 |\n"
                "| p-value | 0.001 |\n"
            ),
            {"PBP vs VI, RMSE"},
        ),
        (  # a column of data sets beside that of methods: compared within each
            (
                "| Dataset | Method | 1-shot | 5-shot |\n|---|---|---|---|\n"
                "| mini | MAML | 48.7 ± 1.8 | 63.1 ± 0.9 |\n"
                "| | ProtoNet | 49.4 ± 0.8 | 68.2 ± 0.7 |\n"
                "| CUB | MAML | 55.9 ± 1.0 | 72.1 ± 0.8 |\n"
                "| | ProtoNet | 51.3 ± 0.9 | 70.8 ± 0.7 |\n"
            ),
            {
                *("ProtoNet vs MAML, mini, 1-shot", "ProtoNet vs MAML, mini, 5-shot"),
                *("MAML vs ProtoNet, CUB, 1-shot", "MAML vs ProtoNet, CUB, 5-shot"),
            },
        ),
    ],
)
def test_what_is_no_method_is_not_compared(tmp_path, text, names):
    rows, _ = audited(tmp_path, text, plus_minus="sd", n=5)
    compared = [name for name, row in rows.items() if row.kind == "comparison"]
    assert unordered(compared) == unordered(names)


@pytest.mark.parametrize("corner", ["Dataset name", "**Task-Name**", "Task Name", "env_name"])
def test_names_of_data_sets_are_no_methods(tmp_path, corner):
    text = f"| {corner} | BC | CQL |\n|---|---|---|\n| cooking | 10.4 ± 1.2 | 15.3 ± 1.1 |\n"
    text += "| driving | 20.4 ± 1.2 | 25.3 ± 1.1 |\n\nMeans and sd over 5 seeds.\n"
    rows, _ = audited(tmp_path, text)
    assert {*rows} == {"BC vs CQL, cooking", "BC vs CQL, driving"}


@pytest.mark.parametrize("head", ["Regime", "Setting", "", "Backbone"])
@pytest.mark.parametrize("first", ["Noise", r"\multirow[c]{2}{*}{Noise}", r"\multirow{2}*{Noise}"])
def test_a_column_next_to_methods_is_of_groups(tmp_path, head, first):
    """As pandas writes it, too; methods were compared across the groups."""
    text = rf"""\begin{{tabular}}{{llcc}}
{head} & Method & AUROC & F1 \\ \midrule
{first} & A & 71.7 $\pm$ 0.1 & 72.9 $\pm$ 0.2 \\
 & B & 72.5 $\pm$ 0.1 & 73.3 $\pm$ 0.5 \\
Missing & A & 70.7 $\pm$ 0.1 & 71.9 $\pm$ 0.2 \\
 & B & 70.5 $\pm$ 0.1 & 70.3 $\pm$ 0.5 \\
\end{{tabular}}
Means and standard deviations over 5 seeds."""
    rows, _ = audited(tmp_path, text, name="t.tex")
    assert unordered(rows) == {
        (frozenset("AB"), f"{group}, {metric}")
        for group in ("Noise", "Missing")
        for metric in ("AUROC", "F1")
    }
    row = next(row for name, row in rows.items() if "Noise, AUROC" in name)
    assert row.p_welch == pytest.approx(welch((71.7, 0.1, 5), (72.5, 0.1, 5)))


@pytest.mark.parametrize("separator", ["|", ",", "\t"])
def test_a_name_above_reaches_over_the_empty_cells_behind_it(tmp_path, separator):
    """Names below that come twice are those of both data sets; p is of the one before it."""
    lines = (
        ",,ImageNet,,,iNat,,",
        "Model,n,mean,std,p,mean,std,p",
        "A,5,76.1,0.2,,60.1,0.3,",
        "B,5,77.1,0.2,<.001,60.3,0.4,.40",
    )
    ends = "|" * (separator == "|")
    cut = "\n".join(f"{ends}{line.replace(',', separator)}{ends}" for line in lines)
    rows, _ = audited(tmp_path, cut)
    assert [*rows] == ["B vs A, ImageNet mean", "B vs A, iNat mean"]
    p = [row.p_welch for row in rows.values()]
    arms = ((77.1, 0.2, 5), (76.1, 0.2, 5)), ((60.3, 0.4, 5), (60.1, 0.3, 5))
    assert p == pytest.approx([welch(*pair) for pair in arms])
    assert [row.answer for row in rows.values()] == ["holds", "holds"]


def test_a_caption_with_commas_stands_above_a_csv_table(tmp_path):
    caption = "Mean ± SD, 12 runs of each method; two-sided Student t-test against A."
    text = f"{caption}\n\nMethod,Recall,p (recall),Latency,p (latency)\nA,14.2 ± 3.1,,612 ± 88,\n"
    rows = rows_of(tmp_path, f"{text}B,17.5 ± 2.8,0.012,580 ± 92,0.04\n")
    assert [row.answer for row in rows] == ["holds", "does not"]


def test_a_deviation_in_square_brackets_stands_below_its_mean(tmp_path):
    head = "Two-sided Welch t-tests. Standard deviations in brackets.\n\n| x | A (N = 412) |"
    for p, answer in (("0.54", "holds"), ("0.04", "does not")):
        table = f"{head} B (N = 398) | p |\n|---|---|---|---|\n| Age | 41.2 | 40.7 | {p} |\n"
        (row,) = rows_of(tmp_path, f"{table}| | [11.3] | [11.9] | |\n")
        assert row.answer == answer
