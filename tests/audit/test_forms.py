"""Forms of p, of intervals and of captions in a printed table; every p again by scipy."""

from __future__ import annotations

import re
import time

import pytest
from scipy import stats

from repro.audit.audit import audit_paths
from repro.errors import SpecError
from tests.audit.printed import audited, rows_of, welch

HEAD = "| Method | Acc | p |\n|---|---|---|\n| A | 93.4 ± 0.2 | |\n"
NOTE = "\nmean ± std, 5 seeds, vs. A\n"


@pytest.mark.parametrize(("n", "p"), [(335, "0.003"), (4_000, "<1e-23")])
def test_n_between_those_tried_or_above(tmp_path, n, p):
    """335 lies between 100 and 1,000, and 4,000 above: neither p is said to be of no t-test."""
    exact = welch((30.47, 6.33, n), (28.82, 7.91, n))
    assert exact < 1e-23 if p.startswith("<") else exact == pytest.approx(0.003, abs=5e-4)
    text = f"Group,Mean,Std,p-value\nA,28.82,7.91,\nB,30.47,6.33,{p}\n"
    rows, _ = audited(tmp_path, text)
    row = rows["B vs A, Mean"]
    assert row.answer == "cannot say"
    assert f"p {p}".replace("p 0", "p = 0") in row.reason
    assert "another test" not in row.reason
    assert "Decide it by --n" in row.reason
    if n == 335:
        assert "n near 335" in row.reason
        rows, _ = audited(tmp_path, text, n=335)
        assert rows["B vs A, Mean"].answer == "holds"


def test_no_number_of_runs_gives_it(tmp_path):
    """Equal means have no small p, of however many runs."""
    text = "Group,Mean,Std,p-value\nA,28.82,7.91,\nB,28.82,6.33,0.9995\nC,28.82,6.33,<1e-90\n"
    rows, _ = audited(tmp_path, text)
    assert "no t-test" in rows["C vs A, Mean"].reason


@pytest.mark.parametrize("cell", ["0.46", "0.46 (n.s.)", "0.46 (ns)", "0.46 (not significant)"])
def test_a_p_with_its_verdict_in_brackets(tmp_path, cell):
    """One such cell leaves the column what it is."""
    assert welch((93.5, 0.2, 5), (93.4, 0.2, 5)) == pytest.approx(0.4525, abs=1e-3)
    text = f"{HEAD}| B | 94.4 ± 0.2 | <.001 (***) |\n| C | 93.5 ± 0.2 | {cell} |\n{NOTE}"
    rows, _ = audited(tmp_path, text, "a.md")
    assert [(row.p_printed, row.answer) for row in rows.values()] == [
        ("<.001", "holds"),
        ("0.46", "holds"),
    ]


def test_a_p_that_is_not_read_leads(tmp_path):
    """What changes the answers stands above them."""
    text = "| Data | A | B | C | p |\n|---|---|---|---|---|\n| iris | 93.4 ± 0.2 | 94.4 ± 0.2 "
    text += "| 94.0 ± 0.2 | .01 |\n\nmean ± std, 5 seeds"
    path = tmp_path / "a.md"
    path.write_text(text, encoding="utf-8")
    (audit,) = audit_paths([path])
    assert any("is not checked" in each for each in audit.lead)


def test_powers_of_ten_in_latex(tmp_path):
    text = (
        "\\begin{tabular}{lcc}\nMethod & Acc & $p$ \\\\\nA & 93.10 $\\pm$ 0.30 & -- \\\\\n"
        "B & 94.20 $\\pm$ 0.20 & $<10^{-3}$ \\\\\n"
        "C & 93.36 $\\pm$ 0.20 & $1.5\\times 10^{-1}$ \\\\\n\\end{tabular}\n"
        "\\caption{$n=5$ seeds, mean and SD.}\n"
    )
    base = (93.1, 0.3, 5)
    assert welch((94.2, 0.2, 5), base) < 1e-3
    assert welch((93.36, 0.2, 5), base) == pytest.approx(0.15, abs=5e-3)
    rows, _ = audited(tmp_path, text, "a.tex")
    assert [row.answer for row in rows.values()] == ["holds", "holds"]


@pytest.mark.parametrize(
    "caption",
    [
        "Mean and standard deviation over 5 runs, best in bold.",
        "mean ± s.d., 5 seeds",
        "Mean and SD, 5 runs each.",
        '"Mean and SD, 5 runs"',
    ],
)
def test_a_caption_with_a_comma_below_a_csv(tmp_path, caption):
    """It says n and what ± is, whether a blank line is before it or not."""
    for gap in ("", "\n"):
        rows, said = audited(tmp_path, f"Model,BLEU\nA,27.3±0.2\nB,28.4±0.3\n{gap}{caption}\n")
        assert "n = 5" in said
        exact = welch((28.4, 0.3, 5), (27.3, 0.2, 5))
        assert f"p = {exact:.3g}" in rows["B vs A, BLEU"].reason


def test_a_row_with_a_blank_behind_its_comma_is_no_caption(tmp_path):
    text = "Model, BLEU, F1\nA one, 27.3±0.2, 3.1±0.1\nB two, 28.4±0.3, 4.0±0.1\n"
    rows, _ = audited(tmp_path, text, n=5, plus_minus="sd")
    assert list(rows) == ["B two vs A one, BLEU", "B two vs A one, F1"]
    text = "Model,BLEU\nA,27.3±0.2\nB long name, rate=28.4 ± 0.3\n"
    with pytest.raises(SpecError, match="is not a number"):
        audited(tmp_path, text)


def interval(mean, half, n):
    """Mean, deviation and n behind half of a 95 % interval of t."""
    return mean, half * n**0.5 / stats.t.ppf(0.975, n - 1), n


@pytest.mark.parametrize(
    "text",
    [
        "Method,Acc [95% CI]\nA,91.0 [90.2 91.8]\nB,93.0 [92.2 93.8]\n",
        'Method,Acc,95% CI\nA,91.0,"[90.2, 91.8]"\nB,93.0,"[92.2, 93.8]"\n',
        "Method,Acc,95% CI\nA,91.0,90.2-91.8\nB,93.0,92.2-93.8\n",
        "Method,Acc,95% CI\nA,91.0,(90.2 to 91.8)\nB,93.0,(92.2 to 93.8)\n",
    ],
)
def test_intervals_of_both_ends(tmp_path, text):
    """In the cell without a comma, or in a column of their own."""
    rows, _ = audited(tmp_path, text, n=5, plus_minus="ci95-t")
    (row,) = rows.values()
    exact = welch(interval(93.0, 0.8, 5), interval(91.0, 0.8, 5))
    assert (row.answer, f"p = {exact:.3g}" in row.reason) == ("holds", True)


def test_an_interval_of_something_else_is_left_unread(tmp_path):
    """One of a difference, or of a ratio, is not around the mean."""
    text = "Method,Acc,95% CI\nA,91.0,90.2-91.8\nB,93.0,0.3-3.7\nC,1.00,0.5-2.00\n"
    rows, said = audited(tmp_path, text, n=5)
    assert "Left unread: 95% CI" in said
    assert {row.answer for row in rows.values()} == {"cannot say"}


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        (
            (
                "| | A vs B | C vs D |\n|---|---|---|\n| t | 2.20 | 1.00 |\n| df | 28 | 28 |\n"
                "| p | .036 | .033 |\n"
            ),
            ("holds", "does not"),
        ),
        ("t,2.20\ndf,28\np,.36\n", ("does not",)),
        (
            "| Test | Value |\n|---|---|\n| t | 2.20 |\n| df | 28 |\n| p-value | .036 |\n",
            ("holds",),
        ),
        (
            "\tAge\tSize\nF\t4.10\t0.50\ndf1\t2\t1\ndf2\t57\t20\np\t.022\t.049\n",
            ("holds", "does not"),
        ),
        ("term,t,df,p\nx,2.20,28,*\ny,1.0,28,*\n\n* p < .05\n", ("holds", "does not")),
    ],
)
def test_statistics_in_rows_and_stars_for_p(tmp_path, text, answers):
    """t, df and p below each other; stars in the column of p, with their legend."""
    assert 2 * stats.t.sf(2.2, 28) == pytest.approx(0.036, abs=5e-4)
    assert stats.f.sf(4.1, 2, 57) == pytest.approx(0.022, abs=5e-4)
    rows, _ = audited(tmp_path, text)
    assert tuple(row.answer for row in rows.values()) == answers


def test_stars_in_the_column_of_p_of_means(tmp_path):
    text = f"{HEAD}| B | 94.4 ± 0.2 | ** |\n| C | 93.4 ± 0.2 | * |\n{NOTE}"
    rows, said = audited(tmp_path, f"{text}* p < .05, ** p < .01\n", "a.md")
    assert [row.answer for row in rows.values()] == ["holds", "cannot say"]
    assert "*" not in said
    assert "'**', which has no legend" in audited(tmp_path, text, "a.md", baseline="A")[1]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            (
                "| vs | mean diff | W | p |\n|---|---|---|---|\n| A | +0.1 | 7.5 | .001 |\n"
                "| B | +0.2 | 0.0 | .002 |\n"
            ),
            "the p of W takes the values of every run",
        ),
        (
            (
                "| Model | DiD Estimate | Robust SE | p-value |\n|---|---|---|---|\n"
                "| (1) | 0.06 | 0.01 | <.001 |\n| (2) | 0.05 | 0.01 | <.001 |\n"
            ),
            "t is the coefficient divided by its standard error",
        ),
        ("t,2.20\np,.36\n", "t has no degrees of freedom"),
    ],
)
def test_what_cannot_be_computed_is_refused_with_a_hint(tmp_path, text, what):
    with pytest.raises(SpecError) as caught:
        audited(tmp_path, text)
    assert what in str(caught.value)


def test_thousands_of_methods_are_refused_at_once(tmp_path):
    """Before their pairs are made, with and without a baseline."""
    text = "Method,Acc\n" + "".join(f"M{at},{at / 100:.2f}±0.3\n" for at in range(6_000))
    began = time.process_time()
    for baseline, hint in ((None, "--baseline"), ("M1", "leave methods out")):
        with pytest.raises(SpecError) as caught:
            audited(tmp_path, text, n=5, plus_minus="sd", baseline=baseline)
        assert hint in str(caught.value)
    assert time.process_time() - began < 30


def test_rows_of_precision_and_recall_are_no_correlation(tmp_path):
    text = "| | A | B |\n|---|---|---|\n| N | 100 | 100 |\n| P | .91 | .92 |\n| R | .90 | .91 |\n"
    rows, _ = audited(tmp_path, text, "a.md", methods="columns")
    assert {row.answer for row in rows.values()} == {"cannot say"}


MATH = (
    '<math id="m" alttext="{0}\\pm {1}" display="inline"><semantics>\n<mrow><mn>{0}</mn>'
    "<mo>±</mo><mn>{1}</mn></mrow>\n<annotation-xml><csymbol>plus-or-minus</csymbol><cn>{0}</cn>"
    '</annotation-xml><annotation encoding="application/x-tex">{0}\\pm {1}</annotation>'
    "</semantics></math>"
)


@pytest.mark.parametrize("alttext", [True, False])
def test_a_formula_of_html_is_read_once(tmp_path, alttext):
    def table(cell):
        rows = "".join(
            f"<tr><td>{name}</td><td>{cell.format(*of)}</td></tr>\n"
            for name, of in (("A", ("18.70", "0.05")), ("B", ("18.52", "0.06")))
        )
        down = MATH.format("x", "y").replace("x\\pm y", "\\downarrow") if cell == MATH else "↓"
        text = (
            f"<p>SD, n = 5.</p><table>\n<tr><th>Model</th><th>PPL {down}</th></tr>\n{rows}</table>"
        )
        return text if alttext else re.sub('alttext="[^"]*"', "", text)

    (row,) = rows_of(tmp_path, table(MATH))
    (plain,) = rows_of(tmp_path, table("{} ± {}"))
    assert row.p_interval == plain.p_interval
    assert row.answer == plain.answer == "holds"


def test_a_statistic_in_a_formula_of_html(tmp_path):
    text = '<p>It differed, <math alttext="t(28)=2.20"><mi>t</mi><annotation>t(28)=2.20'
    text += '</annotation></math>, <math alttext="p=.21"><mi>p</mi></math>.</p>'
    assert [row.answer for row in rows_of(tmp_path, text)] == ["does not"]
