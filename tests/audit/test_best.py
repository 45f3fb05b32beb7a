"""Hsu's comparison with the best: how often it errs, and what a table is told."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from repro.audit.audit import audit_paths
from repro.audit.best import compared_with_the_best
from repro.audit.comparison import PrintedArm

SEED = 20261127

TABLE = "Method,Accuracy,n\nA,90.0 ± 1.0,10\nB,90.2 ± 1.1,10\nC,87.0 ± 0.9,10\n"


def of_rows(values, n):
    """Methods with these means and deviations, printed to six places."""
    return {
        name: PrintedArm.read(f"{mean:.6f}", f"{sd:.6f}", n)
        for name, (mean, sd) in zip("ABCDEF", values, strict=False)
    }


@pytest.mark.parametrize("deviations", [(1, 1, 1), (3, 1, 1), (0.2, 1, 1), (0.1,) + 5 * (1,)])
@pytest.mark.parametrize("n", [3, 10])
def test_the_best_is_rarely_ruled_out(n, deviations):
    """The first is best by next to nothing, and ruled out in at most 7 %, as drawn here."""
    rng = np.random.default_rng(SEED)
    draws, sds = 2000, np.array(deviations)
    values = sds[:, None] * rng.standard_normal((draws, len(sds), n))
    moments = zip(values.mean(2), values.std(2, ddof=1), strict=True)
    wrong = 0
    for mean, sd in moments:
        (said,) = compared_with_the_best(of_rows(zip(mean, sd, strict=True), n), "higher", "x")
        wrong += "A" in said.partition("ruled out: ")[2]
    assert wrong / draws <= 0.07 + 3 * np.sqrt(0.07 * 0.93 / draws)


def test_the_limit_is_that_of_welch():
    """B is ruled out just where Welch's p on one side is below 5 % over two."""
    for apart in np.linspace(0.5, 3.5, 31):
        rows = [(apart, 1.0), (0.0, 2.0), (-100.0, 1.0)]
        (said,) = compared_with_the_best(of_rows(rows, 8), "higher", "x")
        p = stats.ttest_ind_from_stats(
            apart, 1.0, 8, 0.0, 2.0, 8, equal_var=False, alternative="greater"
        ).pvalue
        assert ("ruled out: B, C" in said) == (p < 0.025)


def sentence(folder, text):
    """What the audit of a text says of Hsu's comparison."""
    path = folder / "t.csv"
    path.write_text(text, encoding="utf-8")
    (audit,) = audit_paths([path])
    return [said for said in audit.findings if "Hsu" in said]


def test_a_table_is_told_which_may_be_the_best(tmp_path):
    """A and B are too near, C is ruled out."""
    (said,) = sentence(tmp_path, TABLE.replace("Accuracy", "Accuracy (sd)"))
    assert "A, B may be the best" in said
    assert "ruled out: C" in said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("87.0 ± 0.9,10", "87.0 ± 0.9,5"),
        ("87.0 ± 0.9", "87.0 ± 0.0"),
        ("87.0 ± 0.9", "87.0"),
        ("Accuracy (sd)", "Result (sd)"),
    ],
)
def test_nothing_is_said_where_it_does_not_hold(tmp_path, old, new):
    """Unequal n, no deviation, a spread missing, or no direction."""
    table = TABLE.replace("Accuracy", "Accuracy (sd)").replace(old, new)
    assert sentence(tmp_path, table) == []


def test_deviations_may_differ(tmp_path):
    """C scatters nine times as much, and errs for itself; pooled, nothing could be said."""
    (said,) = sentence(
        tmp_path,
        TABLE.replace("Accuracy", "Accuracy (sd)").replace("87.0 ± 0.9", "60.0 ± 9.0"),
    )
    assert "A, B may be the best; ruled out: C" in said


def test_many_methods_of_few_runs_are_not_compared(tmp_path):
    """Seven methods of three runs: there the best is ruled out in more than 7 % of columns."""
    rows = "".join(f"M{i},9{i}.0 ± 1.0,3\n" for i in range(7))
    assert sentence(tmp_path, f"Method,Accuracy (sd),n\n{rows}") == []
