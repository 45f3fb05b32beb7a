"""A table of printed comparisons (CSV) -> comparisons, or every mistake in it at once.

One comparison a row; every cell is read as the text that it is. Rows and columns are counted
as a spreadsheet does: the header is row 1, and a column is where it stands in the header.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from pathlib import Path

from repro.audit.cells import Cells, read_row
from repro.audit.row import PrintedComparison
from repro.errors import Place, Problem, SpecError
from repro.rows import CsvRow, Mistakes, rows_of
from repro.specs.files import fatal, place_of_offset, read_text

REQUIRED = ("id", "mean_a", "sd_a", "n_a", "mean_b", "sd_b", "n_b", "p")
OPTIONAL = ("alpha", "test", "tails", "family", "items")
COLUMNS = (*REQUIRED, *OPTIONAL)
MAX_ROWS = 2_000
MOST = 100
"""No more mistakes than this are named, of however bad a table."""


def read_table(path: Path) -> tuple[PrintedComparison, ...]:
    """The comparisons of a table; SpecError with every bad cell of every row."""
    records = _records(path)
    if not records:
        expected = ",".join(REQUIRED)
        raise fatal(Place(str(path)), "the table is empty", expected, "give it a header and rows")
    header, *rows = records
    place = str(path)
    columns, problems = _columns(header.cells, place, header.number)
    if not rows:
        where = Place(place, header.number)
        problems.append(Problem(where, "the table has no row", "one comparison a row", "add a row"))
    comparisons = []
    for row in rows:
        if len(row.cells) != len(header.cells):
            problems.append(_wrong_length(Place(place, row.number), row.cells, header.cells))
            continue
        cells = Cells(place, row.number, columns, row.cells)
        comparison, found = read_row(cells)
        problems += found
        comparisons.append((cells, comparison))
    problems += _same_ids([cells for cells, _ in comparisons])
    if problems:
        raise SpecError(_first(problems))
    return tuple(one for _, one in comparisons if one is not None)


def _first(problems: list[Problem]) -> list[Problem]:
    """The first mistakes in reading order, and how many more there are."""
    ordered = sorted(problems)
    if len(ordered) <= MOST:
        return ordered
    more = Problem(
        ordered[MOST].place, f"and {len(ordered) - MOST:,} more mistakes", "", "mend these first"
    )
    return [*ordered[:MOST], more]


def _records(path: Path) -> list[CsvRow]:
    """Every row that is not blank."""
    text = read_text(path, "a CSV table").removeprefix("\N{BYTE ORDER MARK}")
    if (control := re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text)) is not None:
        place = place_of_offset(text, control.start(), str(path))
        what = f"the control character U+{ord(control[0]):04X}"
        raise fatal(place, what, "plain text", "save the table as CSV, in UTF-8")
    mistakes = Mistakes(str(path))
    records = []
    for row in rows_of(text, (), mistakes):
        if any(row.cells):
            records.append(row)
        if len(records) > MAX_ROWS + 1:
            limit = f"at most {MAX_ROWS:,} rows"
            what = "the table is too long"
            raise fatal(Place(str(path), row.number), what, limit, "make several tables of it")
    mistakes.stop()
    return records


def _columns(header: Sequence[str], file: str, row: int) -> tuple[dict[str, int], list[Problem]]:
    """Where each known column stands (from 1), and what is wrong with the header."""
    columns: dict[str, int] = {}
    problems = []
    for number, name in enumerate(header, start=1):
        place = Place(file, row, number)
        if name not in COLUMNS:
            problems.append(_unknown(place, name, header))
        elif name in columns:
            what = f"column {name} occurs twice, first as column {columns[name]}"
            problems.append(Problem(place, what, "each column once", "delete one of the two"))
        else:
            columns[name] = number
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        many = "column" if len(missing) == 1 else "columns"
        what = f"missing {many} {', '.join(missing)}"
        advice = "add it; a cell may be empty where no number is printed"
        problems.append(Problem(Place(file, row), what, ",".join(REQUIRED), advice))
    return columns, problems


def _unknown(place: Place, name: str, header: Sequence[str]) -> Problem:
    if len(header) == 1 and any(sign in name for sign in ";\t"):
        what = "one column only, with semicolons or tabs in it"
        return Problem(place, what, "commas between the columns", "save the table with commas")
    close = difflib.get_close_matches(name.lower()[:50], COLUMNS, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    what = f"unknown column {name[:50]!r}{hint}" if name else "a column without a name"
    return Problem(place, what, ", ".join(COLUMNS), "rename or delete the column")


def _wrong_length(place: Place, fields: Sequence[str], header: Sequence[str]) -> Problem:
    return Problem(
        place,
        f"row {place.line} has {len(fields)} fields",
        f"{len(header)} fields, one a column",
        "an empty field for what is not printed; quotes around a text with a comma",
    )


def _same_ids(rows: Sequence[Cells]) -> list[Problem]:
    """Rows that go by the same id."""
    first: dict[str, int] = {}
    problems = []
    for cells in rows:
        name = cells.text("id")
        if name and name in first:
            what = f"the id {name[:50]!r} is that of row {first[name]}"
            problems.append(cells.problem("id", what, "an id of its own", "rename one of the two"))
        elif name:
            first[name] = cells.row
    return problems
