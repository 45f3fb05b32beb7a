"""Report -> PDF by Typst, tagged for screen readers, its bytes a function of the document.

It holds what a page shows unfolded, then settings and methods. Text travels as JSON strings, which
Typst inserts as text and never reads as markup. No font of the machine is used; a character that
the fonts at hand lack is written as its code point.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import typst

from repro.files import template
from repro.judging.document import Document
from repro.report import palette
from repro.report.figures import draw
from repro.report.figures.bars import bars
from repro.report.formats import ReportFormat, builtin
from repro.report.sections.on_paper import settings_and_methods
from repro.report.view import tidied, view
from repro.schema import numbers as fmt

FACE = "Libertinus Serif"
"""The face of all text, in figures too; it comes with Typst."""

LONG_WORD = 22
ENDLESS = 400
"""Letters in a text's long words, above which ``BREAK`` stands too often for Typst (some 500)."""

BREAK = "\ue000"
"""A place to break a word, of which the template leaves nothing in the text of the page."""


def pdf(document: Document) -> bytes:
    """The pages of a report with all its formats."""
    return pdf_with_links(document, builtin())


def pdf_with_links(document: Document, written: Sequence[ReportFormat]) -> bytes:
    """The pages, which name the files that hold the rest; made at the time of the document."""
    at = fmt.moment(document.provenance.created)
    made = compiler(document, written).compile(
        format="pdf", pdf_standards=["ua-1"], timestamp=max(int(at.timestamp()), 0) if at else 0
    )
    if not isinstance(made, bytes):
        raise TypeError("Typst made something else than one file")
    return made


def compiler(document: Document, written: Sequence[ReportFormat]) -> typst.Compiler:
    """What sets the pages, in memory: a kill leaves nothing behind."""
    section = settings_and_methods(tidied(document), written)
    shown = replace(view(document), sections=(section,))
    texts: dict[str, str] = {}
    data = printable(asdict(shown)) | {"palette": palette.PRINT, "drawings": {}, "bars": []}
    for figure in shown.figures():
        drawn = {f"{figure.name}-{i}.svg": each for i, each in enumerate(draw(figure, paper=True))}
        data["drawings"][figure.name] = list(drawn)
        texts |= drawn
    for number, group in enumerate(shown.parts.groups if shown.parts else ()):
        rows, axis = bars(group, paper=True)
        drawn = {f"bar-{number}-{i}.svg": each for i, each in enumerate((*rows, axis))}
        data["bars"].append([name if each else "" for name, each in drawn.items()])
        texts |= {name: each for name, each in drawn.items() if each}
    texts = {name: _in_face(drawing) for name, drawing in texts.items()}
    texts |= {"main.typ": template("report.typ"), "view.json": json.dumps(data)}
    texts |= drawn_icons()
    sources: Any = {name: text.encode() for name, text in texts.items()}
    return typst.Compiler(sources, font_paths=[str(palette.fonts())], ignore_system_fonts=True)


PDF = ReportFormat("report.pdf", pdf, label="PDF", with_links=pdf_with_links)


def _in_face(drawing: str) -> str:
    """A drawing whose words are in the face of the text around it."""
    faced = palette.spelled(drawing).replace(f"'{palette.FACE}'", f"'{FACE}', '{palette.FACE}'")
    return faced.replace("<svg ", f'<svg font-family="{FACE}" ', 1)


def drawn_icons() -> dict[str, str]:
    """Every icon in every tone, by the name that templates have for it."""
    return {
        f"icon-{icon}-{tone}.svg": _icon(path, palette.PRINT[tone])
        for icon, path in palette.ICONS.items()
        for tone in palette.TONES
    }


def _icon(path: str, colour: str) -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><path fill="none" '
        f'stroke="{colour}" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" '
        f'd="{path}"/></svg>'
    )


def _breakable(text: str) -> str:
    """The text with places to break in words that are longer than a column may be.

    The template takes ``BREAK`` out again, so that a path or a command can be copied; Typst
    cannot do that for many in one text, so an endless word, or a command on many files, has
    invisible characters.
    """
    parts = text.split(" ")
    letters = sum(len(part) for part in parts if len(part) > LONG_WORD)
    mark = BREAK if letters <= ENDLESS else palette.INVISIBLE
    return " ".join(mark.join(part) if len(part) > LONG_WORD else part for part in parts)


def printable(value: Any, key: str = "") -> Any:
    """The data of a template, with places to break long words, in characters of the face."""
    if isinstance(value, str):
        if key in ("block", "kind", "name", "tone", "icon"):
            return value
        if key == "alt":
            return palette.spelled(value)
        text = value if key == "command" else _DIGEST.sub(r"\1", fmt.unbroken(value))
        return _breakable(palette.spelled(text))
    if isinstance(value, dict):
        return {k: printable(v, k) for k, v in value.items() if k not in ("plot", "axis")}
    return [printable(item) for item in value] if isinstance(value, list | tuple) else value


_DIGEST = re.compile(r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])([0-9a-f]{12})[0-9a-f]+\b")
"""A key of more digits than one reads; the first twelve tell it from others."""
