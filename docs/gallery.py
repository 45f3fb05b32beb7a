"""Writes the gallery: a line for every committed report, and the first pages of three.

`generate.py` writes the page; `./dev exec python docs/gallery.py` draws the pictures, in memory and
without a browser.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from PIL import Image

from repro.judging.document import Document, SourcePart
from repro.report.formats import builtin
from repro.report.parts import WORDS
from repro.report.pdf import compiler
from repro.report.view import view
from repro.report.write import read_document
from repro.schema import numbers as fmt
from repro.specs.claim import SCALES

ROOT = Path(__file__).parents[1]
REPORTS = ROOT / "reports"
FOLDERS = ("sample", "library")

DRAWN = ("mos_rank", "fair_mos", "lms_plif_regularization")
"""Claims of the sample whose first page is shown."""

DOTS, MARGIN, FOOT, COLOURS = 84, 40, 66, 200
"""Dots an inch, dots that are cut off at the sides and below, and the colours of a picture."""

ABOUT = """# Gallery

Every report that is committed in this repository, a line each: the claim, its verdict, and the
effect that decides it with its interval. A title that is a link opens the report; `repro report
reports/library/CLAIM/SCALE` writes the page of any other from its `report.json`. *Quick* and
*bench* train small models: what they say is not about the paper's size.

The first pages of three, on paper:"""

Row = tuple[Path, Document]


def page() -> str:
    """The page: three pictures, then the reports by paper."""
    parts = [ABOUT, _pictures()]
    for heading, rows in groups(reports()):
        table = ["| claim | verdict | what decides it |", "|---|---|---|", *map(_line, rows)]
        parts += [f"## {heading}", "\n".join(table)]
    return "\n\n".join(parts) + "\n"


def paths() -> list[Path]:
    return [path for name in FOLDERS for path in REPORTS.glob(f"{name}/*/*/report.json")]


@cache
def reports() -> tuple[Row, ...]:
    """The committed reports by claim, from the smallest scale to the largest."""
    found = [(path, read_document(path)) for path in paths()]
    return tuple(sorted(found, key=lambda row: (row[1].claim.id, SCALES.index(row[1].scale.name))))


def groups(rows: Sequence[Row]) -> Iterator[tuple[str, tuple[Row, ...]]]:
    """By paper, as the index of reports has them; papers with one claim each stand together."""
    claims = Counter(paper for paper, _ in {(_paper(d), d.claim.id) for _, d in rows})

    def place(row: Row) -> str:
        paper = _paper(row[1])
        return paper if claims[paper] > 1 else "~"

    for paper, some in groupby(sorted(rows, key=place), key=place):
        group = tuple(some)
        yield "Papers with one claim each" if paper == "~" else _cited(group), group


def _paper(document: Document) -> str:
    source = document.claim.source
    return source.paper if isinstance(source, SourcePart) else ""


def _cited(rows: Sequence[Row]) -> str:
    """Authors and year, as the claim that cites its paper shortest has them."""
    sources = (document.claim.source for _, document in rows)
    cited = min((s.citation for s in sources if isinstance(s, SourcePart)), key=len)
    head, year, _ = cited.partition("), ")
    return f"{head})" if year else cited


def _line(row: Row) -> str:
    path, document = row
    shown = view(document)
    title = _cell(shown.title)
    if link := _link(path):
        title = f"[{title}]({link})"
    return f"| {title} | {_cell(shown.verdict.word)} | {_number(document)} |"


def _number(document: Document) -> str:
    """The effect of the first part that came out as the claim did, with its interval."""
    parts, word = view(document).parts, WORDS[document.verdict.conclusion]
    rows = [] if parts is None else [row for group in parts.groups for row in group.rows]
    alike = [row for row in rows if row.badge.word == word]
    for row in (*alike, *rows):
        if row.found:
            ends = row.interval.partition(" (")[0]
            return _cell(f"{row.found} ({ends})" if row.axis and ends else f"{row.found} {ends}")
    return "–"


def _cell(text: str) -> str:
    """Text in a cell of a table, without markup; a number keeps its unit."""
    text = fmt.unbroken(" ".join(text.split()))
    return text.replace("|", "/").replace("*", "\\*").replace("[", "\\[")


def _pictures() -> str:
    """The first pages side by side, each below its verdict; each leads to its report."""
    shown = [(path, view(document)) for path, document in map(_of_sample, DRAWN)]
    words = [_cell(page.verdict.word) for _, page in shown]
    pages = [
        f"[![{_cell(page.title)}: {word}.]({_file(claim).name})]({_link(path)})"
        for claim, word, (path, page) in zip(DRAWN, words, shown, strict=True)
    ]
    rows = (words, ["---"] * len(DRAWN), pages)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _of_sample(claim: str) -> Row:
    return next(row for row in reports() if row[0].parts[-4:-2] == ("sample", claim))


def _link(path: Path) -> str:
    """The page of a report as seen from this page; empty where it is not committed."""
    html = path.with_name("report.html")
    return f"../{html.relative_to(ROOT).as_posix()}" if html.exists() else ""


def _file(claim: str) -> Path:
    return ROOT / "docs" / f"gallery-{claim}.png"


def draw() -> None:
    """Write the first page of three reports, each below 100 kB."""
    for claim in DRAWN:
        _, document = _of_sample(claim)
        drawn: Any = compiler(document, builtin()).compile(format="png", ppi=DOTS)
        whole = Image.open(io.BytesIO(drawn[0])).convert("RGB")
        inside = (MARGIN, MARGIN, whole.width - MARGIN, whole.height - FOOT)
        whole.crop(inside).quantize(COLOURS).save(_file(claim), optimize=True)


PAGES = {"gallery": page}

if __name__ == "__main__":
    draw()
