"""The lines of an index, kept by the content of the reports that they are of (`repro.kept`).

A report that was changed, or is new, is read; and so is every one where nothing can be kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from repro import kept
from repro.files import read_bytes
from repro.judging.document import Document
from repro.report.index import Line, line

KIND = "lines"


class KeptLines:
    """The lines of the reports below a folder; ``limit`` is in bytes of what ``read`` reads."""

    def __init__(self, folder: Path, limit: int, read: Callable[[Path], Document]) -> None:
        self._folder, self._limit, self._read = folder, limit, read
        self._before = kept.read(KIND, folder)
        self._now: dict[str, Any] = {}
        self._form = TypeAdapter(Line)

    def line(self, path: Path, link: str) -> Line:
        """The line of the report ``path``, which leads to ``link``; raises what ``read`` raises."""
        key = self._key(path, link)
        with suppress(KeyError, ValidationError):
            found = self._form.validate_python(self._before[key])
            self._now[key] = self._before[key]
            return found
        row = line(self._read(path), link)
        if key and self._key(path, link) == key:  # it is what was read
            self._now[key] = self._form.dump_python(row, mode="json")
        return row

    def write(self) -> None:
        """Keep those that were asked for."""
        if self._now != self._before:
            kept.write(KIND, self._folder, self._now)

    def _key(self, path: Path, link: str) -> str:
        """The link, the place and the digest of its content; empty where it cannot be read."""
        with suppress(OSError):
            content = hashlib.sha256(read_bytes(path, self._limit)).hexdigest()
            return f"{link} {path.relative_to(self._folder)} {content}"
        return ""
