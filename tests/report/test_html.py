from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from repro.report.formats import builtin
from repro.report.html import links as navigation
from tests.report.cases import HOSTILE, all_documents
from tests.report.texts import page, page_text, squeezed

NAMES = list(all_documents())


@pytest.mark.parametrize("name", NAMES)
def test_valid(name: str, reports: dict[str, Path]) -> None:
    """Every page parses without a mistake, with one main, one h1 and each id once."""
    root = page(reports[name] / "report.html")
    ids = Counter(element.get("id") for element in root.iter() if element.get("id"))
    assert [one for one, times in ids.items() if times > 1] == []
    assert len(root.findall(".//main")) == 1
    assert len(root.findall(".//h1")) == 1


@pytest.mark.parametrize("name", NAMES)
def test_needs_nothing_else(name: str, reports: dict[str, Path]) -> None:
    """No script, no link but to the files beside it, no address, and a policy against them."""
    path = reports[name] / "report.html"
    root = page(path)
    assert not root.findall(".//script")
    assert not root.findall(".//link")
    assert not root.findall(".//img")
    links = [
        value
        for element in root.iter()
        for key, value in element.attrib.items()
        if str(key).rsplit("}")[-1].rsplit(":")[-1] in ("href", "src")
    ]
    beside = [place for _, place in navigation(builtin())]
    assert [link for link in links if not link.startswith("#")] == beside
    policy = root.find(".//meta[@http-equiv='Content-Security-Policy']")
    assert policy is not None
    assert policy.get("content", "").startswith("default-src 'none'")
    style = root.find(".//style")
    assert style is not None
    assert "url(" not in (style.text or "")
    addresses = re.findall(r"https?://[^\"\s]+", path.read_text(encoding="utf-8"))
    assert set(addresses) <= {"http://www.w3.org/1999/xlink", "http://www.w3.org/2000/svg"}


def test_hostile_text_is_text(reports: dict[str, Path]) -> None:
    """Markup in titles, quotes and labels is shown as it was written and does nothing."""
    path = reports["hostile"] / "report.html"
    root = page(path)
    assert "<script>alert(1)</script> ]]> --> <!-- &amp;" in page_text(path)
    assert squeezed(HOSTILE.replace("\u202e", "\ufffd")) in squeezed(page_text(path))
    assert not any(element.tag == "label" for element in root.iter())
    assert "\u202e" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_tables_are_described(name: str, reports: dict[str, Path]) -> None:
    """Every table has a caption, scoped headings, and a labelled region that can be reached."""
    root = page(reports[name] / "report.html")
    regions = root.findall(".//div[@role='region']")
    assert len(regions) == len(root.findall(".//table"))
    for region in regions:
        assert region.get("tabindex") == "0"
        named = region.get("aria-labelledby")
        assert region.find(f".//caption/span[@id='{named}']") is not None
        assert all(head.get("scope") in ("col", "row") for head in region.iter("th"))


def test_figures_take_the_theme(reports: dict[str, Path]) -> None:
    """The style sheet has a variable of the theme for every colour that a figure is drawn in."""
    text = (reports["everything"] / "report.html").read_text(encoding="utf-8")
    drawn = set(re.findall(r"(?:fill|stroke): #\w+", text.split("</style>", 1)[1]))
    assert drawn
    assert [colour for colour in drawn if f'[style*="{colour}"]' not in text] == []
    assert '[style*="stroke: #0b5a9c"]{stroke:var(--arm-1)!important}' in text
