"""One document -> the bytes of each of its files. Loads matplotlib, Jinja and Typst."""

from __future__ import annotations

from repro.judging.document import Document
from repro.report.figures import draw
from repro.report.html import html
from repro.report.junit import junit
from repro.report.pdf import pdf
from repro.report.view import view


def rendered(document: Document) -> dict[str, bytes]:
    """Everything that people and build servers read, by file name."""
    shown = view(document)
    drawings = {
        f"{figure.name}-{width}": draw(figure, phone=width == "phone")
        for figure in shown.figures()
        for width in ("page", "phone")
    }
    sheets = {figure.name: draw(figure, paper=True) for figure in shown.figures()}
    return {
        "report.html": html(shown, drawings).encode(),
        "report.pdf": pdf(shown, sheets, document.provenance.created),
        "junit.xml": junit(document).encode(),
    }
