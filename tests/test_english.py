"""Phrases that plain English does not use, each with a replacement: their number may only fall."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = ("README.md", "repro/**/*.py", "docs/**/*.md", "templates/*.j2", "templates/*.typ")

# pattern, what a native editor would write, how often it is left
PHRASES = (
    (r"\bas (it was|they were)\b", "unchanged; of runs: reused", 32),
    (r"(?i)of[_ ]?others\b|\bOthers[A-Z]", "third-party", 77),
    (r"\bown\b", "custom, or leave it out", 469),
    (r"\black(s|ed|ing)?\b", "is missing, without", 136),
    (r"(?i)\bmend(s|ed|ing)?\b", "fix", 0),
    (r"(?i)\banew\b", "again", 0),
    (r"(?i)\bin silence\b", "silently", 0),
    (r"\b(is|are) no (?!longer|more|less|doubt|reason|need|record|way)[a-z]", "is not a", 219),
    (r"(?m)(?:^ *(?:\"\"\")?|[.:;] )(Of|Those of) (?!course)[a-z]", "name the subject first", 84),
    (r"(?i)\bslip of the pen\b", "typo", 0),
    (r"(?i)\bhangs? on\b", "depends on", 18),
    (r"(?i)\bbeside\b", "next to, with", 142),
    (r"(?i)\bby whatever\b|\bwhichever they are\b", "any", 2),
    (r"(?i)\bwhat is of\b|\bthat is of\b", "name what it belongs to", 2),
    (r"(?i)\bledger\b", "log", 0),
    (r"(?i)\bcanar(y|ies)\b", "control", 32),
    (r"(?i)\bstands? there\b|\bstand beside\b", "appears", 13),
    (r"\b[Ww]hether of\b|\bof which each\b", "start a new sentence", 5),
)


@cache
def texts() -> tuple[str, ...]:
    """All that users and developers read."""
    files = sorted(path for each in TEXTS for path in ROOT.glob(each))
    return tuple(path.read_text(encoding="utf-8") for path in files)


def count(pattern: str) -> int:
    return sum(len(re.findall(pattern, text)) for text in texts())


def test_there_is_something_to_read() -> None:
    assert len(texts()) > 300


@pytest.mark.parametrize(("pattern", "instead", "left"), PHRASES, ids=[p[0] for p in PHRASES])
def test_a_phrase_does_not_spread(pattern: str, instead: str, left: int) -> None:
    """Write the replacement; where the number has fallen, lower it here."""
    assert count(pattern) == left, f"write instead: {instead}"
