"""A table of printed comparisons (CSV) -> comparisons, or every mistake in it at once.

One comparison a row; every cell is read as the text that it is. Rows and columns are counted
as a spreadsheet does: the header is row 1, and a column is where it stands in the header.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Sequence
from pathlib import Path

from repro.audit.cells import Cells, read_row
from repro.audit.row import PrintedComparison
from repro.errors import Place, Problem, SpecError
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
    columns, problems = _columns(header[1], place, header[0])
    if not rows:
        where = Place(place, header[0])
        problems.append(Problem(where, "the table has no row", "one comparison a row", "add a row"))
    comparisons = []
    for number, fields in rows:
        if len(fields) != len(header[1]):
            problems.append(_wrong_length(Place(place, number), fields, header[1]))
            continue
        cells = Cells(place, number, columns, tuple(fields))
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


def _records(path: Path) -> list[tuple[int, list[str]]]:
    """Row number and fields of every row that is not blank."""
    text = read_text(path, "a CSV table").removeprefix("\N{BYTE ORDER MARK}")
    if (control := re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text)) is not None:
        place = place_of_offset(text, control.start(), str(path))
        what = f"the control character U+{ord(control[0]):04X}"
        raise fatal(place, what, "plain text", "save the table as CSV, in UTF-8")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    records = []
    try:
        for number, fields in enumerate(reader, start=1):
            if any(field.strip() for field in fields):
                records.append((number, fields))
            if len(records) > MAX_ROWS + 1:
                limit = f"at most {MAX_ROWS:,} rows"
                what = "the table is too long"
                raise fatal(Place(str(path), number), what, limit, "make several tables of it")
    except csv.Error as error:
        place = Place(str(path), max(reader.line_num, 1))
        advice = 'close every quote, and double a quote inside quotes: "a ""b"" c"'
        raise fatal(place, f"not CSV: {error}", "fields with commas between", advice) from None
    return records


def _columns(header: Sequence[str], file: str, row: int) -> tuple[dict[str, int], list[Problem]]:
    """Where each known column stands (from 1), and what is wrong with the header."""
    columns: dict[str, int] = {}
    problems = []
    for number, name in enumerate((cell.strip() for cell in header), start=1):
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
