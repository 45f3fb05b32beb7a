"""Reports -> a list of their verdicts in Markdown, under the headings of their page."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repro.report.index import Line, chance, remarks, sections, total
from repro.schema import numbers as fmt

HEAD = ["Claim", "Verdict", "Result", "To know", "Why"]


def summary(lines: Sequence[Line], broken: Sequence[tuple[str, str]] = ()) -> str:
    """What changed, what is not as expected, then the rest; ``broken`` was not judged, and why.

    What was not begun for want of time stands with its claim, and once more where it is told why.
    """
    if not lines and not broken:
        return "No claim was judged.\n"
    parts = [f"## {_escaped(total(lines).removesuffix('.'))}\n"]
    for section in sections(lines):
        table = [HEAD, ["---"] * len(HEAD), *(_cells(row, lines) for row in section.lines)]
        rows = "".join(f"| {' | '.join(row)} |\n" for row in table)
        parts.append(f"### {_escaped(section.heading)}\n\n{rows}")
    postponed = dict.fromkeys(each for row in lines for each in row.postponed)
    parts += _list("Not started, or not ended", [("", each) for each in postponed])
    parts += _list("Not judged", broken)
    if said := chance(lines):
        parts.append(f"{_escaped(said)}\n")
    return "\n".join(parts)


def _list(heading: str, items: Sequence[tuple[str, str]]) -> list[str]:
    """A section of what has no verdict: each with its name, if it has one, and why."""
    rows = "".join(
        f"- {f'**{_escaped(name)}.** ' if name else ''}{_escaped(why)}\n" for name, why in items
    )
    return [f"### {heading}\n\n{rows}"] if rows else []


def _cells(row: Line, lines: Sequence[Line]) -> list[str]:
    """Title, verdict, one number and why, what changed before all else."""
    number = f"{row.number} ({row.interval})" if row.interval else row.number
    result = f"{number}, {row.of}" if row.of else number
    know = "; ".join(remarks(row, lines)) or fmt.DASH
    why = f"{row.flip} {row.sentence}" if row.flip else row.sentence
    cells = [f"{row.title} ({row.id})", row.verdict.word, result or fmt.DASH, know, why]
    return list(map(_escaped, cells))


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is: on one line, without markup, links or HTML."""
    marked = re.sub(r"([\\`*_\[\]|~#!$])", r"\\\1", fmt.clean(text))
    marked = marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return marked.replace("://", ":\N{ZERO WIDTH SPACE}//").replace("@", "@\N{ZERO WIDTH SPACE}")
