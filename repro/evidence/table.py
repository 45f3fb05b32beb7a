"""A user's own results: a tidy CSV with the columns arm, seed, measurement, value.

Read strictly, because a value that is taken for another arm or seed changes a verdict without a
sign: every mistake is named with its row (the line of the file) and its column, all at once.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from repro.errors import Place, Problem, SpecError
from repro.evidence.records import TableSource
from repro.evidence.wanted import Wanted
from repro.specs.base import LARGEST, SMALLEST
from repro.specs.files import read_text
from repro.specs.shapes import listed
from repro.specs.wording import choose

COLUMNS = ("arm", "seed", "measurement", "value")
MAX_BYTES = 20_000_000
MAX_SEED = 2**53
MAX_SEEDS = 10_000
"""No arm has more replicates than this, as none could be planned with more."""

MOST = 100
"""No more mistakes than this are shown; the others are counted."""

_CELL = re.compile(r'[ \t]*(?:"((?:[^"]|"")*)"|([^",]*))[ \t]*(,|$)')
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_SEED = re.compile(r"0|[1-9][0-9]{0,15}")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")

Values = Mapping[str, Mapping[int, Mapping[str, float]]]
"""arm -> seed -> measurement -> value; seeds in order."""


@dataclass(frozen=True, slots=True)
class TidyTable:
    """The values of a table, and what it is."""

    source: TableSource
    values: Values


@dataclass(frozen=True, slots=True)
class Row:
    """Cells as text, and the column of the file at which each starts."""

    number: int
    cells: tuple[str, ...]
    starts: tuple[int, ...]


def read_table(path: Path, wanted: Wanted) -> TidyTable:
    """The table in a CSV file; SpecError with every mistake in it.

    Lines end as on any system, and a byte-order mark is no mistake: spreadsheets write both.
    """
    text = read_text(path, "a CSV file", MAX_BYTES)
    source = TableSource(path.name, sha256(text))
    lines = re.split("\r\n|\n|\r", text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}"))
    while lines and not lines[-1].strip():
        lines.pop()
    reader = Reader(str(path), wanted)
    if not lines:
        reader.add(1, 1, "the file is empty", ",".join(COLUMNS), "write this line, and the rows")
        raise SpecError(reader.problems)
    rows = (
        row for number, line in enumerate(lines, start=1) if (row := reader.split(number, line))
    )
    return reader.table(rows, source)


def sha256(text: str) -> str:
    """The digest of a text in UTF-8, as `sha256sum` prints it of its file."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(slots=True)
class Reader:
    """Reads the rows of one table, and keeps every mistake."""

    file: str
    wanted: Wanted
    problems: list[Problem] = field(default_factory=list)
    found: dict[str, dict[int, dict[str, float]]] = field(default_factory=dict)
    first: dict[tuple[str, int, str], int] = field(default_factory=dict)
    unread: dict[tuple[str, str], list[Place]] = field(default_factory=dict)

    def add(self, row: int, column: int, what: str, expected: str, advice: str) -> None:
        """Keep a mistake."""
        self.problems.append(Problem(Place(self.file, row, column), what, expected, advice))

    def split(self, number: int, line: str) -> Row | None:
        """The cells of a line; None for one that is no row, which is a mistake."""
        if found := _CONTROL.search(line):
            what = f"row {number}: character U+{ord(found[0]):04X} is not allowed"
            self.add(number, found.start() + 1, what, "visible characters", "remove it")
            return None
        cells, starts, at = [], [], 0
        while True:
            match = _CELL.match(line, at)
            if match is None:
                what = f"row {number}: a quote inside a cell, or one that is not closed"
                advice = 'write the cell without quotes, or as "cell"'
                self.add(number, at + 1, what, "cells separated by commas", advice)
                return None
            quoted, bare, comma = match.groups()
            cells.append(bare.strip() if quoted is None else quoted.replace('""', '"').strip())
            starts.append(at + 1)
            at = match.end()
            if not comma:
                return Row(number, tuple(cells), tuple(starts))

    def table(self, rows: Iterator[Row], source: TableSource) -> TidyTable:
        """The table whose first row is its header; SpecError with every mistake."""
        header = next(rows, None)
        if header is not None and self._header(header):
            for row in rows:
                self._row(header.cells, row)
            self._unread()
            self._too_many()
            if not self.problems:
                self._complete()
        if self.problems:
            raise SpecError(shortened(self.problems))
        ordered = {arm: dict(sorted(seeds.items())) for arm, seeds in self.found.items()}
        return TidyTable(source, ordered)

    def _header(self, header: Row) -> bool:
        before = len(self.problems)
        expected = ",".join(COLUMNS)
        cells = list(zip(header.cells, header.starts, strict=True))
        for position, (name, start) in enumerate(cells):
            if name not in COLUMNS:
                what = f"row {header.number}: unknown column '{short(name)}'"
                self.add(header.number, start, what, expected, choose(name, COLUMNS))
            elif name in header.cells[:position]:
                what = f"row {header.number}: column '{name}' stands there twice"
                self.add(header.number, start, what, "every column once", "remove one of the two")
        for name in COLUMNS:
            if name not in header.cells:
                what = f"row {header.number}: there is no column '{name}'"
                advice = "separate columns by commas" if len(cells) == 1 else "add it"
                self.add(header.number, 1, what, expected, advice)
        return len(self.problems) == before

    def _row(self, header: Sequence[str], row: Row) -> None:
        if len(row.cells) != len(header):
            cells_found = f"{len(row.cells)} cell{'' if len(row.cells) == 1 else 's'}"
            what = f"row {row.number}: {cells_found} in a table of {len(header)} columns"
            what = what if any(row.cells) else f"row {row.number}: the row is empty"
            advice = "complete the row; write a decimal point and no commas inside a number"
            self.add(row.number, 1, what, ",".join(header), advice)
            return
        cells = dict(zip(header, row.cells, strict=True))
        starts = dict(zip(header, row.starts, strict=True))
        arm = self._name(row.number, starts, cells, "arm")
        seed = self._seed(row.number, starts["seed"], cells["seed"])
        measurement = self._name(row.number, starts, cells, "measurement")
        value = self._value(row.number, starts["value"], cells["value"])
        if arm is None or seed is None or measurement is None:
            return
        known = self.first.setdefault((arm, seed, measurement), row.number)
        if known != row.number:
            what = f"row {row.number}: arm '{arm}', seed {seed}, measurement '{measurement}' again"
            advice = f"remove one of the two; the first is row {known}"
            self.add(row.number, 1, what, "one value for each", advice)
        elif value is not None:
            self.found.setdefault(arm, {}).setdefault(seed, {})[measurement] = value

    def _name(
        self, row: int, starts: Mapping[str, int], cells: Mapping[str, str], column: str
    ) -> str | None:
        """An arm or a measurement that the claim has, and reads from here."""
        name, start = cells[column], starts[column]
        known = self._known(column)
        if name in known:
            return name
        if name:
            self.unread.setdefault((column, name), []).append(Place(self.file, row, start))
        else:
            what = f"row {row}, column {column}: the cell is empty"
            self.add(row, start, what, listed(known), choose(name, known))
        return None

    def _known(self, column: str) -> tuple[str, ...]:
        return self.wanted.arms if column == "arm" else self.wanted.measurements

    def _unread(self) -> None:
        """Each name that the claim has not, or reads elsewhere, once: where it first stands."""
        for (column, name), places in self.unread.items():
            known = self._known(column)
            reason = self.wanted.elsewhere.get(name) if column == "arm" else None
            what = f"the claim has no {column} '{short(name)}'"
            advice = choose(name, known)
            if reason is not None:
                what = f"the values of '{name}' are not read from here"
                advice = f"leave them out: {reason}"
            row, more = places[0].line, len(places) - 1
            others = f" ({more} more row{'' if more == 1 else 's'})" if more else ""
            what = f"row {row}, column {column}: {what}{others}"
            self.add(row, places[0].column, what, listed(known), advice)

    def _too_many(self) -> None:
        """More replicates than could be planned would be judged for hours."""
        for arm, seeds in self.found.items():
            if len(seeds) > MAX_SEEDS:
                seed, values = list(seeds.items())[MAX_SEEDS]
                row = min(self.first[arm, seed, name] for name in values)
                what = f"row {row}: arm '{arm}' has {len(seeds):,} seeds, and this is number "
                expected = f"at most {MAX_SEEDS:,} seeds an arm"
                advice = "leave some out, chosen without regard to their values"
                self.add(row, 1, f"{what}{MAX_SEEDS + 1:,}", expected, advice)

    def _seed(self, row: int, start: int, cell: str) -> int | None:
        if _SEED.fullmatch(cell) and int(cell) < MAX_SEED:
            return int(cell)
        what = f"row {row}, column seed: '{short(cell)}' is no number of a replicate"
        what = what if cell else f"row {row}, column seed: the cell is empty"
        expected, advice = "a whole number, 0 or more", "write digits only, without a sign or point"
        self.add(row, start, what, expected, advice)
        return None

    def _value(self, row: int, start: int, cell: str) -> float | None:
        number = float(cell) if _NUMBER.fullmatch(cell) else math.nan
        if math.isfinite(number):
            return self._sized(row, start, cell, number)
        what = f"row {row}, column value: '{short(cell)}' is not a finite number"
        what = what if cell else f"row {row}, column value: the cell is empty"
        self.add(row, start, what, "a finite number", _advice(cell))
        return None

    def _sized(self, row: int, start: int, cell: str, number: float) -> float | None:
        if number == 0 or SMALLEST <= abs(number) <= LARGEST:
            return number
        large = abs(number) > LARGEST
        size, unit = ("large", "larger") if large else ("small", "smaller")
        what = f"row {row}, column value: '{short(cell)}' is too {size} to compute with"
        expected = f"0, or a size from {SMALLEST:g} to {LARGEST:g}"
        self.add(row, start, what, expected, f"correct it, or write every value in a {unit} unit")
        return None

    def _complete(self) -> None:
        """An arm has rows, and each seed of it a value of every measurement that the arm has."""
        for arm in self.wanted.arms:
            seeds = self.found.get(arm, {})
            names = {name for values in seeds.values() for name in values}
            missing = [n for n in self.wanted.needed.get(arm, ()) if n not in names]
            if not seeds:
                what = f"there are no rows for arm '{arm}'"
                self.add(1, 1, what, f"arms {', '.join(self.wanted.arms)}", "add them")
                continue
            for name in missing:
                what = f"there are no rows for measurement '{name}' of arm '{arm}'"
                self.add(1, 1, what, f"a row a seed, for {len(seeds)} seeds", "add them")
            for seed, values in seeds.items():
                self._seed_complete(arm, seed, values, names)

    def _seed_complete(
        self, arm: str, seed: int, values: Mapping[str, float], names: set[str]
    ) -> None:
        for name in sorted(names - set(values)):
            row = min(self.first[arm, seed, other] for other in values)
            what = f"row {row}: seed {seed} of arm '{arm}' has no value of measurement '{name}'"
            expected = "the same seeds for every measurement of an arm"
            self.add(row, 1, what, expected, "add its row, or remove the other rows of this seed")


def shortened(problems: list[Problem]) -> list[Problem]:
    """The first mistakes in reading order, and how many more there are."""
    ordered = sorted(problems)
    if len(ordered) <= MOST:
        return ordered
    place = ordered[MOST].place
    return [*ordered[:MOST], Problem(place, f"{len(ordered) - MOST} more mistakes from here on")]


def short(cell: str) -> str:
    """A cell as it is quoted in a message."""
    return cell if len(cell) <= 40 else f"{cell[:40]}..."


def _advice(cell: str) -> str:
    if "," in cell:
        return "write a decimal point, and no commas between thousands"
    if "%" in cell:
        return "write the number in the unit of the other rows, without a percent sign"
    if cell.lstrip("+-").lower() in ("nan", "na", "n/a", "inf", "infinity", "none", ""):
        return "leave out every row of a seed that has no value: the claim says how many it needs"
    return "write digits and a decimal point, without units"
