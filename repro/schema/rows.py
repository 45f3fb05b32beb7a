"""The one CSV reader: rows of cells, one at a time, each cell with the column where it starts.

Every step takes time in proportion to the text, whatever the text is.
"""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from repro.errors import Place, Problem, SpecError

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


def rows_of(text: str, columns: Collection[str], mistakes: Mistakes) -> Iterator[CsvRow]:
    """The rows of a text, the header first; blank lines at the end are none.

    Lines end as on any system. Cells are separated by whichever of comma, semicolon and tab
    finds more of ``columns`` in the first line.
    """
    pattern = None
    for number, line in _lines(text):
        if pattern is None:
            pattern = _cell(_delimiter(line, columns))
        row = _split(number, line, pattern, mistakes)
        if row is not None:
            yield row


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines without their ends, up to the last that is not blank."""
    first_blank = 0
    for number, ended in enumerate(io.StringIO(text, newline=None), start=1):
        line = ended.removesuffix("\n")
        if not line.strip(" \t"):
            first_blank = first_blank or number
            continue
        if first_blank:
            yield from ((blank, "") for blank in range(first_blank, number))
            first_blank = 0
        yield number, line


def _delimiter(header: str, columns: Collection[str]) -> str:
    def known(delimiter: str) -> int:
        names = {name.strip(' \t"') for name in header.split(delimiter)}
        return len(names.intersection(columns))

    return max(DELIMITERS, key=known)


def _cell(delimiter: str) -> re.Pattern[str]:
    """A cell with its blanks and the delimiter after it; possessive, so that nothing is retried."""
    blanks = "[ ]*+" if delimiter == "\t" else "[ \t]*+"
    quoted = f'"((?:[^"]++|"")*+)"{blanks}'
    return re.compile(rf'{blanks}(?:{quoted}|([^"{delimiter}]*+))({delimiter}|\Z)')


def _split(number: int, line: str, pattern: re.Pattern[str], mistakes: Mistakes) -> CsvRow | None:
    """The cells of a line; None for a line that is not a row, which is a mistake."""
    if found := _CONTROL.search(line):
        mistake = f"row {number}: character U+{ord(found[0]):04X} is not allowed"
        mistakes.add(number, found.start() + 1, mistake, "visible characters", "remove it")
        return None
    cells: list[str] = []
    starts: list[int] = []
    at = 0
    while len(cells) < MAX_COLUMNS:
        match = pattern.match(line, at)
        if match is None:
            mistake = f"row {number}: a quote inside a cell, or one that is not closed"
            advice = 'write the cell without quotes, or as "cell"'
            mistakes.add(number, at + 1, mistake, "cells separated by commas", advice)
            return None
        quoted, bare, delimiter = match.groups()
        cells.append((bare if quoted is None else quoted.replace('""', '"')).strip(" \t"))
        starts.append(at + 1)
        at = match.end()
        if not delimiter:
            return CsvRow(number, tuple(cells), tuple(starts))
    mistake = f"row {number}: more than {MAX_COLUMNS:,} cells"
    mistakes.add(number, at, mistake, f"at most {MAX_COLUMNS:,} columns", "leave columns out")
    return None
