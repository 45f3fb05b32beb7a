"""The audit of a text as a user pastes it, and Welch's test by scipy, for the tests of both."""

from __future__ import annotations

from scipy import stats

from repro.audit.audit import audit_paths
from repro.audit.printed_pairs import Decided


def audited(folder, text, name="table.txt", **decided):
    """The rows of the audit of a text by their names, and what is said of the table."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    (audit,) = audit_paths([path], decided=Decided(**decided))
    return {row.id: row for row in audit.rows}, " ".join(audit.said)


def rows_of(folder, text, name="table.txt", **options):
    """The rows of the audit of a text, in their order."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    (audit,) = audit_paths([path], **options)
    return audit.rows


def correlation(r, df):
    """Two-sided p of a correlation."""
    return 2 * stats.t.sf(r * (df / (1 - r * r)) ** 0.5, df)


def welch(a, b):
    """p of Welch's test of two arms, each mean, sd and n."""
    (mean_a, sd_a, n_a), (mean_b, sd_b, n_b) = a, b
    return stats.ttest_ind_from_stats(mean_a, sd_a, n_a, mean_b, sd_b, n_b, equal_var=False).pvalue
