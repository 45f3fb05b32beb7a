"""Reports -> one page with a table of their verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod

from repro.report import format as fmt
from repro.report import words
from repro.report.html import render
from repro.report.lines import Line, ordered


def index(lines: Sequence[Line], broken: Sequence[tuple[str, str]] = ()) -> str:
    """The page; ``broken`` are claims that were not judged and unreadable reports, and why."""
    found = Counter(_word(row) for row in lines)
    said = ", ".join(f"{n} {word}" for word, n in sorted(found.items()))
    total = f"{fmt.number_of(len(lines), 'verdict')}{': ' + said if said else ''}"
    failures = [(fmt.clean(path), fmt.clean(why)) for path, why in broken]
    return render(
        "index.html.j2", lines=ordered(lines), total=total, broken=failures, chance=_chance(lines)
    )


def _chance(lines: Sequence[Line]) -> str:
    """How many false CONFIRMED to expect among claims that no family joins, were none true."""
    chances = [row.chance for row in lines if row.chance > 0]
    if len(chances) < 2:
        return ""
    expected, some = sum(chances), 1 - prod(1 - chance for chance in chances)
    alone, false = fmt.count(len(chances)), fmt.significant(expected, 2)
    return (
        f"{alone} of these verdicts are judged each by itself, without a family. Were none of "
        f"their claims true, up to {false} would be expected to come out as CONFIRMED, and at "
        f"least one with a chance of up to {fmt.share(some, 2)}."
    )


def _word(row: Line) -> str:
    """The conclusion, or why there is none."""
    return row.validity.word if row.conclusion == words.NO_CONCLUSION else row.conclusion.word
