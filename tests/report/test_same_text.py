from __future__ import annotations

import re
from dataclasses import asdict, replace
from pathlib import Path

import pypdf
import pytest

from repro.judging.document import Document
from repro.report.formats import builtin
from repro.report.html import links as links_to
from repro.report.palette import spelled
from repro.report.parts import other_parts, parts
from repro.report.view import view
from tests.report.cases import all_documents
from tests.report.texts import page, page_text, pdf_text, squeezed, strings

READABLE = [name for name in all_documents() if name not in ("hostile", "endless")]

LINKS = links_to(builtin())


def shown(document: Document) -> list[str]:
    return [text for text in strings(asdict(view(document))) if text]


@pytest.mark.parametrize("name", READABLE)
def test_page_says_everything(
    name: str, documents: dict[str, Document], reports: dict[str, Path]
) -> None:
    """Every number and sentence of the view is on the page."""
    text = squeezed(page_text(reports[name] / "report.html"))
    assert [s for s in shown(documents[name]) if squeezed(s) not in text] == []


@pytest.mark.parametrize("name", READABLE)
def test_links_are_navigation(name: str, reports: dict[str, Path]) -> None:
    """The page names the files beside it in one navigation and nowhere else."""
    root = page(reports[name] / "report.html")
    (navigation,) = root.findall(".//nav")
    assert [(a.text, a.get("href")) for a in navigation] == LINKS
    assert "".join(navigation.itertext()).split() == " ".join(word for word, _ in LINKS).split()
    outside = [a.get("href", "") for a in root.iter("a") if a not in list(navigation)]
    assert all(place.startswith("#") for place in outside)


@pytest.mark.parametrize("name", READABLE)
def test_pdf_says_what_is_in_sight(
    name: str, documents: dict[str, Document], reports: dict[str, Path]
) -> None:
    """Every number and sentence that a page shows unfolded is in the PDF; no table of runs is."""
    text = squeezed(pdf_text(reports[name] / "report.pdf"))
    in_sight = replace(view(documents[name]), sections=(), footer="")
    running = squeezed(in_sight.running)
    text = re.sub(re.escape(running) + r"page\d+of\d+", "", text)
    missing = [s for s in strings(asdict(in_sight)) if squeezed(s.replace("`", "")) not in text]
    assert [s for s in missing if s != in_sight.running] == []
    assert "Everyrun" not in text


@pytest.mark.parametrize("name", READABLE)
def test_figures_have_words(
    name: str, documents: dict[str, Document], reports: dict[str, Path]
) -> None:
    """Every figure has its text alternative, on the page and, if it is in sight, in the PDF."""
    shown = view(documents[name])
    alts = [figure.alt for figure in shown.figures()]
    written = (reports[name] / "report.html").read_text(encoding="utf-8")
    assert written.count('role="img" aria-label="') == 2 * len(alts) + _drawn_rows(documents[name])
    assert all(len(alt) > 40 for alt in alts)
    reader = pypdf.PdfReader(reports[name] / "report.pdf")
    in_pdf = set(_alternatives(reader.trailer["/Root"]["/StructTreeRoot"]))  # type: ignore[index]
    in_sight = [figure.alt for figure in replace(shown, sections=()).figures()]
    groups = shown.parts.groups if shown.parts else ()
    in_sight += [row.alt for group in groups for row in group.rows if row.axis is not None]
    assert {squeezed(spelled(alt)) for alt in in_sight} <= {squeezed(alt) for alt in in_pdf}


def _drawn_rows(document: Document) -> int:
    """Intervals that are drawn in rows of parts."""
    tables = (parts(document), other_parts(document))
    groups = [group for table in tables if table is not None for group in table.groups]
    rows = sum(row.axis is not None for group in groups for row in group.rows)
    return rows if document.verdict.validity == "VALID" else 0


def _alternatives(node: object) -> list[str]:
    node = node.get_object() if hasattr(node, "get_object") else node
    if isinstance(node, list):
        return [alt for kid in node for alt in _alternatives(kid)]
    if not isinstance(node, dict):
        return []
    own = [str(node["/Alt"])] if "/Alt" in node else []
    return own + (_alternatives(node["/K"]) if "/K" in node else [])
