"""Audit files -> frozen audits with the numbers of their CSV files, or every mistake at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from repro.audit.audit_file import (
    AuditFile,
    Pooled,
    PrintedPoints,
    PrintedTable,
    PrintedWindow,
    StatedBound,
)
from repro.errors import Place, Problem, RuleError, SpecError
from repro.files import fatal, read_text
from repro.schema.messages import MOST, choose, listed, validated
from repro.schema.rows import CsvRow, Mistakes, rows_of
from repro.schema.yaml import Steps, YamlDocument, read_document

Columns = Mapping[str, tuple[str, ...]]
"""The cells of a CSV file, as printed, by the name of their column."""


@dataclass(frozen=True, slots=True)
class LoadedAudit:
    """An audit and the tables in its folder, by file name."""

    document: YamlDocument
    audit: AuditFile
    tables: Mapping[str, Columns]


def is_audit(document: YamlDocument) -> bool:
    """Whether a document is an audit rather than a claim: it has the key ``audit``."""
    return "audit" in document.data


def load_audit(path: Path) -> LoadedAudit:
    """The audit of one file; SpecError with every mistake in it and in its CSV files."""
    return audit_of(read_document(path))


def audit_of(document: YamlDocument) -> LoadedAudit:
    """The audit that a document holds.

    SpecError with every mistake of its shape; for one of the right shape, with every mistake of
    what it says and of its CSV files.
    """
    audit = validated(document, AuditFile)
    problems: list[Problem] = []
    tables = _tables(document, audit, problems)
    problems += islice(_meaning(document, audit), MOST)
    if not problems:
        problems += islice(_columns(document, audit, tables), MOST)
    if problems:
        raise RuleError(list(dict.fromkeys(problems)))
    return LoadedAudit(document, audit, tables)


def _tables(
    document: YamlDocument, audit: AuditFile, problems: list[Problem]
) -> dict[str, Columns]:
    """Every CSV file that is named, read once."""
    tables: dict[str, Columns] = {}
    for section in ("points", "wins", "spectra"):
        for position, entry in enumerate(getattr(audit, section)):
            if entry.file is None or entry.file in tables:
                continue
            path = Path(document.file).parent / entry.file
            if leads_elsewhere(path):
                problems.append(_link(document, (section, position, "file"), entry.file))
                continue
            try:
                tables[entry.file] = read_columns(path)
            except SpecError as error:
                problems += error.problems
    return tables


def leads_elsewhere(path: Path) -> bool:
    """Whether a file is a link out of its folder, which must not be read or quoted."""
    try:
        return not path.resolve().is_relative_to(path.parent.resolve())
    except (OSError, RuntimeError):  # a loop of links: reading says so
        return False


def _link(document: YamlDocument, steps: Steps, name: str) -> Problem:
    what = f"{document.name(steps)}: '{name}' is a link that leads elsewhere"
    expected = "a file in the folder of the audit"
    return Problem(document.place(steps), what, expected, "put the file itself there")


def read_columns(path: Path) -> Columns:
    """The cells of a CSV file with one header; SpecError for rows of another length.

    Every cell is a number, but for those of a first column whose header is ``id``.
    """
    file = str(path)
    mistakes = Mistakes(file)
    rows = list(rows_of(read_text(path, "a CSV file"), (), mistakes))
    mistakes.stop()
    header = rows[0].cells if rows else ()
    if not header or not all(header) or len(set(header)) < len(header):
        what, expected = "the first line does not name the columns", "names, each once"
        raise fatal(Place(file), what, expected, "write a header, such as x,y")
    problems = [problem for row in rows[1:] for problem in _row(file, header, row)]
    if len(rows) < 2:
        problems.append(Problem(Place(file), "there are no rows", "a row a point", "add them"))
    if problems:
        raise SpecError(problems[:MOST])
    return dict(zip(header, zip(*(row.cells for row in rows[1:]), strict=True), strict=True))


def _row(file: str, header: Sequence[str], row: CsvRow) -> Iterator[Problem]:
    if len(row.cells) != len(header):
        what = f"row {row.number}: {len(row.cells)} cells in a table of {len(header)} columns"
        expected = f"the columns {', '.join(header)}"
        yield Problem(Place(file, row.number), what, expected, "complete the row")
        return
    for name, cell, start in zip(header, row.cells, row.starts, strict=True):
        if name != "id" and not _is_number(cell):
            what = f"row {row.number}, column {name}: '{cell[:40]}' is not a number"
            advice = "write digits and a decimal point, without units"
            yield Problem(Place(file, row.number, start), what, "a finite number", advice)


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell)) and "_" not in cell
    except ValueError:
        return False


SECTIONS = (
    "tables",
    "comparisons",
    "points",
    "same_quantity",
    "pooled",
    "single_runs",
    "derived",
    "bounds",
    "wins",
    "spectra",
)
"""The lists of an audit; the ids in all of them together are different."""

RANGES: Mapping[object, tuple[float, float, str]] = {
    "sd": (0.0, math.inf, "a standard deviation, 0 or more"),
    "p": (0.0, 1.0, "a p-value, from 0 to 1"),
    "r": (-1.0, 1.0, "a correlation, from -1 to 1"),
}
"""Least, greatest, and what is expected of the numbers that have these keys."""


def _meaning(document: YamlDocument, audit: AuditFile) -> Iterator[Problem]:
    """Well-formed entries that mean nothing."""
    if not any(getattr(audit, section) for section in SECTIONS):
        what, expected = "nothing in this file can be checked", f"{listed(SECTIONS)}"
        yield Problem(Place(document.file), what, expected, "add a list of printed numbers")
    yield from _same_ids(document, audit)
    for position, table in enumerate(audit.tables):
        yield from _baseline(document, ("tables", position), table)
    for section in SECTIONS:
        yield from _impossible(document, (section,), document.get(section))
    for position, points in enumerate(audit.points):
        steps: Steps = ("points", position)
        yield from _one_of(document, steps, points, ("file", "values"))
        for number, window in enumerate(points.windows):
            yield from _window(document, (*steps, "windows", number), window)
    for position, bound in enumerate(audit.bounds):
        yield from _one_of(document, ("bounds", position), bound, ("at_most", "at_least"))
    for position, pooled in enumerate(audit.pooled):
        yield from _one_more(document, ("pooled", position), pooled)


def _same_ids(document: YamlDocument, audit: AuditFile) -> Iterator[Problem]:
    first: dict[str, Steps] = {}
    for name, steps in _ids(audit):
        if name in first:
            line = document.place(first[name]).line
            what = f"{steps[0]}: '{name}' is the id of two, first on line {line}"
            place = document.place(steps)
            yield Problem(place, what, "an id of its own", "rename one of the two")
        first.setdefault(name, steps)


def _ids(audit: AuditFile) -> Iterator[tuple[str, Steps]]:
    """The id of every row that the audit will have; that of a table's row begins with its own."""
    for section in SECTIONS:
        for position, entry in enumerate(getattr(audit, section)):
            steps: Steps = (section, position)
            if isinstance(entry, PrintedTable):
                for row in entry.rows:
                    if row != entry.baseline:
                        yield f"{entry.id}_{row}", (*steps, "rows", row)
                continue
            yield entry.id, (*steps, "id")
            for number, window in enumerate(
                entry.windows if isinstance(entry, PrintedPoints) else ()
            ):
                yield window.id, (*steps, "windows", number, "id")


def _baseline(document: YamlDocument, steps: Steps, table: PrintedTable) -> Iterator[Problem]:
    if table.baseline not in table.rows:
        what = f"{document.name(steps)}: there is no row '{table.baseline}'"
        place = document.place((*steps, "baseline"))
        yield Problem(place, what, listed(table.rows), choose(table.baseline, table.rows))
    elif table.rows[table.baseline].p is not None:
        what = f"{document.name(steps)}: the baseline is compared with itself"
        place = document.key_place((*steps, "rows", table.baseline, "p"))
        yield Problem(place, what, "a p-value in the other rows", "remove the p of the baseline")


def _impossible(document: YamlDocument, steps: Steps, value: Any) -> Iterator[Problem]:
    """Standard deviations, probabilities and coefficients out of their range, at any depth."""
    entries: list[tuple[str | int, Any]] = list(value.items()) if isinstance(value, dict) else []
    if isinstance(value, list):
        entries = list(enumerate(value))
    for key, one in entries:
        here = (*steps, key)
        if key in RANGES and isinstance(one, str):
            low, high, expected = RANGES[key]
            number = one.lstrip("<> ")
            if _is_number(number) and not low <= float(number) <= high:
                what = f"{document.name(here)}: '{one[:40]}' is out of range"
                yield Problem(document.place(here), what, expected, "copy it again")
        yield from _impossible(document, here, one)


def _one_of(
    document: YamlDocument, steps: Steps, entry: PrintedPoints | StatedBound, keys: tuple[str, str]
) -> Iterator[Problem]:
    given = [key for key in keys if getattr(entry, key) is not None]
    if len(given) != 1:
        what = f"{document.name(steps)}: {'both' if given else 'neither'} {keys[0]} and {keys[1]}"
        what = what if given else what.replace(" and ", " nor ")
        yield Problem(document.place(steps), what, "one of the two", "keep exactly one of them")


def _window(document: YamlDocument, steps: Steps, window: PrintedWindow) -> Iterator[Problem]:
    ends = (window.low, window.high)
    if all(map(_is_number, ends)) and float(window.low) >= float(window.high):
        what = f"{document.name(steps)}: the window from {window.low} to {window.high} is empty"
        place = document.place((*steps, "high"))
        yield Problem(place, what, "a high above the low", "exchange them")


def _one_more(document: YamlDocument, steps: Steps, pooled: Pooled) -> Iterator[Problem]:
    whole, part = pooled.whole.n, pooled.part.n
    if whole != part + 1:
        what = f"{document.name(steps)}: a whole of {whole} and a part of {part}"
        place = document.place((*steps, "part", "n"))
        yield Problem(place, what, f"a part of {whole - 1}", "only one added run can be checked")


def _columns(
    document: YamlDocument, audit: AuditFile, tables: Mapping[str, Columns]
) -> Iterator[Problem]:
    """Columns that are named and are not in the file."""
    for at, points in enumerate(audit.points):
        if points.file is not None:
            for axis, name in (("x", points.x.column), ("y", points.y.column)):
                steps: Steps = ("points", at, axis, "column")
                yield from _column(document, steps, name, tables[points.file])
    for at, spectrum in enumerate(audit.spectra):
        for name in (spectrum.column, "index"):
            yield from _column(document, ("spectra", at, "column"), name, tables[spectrum.file])
    for at, wins in enumerate(audit.wins):
        known = {name: cells for name, cells in tables[wins.file].items() if name != "id"}
        for model, row in wins.counts.items():
            steps = ("wins", at, "counts", model)
            yield from _column(document, steps, model, known)
            for other in row:
                yield from _column(document, (*steps, other), other, known)


def _column(document: YamlDocument, steps: Steps, name: str, known: Columns) -> Iterator[Problem]:
    """A problem unless the name is a column; it stands at a key ``column``, or is itself a key."""
    if name not in known:
        what = f"{document.name(steps)}: there is no column '{name}'"
        place = document.place(steps) if steps[-1] == "column" else document.key_place(steps)
        yield Problem(place, what, listed(known), choose(name, known))
