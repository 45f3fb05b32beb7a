"""The pages as a browser shows them: wide and narrow, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from repro.judging.document import Document
from repro.report.palette import DARK, DRAWN, LIGHT, PRINT
from repro.report.write import document_text, write_index
from tests.report.cases import all_documents
from tests.report.documents import with_nights

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

LOOKS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]
# Every document wide and light, and narrow and dark; some of them in all looks, very wide too.
ALL_LOOKS = ("mos_rank", "plif", "invalid")
PAGES = [
    (name, *look)
    for name in all_documents()
    for look in ([*LOOKS, (2560, "light")] if name in ALL_LOOKS else (LOOKS[0], LOOKS[3]))
]
RULES = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]

# Boxes of the visible texts of each figure that meet another text or leave their drawing.
MEETING = """() => [...document.querySelectorAll('figure svg')].flatMap(svg => {
  const frame = svg.getBoundingClientRect();
  if (frame.width === 0) return [];
  const boxes = [...svg.querySelectorAll('text')]
    .map(t => [t.textContent, t.getBoundingClientRect()]);
  const cut = boxes.filter(([_, b]) => b.left < frame.left - 1 || b.right > frame.right + 1
    || b.top < frame.top - 1 || b.bottom > frame.bottom + 2).map(([t]) => 'cut: ' + t);
  const met = boxes.flatMap(([t, a], i) => boxes.slice(i + 1).filter(([_, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2.5).map(([u]) => t + ' / ' + u));
  return [...cut, ...met];
})"""

# Elements whose content is wider than they are, but for regions that are made to scroll.
CLIPPED = """() => [...document.querySelectorAll('body *')].filter(e =>
  !e.closest('svg') && !e.matches('[role=region]') && getComputedStyle(e).display !== 'inline'
  && e.clientWidth > 0 && (e.scrollWidth > e.clientWidth + 1
    || (getComputedStyle(e).overflowY !== 'visible' && e.scrollHeight > e.clientHeight + 1)
    || (!e.closest('[role=region]') && e.getBoundingClientRect().right > innerWidth + 1)))
  .map(e => e.tagName + ' ' + e.className + ' ' + e.textContent.slice(0, 40))"""

# The rest of what axe finds, megabytes, stays in the browser.
VIOLATIONS = """async rules => {
  const found = await axe.run(document, {runOnly: rules, resultTypes: ['violations']});
  return found.violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 120))]);
}"""


class Window:
    """One window for many pages; a page that is there already takes another look unloaded."""

    def __init__(self, browser: Browser) -> None:
        self.page = browser.new_page(bypass_csp=True)
        self.troubles: list[str] = []
        self.page.on("console", lambda message: self.troubles.append(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda request: self._asked(request.url))

    def _asked(self, url: str) -> None:
        if not url.startswith("file:"):
            self.troubles.append(url)

    def look(self, path: Path, width: int, scheme: Any, *, again: bool = False) -> Page:
        """The page in this look; it is loaded if it is not there, or to be there ``again``."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(media="screen", color_scheme=scheme)
        if again or self.page.url != path.as_uri():
            self.troubles.clear()
            self.page.goto(path.as_uri())
            self.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        return self.page


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[Window]:
    shared = Window(browser)
    yield shared
    shared.page.close()


@pytest.fixture(scope="module")
def index(documents: dict[str, Document], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of every document, with nights behind each second one, and of a broken report."""
    root = tmp_path_factory.mktemp("index")
    shown = zip(documents.items(), cycle((False, True)), strict=False)
    documents = {name: with_nights(each) if nights else each for (name, each), nights in shown}
    for name, document in documents.items():
        folder = root / name / "quick"
        folder.mkdir(parents=True)
        (folder / "report.json").write_text(document_text(document))
    (root / "fair_mos" / "quick" / "report.json").write_text("{")
    return write_index(root)


def violations(page: Page) -> list[tuple[str, list[str]]]:
    """What axe finds against WCAG 2.2 AA and its best practices."""
    import axe_playwright_python

    if not page.evaluate("'axe' in window"):
        script = Path(axe_playwright_python.__file__).parent / "axe.min.js"
        page.evaluate(script.read_text(encoding="utf-8"))
    found: list[tuple[str, list[str]]] = page.evaluate(VIOLATIONS, RULES)
    return found


@pytest.mark.parametrize(("name", "width", "scheme"), PAGES)
def test_page(name: str, width: int, scheme: str, window: Window, reports: dict[str, Path]) -> None:
    """Nothing scrolls sideways, is cut, overlaps, asks for the network or fails axe's rules."""
    page = window.look(reports[name] / "report.html", width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate(MEETING) == []
    assert violations(page) == []
    assert window.troubles == []


def test_policy_is_kept(browser: Browser, reports: dict[str, Path]) -> None:
    """With its policy in force the page is shown without a complaint."""
    page = browser.new_page()
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.goto((reports["hostile"] / "report.html").as_uri())
    assert troubles == []
    page.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_skip_link(width: int, window: Window, reports: dict[str, Path]) -> None:
    """The first Tab shows the link that skips to the report, and Enter follows it."""
    page = window.look(reports["mos_rank"] / "report.html", width, "light", again=True)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "report"


def test_one_drawing_a_width(window: Window, reports: dict[str, Path]) -> None:
    """A wide window shows the wide drawing and a narrow one the narrow drawing, never both."""
    for width, shown in ((1280, "page"), (390, "phone")):
        page = window.look(reports["mos_rank"] / "report.html", width, "light")
        visible = page.evaluate(
            "[...document.querySelectorAll('figure > div')]"
            ".filter(d => d.offsetWidth).map(d => d.className)"
        )
        assert visible == [shown] * 3  # the measurement, rank(tolerance), the spectrum


PAINTED = """() => [...document.querySelectorAll('figure svg :is(text, path, use)')]
  .flatMap(e => [getComputedStyle(e).fill, getComputedStyle(e).stroke]).filter(c => c != 'none')"""


@pytest.mark.parametrize(
    ("media", "scheme", "theme"),
    [("screen", "light", LIGHT), ("screen", "dark", DARK), ("print", "dark", PRINT)],
)
def test_figures_take_the_theme(
    media: Any, scheme: Any, theme: dict[str, str], window: Window, reports: dict[str, Path]
) -> None:
    """Every text and mark of every figure has a colour of the theme that is shown."""
    held = {name: tuple(bytes.fromhex(theme[name][1:])) for name in DRAWN}
    page = window.look(reports["everything"] / "report.html", 1280, scheme)
    page.emulate_media(media=media, color_scheme=scheme)
    painted = set(page.evaluate(PAINTED))
    assert painted <= {f"rgb{colour}" for colour in held.values()}
    assert {f"rgb{held[name]}" for name in ("ink", "muted", "arm-1", "region")} <= painted


def test_print(browser: Browser, reports: dict[str, Path]) -> None:
    """On paper the folded sections are open and the theme is the light one."""
    context = browser.new_context(viewport={"width": 794, "height": 1100}, color_scheme="dark")
    page = context.new_page()
    page.goto((reports["mos_rank"] / "report.html").as_uri())
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert (
        page.evaluate("document.querySelector('details table').getBoundingClientRect().height")
        > 100
    )
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [*LOOKS, (2560, "light")])
def test_index(width: int, scheme: str, window: Window, index: Path) -> None:
    """The index keeps the same promises with every verdict in it and a broken report."""
    page = window.look(index, width, scheme, again=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CLIPPED) == []
    assert violations(page) == []
    assert window.troubles == []
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
