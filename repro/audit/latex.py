"""The text of a LaTeX table -> rows of what is seen in each cell, with its offset in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

MAX_SPAN = 100
LONGEST = 500
MOST_MACROS = 100

_RULES = re.compile(
    r"\\(?:top|mid|bottom)rule|\\hline|\\c(?:mid)?(?:rule|line)(?:\([lr]*\))?\{[^{}]*\}"
    r"|\\(?:addlinespace|specialrule)(?:\[[^\]]*\]|\{[^{}]*\})*"
)
_BETWEEN = re.compile(r"\\(?:top|mid)rule|\\[Xh]*hline|\\specialrule")
"""A rule across the table, which may stand between its header and its rows."""

_PLAIN = (
    (re.compile(r"\\(?:textbf|mathbf|bm|boldsymbol)\s*\{([^{}]*)\}"), r"**\1**"),
    (re.compile(r"\\hspace\*?\s*\{[^{}]*\}"), ""),
    (re.compile(r"\\(?:text|mathrm|textrm|emph|textit|underline|textsc|textsuperscript|ensuremath"
                r"|makecell|shortstack|mathbin|mathrel|mathord|scriptsize|footnotesize|tiny|small)"
                r"\s*(?:\[[^\]]*\])?\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\(?:raise|rotate|resize)box\s*(?:\[[^\]]*\])*\{[^{}]*\}"
                r"(?:\[[^\]]*\])*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\textcolor\s*\{[^{}]*\}\s*\{([^{}]*)\}|\\num\s*\{([^{}]*)\}"
                r"|\\(?:SI|qty)\s*\{([^{}]*)\}\s*\{[^{}]*\}"), r"\1\2\3"),
    (re.compile(r"(?<=[0-9*}]) ?\\(?:std(?:v|ev)?|sd|pms|err|se|ci)\s*\{([0-9.]+)\}"), r"±\1"),
    (re.compile(r"\\(?:cite[a-z]*|label|ref|vspace|color|cellcolor|rowcolor)\s*"
                r"(?:\[[^\]]*\])?\{[^{}]*\}"), ""),
    (re.compile(r"(?<=10)\^\{ ?([-\N{MINUS SIGN}]? ?[0-9]{1,3}) ?\}"), r"^\1"),
    (re.compile(r"(?<=[0-9.])(?<!10)\^(?:\{[\w,]{1,5}\}|\w)(?![\w.])"), ""),
    (re.compile(r"(?<=[0-9*])_(?:\{([0-9.]+)\}|([0-9.]+))"), r"_\1\2"),
    (re.compile(r"[_^]\{([^{}]*)\}"), r"\1"),
    (re.compile(r"(?<![\\\w}])\{([^{}]*)\}|(?<=[0-9])\{([ (]*(?:±|\\pm)[^{}]*)\}"), r"\1\2"),
)  # fmt: skip
_SIGNS = (
    (re.compile(r"\\multi(?:row|column)\s*(?:\[\w\]\s*)?\{[^{}]*\}\s*(?:\[[^\]]*\]\s*)?"
                r"(?:\{(?:[^{}]|\{[^{}]*\})*\}|\*|=)\s*(?:\[[^\]]*\]\s*)?(?=\{)"), ""),
    (re.compile(r"\^\{?\\(?:S|P)(?![a-zA-Z])\}?"), ""),
    (re.compile(r"\^\{ ?\\dagger ?\}|\^?\\dagger(?![a-zA-Z])"), "\N{DAGGER}"),
    (re.compile(r"\^\{ ?\\ddagger ?\}|\^?\\ddagger(?![a-zA-Z])"), "\N{DOUBLE DAGGER}"),
    (re.compile(r"\\pm(?![a-zA-Z])"), "±"),
    (re.compile(r"\\times(?![a-zA-Z])"), "\N{MULTIPLICATION SIGN}"),
    (re.compile(r"\\Delta(?![a-zA-Z])"), "Δ"),
    (re.compile(r"\\(?:uparrow)"), "\N{UPWARDS ARROW}"),
    (re.compile(r"\\(?:downarrow)"), "\N{DOWNWARDS ARROW}"),
    (re.compile(r"\\(?:ast|star)(?![a-zA-Z])"), "*"),
    (re.compile(r"\\(?:scriptstyle|textstyle|displaystyle|scriptsize|footnotesize|tiny|small"
                r"|bf|bfseries|it|centering|phantom"
                r"|quad|qquad|left|right)(?![a-zA-Z])"), ""),
    (re.compile(r"\\([%&_#$])"), r"\1"),
    (re.compile(r"(?<!\\)\$|\\[,;! ]"), ""),
    (re.compile(r"~"), " "),
    (re.compile(r"\^(?=\*)|_(?=±)"), ""),
)  # fmt: skip


_SPACED = re.compile(
    r"(?<![^\s*])(?:(?:[-0-9.()±] ){3,}[-0-9.()±](?![0-9])|[0-9] \. [0-9](?![0-9]))"
)
"""`3 6 6 3 . 9 1`, as recognised from a picture; blanks say nothing in mathematics."""

Seen = tuple[str, int]
"""What is seen in a cell, and the offset of its text."""


@dataclass(frozen=True, slots=True)
class Tabular:
    """The rows of the first table, the caption and notes, and where a second table begins.

    ``rule`` is where the first rule below a row stands, 0 where a table is cut out without its top.
    """

    rows: list[list[Seen]]
    notes: list[str]
    second: int | None
    rule: int


def tabular(text: str) -> Tabular:
    """The rows of the first tabular of a text, or of lines cut out of one."""
    bare = re.sub(r"(?<!\\)%[^\n]*", lambda found: " " * len(found[0]), text)
    bare = _without_inner(bare)
    begins = list(re.finditer(r"\\begin\{tabular[xy*]?\}", bare))
    start = _past_braces(bare, begins[0].end()) if begins else 0
    spec = bare[begins[0].end() : start] if begins else "{}"
    end = bare.find(r"\end{tabular", start)
    end = len(bare) if end < 0 else end
    notes = [plain(found[1]) for found in re.finditer(r"\\caption\{([^\n]*)\}", bare)]
    notes += [
        plain(line) for line in bare[end:].split("\n")[1:] if not line.strip().startswith("\\")
    ]
    body = _RULES.sub(lambda found: " " * len(found[0]), bare[start:end])
    macros, at = _macros(bare), start
    rows: list[list[Seen]] = []
    rule: re.Match[str] | None = None
    for line in re.split(r"(\\\\(?:\[[^\]]*\])?)", _without_breaks(body)):
        if line.strip() and not line.startswith("\\\\"):
            top = begins or _BETWEEN.search(bare, start, at + len(line))
            rule = _BETWEEN.search(bare, at + len(line), end) if top and not rows else rule
            rows.append(_with_errors(list(_ampersands(line, at, macros)), _joined(spec)))
        at += len(line)
    second = begins[1].start() if len(begins) > 1 else None
    return Tabular(rows, notes, second, rule.start() if rule else 0)


def _without_inner(text: str) -> str:
    r"""The text without the tables of one column within cells, `\begin{tabular}{c}A\\B\end...`."""
    found = re.compile(
        r"(\\begin\{tabular\}(?:\[\w\])? ?\{(?:@\{\})?[lcr](?:@\{\})?\})"
        r"((?:(?!\\(?:begin|end)\{tabular)[^&]){0,500})(\\end\{tabular\})"
    )

    def within(each: re.Match[str]) -> str:
        before = text[: each.start()]
        if before.count(r"\begin{tabular") <= before.count(r"\end{tabular"):
            return each[0]
        return " " * len(each[1]) + each[2].replace(r"\\", "  ") + " " * len(each[3])

    return found.sub(within, text)


def _without_breaks(body: str) -> str:
    r"""The text without the `\\` within a cell, as in `\makecell{93.4 \\ ±0.2}`."""
    depth, parts = 0, []
    for part in re.split(r"(\\\\|\\.|[{}])", body):
        depth += {"{": 1, "}": -1}.get(part, 0)
        parts.append("  " if depth > 0 and part == "\\\\" else part)
    return "".join(parts) if depth == 0 else body


def _joined(spec: str) -> frozenset[int]:
    r"""The columns, from 0, that `@{$\pm$}` joins with the next one to a value and its error."""
    (begin, end) = _braces(spec, 0)[-1]  # of tabular*, the first says how wide the table is
    spec = re.sub(r"\[[^\]]*\]", "", spec[begin:end])[:LONGEST]
    at, columns, found = 0, 0, set()
    while at < len(spec):
        end = max(_past_braces(spec, at + 1), at + 1)
        repeated = re.match(r"\*\s*\{(\d{1,2})\}\s*\{(.*)\}", spec[at:end], re.DOTALL)
        if repeated:
            spec = (spec[:at] + repeated[2] * int(repeated[1]) + spec[end:])[:LONGEST]
            continue
        columns += spec[at].isalpha()
        if spec[at] in "@!" and re.search(r"\\pm(?![a-zA-Z])|±", spec[at:end]):
            found.add(columns - 1)
        at = end
    return frozenset(found)


def _with_errors(row: Sequence[Seen], joined: frozenset[int]) -> list[Seen]:
    """The cells of a row, a value and the error in the column joined to it as one."""
    cells: list[Seen] = []
    for at, (text, offset) in enumerate(row):
        if at - 1 in joined and cells:
            before, begun = cells[-1]
            apart = offset != begun and text and before
            cells[-1] = (f"{before}±{text}" if apart else before or text, begun)
        else:
            cells.append((text, offset))
    return cells


def _braces(text: str, at: int) -> list[tuple[int, int]]:
    """What stands in the braces that follow a command: where each begins and ends."""
    found = []
    while (opened := re.compile(r"\s*(?:\[[^\]]*\]\s*)?\{").match(text, at)) is not None:
        at, depth = opened.end(), 1
        while depth and at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        found.append((opened.end(), at - (depth == 0)))
    return found


def _past_braces(text: str, at: int) -> int:
    r"""Where what `\begin{tabular}` is told ends: the width and the columns, in braces."""
    found = _braces(text, at)
    return min(found[-1][1] + 1, len(text)) if found else at


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


def _ampersands(line: str, at: int, macros: Mapping[str, tuple[int, str]]) -> Iterator[Seen]:
    for text in re.split(r"(?<!\\)&", line):
        blank = len(text) - len(text.lstrip())
        many = re.match(r"\s*\\multicolumn\s*\{\s*(\d{1,3})\s*\}", text)
        for _ in range(min(int(many[1]), MAX_SPAN) if many else 1):
            yield plain(_expanded(text, macros)), at + blank
        at += len(text) + 1


def plain(text: str) -> str:
    """A cell of LaTeX as it is seen, from the innermost braces outward."""
    for pattern, short in _SIGNS:
        text = pattern.sub(short, text[:LONGEST])
    for _ in range(8):
        before = text
        for pattern, short in _PLAIN:
            text = pattern.sub(short, text)
        if text == before:
            break
    return _SPACED.sub(lambda found: found[0].replace(" ", ""), " ".join(text.split()))


_MATH = re.compile(
    r"(?is)<math\b(?:[^>]{0,2000}?\balttext=\"([^\"]{0,2000})\")?[^>]{0,2000}>(.{0,20000}?)</math>"
)
_ANNOTATION = re.compile(r"(?is)<(annotation(?:-xml)?)\b.{0,20000}?</\1>")


def without_annotations(text: str) -> str:
    """HTML whose formulas stand once: as the LaTeX that they name, or without their annotations."""

    def said(found: re.Match[str]) -> str:
        seen = _ANNOTATION.sub("", found[2]) if found[1] is None else f"${found[1]}$"
        return seen + "\n" * (found[0].count("\n") - seen.count("\n"))

    return _MATH.sub(said, text)
