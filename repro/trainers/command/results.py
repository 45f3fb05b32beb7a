"""The numbers that a program leaves, by name: from JSON, CSV, JSON lines, a log or its output."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from repro.errors import DataError
from repro.files import read_bytes
from repro.series import Heard, Row, rows_in
from repro.trainers.command.spec import Results, filled

LARGEST: Final = 64_000_000
"""Bytes of a file of results."""


def rows_of(results: Results, values: Mapping[str, Any], folder: Path, heard: Heard) -> list[Row]:
    """The rows that a run left; of ``file`` there is one.

    ``values`` are those of the placeholders, ``folder`` is where the program ran. DataError for
    results that are missing, or no numbers.
    """
    form = results.form
    if form == "stdout":
        if not heard.rows:
            raise _refused("the output", "no line has the pattern", str(results.stdout))
        return heard.rows
    path = folder / filled(results.path, values)
    content = _content(path)
    if form == "log":
        return _rows_of_log(path, content, str(results.pattern))
    try:
        rows = rows_in(content, form)
    except ValueError as error:
        raise _refused(
            str(path), f"cannot be read as {form}: {error}", "numbers by name"
        ) from error
    if not any(rows):
        raise _refused(str(path), "no numbers", "at least one number")
    return rows


def _rows_of_log(path: Path, content: str, pattern: str) -> list[Row]:
    heard = Heard(pattern)
    for line in content.splitlines():
        heard(line)
    if not heard.rows:
        raise _refused(str(path), "no line has the pattern", pattern)
    return heard.rows


def _content(path: Path) -> str:
    try:
        return read_bytes(path, LARGEST, follow=False).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "no UTF-8"
        raise _refused(str(path), f"cannot be read: {why}", "the results of the run") from error


def _refused(place: str, mistake: str, expected: str) -> DataError:
    return DataError(
        f"{place}: {mistake}\n  expected: {expected}\n"
        "  to do: mend `results`, or the program that writes them"
    )


def document(rows: Sequence[Row], *, series: bool) -> bytes:
    """What is stored of a run."""
    return json.dumps({"series": series, "rows": list(rows)}, sort_keys=True).encode("ascii")
