"""The text of a table, in whatever form it was pasted -> rows of cells, each with its place.

HTML, LaTeX, Markdown, tabs, semicolons, commas, and columns that blanks line up. Bold is written as
`**` in every form. Lines outside the table are notes: a caption, or the legend of its stars.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape
from html.parser import HTMLParser
from itertools import takewhile

from repro.audit.latex import MAX_SPAN, plain, tabular
from repro.errors import Place
from repro.files import fatal, place_of_offset
from repro.schema.rows import Mistakes, rows_of

MAX_CELLS = 20_000
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
    rule: tuple[int, int] = (0, 0)
    """The line and column of the first rule below a row, or of the end of an HTML header."""

    @property
    def ruled(self) -> int:
        """How many rows stand above the rule, all of whose cells do."""
        above = [all((c.line, c.column) < self.rule for c in row) for row in self.rows]
        return [*above, False].index(False) % (len(above) or 1)


def read_pasted(text: str, file: str) -> Pasted:
    """The table of a text; SpecError where there is none, or several, or rows differ in length."""
    text = text.removeprefix("\N{BYTE ORDER MARK}").replace("\r\n", "\n").replace("\r", "\n")
    _refuse_control(text, file)
    text = re.sub("[\N{ASTERISK OPERATOR}\N{LOW ASTERISK}]", "*", text)
    rows, notes, rule = _cut(text, file)
    rows = [[_seen(cell) for cell in row] for row in rows]
    rows = _continued([row for row in rows if not all(cell.empty for cell in row)])
    if not rows:
        expected = "a table: CSV, tabs, Markdown, LaTeX, HTML, or columns lined up by blanks"
        raise fatal(Place(file), "no table is found", expected, "paste it with its header")
    if sum(map(len, rows)) > MAX_CELLS:
        expected = f"at most {MAX_CELLS:,} cells"
        raise fatal(Place(file), "the table is too long", expected, "make several tables of it")
    rows = _triangle(rows)
    width = Counter(map(len, rows)).most_common(1)[0][0]
    captions = [row for row in rows if len(row) != width and not _has_digits(row)]
    if captions == rows[:1] and 3 < len(captions[0]) == width - 1 and _has_digits(rows[1]):
        captions = []  # a header without its first cell
    notes += [" ".join(cell.text for cell in row) for row in captions]
    rows = [row for row in rows if row not in captions]
    for row in rows:
        if len(row) != width:
            mistake = f"{len(row)} cells in a table of {width} columns"
            advice = "write - where nothing is printed; separate columns by tabs"
            place = Place(file, row[0].line, row[0].column)
            raise fatal(place, mistake, f"{width} cells", advice)
    return Pasted(file, tuple(map(tuple, rows)), tuple(notes), rule)


def _triangle(rows: Rows) -> Rows:
    """The rows of the lower half of a matrix, filled up where each has one cell more."""
    lengths = [len(row) for row in rows[1:]]
    if len(lengths) < 2 or lengths != list(range(lengths[0], lengths[0] + len(lengths))):
        return rows
    head = rows[0]
    if lengths[-1] == len(head) + 1:
        head = [Cell("", head[0].line, 1), *head]
    if lengths[-1] not in (len(head), len(head) - 1):
        return rows
    filled = [[*row, *[Cell("", row[0].line, 1)] * (len(head) - len(row))] for row in rows[1:]]
    return [head, *filled]


_BELOW = re.compile(r"[\[(±].*\d|\+/-.*\d")


def _continued(rows: Rows) -> Rows:
    """The rows, with what a line below has in brackets or after ±, and nothing else, behind it."""
    found: Rows = []
    for row in rows:
        texts = [cell.text for cell in row[1:] if not cell.empty]
        above = found[-1] if found and _has_digits(found[-1]) else []
        if row[0].empty and len(row) == len(above) and all(map(_BELOW.match, texts)):
            below = [re.sub(r"^\[([0-9]*\.[0-9]+)\]$", r"(\1)", cell.text) for cell in row]
            found[-1] = [
                up if cell.empty else replace(up, text=f"{up.text} {text}")
                for up, cell, text in zip(above, row, below, strict=True)
            ]
        else:
            found.append(row)
    return found


_ENTITY = re.compile(r"&(?:[A-Za-z]{2,9}|#[0-9]{2,5});")


def _seen(cell: Cell) -> Cell:
    """A cell of LaTeX as it is seen, in whatever form of table it stands."""
    text = re.sub(r"\s*<br ?/?>\s*", " ", cell.text)
    text = _ENTITY.sub(lambda each: unescape(each[0]), text)
    return replace(cell, text=plain(text) if re.search(r"\$|\\pm|_\{", text) else text)


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


def _cut(text: str, file: str) -> tuple[Rows, list[str], tuple[int, int]]:
    """The rows by the form that the text shows, the lines outside of the table, and its rule."""
    text = _braced_commas(text)
    if re.search(r"<t[rdh][\s>]", text, re.IGNORECASE):
        return _html(text, file)
    if r"\begin{tabular" in text or (r"\\" in text and "&" in text):
        return _latex(text, file)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    piped = [line for _, line in lines if "|" in line]
    if len(piped) * 2 > len(lines) or any(map(_RULE.fullmatch, piped[1:2])):
        return *_piped(lines, file), _first_rule(lines)
    separator = max("\t;,", key=lambda sign: _regular(lines, sign))
    commas = sum("," in line for _, line in lines) if separator == "," else 0
    if max(_regular(lines, separator), commas) * 2 > len(lines):
        return *_separated(text, separator, file), (0, 0)
    return *_lined_up(lines, file), (0, 0)


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
    first, *more = [number for number, line in enumerate(kept) if line] or [0]
    apart = more and not lines[first + 1].strip()
    if apart and _is_sentence(kept[first]) and kept[first].count(",") < kept[more[0]].count(","):
        notes.append(kept[first])
        first = more[0]
    captions = list(_captions_below(kept, first)) if separator == "," else []
    notes += [kept[at] for at in captions]
    kept = ["" if at in captions else line for at, line in enumerate(kept)]
    names = {name.strip(' \t"') for name in kept[first].split(separator)}
    mistakes = Mistakes(file)
    body = "\n".join(kept[first:])
    rows = [
        [Cell(cell, row.number, at) for cell, at in zip(row.cells, row.starts, strict=True)]
        for row in rows_of(body, names, mistakes, first + 1)
        if any(row.cells)
    ]
    mistakes.stop()
    _refuse_second(rows, list(enumerate(lines, 1)), file)
    return rows, notes


_RESULT = re.compile(r"[\"\s]*[(\[*<>=~$]*[-+\N{MINUS SIGN}]?\.?[0-9](?!\w*[- ][a-z]{3})")
_RULE = re.compile(r"[\s|:+=-]*[=-][\s|:+=-]*")
_NO_RESULT = re.compile(r"oom\b|nan\b|n\.?s|fail|diverg|time ?out|none\b|yes\b|no\b", re.IGNORECASE)


def _refuse_second(rows: Rows, lines: Sequence[tuple[int, str]], file: str) -> None:
    """SpecError where results are headed again: after a line of no row, or over a Markdown rule.

    A header has names alone, or the first cell of the table's.
    """
    rows = [row for row in rows if not all(cell.empty for cell in row)]
    found = [at for at, row in enumerate(rows) if at and _has_results(row)]
    said = dict(lines)
    for at in range(found[0] + 1, found[-1]) if found else ():
        row, begin = rows[at], rows[at][0].line
        if all(cell.empty for cell in row[1:]):
            continue  # the name of a group
        between = range(rows[at - 1][0].line + 1, begin)
        apart = not all(_RULE.fullmatch(said.get(line, "")) for line in between)
        rule = said.get(begin + 1, "")
        ruled = "|" in rule and "+" not in rule and _RULE.fullmatch(rule) is not None
        again = row[0].text == rows[0][0].text != ""
        if [_names_alone(row), apart, ruled or (apart and again)].count(True) > 1:
            _several(Place(file, begin, row[0].column))


def _has_results(row: Sequence[Cell]) -> bool:
    """Whether a cell begins as a result does; a year may be a name."""
    texts = [cell.text for cell in row[1:] if not re.fullmatch("(?:19|20)[0-9]{2}", cell.text)]
    return any(map(_RESULT.match, texts))


def _names_alone(row: Sequence[Cell]) -> bool:
    """Whether most cells have names, and none a result, or why there is none."""
    values = {cell.column: cell.text for cell in row[1:] if not cell.empty}
    most = 2 * len(values) >= len(row) - 1 > 0 and {*values.values()} != {row[0].text}
    return most and not _has_results(row) and not any(map(_NO_RESULT.match, values.values()))


def _captions_below(lines: Sequence[str], head: int) -> Iterator[int]:
    """The last lines that are a sentence with a comma in it."""
    below = (at for at in range(len(lines) - 1, head, -1) if lines[at].strip())
    yield from takewhile(lambda at: _is_sentence(lines[at]), below)


def _is_sentence(line: str) -> bool:
    """Whether a line with a comma has two words or more, and no result."""
    rest = re.sub(r"\b[pP] ?[<=≤] ?0?\.[0-9]+", "", line)
    if re.search(r"[0-9]\.[0-9]|[0-9] ?(?:±|\+/-)", rest) or ", " not in line:
        return False
    words = re.findall(r"[^\W\d]{2,}", line)
    return len(words) > 1 and not any(map(_RESULT.match, line.split(",")[1:]))


def _piped(lines: Sequence[tuple[int, str]], file: str) -> tuple[Rows, list[str]]:
    """The rows of a Markdown table, without the one that rules its header off."""
    rows = [list(_markdown(number, line)) for number, line in lines if "|" in line]
    ruled = re.compile(r"[:\-= ]+")
    kept = [row for row in rows if not all(ruled.fullmatch(cell.text or "-") for cell in row)]
    _refuse_second(kept, lines, file)
    return kept, [line for _, line in lines if "|" not in line]


def _first_rule(lines: Sequence[tuple[int, str]]) -> tuple[int, int]:
    """The first rule below a row."""
    first = next((n for n, line in lines if "|" in line and not _RULE.fullmatch(line)), 0)
    return next((n for n, line in lines if n > first and _RULE.fullmatch(line)), 0), 0


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


def _lined_up(lines: Sequence[tuple[int, str]], file: str) -> tuple[Rows, list[str]]:
    """Columns two blanks apart; else the last words of a line are its columns, the rest its name.

    As many words as the most lines have that begin with a digit, as numbers do.
    """
    notes = [line for _, line in lines if _is_note(line)]
    if not (lines := [(number, line) for number, line in lines if not _is_note(line)]):
        return [], notes
    apart = [_words(number, line, r"\S+(?: \S+)*") for number, line in lines]
    table = [row for row in apart if len(row) > 1]
    _refuse_second(table, lines, file)
    table = _below_their_heads(_triangle(table))
    names = {len(row) - len(table[0]) for row in table[1:]}
    if names in ({1}, {2}):  # no head over the names
        last = names.pop()
        ends = (row[last - 1].column + len(row[last - 1].text) for row in table[1:])
        if max(ends) <= table[0][0].column:
            table[0] = [Cell("", table[0][0].line, 1)] * last + table[0]
    if len({len(row) for row in table}) == 1 and len(table) > 1:
        return table, notes + [row[0].text for row in apart if len(row) == 1]
    rows = [_words(number, _joined(line), r"\S+") for number, line in lines]
    counts = Counter(count for row in rows if (count := _numerals(row)))
    width = counts.most_common(1)[0][0] if counts else 0
    first = next((at for at, row in enumerate(rows) if _numerals(row)), 0)
    head = rows[max(first - 1, 0)][0].text
    begun = [row for row in rows if _numerals(row) or row[0].text == head]
    _refuse_second(begun, lines, file)
    kept = [row for at, row in enumerate(rows) if at == first - 1 or _numerals(row)]
    notes += [line for (_, line), row in zip(lines, rows, strict=True) if row not in kept]
    rows = [_named(row, width) for row in kept if len(row) >= width]
    _refuse_in_names(rows, file)
    return rows, notes


def _refuse_in_names(rows: Rows, file: str) -> None:
    """SpecError where a result, or what may be a minus, stands in the name of a row."""
    for name in (row[0] for row in rows if re.search(r"\.[0-9]+(?:±|\+/-|\()", row[0].text)):
        place, mistake = Place(file, name.line, name.column), f"a result in the name {name.text!r}"
        raise fatal(place, mistake, "as many cells in each row", "separate columns by tabs")
    found = [row[0] for row in rows if re.search(r"\s[-–—]$", row[0].text)]
    below = [cells[1:] for cells in [*zip(*rows, strict=True)][:-1] if len(rows) > 1]
    found += [cells[0] for cells in below if all(c.text in ("-", "–", "—") for c in cells)]
    if found:
        place, advice = Place(file, found[0].line, found[0].column), "write -2.9, or use tabs"
        raise fatal(place, "a dash apart may be a minus", "a number or nothing", advice)


def _below_their_heads(rows: Rows) -> Rows:
    """The rows with an empty cell where nothing stands below a head; else as they are."""
    found: Rows = []
    for row in rows:
        heads = rows[0] if len(row) < len(rows[0]) else row
        spans = [(head.column, head.column + len(head.text)) for head in heads]
        under = [
            [cell for cell in row if cell.column < end and begin < cell.column + len(cell.text)]
            for begin, end in spans
        ]
        if [cell for cells in under for cell in cells] != row or max(map(len, under)) > 1:
            return rows
        found.append(
            [
                cells[0] if cells else Cell("", row[0].line, begin)
                for cells, (begin, _) in zip(under, spans, strict=True)
            ]
        )
    return found


def _joined(line: str) -> str:
    """A line whose cells have no blanks inside: `93.4±0.2` for `93.4 ± 0.2`."""
    for pattern, short in _JOINED:
        line = pattern.sub(short, line)
    return line


def _named(row: Sequence[Cell], width: int) -> list[Cell]:
    """The last cells, and before them the name that the others spell; empty where there is none."""
    name = " ".join(cell.text for cell in row[: len(row) - width])
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


def _latex(text: str, file: str) -> tuple[Rows, list[str], tuple[int, int]]:
    """The rows of the one tabular of a text, or of lines cut out of one, and its first rule."""
    found = tabular(text)
    if found.second is not None:
        _several(place_of_offset(text, found.second, file))
    places = [[place_of_offset(text, at, file) for _, at in row] for row in found.rows]
    rows = [
        [Cell(seen, at.line or 1, at.column or 1) for (seen, _), at in zip(row, where, strict=True)]
        for row, where in zip(found.rows, places, strict=True)
    ]
    rule = place_of_offset(text, found.rule, file)
    return rows, found.notes, (rule.line or 0, rule.column or 0)


def _several(place: Place) -> None:
    raise fatal(place, "a second table", "one table", "paste each into a separate file")


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
        self.rule = (0, 0)

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
            if tag == "td" and not self.rule[0]:
                self.rule = self.getpos()[0], self.getpos()[1] + 1
            spans = {name: value for name, value in attrs if name in ("colspan", "rowspan")}
            line, column = self.getpos()
            self.open = (line, column + 1, _span(spans, "colspan"), _span(spans, "rowspan"))
            self._fill()
        elif tag in ("b", "strong"):
            self.text.append("**")
        elif tag == "br":
            self.text.append(" ")
        elif tag in ("sup", "sub"):
            self.text.append(f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self.finish()
            if tag == "tr" and self.rows:
                self._fill()
        elif tag == "thead":
            self.rule = self.getpos()[0], self.getpos()[1] + 1
        elif tag in ("b", "strong"):
            self.text.append("**")
        elif tag in ("sup", "sub"):
            self.text.append(f"</{tag}>")

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


def _html(text: str, file: str) -> tuple[Rows, list[str], tuple[int, int]]:
    parser = _Table(file)
    parser.feed(text)
    parser.close()
    parser.finish()
    return [row for row in parser.rows if row], parser.notes, parser.rule
