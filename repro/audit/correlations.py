"""Points read off a figure or out of a table, and the correlations that are printed of them.

A printed matrix of correlations becomes tests of r, with the p that its stars stand for.

Axes are turned so that more is better. A window cuts y at its printed edges, and once more at the
outermost values that round to them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from repro.audit.audit_file import PrintedAxis, PrintedCorrelation, PrintedPoints, PrintedWindow
from repro.audit.comparison import NOT_SIGNIFICANT, Audited, Grade, Value, noted
from repro.audit.p_range import possible
from repro.audit.pasted import Cell, Pasted
from repro.audit.printed_cells import bare, legend_told
from repro.audit.statistics import Statement, checked
from repro.errors import ClaimError, Place, Problem
from repro.evidence.published import PrintedNumber, Rounding
from repro.files import fatal
from repro.schema.rows import Columns
from repro.stats.coefficients import (
    FEWEST,
    correlate_weighted,
    fisher_interval,
    leave_one_out,
    restricted,
)
from repro.stats.correlation import p_by_student
from repro.stats.records import Sample

ALPHA = 0.05
LEVEL = 0.95
Selection: TypeAlias = Literal["strict", "rounded_edges"]
ROUNDINGS: Mapping[Rounding, str] = {"round": "", "truncate": "r truncated"}
EDGES: Mapping[Selection, str] = {"strict": "", "rounded_edges": "points that round into it"}
DROPPED = "sign dropped"


@dataclass(frozen=True, slots=True)
class Correlation:
    """The correlation of a selection of points, a number ``None`` where it has no meaning.

    ``interval`` is Fisher's, of level 0.95; p is two-sided, Student's. ``leave_one_out`` are
    the lowest and the highest r without one point. ``predicted`` is what choosing the window
    alone would leave of the full correlation (Thorndike's case 2).
    """

    n: int
    r: float
    interval: tuple[float, float] | None
    p: float
    spearman: float
    leave_one_out: tuple[float, float] | None
    predicted: float | None = None

    @property
    def predicted_inside(self) -> bool | None:
        """Whether the interval holds the predicted value; ``None`` outside a window."""
        if self.predicted is None or self.interval is None:
            return None
        return self.interval[0] <= self.predicted <= self.interval[1]


def audit_points(entry: PrintedPoints, columns: Columns) -> tuple[Audited, ...]:
    """One row for all points and one for each window; ``columns`` are the cells of the file."""
    x, y = turned_points(entry, columns)
    if x.constant or y.constant or x.n < 3:
        constant = next((axis.label for s, axis in ((x, entry.x), (y, entry.y)) if s.constant), "")
        why = f"{constant} does not vary" if constant else f"{x.n} points have no correlation"
        ids = (entry.id, *(window.id for window in entry.windows))
        said = noted([f"{entry.printed.locator}: {why}"], entry.note)
        return tuple(
            Audited(id=name, grade=Grade.NOT_CHECKABLE, kind="correlation", findings=said)
            for name in ids
        )
    found: dict[Selection, Correlation] = {"strict": correlation(x, y)}
    whole = _row(entry.id, entry.printed, found, _words(entry), entry.note)
    return (whole, *(_window_row(entry, window, x, y) for window in entry.windows))


def turned_points(entry: PrintedPoints, columns: Columns) -> tuple[Sample, Sample]:
    """The x and y of all points, turned so that more is better."""
    pairs = entry.values or ()
    if entry.file is not None:
        pairs = tuple(zip(columns[entry.x.column], columns[entry.y.column], strict=True))
    x, y = ([float(cell) for cell in cells] for cells in zip(*pairs, strict=True))
    return _turned(x, entry.x), _turned(y, entry.y)


def correlation(x: Sample, y: Sample, predicted: float | None = None) -> Correlation:
    """The correlation of points that vary, at least three of them."""
    ones = np.ones((1, x.n))
    first, second = np.array(x.values), np.array(y.values)
    r = float(correlate_weighted(first, second, ones, "pearson")[0])
    enough = x.n >= FEWEST["pearson"]
    interval = fisher_interval("pearson", r, x.n, LEVEL) if enough else None
    without = leave_one_out(x, y, method="pearson")[:2] if x.n > FEWEST["pearson"] else None
    return Correlation(
        n=x.n,
        r=r,
        interval=(interval.low, interval.high) if interval else None,
        p=float(p_by_student(np.array(r), x.n)),
        spearman=float(correlate_weighted(first, second, ones, "spearman")[0]),
        leave_one_out=without,
        predicted=predicted,
    )


def selections(
    window: PrintedWindow, axis: PrintedAxis, x: Sample, y: Sample
) -> dict[Selection, Correlation]:
    """The window cut at its printed edges, and at those that round to them if that differs."""
    low, high = PrintedNumber.read(window.low), PrintedNumber.read(window.high)
    cuts: dict[Selection, tuple[float, float]] = {
        "strict": (low.value, high.value),
        "rounded_edges": (low.low, high.high),
    }
    found: dict[Selection, Correlation] = {}
    for name, (start, end) in cuts.items():
        ends = (-end, -start) if axis.better == "lower" else (start, end)
        predicted = restricted(x, y, low=ends[0], high=ends[1], level=LEVEL).predicted
        kept = [i for i, value in enumerate(y.values) if ends[0] <= value <= ends[1]]
        inside_x, inside_y = (Sample.of(*(s.values[i] for i in kept)) for s in (x, y))
        cut = correlation(inside_x, inside_y, predicted)
        if cut.n not in [other.n for other in found.values()]:
            found[name] = cut
    return found


def _turned(values: Sequence[float], axis: PrintedAxis) -> Sample:
    return Sample.of(*(-value if axis.better == "lower" else value for value in values))


def _window_row(entry: PrintedPoints, window: PrintedWindow, x: Sample, y: Sample) -> Audited:
    try:
        found = selections(window, entry.y, x, y)
    except ClaimError as error:
        why, kind = (str(error),), "correlation"
        return Audited(id=window.id, grade=Grade.NOT_CHECKABLE, kind=kind, findings=why)
    words = f"{_words(entry)}, from {window.low} to {window.high}"
    return _row(window.id, window, found, words, entry.note)


def _row(
    name: str,
    printed: PrintedCorrelation,
    found: Mapping[Selection, Correlation],
    words: str,
    note: str | None,
) -> Audited:
    """What is printed of a set of points, or of a window, and what the points give."""
    sign = _printed_sign(printed)
    matches = _matches(printed, found)
    sign_matches = None if sign is None else all(each.r * sign > 0 for each in found.values())
    grade, condition = _grade(printed, sign, found, matches)
    details: dict[str, Value] = {"printed": printed.r, "sign_matches": sign_matches}
    for selection, each in found.items():
        details |= _numbers(each, "" if selection == "strict" else f"{selection}_")
    row = Audited(
        id=name,
        grade=grade,
        kind="correlation",
        matches=tuple(", ".join(match) or "as printed" for match in matches),
        condition=condition,
        alpha=ALPHA,
        details=details,
    )
    findings = (
        *(f"{words}: {_said(each, EDGES[selection])}" for selection, each in found.items()),
        _comparison(printed, row, found),
        *(_selection_alone(each, EDGES[selection]) for selection, each in found.items()),
    )
    return replace(row, findings=noted(filter(None, findings), note))


def _grade(
    printed: PrintedCorrelation,
    sign: float | None,
    found: Mapping[Selection, Correlation],
    matches: Sequence[tuple[str, ...]],
) -> tuple[Grade, str]:
    """The grade and its condition; the decision is on which side of 0 r lies, at 0.05."""
    kept = [match for match in matches if DROPPED not in match]
    if sign is None:
        return Grade.NOT_CHECKABLE, ""
    if () in kept or (printed.r is None and all(each.r * sign > 0 for each in found.values())):
        return Grade.CONSISTENT, ""
    if kept:
        fewest = min(len(match) for match in kept)
        ways = (", ".join(match) for match in kept if len(match) == fewest)
        return Grade.CONSISTENT_IF, " or ".join(ways)
    stated = None if printed.r is None else PrintedNumber.read(printed.r).value
    otherwise = all(
        _decision(each.r, each.n)
        != _decision(sign * abs(each.r) if stated is None else stated, each.n)
        for each in found.values()
    )
    return (Grade.DECISION_INCONSISTENT if otherwise else Grade.INCONSISTENT), ""


def _printed_sign(printed: PrintedCorrelation) -> float | None:
    if printed.sign is not None:
        return 1.0 if printed.sign == "positive" else -1.0
    if printed.r is None:
        return None
    return -1.0 if PrintedNumber.read(printed.r).value < 0 else 1.0


def _matches(
    printed: PrintedCorrelation, found: Mapping[Selection, Correlation]
) -> list[tuple[str, ...]]:
    """Every way to get the printed r, each as what it takes beyond what is printed."""
    if printed.r is None:
        return []
    number = PrintedNumber.read(printed.r)
    return [
        tuple(filter(None, (EDGES[selection], ROUNDINGS[rounding], dropped)))
        for selection, each in found.items()
        for rounding in ROUNDINGS
        for dropped, r in (("", each.r), (DROPPED, -each.r))
        if number.under(rounding).low <= r <= number.under(rounding).high
    ]


def _decision(r: float, n: int) -> float:
    """The sign of r where it differs from 0 at 0.05, else 0."""
    return float(np.sign(r)) if float(p_by_student(np.array(r), n)) <= ALPHA else 0.0


def _numbers(found: Correlation, prefix: str) -> dict[str, Value]:
    """The numbers of a selection by name; those of rounded edges have a prefix."""
    names = ["n", "r", "interval", "p", "spearman", "leave_one_out"]
    if found.predicted is not None:
        names += ["predicted", "predicted_inside"]
    return {prefix + name: getattr(found, name) for name in names}


def _words(entry: PrintedPoints) -> str:
    turned = "lower" in (entry.x.better, entry.y.better)
    said = f"{entry.x.label} and {entry.y.label}"
    return f"{said}, turned so that more is better" if turned else said


def _said(found: Correlation, edges: str) -> str:
    said = f"{found.n} points{edges.removeprefix('points')} give r = {found.r:+.3f}"
    if found.interval is not None:
        said += f" [{found.interval[0]:+.2f}, {found.interval[1]:+.2f}]"
    said += f", p = {found.p:.2g}, Spearman {found.spearman:+.2f}"
    if found.leave_one_out is not None:
        low, high = found.leave_one_out
        said += f"; without any one point r lies in [{low:+.2f}, {high:+.2f}]"
    return said


def _comparison(
    printed: PrintedCorrelation, row: Audited, found: Mapping[Selection, Correlation]
) -> str:
    """What is printed, against the points."""
    sign_matches = row.details["sign_matches"]
    if printed.r is None:
        if sign_matches is None:
            return f"{printed.locator} prints no correlation"
        agree = "which the points have" if sign_matches else "the points have the other"
        if not any(_decision(each.r, each.n) for each in found.values()):
            agree += f"; of so few points, r does not differ from 0 at {ALPHA:g}"
        return f"{printed.locator} states a {printed.sign} correlation, {agree}"
    head = f"{printed.locator} prints {printed.r}"
    if row.grade is Grade.CONSISTENT:
        return f"{head}, as the points give it"
    if row.grade is Grade.CONSISTENT_IF:
        return f"{head}, which the points give only with: {row.condition}"
    if row.matches:
        return f"{head}; the points give it only with its sign dropped: it has the other sign"
    return f"{head}, which the points do not give in any way that was tried"


def _selection_alone(found: Correlation, edges: str) -> str:
    if found.predicted is None:
        return ""
    inside = {True: "inside", False: "outside", None: "which has no"}[found.predicted_inside]
    said = "may be the cause" if found.predicted_inside else "is not the cause"
    edges = f", {edges}" if edges else ""
    return (
        f"choosing the window by y alone would leave r = {found.predicted:+.3f} "
        f"(Thorndike's case 2{edges}), {inside} the interval: restriction of range alone {said}"
    )


_OF_ONE = re.compile(
    r"m|means?|s\.?d\.?|std\.?|n|m ?\(sd\)|α|alpha|range|min|max|skew\w*|kurt\w*", re.IGNORECASE
)
_N = re.compile(r"\bn ?= ?([0-9][0-9,]*)(?![0-9]| ?(?:[-\N{EN DASH}]|to) ?[0-9])")
_A_NOTE = re.compile(r"\b[pnN] ?[<=]")
_NUMBERED = re.compile(r"^\(?([0-9]+)[.)] ?(?=.)")
_NOT_PEARSON = re.compile(r"kendall|spearman|partial corr|polychoric|tetrachoric|phi\b")


def in_matrix(table: Pasted) -> tuple[Statement, ...] | None:
    """The correlations of a matrix, each once, with its stars as p; None for any other table.

    It says that it holds correlations, or has stars and negative values. Without a star r is not
    significant where the legend begins at .05.
    """
    cut = [row for row in table.rows if any(_A_NOTE.search(cell.text) for cell in row[1:])]
    notes = (*table.notes, *(" ".join(cell.text for cell in row) for row in (*cut, table.rows[0])))
    said = " ".join(notes).lower()
    table = replace(table, rows=tuple(row for row in table.rows if row not in cut))
    columns = _columns_of(table) if table.rows else {}
    cells = _below_the_diagonal(table, columns)
    texts = {pair: bare(re.sub("</?sup>", "", cell.text)) for pair, (cell, _) in cells.items()}
    starred = any(text.startswith(("-", "\N{MINUS SIGN}")) for text, *_ in texts.values())
    starred = starred and any(stars for *_, stars in texts.values())
    if not cells or not (starred or re.search(r"correlat|pearson", said)):
        return None
    n = _pairs_of(table, said)
    of_spss = r"(\*+)\.? correlation is significant at the (0?\.[0-9]+) level"
    legend = legend_told(re.sub(of_spss, r"\1 p < \2", said))
    rest = NOT_SIGNIFICANT if max((p.value for p in legend.values()), default=0) == ALPHA else None
    found: list[Statement] = []
    problems: list[Problem] = []
    for pair, (cell, name) in cells.items():
        text, _, stars = texts[pair]
        try:
            r = possible("r", PrintedNumber.read(text))
            p = legend.get(stars) if stars else rest
            (other,) = pair - {name}
            label = f"{len(found) + 1}: {name} with {other}"[:100]
            found.append(Statement(label, "r", (PrintedNumber.read(str(n - 2)),), r, p))
        except ClaimError as error:
            advice = "write a decimal point; - where nothing is printed"
            place = Place(table.file, cell.line, cell.column)
            problems.append(Problem(place, str(error), ".32**", advice))
    return checked(found, problems, table.file)


def _columns_of(table: Pasted) -> dict[int, str]:
    """The columns of a matrix with the row that each is of; none for any other table.

    They are called as rows are, in their order, or numbered from 1.
    """
    head, *body = table.rows
    if any(cell.text.lower() == "pearson correlation" for row in body for cell in row[:2]):
        mistake, advice = (
            "three rows for each variable",
            "leave out the other rows, and this column",
        )
        place = Place(table.file, body[0][0].line, body[0][0].column)
        raise fatal(place, mistake, "the rows of Pearson Correlation, and a line n = 120", advice)
    rows = [_NUMBERED.sub("", bare(row[0].text)[0]) for row in body]
    places = [found[1] if (found := _NUMBERED.match(row[0].text)) else "" for row in body]
    of = dict(zip(places if any(places) else map(str, range(1, len(rows) + 1)), rows, strict=True))
    heads = {at: bare(cell.text)[0] for at, cell in enumerate(head) if at}
    heads = {at: text for at, text in heads.items() if not _OF_ONE.fullmatch(text)}
    numbers = [re.sub(r"[.()]", "", text) for text in heads.values()]
    names = [_NUMBERED.sub("", text) for text in heads.values()]
    if len(rows) < 2 or not len(rows) - 1 <= len(heads) <= len(rows) + 1 or len(heads) < 2:
        return {}
    if numbers == [str(at) for at in range(1, len(numbers) + 1)]:
        names = [of.get(number, number) for number in numbers]
    elif names != rows[: len(names)]:
        return {}
    return dict(zip(heads, names, strict=True))


def _below_the_diagonal(
    table: Pasted, columns: Mapping[int, str]
) -> dict[frozenset[str], tuple[Cell, str]]:
    """Each pair once, with its cell and row; none where the diagonal holds anything but 1."""
    found: dict[frozenset[str], tuple[Cell, str]] = {}
    for row in table.rows[1:]:
        name = _NUMBERED.sub("", bare(row[0].text)[0])
        for at, other in columns.items():
            cell = row[at]
            if name == other:
                if not cell.empty and not re.fullmatch(r"1(?:[.,]0+)?|\(.*\)", cell.text):
                    return {}
            elif not cell.empty:
                first, _ = found.setdefault(frozenset((name, other)), (cell, name))
                if bare(first.text)[0] != bare(cell.text)[0]:
                    mistake = f"{first.text[:20]!r} and {cell.text[:20]!r} for one pair"
                    advice = "paste one half alone, with its n"
                    raise fatal(Place(table.file, cell.line, cell.column), mistake, "one r", advice)
    return found


def _pairs_of(table: Pasted, said: str) -> int:
    """The one n of a matrix; SpecError without it, or where r is not Pearson's."""
    place = Place(table.file, table.rows[0][0].line, table.rows[0][0].column)
    if other := _NOT_PEARSON.search(said):
        mistake, advice = f"correlations that are not Pearson's ({other[0]})", "leave them out"
        raise fatal(place, mistake, "Pearson's correlations", advice)
    if re.search(r"(?:above|below) (?:and \w+ )?the diagonal", said):
        mistake, advice = "two matrices in one", "paste each half alone, with its n"
        raise fatal(place, mistake, "one half, below or above the diagonal", advice)
    counts = {int(each.replace(",", "")) for each in _N.findall(said)}
    if len(counts) != 1 or min(counts) < 3:
        mistake = "the matrix of correlations has no n" if not counts else "several n"
        advice = "add that line, with the number of pairs of each correlation"
        raise fatal(place, mistake, "a line n = 120 below the table", advice)
    return counts.pop()
