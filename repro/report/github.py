"""Verdicts -> annotations of GitHub Actions: lines that its runner shows beside the claim files.

An error for a word that is not the expected one, flips first; a warning where nothing is decided; a
notice for a flip to what is expected. What is as before and as expected is not annotated, for a
runner shows ten of a sort.
"""

from __future__ import annotations

from collections.abc import Iterable

from repro.errors import Stopped, printable
from repro.judging.document import Document
from repro.judging.verdict import status_of, verdict_of
from repro.report.badges import at_scale
from repro.report.flips import flip, is_unexpected_flip
from repro.schema import numbers as fmt

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
    shown = [f"{name}={_property(each)}" for name, each in (*properties.items(), ("title", title))]
    return f"::{level} {','.join(shown)}::{_data(text)}"


def _data(text: str) -> str:
    """On one line; of what is left only the percent sign means something."""
    return printable(fmt.clean(text)).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
