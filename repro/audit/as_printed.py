"""A table as a paper prints it -> what each cell says, and what its columns are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TypeAlias

from repro.audit.comparison import check_probability
from repro.audit.pasted import Cell, Pasted, gathered
from repro.audit.printed_words import (
    ACCURACY_KNOWN,
    Better,
    Layout,
    Reading,
    Side,
    layout,
    runs_told,
    spread_told,
    way,
)
from repro.errors import ClaimError, Place, Problem, SpecError
from repro.evidence.published import PrintedNumber
from repro.files import fatal
from repro.schema.rows import MOST

_NUMBER = r"[-+\N{MINUS SIGN}]?(?:[0-9][0-9,]*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?"
_UNITS = (
    r"ms|s|secs?\.?|seconds?|m|mins?\.?|minutes?|h|hrs?|hours?|d|days?|x|×|k|M|B|[MG]B|[MGT]?FLOPs"
    r"|params?|epochs?|steps?|layers?"
)
"""What a number in brackets is of where it is not a spread: a time, a size; so is a sign."""

_SIGN = r"[-+\N{MINUS SIGN}\N{UPWARDS ARROW}\N{DOWNWARDS ARROW}](?![-+/])"
_VALUE = re.compile(
    rf"(?P<mean>{_NUMBER}) ?%?(?: ?(?:±|\+/-|\+-) ?(?P<spread>{_NUMBER}) ?%?"
    rf"| ?\( ?(?P<other>{_SIGN} ?{_NUMBER} ?%?|{_NUMBER} ?(?:{_UNITS})) ?\)"
    rf"| ?\( ?(?:(?:±|\+/-|\+-|sd|std|se|s\.d\.|s\.e\.) ?=? ?)?(?P<inside>{_NUMBER}) ?%?\)"
    rf"| ?[\[(](?P<low>{_NUMBER}) ?(?:,|;|to|\N{{EN DASH}}) ?(?P<high>{_NUMBER})[\])])?",
    re.IGNORECASE,
)
_TWO = re.compile(rf"{_NUMBER} ?/ ?{_NUMBER}")
"""Two numbers in one cell, of which neither can be taken."""

_ROLES: Mapping[str, re.Pattern[str]] = {
    "n": re.compile(r"#? ?(?:n|runs|seeds|trials|repeats|n runs|n seeds|number of (?:runs|seeds))"),
    "p": re.compile(r"(?:p|p[- ]?values?|sig\.?|significance)(?: ?\(.*\))?"),
    "sd": re.compile(r".*\b(?:s\.?d\.?|std\.?|st\.? ?dev\.?|stdev|standard deviation)\)?"),
    "se": re.compile(r".*\b(?:s\.?e\.?m?\.?|std\.? err\.?|standard error)\)?"),
    "ci95": re.compile(r".*(?:95 ?% ?ci|ci ?95|95 ?% confidence interval|±ci)\)?"),
}
_LEGEND = re.compile(r"(\*{1,4}) ?:?=? ?(?:denotes |indicates |means )?p ?([<≤]|<=) ?(0?\.\d+)")
_AGAINST = (
    r"\b(?:against|vs\.?|versus|compared (?:to|with)|relative to|with respect to|than|over"
    r"|(?:different|differs?) from)"
)
_NOT_SIGNIFICANT = re.compile(r"n\.? ?s\.?|not significant", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PrintedValue:
    """A mean with its spread, the stars behind it, and whether it is bold.

    ``spread`` is what follows ± or stands in parentheses: a deviation, an error, half an interval.
    """

    mean: PrintedNumber
    spread: PrintedNumber | None = None
    stars: str = ""
    bold: bool = False
    reading: Reading | None = None
    percent: bool = False


@dataclass(frozen=True, slots=True)
class Method:
    """A row of a table: its name, a value per column, n and p where printed, and what heads it."""

    name: str
    values: Mapping[str, PrintedValue]
    n: int | None
    p: PrintedNumber | None
    section: str = ""


@dataclass(frozen=True, slots=True)
class AsPrinted:
    """The methods of a table by columns of values, and what its header and notes say of these.

    ``across`` is whether each row compares its values; ``p_of`` is the column that a p stands
    behind, and is of. ``guessed`` are sentences on what the table does not say;
    ``way_guessed`` names what higher is taken to be better in, and ``compared_with`` the method
    that stars or p are against, where a note or the header of p says so.
    """

    methods: tuple[Method, ...]
    columns: tuple[str, ...]
    reading: Reading | None
    n: int | None
    better: Mapping[str, Better]
    legend: Mapping[str, PrintedNumber]
    across: bool
    p_of: str
    unread: tuple[str, ...]
    guessed: tuple[str, ...] = ()
    way_guessed: tuple[str, ...] = ()
    compared_with: str = ""


def read_as_printed(table: Pasted, *, methods: Side | None) -> AsPrinted:
    """What a table says; SpecError with every cell that cannot be read, and how to write it.

    A row without any number of results, as of parameters (`2.5k`), is left unread.
    """
    names, body = _header(table)
    if any(re.fullmatch(r"df|d\.f\.|statistic", name.lower()) for name in names):
        mistake = "no column says which test its statistic is of"
        expected = "a column t, F, r, z or chi2, and df where the test has any"
        advice = "name the column of statistics after its test"
        raise fatal(_place(table.file, table.rows[0][0]), mistake, expected, advice)
    unread = [_bare(row[0].text)[0] for row in body if _is_of_other_things(row)]
    body = [row for row in body if not _is_of_other_things(row)]
    roles = [_role(name, [row[at] for row in body]) for at, name in enumerate(names)]
    if "value" not in roles[1:]:
        mistake = "no column of results: no cell is a number such as 93.4 or 93.4±0.2"
        advice = "paste the table with its header, one method a row"
        raise fatal(_place(table.file, table.rows[0][0]), mistake, "93.4±0.2", advice)
    found = Layout(methods) if methods else _layout(table, names, roles, body)
    side = _sure(found, table)
    reader = _Reader(table, names, roles, side)
    rows = list(reader.methods(body))
    if reader.problems:
        raise SpecError(gathered(reader.problems)[:MOST])
    said = " ".join((*table.notes, *names)).lower()
    columns = [names[at] for at in reader.at("value")]
    unread = [names[at] for at in reader.at("unread") if names[at] and at] + unread
    groups = _groups(rows, columns, side)
    better = dict(_directions(groups, table.notes))
    unsaid = {name: each for name, each in groups.items() if name not in better}
    likely = tuple(name for name, each in unsaid.items() if _is_accuracy(name, each))
    return AsPrinted(
        methods=tuple(rows),
        columns=tuple(columns),
        reading=spread_told(said),
        n=runs_told(said),
        better=better | dict.fromkeys(likely, "higher"),
        legend={stars: PrintedNumber.read(f"<{p}") for stars, _, p in _LEGEND.findall(said)},
        across=side == "columns",
        p_of=reader.p_of(),
        unread=tuple(dict.fromkeys([*unread, *reader.unread])),
        guessed=tuple(filter(None, [found.sentence, reader.bracketed])),
        way_guessed=likely,
        compared_with=_compared_with(
            columns if side == "columns" else [row.name for row in rows],
            [*table.notes, *(names[at] for at in reader.at("p"))],
        ),
    )


def _is_of_other_things(row: Sequence[Cell]) -> bool:
    """Whether none of a row's several cells is a number of results: `2.5k`, or a header again."""
    texts = [_bare(cell.text)[0] for cell in row[1:] if not cell.empty]
    return len(texts) > 1 and not _is_group(row) and not any(map(_is_number, texts))


def _is_number(text: str) -> bool:
    return bool(_VALUE.fullmatch(text) or _TWO.fullmatch(text))


def _has_spread(text: str) -> bool:
    found = _VALUE.fullmatch(text)
    if found is None:
        return re.search(r"±|\+/-|\+-|[(\[]", text) is not None
    return any(found[each] for each in ("spread", "inside", "low"))


def _layout(
    table: Pasted, names: Sequence[str], roles: Sequence[str], body: Sequence[Sequence[Cell]]
) -> Layout:
    """Where the methods are, by the names of rows and columns of results, and by what is bold."""
    rows = [row for row in body if not _is_group(row)]
    values = [at for at, role in enumerate(roles) if role == "value" and at]
    with_p = "p" in roles and all(not row[roles.index("p")].empty for row in rows)
    headed = table.rows[0][0] is not body[0][0]
    return layout(
        names[0] if headed else "",
        [_bare(row[0].text)[0] for row in rows],
        [names[at] for at in values],
        [[_bare(row[at].text)[1] for at in values] for row in rows],
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
    first = next((at for at, row in enumerate(rows) if any(map(_is_result, row[1:]))), 0)
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
        parts = dict.fromkeys(_bare(cell.text)[0] for cell in column)
        name = " ".join(filter(None, parts))
        if name and name in names:
            at = column[-1]
            mistake = f"two columns are called {name[:50]!r}"
            raise fatal(_place(table.file, at), mistake, "each name once", "rename one of the two")
        names.append(name or f"column {len(names) + 1}" if names else name)
    return names, body


def _is_result(cell: Cell) -> bool:
    """Whether a cell has a number and cannot be a header, as 2018 may."""
    text, *_ = _bare(cell.text)
    return bool(_VALUE.fullmatch(text)) and not re.fullmatch(r"[0-9]{4}", text)


def _is_group(row: Sequence[Cell]) -> bool:
    """A line that says what the lines below it are: one text, or a text and nothing."""
    texts = {cell.text for cell in row[1:] if not cell.empty}
    return texts <= {row[0].text}


def _bare(text: str) -> tuple[str, bool, str]:
    """A text without bold marks, footnotes and stars; whether it was bold; its stars."""
    bold = text.startswith(("**", "__"))
    if bold:
        text = text[2:].replace(text[:2], "", 1)
    text = re.sub("[†‡§¶]", "", text).replace(r"\*", "*")
    stars = "".join(re.findall(r"(?<=[0-9).% \]])\*+", text))
    return re.sub(r"(?<=[0-9).% \]])\*+", "", text).strip(), bold, stars


def _role(name: str, cells: Sequence[Cell]) -> str:
    lower = name.lower().replace("_", " ").strip()
    results = [cell for cell in cells if not cell.empty]
    numbers = [cell for cell in results if _is_number(_bare(cell.text)[0])]
    for role, pattern in _ROLES.items():
        spread = any("±" in cell.text or "(" in cell.text for cell in numbers)
        if pattern.fullmatch(lower) and not spread:
            return role
    return "value" if len(numbers) * 2 > len(results) else "unread"


def _place(file: str, cell: Cell) -> Place:
    return Place(file, cell.line, cell.column)


class _Reader:
    """Reads rows by the roles of their columns, and keeps what it cannot read as problems."""

    def __init__(self, table: Pasted, names: Sequence[str], roles: list[str], side: Side) -> None:
        self.file, self.names, self.roles = table.file, names, roles
        self.problems: list[Problem] = []
        self.unread: list[str] = []
        self.bracketed = ""
        self.roles[0] = "name"
        self.above = ""
        texts = [cell.text for row in table.rows for cell in row[1:]]
        numbers = [_bare(text)[0] for text in texts]
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

    def p_of(self) -> str:
        """The last column of results before that of p; empty where no p is printed."""
        before = [at for at in self.at("value") for p in self.at("p")[:1] if at < p]
        return self.names[before[-1]] if before else ""

    def _spread_in(self, at: int, rows: Sequence[Sequence[Cell]]) -> bool:
        printed = any(_has_spread(_bare(row[at].text)[0]) for row in rows[1:])
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
                section = _bare(row[0].text)[0]
                continue
            method = replace(self._method(row), section=section)
            if self.only_spread and not any(v.spread for v in method.values.values()):
                self.unread.append(method.name)
            else:
                yield method

    def _method(self, row: Sequence[Cell]) -> Method:
        values = {
            self.names[at]: value for at in self.at("value") if (value := self._value(row, at))
        }
        n = next((self._n(row[at]) for at in self.at("n")), None)
        p = next((self._p(row[at]) for at in self.at("p")), None)
        return Method(self._name(row), values, n, p)

    def _name(self, row: Sequence[Cell]) -> str:
        """The texts before the first result; the first goes on from above where it is empty."""
        first = next(
            (at for at, role in enumerate(self.roles) if role not in ("name", "unread")), 1
        )
        if not row[0].empty:
            self.above = row[0].text
        texts = [self.above, *(cell.text for cell in row[1:first] if cell.text[:1].isalpha())]
        return " ".join(_bare(text)[0] for text in texts)

    def _value(self, row: Sequence[Cell], at: int) -> PrintedValue | None:
        cell, after = row[at], self._deviations(at)
        if cell.empty:
            return None
        text, bold, stars = _bare(self._points(cell))
        found = _VALUE.fullmatch(text)
        if _TWO.fullmatch(text) or not re.search("[0-9]", text):
            self.unread.append(f"{cell.text[:40]!r}")
            return None
        if found is None:
            self._wrong(
                cell, f"{cell.text[:40]!r} is not a number with its spread", "93.4±0.2", WRITE
            )
            return None
        if found["other"] and not self.bracketed:
            self.bracketed = f"What is in brackets, as in {cell.text[:40]!r}, is not a spread."
        try:
            spread, reading = _spread(found)
            mean, percent = _number(found["mean"]), "%" in cell.text + self.names[at]
            value = PrintedValue(mean, spread, stars, bold, reading, percent)
            if after is not None and not row[after].empty:
                spread = _number(_bare(self._points(row[after]))[0].lstrip("±+/- "))
                return replace(value, spread=spread, reading=self.roles[after])  # type: ignore[arg-type]
        except ClaimError as error:
            self._wrong(cell, str(error), "93.4±0.2", error.advice or WRITE)
            return None
        return value

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
        text = _bare(cell.text)[0].strip()
        text = re.sub(r"^[pP] ?(?=[=<>≤≥.0-9])|[{}$]", "", text).strip()
        if cell.empty or text.lower() in ("ref", "ref.", "reference", "baseline"):
            return None
        if _NOT_SIGNIFICANT.fullmatch(text):
            return replace(PrintedNumber.read(">0.05"), text="n.s.")
        try:
            return check_probability(PrintedNumber.read(text.replace(",", ".")))
        except ClaimError as error:
            self._wrong(cell, str(error), "0.03, <.001 or n.s.", "or - where no p is printed")
            return None

    def _wrong(self, cell: Cell, mistake: str, expected: str, advice: str) -> None:
        place = _place(self.file, cell)
        if place not in [problem.place for problem in self.problems]:
            self.problems.append(Problem(place, mistake, expected, advice))


WRITE = "write 93.4±0.2 or 93.4 (0.2), with a decimal point; - where nothing is printed"


def _number(text: str) -> PrintedNumber:
    number = PrintedNumber.read(text.lstrip("+"))
    if 0 < abs(number.value) < 1e-100:
        raise ClaimError(f"{text!r} is smaller than any mean that is printed")
    return number


def _spread(found: re.Match[str]) -> tuple[PrintedNumber | None, Reading | None]:
    """The spread of a mean: half of an interval that is printed with both its ends."""
    if found["low"]:
        mean, low, high = (_number(found[each]) for each in ("mean", "low", "high"))
        if not low.value <= mean.value <= high.value:
            raise ClaimError(f"{found[0]!r}: the mean lies outside of its interval")
        half = (high.value - low.value) / 2
        return PrintedNumber(f"{half:.6g}", half, max(low.half, high.half)), "ci95"
    text = found["spread"] or found["inside"]
    if text is None:
        return None, None
    if found["inside"] and text.isdecimal() and "." in found["mean"]:
        raise ClaimError(
            f"{found[0]!r} may mean ±{text}, or {text} units of the last digit",
            advice="write it as 93.4±0.2",
        )
    spread = _number(text)
    if spread.value < 0:
        raise ClaimError(f"a deviation is not negative, and {text} is")
    return spread, None


def _compared_with(methods: Sequence[str], notes: Sequence[str]) -> str:
    """The one method that a text on p or stars says is the other side of the comparison."""
    told = [note for note in notes if re.search(r"signific|\bp\b|\*", note, re.IGNORECASE)]
    names = "|".join(map(re.escape, sorted(filter(None, methods), key=len, reverse=True)))
    against = re.compile(rf"{_AGAINST} (?:the |our )?({names})(?![\w-])", re.IGNORECASE)
    found = {each.lower() for note in told for each in against.findall(note)} if names else set()
    return next((name for name in methods if {name.lower()} == found), "")


Groups: TypeAlias = Mapping[str, Sequence[PrintedValue]]


def _groups(rows: Sequence[Method], columns: Sequence[str], side: Side) -> Groups:
    """The values that are compared with each other, by the name of their row or column."""
    if side == "columns":
        return {row.name: list(row.values.values()) for row in rows}
    return {name: [row.values[name] for row in rows if name in row.values] for name in columns}


def _directions(groups: Groups, notes: Sequence[str]) -> Iterator[tuple[str, Better]]:
    """Which way is better, by the names of columns, the notes, or what is set in bold."""
    for name, values in groups.items():
        better = way(name) or way(" ".join(notes)) or _by_bold(values)
        if better is not None:
            yield name, better


def _is_accuracy(name: str, values: Sequence[PrintedValue]) -> bool:
    """Whether most values are above one half, in percent or on a data set known for accuracy."""
    known = ACCURACY_KNOWN.match(name.lower()) is not None
    if not values or not (known or any(value.percent for value in values)):
        return False
    middle = median(value.mean.value for value in values)
    return 50 < middle <= 100 or 0.5 < middle <= 1


def _by_bold(values: Sequence[PrintedValue]) -> Better | None:
    bold = [value.mean.value for value in values if value.bold]
    others = [value.mean.value for value in values if not value.bold]
    if not bold or not others:
        return None
    if min(bold) > max(others):
        return "higher"
    return "lower" if max(bold) < min(others) else None
