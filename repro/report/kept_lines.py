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
from repro.report.index import Line

KIND = "lines"


class KeptLines:
    """The lines of the reports below a folder; ``limit`` is in bytes of a report."""

    def __init__(self, folder: Path, limit: int) -> None:
        self._folder, self._limit = folder, limit
        self._before = kept.read(KIND, folder)
        self._now: dict[str, Any] = {}
        self._form = TypeAdapter(Line)

    def line(self, path: Path, made: Callable[[], Line]) -> Line:
        """The line of the report ``path``, kept or ``made``; raises what that raises."""
        key = self._key(path)
        with suppress(KeyError, ValidationError):
            found = self._form.validate_python(self._before[key])
            self._now[key] = self._before[key]
            return found
        row = made()
        if key and self._key(path) == key:  # it is what was read
            self._now[key] = self._form.dump_python(row, mode="json")
        return row

    def write(self) -> None:
        """Keep those that were asked for."""
        if self._now != self._before:
            kept.write(KIND, self._folder, self._now)

    def _key(self, path: Path) -> str:
        """Its place and the digest of its content; empty where it cannot be read."""
        with suppress(OSError):
            content = hashlib.sha256(read_bytes(path, self._limit)).hexdigest()
            return f"{path.relative_to(self._folder)} {content}"
        return ""
