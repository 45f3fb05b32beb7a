"""A report is read in a minute: words, screens and repetitions of the committed reports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from repro.judging import reason
from repro.report import lookups
from repro.report.html import html
from repro.report.view import view
from repro.report.write import read_document

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2] / "reports"
REPORTS = sorted((*ROOT.glob("sample/*/*/report.json"), *ROOT.glob("library/*/*/report.json")))

# Text that is read in one go: no figure, no row of the parts, no fold.
RUNNING = """() => { const body = document.body.cloneNode(true);
  body.querySelectorAll('figure, table, details, svg, pre').forEach(e => e.remove());
  return body.textContent; }"""


@pytest.fixture(scope="module")
def sheet(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    yield page
    page.close()


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: f"{path.parts[-4]}-{path.parts[-3]}")
def test_budget(path: Path, sheet: Page, tmp_path: Path) -> None:
    """One part has 500 words and 3.5 screens, several have 650 and 4; on a phone 5.5 screens."""
    document = read_document(path)
    several = len(lookups.decisive(document)) > 1
    shown = view(document)
    assert len(f"{shown.verdict.word} {shown.sentence}".split()) <= reason.MOST
    place = tmp_path / "report.html"
    place.write_bytes(html(document))
    sheet.set_viewport_size({"width": 1280, "height": 800})
    sheet.goto(place.as_uri())
    text: str = sheet.evaluate("document.body.innerText")
    assert len(text.split()) <= (650 if several else 500)
    assert sheet.evaluate("document.documentElement.scrollHeight") / 800 <= (4 if several else 3.5)
    assert "`" not in text
    assert not re.search(r"[0-9] ?%", text)  # a blank that breaks, or none
    running: str = sheet.evaluate(RUNNING)
    rows = [row for group in (shown.parts.groups if shown.parts else ()) for row in group.rows]
    for number in {found for row in rows for found in re.findall(r"\d+\.\d+", row.found)}:
        assert len(re.findall(rf"(?<![\d.]){re.escape(number)}(?![\d.])", running)) <= 3
    sheet.set_viewport_size({"width": 390, "height": 844})
    assert sheet.evaluate("document.documentElement.scrollHeight") / 844 <= 5.5
    assert sheet.evaluate("document.documentElement.scrollWidth") <= 390
