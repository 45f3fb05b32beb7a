from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pypdf
import pytest
from matplotlib.image import imread

from repro.judging.document import Document
from repro.report import lookups
from repro.report.formats import builtin, rendered
from repro.report.pdf import FACE, compiler, pdf
from repro.report.write import read_document
from tests.report.cases import all_documents
from tests.report.texts import pdf_text, squeezed

ROOT = Path(__file__).parents[2] / "reports"
LONGEST = sorted(ROOT.glob("[sl]*/*/*/report.json"), key=lambda path: -path.stat().st_size)[:24]
"""Of the committed reports, those with most to say."""
DOTS = 48
"""A picture of a page has so many an inch."""
KEY = re.compile(r"[0-9a-f]{13}")


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
    assert text.count("x") > 5 * 5000
    assert "\N{ZERO WIDTH SPACE}" not in pdf_text(reports["mos_rank"] / "report.pdf")


@pytest.mark.parametrize("files", [8, 21, 200])
def test_a_command_on_many_files_is_printed_whole(
    documents: dict[str, Document], files: int
) -> None:
    """Typst refuses a text with too many places to break, so that of a long command has others."""
    paths = [f"claims/lim2018/rank_of_{i:03}_printed.claim.yaml" for i in range(files)]
    one = documents["incomplete"]
    step = one.changes[0].model_copy(update={"command": " ".join(["repro verify", *paths])})
    made = rendered(one.model_copy(update={"changes": (step,)}))["report.pdf"]
    sheets = pypdf.PdfReader(BytesIO(made)).pages
    text = squeezed("".join(sheet.extract_text() for sheet in sheets))
    missing = [path for path in paths if path not in text]
    assert len(missing) < len(sheets)  # a path may go on after the foot of a page


def test_no_time_is_no_problem(documents: dict[str, Document]) -> None:
    """A creation time that is no time gives a PDF of the epoch."""
    one = documents["incomplete"]
    moved = one.provenance.model_copy(update={"created": "some day"})
    assert rendered(one.model_copy(update={"provenance": moved}))["report.pdf"][:5] == b"%PDF-"


@pytest.mark.parametrize("path", LONGEST, ids=lambda path: "-".join(path.parts[-4:-1]))
def test_budget(path: Path) -> None:
    """One part has three pages at most, several have five; a key has twelve digits."""
    document = read_document(path)
    sheets = pypdf.PdfReader(BytesIO(pdf(document))).pages
    assert len(sheets) <= (5 if len(lookups.decisive(document)) > 1 else 3)
    text = "\n".join(sheet.extract_text() for sheet in sheets)
    assert KEY.findall(text) == []
    assert "Settings and methods" in sheets[-1].extract_text()  # on one page
    assert document.claim.digest[:12] in text
    assert "`" not in text
    assert ink_in_the_margins(document) == []


def ink_in_the_margins(document: Document) -> list[int]:
    """The pages with anything left, right, above or, but for the foot, below the text."""
    drawn: Any = compiler(document, builtin()).compile(format="png", ppi=DOTS)
    pages = [imread(BytesIO(each)) for each in (drawn if isinstance(drawn, list) else [drawn])]
    ink = [page[..., :3].min(axis=2) < 0.9 for page in pages]
    side, top, foot, end = (round(mm * DOTS / 25.4) for mm in (19.5, 21.5, 19.5, 8))
    found = []
    for number, page in enumerate(ink, 1):
        inside = np.zeros_like(page)
        inside[top:-foot, side:-side] = inside[-foot:-end, side:-side] = True
        if (page & ~inside).any():
            found.append(number)
    return found


@pytest.mark.parametrize("name", list(all_documents()))
def test_nothing_leaves_the_page(name: str, documents: dict[str, Document]) -> None:
    """Whatever the words are: of 5,000 letters, of markup, names that nobody should give."""
    assert ink_in_the_margins(documents[name]) == []


def test_a_key_in_a_command_is_whole(documents: dict[str, Document]) -> None:
    """What is copied has to work; what is read is short."""
    key = "0a1b" * 16
    one = documents["incomplete"]
    step = one.changes[0].model_copy(update={"command": f"repro runs {key}", "text": f"See {key}."})
    sheets = pypdf.PdfReader(BytesIO(pdf(one.model_copy(update={"changes": (step,)})))).pages
    text = squeezed("".join(sheet.extract_text() for sheet in sheets))
    assert f"reproruns{key}" in text
    assert f"See{key[:12]}." in text


def test_one_typeface(reports: dict[str, Path]) -> None:
    """Figures are set as the text is; a command alone is not."""
    reader: Any = pypdf.PdfReader(reports["mos_rank"] / "report.pdf")
    every = [reader.get_object(number) for number in range(1, reader.trailer["/Size"])]
    fonts = [item for item in every if isinstance(item, dict) and "/BaseFont" in item]
    used = {font["/BaseFont"].partition("+")[2].partition("-")[0] for font in fonts}
    assert used == {FACE.replace(" ", ""), "DejaVuSansMono"}


def test_where_the_rest_is(documents: dict[str, Document], reports: dict[str, Path]) -> None:
    """The last page names the files that have it, and none that is not written."""
    text = pdf_text(reports["mos_rank"] / "report.pdf")
    assert all(name in text for name in ("report.html", "report.json", "values.csv"))
    made = rendered(documents["mos_rank"], without=("html",))["report.pdf"]
    last = pypdf.PdfReader(BytesIO(made)).pages[-1].extract_text()
    assert "report.html" not in last
    assert "report.json" in last
