"""The message that a file with a defect is refused with, kept as a comment at its end."""

from __future__ import annotations

import re
from pathlib import Path

HEAD = "# Refused with:\n"
PROBLEM = re.compile(
    r"[^\s:]+\.(yaml|csv):[1-9]\d*:[1-9]\d*: .+\n  expected: .+\n  to do: .+\n", re.ASCII
)


def kept_message(path: Path) -> str:
    """What stands below the last line "# Refused with:", without the marks of a comment."""
    _, head, comment = path.read_text(encoding="utf-8", errors="replace").rpartition(HEAD)
    assert head, f"{path} has no line {HEAD.rstrip()!r}"
    lines = comment.removesuffix("\n").split("\n")
    assert all(line.startswith("# ") for line in lines)
    return "".join(line.removeprefix("# ") + "\n" for line in lines)


def has_four_parts(message: str) -> bool:
    """Whether each problem in it says where, what, what was expected, and what to do."""
    return not PROBLEM.sub("", message)
