"""A row of a printed table -> the method that it names, with a value per column and its p."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from repro.audit.comparison import printed_p
from repro.audit.pasted import Cell, Pasted
from repro.audit.printed_cells import (
    INTERVAL,
    TWO,
    VALUE,
    PrintedValue,
    bare,
    half_of,
    has_spread,
    legend_told,
    number_of,
    spread_of,
)
from repro.audit.printed_layout import is_ours
from repro.audit.printed_words import Meaning, Reading, Side, runs_in_name, spread_told
from repro.errors import ClaimError, Place, Problem
from repro.evidence.published import PrintedNumber

_MEANINGS: Mapping[str, Meaning] = {each: Meaning(each) for each in ("sd", "se", "ci95")}
WRITE = "write 93.4±0.2 or 93.4 (0.2), with a decimal point; - where nothing is printed"


_GAINED = (
    r"[Δ∆δ]|delta|diff(?:erence)?s?|gains?|improvements?|differenz|différence|diferencia|diferença"
    r"|differenza|verschil|разница|差值?|差异|差分"
)
_LOST = r"changes?|gap|drop|decrease|reduction|degradation|uplift|lift"
_OF_WHAT = (
    r"(?: ?\([^()]*\)| ?%)?(?: ?(?:±|\+/-).*"
    r"| (?:in|vs\.?|versus|to|from|over|of|between|against) .*)?"
)
_SORT = r"(?:(?:paired|mean|average|avg\.?|abs(?:olute|\.)?|rel(?:ative|\.)?|std\.?) )*"
_OF_CHANGE = (
    r"(?-i:[\w%]+ )?(?-i:[Δ∆])(?: [\w%.]+)?|(?-i:[Δ∆])(?:acc\w*|macro-f1|f1|auc|r?mse|loss|score)"
)
_NO_METHOD = re.compile(
    rf"{_SORT}(?:{_GAINED}|{_OF_CHANGE}){_OF_WHAT}"
    r"|(?:[ptzf][- ]?(?:values?|stat(?:istic)?s?)|q(?:[- ]?val(?:ue)?s?)?"
    r"|p(?:[- ]val(?:ue)?s?)?[-_ ](?:(?:for|of)[- ])?(?:trend|interaction|linear|heterogeneity)"
    r"|#(?! ?\d).*|(?:no|num(?:ber)?)\.? of .*"
    r"|cohen'?s? d|hedges'?s?'? g|cliff'?s? .*|(?:partial )?eta(?: ?squared|²|\^?2)?|effect sizes?"
    r"|max(?:imum)?(?:imal)?(?: possible)?(?: score)?)(?: ?\([^()]*\)| ?%)?",
    re.IGNORECASE,
)
_OF_TWO = re.compile(rf"{_SORT}(?:{_LOST}){_OF_WHAT}", re.IGNORECASE)


def is_of_no_method(name: str, *, across: bool = False) -> bool:
    """Whether a row or column holds gains, p-values or counts, and not results of a method.

    A word in capitals is a method, as GAIN and DELTA are. A gap or a drop may be a metric, but not
    in a row that compares its values (``across``).
    """
    name = name.strip()
    if name.isascii() and name.isalpha() and name.isupper():
        return False
    of_two = across and _OF_TWO.fullmatch(name)
    return bool(of_two or _NO_METHOD.fullmatch(name))


_MAYBE = re.compile(r"delta|gain|diff|gap|drop|u?p?lift", re.IGNORECASE)


def is_method_after_all(name: str, cells: Iterable[tuple[Cell, Sequence[Cell]]]) -> bool:
    """Whether Delta or Gain is the name of a method, for it has spreads and is not a difference.

    ``cells`` are its cells, each with those of the others that it may be the difference of two of.
    """
    if _MAYBE.fullmatch(name.strip()) is None:
        return False
    read = [(_result(mine), list(map(_result, others))) for mine, others in cells if not mine.empty]
    return any(
        mine is not None and mine[1] and not _is_difference(mine[0], [o[0] for o in others if o])
        for mine, others in read
    )


def _result(cell: Cell) -> tuple[PrintedNumber, bool] | None:
    """The number of a cell, and whether it has a spread."""
    text = bare(cell.text)[0]
    found = VALUE.fullmatch(text)
    try:
        return None if found is None else (number_of(found["mean"]), has_spread(text))
    except ClaimError:
        return None


def _is_difference(mine: PrintedNumber, others: Sequence[PrintedNumber]) -> bool:
    """Whether a number is the difference of two others, in their unit or in percent of one."""
    return any(
        abs(abs(mine.value) - abs(a.value - b.value) * by)
        <= mine.half + (a.half + b.half) * by + 1e-9
        for a, b in permutations(others, 2)
        for by in (1.0, 100 / abs(b.value or math.inf))
    )


@dataclass(frozen=True, slots=True)
class Method:
    """A row of a table: its name, a value per column, the p of a column, and what heads it."""

    name: str
    values: Mapping[str, PrintedValue]
    p: Mapping[str, PrintedNumber]
    section: str = ""


def is_group(row: Sequence[Cell]) -> bool:
    """A line that says what the lines below it are: one text, or a text and nothing."""
    texts = {cell.text for cell in row[1:] if not cell.empty}
    return texts <= {row[0].text}


_THOUSANDS = re.compile(
    r"(?<![0-9,])[0-9]{1,3}(?:(?:,[0-9]{3}){2,}(?![0-9])"
    r"|,[0-9]{3} ?(?:±|\+/-) ?[0-9]{3,}(?![0-9.,]))"
)
"""A comma that cannot be a decimal one: it stands twice, or next to a whole spread of hundreds."""


_ZERO = r"(?<![0-9.,])0,[0-9]"
"""A comma that no thousand has."""
_SHORT = re.compile(
    r"(?<![(\[±,/])(?<![(\[±,/-] )(?<!mean )\b(?:se|sem|sd|std)\b(?!\.)", re.IGNORECASE
)


def _told_in(name: str) -> Meaning | None:
    """What the name of a method says that ± is; SE-ResNet and + SE say nothing of it."""
    return spread_told(_SHORT.sub("", name).lower())


_NO_SPREAD = re.compile(r" ?(?:±|\+/-) ?(?:n/?a|-+|[\N{EN DASH}\N{EM DASH}])$", re.IGNORECASE)
_KEY = r"[0-9]{1,9}|[0-9][0-9.]{0,5}(?:[kMGB]| ?%|[- ]?[a-z]{3,})"
_IN_NAME = re.compile(r"(?:[-+(*\N{EN DASH}\N{MINUS SIGN}] ?){0,3}[^\W\d]")
"""How a text begins that is part of a name, as `+ NFT` is."""


def place_of(file: str, cell: Cell) -> Place:
    return Place(file, cell.line, cell.column)


class RowReader:
    """Reads rows by the roles of their columns, and keeps what it cannot read as problems.

    ``told`` is what the table or the user says a spread is; else no number below another is one.
    Where a name is bold and others are not, bold in its values shows the method, not the best.
    """

    def __init__(
        self,
        table: Pasted,
        names: Sequence[str],
        roles: list[str],
        side: Side,
        told: Reading | Meaning | None,
    ) -> None:
        self.file, self.names, self.roles, self.told = table.file, names, roles, told
        self.units: dict[str, tuple[str | None, Cell]] = {}
        self.problems: list[Problem] = []
        self.unread: list[str] = []
        self.bracketed = ""
        self.legend = legend_told(" ".join(table.notes).lower())
        self.roles[0] = "name"
        self.above = ""
        texts = [cell.text for row in table.rows for cell in row[1:]]
        numbers = [bare(text)[0] for text in texts]
        points = re.compile(rf"[0-9]\.[0-9]|{_THOUSANDS.pattern}")
        self.points = any(map(points.search, numbers))
        self.sure = any(
            re.search(rf"{_ZERO}|[0-9],(?:[0-9]{{1,2}}|[0-9]{{4,}})(?![0-9])", each)
            for each in numbers
        )
        values = self.at("value")
        self.across = side == "columns"
        self.heads = table.rows[0]
        firsts = [row[0] for row in table.rows[1:] if not is_group(row)]
        self.names_at = names_at = self.heads[1:] if self.across else firsts
        loud = [cell for cell in names_at if bare(cell.text)[1]]
        self.shown = loud if len(loud) < len(names_at) else []
        spread = any(self._spread_in(at, table.rows) for at in values)
        if spread and not any(map(is_group, table.rows[1:])):
            body = [row for row in table.rows if any("±" in cell.text for cell in row[1:])]
            self._take_keys(body)
        values = self.at("value")
        self.only_spread = spread and self.across and "p" not in roles
        if spread and not self.across:
            for at in values:
                if not self._spread_in(at, table.rows):
                    self.roles[at] = "unread"
                    self.unread.append(self.names[at])

    def at(self, role: str) -> list[int]:
        """The columns of a role."""
        return [at for at, each in enumerate(self.roles) if each == role]

    def marked(self, mark: str) -> set[str]:
        """The methods with a mark behind their names."""
        return {bare(cell.text)[0] for cell in self.names_at if mark in cell.text}

    def _take_keys(self, rows: Sequence[Sequence[Cell]]) -> None:
        """Columns of numbers without spread behind names that come again are a part of the names.

        Whole ones, or with a letter, as 1M steps, 10% or 4-bit are.
        """
        if len({row[0].text for row in rows if not row[0].empty}) == len(rows):
            return
        for at in range(1, len(self.roles)):
            whole = all(re.fullmatch(_KEY, row[at].text) for row in rows)
            if self.roles[at] not in ("value", "unread") or self._spread_in(at, rows) or not whole:
                return
            self.roles[at] = "key"

    def _spread_in(self, at: int, rows: Sequence[Sequence[Cell]]) -> bool:
        printed = any(has_spread(bare(row[at].text)[0]) for row in rows[1:])
        return printed or self._deviations(at) is not None

    def _deviations(self, at: int) -> int | None:
        """The column of deviations that follows a column of means."""
        after = at + 1
        here = after < len(self.roles) and self.roles[after] in ("sd", "se", "ci95")
        return after if here else None

    def methods(self, body: Sequence[Sequence[Cell]]) -> Iterator[Method]:
        """A method per row; rows of one text head the sections below them."""
        section = ""
        for row in body:
            if is_group(row):
                section = bare(row[0].text)[0]
                continue
            method = replace(self._method(row), section=section)
            if self.only_spread and not any(v.spread for v in method.values.values()):
                self.unread.append(method.name)
            else:
                yield method

    def _method(self, row: Sequence[Cell]) -> Method:
        name = self._name(row)
        n = next((self._n(row[at]) for at in self.at("n")), None)
        n = n or runs_in_name(name, of_method=not self.across)
        named = [at for at, each in enumerate(self.names) if each.lower() == "test"]
        test = " ".join(row[at].text.lower() for at in named if not row[at].empty)
        values = {
            column: replace(
                value, n=value.n or n or runs_in_name(column, of_method=self.across), test=test
            )
            for at in self.at("value")
            if (column := self.names[at]) and (value := self._value(row, at))
        }
        ps: dict[str, PrintedNumber] = {}
        for at in self.at("p"):
            of = self._of_p(at)
            if not of or of in ps:
                self.unread.append(self.names[at])
            elif (p := self._p(row[at])) is not None:
                ps[of] = p
        return Method(name, values, ps)

    def _of_p(self, at: int) -> str:
        """The column of results that a column of p names, else the one before it."""
        values = {of: self.names[of] for of in self.at("value")}
        said = re.findall(r"\w+", self.names[at].lower())
        named = [name for name in values.values() if re.findall(r"\w+", name.lower()) == said[1:]]
        before = [name for of, name in values.items() if of < at]
        return [*before[-1:], *named][-1] if before or named else ""

    def _name(self, row: Sequence[Cell]) -> str:
        """The texts before the first result; the first goes on from above where it is empty."""
        first = next(
            (at for at, role in enumerate(self.roles) if role not in ("name", "unread", "key")), 1
        )
        if not row[0].empty:
            self.above = row[0].text
        texts = [
            self.above,
            *(
                row[at].text
                for at in range(1, first)
                if self.roles[at] == "key" or _IN_NAME.match(row[at].text)
            ),
        ]
        return " ".join(bare(text)[0] for text in texts)

    def _value(self, row: Sequence[Cell], at: int) -> PrintedValue | None:
        cell, after = row[at], self._deviations(at)
        if cell.empty:
            return None
        text, bold, stars = bare(self._points(cell))
        text = re.sub(
            r" ?(?:±|\+/-) ?(?:n/?a|-+|[\N{EN DASH}\N{EM DASH}])$", "", text, flags=re.IGNORECASE
        )
        found = VALUE.fullmatch(text)
        if TWO.fullmatch(text) or not re.search("[0-9]", text):
            self.unread.append(f"{cell.text[:40]!r}")
            return None
        if found is None:
            mistake = f"{cell.text[:40]!r} is not a number with its spread"
            of_n = re.search(r"(?:±|\+/-).*\([0-9]+\)$", text)
            advice = "write its n as in 93.4±0.2 (n=30)" if of_n else WRITE
            self._wrong(cell, mistake, "93.4±0.2", advice)
            return None
        if (found["other"] or found["after"]) and not self.bracketed:
            self.bracketed = f"What is in brackets, as in {cell.text[:40]!r}, is not a spread."
        try:
            self._refuse_units(found, cell, self._name(row) if self.across else self.names[at])
            spread, meaning = spread_of(found)
            bold = bold and (self.heads[at] if self.across else row[0]) not in self.shown
            mean, percent = number_of(found["mean"]), "%" in cell.text + self.names[at]
            method, of = self._name(row), self.names[at]
            method, of = (of, method) if self.across else (method, of)
            told = _told_in(method) or spread_told(of.lower())
            of_all = told is not None and told.reading not in ("sd", "se")
            meaning = told if of_all else meaning or told
            uneven = bool(found["low"]) and spread is None
            n = int(found["n"]) if found["n"] else None
            value = PrintedValue(mean, spread, stars, bold, meaning, percent, n, uneven=uneven)
            if after is not None and not row[after].empty:
                return self._with_deviation(value, cell, row[after], after)
        except ClaimError as error:
            self._wrong(cell, error.cause, "93.4±0.2", error.advice or WRITE)
            return None
        return value

    def _with_deviation(self, value: PrintedValue, mean: Cell, cell: Cell, at: int) -> PrintedValue:
        """The value with what the next column says: a deviation, or both ends of an interval.

        An interval that the mean is outside of is of another thing, as a difference or a ratio.
        """
        meaning = spread_told(self.names[at].lower()) or _MEANINGS[self.roles[at]]
        text = bare(self._points(cell))[0]
        signs = ["%" in each.text for each in (mean, cell)]
        named = ["%" in self.names[each] for each in (at - 1, at)]
        if signs[0] != signs[1] and not named[signs.index(False)]:
            mistake = f"{mean.text[:40]!r} and {cell.text[:40]!r}: two units in one comparison"
            raise ClaimError(mistake, advice="write % with a mean and its spread, or with neither")
        text = re.sub(" ?%", "", text)
        if (ends := INTERVAL.fullmatch(text)) is None:
            return replace(value, spread=number_of(text.lstrip("±+/- ")), meaning=meaning)
        try:
            half = half_of(value.mean, ends)
        except ClaimError:
            self.unread.append(self.names[at])
            return value
        return replace(value, spread=half, meaning=meaning, uneven=half is None)

    def _refuse_units(self, found: re.Match[str], cell: Cell, group: str) -> None:
        """ClaimError if units differ within a group, or nothing says what a spread below is."""
        unit, first = self.units.setdefault(group, (found["unit"], cell))
        if found["spread"] and unit != found["unit"]:
            mistake = f"{cell.text[:40]!r} is compared with {first.text[:40]!r}, in another unit"
            raise ClaimError(mistake, advice="write all values in one unit")
        if found["below"] and self.told is None:
            mistake = f"nothing says what stands below the number in {cell.text[:40]!r}"
            raise ClaimError(mistake, advice="if it is a spread: --plus-minus sd, se or ci95")

    def _points(self, cell: Cell) -> str:
        """The text with a decimal point; a comma is one where others of the table are, for sure."""
        if "," not in re.sub(r", |,(?=-)", "", cell.text) or re.search(
            r"[\[(].*,.*[\])]", cell.text
        ):
            return cell.text
        if self.points and not re.search(_ZERO, cell.text):
            return re.sub(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))", "", cell.text)
        if self.sure:
            return cell.text.replace(",", ".")
        mistake = f"{cell.text[:40]!r} may be a thousand or a decimal comma"
        self._wrong(cell, mistake, "93.4", "leave the comma out of a thousand, write 93.4 for 93,4")
        return cell.text.replace(",", "")

    def _n(self, cell: Cell) -> int | None:
        text = cell.text.lower().removeprefix("n").lstrip(" =")
        if cell.empty:
            return None
        if not (text.isascii() and text.isdecimal() and len(text) < 7 and int(text) > 0):
            advice = "write how many runs the mean is of, or - where that is not printed"
            self._wrong(
                cell, f"{cell.text[:40]!r} is not a number of runs", "a whole number", advice
            )
            return None
        return int(text)

    def _p(self, cell: Cell) -> PrintedNumber | None:
        if cell.text in self.legend:
            return self.legend[cell.text]
        if re.fullmatch(r"[*†‡§]+", cell.text):
            self.unread.append(f"{cell.text!r}, which has no legend")
            return None
        try:
            return None if cell.empty else printed_p(bare(cell.text)[0])
        except ClaimError as error:
            self._wrong(cell, str(error), "0.03, <.001 or n.s.", "or - where no p is printed")
            return None

    def _wrong(self, cell: Cell, mistake: str, expected: str, advice: str) -> None:
        place = place_of(self.file, cell)
        if place not in [problem.place for problem in self.problems]:
            self.problems.append(Problem(place, mistake, expected, advice))


def one_n(
    rows: list[Method], told: int | None, *, by_column: bool
) -> tuple[list[Method], int | None, str]:
    """The rows and n of the notes; where names tell another, neither, and a sentence on it."""
    named = {value.n for row in rows for value in row.values.values()} - {None, told}
    if told is None or by_column or not named:
        return rows, told, ""
    rows = [
        replace(row, values={key: replace(each, n=None) for key, each in row.values.items()})
        for row in rows
    ]
    return (
        rows,
        None,
        f"n is {told} by the text and {min(filter(None, named))} by a name: neither is taken.",
    )


_ELSEWHERE = re.compile(
    r"(?:(?P<mark>[†‡§])[^.;†‡§]{0,40}|\b(?:baselines?|others|(?:other|competing|prior|previous|"
    r"existing) (?:methods?|works?|results|numbers|models|approaches))\b[^.;]{0,60})"
    r"\b(?:(?:reported|published|given) (?:in|by)|(?:taken|copied|quoted|cited|borrowed) from"
    r"|(?:results|numbers|values) (?:are )?from"
    r"|from (?:the )?(?:original|their|respective|corresponding|previous))\b"
)
"""Words on methods whose numbers stand in other papers, or the mark of these."""


def of_ours(
    rows: list[Method], n: int | None, reader: RowReader, said: str
) -> tuple[list[Method], int | None, str]:
    """The n of the notes with our methods alone, where others are as reported elsewhere."""
    found = _ELSEWHERE.search(said)
    if n is None or found is None:
        return rows, n, ""
    names = {key if reader.across else row.name for row in rows for key in row.values}
    ours = {name for name in names if is_ours(name)}
    if found["mark"]:
        ours = names - reader.marked(found["mark"])
    kept = [
        replace(
            row,
            values={
                key: replace(each, n=each.n or n)
                if (key if reader.across else row.name) in ours
                else each
                for key, each in row.values.items()
            },
        )
        for row in rows
    ]
    of = f"taken for {', '.join(sorted(ours))} alone" if ours else "not taken"
    return kept, None, f"n = {n} is {of}: other numbers are as reported elsewhere."
