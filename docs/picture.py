"""Draws the picture in the README, `docs/report.png`: the report of the README's own example.

`./dev exec python docs/picture.py` needs Chromium (/usr/bin/chromium, or $REPRO_CHROMIUM).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
WIDTH, HEIGHT = 900, 1100


def judged(folder: Path) -> Path:
    """The report of the claim and the table that the README shows."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for language, name in (("yaml", "mixup.claim.yaml"), ("csv", "mixup.csv")):
        (block,) = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
        (folder / name).write_text(block, encoding="utf-8")
    command = [sys.executable, "-m", "repro", "verify", "mixup.claim.yaml", "--store", "store"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=folder, env=environment, check=True)
    return folder / "reports/mixup/declared/report.html"


def draw(report: Path, target: Path) -> None:
    """The first screen of a report, in light colours."""
    browser_path = os.environ.get("REPRO_CHROMIUM", "/usr/bin/chromium")
    size = {"width": WIDTH, "height": HEIGHT}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport=size, color_scheme="light")
        page.goto(report.as_uri())
        page.screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        draw(judged(Path(folder)), ROOT / "docs" / "report.png")
