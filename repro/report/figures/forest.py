"""Forest plots of effects, and specification curves: intervals on one axis, a row each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from repro.report.blocks import AnalysisRow, EffectAxis, EffectRow, Ends, Mark, SpecificationPlot
from repro.report.figures.canvas import (
    DASHED,
    LINE,
    SMALL,
    Axis,
    Canvas,
    axis,
    text_width,
    wrap,
)


def forest(sheet: Canvas, row: EffectRow) -> float:
    """An effect below its words; returns where the next thing may start."""
    top = sheet.heading(row.title)
    top = sheet.lines(0, top - 3, wrap(row.note, SMALL, sheet.width - 4, 3), SMALL, colour="muted")
    top = sheet.legend(row.sides, top + 2)
    points = [end for end in row.interval or () if end is not None]
    points += [] if row.effect is None else [row.effect]
    on = effect_axis(row.axis, points, 10, sheet.width - 16)
    strip = limit_labels(sheet, row.axis.limits, on, top + 3)
    bottom = strip + 24
    ground(sheet, row.axis, on, strip, bottom)
    estimate(sheet, row.effect, row.interval, on, (strip + bottom) / 2, minor=False)
    if row.sides and row.effect is not None:
        _divided(sheet, row, on, bottom, bottom + 9)
        bottom += 9
    return sheet.tick_row(on, bottom, "", percent=row.axis.percent)


def effect_axis(kind: EffectAxis, points: Sequence[float], left: float, right: float) -> Axis:
    """The axis that holds the points and the limits, or the whole span of one that has ends."""
    if kind.span is not None:
        return Axis(*kind.span, left, right, kind.scale)
    held = [*points, *(limit.at for limit in kind.limits)]
    if (kind.scale == "linear" and kind.zero) or not held:
        held.append(0.0 if kind.scale == "linear" else 1.0)
    return axis(held, left, right, kind.scale, 0.09)


def ground(sheet: Canvas, kind: EffectAxis, on: Axis, top: float, bottom: float) -> None:
    """The claimed regions, the limits and zero, behind what was estimated."""
    for low, high in kind.regions:
        left = on.left if low is None else on.at(low)
        sheet.box(left, on.right if high is None else on.at(high), top, bottom, "region")
    for limit in kind.limits:
        sheet.line([on.at(limit.at)] * 2, [top, bottom], "warn", 1.2, DASHED)
    signed = kind.scale == "linear" and kind.zero and (kind.span is None or kind.span[0] < 0)
    if signed and all(limit.at for limit in kind.limits):
        sheet.line([on.at(0.0)] * 2, [top, bottom], "rule", 1.0)


def limit_labels(sheet: Canvas, limits: Sequence[Mark], on: Axis, top: float) -> float:
    """Labels above their limits, on as many lines as they need; returns where the strip starts."""
    rows: list[list[tuple[float, float]]] = []
    for limit in sorted(limits, key=lambda mark: mark.at):
        label = wrap(limit.label, SMALL, sheet.width - 8, 1)[0]
        middle = sheet.within(on.at(limit.at), label)
        half = text_width(label, SMALL) / 2
        box = (middle - half - 5, middle + half + 5)
        free = (
            i for i, others in enumerate(rows) if all(box[0] >= b or box[1] <= a for a, b in others)
        )
        line = next(free, len(rows))
        if line == len(rows):
            rows.append([])
        rows[line].append(box)
        sheet.text(middle, top + line * SMALL * LINE, label, SMALL, "warn", align="center")
    return top + len(rows) * SMALL * LINE + 1


def estimate(
    sheet: Canvas, at: float | None, interval: Ends | None, on: Axis, y: float, *, minor: bool
) -> None:
    """A diamond with its interval; a small dot with a thin one where it is not the main one."""
    if interval is not None:
        low, high = interval
        left = on.left if low is None else on.at(low)
        right = on.right if high is None else on.at(high)
        sheet.line([left, right], [y, y], "ink", 1.2 if minor else 2.2)
        for end, x, arrow in ((low, left, "<"), (high, right, ">")):
            if end is None:
                sheet.marks([x], [y], "ink", arrow, 5 if minor else 7)
            elif not minor:
                sheet.line([x, x], [y - 4, y + 4], "ink", 1.6)
    if at is not None:
        shape, size = ("o", 5.0) if minor else ("D", 7.0)
        sheet.marks([on.at(at)], [y], "ink", shape, size)


def _divided(sheet: Canvas, row: EffectRow, on: Axis, top: float, bottom: float) -> None:
    """A bar of the whole, divided where the share ends."""
    ends = [on.left, on.at(row.effect or 0.0), on.right]
    for key, left, right in zip(row.sides, ends, ends[1:], strict=False):
        if right > left:
            sheet.box(left + (0.6 if left > on.left else 0), right, top + 1, bottom - 1, key.colour)


ROWS_A_SHEET = 24
GAP = 10.0


def specification(sheet: Canvas, plot: SpecificationPlot) -> float:
    """Every analysis with its word; the declared one is bold and has the diamond."""
    top = sheet.heading(plot.title)
    words = max(_word_width(row) for row in plot.rows) + GAP
    wide = sheet.wide
    left, right = (178.0, sheet.width - words) if wide else (10.0, sheet.width - 16)
    on = effect_axis(plot.axis, plot.reach, left, right)
    top = limit_labels(sheet, plot.axis.limits, on, top + 2)
    for row in plot.rows:
        top = (_aligned if wide else _stacked)(sheet, plot.axis, row, on, top)
    return sheet.tick_row(on, top, "", percent=plot.axis.percent)


def pieces(plot: SpecificationPlot) -> list[SpecificationPlot]:
    """The curve for paper: as many rows as fit on a page, on the same axis."""
    parts = []
    for i in range(0, len(plot.rows), ROWS_A_SHEET):
        title = f"{plot.title}, continued" if i else plot.title
        parts.append(replace(plot, rows=plot.rows[i : i + ROWS_A_SHEET], title=title))
    return parts


def _weight(row: AnalysisRow) -> str:
    return "bold" if row.declared else "normal"


def _word_width(row: AnalysisRow) -> float:
    return text_width(row.word, SMALL, _weight(row))


def _aligned(sheet: Canvas, kind: EffectAxis, row: AnalysisRow, on: Axis, top: float) -> float:
    """Label, marks and word next to each other."""
    lines = wrap(row.label, SMALL, on.left - 12, 3 if row.declared else 2, _weight(row))
    tall = max(len(lines) * SMALL * LINE + 2, 14.0)
    _strip(sheet, kind, row, on, top, top + tall)
    text = top + (tall - len(lines) * SMALL * LINE) / 2
    sheet.lines(0, text, lines, SMALL, weight=_weight(row))
    word = top + (tall - SMALL * LINE) / 2
    sheet.text(sheet.width - 1, word, row.word, SMALL, row.colour, _weight(row), "right")
    return top + tall


def _stacked(sheet: Canvas, kind: EffectAxis, row: AnalysisRow, on: Axis, top: float) -> float:
    """Label and word on one line, the marks below them."""
    room = sheet.width - _word_width(row) - GAP
    sheet.text(sheet.width - 1, top, row.word, SMALL, row.colour, _weight(row), "right")
    lines = wrap(row.label, SMALL, room, 3, _weight(row))
    top = sheet.lines(0, top, lines, SMALL, weight=_weight(row)) + 1
    _strip(sheet, kind, row, on, top, top + 12)
    return top + 15


def _strip(
    sheet: Canvas, kind: EffectAxis, row: AnalysisRow, on: Axis, top: float, bottom: float
) -> None:
    middle = (top + bottom) / 2
    if row.note:
        note = wrap(row.note, SMALL, on.right - on.left, 1)
        sheet.lines(on.left, middle - SMALL * LINE / 2, note, SMALL, colour="muted")
        return
    ground(sheet, kind, on, top, bottom)
    estimate(sheet, row.effect, row.interval, on, middle, minor=not row.declared)
