"""Edits of files, for the tests of what is said of them."""

from __future__ import annotations

from pathlib import Path


def changed(path: Path, old: str, new: str) -> Path:
    """The file with another text in it, wherever that stood."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path
