"""Reports -> one page with a table of their verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from repro.report import format as fmt
from repro.report import words
from repro.report.html import render
from repro.report.lines import Line, ordered


def index(lines: Sequence[Line], broken: Sequence[tuple[str, str]] = ()) -> str:
    """The page; ``broken`` names the reports that could not be read, and why."""
    found = Counter(_word(row) for row in lines)
    said = ", ".join(f"{n} {word}" for word, n in sorted(found.items()))
    total = f"{fmt.number_of(len(lines), 'verdict')}{': ' + said if said else ''}"
    failures = [(fmt.clean(path), fmt.clean(why)) for path, why in broken]
    return render("index.html.j2", lines=ordered(lines), total=total, broken=failures)


def _word(row: Line) -> str:
    """The conclusion, or why there is none."""
    return row.validity.word if row.conclusion == words.NO_CONCLUSION else row.conclusion.word
