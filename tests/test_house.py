"""One concept per file, found by its name, and a size that only a reason raises."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1] / "repro"
FILES = sorted(ROOT.rglob("*.py"))
PAGE = ROOT.parent / "docs" / "explanation" / "architecture.md"
OF_EVERY_TRAINER = {"corpus", "evaluation", "model", "spec", "trainer", "training"}


def test_there_is_a_house():
    """The other tests look at something."""
    assert len(FILES) > 100


def test_a_file_has_at_most_500_lines():
    lines = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {path: n for path, n in lines.items() if n > 500} == {}


def test_within_a_wing_no_two_modules_share_a_name():
    """But for the parts that every trainer has."""
    places = [(path.relative_to(ROOT).parts[0], path.stem) for path in FILES]
    counted = Counter(place for place in places if place[1] not in {"__init__", *OF_EVERY_TRAINER})
    assert [place for place, n in counted.items() if n > 1] == []


def test_across_wings_a_name_says_that_files_belong_together():
    """The base of each seam, and a command with what it calls; else a name stands once."""
    commands = {path.stem for path in (ROOT / "cli").glob("*.py")}
    wings: dict[str, set[str]] = {}
    for path in FILES:
        wings.setdefault(path.stem, set()).add(path.relative_to(ROOT).parts[0])
    shared = {name for name, found in wings.items() if len(found - {"cli"}) > 1}
    assert shared - {"__init__", "base"} == set()
    assert {name for name, found in wings.items() if "cli" in found and len(found) > 1} <= commands


def test_no_two_public_classes_share_a_name():
    names: Counter[str] = Counter()
    for path in FILES:
        body = ast.parse(path.read_text(encoding="utf-8")).body
        classes = [node.name for node in body if isinstance(node, ast.ClassDef)]
        names.update({name for name in classes if not name.startswith("_")})
    assert [name for name, n in names.items() if n > 1] == []


def test_only_the_one_csv_reader_reads_csv():
    """`schema/rows.py` does; `results/inside` uses the standard library alone."""
    readers = re.compile(r"csv\.(?:reader|DictReader)|from csv import|read_csv")
    found = [
        path.relative_to(ROOT).as_posix()
        for path in FILES
        if readers.search(path.read_text(encoding="utf-8"))
    ]
    assert [file for file in found if not file.startswith("results/inside/")] == []


def allowed() -> dict[str, tuple[int, int]]:
    """Wing -> its most files and lines, from the table of the page on architecture."""
    table = PAGE.read_text(encoding="utf-8").split("## How large it may be")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (\S+) \| ([\d,]+) \| ([\d,]+) \|", table, re.MULTILINE)
    return {wing: (int(n.replace(",", "")), int(m.replace(",", ""))) for wing, n, m in rows}


def sizes() -> dict[str, tuple[int, int]]:
    """Wing -> its files and lines; files at the top of `repro` are one wing, `top`."""
    found: dict[str, list[int]] = {}
    for path in FILES:
        parts = path.relative_to(ROOT).parts
        wing = parts[0] if len(parts) > 1 else "top"
        found.setdefault(wing, []).append(len(path.read_text(encoding="utf-8").splitlines()))
    return {wing: (len(lines), sum(lines)) for wing, lines in found.items()}


def test_no_wing_is_larger_than_the_page_on_architecture_allows():
    """Fold something first; else raise the number there, with a line that gives the reason."""
    most = allowed()
    assert sorted(most) == sorted(sizes())
    above = {
        wing: (size, most[wing])
        for wing, size in sizes().items()
        if size[0] > most[wing][0] or size[1] > most[wing][1]
    }
    assert above == {}, "files and lines there are, files and lines allowed"
