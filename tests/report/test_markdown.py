from __future__ import annotations

import re

from repro.judging.document import Document
from repro.report.markdown import summary


def rows(text: str) -> list[list[str]]:
    """The cells of the rows of every table."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    found = [re.split(r" (?<!\\)\| ", line.strip("| ")) for line in lines]
    return [cells for cells in found if cells[0] not in {"Claim", "---"}]


def test_a_row_a_claim(documents: dict[str, Document]) -> None:
    """Every claim is there once, and says why where it is urgent."""
    found = rows(summary(documents.values()))
    assert len(found) == len(documents)
    assert {len(cells) for cells in found} == {4, 5}
    names = ("mos_rank", "plif", "fair_mos")
    short = rows(summary(documents[name] for name in names))
    assert [cells[1] for cells in short] == ["INCONCLUSIVE", "CONTRADICTED", "CONFIRMED"]


def test_text_stays_text(documents: dict[str, Document]) -> None:
    """Pipes, line breaks, markup and mentions in a title do nothing."""
    (row,) = [line for line in summary([documents["hostile"]]).splitlines() if "script" in line][:1]
    assert "&lt;script&gt;" in row
    assert r"\*bold\*" in row
    assert r"\| pipe" in row
    assert "@ref" not in row


def test_surprises_stand_first(documents: dict[str, Document]) -> None:
    """A verdict that deviates from what its claim file declares says so, and why."""
    text = summary([documents["plif"], documents["thirty_seeds"]])
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings[0] == ("## 1 not as expected, of 2 verdicts: 2 CONTRADICTED")
    assert headings[1] == "### Not as expected"
    first, second = rows(text)
    assert first[3].startswith("CONFIRMED was expected")
    assert first[4] == documents["thirty_seeds"].verdict.sentence
    assert "expected" not in " ".join(second)


def test_nothing() -> None:
    """Without a document there is a sentence instead of a table."""
    assert summary([]) == "No claim was judged.\n"
