from __future__ import annotations

import re

from repro.judging.document import Document
from repro.report.markdown import summary


def test_a_row_a_claim(documents: dict[str, Document]) -> None:
    """Rows are sorted by claim, and every row has as many cells as the head."""
    table = summary(documents.values()).splitlines()
    assert len(table) == 2 + len(documents)
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table}) == 1
    names = ("fair_mos", "plif", "mos_rank")
    short = summary(documents[name] for name in names).splitlines()[2:]
    assert [row.split("|")[4].strip() for row in short] == [
        "INCONCLUSIVE", "CONTRADICTED", "CONFIRMED",
    ]  # fmt: skip


def test_text_stays_text(documents: dict[str, Document]) -> None:
    """Pipes, line breaks, markup and mentions in a title do nothing."""
    row = summary([documents["hostile"]]).splitlines()[2]
    assert "&lt;script&gt;" in row
    assert r"\*bold\*" in row
    assert r"\| pipe" in row
    assert "@ref" not in row


def test_surprises_are_marked(documents: dict[str, Document]) -> None:
    """A verdict that deviates from what its claim file declares says so."""
    assert "CONTRADICTED (not as expected)" in summary([documents["thirty_seeds"]])
    assert "CONTRADICTED |" in summary([documents["plif"]])


def test_nothing() -> None:
    """Without a document there is a sentence instead of a table."""
    assert summary([]) == "No claim was judged.\n"
