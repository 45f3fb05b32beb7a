"""The text of a table, in whatever form it was pasted -> rows of cells, each with its place.

HTML, LaTeX, Markdown, tabs, semicolons, commas, and columns that blanks line up. Bold is written as
`**` in every form. Lines outside the table are notes: a caption, or the legend of its stars.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import unescape
from html.parser import HTMLParser
from itertools import islice

from repro.errors import Place, Problem
from repro.files import fatal, place_of_offset
from repro.schema.rows import Mistakes, rows_of

MAX_CELLS = 20_000
MAX_SPAN = 100
LONGEST = 500
MOST_MACROS = 100
EMPTY = frozenset(
    ("", "-", "--", "---", "\N{EN DASH}", "\N{EM DASH}", "\N{MINUS SIGN}", "n/a", "na", "n.a.")
)


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell, and where it begins."""

    text: str
    line: int
    column: int

    @property
    def empty(self) -> bool:
        """Whether nothing is printed there."""
        return self.text.lower() in EMPTY


@dataclass(frozen=True, slots=True)
class Pasted:
    """The rows of a table, all of one length, and the lines around it."""

    file: str
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]


def read_pasted(text: str, file: str) -> Pasted:
    """The table of a text; SpecError where there is none, or several, or rows differ in length."""
    text = text.removeprefix("\N{BYTE ORDER MARK}").replace("\r\n", "\n").replace("\r", "\n")
    _refuse_control(text, file)
    text = re.sub("[\N{ASTERISK OPERATOR}\N{LOW ASTERISK}]", "*", text)
    rows, notes = _cut(text, file)
    rows = [[_seen(cell) for cell in row] for row in rows]
    rows = [row for row in rows if not all(cell.empty for cell in row)]
    if not rows:
        expected = "a table: CSV, tabs, Markdown, LaTeX, HTML, or columns lined up by blanks"
        raise fatal(Place(file), "no table is found", expected, "paste it with its header")
    if sum(map(len, rows)) > MAX_CELLS:
        expected = f"at most {MAX_CELLS:,} cells"
        raise fatal(Place(file), "the table is too long", expected, "make several tables of it")
    width = Counter(map(len, rows)).most_common(1)[0][0]
    captions = [row for row in rows if len(row) != width and not _has_digits(row)]
    notes += [" ".join(cell.text for cell in row) for row in captions]
    rows = [row for row in rows if row not in captions]
    for row in rows:
        if len(row) != width:
            mistake = f"{len(row)} cells in a table of {width} columns"
            advice = "write - where nothing is printed; separate columns by tabs"
            place = Place(file, row[0].line, row[0].column)
            raise fatal(place, mistake, f"{width} cells", advice)
    return Pasted(file, tuple(map(tuple, rows)), tuple(notes))


_ENTITY = re.compile(r"&(?:[A-Za-z]{2,9}|#[0-9]{2,5});")


def _seen(cell: Cell) -> Cell:
    """A cell of LaTeX as it is seen, in whatever form of table it stands."""
    text = _ENTITY.sub(lambda each: unescape(each[0]), cell.text)
    return replace(cell, text=_plain(text) if re.search(r"\$|\\pm", text) else text)


FIRST = 3


def gathered(problems: Iterable[Problem]) -> list[Problem]:
    """The problems in reading order; those of one kind, whatever they quote, are one."""
    kinds: dict[tuple[str, str], list[Problem]] = {}
    for each in sorted(problems):
        kinds.setdefault((re.sub("'[^']*'", "", each.what), each.advice), []).append(each)
    return [_together(first, [each.place for each in rest]) for first, *rest in kinds.values()]


def _together(first: Problem, places: Sequence[Place]) -> Problem:
    if not places:
        return first
    named = ", ".join(f"{place.line}:{place.column}" for place in places[:FIRST])
    more = f" and {len(places) - FIRST} more" if len(places) > FIRST else ""
    return replace(first, what=f"{first.what}; likewise {named}{more}")


def _has_digits(row: Sequence[Cell]) -> bool:
    """Whether a cell begins as a number does; a caption with a comma in it has none."""
    return any(re.match(r"[*$-]*\.?[0-9]", cell.text) for cell in row[1:])


def _refuse_control(text: str, file: str) -> None:
    if control := re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]", text):
        place = place_of_offset(text, control.start(), file)
        mistake = f"the control character U+{ord(control[0]):04X}"
        raise fatal(place, mistake, "plain text", "save the table as text, in UTF-8")


Rows = list[list[Cell]]


def _braced_commas(text: str) -> str:
    """`1{,}934` of LaTeX, a thousand, or a decimal comma where others of the text must be.

    What is put in its place is as long and vanishes later, so that places stay what they are.
    """
    braced = re.compile(r"(?<=[0-9])\{,\}(?=[0-9])")
    rest = [text[found.end() : found.end() + 4] for found in braced.finditer(text)]
    thousands = all(re.match(r"[0-9]{3}(?![0-9])", each) for each in rest)
    return braced.sub(lambda _: r"\,$" if thousands else "$,$", text)


def _cut(text: str, file: str) -> tuple[Rows, list[str]]:
    """The rows by the form that the text shows, and the lines outside of the table."""
    text = _braced_commas(text)
    if re.search(r"<t[rdh][\s>]", text, re.IGNORECASE):
        return _html(text, file)
    if r"\begin{tabular" in text or (r"\\" in text and "&" in text):
        return _latex(text, file)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if sum("|" in line for _, line in lines) * 2 > len(lines):
        return _piped(lines)
    separator = max("\t;,", key=lambda sign: _regular(lines, sign))
    commas = sum("," in line for _, line in lines) if separator == "," else 0
    if max(_regular(lines, separator), commas) * 2 > len(lines):
        return _separated(text, separator, file)
    return _lined_up(lines)


def _regular(lines: Sequence[tuple[int, str]], sign: str) -> int:
    """How many lines have as many of a sign as most lines that have it."""
    counts = Counter(count for _, line in lines if (count := line.count(sign)))
    return max(counts.values(), default=0)


_NOTE = re.compile(r"\W*(?:note|legend|caption|table \d|tab\.|\*+ ?p ?[<=]|p ?[<=])", re.IGNORECASE)


def _is_note(line: str) -> bool:
    return line.startswith("#") or _NOTE.match(line.strip()) is not None


def _separated(text: str, separator: str, file: str) -> tuple[Rows, list[str]]:
    """Cells between commas, semicolons or tabs, with quotes as a spreadsheet writes them."""
    lines = text.split("\n")
    notes = [line for line in lines if line.strip() and (separator not in line or _is_note(line))]
    kept = [line if separator in line and not _is_note(line) else "" for line in lines]
    first = next((number for number, line in enumerate(kept) if line), 0)
    names = {name.strip(' \t"') for name in kept[first].split(separator)}
    mistakes = Mistakes(file)
    body = "\n".join(kept[first:])
    rows = [
        [Cell(cell, row.number, at) for cell, at in zip(row.cells, row.starts, strict=True)]
        for row in rows_of(body, names, mistakes, first + 1)
        if any(row.cells)
    ]
    mistakes.stop()
    return rows, notes


def _piped(lines: Sequence[tuple[int, str]]) -> tuple[Rows, list[str]]:
    """The rows of a Markdown table, without the one that rules its header off."""
    rows = [list(_markdown(number, line)) for number, line in lines if "|" in line]
    ruled = re.compile(r"[:\-= ]+")
    kept = [row for row in rows if not all(ruled.fullmatch(cell.text or "-") for cell in row)]
    return kept, [line for _, line in lines if "|" not in line]


def _markdown(number: int, line: str) -> Iterator[Cell]:
    begin = len(line) - len(line.lstrip()) + line.lstrip().startswith("|")
    end = len(line.rstrip()) - line.rstrip().endswith("|")
    at = begin
    for text in re.split(r"(?<!\\)\|", line[begin:end]):
        yield Cell(text.replace(r"\|", "|").strip(), number, at + 1)
        at += len(text) + 1


_JOINED = (
    (re.compile(r" ?(±|\+/-) ?"), r"\1"),
    (re.compile(r"(?<=\d) (?=[(\[])"), ""),
    (re.compile(r"(?<=[<>=]) (?=[.\d])|(?<=[pP]) (?=[<>=])"), ""),
    (re.compile(r"(?<=,) (?=[-.\d])"), ""),
)


def _lined_up(lines: Sequence[tuple[int, str]]) -> tuple[Rows, list[str]]:
    """Columns two blanks apart; else the last words of a line are its columns, the rest its name.

    As many words as the most lines have that begin with a digit, as numbers do.
    """
    notes = [line for _, line in lines if _is_note(line)]
    lines = [(number, line) for number, line in lines if not _is_note(line)]
    apart = [_words(number, line, r"\S+(?: \S+)*") for number, line in lines]
    table = [row for row in apart if len(row) > 1]
    if len({len(row) for row in table}) == 1 and len(table) > 1:
        return table, notes + [row[0].text for row in apart if len(row) == 1]
    rows = [_words(number, _joined(line), r"\S+") for number, line in lines]
    counts = Counter(count for row in rows if (count := _numerals(row)))
    width = counts.most_common(1)[0][0] if counts else 0
    first = next((at for at, row in enumerate(rows) if _numerals(row)), 0)
    kept = [row for at, row in enumerate(rows) if at == first - 1 or _numerals(row)]
    notes += [line for (_, line), row in zip(lines, rows, strict=True) if row not in kept]
    return [_named(row, width) for row in kept if len(row) >= width], notes


def _joined(line: str) -> str:
    """A line whose cells have no blanks inside: `93.4±0.2` for `93.4 ± 0.2`."""
    for pattern, short in _JOINED:
        line = pattern.sub(short, line)
    return line


def _named(row: Sequence[Cell], width: int) -> list[Cell]:
    """The last cells, and before them the name that the others spell; empty where there is none."""
    first = row[: len(row) - width]
    name = " ".join(cell.text for cell in first)
    return [Cell(name, row[0].line, row[0].column), *row[len(row) - width :]]


def _numerals(row: Sequence[Cell]) -> int:
    """How many cells at the end of a line begin as numbers do."""
    count = 0
    for cell in reversed(row):
        if not re.match(r"[*<>=p]*[-+\N{MINUS SIGN}]?\.?\d|n\.?s\.?$|[-\N{EN DASH}]+$", cell.text):
            break
        count += 1
    return min(count, max(len(row) - 1, 0))


def _words(number: int, line: str, pattern: str) -> list[Cell]:
    return [Cell(word[0], number, word.start() + 1) for word in re.finditer(pattern, line)]


_RULES = re.compile(
    r"\\(?:top|mid|bottom)rule|\\hline|\\c(?:mid)?(?:rule|line)(?:\([lr]*\))?\{[^{}]*\}"
    r"|\\(?:addlinespace|specialrule)(?:\[[^\]]*\]|\{[^{}]*\})*"
)
_PLAIN = (
    (re.compile(r"\\(?:textbf|mathbf|bm|boldsymbol)\s*\{([^{}]*)\}"), r"**\1**"),
    (re.compile(r"\\(?:multirow|multicolumn)\s*\{[^{}]*\}\s*\{[^{}]*\}\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\(?:text|mathrm|textrm|emph|textit|underline|textsc|textsuperscript|ensuremath"
                r"|makecell|mathbin|mathrel|mathord|scriptsize|footnotesize|tiny|small)"
                r"\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\textcolor\s*\{[^{}]*\}\s*\{([^{}]*)\}|\\num\s*\{([^{}]*)\}"
                r"|\\(?:SI|qty)\s*\{([^{}]*)\}\s*\{[^{}]*\}"), r"\1\2\3"),
    (re.compile(r"(?<=[0-9*}]) ?\\(?:std(?:v|ev)?|sd|pms|err|se|ci)\s*\{([0-9.]+)\}"), r"±\1"),
    (re.compile(r"\\(?:cite[a-z]*|label|ref|vspace|color|cellcolor|rowcolor)\s*"
                r"(?:\[[^\]]*\])?\{[^{}]*\}"), ""),
    (re.compile(r"(?<=[0-9.])(?<!10)\^(?:\{[\w,]{1,5}\}|\w)(?![\w.])"), ""),
    (re.compile(r"(?<=[0-9])_(?:\{([0-9.]+)\}|([0-9.]+))"), r"_\1\2"),
    (re.compile(r"[_^]\{([^{}]*)\}"), r"\1"),
    (re.compile(r"(?<![\\\w])\{([^{}]*)\}|(?<=[0-9])\{([ (]*(?:±|\\pm)[^{}]*)\}"), r"\1\2"),
)  # fmt: skip
_SIGNS = (
    (re.compile(r"\^\{?\\(?:d?dagger|S|P)(?![a-zA-Z])\}?"), ""),
    (re.compile(r"\\pm(?![a-zA-Z])"), "±"),
    (re.compile(r"\\(?:uparrow)"), "\N{UPWARDS ARROW}"),
    (re.compile(r"\\(?:downarrow)"), "\N{DOWNWARDS ARROW}"),
    (re.compile(r"\\(?:ast|star)(?![a-zA-Z])"), "*"),
    (re.compile(r"\\(?:scriptstyle|textstyle|displaystyle|scriptsize|footnotesize|tiny|small"
                r"|bf|bfseries|it|centering|phantom"
                r"|quad|qquad|left|right|dagger|ddagger)(?![a-zA-Z])"), ""),
    (re.compile(r"\\([%&_#$])"), r"\1"),
    (re.compile(r"(?<!\\)\$|\\[,;! ]"), ""),
    (re.compile(r"~"), " "),
    (re.compile(r"\^(?=\*)|_(?=±)"), ""),
)  # fmt: skip


def _latex(text: str, file: str) -> tuple[Rows, list[str]]:
    """The rows of the one tabular of a text, or of lines cut out of one."""
    bare = re.sub(r"(?<!\\)%[^\n]*", lambda found: " " * len(found[0]), text)
    begins = list(re.finditer(r"\\begin\{tabular[xy*]?\}", bare))
    if len(begins) > 1:
        _several(place_of_offset(bare, begins[1].start(), file))
    start = _past_braces(bare, begins[0].end()) if begins else 0
    end = bare.find(r"\end{tabular", start)
    end = len(bare) if end < 0 else end
    notes = [_plain(found[1]) for found in re.finditer(r"\\caption\{([^\n]*)\}", bare)]
    notes += [
        _plain(line) for line in bare[end:].split("\n")[1:] if not line.strip().startswith("\\")
    ]
    body = _RULES.sub(lambda found: " " * len(found[0]), bare[start:end])
    macros, rows, at = _macros(bare), [], start
    for line in re.split(r"\\\\(?:\[[^\]]*\])?", body):
        if line.strip():
            rows.append(list(_ampersands(bare, line, at, file, macros)))
        at = bare.find("\\\\", at + len(line)) + 2
    return rows, notes


def _past_braces(text: str, at: int) -> int:
    r"""Where what `\begin{tabular}` is told ends: the width and the columns, in braces."""
    while (opened := re.compile(r"\s*(?:\[[^\]]*\]\s*)?\{").match(text, at)) is not None:
        at, depth = opened.end(), 1
        while depth and at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
    return at


def _several(place: Place) -> None:
    raise fatal(place, "a second table", "one table", "paste each into a separate file")


def _macros(text: str) -> dict[str, tuple[int, str]]:
    """The commands with arguments that a text defines: how many these are, and the meaning."""
    defined = re.compile(
        r"\\(?:re)?newcommand\*?\s*\{?\\([A-Za-z]+)\}?\s*\[([1-4])\]\s*(?=\{)"
        r"|\\def\\([A-Za-z]+)((?:#[1-4])+)(?=\{)"
    )
    found = {}
    for each in islice(defined.finditer(text), MOST_MACROS):
        meaning = text[each.end() + 1 : _past_braces(text, each.end()) - 1]
        count = int(each[2]) if each[1] else len(each[4]) // 2
        found[each[1] or each[3]] = count, meaning[:LONGEST]
    return found


def _expanded(text: str, macros: Mapping[str, tuple[int, str]]) -> str:
    for name, (count, meaning) in macros.items():
        called = re.compile(rf"\\{name}" + r"\s*\{([^{}]*)\}" * count)
        parts = called.split(text)
        said = parts[:1]
        for at in range(1, len(parts), count + 1):
            one = meaning
            for number, argument in enumerate(parts[at : at + count], 1):
                one = one.replace(f"#{number}", argument)
            said += [one, parts[at + count]]
        text = "".join(said)[:LONGEST]
    return text


def _ampersands(
    bare: str, line: str, at: int, file: str, macros: Mapping[str, tuple[int, str]]
) -> Iterator[Cell]:
    for text in re.split(r"(?<!\\)&", line):
        blank = len(text) - len(text.lstrip())
        place = place_of_offset(bare, min(at + blank, len(bare)), file)
        many = re.match(r"\s*\\multicolumn\s*\{\s*(\d{1,3})\s*\}", text)
        for _ in range(min(int(many[1]), MAX_SPAN) if many else 1):
            seen = _plain(_expanded(text, macros))
            yield Cell(seen, place.line or 1, place.column or 1)
        at += len(text) + 1


def _plain(text: str) -> str:
    """A cell of LaTeX as it is seen, from the innermost braces outward."""
    for pattern, short in _SIGNS:
        text = pattern.sub(short, text[:LONGEST])
    for _ in range(8):
        before = text
        for pattern, short in _PLAIN:
            text = pattern.sub(short, text)
        if text == before:
            break
    return " ".join(text.split())


class _Table(HTMLParser):
    """The rows of a table, what its bold tags enclose between `**`, and the text outside."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self.file, self.tables = file, 0
        self.rows: Rows = []
        self.notes: list[str] = []
        self.below: dict[int, tuple[int, Cell]] = {}
        self.open: tuple[int, int, int, int] | None = None
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables += 1
            if self.tables > 1:
                _several(Place(self.file, self.getpos()[0], self.getpos()[1] + 1))
        elif tag == "tr":
            self.finish()
            self.rows.append([])
        elif tag in ("td", "th"):
            self.finish()
            spans = {name: value for name, value in attrs if name in ("colspan", "rowspan")}
            line, column = self.getpos()
            self.open = (line, column + 1, _span(spans, "colspan"), _span(spans, "rowspan"))
            self._fill()
        elif tag in ("b", "strong"):
            self.text.append("**")
        elif tag == "br":
            self.text.append(" ")
        elif tag == "sup":
            self.text.append("<sup>")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self.finish()
            if tag == "tr" and self.rows:
                self._fill()
        elif tag in ("b", "strong"):
            self.text.append("**")
        elif tag == "sup":
            self.text.append("</sup>")

    def handle_data(self, data: str) -> None:
        if self.open is not None:
            self.text.append(data)
        elif data.strip():
            self.notes.append(data.strip())

    def _fill(self) -> None:
        """Put the cells that reach down from rows above where this row has come to."""
        row = self.rows[-1] if self.rows else []
        while (found := self.below.get(len(row))) is not None and found[0] > 0:
            self.below[len(row)] = (found[0] - 1, found[1])
            row.append(found[1])

    def finish(self) -> None:
        """End the cell that is open."""
        if self.open is None:
            return
        line, column, across, down = self.open
        cell = Cell(" ".join("".join(self.text).split()), line, column)
        self.open, self.text = None, []
        if not self.rows:
            self.rows.append([])
        for _ in range(across):
            self.below[len(self.rows[-1])] = (down - 1, cell)
            self.rows[-1].append(cell)


def _span(spans: dict[str, str | None], name: str) -> int:
    said = spans.get(name) or "1"
    return min(max(int(said), 1), MAX_SPAN) if said.isascii() and said.isdecimal() else 1


def _html(text: str, file: str) -> tuple[Rows, list[str]]:
    parser = _Table(file)
    parser.feed(text)
    parser.close()
    parser.finish()
    return [row for row in parser.rows if row], parser.notes
