"""Reports -> what GitHub shows: a list of their verdicts in Markdown, and annotations.

The list has the headings of their page. Annotations are lines that the runner of GitHub Actions
shows beside the claim files: an error for a word that is not the expected one, flips first; a
warning where nothing is decided; a notice for a flip to what is expected. What is as before and as
expected is not annotated, for a runner shows ten of a sort.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from repro.errors import Stopped, printable
from repro.judging.document import Document
from repro.judging.exit_status import status_of, verdict_of
from repro.report.badges import at_scale
from repro.report.flips import flip, is_unexpected_flip
from repro.report.index import Line, ListPart, VerdictList, chance, line
from repro.schema import numbers as fmt
from repro.specs.claim import UNSCALED

HEAD = ["Claim", "Verdict", "Result", "To know"]


def summary(documents: Iterable[Document], stopped: Iterable[Stopped] = ()) -> str:
    """The list of some documents, and of what an error stopped."""
    return listed([*map(line, documents)], [(each.subject, each.why) for each in stopped])


def listed(lines: Sequence[Line], broken: Sequence[tuple[str, str]]) -> str:
    """What changed, what is not as expected, what has no verdict and why, then the rest."""
    if not lines and not broken:
        return "No claim was judged.\n"
    verdicts = VerdictList(lines)
    found = verdicts.parts()
    parts = [f"{_flip(row)}\n" for row in verdicts.changed]
    parts += [f"## {escaped(verdicts.total(len(broken)).removesuffix('.'))}\n"]
    parts += [_table(part, verdicts) for part in found if part.urgent]
    parts += _list("Not judged", broken)
    postponed = dict.fromkeys(each for row in verdicts.lines for each in row.postponed)
    parts += _list("Left for the next time", [("", each) for each in postponed])
    parts += [_table(part, verdicts) for part in found if not part.urgent]
    parts += [f"{escaped(said)}\n"] if (said := chance(verdicts.lines)) else []
    return "\n".join(parts)


def _flip(row: Line) -> str:
    """What comes before all else: a verdict with another word than before."""
    scale = "" if row.scale == UNSCALED else f", {row.scale}"
    return f"**{escaped(f'{row.title} ({row.id}{scale})')}.** {escaped(row.flip)}"


def _table(part: ListPart, verdicts: VerdictList) -> str:
    """The lines of a part, a row each; why is said of those that are urgent."""
    head = [*HEAD, "Why"] if part.urgent else HEAD
    rows = (_cells(row, verdicts)[: len(head)] for row in part.lines)
    table = (f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *rows))
    return f"### {escaped(part.heading)}\n\n{''.join(table)}"


def _list(heading: str, items: Sequence[tuple[str, str]]) -> list[str]:
    """A section of what has no verdict: each with its name, if it has one, and why."""
    rows = "".join(
        f"- {f'**{escaped(name)}.** ' if name else ''}{escaped(why)}\n" for name, why in items
    )
    return [f"### {heading}\n\n{rows}"] if rows else []


def _cells(row: Line, verdicts: VerdictList) -> list[str]:
    """Title, verdict, one number, what to know and why."""
    number = f"{row.number} ({row.interval})" if row.interval else row.number
    result = f"{number}, {row.of}" if row.of else number
    know = "; ".join(verdicts.remarks(row)) or fmt.DASH
    name = f"{row.title} ({row.id})"
    cells = [name, row.verdict.word, result or fmt.DASH, know, row.sentence]
    return list(map(escaped, cells))


def escaped(text: str) -> str:
    """Text that Markdown shows as it is: on one line, without markup, links or HTML."""
    marked = re.sub(r"([\\`*_\[\]|~#!$])", r"\\\1", fmt.unbroken(fmt.clean(text)))
    marked = marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return marked.replace("://", ":\N{ZERO WIDTH SPACE}//").replace("@", "@\N{ZERO WIDTH SPACE}")


LEVELS = ("error", "warning", "notice")


def github(documents: Iterable[Document], stopped: Iterable[Stopped] = ()) -> list[str]:
    """One line for each verdict that is to be looked at, and for each claim that was not judged."""
    told = sorted(documents, key=lambda document: not flip(document))
    lines = [line for document in told for line in _annotation(document)]
    lines += [_line("error", each.subject, each.why) for each in stopped]
    return sorted(lines, key=lambda line: LEVELS.index(line[2:].partition(" ")[0]))


def _annotation(document: Document) -> list[str]:
    verdict, flipped = document.verdict, flip(document)
    status = status_of(*verdict_of(document))
    if status == 0 and not flipped:
        return []
    level = "notice" if status == 0 else "warning" if status == 3 else "error"
    level = "error" if is_unexpected_flip(document) else level
    word = verdict.conclusion or verdict.validity
    title = f"{document.claim.id}{at_scale(document.scale.name)}: {word}"
    text = " ".join(filter(None, (flipped, verdict.sentence)))
    return [_line(level, title, text, document.claim.file)]


def _line(level: str, title: str, text: str, file: str = "") -> str:
    """One workflow command; what a claim holds begins no other, and no property of this one."""
    properties = {"file": file, "line": "1"} if file else {}
    named = (*properties.items(), ("title", title))
    shown = [f"{key}={_data(each).replace(':', '%3A').replace(',', '%2C')}" for key, each in named]
    return f"::{level} {','.join(shown)}::{_data(text)}"


def _data(text: str) -> str:
    """On one line; of what is left only the percent sign means something."""
    return printable(fmt.clean(text)).replace("%", "%25")
