"""A row for each part: merged where parts say the same of two arms, with a common axis."""

from __future__ import annotations

import csv
import io

import pytest

from repro.judging.document import Document
from repro.report.figures.bars import bars
from repro.report.html import html
from repro.report.parts import SHOWN, other_parts, parts
from repro.report.view import view
from repro.report.write import values
from tests.report.documents import RANK, base, make, result


def ratio(name: str, arms: list[str], **changes: object) -> dict[str, object]:
    labels = {"mos": "MoS, K = 4", "moc": "MoC, K = 4", "softmax": "Softmax"}
    a, b = (labels[arm] for arm in arms)
    given = {
        "kind": "ratio", "scale": "ratio", "effect": 23.6, "claimed": "above",
        "statement": f"Rank: {a} is at least 10 times {b}", "conclusion": "CONFIRMED",
        "interval": {"low": 20.0, "high": 27.0, "level": 0.9},
        "limits": [{"value": 10.0, "label": "at least 10 times", "why": "as printed"}],
    }  # fmt: skip
    return result(name, RANK, arms, **{**given, **changes})


def test_parts_that_say_the_same_of_two_arms_are_one_row() -> None:
    """They read the same but for one arm; another number, or another arm too, is another row."""
    alike = [ratio("x", ["mos", "moc"]), ratio("y", ["mos", "softmax"])]
    table = parts(make(results=alike))
    assert table is not None
    (row,) = table.groups[0].rows
    assert row.claim == "Rank: MoS, K = 4 is at least 10 times each of MoC, K = 4 and Softmax"
    assert (row.found, row.interval) == ("23.6 times", "20.0 to 27.0 times (90%)")
    for other in (ratio("y", ["mos", "softmax"], effect=9.0), ratio("y", ["softmax", "mos"])):
        apart = parts(make(results=[alike[0], other]))
        assert apart is not None
        assert sum(len(group.rows) for group in apart.groups) == 2


def test_what_goes_against_the_claim_is_in_sight() -> None:
    """Of more rows than fit, the others wait in a fold, and the note says how many."""
    many = [ratio(f"x{i}", ["mos", "moc"], effect=20.0 + i) for i in range(SHOWN + 3)]
    many[-1]["conclusion"] = "CONTRADICTED"
    document = make(results=many)
    table, more = parts(document), other_parts(document)
    assert table is not None
    assert more is not None
    rows = [row for group in table.groups for row in group.rows]
    assert len(rows) == SHOWN
    assert rows[0].badge.word == "contradicted"
    assert sum(len(group.rows) for group in more.groups) == 3
    assert "3 more rows among the parts, one by one." in table.note


def test_rows_of_one_unit_share_an_axis() -> None:
    """An effect, an interval without an end, the claimed side and the limit are drawn."""
    both = [
        ratio("x", ["mos", "moc"]),
        ratio("y", ["mos", "softmax"], effect=40.0, interval={"low": 30.0, "high": None,
                                                              "level": 0.9}),
    ]  # fmt: skip
    table = parts(make(results=both))
    assert table is not None
    drawn, axis = bars(table.groups[0])
    assert [svg.count("<circle") for svg in drawn] == [1, 1]
    assert [svg.count("<polygon") for svg in drawn] == [0, 1]
    assert all(svg.count("<rect") == 1 and "stroke-dasharray" in svg for svg in drawn)
    limits = {svg.split("stroke-dasharray")[0].rsplit('x1="', 1)[1][:6] for svg in drawn}
    assert len(limits) == 1
    assert axis.count("<text") >= 2
    on_paper, _ = bars(table.groups[0], paper=True)
    assert "var(" not in "".join(on_paper)


def test_values_are_read_back(documents: dict[str, Document]) -> None:
    """Every value of every run once, and no cell begins as a formula."""
    document = documents["mos_rank"]
    rows = list(csv.DictReader(io.StringIO(values(document))))
    told = {(r["arm"], int(r["seed"]), r["measurement"]): float(r["value"]) for r in rows}
    held = {
        (arm.id, run.number, key): value
        for arm in document.arms
        for run in arm.replicates
        for key, value in run.values.items()
    }
    assert told == held
    hostile = make(arms=[{**base()["arms"][0], "id": "=cmd()"}])
    assert "\n=" not in values(hostile)


@pytest.mark.parametrize(
    ("citation", "address"),
    [
        ("Yang et al., arXiv 1711.03953v1", "https://arxiv.org/abs/1711.03953v1"),
        ("Doe (2020), doi:10.1000/xyz-1.2.", "https://doi.org/10.1000/xyz-1.2"),
        ("Doe, https://example.org/paper?a=1&b=2", "https://example.org/paper?a=1&b=2"),
        ('Doe, https://example.org/"onclick=x', "https://example.org/"),
        ("Doe, javascript:alert(1)", ""),
        ("Doe (2020), a book", ""),
    ],
)
def test_the_address_of_the_paper(citation: str, address: str) -> None:
    """Only what is an address, a DOI or a number of arXiv; as it is in a link, escaped."""
    source = {**base()["claim"]["source"], "citation": citation, "locator": "Table 1"}
    document = make(claim={**base()["claim"], "source": source})
    assert view(document).paper == address
    page = html(document).decode()
    shown = address.replace("&", "&amp;")
    assert (f'<a href="{shown}" rel="noreferrer">Paper</a>' in page) is bool(address)


def test_code_is_set_as_code_and_units_stay_with_their_numbers() -> None:
    """A backtick never stands on a page, nor a per cent sign apart from its number."""
    text = "Write `seeds: {plan: 5}` for a chance of 80%, ± 3 at p = 0.03."
    page = html(make(changes=[{"text": text, "command": "x --by 10%"}])).decode()
    assert "<code>seeds: {plan: 5}</code> for a chance of 80\N{NO-BREAK SPACE}%" in page
    assert "p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.03" in page
    assert "<span>10%</span>" in page  # a command is to be copied
