"""Tables as papers and repositories print them: names, bold, units and heads that mislead."""

from __future__ import annotations

import json

import pytest
from scipy import stats

from repro.errors import SpecError
from tests.audit.printed import audited, welch
from tests.commands import repro

FIVE = "\nmean ± std over 5 seeds\n"


def piped(*rows):
    """A Markdown table of these rows, cells between commas."""
    head, *body = (f"| {' | '.join(row.split(', '))} |\n" for row in rows)
    return head + "|---" * (rows[0].count(",") + 1) + "|\n" + "".join(body)


def p_of(rows):
    return {name: row.p_welch for name, row in rows.items()}


def test_a_letter_or_ns_at_the_end_of_a_name_is_part_of_it(tmp_path):
    body = "a2c, 93.4±0.2", "GPT-2a, 94.4±0.3", "GPT-2b, 91.0±0.3", "DS-3 ns, 95.0±0.4"
    rows, _ = audited(tmp_path, piped("Method, Return", *body) + FIVE)
    assert p_of(rows) == {
        "DS-3 ns vs a2c, Return": pytest.approx(welch((95.0, 0.4, 5), (93.4, 0.2, 5))),
        "DS-3 ns vs GPT-2a, Return": pytest.approx(welch((95.0, 0.4, 5), (94.4, 0.3, 5))),
        "DS-3 ns vs GPT-2b, Return": pytest.approx(welch((95.0, 0.4, 5), (91.0, 0.3, 5))),
    }


@pytest.mark.parametrize(
    "note",
    ["Means with the same letter do not differ.", "a: of 2020; b: ours", "a as reported. b ours"],
)
def test_a_letter_behind_a_value_is_a_footnote_where_a_note_says_it(tmp_path, note):
    text = piped("Method, Loss", "Base, 14.0 ± 0.5 a", "Ours, 12.0 ± 0.5b") + FIVE
    (row,) = audited(tmp_path, f"{text}{note}\n")[0].values()
    assert row.p_welch == pytest.approx(welch((12.0, 0.5, 5), (14.0, 0.5, 5)))
    with pytest.raises(SpecError, match="is not a number"):
        audited(tmp_path, text)


def test_bold_of_one_method_is_not_the_best(tmp_path):
    """97.5 in bold is the lowest of A, and the author's own; nobody says that lower is better."""
    cells = (
        "CLIP, 97.9±0.3, 83.1±1.6",
        "CLS, 98.7±0.1, 83.4±1.2",
        "Ours, {}97.5±0.2{}, {}90.8±1.7{}",
    )
    text = piped("Method, A, B", *cells) + FIVE
    rows, said = audited(tmp_path, text.replace("{}", "**"))
    assert set(rows) == {
        f"{pair}, {column}"
        for pair in ("CLIP vs CLS", "CLIP vs Ours", "CLS vs Ours")
        for column in "AB"
    }
    assert rows["CLIP vs CLS, A"].p_welch == pytest.approx(welch((97.9, 0.3, 5), (98.7, 0.1, 5)))
    assert "All that is bold is of one method" in said
    assert "Hsu" not in said
    assert "CLS is the best" in audited(tmp_path, text.replace("{}", ""), better="higher")[1]


@pytest.mark.parametrize(
    ("name", "values", "doubt"),
    [
        ("**Ours**", "**90.0±0.2**, 1.0±0.1", ""),
        ("Ours", "**90.0±0.2**, 1.0±0.1", "Lower is taken to be better in A, by what is in bold"),
        ("Ours", "**90.0±0.2**, 4.0±0.1", "Bold is on the highest here and on the lowest there"),
    ],
)
def test_bold_says_one_direction_and_which(tmp_path, name, values, doubt):
    other = "**5.0±0.1**" if "4.0" in values else "2.0±0.1"
    text = piped(
        "Method, A, B", "X, 93.0±0.2, 3.0±0.1", f"Y, 94.0±0.2, {other}", f"{name}, {values}"
    )
    rows, said = audited(tmp_path, text + FIVE)
    assert doubt in said
    taken = "Lower is" in said
    assert ("X vs Y, A" in rows) != taken


@pytest.mark.parametrize(
    "name",
    [
        "paired Δ ± SEM", "Δ", "Acc Δ (pp)", "ΔF1", "Mean difference", "Diff vs Base",
        "Change", "Gap", "Drop", "Differenz", "差异", "delta in %", "Relative gain over Base",
    ],
)  # fmt: skip
def test_a_column_of_differences_is_not_a_method(tmp_path, name):
    body = (
        "S1, 0.732 ± 0.104, 0.252 ± 0.018, −0.481 ± 0.113",
        "S2, 0.09 ± 0.01, 0.08 ± 0.01, −0.01 ± 0.01",
    )
    text = piped(f"Task, Baseline, Tuned, {name}", *body)
    rows, said = audited(tmp_path, f"{text}\nMSE, mean ± SEM, n = 10\n")
    assert set(rows) == {"Tuned vs Baseline, S1", "Tuned vs Baseline, S2"}
    ten = 10**0.5
    p = welch((0.252, 0.018 * ten, 10), (0.732, 0.104 * ten, 10))
    assert rows["Tuned vs Baseline, S1"].p_welch == pytest.approx(p)
    assert "Left unread" in said


def test_a_gap_or_a_small_delta_may_be_a_result(tmp_path):
    """A gap is a metric of methods in rows, and δ a method in columns."""
    rows, _ = audited(tmp_path, piped("Method, Gap", "A, 2.1 ± 0.1", "B, 1.1 ± 0.1") + FIVE)
    assert set(rows) == {"A vs B, Gap"}
    rows, _ = audited(tmp_path, piped("Task, only δ, Ours", "A, 2.1 ± 0.1, 1.1 ± 0.1") + FIVE)
    assert set(rows) == {"only δ vs Ours, A"}


def test_two_metrics_are_not_compared(tmp_path):
    head, body = "Dataset, Acc. without, Acc. with", "A, 97.8±0.4, 98.6±0.3, 0.983±0.004"
    rows, _ = audited(tmp_path, piped(f"{head}, MCC with", body) + FIVE)
    ((name, row),) = rows.items()
    assert name == "Acc. without vs Acc. with, A"
    assert row.p_welch == pytest.approx(welch((97.8, 0.4, 5), (98.6, 0.3, 5)))
    with pytest.raises(SpecError, match=r"97.8 looks like percent, and 0.983 like a share"):
        audited(tmp_path, piped(f"{head}, Q with", body) + FIVE)


@pytest.mark.parametrize(
    "corner", ["Entity", "Class", "Category", "Label", "Relation type", "Split"]
)
def test_rows_of_classes_are_not_methods(tmp_path, corner):
    body = "AGE, 87.4±0.5, 88.1±0.1", "DATE, 94.4±0.2, 96.1±0.6"
    rows, _ = audited(tmp_path, piped(f"{corner}, 5-shot, 20-shot", *body) + FIVE)
    assert {name.partition(", ")[2] for name in rows} == {"AGE", "DATE"}
    (age, _) = rows.values()
    assert age.p_welch == pytest.approx(welch((87.4, 0.5, 5), (88.1, 0.1, 5)))


@pytest.mark.parametrize("head", ["F1, Precision", "F1"])
def test_classes_of_one_method_are_not_compared_unasked(tmp_path, head):
    row = ", 90.0±0.2" * (head.count(",") + 1)
    text = piped(f"Entity, {head}", f"AGE{row}", f"DATE{row.replace('90', '94')}") + FIVE
    with pytest.raises(SpecError) as refused:
        audited(tmp_path, text)
    assert "--methods rows" in refused.value.problems[0].advice
    rows, _ = audited(tmp_path, text, methods="rows")
    assert rows["DATE vs AGE, F1"].p_welch == pytest.approx(welch((94, 0.2, 5), (90, 0.2, 5)))


def test_an_answer_by_every_reading_is_short(tmp_path):
    """The p of each reading stands in the JSON, not below the answer."""
    text = piped("Model, Acc", "Base, 90.1 ± 0.3", "Mid, 91.5 ± 0.2", "Ours, 93.4 ± 0.2*")
    (tmp_path / "t.md").write_text(f"{text}\n* p < 0.05 vs Base\n", encoding="utf-8")
    done = repro("audit", tmp_path / "t.md")
    assert "holds: Ours vs Base" in done.stdout
    assert "2 statements: 1 cannot say, 1 holds" in done.stdout
    assert not any(each in done.stdout for each in ("NOT-CHECKABLE", "p sd n 2"))
    row = json.loads(repro("audit", tmp_path / "t.md", "--json").stdout)[1]
    assert row["details"]["p_sd_n_2"] == pytest.approx(welch((93.4, 0.2, 2), (90.1, 0.3, 2)))


LONG = (
    "Dataset, Encoding, Mean Accuracy, Standard Deviation",
    "Ecoli, Gaussian, 0.65721, 0.0607", "Ecoli, Linear, 0.60549, 0.0440",
    "Iris, Linear, 0.894, 0.0831", "Iris, Gaussian, 0.861, 0.1181",
)  # fmt: skip
RUNS = (
    "algo, env_id, mean_reward, std_reward, eval_episodes",
    "a2c, Ecoli, 0.65721, 0.0607, 300", "-, Iris, 0.894, 0.0831, 297",
    "ppo, Ecoli, 0.60549, 0.0440, 300", "-, Iris, 0.861, 0.1181, 300",
)  # fmt: skip


@pytest.mark.parametrize("table", [LONG, RUNS])
def test_long_tables_compare_within_a_data_set(tmp_path, table):
    rows, _ = audited(tmp_path, piped(*table).replace("| - |", "| |"), n=10)
    assert {name.split(", ")[1] for name in rows} == {"Ecoli", "Iris"}
    assert [row.p_welch for row in rows.values()] == [
        pytest.approx(welch((0.65721, 0.0607, 10), (0.60549, 0.0440, 10))),
        pytest.approx(welch((0.894, 0.0831, 10), (0.861, 0.1181, 10))),
    ]


def test_levels_of_noise_are_not_methods(tmp_path):
    body = "A, sym, 90.1±0.3, 91.5±0.2", "A, asym, 80.1±0.3, 81.5±0.2"
    more = "B, sym, 70.1±0.3, 71.5±0.2", "B, asym, 60.1±0.3, 61.5±0.2"
    rows, _ = audited(tmp_path, piped("Dataset, Noise, Base, Ours", *body, *more) + FIVE)
    assert set(rows) == {f"Base vs Ours, {d} {n}" for d in "AB" for n in ("sym", "asym")}


def test_categories_of_methods_are_parts_of_their_names(tmp_path):
    body = "Small, Foo, 90.1±0.3", "Large, Bar, 91.5±0.2"
    rows, _ = audited(tmp_path, piped("Category, Method, Acc", *body) + FIVE)
    assert set(rows) == {"Large Bar vs Small Foo, Acc"}


HEADS = r"""\begin{tabular}{llcc}
& \multicolumn{2}{c}{CIFAR} \\
Method & 10 & 100 \\ \midrule
SGD & $95.1 \pm 0.1$ & $77.2 \pm 0.3$ \\
SAM & $\mathbf{9 6 . 0 \pm 0 . 1}$ & $79.5 \pm 0.2$ \\
\end{tabular}
mean and std over 5 seeds
"""


@pytest.mark.parametrize(
    "text", [HEADS, HEADS.replace("& \\multicolumn{2}{c}{CIFAR} \\\\\n", "")], ids=["two", "one"]
)
def test_heads_may_be_whole_numbers(tmp_path, text):
    rows, _ = audited(tmp_path, text, "t.tex")
    of = {name.split(", ")[1]: row.p_welch for name, row in rows.items()}
    name = "CIFAR " * ("CIFAR" in text)
    assert of == {
        f"{name}10": pytest.approx(welch((95.1, 0.1, 5), (96.0, 0.1, 5))),
        f"{name}100": pytest.approx(welch((77.2, 0.3, 5), (79.5, 0.2, 5))),
    }


def test_a_first_row_of_whole_numbers_stays_a_method(tmp_path):
    body = "Chance, 10, 1", "SGD, 95.1±0.1, 77.2±0.3", "SAM, 96.0±0.1, 79.5±0.2"
    rows, _ = audited(tmp_path, piped("Method, C10, C100", *body) + FIVE)
    assert set(rows) == {"SGD vs SAM, C10", "SGD vs SAM, C100"}


KEYED = r"""\begin{tabular}{c|c|cc}
\hline & $k$ & Uniform & LBCS (ours) \\
\hline \multirow{2}{*}{5} & 1000 & $28.5 \pm 3.1$ & $\mathbf{3 3 . 9} \pm \mathbf{0 . 8}$ \\
& 2000 & $46.6 \pm 2.7$ & $47.5 \pm 2.2$ \\
\end{tabular}
mean and std over 5 seeds
"""


def test_numbers_behind_names_that_come_again_are_keys(tmp_path):
    rows, _ = audited(tmp_path, KEYED, "t.tex", better="higher")
    assert set(rows) == {"LBCS (ours) vs Uniform, 5 1000", "LBCS (ours) vs Uniform, 5 2000"}
    p = welch((33.9, 0.8, 5), (28.5, 3.1, 5))
    assert rows["LBCS (ours) vs Uniform, 5 1000"].p_welch == pytest.approx(p)


def test_a_table_in_a_cell_of_the_head_is_its_text(tmp_path):
    inner = "\\begin{tabular}{c} \nONLY \\\\\n$\\delta$\n\\end{tabular}"
    text = f"\\begin{{tabular}}{{c|cc}}\nTask & {inner} & OURS \\\\ \\hline\n"
    text += (
        "A & $68.9 \\pm 0.4$ & $72.8 \\pm 0.7$ \\\\\n\\end{tabular}\nmean and std over 5 seeds\n"
    )
    (row,) = audited(tmp_path, text, "t.tex")[0].values()
    assert row.p_welch == pytest.approx(welch((68.9, 0.4, 5), (72.8, 0.7, 5)))
    with pytest.raises(SpecError, match="a second table"):
        audited(tmp_path, text + text, "t.tex")


def test_columns_of_two_units_are_not_compared(tmp_path):
    head, body = "Task, Base (ms), Ours (ms), Ours (MB)", "A, 20.1±0.4, 18.6±0.3, 19.8±0.4"
    rows, _ = audited(tmp_path, piped(head, body) + FIVE)
    ((name, row),) = rows.items()
    assert name == "Base (ms) vs Ours (ms), A"
    assert row.p_welch == pytest.approx(welch((20.1, 0.4, 5), (18.6, 0.3, 5)))


def test_each_metric_of_a_long_table_has_its_direction(tmp_path):
    """The caption tells of accuracy; of NLL the lowest is the best."""
    body = "A, Acc, 96.1, 0.1", "A, NLL, 0.12, 0.01", "B, Acc, 95.0, 0.2", "B, NLL, 0.18, 0.01"
    more = "C, Acc, 94.0, 0.2", "C, NLL, 0.22, 0.01"
    text = piped("Model, Metric, Mean, SD", *body, *more)
    rows, _ = audited(tmp_path, f"{text}\nAccuracy and more, 5 seeds\n")
    both = {f"A vs {other}, {metric}, Mean" for other in "BC" for metric in ("Acc", "NLL")}
    assert set(rows) == both
    p = welch((0.12, 0.01, 5), (0.18, 0.01, 5))
    assert rows["A vs B, NLL, Mean"].p_welch == pytest.approx(p)


def test_a_table_of_differences_alone_is_refused(tmp_path):
    text = piped("vs, mean diff, p", "PSO, +0.1283, 1.02e-03", "Adam, +0.2317, 0.18")
    with pytest.raises(SpecError, match="only differences or statistics are printed"):
        audited(tmp_path, text)


def test_columns_of_metrics_of_one_method_tell_how_to_compare_rows(tmp_path):
    text = piped("Dataset, Accuracy, F1", "A, 76.1±0.1, 77.3±0.1", "B, 66.1±0.1, 67.3±0.1") + FIVE
    with pytest.raises(SpecError) as refused:
        audited(tmp_path, text)
    assert "--methods rows" in refused.value.problems[0].advice
    rows, _ = audited(tmp_path, text, methods="rows")
    assert rows["A vs B, F1"].p_welch == pytest.approx(welch((77.3, 0.1, 5), (67.3, 0.1, 5)))


def test_times_are_not_compared_with_accuracies(tmp_path):
    head = "Task, Acc (A), Acc (B), Time (A), Time (B)"
    rows, _ = audited(tmp_path, piped(head, "X, 93.4±0.2, 94.4±0.2, 10±1, 20±1") + FIVE)
    assert set(rows) == {"Acc (A) vs Acc (B), X", "Time (A) vs Time (B), X"}


def test_bold_of_one_method_is_the_best_where_a_note_says_so(tmp_path):
    cells = (
        "Base, 6.60±0.11, 3.20±0.05",
        "X, 6.10±0.09, 3.70±0.06",
        "Ours, **5.1±0.1**, **3.1±0.1**",
    )
    _, said = audited(tmp_path, piped("Method, A, B", *cells) + FIVE + "Best results are in bold.")
    assert "Lower is taken to be better, by what is in bold" in said


@pytest.mark.parametrize("text", ["93.1 [92.0 93.4]", "93.1 (92.0--93.4)", "93.1 (92.0, 93.4)"])
def test_an_asymmetric_interval_is_no_spread_and_no_mistake(tmp_path, text):
    table = f"| Method | Acc |\n|---|---|\n| A | {text} |\n| B | 94.5 (94.1 94.9) |\n"
    rows, said = audited(tmp_path, f"{table}\n5 seeds\n")
    ((name, row),) = rows.items()
    assert (name, row.answer) == ("B vs A, Acc", "cannot say")
    assert row.reason.startswith("the interval of 93.1 is asymmetric")
    assert "outside" not in said


def test_two_hyphens_between_the_ends_of_an_interval_are_a_dash(tmp_path):
    cells = "A, 0.711 (0.651--0.771)", "B, 0.901 (0.881--0.921)", "C, -0.70 (-0.80--0.60)"
    rows, _ = audited(tmp_path, piped("Method, Gap", *cells) + "\n5 seeds, 95% CI\n")
    t = stats.t.ppf(0.975, 4)
    arms = [(mean, half * 5**0.5 / t, 5) for mean, half in ((0.711, 0.06), (0.901, 0.02))]
    assert rows["A vs B, Gap"].details["p_ci95-t"] == pytest.approx(welch(*arms))
    third = -0.70, 0.1 * 5**0.5 / t, 5
    assert rows["B vs C, Gap"].details["p_ci95-t"] == pytest.approx(welch(arms[1], third))


def test_a_number_below_one_with_a_spread_above_it_is_not_a_share(tmp_path):
    cells = "A, 0.36±8.69", "B, 36.4±5.2"
    (row,) = audited(tmp_path, piped("Method, Score", *cells) + FIVE)[0].values()
    assert row.p_welch == pytest.approx(welch((36.4, 5.2, 5), (0.36, 8.69, 5)))
    with pytest.raises(SpecError, match="like a share"):
        audited(tmp_path, piped("Method, Score", "A, 0.36±0.02", "B, 36.4±5.2") + FIVE)


def test_a_low_score_with_no_more_digits_than_the_others_is_not_a_share(tmp_path):
    head = "Environment, DT (Ours), BEAR, BRAC-v"
    rows, _ = audited(
        tmp_path, piped(head, "Hopper, 107.6±1.8, 96.3±0.9, 0.8±0.1") + FIVE, better="higher"
    )
    assert rows["DT (Ours) vs BRAC-v, Hopper"].p_welch == pytest.approx(
        welch((107.6, 1.8, 5), (0.8, 0.1, 5))
    )


def test_a_bound_that_rounding_leaves_open_does_not_hold_by_any_reading(tmp_path):
    """The numbers give p from .0017 to .012 as intervals by t, and from .011 to .051 by z."""
    text = (
        "| Method | A | p |\n|---|---|---|\n| Base | 90.1 ± 0.6 | |\n| Ours | 91.2 ± 0.5 | {} |\n"
    )
    said = "\n5 seeds, mean ± 95% CI\n"
    for bound, answer in (("<0.06", "holds"), ("<0.028", "cannot say")):
        (row,) = audited(tmp_path, text.format(bound) + said)[0].values()
        assert (bound, row.answer) == (bound, answer)
