"""The answers of an audit -> a page and a PDF in the look of the report; worst answers first."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import typst

from repro.files import template
from repro.report import palette
from repro.report.html import render
from repro.report.pdf import drawn_icons, printable
from repro.report.write import alone, replace

ORDER = ("does not", "cannot say", "holds")
_LOOK = {
    "holds": ("good", "check"),
    "cannot say": ("warn", "question"),
    "does not": ("bad", "cross"),
}
_WORDS = {
    "holds": ("holds", "hold"),
    "cannot say": ("cannot be told", "cannot be told"),
    "does not": ("does not", "do not"),
}
_MEANS = {
    "p": "Holds: the numbers give what is printed; does not: they give something else",
    "difference": "Holds: significant at 5 % after Holm's correction; does not: not significant",
    "statistic": "Without a p, holds: significant at 5 %, uncorrected; does not: not significant",
}


@dataclass(frozen=True, slots=True)
class AnsweredLine:
    """An answer: the word, what it is of, why; to a printed p or, without one, to what else."""

    answer: str
    what: str
    reason: str
    asked: Literal["p", "difference", "statistic"]

    @property
    def look(self) -> dict[str, str]:
        """The tone and the icon; that a difference is not significant is nothing bad."""
        tone, icon = _LOOK[self.answer]
        return {"tone": tone if self.asked == "p" or tone != "bad" else "plain", "icon": icon}


@dataclass(frozen=True, slots=True)
class AuditPage:
    """What a page shows: the file, an answer per statement, and what is taken for granted."""

    title: str
    source: str
    lines: tuple[AnsweredLine, ...]
    notes: tuple[str, ...]

    def view(self) -> dict[str, Any]:
        """The data of both templates."""
        lines = sorted(self.lines, key=lambda line: ORDER.index(line.answer))
        counts = Counter(line.answer for line in lines)
        rows = [asdict(line) | line.look for line in lines]
        word = ", ".join(
            f"{counts[each]} {_WORDS[each][counts[each] > 1]}"
            for each in reversed(ORDER)
            if counts[each]
        )
        kinds = dict.fromkeys(line.asked for line in lines)
        return {
            "title": self.title,
            "source": self.source,
            "word": word,
            "means": ". ".join(_MEANS[kind] for kind in kinds)
            + ". Cannot say: rounding, or what is not printed, decides.",
            "rows": rows,
            "notes": list(self.notes),
        } | (lines[0].look if lines else {"tone": "plain", "icon": "question"})


def audit_html(page: AuditPage, links: Sequence[tuple[str, str]]) -> bytes:
    """One file that needs nothing else."""
    return render("audit.html.j2", view=page.view(), links=links).encode()


def audit_pdf(page: AuditPage) -> bytes:
    """The pages, tagged for screen readers; the same bytes for the same answers."""
    data = printable(page.view()) | {"palette": palette.PRINT}
    texts = {"main.typ": template("audit.typ"), "view.json": json.dumps(data), **drawn_icons()}
    sources: Any = {name: text.encode() for name, text in texts.items()}
    fonts = [str(palette.fonts())]
    compiler = typst.Compiler(sources, font_paths=fonts, ignore_system_fonts=True)
    made = compiler.compile(format="pdf", pdf_standards=["ua-1"], timestamp=0)
    if not isinstance(made, bytes):
        raise TypeError("Typst made something else than one file")
    return made


def write_audit(page: AuditPage, folder: Path, texts: dict[str, str]) -> Path:
    """Write report.html and report.pdf, and the given texts by their names; the page's path."""
    files = {name: text.encode() for name, text in texts.items()}
    links = [(Path(name).suffix[1:].upper(), name) for name in ("report.pdf", *files)]
    files |= {"report.pdf": audit_pdf(page), "report.html": audit_html(page, links)}
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder):
        for name, content in files.items():
            replace(folder / name, content)
    return folder / "report.html"
