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
from repro.audit.printed_pairs import Decided
from repro.errors import SpecError
from tests.commands import repro

SEED = 20261127


def audited(folder, text, name="table.txt", **decided):
    """The rows of the audit of a text by their names, and what is said of the table."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    (audit,) = audit_paths([path], decided=Decided(**decided))
    return {row.id: row for row in audit.rows}, " ".join(audit.said)


def welch(a, b):
    """p of Welch's test of two arms, each mean, sd and n."""
    (mean_a, sd_a, n_a), (mean_b, sd_b, n_b) = a, b
    return stats.ttest_ind_from_stats(mean_a, sd_a, n_a, mean_b, sd_b, n_b, equal_var=False).pvalue


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
    assert row.details["p_se_n_None"] == pytest.approx(wider)
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
    assert row.details["p_se_n_None"] == pytest.approx(expected)
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
    assert [row.answer for row in rows.values()] == ["cannot say"]


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
    assert rows["Lion vs Adam, CIFAR-100"].answer == "cannot say"


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
        "12.0 ± 0.5<sup>1</sup>", "12.0 ± 0.5^1", "12.0 ± 0.5¹", "12.0 ± 0.5[^1]", "12.0 ± 0.5 a",
        "12.0 ± 0.5ab", "***12.0 ± 0.5***", "*12.0 ± 0.5*", "<u>12.0 ± 0.5</u>",
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
