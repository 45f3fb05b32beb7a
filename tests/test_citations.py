"""Docstrings cite sections of two pages by their numbers, and every cited section is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("statistics", "facts")

SOURCES = sorted(
    path for folder in ("repro", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")
)


def sections(page: str) -> set[str]:
    """The numbers of a page's headings, `2.1`, and of the lettered items below them, `6.1 a`."""
    found, heading = set(), ""
    for line in (ROOT / f"docs/explanation/{page}.md").read_text(encoding="utf-8").splitlines():
        if match := re.match(r"#{2,3} (\d(?:\.\d)?)\.? ", line):
            heading = match[1]
            found.add(heading)
        elif match := re.match(r"- \*\*([a-z])\.\*\* ", line):
            found.add(f"{heading} {match[1]}")
    return found


def cited(page: str) -> Iterator[tuple[str, str]]:
    """Every citation of a section, with the file that has it."""
    number = r"\d(?:\.\d)?(?: [a-z]\b)?"
    listed = re.compile(rf"\b{page}\.md,? ({number}(?:(?:,| and) {number})*)")
    for path in SOURCES:
        text = re.sub(r"\s*\n\s*(?:#: ?|# ?)?", " ", path.read_text(encoding="utf-8"))
        for match in listed.finditer(text):
            for one in re.split(r",? and |, ", match[1]):
                yield one, str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES)
def test_every_cited_section_is_there(page: str) -> None:
    """What a docstring cites can be read in the tree; and there are citations to be read."""
    known = sections(page)
    found = list(cited(page))
    assert len(found) >= 10
    assert [one for one in found if one[0] not in known] == []


def test_the_sections_are_found() -> None:
    """The headings that this test rests on."""
    assert {"1", "1.1", "1.9", "2", "2.1", "2.2"} <= sections("statistics")
    assert {"1.3", "3.3", "6.1", "6.1 a", "6.2 o", "6.4"} <= sections("facts")
