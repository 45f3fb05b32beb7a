"""Specification curves: one row per analysis, all on one axis."""

from __future__ import annotations

from dataclasses import replace

from repro.report.blocks import AnalysisRow, SpecificationPlot
from repro.report.figures.canvas import (
    LINE,
    SMALL,
    Axis,
    Sheet,
    heading,
    is_wide,
    text_width,
    tick_row,
    wrap,
)
from repro.report.figures.forest import effect_axis, estimate, ground, limit_labels

ROWS_A_SHEET = 24


GAP = 10.0


def specification(sheet: Sheet, plot: SpecificationPlot) -> float:
    """Every analysis with its word; the declared one is bold and has the diamond."""
    top = heading(sheet, plot.title)
    words = max(_word_width(row) for row in plot.rows) + GAP
    wide = is_wide(sheet)
    left, right = (178.0, sheet.width - words) if wide else (10.0, sheet.width - 16)
    on = effect_axis(plot.axis, plot.reach, left, right)
    top = limit_labels(sheet, plot.axis.limits, on, top + 2)
    for row in plot.rows:
        place = _aligned if wide else _stacked
        top = place(sheet, plot, row, on, top)
    return tick_row(sheet, on, top, "", percent=plot.axis.percent)


def pieces(plot: SpecificationPlot) -> list[SpecificationPlot]:
    """The curve for paper: as many rows as fit on a page, on the same axis."""
    starts = range(0, len(plot.rows), ROWS_A_SHEET)
    return [
        replace(
            plot,
            rows=plot.rows[i : i + ROWS_A_SHEET],
            title=f"{plot.title}, continued" if i else plot.title,
        )
        for i in starts
    ]


def _weight(row: AnalysisRow) -> str:
    return "bold" if row.declared else "normal"


def _word_width(row: AnalysisRow) -> float:
    return text_width(row.word, SMALL, _weight(row))


def _aligned(
    sheet: Sheet, plot: SpecificationPlot, row: AnalysisRow, on: Axis, top: float
) -> float:
    """Label, marks and word next to each other."""
    lines = wrap(row.label, SMALL, on.left - 12, 3 if row.declared else 2, _weight(row))
    tall = max(len(lines) * SMALL * LINE + 2, 14.0)
    _strip(sheet, plot, row, on, top, top + tall)
    text = top + (tall - len(lines) * SMALL * LINE) / 2
    sheet.lines(0, text, lines, SMALL, weight=_weight(row))
    word = top + (tall - SMALL * LINE) / 2
    sheet.text(sheet.width - 1, word, row.word, SMALL, row.colour, _weight(row), "right")
    return top + tall


def _stacked(
    sheet: Sheet, plot: SpecificationPlot, row: AnalysisRow, on: Axis, top: float
) -> float:
    """Label and word on one line, the marks below them."""
    room = sheet.width - _word_width(row) - GAP
    sheet.text(sheet.width - 1, top, row.word, SMALL, row.colour, _weight(row), "right")
    lines = wrap(row.label, SMALL, room, 3, _weight(row))
    top = sheet.lines(0, top, lines, SMALL, weight=_weight(row)) + 1
    _strip(sheet, plot, row, on, top, top + 12)
    return top + 15


def _strip(
    sheet: Sheet, plot: SpecificationPlot, row: AnalysisRow, on: Axis, top: float, bottom: float
) -> None:
    middle = (top + bottom) / 2
    if row.note:
        note = wrap(row.note, SMALL, on.right - on.left, 1)
        sheet.lines(on.left, middle - SMALL * LINE / 2, note, SMALL, colour="muted")
        return
    ground(sheet, plot.axis, on, top, bottom)
    estimate(sheet, row.effect, row.interval, on, middle, minor=not row.declared)
