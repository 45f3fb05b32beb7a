"""The words of a view, of a page and of a PDF, so that they can be compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import html5lib

NO_TEXT = {"block", "kind", "tone", "icon", "name", "id", "plot", "colour", "alt", "page_title",
           "mathml", "plain", "axis", "paper"}  # fmt: skip


def strings(value: Any, key: str = "") -> Iterator[str]:
    """Every string of a view that a reader is to see."""
    if key in NO_TEXT:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from strings(item, name)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item, key)


def squeezed(text: str) -> str:
    """Text without any blank and without ligatures: what line breaks cannot change."""
    shown = unicodedata.normalize("NFKC", text.replace("\N{ZERO WIDTH SPACE}", ""))
    return re.sub(r"\s", "", shown)


def page(path: Path) -> ET.Element:
    """The parsed page, for reading only; html5lib raises for any mistake of syntax."""
    return _page(path.read_text(encoding="utf-8"))


@cache
def _page(text: str) -> ET.Element:
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    root: ET.Element = parser.parse(text)
    return root


def page_text(path: Path) -> str:
    """All text of the body of a page."""
    body = page(path).find("body")
    assert body is not None
    return "".join(body.itertext())


def pdf_text(path: Path) -> str:
    """All text of a PDF in reading order, without running feet."""
    return _pdf_text(path.read_bytes())


@cache
def _pdf_text(content: bytes) -> str:
    import pypdf

    return "\n".join(sheet.extract_text() for sheet in pypdf.PdfReader(BytesIO(content)).pages)
