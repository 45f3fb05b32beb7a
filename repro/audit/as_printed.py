"""A table as a paper prints it -> what each cell says, and what its columns are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from repro.audit.comparison import NOT_SIGNIFICANT
from repro.audit.pasted import Cell, Pasted
from repro.audit.printed_cells import (
    Groups,
    against_told,
    bare,
    compared_with,
    has_spread,
    is_number,
    is_result,
    legend_told,
    marks_told,
    stars_of,
    tested_told,
    ways,
    without_letters,
)
from repro.audit.printed_heads import (
    ROLES,
    header,
    named_by_ticks,
    role_of,
    roles_of,
    without_counts,
)
from repro.audit.printed_layout import CLASSES, Layout, is_signed, layout, of_data
from repro.audit.printed_rows import (
    Method,
    RowReader,
    is_group,
    is_method_after_all,
    is_of_no_method,
    of_ours,
    one_n,
    place_of,
)
from repro.audit.printed_words import (
    CORRECTED,
    OF_MEANS,
    UNNAMED,
    Better,
    Meaning,
    NamedTest,
    OfP,
    Reading,
    Side,
    metrics_in,
    p_told,
    runs_told,
    spread_told,
    test_told,
    way,
)
from repro.audit.unread import gathered
from repro.errors import SpecError
from repro.evidence.published import PrintedNumber
from repro.files import fatal
from repro.schema.rows import MOST


@dataclass(frozen=True, slots=True)
class AsPrinted:
    """The methods of a table by columns of values, and what its header and notes say of these.

    ``across`` is whether each row compares its values; ``guessed`` are sentences on what the table
    does not say; ``way_guessed`` names what higher is taken to be better in, ``of_bold`` says what
    bold tells of it, and ``compared_with`` is the method that stars or p are against, and ``test``
    theirs, where the text says so. ``tested`` is the one that p are of, of more than two.
    ``against`` are words that name another row for each p. ``over_n`` is whether deviations may be
    over n, not n - 1; ``of_p`` is what the words say of p, and
    ``starred`` which values alone may have stars; ``lettered`` whether letters say what differs.
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
    of_bold: str = ""
    compared_with: str = ""
    test: NamedTest = UNNAMED
    over_n: bool = True
    against: str = ""
    tested: str = ""
    of_p: OfP = OF_MEANS
    starred: str = ""
    lettered: bool = False


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
    table = named_by_ticks(table)
    table = replace(table, rows=tuple(_without_letters(row, table.notes) for row in table.rows))
    if methods != "rows" and (joined := _joined(table)) is not None:
        table, methods = joined, "columns"
    table, sectioned = _by_data_set(table)
    names, body = header(table)
    others = [row for row in body if _is_of_other_things(row, body)]
    body = [row for row in body if row not in others]
    roles = roles_of(table, names, body)
    roles = _without_gains(roles, names, body, across=False)
    tested = any("p" in roles and _TESTED.fullmatch(name) for name in names)
    printed = any(
        "±" in cell.text or has_spread(bare(cell.text)[0]) for r in body for cell in r[1:]
    )
    if "value" not in roles[1:] or (tested and not printed and not {"sd", "se"} & {*roles}):
        mistake = "only differences or statistics are printed, and not the results of methods"
        advice = "paste the table of the means; of a test, columns such as t, df, p"
        raise fatal(place_of(table.file, table.rows[0][0]), mistake, "93.4±0.2", advice)
    found = Layout(methods) if methods else _layout(table, names, roles, body, baseline)
    found = Layout("rows") if sectioned else found
    side = _sure(found, table)
    roles = _without_gains(roles, names, body, across=side == "columns")
    counted = without_counts(roles, body) if side == "columns" else roles
    sizes = [name for name, *both in zip(names, roles, counted, strict=True) if both[0] != both[1]]
    roles = counted
    said = " ".join((*table.notes, *names)).lower()
    reader = RowReader(table, names, roles, side, plus_minus or spread_told(said))
    rows = list(reader.methods(body))
    if reader.problems:
        raise SpecError(gathered(reader.problems)[:MOST])
    reader.unread = [*sizes, *(bare(row[0].text)[0] for row in others), *reader.unread]
    return replace(_told(table.notes, reader, rows, found.sentence), sectioned=sectioned)


_TESTED = re.compile(r"[tTFzZWUHQ]|[tfz][- ]?(?:stat(?:istic)?|value)s?|(?:χ|chi-?)(?:²|\^?2)")
"""A column of statistics, where another is of p."""


def _without_gains(
    roles: Sequence[str], names: Sequence[str], body: Sequence[Sequence[Cell]], *, across: bool
) -> list[str]:
    def is_of_gains(at: int, name: str) -> bool:
        cells = ((row[at], [*row[1:at], *row[at + 1 :]]) for row in body)
        return is_of_no_method(name, across=across) and not is_method_after_all(name, cells)

    return [
        "unread"
        if role == "value" and (is_of_gains(at, name) or ("p" in roles and _TESTED.fullmatch(name)))
        else role
        for at, (role, name) in enumerate(zip(roles, names, strict=True))
    ]


def _without_letters(row: tuple[Cell, ...], notes: Sequence[str]) -> tuple[Cell, ...]:
    first, *others = row
    return first, *(replace(each, text=without_letters(each.text, notes)) for each in others)


_PLAIN = re.compile(r"[±( ]*([0-9]*\.?[0-9]+(?:[eE]-?[0-9]+)?(?: ?%)?)[ )]*")
_OF_MEANS = re.compile(r"\b(?:means?|average|avg)\b|^m$")


def _joined(table: Pasted) -> Pasted | None:
    """The table with each row of deviations behind the row of means above it; None without any.

    Rows of n become a part of the names of the columns, or a note, and rows of p a column. A row of
    n alone is of groups in columns where what heads these, or a column of differences, says so.
    """
    head, *body = table.rows
    rows: list[list[Cell]] = []
    ps = [replace(head[0], text="p")]
    counts: list[Sequence[Cell]] = []
    notes: list[str] = []
    for row in body:
        role = _role_of_row(row, rows)
        if role == "n":
            counts.append(row)
        elif role == "p" and rows:
            ps[-1] = next((cell for cell in row[1:] if not cell.empty), row[0])
        elif role in ("sd", "se", "ci95"):
            spreads = [_PLAIN.fullmatch(cell.text) for cell in row]
            if not all(cell.empty or each for cell, each in zip(row[1:], spreads[1:], strict=True)):
                return None
            notes.append(f"± is {bare(row[0].text)[0]}")
            rows[-1] = [
                replace(mean, text=f"{mean.text} ± {each[1]}") if each else mean
                for mean, each in zip(rows[-1], spreads, strict=True)
            ]
        else:
            rows.append(list(row))
            ps.append(Cell("", row[0].line, 1))
    of_groups = counts and (of_data(head[0].text) or any(is_of_no_method(c.text) for c in head[1:]))
    if not (notes or of_groups) or len(counts) > 1:
        return None
    head, said = _with_counts(head, counts)
    cut = [tuple(each) for each in (head, *rows)]
    if any(cell.text for cell in ps[1:]):
        cut = [(*row, p) for row, p in zip(cut, ps, strict=True)]
    return replace(table, rows=tuple(cut), notes=(*table.notes, *notes, *said))


def _with_counts(
    head: tuple[Cell, ...], counts: Sequence[Sequence[Cell]]
) -> tuple[tuple[Cell, ...], list[str]]:
    """The header with the n of each column, where they differ; else a note with the one n."""
    known = [cell.text for cell in counts[0][1:] if not cell.empty] if counts else []
    if len({*known}) < 2:
        return head, [f"n = {known[0]}"] if known else []
    named = [
        cell if n.empty else replace(cell, text=f"{cell.text} (n = {n.text})")
        for cell, n in zip(head[1:], counts[0][1:], strict=True)
    ]
    return (head[0], *named), []


def _role_of_row(row: Sequence[Cell], above: Sequence[Sequence[Cell]]) -> str:
    """What a row is that a column may be too; SD may be a method, but below means or a metric."""
    name = bare(row[0].text)[0].lower().strip(" :")
    roles = ("sd", "se", "ci95", "n", "p")
    role = next((role for role in roles if ROLES[role].fullmatch(name)), "")
    if role in ("n", "p", ""):
        return role
    before = bare(above[-1][0].text)[0].lower() if above else ""
    sure = (
        bool(_OF_MEANS.search(before) or metrics_in(before))
        or name.startswith(f"{before} ")
        or re.match(r"standard |std?\.? ?(?:dev|err)", name) is not None
    )
    return role if before and sure and "±" not in above[-1][1].text else ""


def _apart(rows: Sequence[Method]) -> list[Method]:
    """The rows, those of one name called after their sections too."""
    counts = Counter(row.name for row in rows)
    return [
        replace(row, name=f"{row.section}, {row.name}")
        if counts[row.name] > 1 and row.section
        else row
        for row in rows
    ]


_LETTERED = re.compile(
    r"\bletters?\b[^.;]{0,60}(?:differ|signific)|(?:differ|signific)[^.;]{0,60}\bletters?\b"
)
_OVER_LESS = re.compile(
    r"ddof ?= ?1|\bn ?[-\N{MINUS SIGN}] ?1\b|\bsample s(?:tandard deviation|\.?d|td)"
    r"|unbiased|bessel"
)
"""Words that a deviation has n - 1 in the denominator."""


def _told(notes: Sequence[str], reader: RowReader, rows: list[Method], guessed: str) -> AsPrinted:
    """The rows that were read, and what notes, header and names say of them."""
    names, rows = reader.names, _apart(rows) if reader.across else rows
    columns = [names[at] for at in reader.at("value")]
    told = [names[at] for at, role in enumerate(reader.roles) if role not in ("value", "unread")]
    said = " ".join((*notes, *told)).lower()
    first = min(reader.at("value"), default=0)  # what stands before is part of the names
    left = [names[at] for at in reader.at("unread") if at > first or is_of_no_method(names[at])]
    unread = [name for name in left if name.lower() not in ("", "test")] + reader.unread
    rows, n, differ = one_n(rows, runs_told(said), by_column=bool(reader.at("n")))
    rows, n, elsewhere = of_ours(rows, n, reader, " ".join(notes).lower())
    side: Side = "columns" if reader.across else "rows"
    by_part = {row.section: better for row in rows if (better := way(row.section))}
    found = ways(_groups(rows, columns, side), [*notes, names[0]])
    named = columns if reader.across else [row.name for row in rows]
    of_p = p_told(said)
    on_p = [*notes, *(names[at] for at in reader.at("p"))]
    doubts = (guessed, reader.bracketed, differ, elsewhere, marks_told(said), _no_p(reader, rows))
    return AsPrinted(
        methods=tuple(rows),
        columns=tuple(columns),
        meaning=spread_told(said),
        n=n,
        better=by_part | found.better,
        legend=_legend(said, rows),
        across=reader.across,
        sectioned=False,
        unread=tuple(dict.fromkeys(unread)),
        guessed=tuple(filter(None, doubts)),
        way_guessed=found.likely,
        of_bold=found.said,
        compared_with=compared_with(named, on_p),
        test=test_told(CORRECTED.sub(" ", said) if of_p.corrected else said),
        of_p=of_p,
        starred=stars_of(notes),
        lettered=_LETTERED.search(said) is not None,
        over_n=_OVER_LESS.search(said) is None,
        against=against_told(named, on_p),
        tested=tested_told(named, on_p),
    )


def _no_p(reader: RowReader, rows: Sequence[Method]) -> str:
    """A sentence on columns of p of which none is read."""
    names = [reader.names[at] for at in reader.at("p")]
    read = any(row.p for row in rows) or not set(names) & {*reader.unread}
    return "" if read else f"What the column {names[0]} says is not checked."


def _legend(said: str, rows: Sequence[Method]) -> dict[str, PrintedNumber]:
    """What stars are said to mean, and n.s. where a value has it."""
    used = {value.stars for row in rows for value in row.values.values()}
    return legend_told(said) | dict.fromkeys(used & {NOT_SIGNIFICANT.text}, NOT_SIGNIFICANT)


def _by_data_set(table: Pasted) -> tuple[Pasted, bool]:
    """The rows below a line for each data set, where one column names these and one the methods."""
    head, *body = table.rows
    at = _column_of_data(head, body)
    at = 0 if at is None and _in_pairs(head, body) else at
    if at is None or any(is_result(row[1].text) for row in body):
        return table, False
    sections: dict[str, list[tuple[Cell, ...]]] = {}
    name = ""
    for row in _filled(body, 0) if at else body:
        name = row[at].text or name
        sections.setdefault(name, []).append((*row[:at], *row[at + 1 :]))
    rows = [(*head[:at], *head[at + 1 :])]
    for name, lines in sections.items():
        first, *others = lines[0]
        rows.append((replace(first, text=name), *(replace(each, text="") for each in others)))
        rows += lines
    return replace(table, rows=tuple(rows)), True


def _column_of_data(head: Sequence[Cell], body: Sequence[Sequence[Cell]]) -> int | None:
    """Which of two columns of names is that of data sets, where the other is that of methods.

    Where names come again, another column is of methods next to data sets, or groups of methods.
    """
    names = [bare(cell.text)[0] for cell in head]
    sides = [of_data(name) for name in names[:2]]
    signed = any(is_signed(bare(row[1].text)[0]) for row in body if len(row) > 1)
    grouped = sides in ([None, False], [None, None]) and (sides[1] is False or signed)
    if len(head) < 3 or (sides.count(True) != 1 and not grouped):
        return None
    at = 0 if grouped else sides.index(True)
    pairs = [(row[at].text, row[1 - at].text) for row in _filled(_filled(body, 0), 1)]
    sorts = [len({*each}) for each in zip(*pairs, strict=True)]
    crossed = len({*pairs}) == len(pairs) > max(sorts, default=0)
    measured = all(
        metrics_in(name) or _OF_MEANS.search(name.lower()) or role_of(name, ()) != "unread"
        for name in names[2:]
    )
    if sides[1 - at] is None:
        return at if crossed and measured else None
    return at if crossed or (sides[at] and not CLASSES.fullmatch(names[at].lower())) else None


def _filled(body: Sequence[Sequence[Cell]], at: int) -> list[Sequence[Cell]]:
    """The rows with an empty name filled from above."""
    rows: list[Sequence[Cell]] = []
    for row in body:
        above = rows[-1][at].text if rows and row[at].empty else row[at].text
        rows.append((*row[:at], replace(row[at], text=above), *row[at + 1 :]))
    return rows


def _in_pairs(head: Sequence[Cell], body: Sequence[Sequence[Cell]]) -> bool:
    """Whether two rows at a time are of one thing, named once, with one p for both."""
    at = next((at for at, cell in enumerate(head) if ROLES["p"].fullmatch(cell.text.lower())), 0)
    firsts, seconds = body[::2], body[1::2]
    return (
        at > 1
        and len(firsts) == len(seconds) > 1
        and len({row[1].text for row in firsts}) == len({row[1].text for row in seconds}) == 1
        and not any(row[0].empty or row[at].empty for row in firsts)
        and all(
            row[at].empty and row[0].text in ("", first[0].text)
            for row, first in zip(seconds, firsts, strict=True)
        )
    )


def _is_of_other_things(row: Sequence[Cell], body: Sequence[Sequence[Cell]]) -> bool:
    """Whether none of a row's several cells is a number of results: `2.5k`, or a header again."""
    texts = [bare(cell.text)[0] for cell in row[1:] if not cell.empty]
    name = bare(row[0].text)[0]
    if texts and is_of_no_method(name):
        others = [each for each in body if each is not row]
        cells = ((row[at], [each[at] for each in others]) for at in range(1, len(row)))
        return not is_method_after_all(name, cells)
    return len(texts) > 1 and not is_group(row) and not any(map(is_number, texts))


def _layout(
    table: Pasted,
    names: Sequence[str],
    roles: Sequence[str],
    body: Sequence[Sequence[Cell]],
    baseline: str | None,
) -> Layout:
    """Where the methods are: where the baseline is, else by names and by what is bold."""
    rows = [row for row in body if not is_group(row)]
    values = [at for at, role in enumerate(roles) if role == "value" and at]
    in_rows = baseline and baseline.lower() in [bare(row[0].text)[0].lower() for row in rows]
    in_columns = baseline and baseline.lower() in [names[at].lower() for at in values]
    if bool(in_rows) != bool(in_columns):
        return Layout("rows" if in_rows else "columns")
    with_p = "p" in roles and all(not row[roles.index("p")].empty for row in rows)
    headed = table.rows[0][0] is not body[0][0]
    at = int(roles[1] == "unread" and of_data(names[1]) is False)
    return layout(
        names[at] if headed else "",
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
        raise fatal(place_of(table.file, table.rows[0][0]), mistake, expected, advice)
    return found.side


def _groups(rows: Sequence[Method], columns: Sequence[str], side: Side) -> Groups:
    """The values that are compared with each other, by the name of their row or column."""
    if side == "columns":
        return {row.name: row.values for row in rows}
    return {
        name: {at: row.values[name] for at, row in enumerate(rows) if name in row.values}
        for name in columns
    }
