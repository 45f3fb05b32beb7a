"""Hsu's comparison with the best: its constants, its coverage, and what a table is told."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from repro.audit.audit import audit_paths
from repro.audit.best import constant

SEED = 20261127
DUNNETT = {
    5: (2.02, 2.44, 2.68),
    10: (1.81, 2.15, 2.34),
    20: (1.72, 2.03, 2.19),
    60: (1.67, 1.95, 2.10),
}
"""Dunnett 1955, Table 1a: one-sided, 5 %, one to three methods against one, by df."""

TABLE = "Method,Accuracy,n\nA,90.0 ± 1.0,10\nB,90.2 ± 1.1,10\nC,87.0 ± 0.9,10\n"


@pytest.mark.parametrize("df", list(DUNNETT))
def test_published_constants(df):
    """To the two decimals that are printed."""
    found = [constant(others, df) for others in (1, 2, 3)]
    assert found == pytest.approx(DUNNETT[df], abs=0.0051)


def test_one_other_is_student():
    """With two methods it is the one-sided t-test."""
    assert constant(1, 12) == pytest.approx(stats.t.ppf(0.95, 12), rel=1e-6)


@pytest.mark.parametrize("others", [3, 7])
def test_multivariate_t(others):
    """The distribution of `scipy` has the same quantile, to its own Monte Carlo error."""
    shape = np.full((others, others), 0.5) + 0.5 * np.eye(others)
    apart = stats.multivariate_t(shape=shape, df=15, seed=SEED)
    ends = np.full(others, constant(others, 15))
    assert apart.cdf(ends, maxpts=200_000, random_state=SEED) == pytest.approx(0.95, abs=1e-3)


@pytest.mark.parametrize("means", [(0, 0, 0, 0), (0, 0, 0, 2), (0, 0.5, 1, 1)])
def test_simultaneous_coverage(means):
    """All intervals of mean minus the best other hold together in 95 % or more."""
    rng = np.random.default_rng(SEED)
    k, n, draws = len(means), 5, 20_000
    values = rng.normal(np.array(means)[None, :, None], 1, (draws, k, n))
    mean, pooled = values.mean(2), np.sqrt(values.var(2, ddof=1).mean(1))
    width = constant(k - 1, k * (n - 1)) * pooled * np.sqrt(2 / n)
    held = np.ones(draws, dtype=bool)
    for i in range(k):
        others = [j for j in range(k) if j != i]
        true = means[i] - max(means[j] for j in others)
        found = mean[:, i] - mean[:, others].max(1)
        held &= np.minimum(found - width, 0) <= true
        held &= true <= np.maximum(found + width, 0)
    error = np.sqrt(0.05 * 0.95 / draws)
    assert held.mean() >= 0.95 - 3 * error


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
        ("87.0 ± 0.9", "87.0 ± 9.0"),
        ("87.0 ± 0.9", "87.0"),
        ("Accuracy (sd)", "Result (sd)"),
    ],
)
def test_nothing_is_said_where_it_does_not_hold(tmp_path, old, new):
    """Unequal n, deviations far apart, a spread missing, or no direction."""
    table = TABLE.replace("Accuracy", "Accuracy (sd)").replace(old, new)
    assert sentence(tmp_path, table) == []
