"""Reports -> a Markdown table of verdicts, for the step summary of a build."""

from __future__ import annotations

import re
from collections.abc import Iterable

from repro.crash import Stopped
from repro.report import format as fmt
from repro.report.document import Document
from repro.report.lines import Line, line, ordered

HEAD = ("Claim", "Scale", "Validity", "Conclusion", "Agreement", "Flags", "Why")


def summary(documents: Iterable[Document], stopped: Iterable[Stopped] = ()) -> str:
    """A table with a row for each claim, in the order of the index; then what an error stopped."""
    rows = [_cells(row) for row in ordered(line(document) for document in documents)]
    table = [HEAD, tuple("---" for _ in HEAD), *rows] if rows else []
    failed = [f"**Not judged: {_escaped(each.subject)}.** {_escaped(each.why)}" for each in stopped]
    parts = ["".join(f"| {' | '.join(row)} |\n" for row in table), *(f"{one}\n" for one in failed)]
    return "\n".join(part for part in parts if part) or "No claim was judged.\n"


def _cells(verdict: Line) -> tuple[str, ...]:
    flags = ", ".join(verdict.flags) or fmt.DASH
    strength = f" ({verdict.strength})" if verdict.strength else ""
    conclusion = verdict.conclusion.word + strength
    surprising = "" if verdict.as_expected else " (not as expected)"
    words = (
        f"{verdict.title} ({verdict.id})",
        verdict.scale,
        verdict.validity.word,
        conclusion + surprising,
        verdict.agreement.word,
        flags,
        verdict.sentence,
    )
    return tuple(_escaped(word) for word in words)


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is: on one line, without markup, links or HTML."""
    marked = re.sub(r"([\\`*_\[\]|~#!$])", r"\\\1", fmt.clean(text))
    marked = marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return marked.replace("://", ":\N{ZERO WIDTH SPACE}//").replace("@", "@\N{ZERO WIDTH SPACE}")
