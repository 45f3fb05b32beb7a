from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pypdf
import pytest

from repro.judging.document import Document
from repro.report.formats import rendered
from tests.report.cases import all_documents
from tests.report.texts import pdf_text, squeezed


@pytest.mark.parametrize("name", list(all_documents()))
def test_tagged(name: str, reports: dict[str, Path]) -> None:
    """A PDF is tagged, has a title and a language, and claims PDF/UA-1."""
    reader = pypdf.PdfReader(reports[name] / "report.pdf")
    root = reader.trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]  # type: ignore[index]
    assert root["/Lang"] == "en"  # type: ignore[index]
    assert reader.metadata is not None
    assert reader.metadata.title
    assert b"pdfuaid:part" in root["/Metadata"].get_data()  # type: ignore[index]


def test_pages_are_numbered(reports: dict[str, Path]) -> None:
    """Every page carries the claim, the scale, its number and the number of pages."""
    reader = pypdf.PdfReader(reports["mos_rank"] / "report.pdf")
    total = len(reader.pages)
    for number, sheet in enumerate(reader.pages, 1):
        text = squeezed(sheet.extract_text())
        assert squeezed("mos_rank at quick scale") in text
        assert f"page{number}of{total}" in text
        assert [round(float(side)) for side in sheet.mediabox[2:]] == [595, 842]


def test_bytes_are_a_function_of_the_document(
    documents: dict[str, Document],
    reports: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rendered elsewhere, in another time zone and style, a report has the same bytes."""
    (tmp_path / "matplotlibrc").write_text("font.size: 30\nlines.linewidth: 9\nfigure.dpi: 7\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, content in rendered(documents["mos_rank"]).items():
        assert content == (reports["mos_rank"] / name).read_bytes(), name
    assert [path.name for path in tmp_path.iterdir()] == ["matplotlibrc"]


def test_hostile_text_is_text(reports: dict[str, Path]) -> None:
    """Typst's markup in a title does nothing, and unknown characters are spelled out."""
    text = squeezed(pdf_text(reports["hostile"] / "report.pdf"))
    assert squeezed("<script>alert(1)</script> ]]> --> <!-- &amp; \" ' `x` $x^2$") in text
    assert squeezed('#panic("no") *bold* _it_ @ref <label> {{ 7 * 7 }} {% raw %} | pipe') in text
    assert "[U+6F22][U+5B57]" in text


def test_long_words_break(reports: dict[str, Path]) -> None:
    """A word of 5,000 letters goes over as many lines and pages as it needs; none is lost.

    Nor is anything added to shorter ones: a command that is copied from the page is the command.
    """
    text = squeezed(pdf_text(reports["endless"] / "report.pdf"))
    assert text.count("x") > 8 * 5000
    assert "\N{ZERO WIDTH SPACE}" not in pdf_text(reports["mos_rank"] / "report.pdf")


@pytest.mark.parametrize("files", [8, 21, 200])
def test_a_command_on_many_files_is_printed_whole(
    documents: dict[str, Document], files: int
) -> None:
    """Typst refuses a text with too many places to break, so that of a long command has others."""
    paths = [f"claims/lim2018/rank_of_{i:03}_printed.claim.yaml" for i in range(files)]
    moved = documents["incomplete"].provenance.model_copy(
        update={"command": " ".join(["repro verify", *paths])}
    )
    made = rendered(documents["incomplete"].model_copy(update={"provenance": moved}))["report.pdf"]
    sheets = pypdf.PdfReader(BytesIO(made)).pages
    text = squeezed("".join(sheet.extract_text() for sheet in sheets))
    missing = [path for path in paths if path not in text]
    assert len(missing) < len(sheets)  # a path may go on after the foot of a page


def test_no_time_is_no_problem(documents: dict[str, Document]) -> None:
    """A creation time that is no time gives a PDF of the epoch."""
    one = documents["incomplete"]
    moved = one.provenance.model_copy(update={"created": "some day"})
    assert rendered(one.model_copy(update={"provenance": moved}))["report.pdf"][:5] == b"%PDF-"
