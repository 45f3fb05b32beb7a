"""Tables as papers print them: after twelve well-known ones, each form, and what is refused.

The answers are computed apart: Welch's test by `scipy`, Holm's correction by `statsmodels`, from
the numbers typed out again in each case.
"""

from __future__ import annotations

import contextlib
import io
import random
from itertools import combinations
from pathlib import Path

import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from repro.audit.audit import audit_paths
from repro.errors import SpecError
from tests.audit.printed import audited, welch
from tests.commands import repro

SEED = 20261127


def all_pairs(arms):
    """p by Welch of each pair of arms, and after Holm over all of them."""
    names = list(combinations(arms, 2))
    alone = [welch(arms[a], arms[b]) for a, b in names]
    after = multipletests(alone, method="holm")[1]
    return {frozenset(pair): (p, q) for pair, p, q in zip(names, alone, after, strict=True)}


CITATION = """\
| Method | Cora | Citeseer | Pubmed |
|---|---|---|---|
| MoNet | 81.7 ± 0.5% | — | 78.8 ± 0.3% |
| GCN-64 | 81.4 ± 0.5% | 70.9 ± 0.5% | **79.0** ± 0.3% |
| **GAT (ours)** | **83.0** ± 0.7% | **72.5** ± 0.7% | **79.0** ± 0.3% |

Mean classification accuracies with standard deviation over 100 runs.
"""

FEW_SHOT = r"""
\begin{tabular}{@{}lcc@{}} \toprule
 & \multicolumn{2}{c}{\textbf{5-way Acc.}} \\ \cmidrule(lr){2-3}
\textbf{Model} & 1-shot & 5-shot \\ \midrule
Matching networks~\cite{vinyals} & 43.56 $\pm$ 0.84\% & 55.31 $\pm$ 0.73\% \\
MAML~\cite{finn} & 48.70 $\pm$ 1.84\% & 63.11 $\pm$ 0.92\% \\
Prototypical networks & \textbf{49.42 $\pm$ 0.78\%} & \textbf{68.20 $\pm$ 0.66\%} \\ \bottomrule
\end{tabular}
"""

SLEEP = "drug,extra sleep,n\nDextro,0.75 (1.79),10\nLaevo,2.33 (2.00),10\n"

PLANTS = "Group  Weight\nctrl  5.032 (0.583)\ntrt1  4.661 (0.794)\ntrt2  5.526 (0.443)\n"

WEIGHTS = """<table><caption>SWA: accuracy, mean and standard deviation over 3 runs</caption>
<tr><th>Method</th><th>VGG-16</th></tr>
<tr><td>SGD</td><td>72.55 &plusmn; 0.10</td></tr>
<tr><td>SWA (1 budget)</td><td>73.91 &plusmn; 0.12</td></tr>
<tr><td>SWA (1.5 budgets)</td><td><b>74.27 &plusmn; 0.25</b></td></tr></table>
"""

ARXIV = "Method\tTest Accuracy\nGCN\t0.7174 ± 0.0029\nGraphSAGE\t0.7149 ± 0.0027\n"

UCI = """\
Dataset  MC-dropout  Deep ensembles
Boston  2.97 ± 0.85  3.28 ± 1.00
Concrete  5.23 ± 0.53  6.03 ± 0.58
RMSE over 20 runs
"""

PITFALLS = "Method Cora\nGCN 81.5 ± 1.3\nGAT 81.8 ± 1.3\nGS mean 79.2 ± 7.7\n"

CONTROL = """\
Environment,TD3,SAC
Hopper,3564.07 ± 114.74,2996.66
Ant,4372.44 ± 1000.33,655.35
"""

DOMAINS = """\
| Algorithm | PACS | OfficeHome |
|---|---|---|
| ERM | 85.5 ± 0.2 | 66.5 ± 0.3 |
| IRM | 83.5 ± 0.8 | 64.3 ± 2.2 |
| CORAL | 86.2 ± 0.3 | 68.7 ± 0.3 |
Accuracy with standard errors over three trials
"""

SOFTMAX = """\
| Model | #Param | Test ppl | p-value (compared with Softmax) | Rank |
|---|---|---|---|---|
| Penn Treebank | | | | |
| Softmax | 24.22M | 57.08±0.09 | N/A | 402±0 |
| SS | 24.22M | 57.05±0.15 | 3.92×10^{-1} | 5,113±85 |
| LMS-PLIF | 24.32M | 56.80±0.11 | 1.91×10^{-5} | 496±83 |
| MoS | 21.50M | 54.91±0.26 | 2.02×10^{-15} | 9,981±2 |
| WikiText-2 | | | | |
| Softmax | 33.55M | 64.63±0.08 | N/A | 402±0 |
| MoS | 34.90M | 61.96±0.40 | 2.04×10^{-13} | 15,734±188 |
"""

IRIS = "Species;Sepal length;n\nsetosa;5,01 ± 0,35;50\nversicolor;5,94 ± 0,52;50\n"


def test_graph_attention(tmp_path):
    """Velickovic et al. 2018, Table 2: best on two data sets, level on the third.

    GAT's row is repeated in the README of Directional diffusion models (arXiv 2306.13210). Those of
    MoNet and GCN-64 are examples in the form of the table, not quotations.
    """
    rows, said = audited(tmp_path, CITATION)
    assert "read as standard deviation" in said
    assert "n = 100" in said
    gcn = rows["GAT (ours) vs GCN-64, Cora"]
    assert gcn.answer == "holds"
    assert gcn.p_welch == pytest.approx(welch((83.0, 0.7, 100), (81.4, 0.5, 100)))
    assert rows["GAT (ours) vs GCN-64, Citeseer"].answer == "holds"
    pubmed = next(row for name, row in rows.items() if name.endswith("Pubmed") and "GCN" in name)
    assert pubmed.answer != "holds"


def test_prototypical_networks(tmp_path):
    """Snell et al. 2017, Table 2, 95 % intervals, 600 episodes: level with MAML on 1 shot.

    MAML and prototypical networks are as the README of PaddleFSL's image classification repeats
    them; matching networks are an example in the form of the table.
    """
    rows, _ = audited(tmp_path, FEW_SHOT, "t.tex", plus_minus="ci95", n=600)
    by = stats.t.ppf(0.975, 599) / 600**0.5
    for shots, a, b, answer in (
        ("1-shot", (49.42, 0.78), (48.70, 1.84), "does not"),
        ("5-shot", (68.20, 0.66), (63.11, 0.92), "holds"),
    ):
        row = rows[f"Prototypical networks vs MAML, 5-way Acc. {shots}"]
        assert row.answer == answer
        expected = welch((a[0], a[1] / by, 600), (b[0], b[1] / by, 600))
        assert row.p_welch == pytest.approx(expected, rel=1e-9)


def test_student_1908(tmp_path):
    """Student 1908, the sleep data (`sleep` in R): as unpaired arms p = 0.0794, so not shown.

    Means and deviations are those of the data, in the form of a table; not a quotation.
    """
    rows, _ = audited(tmp_path, SLEEP, plus_minus="sd")
    (row,) = rows.values()
    assert row.answer == "does not"
    assert row.p_welch == pytest.approx(0.0794, abs=5e-4)


def test_sleep_by_each_reading(tmp_path):
    """Nothing says what stands in parentheses, and every reading gives one answer."""
    rows, _ = audited(tmp_path, SLEEP)
    (row,) = rows.values()
    ten = 10**0.5
    wider = welch((0.75, 1.79 * ten, 10), (2.33, 2.00 * ten, 10))
    assert row.details["p_se"] == pytest.approx(wider)
    assert row.answer == "does not"
    assert "by every reading" in row.reason


def test_plant_growth(tmp_path):
    """Dobson 1983 (`PlantGrowth` in R), ten plants a group: all pairs, of which one holds.

    Means and deviations are those of the data, in the form of a table; not a quotation.
    """
    rows, said = audited(tmp_path, PLANTS, n=10, plus_minus="sd")
    arms = {"ctrl": (5.032, 0.583, 10), "trt1": (4.661, 0.794, 10), "trt2": (5.526, 0.443, 10)}
    expected = all_pairs(arms)
    assert "over 3 comparisons" in said
    for name, row in rows.items():
        pair = frozenset(name.removesuffix(", Weight").split(" vs "))
        assert (row.p_welch, row.holm) == pytest.approx(expected[pair])
        assert row.answer == ("holds" if expected[pair][1] <= 0.05 else "does not")
    assert sum(row.answer == "holds" for row in rows.values()) == 1
    assert "significant at 5 %: yes" in rows["ctrl vs trt2, Weight"].reason
    assert "after Holm: no" in rows["ctrl vs trt2, Weight"].reason


def test_weight_averaging(tmp_path):
    """Izmailov et al. 2018, Table 1, as a web page: better than SGD, not than the short budget.

    As in README.md of `timgaripov/swa`, which does not say the number of runs.
    """
    rows, said = audited(tmp_path, WEIGHTS, "t.html")
    assert "n = 3" in said
    sgd = rows["SWA (1.5 budgets) vs SGD, VGG-16"]
    assert sgd.p_welch == pytest.approx(welch((74.27, 0.25, 3), (72.55, 0.10, 3)))
    assert rows["SWA (1.5 budgets) vs SWA (1 budget), VGG-16"].answer == "does not"


def test_ogb_without_n(tmp_path):
    """Hu et al. 2020 (ogbn-arxiv), pasted from a spreadsheet: it hangs on n, and 10 decides it.

    GCN is as in the leaderboard of OGB; GraphSAGE is an example in its form.
    """
    (row,) = audited(tmp_path, ARXIV)[0].values()
    assert row.answer == "cannot say"
    assert "--plus-minus and --n" in row.reason
    (known,) = audited(tmp_path, ARXIV, n=10, plus_minus="sd")[0].values()
    assert known.p_welch == pytest.approx(welch((0.7174, 0.0029, 10), (0.7149, 0.0027, 10)))
    assert "significant at 5 %: open" in known.reason or known.answer == "does not"


def test_deep_ensembles(tmp_path):
    """Lakshminarayanan et al. 2017, Table 1: methods in columns, lower is better.

    MC-dropout is as in the readme of `yaringal/DropoutUncertaintyExps`; a public transcript of the
    paper has both. That the means are over 20 runs stands here as an example.
    """
    rows, _ = audited(tmp_path, UCI, plus_minus="sd")
    boston = rows["MC-dropout vs Deep ensembles, Boston"]
    assert boston.p_welch == pytest.approx(welch((2.97, 0.85, 20), (3.28, 1.00, 20)))
    assert boston.answer == "does not"
    assert rows["MC-dropout vs Deep ensembles, Concrete"].answer == "holds"


def test_pitfalls(tmp_path):
    """Single blanks, an example in the form of Shchur et al. 2018, not a quotation.

    GCN on Cora is repeated as 81.5 ± 1.3 in public notes; the other rows are not confirmed.
    """
    rows, _ = audited(tmp_path, PITFALLS, plus_minus="sd", n=100, better="higher")
    assert list(rows) == ["GAT vs GCN, Cora", "GAT vs GS mean, Cora"]
    arms = {"GCN": (81.5, 1.3, 100), "GAT": (81.8, 1.3, 100), "GS mean": (79.2, 7.7, 100)}
    expected = all_pairs(arms)
    for other in ("GCN", "GS mean"):
        row = rows[f"GAT vs {other}, Cora"]
        assert (row.p_welch, row.holm) == pytest.approx(expected[frozenset(("GAT", other))])


def test_td3(tmp_path):
    """Fujimoto et al. 2018, Table 1: the others are printed without a spread.

    TD3 is as in the README of TD3 in `sony/nnabla-rl`; SAC is an example in the form of the table.
    """
    rows, _ = audited(tmp_path, CONTROL, "t.csv")
    assert {row.answer for row in rows.values()} == {"cannot say"}
    assert "no spread (±) is printed with 2996.66" in rows["TD3 vs SAC, Hopper"].reason


def test_domain_bed(tmp_path):
    """Gulrajani and Lopez-Paz 2021: standard errors of three trials, which the caption says.

    ERM is as in README.md of `alexrame/fishr`; IRM and CORAL are examples in the form of the table.
    """
    rows, said = audited(tmp_path, DOMAINS)
    assert "read as standard error" in said
    root = 3**0.5
    row = rows["CORAL vs ERM, PACS"]
    assert row.p_welch == pytest.approx(welch((86.2, 0.3 * root, 3), (85.5, 0.2 * root, 3)))
    assert row.answer == "does not"


def test_softmax_bottleneck(tmp_path):
    """Parthiban et al. 2021, Table 2: a p behind its column, two sections, thousands, powers."""
    rows, _ = audited(tmp_path, SOFTMAX, n=10, plus_minus="sd")
    row = rows["MoS vs Softmax, Penn Treebank, Test ppl"]
    assert (row.p_printed, row.answer) == ("2.02×10^-15", "holds")
    student = stats.ttest_ind_from_stats(57.08, 0.09, 10, 54.91, 0.26, 10).pvalue
    assert row.p_student == pytest.approx(student, rel=1e-6)
    assert rows["SS vs Softmax, Penn Treebank, Test ppl"].answer == "cannot say"
    rank = rows["Softmax vs MoS, WikiText-2, Rank"]
    assert rank.p_welch == pytest.approx(welch((402, 0, 10), (15734, 188, 10)), rel=1e-6)


def test_iris(tmp_path):
    """Fisher 1936: semicolons and decimal commas; apart as deviations, not as standard errors.

    Means and deviations are those of the data, in the form of a table; not a quotation.
    """
    (row,) = audited(tmp_path, IRIS, "t.csv")[0].values()
    assert row.answer == "cannot say"
    by = 50**0.5
    expected = welch((5.01, 0.35 * by, 50), (5.94, 0.52 * by, 50))
    assert row.details["p_se"] == pytest.approx(expected)
    (known,) = audited(tmp_path, IRIS, "t.csv", plus_minus="sd")[0].values()
    assert known.answer == "holds"


BUDGETS = """\
| DNN (Budget) | SGD | SWA 1 Budget | SWA 1.5 Budgets |
| --- |:---:|:---:|:---:|
| VGG16 (200) | 72.55 ± 0.10 | 73.91 ± 0.12 | 74.27 ± 0.25 |
| PreResNet110 (150) | 76.77 ± 0.38 | 78.75 ± 0.16 | 79.10 ± 0.21 |
"""

METRICS = """\
Dataset | Dropout RMSE (original) | RMSE (updated) | Test LL (original) | Test LL (updated)
--- | :---: | :---: | :---: | :---:
Boston Housing | 2.97 ± 0.85 | 2.80 ± 0.84 | -2.46 ± 0.25 | -2.39 ± 0.20
Concrete Strength | 5.23 ± 0.53 | 4.81 ± 0.64 | -3.04 ± 0.09 | -2.94 ± 0.10
"""


COLOURED = """\
Results will be printed at the end of the script, averaged over 10 runs.

        Method | Train acc. | Test acc.  | Gray test acc.
       --------|------------|------------|----------------
        ERM    | 86.4 ± 0.2 | 14.0 ± 0.7 |   71.0 ± 0.7
        IRM    | 71.0 ± 0.5 | 65.6 ± 1.8 |   66.1 ± 0.2
        Fishr  | 71.0 ± 0.9 | 69.5 ± 1.0 |   70.2 ± 1.1
"""


def test_a_readme_with_an_indented_table(tmp_path):
    """README.md of `alexrame/fishr`: runs from the prose; what ± is decides one comparison."""
    rows, said = audited(tmp_path, COLOURED)
    assert "n = 10" in said
    assert rows["Fishr vs ERM, Test acc."].answer == "holds"
    assert rows["Fishr vs IRM, Test acc."].answer == "cannot say"
    rows, _ = audited(tmp_path, COLOURED, plus_minus="sd")
    row = rows["Fishr vs IRM, Test acc."]
    assert row.p_welch == pytest.approx(welch((69.5, 1.0, 10), (65.6, 1.8, 10)))


def test_networks_in_rows_are_not_compared(tmp_path):
    """README.md of `timgaripov/swa`: SGD and SWA are compared, on each network."""
    rows, _ = audited(tmp_path, BUDGETS, plus_minus="sd", n=3, better="higher")
    row = rows["SWA 1.5 Budgets vs SGD, VGG16 (200)"]
    assert row.p_welch == pytest.approx(welch((74.27, 0.25, 3), (72.55, 0.10, 3)))
    assert not any("VGG16 (200) vs" in name for name in rows)


def test_metrics_are_not_compared_with_each_other(tmp_path):
    """Readme of `yaringal/DropoutUncertaintyExps`: an error is compared with an error only."""
    rows, _ = audited(tmp_path, METRICS, plus_minus="sd", n=20)
    assert len(rows) == 4
    assert not any("RMSE" in name and "LL" in name for name in rows)


def test_a_method_may_be_called_after_a_metric(tmp_path):
    """As ScoreSDE is: it is compared with those whose names tell of none."""
    text = "Dataset,ScoreSDE,DDPM\na,93.4 ± 0.2,90 ± 0.3\nb,93.4 ± 0.2,90 ± 0.3\n"
    rows, _ = audited(tmp_path, text, plus_minus="sd", n=5, methods="columns")
    assert [*rows] == ["ScoreSDE vs DDPM, a", "ScoreSDE vs DDPM, b"]


P = "Method,Acc,n,p\nBase,90.0 ± 1.0,10,-\nOurs,92.0 ± 1.0,10,{}\n"


@pytest.mark.parametrize(
    ("p", "answer"),
    [("p<.001", "holds"), ("<.001***", "holds"), (".0003", "holds"), ("n.s.", "cannot say")],
)
def test_a_p_as_it_is_written(tmp_path, p, answer):
    """Bounds, stars, no zero before the point, and words: t = 4.47, so p = 0.0003."""
    (row,) = audited(tmp_path, P.format(p), plus_minus="sd")[0].values()
    assert row.answer == answer


def test_stars_with_and_without_a_legend(tmp_path):
    """A legend makes stars a p; without it nothing is claimed, which is said."""
    text = "Method,Acc,n\nBase,90.0 ± 1.0,10\nOurs,92.0 ± 1.0**,10\n"
    rows, said = audited(tmp_path, text)
    assert rows["Ours vs Base, Acc"].p_printed is None
    assert "no legend" in said
    rows, _ = audited(
        tmp_path, text + "Note: * p < .05, ** p < .01\n", plus_minus="sd", baseline="base"
    )
    assert (rows["Ours vs Base, Acc"].p_printed, rows["Ours vs Base, Acc"].answer) == (
        "<.01",
        "holds",
    )


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("Method,Acc\nA,93.4 ± 0.2\nB,about 93\nC,93 ± 1\n", "3:3", "'about 93'"),
        ("Method\tAcc\nA\t1,234 ± 5\nB\t1,300 ± 5\n", "2:3", "may be a thousand"),
        ("Method,Acc\nA,93.4(2)\nB,93.1(3)\n", "2:3", "units of the last digit"),
        ("Method,Acc,p\nA,93 ± 1,.01\nB,94 ± 1,.02\nC,95 ± 1,.03\n", "1:1", "--baseline"),
        ("Method,Acc\nA,93 ± 1\nA,94 ± 1\n", "1:1", "two rows are called 'A'"),
        ("Method,Acc,n\nA,93 ± 1,few\nB,94 ± 1,5\n", "2:10", "not a number of runs"),
        ("Method,Acc\nA,93 ± 1\n", "1:1", "nothing to compare"),
        ("Method,Acc\nA,93 ± 1\nB\x01,94 ± 1\n", "3:2", "control character"),
        ("id,statistic,df,p\na,1.80,40,0.04\n", "1:1", "which test its statistic"),
        ("only words\n", "1:1", "no table is found"),
        ("<table><tr><td>a<td>1</table>\n<table><tr><td>", "2:1", "a second table"),
    ],
)
def test_what_cannot_be_read_is_named_where_it_stands(tmp_path, text, place, what):
    """File, line and column, and advice that leads on."""
    with pytest.raises(SpecError) as caught:
        audited(tmp_path, text)
    problem = caught.value.problems[0]
    assert f"{problem.place.line or 1}:{problem.place.column or 1}" == place
    assert what in str(problem)


TWO = (
    "System,BLEU\nTransformer,27.3 ± 0.1\nOurs,28.0 ± 0.2\n\n"
    "System,ms\nGPT,12.1 ± 0.3\nLSTM,11.2 ± 0.2\n"
)
PIPED = "| System | {} |\n|---|---|\n| {} | 27.3 ± 0.1 |\n| {} | 28.0 ± 0.2 |\n"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (TWO, "5:1"),
        (TWO.replace(",", ";"), "5:1"),
        (TWO.replace(",", "\t"), "5:1"),
        (TWO.replace(",", "   "), "5:1"),
        (TWO.replace(",", " "), "5:1"),
        (TWO.replace("\n\n", "\n,\n"), "5:1"),
        (TWO.replace("\n\n", "\n\nSpeed\n"), "6:1"),
        (TWO.replace("System,ms", "Net,ms"), "5:1"),
        (TWO.replace("System,ms", "System,10"), "5:1"),
        (TWO.replace("System,ms", "Year,2018"), "5:1"),
        (PIPED.format("BLEU", "A", "B") + "\n" + PIPED.format("ms", "C", "D"), "6:2"),
        (PIPED.format("BLEU", "A", "B") + "Speed\n" + PIPED.format("10", "C", "D"), "6:2"),
        (PIPED.format("BLEU", "A", "B") + PIPED.format("ms", "C", "D"), "5:2"),
    ],
)
def test_two_tables_are_not_one(tmp_path, text, place):
    """A header below results: BLEU is not compared with milliseconds."""
    with pytest.raises(SpecError, match="a second table") as caught:
        audited(tmp_path, text)
    (problem,) = caught.value.problems
    assert f"{problem.place.line}:{problem.place.column}" == place


@pytest.mark.parametrize(
    "text",
    [
        "Method,Acc\nA,93.1 ± 0.3\n\nB,94.1 ± 0.3\n\nMeans, SD of 5 seeds\n",
        "Note: SD of 5 seeds, in percent\n\nMethod,Acc\nA,93.1 ± 0.3\n\nLarge\nB,94.1 ± 0.3\n",
        "Method  Acc\nA  93.1 ± 0.3\n\nLarge\nB  94.1 ± 0.3\n\nMeans, SD of 5 seeds\n",
        "Method Acc\nA 93.1±0.3\n\nLarge models\nB 94.1±0.3\n\nMeans, SD of 5 seeds\n",
        (
            "| Method | Acc |\n|---|---|\n| *Small* | |\n| A | 93.1 ± 0.3 |\n\n| *Large* | |\n"
            "|---|---|\n| X | OOM |\n\n| B | 94.1 ± 0.3 |\n\nMeans and SD of 5 seeds\n"
        ),
    ],
)
def test_a_blank_line_or_a_group_within_a_table_is_no_second_one(tmp_path, text):
    rows, _ = audited(tmp_path, text)
    assert rows["B vs A, Acc"].p_welch == pytest.approx(welch((93.1, 0.3, 5), (94.1, 0.3, 5)))


@pytest.mark.parametrize(
    "text", [CITATION, FEW_SHOT, SLEEP, PLANTS, WEIGHTS, ARXIV, UCI, DOMAINS, SOFTMAX, IRIS]
)
def test_no_damage_is_more_than_a_message(tmp_path, text):
    """A table with pieces cut out, doubled or exchanged is read, or refused with its places."""
    chance = random.Random(SEED)
    for _ in range(15):
        start, end = sorted(chance.choices(range(len(text)), k=2))
        piece = text[start : min(end, start + 20)]
        other = chance.choice(["", piece * 2, "±", "|", "&", "\t", "1e99", "<td>", "**", "{"])
        damaged = text[:start] + other + text[start + len(piece) :]
        with contextlib.suppress(SpecError):
            assert audited(tmp_path, damaged)[0]


def test_a_hint_of_a_column_leads_to_its_arm(tmp_path):
    """`a_mean` is `mean_a`, never `mean_b`."""
    with pytest.raises(SpecError) as caught:
        audited(tmp_path, "id,a_mean,sd_a,n_a,mean_b,sd_b,n_b,p\nx,1,1,5,2,1,5,.1\n", "t.csv")
    assert "did you mean mean_a?" in str(caught.value)


def test_standard_input_is_read(monkeypatch):
    """The path `-` is what was pasted into the command."""
    monkeypatch.setattr("sys.stdin", io.StringIO(ARXIV))
    (audit,) = audit_paths([Path("-")])
    assert audit.source == "standard input"
    assert audit.rows[0].answer == "cannot say"


def test_the_answer_is_the_first_line_and_markdown_a_table(tmp_path):
    """What a reviewer looks for stands first, on a terminal and in Markdown."""
    path = tmp_path / "t.txt"
    path.write_text(WEIGHTS, encoding="utf-8")
    done = repro("audit", path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("does not: SWA (1.5 budgets) vs SWA (1 budget), VGG-16: signif")
    lines = repro("audit", path, "--markdown").stdout.splitlines()
    assert lines[2:4] == ["| answer | comparison | reason |", "|---|---|---|"]
    assert lines[4].startswith("| does not | SWA (1.5 budgets) vs SWA")


def test_a_bound_that_rounding_straddles_is_open(tmp_path):
    """As printed p is 0.0034, and rounding allows 0.0006: `p < .001` neither follows nor fails."""
    text = "| Method | Acc |\n|---|---|\n| SGD | 93.4 ± 0.3 |\n| Ours | 94.1 ± 0.2** |\n\n"
    rows, _ = audited(tmp_path, f"{text}** p < 0.001 vs SGD\n", plus_minus="sd", n=5)
    (row,) = rows.values()
    assert row.answer == "cannot say"
    said = "the numbers can give p <0.001, and need not: rounding allows p from 0.000573"
    assert row.reason.startswith(said)


@pytest.mark.parametrize(
    "cell", [r"$93.4^{1} \pm 0.2$", r"93.4{\scriptsize$\pm$0.2}", r"93.4\tiny{$\pm$0.2}"]
)
def test_footnotes_and_small_print_of_latex(tmp_path, cell):
    """A footnote is no digit: 93.4, and not 93.41."""
    body = rf"Method & Accuracy \\ SGD & {cell} \\ Ours & $94.1 \pm 0.2$ \\"
    text = rf"\begin{{tabular}}{{lc}} {body} \end{{tabular}}"
    rows, _ = audited(tmp_path, text, plus_minus="sd", n=5)
    (row,) = rows.values()
    assert row.p_welch == pytest.approx(welch((94.1, 0.2, 5), (93.4, 0.2, 5)))


FEWEST = 2 * stats.t.sf(1.3 / (1.2**2 / 20 + 2.4**2 / 8) ** 0.5, 7)


@pytest.mark.parametrize(
    ("named", "p", "answer"),
    [
        ("Independent-samples t-tests", ".70", "does not"),
        ("Two-tailed unpaired t tests", ".70", "does not"),
        ("A two-sample t-test", "<.001", "does not"),
        ("Independent-samples t-tests", f"{welch((5.1, 1.2, 20), (6.4, 2.4, 8)):.2f}", "holds"),
        ("Independent-samples t-tests", f"{FEWEST:.3f}", "cannot say"),
        ("Independent-samples t-tests", f"{FEWEST / 2:.3f}", "cannot say"),
        ("t-tests", ".70", "cannot say"),
        ("Independent-samples t-tests and Fisher's exact tests", ".70", "cannot say"),
        ("Independent-samples t-tests, Bonferroni-corrected", ".70", "cannot say"),
        ("Independent t-tests or Mann-Whitney tests", ".70", "cannot say"),
    ],
)
def test_a_named_t_test_of_independent_groups_is_one_by_student_or_welch(
    tmp_path, named, p, answer
):
    """A p that neither gives, with any degrees of freedom between theirs, is wrong."""
    text = f"Mean ± SD. {named}.\n\nMethod,mean,sd,n,p\nA,5.10,1.20,20,\nB,6.40,2.40,8,{p}\n"
    (row,) = audited(tmp_path, text)[0].values()
    assert row.answer == answer, row.reason
