"""A table of printed comparisons (CSV) -> comparisons, or every mistake in it at once.

Rows and columns are counted as a spreadsheet does: the header is row 1.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from repro.audit.audit_file import TestName
from repro.audit.comparison import (
    PrintedArm,
    PrintedComparison,
    check_deviation,
    check_number,
    check_probability,
    check_size,
)
from repro.errors import ClaimError, Place, Problem, SpecError
from repro.evidence.published import MAX_CHARACTERS, PrintedNumber
from repro.files import fatal, place_of_offset, read_text
from repro.schema.rows import MOST, CsvRow, Mistakes, rows_of
from repro.stats.records import check_alpha

REQUIRED = ("id", "mean_a", "sd_a", "n_a", "mean_b", "sd_b", "n_b", "p")
OPTIONAL = ("alpha", "test", "tails", "family", "items", "samples")
COLUMNS = (*REQUIRED, *OPTIONAL)
MAX_ROWS = 2_000
MAX_ID = 100
MAX_DIGITS = 9


def has_arms(text: str) -> bool:
    """Whether a text is a table of comparisons, two arms a row; or of no other form."""
    line = next(filter(str.strip, text.lstrip("\N{BYTE ORDER MARK}").splitlines()), "")
    names = [name.strip(' "').lower() for name in re.split("[,;\t]", line)]
    if _numbered(names) != names:
        return True
    known = re.compile(r"(?:mean|sd|std|se|n)[_ ]?[ab]|[ab][_ ](?:mean|sd|std|se|n)")
    return not line or names == ["id"] or any(map(known.fullmatch, names))


_NUMBERED = re.compile(
    r"(?P<what>m|mean|avg|average|sd|std|stdev|n)[_ .]?(?P<at>[12])"
    r"|(?P<first>[12])[_ .](?P<then>m|mean|sd|std|n)"
)
_MEANT = {"m": "mean", "avg": "mean", "average": "mean", "std": "sd", "stdev": "sd"}


def _numbered(header: Sequence[str]) -> list[str]:
    """The names of columns, m1, sd1, n1, m2, sd2, n2 as those of arms a and b; four are enough.

    A first column of another name is then that of the ids.
    """
    names = [name.strip().lower() for name in header]
    found = {name: each for name in names if (each := _NUMBERED.fullmatch(name))}
    meant = {
        name: f"{_MEANT.get(what, what)}_{'ab'[int(each['at'] or each['first']) - 1]}"
        for name, each in found.items()
        if (what := each["what"] or each["then"])
    }
    arms = {*meant.values()}
    if len(arms) < max(4, len(meant)) or not {"mean_a", "mean_b"} <= arms:
        return list(header)
    known = {"p-value": "p", "p_value": "p", "pvalue": "p", "p value": "p"}
    names = [meant.get(name) or known.get(name, name) for name in names]
    if "id" not in names and names[0] not in COLUMNS:
        names[0] = "id"
    return names


def read_table(
    path: Path, text: str | None = None, source: str | None = None
) -> tuple[PrintedComparison, ...]:
    """The comparisons of a table; SpecError with every bad cell of every row.

    ``text`` is what was pasted instead of the file, and ``source`` what it is called.
    """
    place = source or str(path)
    records = _records(read_text(path, "a CSV table") if text is None else text, place)
    if not records:
        expected = ",".join(REQUIRED)
        raise fatal(Place(place), "the table is empty", expected, "give it a header and rows")
    header, *records = records
    header, records = _with_ids(header, records)
    columns, problems = _columns(header.cells, place, header.number)
    if not records:
        where = Place(place, header.number)
        problems.append(Problem(where, "the table has no row", "one comparison a row", "add a row"))
    rows = []
    for record in records:
        if len(record.cells) == len(header.cells):
            rows.append(_Row(place, record.number, columns, record.cells))
            continue
        mistake = f"row {record.number} has {len(record.cells)} fields"
        expected = f"{len(header.cells)} fields, one per column"
        advice = "an empty field for what is not printed; quotes around a text with a comma"
        problems.append(Problem(Place(place, record.number), mistake, expected, advice))
    comparisons = [row.comparison(problems) for row in rows]
    problems += _same_ids(rows)
    if problems:
        raise SpecError(_first(problems))
    return tuple(each for each in comparisons if each is not None)


def _with_ids(header: CsvRow, rows: list[CsvRow]) -> tuple[CsvRow, list[CsvRow]]:
    """The table with the columns of its arms as they are known, and `row 2` for ids not printed."""
    known = [name if (low := name.strip().lower()) not in COLUMNS else low for name in header.cells]
    names = _numbered(known)
    if "id" in names or not {"mean_a", "mean_b"} <= {*names}:
        return replace(header, cells=tuple(names)), rows
    width = len(names)
    named = [
        replace(row, cells=(*row.cells, f"row {row.number}")) if len(row.cells) == width else row
        for row in rows
    ]
    return replace(header, cells=(*names, "id")), named


def _first(problems: list[Problem]) -> list[Problem]:
    """The first mistakes in reading order, and how many more there are."""
    ordered = sorted(problems)
    if len(ordered) <= MOST:
        return ordered
    more = f"and {len(ordered) - MOST:,} more mistakes"
    return [*ordered[:MOST], Problem(ordered[MOST].place, more, "", "fix these first")]


def _records(text: str, file: str) -> list[CsvRow]:
    """Every row that is not blank."""
    text = text.removeprefix("\N{BYTE ORDER MARK}")
    if (control := re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text)) is not None:
        place = place_of_offset(text, control.start(), file)
        mistake = f"the control character U+{ord(control[0]):04X}"
        raise fatal(place, mistake, "plain text", "save the table as CSV, in UTF-8")
    mistakes = Mistakes(file)
    records = []
    for row in rows_of(text, (), mistakes):
        if any(row.cells):
            records.append(row)
        if len(records) > MAX_ROWS + 1:
            place, limit = Place(file, row.number), f"at most {MAX_ROWS:,} rows"
            raise fatal(place, "the table is too long", limit, "make several tables of it")
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
            mistake = f"column {name} occurs twice, first as column {columns[name]}"
            problems.append(Problem(place, mistake, "each column once", "delete one of the two"))
        else:
            columns[name] = number
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        many = "column" if len(missing) == 1 else "columns"
        mistake = f"missing {many} {', '.join(missing)}"
        advice = "add it; a cell may be empty where no number is printed"
        problems.append(Problem(Place(file, row), mistake, ",".join(REQUIRED), advice))
    return columns, problems


def _unknown(place: Place, name: str, header: Sequence[str]) -> Problem:
    if len(header) == 1 and any(sign in name for sign in ";\t"):
        mistake = "one column only, with semicolons or tabs in it"
        return Problem(place, mistake, "commas between the columns", "save the table with commas")
    turned = re.sub(r"^([ab])[_ ](.*)$", r"\2_\1", name.lower()[:50])
    close = difflib.get_close_matches(turned, COLUMNS, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    mistake = f"unknown column {name[:50]!r}{hint}" if name else "a column without a name"
    return Problem(place, mistake, ", ".join(COLUMNS), "rename or delete the column")


def _same_ids(rows: Sequence[_Row]) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for row in rows:
        name = row.text("id")
        if name and first.setdefault(name, row.number) != row.number:
            mistake = f"the id {name[:50]!r} is that of row {first[name]}"
            yield row.problem("id", mistake, "an id of its own", "rename one of the two")


@dataclass(frozen=True, slots=True)
class _Row:
    """One row: the file, its number, where each column stands (from 1), and its fields."""

    file: str
    number: int
    columns: Mapping[str, int]
    fields: tuple[str, ...]

    def text(self, column: str) -> str:
        """The text of a cell, without spaces around it; empty for a column that is not there."""
        where = self.columns.get(column)
        return "" if where is None else self.fields[where - 1].strip()

    def problem(self, column: str, mistake: str, expected: str, advice: str) -> Problem:
        """A mistake in the cell of a column."""
        place = Place(self.file, self.number, self.columns.get(column, 1))
        return Problem(place, f"row {self.number}, column {column}: {mistake}", expected, advice)

    def comparison(self, problems: list[Problem]) -> PrintedComparison | None:
        """The comparison of the row; ``None`` and more problems if any cell is bad."""
        before = len(problems)
        cells = {column: self._cell(column, problems) for column in COLUMNS}
        if len(problems) > before:
            return None
        a, b = (
            PrintedArm(*(cells[f"{name}_{arm}"] for name in ("mean", "sd", "n"))) for arm in "ab"
        )
        options = {name: cells[name] for name in OPTIONAL if cells[name] is not None}
        try:
            return PrintedComparison(cells["id"] or "", a, b, cells["p"], **options)
        except ClaimError as error:
            if options.get("samples") and not options.get("items"):
                advice, expected = "add the column items: the size of the test set", "items"
                problems.append(self.problem("samples", str(error), expected, advice))
            else:
                advice = "correct the sizes, or the test"
                problems.append(self.problem("test", str(error), "n_a equal to n_b", advice))
            return None

    def _cell(self, column: str, problems: list[Problem]) -> Any:
        """The value of a cell; ``None`` if it is empty, not there, or bad."""
        text = self.text(column)
        if column not in self.columns or (not text and column != "id"):
            return None
        name = re.sub("_[ab]$", "", column)
        parse, expected = CELLS["runs" if name == "n" and self.text("items") else name]
        try:
            return parse(text)
        except ClaimError as error:
            empty = "" if column == "id" else ", or leave it empty if nothing is printed"
            advice = f"correct the cell{empty}"
            problems.append(self.problem(column, str(error), expected, advice))
            return None


def _name(text: str) -> str:
    if not text:
        raise ClaimError("it is empty")
    if len(text) > MAX_ID:
        raise ClaimError(f"a text of {len(text):,} characters")
    return text


def _number(text: str, check: Callable[[PrintedNumber], PrintedNumber]) -> PrintedNumber:
    return check(PrintedNumber.read(text))


def _whole(text: str, sort: str, least: int = 0) -> int:
    whole = text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS
    if not whole or int(text) < least:
        raise ClaimError(f"{text[:MAX_CHARACTERS]!r} is not a {sort}")
    return int(text)


def _known(text: str, known: Mapping[str, Any]) -> Any:
    if text.lower() not in known:
        raise ClaimError(f"{text[:MAX_CHARACTERS]!r} is not known")
    return known[text.lower()]


TESTS: tuple[str, ...] = get_args(TestName)
SPELT = {**dict(zip(TESTS, TESTS, strict=True)), "mann-whitney": "mann_whitney"}
TAILS = {"1": 1, "2": 2, "one-sided": 1, "two-sided": 2}
NAME = f"a name of at most {MAX_ID} characters"

CELLS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "id": (_name, NAME),
    "mean": (partial(_number, check=check_number), "a number, such as 57.08"),
    "sd": (
        partial(_number, check=check_deviation),
        "a number that is not negative, such as 0.10",
    ),
    "n": (
        lambda text: check_size(_whole(text, "whole number of replicates")),
        "a whole number, at least 2",
    ),
    "runs": (
        partial(_whole, sort="whole number of runs", least=1),
        "a whole number, at least 1",
    ),
    "p": (
        partial(_number, check=check_probability),
        "a probability, such as 0.03, 2e-15 or <0.001",
    ),
    "alpha": (
        lambda text: check_alpha(_number(text, check_number).value),
        "a level between 0 and 0.5, such as 0.05",
    ),
    "test": (partial(_known, known=SPELT), f"{', '.join(TESTS[:-1])} or {TESTS[-1]}"),
    "tails": (partial(_known, known=TAILS), "1 or 2"),
    "family": (_name, NAME),
    "items": (
        partial(_whole, sort="number of items", least=1),
        "a whole number: the size of the test set",
    ),
    "samples": (
        partial(_whole, sort="number of samples", least=1),
        "a whole number: the answers to each item of which a score is the average",
    ),
}
"""How a cell is read, and what is expected of it, by the name of its column without the arm."""
