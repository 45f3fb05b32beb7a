"""Report -> PDF by Typst, tagged for screen readers, its bytes a function of the document.

Text travels as JSON strings, which Typst inserts as text and never reads as markup. No font of
the machine is used; a character that the fonts at hand lack is written as its code point.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import typst

from repro.files import template
from repro.judging.document import Document
from repro.report import words
from repro.report.blocks import ReportView
from repro.report.figures import draw
from repro.report.formats import ReportFormat
from repro.report.view import view
from repro.schema import numbers as fmt

LONG_WORD = 22
ENDLESS = 400
"""Letters in a text's long words, above which ``BREAK`` stands too often for Typst (some 500)."""

BREAK = "\ue000"
"""A place to break a word, of which the template leaves nothing in the text of the page."""


def pdf(document: Document) -> bytes:
    """The pages of a report, whose time of creation is that of the document."""
    shown = view(document)
    drawings = {figure.name: draw(figure, paper=True) for figure in shown.figures()}
    at = fmt.moment(document.provenance.created)
    sources: Any = _sources(shown, drawings)  # in memory: a kill leaves nothing behind
    compiler = typst.Compiler(sources, font_paths=[str(words.fonts())], ignore_system_fonts=True)
    made = compiler.compile(
        format="pdf", pdf_standards=["ua-1"], timestamp=max(int(at.timestamp()), 0) if at else 0
    )
    if not isinstance(made, bytes):
        raise TypeError("Typst made something else than one file")
    return made


PDF = ReportFormat("report.pdf", pdf, label="PDF")


def _sources(shown: ReportView, drawings: Mapping[str, Sequence[str]]) -> dict[str, bytes]:
    """The files that Typst sets, by name: the template, its data, figures and icons."""
    texts = {"main.typ": template("report.typ")}
    data = _printable(asdict(shown)) | {"palette": words.PRINT, "drawings": {}}
    for name, parts in drawings.items():
        data["drawings"][name] = [f"{name}-{i}.svg" for i in range(len(parts))]
        for file, part in zip(data["drawings"][name], parts, strict=True):
            texts[file] = words.spelled(part)
    texts["view.json"] = json.dumps(data)
    for icon, path in words.ICONS.items():
        for tone in words.TONES:
            texts[f"icon-{icon}-{tone}.svg"] = _icon(path, words.PRINT[tone])
    return {name: text.encode() for name, text in texts.items()}


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
    mark = BREAK if letters <= ENDLESS else words.INVISIBLE
    return " ".join(mark.join(part) if len(part) > LONG_WORD else part for part in parts)


def _printable(value: Any, key: str = "") -> Any:
    if isinstance(value, str):
        if key in ("block", "kind", "name", "tone", "icon"):
            return value
        return words.spelled(value) if key == "alt" else _breakable(words.spelled(value))
    if isinstance(value, dict):
        return {k: _printable(v, k) for k, v in value.items() if k != "plot"}
    return [_printable(item) for item in value] if isinstance(value, list | tuple) else value
