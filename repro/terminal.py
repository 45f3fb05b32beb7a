"""Text for terminals and logs: what a claim, a table or a file name holds can forge no line.

Control characters, escape sequences, characters that turn the direction of text and those that
cannot be seen are shown as escapes, and no line is a command to GitHub's runner.
"""

from __future__ import annotations

import re

_SPACES = "\u00a0\u2007\u202f"
"""Blanks that do not break, which numbers in text may have; they forge nothing."""

_COMMAND = re.compile(r"^[^\S\n]*(?=::)|(?<=#)(?=#\[)", re.MULTILINE)
"""The start of a workflow command: `::error::` after blanks, or `##[` anywhere in a line."""


def printable(text: str) -> str:
    """The text on one line, every character that is not to be seen as its escape."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each in _SPACES else ascii(each)[1:-1] for each in text
    )


def printable_lines(text: str) -> str:
    """Every line of the text, ``printable``, and none of them a workflow command."""
    lines = "\n".join(printable(line) for line in text.split("\n"))
    return _COMMAND.sub(lambda match: f"{match[0]}\\", lines)
