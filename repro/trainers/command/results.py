"""The numbers that a program leaves: read from JSON, CSV, JSON lines or its output, by name."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from repro.errors import DataError
from repro.files import read_bytes
from repro.trainers.command.spec import Results, filled, unknown
from repro.trainers.measurement import AtRow, Reduction

LARGEST: Final = 64_000_000
"""Bytes of a file of results."""

MOST_ROWS: Final = 1_000_000
MOST_NAMES: Final = 2_000
DEPTH: Final = 20

Row = dict[str, float | None]
"""Numbers by name; None is one that is not finite."""


class Heard:
    """The rows of an output: each line in which a pattern is found."""

    def __init__(self, pattern: str | None) -> None:
        self._pattern = None if pattern is None else re.compile(pattern)
        self.rows: list[Row] = []

    def __call__(self, line: str) -> None:
        found = self._pattern.search(line) if self._pattern else None
        if found and len(self.rows) < MOST_ROWS:
            texts = {name: text for name, text in found.groupdict().items() if text is not None}
            self.rows.append(_numbers(texts))


def rows_of(results: Results, values: Mapping[str, Any], folder: Path, heard: Heard) -> list[Row]:
    """The rows that a run left; of ``file`` there is one.

    ``values`` are those of the placeholders, ``folder`` is where the program ran. DataError for
    results that are missing, or no numbers.
    """
    if results.stdout is not None:
        if not heard.rows:
            raise _refused("the output", "no line has the pattern", results.stdout)
        return heard.rows
    path, form = folder / filled(results.path, values), results.form
    content = _content(path)
    try:
        rows = {"file": _json, "csv": _csv, "jsonl": _json_lines}[form](content)
    except (ValueError, RecursionError, csv.Error) as error:
        raise _refused(
            str(path), f"cannot be read as {form}: {error}", "numbers by name"
        ) from error
    if not any(rows):
        raise _refused(str(path), "no numbers", "at least one number")
    return rows


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


def _json(text: str) -> list[Row]:
    document = json.loads(text)
    if not isinstance(document, dict):
        raise ValueError("it holds no object at its top")  # noqa: TRY004 - wrong content, not type
    return [_numbers(dict(_flat(document)))]


def _flat(
    document: Mapping[str, Any], before: str = "", depth: int = 0
) -> Iterator[tuple[str, Any]]:
    """Every value by its dotted path."""
    if depth > DEPTH:
        return
    for key, value in document.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.", depth + 1)
        else:
            yield f"{before}{key}", value


def _json_lines(text: str) -> list[Row]:
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        document = json.loads(line)
        if not isinstance(document, dict):
            raise ValueError(f"line {number} holds no object")  # noqa: TRY004
        rows.append(_numbers(dict(_flat(document))))
    return rows[:MOST_ROWS]


def _csv(text: str) -> list[Row]:
    sample = text[:10_000]
    first = sample.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    reader = csv.DictReader(io.StringIO(text), delimiter=separator, strict=True)
    return [_numbers({k: v for k, v in row.items() if k and isinstance(v, str)}) for row in reader]


def _numbers(values: Mapping[str, Any]) -> Row:
    """Those of the values that are numbers; texts, lists and nulls are left out."""
    found: Row = {}
    for name, value in values.items():
        if isinstance(value, bool) or len(found) >= MOST_NAMES:
            continue
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            continue
        found[str(name).strip()] = number if math.isfinite(number) else None
    return found


def document(rows: Sequence[Row], *, series: bool) -> bytes:
    """What is stored of a run."""
    return json.dumps({"series": series, "rows": list(rows)}, sort_keys=True).encode("ascii")


def chosen(rows: Sequence[Row], name: str, reduction: Reduction | None) -> tuple[float, int]:
    """The number of that name in the row that the reduction chooses, and the place of the row.

    DataError where there is none, or where it is one of several and no reduction is declared.
    """
    having = [place for place, row in enumerate(rows) if name in row]
    if not having:
        known = sorted({key for row in rows for key in row})
        what, expected, advice = unknown(name, known)
        raise _no_number(what, expected, advice)
    if reduction is None:
        if len(having) > 1:
            advice = f"add `reduce: last` to the measurement of {name}, or another choice"
            raise _no_number(f"{len(having)} values of '{name}'", "one, or `reduce`", advice)
        place = having[0]
    else:
        place = _place(rows, having, reduction)
    value = rows[place][name]
    if value is None:
        raise _no_number(f"'{name}' is not finite", "a finite number", "declare it a divergence")
    return value, place


def _place(rows: Sequence[Row], having: Sequence[int], reduction: Reduction) -> int:
    """Which of the rows that have a number a reduction chooses."""
    if isinstance(reduction, str):
        return having[0 if reduction == "first" else -1]
    if isinstance(reduction, AtRow):
        ((key, value),) = reduction.at.items()
        found = [place for place in having if rows[place].get(key) == value]
        if len(found) != 1:
            what = f"{len(found) or 'no'} rows in which '{key}' is {value:g}"
            raise _no_number(what, "one", "name another row, or `reduce: last`")
        return found[0]
    by = reduction.best_by
    judged = [(number, place) for place in having if (number := rows[place].get(by)) is not None]
    if not judged:
        raise _no_number(f"no row with '{by}'", "the number to choose by", "correct its name")
    sign = 1 if reduction.better == "lower" else -1
    return min(judged, key=lambda each: (sign * each[0], each[1]))[1]


def _no_number(mistake: str, expected: str, advice: str) -> DataError:
    return DataError(
        f"the results of the run: {mistake}\n  expected: {expected}\n  to do: {advice}"
    )
