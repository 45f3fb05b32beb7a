"""Draws the picture in the README, `docs/report.png`: the report that its first command writes.

`./dev exec python docs/picture.py` needs Chromium (/usr/bin/chromium, or $REPRO_CHROMIUM).
"""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import ViewportSize, sync_playwright

from repro.report.html import html
from repro.report.write import read_document

ROOT = Path(__file__).parents[1]
COMMITTED = ROOT / "reports/library/mos_rank/quick/report.json"
WIDTH, HEIGHT, COLOURS = 840, 893, 128


def draw(report: Path, target: Path) -> None:
    """The first screen of a report, in light colours."""
    browser_path = os.environ.get("REPRO_CHROMIUM", "/usr/bin/chromium")
    size: ViewportSize = {"width": WIDTH, "height": HEIGHT}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport=size, color_scheme="light")
        page.goto(report.as_uri())
        drawn = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        browser.close()
    drawn.quantize(COLOURS).save(target, optimize=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        page.write_bytes(html(read_document(COMMITTED)))
        draw(page, ROOT / "docs" / "report.png")
