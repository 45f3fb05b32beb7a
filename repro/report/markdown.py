"""Reports -> a table of their verdicts, in Markdown for a build and as an HTML page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod

from repro.errors import Stopped
from repro.judging.document import Document
from repro.report import words
from repro.report.view import Line, line, ordered
from repro.schema import numbers as fmt

HEAD = ["Claim", "Scale", "Validity", "Conclusion", "Agreement", "Flags", "Why"]


def summary(documents: Iterable[Document], stopped: Iterable[Stopped] = ()) -> str:
    """A table with a row for each claim, in the order of the index; then what an error stopped."""
    rows = [_cells(row) for row in ordered(map(line, documents))]
    table = [HEAD, ["---"] * len(HEAD), *rows]
    parts = ["".join(f"| {' | '.join(row)} |\n" for row in table)] if rows else []
    parts += [
        f"**Not judged: {_escaped(each.subject)}.** {_escaped(each.why)}\n" for each in stopped
    ]
    return "\n".join(parts) or "No claim was judged.\n"


def _cells(verdict: Line) -> list[str]:
    conclusion = verdict.conclusion.word
    if verdict.strength:
        conclusion += f" ({verdict.strength})"
    if not verdict.as_expected:
        conclusion += " (not as expected)"
    flags = ", ".join(verdict.flags) or fmt.DASH
    cells = [f"{verdict.title} ({verdict.id})", verdict.scale, verdict.validity.word, conclusion]
    return [_escaped(cell) for cell in (*cells, verdict.agreement.word, flags, verdict.sentence)]


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is: on one line, without markup, links or HTML."""
    marked = re.sub(r"([\\`*_\[\]|~#!$])", r"\\\1", fmt.unbroken(fmt.clean(text)))
    marked = marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return marked.replace("://", ":\N{ZERO WIDTH SPACE}//").replace("@", "@\N{ZERO WIDTH SPACE}")


def index(lines: Sequence[Line], broken: Sequence[tuple[str, str]] = ()) -> str:
    """The page; ``broken`` are claims that were not judged and unreadable reports, and why."""
    found = Counter(
        (row.validity if row.conclusion == words.NO_CONCLUSION else row.conclusion).word
        for row in lines
    )
    said = ", ".join(f"{n} {word}" for word, n in sorted(found.items()))
    total = f"{fmt.number_of(len(lines), 'verdict')}{': ' + said if said else ''}"
    failures = [(fmt.clean(path), fmt.clean(why)) for path, why in broken]
    from repro.report.html import render  # noqa: PLC0415 - loads matplotlib and Jinja

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
