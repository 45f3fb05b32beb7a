"""The cells of one row of a table -> a comparison, or what is wrong with each cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from repro.audit.printed import MAX_CHARACTERS, PrintedNumber
from repro.audit.row import (
    PrintedArm,
    PrintedComparison,
    check_deviation,
    check_number,
    check_probability,
    check_size,
)
from repro.audit.variants import Declared, Tails
from repro.errors import ClaimError, Place, Problem
from repro.stats.result import check_alpha

T = TypeVar("T")

MAX_ID = 100
MAX_DIGITS = 9
TESTS: dict[str, Declared] = {
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

    def problem(self, column: str, what: str, expected: str, advice: str) -> Problem:
        """A mistake in the cell of a column."""
        place = Place(self.file, self.row, self.columns.get(column, 1))
        return Problem(place, f"row {self.row}, column {column}: {what}", expected, advice)


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


def _test(text: str) -> Declared:
    return _one_of(text, TESTS)


def _tails(text: str) -> Tails:
    return _one_of(text, TAILS)


def _one_of(text: str, known: Mapping[str, T]) -> T:
    if text.lower() not in known:
        raise ClaimError(f"{text[:MAX_CHARACTERS]!r} is not known")
    return known[text.lower()]
