"""The page, the PDF, the Markdown and the JSON of an audit."""

from __future__ import annotations

import json
import re

import pytest

from tests.commands import repro

TABLE = "t(28) = 2.20, p = .036\nF(2, 57) = 4.1, p = .2\nt(28) = 2.20, p = .018 <b>\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What `--to` writes of one table."""
    place = tmp_path_factory.mktemp("pages")
    (place / "my table.txt").write_text(TABLE, encoding="utf-8")
    done = repro("audit", place / "my table.txt", "--to", place / "reports", "--fail-on", "never")
    assert done.returncode == 0, done.stderr
    return place / "reports" / "audit-my-table"


def test_files(folder):
    """All four, and nothing else that is seen."""
    names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    assert names == {"report.html", "report.pdf", "report.md", "report.json"}
    rows = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert [row["answer"] for row in rows] == ["holds", "does not", "cannot say"]
    assert (folder / "report.pdf").read_bytes().startswith(b"%PDF")


def test_the_page_begins_with_the_answers(folder):
    """The counts, then what does not hold; text is text."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "1 holds, 1 cannot be told, 1 does not" in page
    body = page[page.index("<body>") :]
    assert body.index("not p = .2") < body.index("fits one-sided only")
    assert "<b>" not in body[body.index("fits one-sided only") :].replace("<b><bdi>", "")
    assert "http" not in body


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("name,t,df\nx,2.2,28\ny,1.0,28\n", "significant at 5 %, uncorrected"),
        ("Method,Acc,n\nA,93 ± 1,5\nB,90 ± 1,5\n", "after Holm"),
    ],
)
def test_the_page_says_what_holds_means_without_a_p(tmp_path, text, means):
    """Of statistics nothing is corrected; the path of the page is told."""
    (tmp_path / "table.csv").write_text(text, encoding="utf-8")
    how = ("--plus-minus", "sd", "--better", "higher", "--to", tmp_path)
    done = repro("audit", tmp_path / "table.csv", *how)
    page = tmp_path / "audit-table" / "report.html"
    assert str(page) in done.stderr
    (said,) = re.findall("<p>(Without a p|Holds)(.*?)</p>", page.read_text(encoding="utf-8"))
    assert means in said[1].replace("\xa0", " ")


def test_the_same_bytes_twice(folder):
    """An audit has no clock in it."""
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    table = folder.parent.parent / "my table.txt"
    repro("audit", table, "--to", folder.parent, "--fail-on", "never")
    assert all((folder / name).read_bytes() == content for name, content in before.items())
