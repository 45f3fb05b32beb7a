"""What stands inside the files of trackers: read in a process of its own, which has limits.

A file may be made by a stranger. Nothing here imports more than the standard library, so that the
process begins fast, and nothing is opened but what it is given.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

MOST_NAMES: Final = 10_000
"""Different names of numbers and settings in a file."""

DEPTH: Final = 20
LONGEST_TEXT: Final = 1_000
"""Characters of a list that is a setting, and of a text that may be a number."""


class Refused(Exception):  # noqa: N818 - what becomes of a file, and no fault of the program
    """A file that is not read: what is wrong, what was expected, and what to do."""

    def __init__(self, mistake: str, expected: str = "", advice: str = "") -> None:
        super().__init__(mistake)
        self.words = (mistake, expected, advice)


def scalars(
    document: Mapping[str, Any], before: str = "", depth: int = 0
) -> Iterator[tuple[str, Any]]:
    """Every value by its dotted path; lists are values."""
    for key, value in document.items():
        if not isinstance(value, dict):
            yield f"{before}{key}", value
        elif depth < DEPTH:
            yield from scalars(value, f"{before}{key}.", depth + 1)


def settings(document: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of a run, by dotted paths, lists as their texts."""
    return {
        name: str(value)[:LONGEST_TEXT] if isinstance(value, list) else value
        for name, value in scalars(document)
    }


def numbers(document: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that are numbers, or short texts, which may be some."""
    return {
        name: value
        for name, value in scalars(document)
        if isinstance(value, int | float) or (isinstance(value, str) and len(value) < LONGEST_TEXT)
    }


def refuse_many(names: Collection[object]) -> None:
    """Refused where a file has more different names than are read."""
    if len(names) > MOST_NAMES:
        raise Refused(
            f"has {len(names):,} different names of numbers and settings, or more",
            f"at most {MOST_NAMES:,}",
            "export the numbers that the claim names as CSV, and import that",
        )
