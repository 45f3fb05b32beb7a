"""Points read off a figure or out of a table, and the correlations that are printed of them.

Axes are turned so that more is better. A window cuts y at its printed edges, and once more at the
outermost values that round to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from repro.audit.audit_file import PrintedAxis, PrintedCorrelation, PrintedPoints, PrintedWindow
from repro.audit.comparison import Audited, Grade, Value
from repro.errors import ClaimError
from repro.evidence.published import PrintedNumber, Rounding
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
    """The correlation of a selection of points, each number ``None`` where it has no meaning.

    ``interval`` is Fisher's, of level 0.95; p is two-sided, Student's. ``leave_one_out`` are
    the lowest and the highest r without one point. ``predicted`` is what choosing the window
    alone would leave of the full correlation (Thorndike's case 2).
    """

    n: int
    r: float
    interval: tuple[float, float] | None
    p: float | None
    spearman: float
    leave_one_out: tuple[float, float] | None
    predicted: float | None = None

    @property
    def predicted_inside(self) -> bool | None:
        """Whether the interval holds the predicted value; ``None`` outside a window."""
        if self.predicted is None or self.interval is None:
            return None
        return self.interval[0] <= self.predicted <= self.interval[1]


@dataclass(frozen=True, slots=True)
class PointsAudit:
    """What is printed about a set of points, or a window, and what the points give.

    ``selections`` are the ways to cut the window, one where they keep the same points.
    ``matches`` name every way to get at the printed r; ``sign_matches`` is whether the points
    have the printed sign, in all selections.
    """

    id: str
    locator: str
    printed: PrintedCorrelation
    selections: Mapping[Selection, Correlation]
    matches: tuple[str, ...]
    sign_matches: bool | None
    grade: Grade
    condition: str = ""

    def details(self) -> dict[str, Value]:
        """Its numbers by name; those of rounded edges only where they keep other points."""
        found: dict[str, Value] = {"printed": self.printed.r, "sign_matches": self.sign_matches}
        for name, one in self.selections.items():
            prefix = "" if name == "strict" else f"{name}_"
            for key in ("n", "r", "interval", "p", "spearman", "leave_one_out"):
                found[prefix + key] = getattr(one, key)
            if one.predicted is not None:
                found[prefix + "predicted"] = one.predicted
                found[prefix + "predicted_inside"] = one.predicted_inside
        return found


def audit_points(entry: PrintedPoints, columns: Mapping[str, Sequence[str]]) -> tuple[Audited, ...]:
    """One row for all points and one for each window; ``columns`` are the cells of the file."""
    x, y = turned_points(entry, columns)
    if x.constant or y.constant or x.n < 3:
        constant = next((axis.label for s, axis in ((x, entry.x), (y, entry.y)) if s.constant), "")
        why = f"{constant} does not vary" if constant else f"{x.n} points have no correlation"
        ids = (entry.id, *(window.id for window in entry.windows))
        said = (f"{entry.printed.locator}: {why}", *([entry.note] if entry.note else []))
        return tuple(Audited(one, Grade.NOT_CHECKABLE, "correlation", findings=said) for one in ids)
    whole = _judged(entry.id, entry.printed, {"strict": correlation(x, y)})
    windows = (_window_row(entry, window, x, y) for window in entry.windows)
    return (_row(whole, _words(entry), entry.note), *windows)


def turned_points(
    entry: PrintedPoints, columns: Mapping[str, Sequence[str]]
) -> tuple[Sample, Sample]:
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
        one = correlation(inside_x, inside_y, predicted)
        if one.n != next((other.n for other in found.values()), None):
            found[name] = one
    return found


def _turned(values: Sequence[float], axis: PrintedAxis) -> Sample:
    return Sample.of(*(-value if axis.better == "lower" else value for value in values))


def _window_row(entry: PrintedPoints, window: PrintedWindow, x: Sample, y: Sample) -> Audited:
    try:
        found = selections(window, entry.y, x, y)
    except ClaimError as error:
        return Audited(window.id, Grade.NOT_CHECKABLE, "correlation", findings=(str(error),))
    words = f"{_words(entry)}, from {window.low} to {window.high}"
    return _row(_judged(window.id, window, found), words, entry.note)


def _judged(
    name: str, printed: PrintedCorrelation, found: Mapping[Selection, Correlation]
) -> PointsAudit:
    """The grade of what is printed; the rules are those of p-values, read for a coefficient.

    The decision is whether r differs from 0 at 0.05, and to which side.
    """
    sign = _printed_sign(printed)
    matches = _matches(printed, found)
    sign_matches = None if sign is None else all(one.r * sign > 0 for one in found.values())
    kept = [match for match in matches if DROPPED not in match]
    grade, condition = Grade.INCONSISTENT, ""
    if sign is None:
        grade = Grade.NOT_CHECKABLE
    elif (printed.r is None and sign_matches) or () in kept:
        grade = Grade.CONSISTENT
    elif kept:
        fewest = min(len(match) for match in kept)
        grade = Grade.CONSISTENT_IF
        condition = " or ".join(", ".join(match) for match in kept if len(match) == fewest)
    elif _decides_otherwise(printed, sign, found):
        grade = Grade.DECISION_INCONSISTENT
    names = tuple(", ".join(match) or "as printed" for match in matches)
    return PointsAudit(name, printed.locator, printed, found, names, sign_matches, grade, condition)


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
        tuple(word for word in (EDGES[selection], ROUNDINGS[rounding], dropped) if word)
        for selection, one in found.items()
        for rounding in ROUNDINGS
        for dropped, r in (("", one.r), (DROPPED, -one.r))
        if number.under(rounding).low <= r <= number.under(rounding).high
    ]


def _decides_otherwise(
    printed: PrintedCorrelation, sign: float, found: Mapping[Selection, Correlation]
) -> bool:
    """Whether the printed r and that of the points decide differently, in every selection."""
    return all(
        _decision(one.r, one.n) != _decision(_stated(printed, sign, one), one.n)
        for one in found.values()
    )


def _stated(printed: PrintedCorrelation, sign: float, correlation: Correlation) -> float:
    return (
        PrintedNumber.read(printed.r).value if printed.r is not None else sign * abs(correlation.r)
    )


def _decision(r: float, n: int) -> float:
    """The sign of r where it differs from 0 at 0.05, else 0."""
    return float(np.sign(r)) if float(p_by_student(np.array(r), n)) <= ALPHA else 0.0


def _row(audit: PointsAudit, words: str, note: str | None) -> Audited:
    findings = [f"{words}: {_numbers(one, name)}" for name, one in audit.selections.items()]
    findings.append(_comparison(audit))
    findings += [_selection_alone(name, one) for name, one in audit.selections.items()]
    return Audited(
        id=audit.id,
        grade=audit.grade,
        kind="correlation",
        matches=audit.matches,
        condition=audit.condition,
        alpha=ALPHA,
        findings=tuple(filter(None, [*findings, note])),
        details=audit.details(),
    )


def _words(entry: PrintedPoints) -> str:
    turned = "lower" in (entry.x.better, entry.y.better)
    said = f"{entry.x.label} and {entry.y.label}"
    return f"{said}, turned so that more is better" if turned else said


def _numbers(correlation: Correlation, selection: Selection) -> str:
    edges = f" {EDGES[selection]}".replace("points ", "") if EDGES[selection] else ""
    said = f"{correlation.n} points{edges} give r = {correlation.r:+.3f}"
    if correlation.interval is not None:
        said += f" [{correlation.interval[0]:+.2f}, {correlation.interval[1]:+.2f}]"
    if correlation.p is not None:
        said += f", p = {correlation.p:.2g}"
    said += f", Spearman {correlation.spearman:+.2f}"
    if correlation.leave_one_out is not None:
        low, high = correlation.leave_one_out
        said += f"; without any one point r lies in [{low:+.2f}, {high:+.2f}]"
    return said


def _comparison(audit: PointsAudit) -> str:
    """What is printed, against the points."""
    if audit.printed.r is None:
        if audit.sign_matches is None:
            return f"{audit.locator} prints no correlation"
        agree = "which the points have" if audit.sign_matches else "the points have the other"
        if not any(_decision(each.r, each.n) for each in audit.selections.values()):
            agree += f"; of so few points, r does not differ from 0 at {ALPHA:g}"
        return f"{audit.locator} states a {audit.printed.sign} correlation, {agree}"
    head = f"{audit.locator} prints {audit.printed.r}"
    if audit.grade is Grade.CONSISTENT:
        return f"{head}, as the points give it"
    if audit.grade is Grade.CONSISTENT_IF:
        return f"{head}, which the points give only with: {audit.condition}"
    if audit.matches:
        return f"{head}; the points give it only with its sign dropped: it has the other sign"
    return f"{head}, which the points do not give in any way that was tried"


def _selection_alone(selection: Selection, correlation: Correlation) -> str:
    if correlation.predicted is None:
        return ""
    edges = f", {EDGES[selection]}" if EDGES[selection] else ""
    inside = {True: "inside", False: "outside", None: "which has no"}[correlation.predicted_inside]
    said = "may be the cause" if correlation.predicted_inside else "is not the cause"
    return (
        f"choosing the window by y alone would leave r = {correlation.predicted:+.3f} "
        f"(Thorndike's case 2{edges}), {inside} the interval: restriction of range alone {said}"
    )
