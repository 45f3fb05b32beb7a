"""A table of printed comparisons (CSV) -> comparisons, or every mistake in it at once.

One comparison a row; every cell is read as the text that it is. Rows and columns are counted
as a spreadsheet does: the header is row 1, and a column is where it stands in the header.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from repro.audit.audit_file import TestName
from repro.audit.comparison import (
    PrintedArm,
    PrintedComparison,
    check_deviation,
    check_number,
    check_probability,
    check_size,
)
from repro.audit.p_range import Tails
from repro.errors import ClaimError, Place, Problem, SpecError
from repro.evidence.published import MAX_CHARACTERS, PrintedNumber
from repro.files import fatal, place_of_offset, read_text
from repro.schema.rows import CsvRow, Mistakes, rows_of
from repro.stats.records import check_alpha

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
        f"{len(header)} fields, one per column",
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


T = TypeVar("T")
MAX_ID = 100
MAX_DIGITS = 9

TESTS: dict[str, TestName] = {
    "student": "student",
    "welch": "welch",
    "paired": "paired",
    "mann_whitney": "mann_whitney",
    "mann-whitney": "mann_whitney",
    "wilcoxon": "wilcoxon",
    "permutation": "permutation",
}

NAMED_TESTS = "student, welch, paired, mann_whitney, wilcoxon or permutation"
TAILS: dict[str, Tails] = {"1": 1, "2": 2, "one-sided": 1, "two-sided": 2}


@dataclass(frozen=True, slots=True)
class Cells:
    """One row: the file, its number, where each column stands (from 1), and its fields."""

    file: str
    row: int
    columns: Mapping[str, int]
    fields: tuple[str, ...]

    def text(self, column: str) -> str:
        """The text of a cell, without spaces around it; empty for a column that is not there."""
        where = self.columns.get(column)
        return "" if where is None else self.fields[where - 1].strip()

    def problem(self, column: str, mistake: str, expected: str, advice: str) -> Problem:
        """A mistake in the cell of a column."""
        place = Place(self.file, self.row, self.columns.get(column, 1))
        return Problem(place, f"row {self.row}, column {column}: {mistake}", expected, advice)


def read_row(cells: Cells) -> tuple[PrintedComparison | None, list[Problem]]:
    """The comparison of a row; ``None`` and the mistakes if any cell is bad."""
    reader = _Reader(cells)
    name = reader.read("id", _name, f"a name of at most {MAX_ID} characters")
    a, b = (reader.arm(side) for side in "ab")
    p = reader.read("p", _p, "a probability, such as 0.03, 2e-15 or <0.001")
    alpha = reader.read("alpha", _alpha, "a level between 0 and 0.5, such as 0.05")
    test = reader.read("test", _test, NAMED_TESTS)
    tails = reader.read("tails", _tails, "1 or 2")
    family = reader.read("family", _name, f"a name of at most {MAX_ID} characters")
    items = reader.read("items", _items, "a whole number: the size of the test set")
    if reader.problems or a is None or b is None:
        return None, reader.problems
    try:
        found = PrintedComparison(
            name or "", a, b, p, 0.05 if alpha is None else alpha, test, tails, family, items
        )
    except ClaimError as error:
        advice = "correct the sizes, or the test"
        return None, [cells.problem("test", str(error), "n_a equal to n_b", advice)]
    return found, []


class _Reader:
    """Reads cell after cell and keeps what is wrong."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self.problems: list[Problem] = []

    def read(self, column: str, parse: Callable[[str], T], expected: str) -> T | None:
        """The value of a cell; ``None`` if it is empty, not there, or bad."""
        text = self.cells.text(column)
        if column not in self.cells.columns or (not text and column != "id"):
            return None
        try:
            return parse(text)
        except ClaimError as error:
            empty = "" if column == "id" else ", or leave it empty if nothing is printed"
            advice = f"correct the cell{empty}"
            self.problems.append(self.cells.problem(column, str(error), expected, advice))
            return None

    def arm(self, side: str) -> PrintedArm | None:
        """One arm; ``None`` if a cell of it is bad."""
        before = len(self.problems)
        mean = self.read(f"mean_{side}", _mean, "a number, such as 57.08")
        sd = self.read(f"sd_{side}", _sd, "a number that is not negative, such as 0.10")
        n = self.read(f"n_{side}", _n, "a whole number, at least 2")
        return PrintedArm(mean, sd, n) if len(self.problems) == before else None


def _name(text: str) -> str:
    if not text:
        raise ClaimError("it is empty")
    if len(text) > MAX_ID:
        raise ClaimError(f"a text of {len(text):,} characters")
    return text


def _mean(text: str) -> PrintedNumber:
    return check_number(PrintedNumber.read(text))


def _sd(text: str) -> PrintedNumber:
    return check_deviation(PrintedNumber.read(text))


def _n(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS):
        raise ClaimError(f"{text[:MAX_CHARACTERS]!r} is not a whole number of replicates")
    return check_size(int(text))


def _items(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < len(text) <= MAX_DIGITS and int(text)):
        raise ClaimError(f"{text[:MAX_CHARACTERS]!r} is not a number of items")
    return int(text)


def _p(text: str) -> PrintedNumber:
    return check_probability(PrintedNumber.read(text))


def _alpha(text: str) -> float:
    return check_alpha(check_number(PrintedNumber.read(text)).value)


def _test(text: str) -> TestName:
    return _one_of(text, TESTS)


def _tails(text: str) -> Tails:
    return _one_of(text, TAILS)


def _one_of(text: str, known: Mapping[str, T]) -> T:
    if text.lower() not in known:
        raise ClaimError(f"{text[:MAX_CHARACTERS]!r} is not known")
    return known[text.lower()]
