"""The one CSV reader: rows of cells, each with the column where it starts, or columns of numbers.

It is strict about a table that is written for a claim, and lenient about what programs export.
Every step takes time in proportion to the text, whatever the text is.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from repro.errors import Place, Problem, SpecError
from repro.files import fatal, read_text
from repro.schema.cells import float_of, plain_values

MOST = 100
"""No more mistakes than this are shown; the others are counted."""

LIMIT = 10_000
"""After so many mistakes reading stops: what is still to come is not counted either."""

MAX_COLUMNS = 1_000
DELIMITERS = (",", ";", "\t")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class CsvRow:
    """Cells as text, and the column of the file at which each starts."""

    number: int
    cells: tuple[str, ...]
    starts: tuple[int, ...]


@dataclass(slots=True)
class Mistakes:
    """The mistakes in one table: the first are kept, the others counted up to a limit."""

    file: str
    kept: list[Problem] = field(default_factory=list)
    counted: int = 0

    def add(self, row: int, column: int, mistake: str, expected: str, advice: str) -> None:
        """Note a mistake; SpecError with all so far where there are too many to go on."""
        self.counted += 1
        if not self.full:
            self.kept.append(Problem(Place(self.file, row, column), mistake, expected, advice))
        if self.counted >= LIMIT:
            place = Place(self.file, row, column)
            more = f"{LIMIT - MOST:,} more mistakes until here, where reading stopped"
            raise SpecError([*sorted(self.kept)[:MOST], Problem(place, more)])

    @property
    def full(self) -> bool:
        """Whether the next mistake is only counted, so that its words need no care."""
        return len(self.kept) > MOST

    def stop(self) -> None:
        """SpecError with every mistake, if there is any."""
        if not self.kept:
            return
        ordered, more = sorted(self.kept), self.counted - MOST
        if more > 0:
            ordered[MOST:] = [Problem(ordered[MOST].place, f"{more} more mistakes from here on")]
        raise SpecError(ordered)


def rows_of(
    text: str, columns: Collection[str], mistakes: Mistakes, start: int = 1
) -> Iterator[CsvRow]:
    """The rows of a text, the header first; blank lines at the end are none.

    Lines end as on any system. Cells are separated by whichever of comma, semicolon and tab
    finds more of ``columns`` in the first line, whose number is ``start``.
    """
    delimiter = ""
    for number, line in _lines(text, start):
        if not delimiter:
            delimiter = _delimiter(line, columns)
            pattern = _cell(delimiter)
        row = _split(number, line, delimiter, pattern, mistakes)
        if row is not None:
            yield row


def tidy_rows(
    text: str, columns: Collection[str], mistakes: Mistakes, tidy: tuple[str, str]
) -> Iterator[CsvRow]:
    """The rows of a tidy table, without comments above it, and with its values as numbers.

    ``tidy`` are the columns of what was measured and of its value. A decimal comma becomes a point,
    and a percent sign is left out, where all values of one name have it: what is mixed stays.
    """
    head, above, _ = head_of(text)
    start = text.count("\n", 0, head) + 1 if above or text.startswith("#", head) else 1
    body = text[head:] if start > 1 else text
    rows = _unmarked(rows_of(body, columns, mistakes, start), columns)
    separator = _delimiter(body.lstrip().partition("\n")[0].lstrip("# "), columns)
    if "%" not in body and (separator == "," or "," not in body):
        return rows
    kept = list(rows)
    header = kept[0].cells if kept else ()
    if not set(tidy) <= set(header):
        return iter(kept)
    said, at = map(header.index, tidy)
    whole = [place for place, row in enumerate(kept) if len(row.cells) == len(header)][1:]
    names, cells = ([kept[place].cells[column] for place in whole] for column in (said, at))
    for place, cell in zip(whole, plain_values(names, cells, separator), strict=True):
        row = kept[place]
        kept[place] = replace(row, cells=(*row.cells[:at], cell, *row.cells[at + 1 :]))
    return iter(kept)


def _unmarked(rows: Iterator[CsvRow], columns: Collection[str]) -> Iterator[CsvRow]:
    """The rows, of whose header the first name may have a # before it."""
    for place, row in enumerate(rows):
        name = row.cells[0].lstrip("# ")
        unmarked = place == 0 and row.cells[0].startswith("#") and name in columns
        yield replace(row, cells=(name, *row.cells[1:])) if unmarked else row


def _lines(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Numbered lines without their ends, up to the last that is not blank."""
    first_blank = 0
    for number, ended in enumerate(io.StringIO(text, newline=None), start):
        line = ended.removesuffix("\n")
        if not line.strip(" \t"):
            first_blank = first_blank or number
            continue
        if first_blank:
            yield from ((blank, "") for blank in range(first_blank, number))
            first_blank = 0
        yield number, line


def _delimiter(header: str, columns: Collection[str]) -> str:
    """What separates cells, by how many of the columns stand between it in the first line."""

    def known(separator: str) -> int:
        names = {name.strip(' \t"') for name in header.split(separator)}
        return len(names.intersection(columns))

    return max(DELIMITERS, key=known)


def _cell(delimiter: str, *, strict: bool = True) -> re.Pattern[str]:
    """A cell with its blanks and what ends it; possessive, so that nothing is retried.

    A ``strict`` one has no quotes but around it, and may have blanks around these.
    """
    if not strict:
        return re.compile(
            rf'[ ]*+(?:"((?:[^"]++|"")*+)"|((?!")[^{delimiter}\n]*+))({delimiter}|\n|\Z)'
        )
    blanks = "[ ]*+" if delimiter == "\t" else "[ \t]*+"
    quoted = f'"((?:[^"]++|"")*+)"{blanks}'
    return re.compile(rf'{blanks}(?:{quoted}|([^"{delimiter}]*+))({delimiter}|\Z)')


class QuoteError(ValueError):
    """A quote inside a cell, or one that is not closed; the cell begins ``at`` this place."""

    def __init__(self, at: int, text: str, delimiter: str) -> None:
        self.at = at
        closed = re.compile(r'\s*+"(?:[^"]++|"")*+"').match(text, at)
        super().__init__(
            f"'{delimiter}' expected after '\"'" if closed else "unexpected end of data"
        )


def _row(
    text: str, at: int, pattern: re.Pattern[str], delimiter: str
) -> tuple[list[str], list[int], int]:
    """The cells from a place on, where each starts, and where their row ends; or QuoteError."""
    cells: list[str] = []
    starts: list[int] = []
    while True:
        match = pattern.match(text, at)
        if match is None:
            raise QuoteError(at, text, delimiter)
        quoted, bare, ending = match.groups()
        cells.append(bare if quoted is None else quoted.replace('""', '"'))
        starts.append(at)
        at = match.end()
        if ending != delimiter:
            return cells, starts, match.start(3)


def lenient_rows(
    text: str, delimiter: str, *, quotes: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """The rows of an export that are not empty, each with the number of its last line.

    Quotes may stand inside of cells, and line ends inside of quotes; QuoteError for one that is
    not closed, and for what follows one. Without ``quotes`` they are characters like others.
    """
    pattern = _cell(delimiter, strict=False)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    at = number = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if quotes and text.find('"', at, end) >= 0:
            cells, _, end = _row(text, at, pattern, delimiter)
        else:
            cells = [cell.lstrip(" ") for cell in text[at:end].split(delimiter)]
        number += text.count("\n", at, end) + 1
        if end > at:
            yield number, cells
        at = end + 1


def _split(
    number: int, line: str, delimiter: str, pattern: re.Pattern[str], mistakes: Mistakes
) -> CsvRow | None:
    """The cells of a line; None for a line that is not a row, which is a mistake."""
    if found := _CONTROL.search(line):
        mistake = f"row {number}: character U+{ord(found[0]):04X} is not allowed"
        mistakes.add(number, found.start() + 1, mistake, "visible characters", "remove it")
        return None
    try:
        cells, starts, _ = _row(line, 0, pattern, delimiter)
    except QuoteError as error:
        mistake = f"row {number}: a quote inside a cell, or one that is not closed"
        advice = 'write the cell without quotes, or as "cell"'
        mistakes.add(number, error.at + 1, mistake, "cells separated by commas", advice)
        return None
    if len(cells) > MAX_COLUMNS:
        mistake = f"row {number}: more than {MAX_COLUMNS:,} cells"
        expected = f"at most {MAX_COLUMNS:,} columns"
        mistakes.add(number, starts[MAX_COLUMNS], mistake, expected, "leave columns out")
        return None
    places = tuple(start + 1 for start in starts)
    return CsvRow(number, tuple(cell.strip(" \t") for cell in cells), places)


Columns = Mapping[str, tuple[str, ...]]
"""The cells of a CSV file, as printed, by the name of their column."""


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
        mistake, expected = "the first line does not name the columns", "names, each once"
        raise fatal(Place(file), mistake, expected, "write a header, such as x,y")
    problems = [problem for row in rows[1:] for problem in _not_numbers(file, header, row)]
    if len(rows) < 2:
        problems.append(Problem(Place(file), "there are no rows", "a row a point", "add them"))
    if problems:
        raise SpecError(problems[:MOST])
    return dict(zip(header, zip(*(row.cells for row in rows[1:]), strict=True), strict=True))


def _not_numbers(file: str, header: Sequence[str], row: CsvRow) -> Iterator[Problem]:
    if len(row.cells) != len(header):
        mistake = f"row {row.number}: {len(row.cells)} cells in a table of {len(header)} columns"
        expected = f"the columns {', '.join(header)}"
        yield Problem(Place(file, row.number), mistake, expected, "complete the row")
        return
    for name, cell, start in zip(header, row.cells, row.starts, strict=True):
        if name != "id" and not is_number(cell):
            mistake = f"row {row.number}, column {name}: '{cell[:40]}' is not a number"
            advice = "write digits and a decimal point, without units"
            yield Problem(Place(file, row.number, start), mistake, "a finite number", advice)


def is_number(cell: str) -> bool:
    """Whether a cell is a finite number."""
    number = None if "%" in cell else float_of(cell)
    return number is not None and math.isfinite(number)


def head_of(text: str) -> tuple[int, int, str]:
    """Where the header begins, how many lines above it are comments, and what separates cells.

    A line with a # before it is the header itself, where it has as many cells as the line below,
    and numbers stand in that one alone.
    """
    at, above, last = 0, 0, -1
    while text.startswith("#", at) or text.startswith(("\n", "\r"), at):
        above += text.startswith("#", at)
        last = at if text.startswith("#", at) else last
        end = text.find("\n", at)
        at = len(text) if end < 0 else end + 1
    first, below = _line(text, at)
    if above:
        commented = text[last:at].strip()
        separator = _separator(commented, first)
        header, cells = commented.lstrip("#").split(separator), first.split(separator)
        named = len(header) == len(cells) > 1 and not any(map(is_numeral, header))
        if named and any(map(is_numeral, cells)):
            return last, above - 1, separator
    return at, above, _separator(first, below)


def _line(text: str, at: int) -> tuple[str, str]:
    """A line, and the one below it."""
    end = text.find("\n", at)
    if end < 0:
        return text[at:], ""
    second = text.find("\n", end + 1)
    return text[at:end], text[end + 1 : second if second >= 0 else len(text)]


def _separator(header: str, below: str) -> str:
    """What separates most cells of the header, and as many of the line below if there is such."""

    def rank(separator: str) -> tuple[bool, int]:
        count = header.count(separator)
        return count > 0 and count == below.count(separator), count

    return max(",;\t", key=rank)


def is_numeral(cell: str) -> bool:
    """Whether a cell is a number, with a decimal comma perhaps."""
    return float_of(cell.strip().replace(",", ".")) is not None
