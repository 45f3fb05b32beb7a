"""A table as a paper prints it -> what each cell says, and what its columns are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from repro.audit.comparison import NOT_SIGNIFICANT, printed_p
from repro.audit.pasted import Cell, Pasted, gathered
from repro.audit.printed_cells import (
    TWO,
    VALUE,
    Groups,
    PrintedValue,
    bare,
    has_spread,
    is_number,
    is_result,
    number_of,
    spread_of,
    ways,
)
from repro.audit.printed_words import (
    UNNAMED,
    Better,
    Layout,
    Meaning,
    NamedTest,
    Reading,
    Side,
    compared_with,
    data_column,
    is_of_no_method,
    layout,
    legend_told,
    runs_in_name,
    runs_told,
    spread_told,
    test_told,
)
from repro.errors import ClaimError, Place, Problem, SpecError
from repro.evidence.published import PrintedNumber
from repro.files import fatal
from repro.schema.rows import MOST

_ROLES: Mapping[str, re.Pattern[str]] = {
    "unread": re.compile(r"(?:ci[ _]?)?(?:lower|upper)(?:[ _](?:ci|bound))?|variance|iqr|range"),
    "n": re.compile(r"#? ?(?:n|runs|seeds|trials|repeats|n runs|n seeds|number of (?:runs|seeds))"),
    "p": re.compile(
        r"(?:p|p[- ]?values?|sig\.?|significance)(?: ?\(.*\)| (?:vs\.?|versus|against|of) .*)?"
    ),
    "sd": re.compile(r".*\b(?:s\.?d\.?|std\.?|std?\.? ?dev\.?|stdev|standard deviation)\)?"),
    "se": re.compile(r".*\b(?:s\.?e\.?m?\.?|std\.? err(?:or)?\.?|standard error)\)?"),
    "ci95": re.compile(
        r".*(?:[5-9][0-9] ?% ?ci|ci ?[5-9][0-9]|[5-9][0-9] ?% confidence interval|±ci)\)?"
    ),
}
_MEANINGS: Mapping[str, Meaning] = {each: Meaning(each) for each in ("sd", "se", "ci95")}


@dataclass(frozen=True, slots=True)
class Method:
    """A row of a table: its name, a value per column, the p of a column, and what heads it."""

    name: str
    values: Mapping[str, PrintedValue]
    p: Mapping[str, PrintedNumber]
    section: str = ""


@dataclass(frozen=True, slots=True)
class AsPrinted:
    """The methods of a table by columns of values, and what its header and notes say of these.

    ``across`` is whether each row compares its values; ``guessed`` are sentences on what the table
    does not say; ``way_guessed`` names what higher is taken to be better in, and ``compared_with``
    the method that stars or p are against, and ``test`` theirs, where the text says so.
    """

    methods: tuple[Method, ...]
    columns: tuple[str, ...]
    meaning: Meaning | None
    n: int | None
    better: Mapping[str, Better]
    legend: Mapping[str, PrintedNumber]
    across: bool
    sectioned: bool
    unread: tuple[str, ...]
    guessed: tuple[str, ...] = ()
    way_guessed: tuple[str, ...] = ()
    compared_with: str = ""
    test: NamedTest = UNNAMED


def read_as_printed(
    table: Pasted,
    *,
    methods: Side | None,
    baseline: str | None = None,
    plus_minus: Reading | None = None,
) -> AsPrinted:
    """What a table says; SpecError with every cell that cannot be read, and how to write it.

    A row without any number of results, as of parameters (`2.5k`), is left unread. ``baseline`` is
    the name of a method, which tells where methods are; ``plus_minus`` is what the user says a
    spread is.
    """
    table, sectioned = _by_data_set(table)
    names, body = _header(table)
    unread = [bare(row[0].text)[0] for row in body if _is_of_other_things(row)]
    body = [row for row in body if not _is_of_other_things(row)]
    roles = _roles(table, names, body)
    roles = [
        "unread" if role == "value" and is_of_no_method(name) else role
        for role, name in zip(roles, names, strict=True)
    ]
    found = Layout(methods) if methods else _layout(table, names, roles, body, baseline)
    found = Layout("rows") if sectioned else found
    side = _sure(found, table)
    said = " ".join((*table.notes, *names)).lower()
    reader = _Reader(table, names, roles, side, plus_minus or spread_told(said))
    rows = list(reader.methods(body))
    if reader.problems:
        raise SpecError(gathered(reader.problems)[:MOST])
    columns = [names[at] for at in reader.at("value")]
    told = [names[at] for at, role in enumerate(reader.roles) if role not in ("value", "unread")]
    said = " ".join((*table.notes, *told)).lower()
    first = min(reader.at("value"), default=0)  # what stands before is part of the names
    left = [names[at] for at in reader.at("unread") if at > first]
    unread = [name for name in left if name.lower() not in ("", "test")] + unread
    rows, n, differ = _one_n(rows, runs_told(said), by_column=bool(reader.at("n")))
    better, likely = ways(_groups(rows, columns, side), [*table.notes, names[0]])
    return AsPrinted(
        methods=tuple(rows),
        columns=tuple(columns),
        meaning=spread_told(said),
        n=n,
        better=better,
        legend=_legend(said, rows),
        across=side == "columns",
        sectioned=sectioned,
        unread=tuple(dict.fromkeys([*unread, *reader.unread])),
        guessed=tuple(filter(None, [found.sentence, reader.bracketed, differ])),
        way_guessed=likely,
        compared_with=compared_with(
            columns if side == "columns" else [row.name for row in rows],
            [*table.notes, *(names[at] for at in reader.at("p"))],
        ),
        test=test_told(said),
    )


def _one_n(
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


def _legend(said: str, rows: Sequence[Method]) -> dict[str, PrintedNumber]:
    """What stars are said to mean, and n.s. where a value has it."""
    used = {value.stars for row in rows for value in row.values.values()}
    return legend_told(said) | dict.fromkeys(used & {NOT_SIGNIFICANT.text}, NOT_SIGNIFICANT)


def _by_data_set(table: Pasted) -> tuple[Pasted, bool]:
    """The rows below a line for each data set, where one column names these and one the methods."""
    head, *body = table.rows
    at = data_column(*(bare(cell.text)[0] for cell in head[:2])) if len(head) > 2 else None
    if at is None or any(is_result(row[1].text) for row in body):
        return table, False
    sections: dict[str, list[tuple[Cell, ...]]] = {}
    name = ""
    for row in body:
        name = row[at].text or name
        sections.setdefault(name, []).append((*row[:at], *row[at + 1 :]))
    rows = [(*head[:at], *head[at + 1 :])]
    for name, lines in sections.items():
        first, *others = lines[0]
        rows.append((replace(first, text=name), *(replace(each, text="") for each in others)))
        rows += lines
    return replace(table, rows=tuple(rows)), True


def _roles(table: Pasted, names: Sequence[str], body: Sequence[Sequence[Cell]]) -> list[str]:
    """What each column is; SpecError where none is of results, or a statistic has no test."""
    place = _place(table.file, table.rows[0][0])
    if any(re.fullmatch(r"df|d\.f\.|statistic", name.lower()) for name in names):
        mistake = "no column says which test its statistic is of"
        expected = "a column t, F, r, z or chi2, and df where the test has any"
        raise fatal(place, mistake, expected, "name the column of statistics after its test")
    roles = [_role(name, [row[at] for row in body]) for at, name in enumerate(names)]
    if "value" not in roles[1:]:
        mistake = "no column of results: no cell is a number such as 93.4 or 93.4±0.2"
        advice = "paste the table with its header, one method a row"
        raise fatal(place, mistake, "93.4±0.2", advice)
    return roles


def _is_of_other_things(row: Sequence[Cell]) -> bool:
    """Whether none of a row's several cells is a number of results: `2.5k`, or a header again."""
    texts = [bare(cell.text)[0] for cell in row[1:] if not cell.empty]
    if texts and is_of_no_method(bare(row[0].text)[0]):
        return True
    return len(texts) > 1 and not _is_group(row) and not any(map(is_number, texts))


def _layout(
    table: Pasted,
    names: Sequence[str],
    roles: Sequence[str],
    body: Sequence[Sequence[Cell]],
    baseline: str | None,
) -> Layout:
    """Where the methods are: where the baseline is, else by names and by what is bold."""
    rows = [row for row in body if not _is_group(row)]
    values = [at for at, role in enumerate(roles) if role == "value" and at]
    in_rows = baseline and baseline.lower() in [bare(row[0].text)[0].lower() for row in rows]
    in_columns = baseline and baseline.lower() in [names[at].lower() for at in values]
    if bool(in_rows) != bool(in_columns):
        return Layout("rows" if in_rows else "columns")
    with_p = "p" in roles and all(not row[roles.index("p")].empty for row in rows)
    headed = table.rows[0][0] is not body[0][0]
    return layout(
        names[0] if headed else "",
        [bare(row[0].text)[0] for row in rows],
        [names[at] for at in values],
        [[bare(row[at].text)[1] for at in values] for row in rows],
        p_of_row=with_p,
        of_arms=bool({"n", "p"} & {*roles}),
    )


def _sure(found: Layout, table: Pasted) -> Side:
    """The side of the methods; refused where nothing tells, since half of all guesses are wrong."""
    if found.side is None:
        mistake = "nothing says whether the methods are the rows or the columns"
        expected = "a word above the first column, such as Method or Data set"
        advice = "decide it: --methods rows or --methods columns"
        raise fatal(_place(table.file, table.rows[0][0]), mistake, expected, advice)
    return found.side


def _header(table: Pasted) -> tuple[list[str], list[tuple[Cell, ...]]]:
    """The names of the columns, each once, from all rows above the first with a result in it."""
    rows = table.rows
    first = next(
        (at for at, row in enumerate(rows) if any(is_result(cell.text) for cell in row[1:])), 0
    )
    while first > 1 and all(cell.empty for cell in rows[first - 1][1:]):
        first -= 1  # what heads the first section stays out of the header
    head, body = rows[:first], list(rows[first:])
    if not head:
        return [
            "method",
            *(f"value {at}" if at > 1 else "value" for at in range(1, len(rows[0]))),
        ], body
    names: list[str] = []
    for column in zip(*head, strict=True):
        parts = dict.fromkeys(bare(cell.text)[0] for cell in column)
        name = " ".join(filter(None, parts))
        if name in names and _ROLES["p"].fullmatch(name.lower()):
            name = f"{name} ({len(names)})"
        if name and name in names:
            at = column[-1]
            mistake = f"two columns are called {name[:50]!r}"
            raise fatal(_place(table.file, at), mistake, "each name once", "rename one of the two")
        names.append(name or f"column {len(names) + 1}" if names else name)
    return names, body


def _is_group(row: Sequence[Cell]) -> bool:
    """A line that says what the lines below it are: one text, or a text and nothing."""
    texts = {cell.text for cell in row[1:] if not cell.empty}
    return texts <= {row[0].text}


def _role(name: str, cells: Sequence[Cell]) -> str:
    lower = name.lower().replace("_", " ").strip()
    results = [cell for cell in cells if not cell.empty]
    numbers = [cell for cell in results if is_number(bare(cell.text)[0])]
    for role, pattern in _ROLES.items():
        spread = any("±" in cell.text or "(" in cell.text for cell in numbers)
        if pattern.fullmatch(lower) and not spread:
            return role
    return "value" if len(numbers) * 2 > len(results) else "unread"


def _place(file: str, cell: Cell) -> Place:
    return Place(file, cell.line, cell.column)


class _Reader:
    """Reads rows by the roles of their columns, and keeps what it cannot read as problems.

    ``told`` is what the table or the user says a spread is; else no number below another is one.
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
        self.roles[0] = "name"
        self.above = ""
        texts = [cell.text for row in table.rows for cell in row[1:]]
        numbers = [bare(text)[0] for text in texts]
        self.points = any(re.search(r"[0-9]\.[0-9]", number) for number in numbers)
        self.sure = any(
            re.search(r"[0-9],(?:[0-9]{1,2}|[0-9]{4,})(?![0-9])", each) for each in numbers
        )
        values = self.at("value")
        self.across = side == "columns"
        spread = any(self._spread_in(at, table.rows) for at in values)
        self.only_spread = spread and self.across and "p" not in roles
        if spread and not self.across:
            for at in values:
                if not self._spread_in(at, table.rows):
                    self.roles[at] = "unread"

    def at(self, role: str) -> list[int]:
        """The columns of a role."""
        return [at for at, each in enumerate(self.roles) if each == role]

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
            if _is_group(row):
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
            column: replace(value, n=n or runs_in_name(column, of_method=self.across), test=test)
            for at in self.at("value")
            if (column := self.names[at]) and (value := self._value(row, at))
        }
        ps: dict[str, PrintedNumber] = {}
        for at in self.at("p"):
            of = self._of_p(at)
            if of and of not in ps and (p := self._p(row[at])) is not None:
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
            (at for at, role in enumerate(self.roles) if role not in ("name", "unread")), 1
        )
        if not row[0].empty:
            self.above = row[0].text
        texts = [self.above, *(cell.text for cell in row[1:first] if cell.text[:1].isalpha())]
        return " ".join(bare(text)[0] for text in texts)

    def _value(self, row: Sequence[Cell], at: int) -> PrintedValue | None:
        cell, after = row[at], self._deviations(at)
        if cell.empty:
            return None
        text, bold, stars = bare(self._points(cell))
        found = VALUE.fullmatch(text)
        if TWO.fullmatch(text) or not re.search("[0-9]", text):
            self.unread.append(f"{cell.text[:40]!r}")
            return None
        if found is None:
            mistake = f"{cell.text[:40]!r} is not a number with its spread"
            self._wrong(cell, mistake, "93.4±0.2", WRITE)
            return None
        if (found["other"] or found["after"]) and not self.bracketed:
            self.bracketed = f"What is in brackets, as in {cell.text[:40]!r}, is not a spread."
        try:
            self._refuse_units(found, cell, self._name(row) if self.across else self.names[at])
            spread, meaning = spread_of(found)
            mean, percent = number_of(found["mean"]), "%" in cell.text + self.names[at]
            told = spread_told(self._name(row).lower()) or spread_told(self.names[at].lower())
            of_all = told is not None and told.reading in ("ci95", "other")
            meaning = told if of_all else meaning or told
            value = PrintedValue(mean, spread, stars, bold, meaning, percent)
            if after is not None and not row[after].empty:
                spread = number_of(bare(self._points(row[after]))[0].lstrip("±+/- "))
                told = spread_told(self.names[after].lower())
                return replace(value, spread=spread, meaning=told or _MEANINGS[self.roles[after]])
        except ClaimError as error:
            self._wrong(cell, str(error), "93.4±0.2", error.advice or WRITE)
            return None
        return value

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
        if self.points:
            return re.sub(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))", "", cell.text)
        if self.sure:
            return cell.text.replace(",", ".")
        self._wrong(cell, f"{cell.text[:40]!r} may be a thousand or a decimal comma", "93.4", WRITE)
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
        try:
            return None if cell.empty else printed_p(bare(cell.text)[0])
        except ClaimError as error:
            self._wrong(cell, str(error), "0.03, <.001 or n.s.", "or - where no p is printed")
            return None

    def _wrong(self, cell: Cell, mistake: str, expected: str, advice: str) -> None:
        place = _place(self.file, cell)
        if place not in [problem.place for problem in self.problems]:
            self.problems.append(Problem(place, mistake, expected, advice))


WRITE = "write 93.4±0.2 or 93.4 (0.2), with a decimal point; - where nothing is printed"


def _groups(rows: Sequence[Method], columns: Sequence[str], side: Side) -> Groups:
    """The values that are compared with each other, by the name of their row or column."""
    if side == "columns":
        return {row.name: list(row.values.values()) for row in rows}
    return {name: [row.values[name] for row in rows if name in row.values] for name in columns}
