"""Lines on two logarithmic axes, or two linear ones, with marked values."""

from __future__ import annotations

from repro.report.blocks import Key, LinePlot, Mark, Scale
from repro.report.figures.canvas import (
    DASHED,
    LINE,
    SMALL,
    Canvas,
    axis,
    heading,
    is_wide,
    label_room,
    legend,
    tick_row,
    upright_ticks,
    wrap,
)

MARKS = ("warn", "arm-3", "arm-4", "ink", "muted")
"""Colours of marks, in their order."""


def lines(sheet: Canvas, plot: LinePlot, top: float = 2.0) -> float:
    """Every arm in its own colour; a legend says what the marks are."""
    top = heading(sheet, plot.title, top)
    marks = _coloured((*plot.upright, *plot.level))
    keys = [Key(each.label, each.colour, "-") for each in plot.lines]
    keys += [Key(mark.label, colour, "--") for mark, colour in marks.items()]
    top = legend(sheet, keys, top) + 2
    drawn = [
        (each, [(x, y) for x, y in points if plot.scale == "linear" or (x > 0 and y > 0)])
        for each in plot.lines
        for points in each.replicates
    ]
    shown = [point for _, points in drawn for point in points]
    if not shown:
        return sheet.lines(0, top, ["nothing to draw"], SMALL, colour="muted")
    top = sheet.lines(0, top, wrap(plot.y_label, SMALL, sheet.width - 4, 2), SMALL, colour="muted")
    bottom = top + 4 + (150 if is_wide(sheet) else 130)
    heights = [*(y for _, y in shown), *_drawable(plot.level, plot.scale)]
    up = axis(heights, bottom, top + 4, plot.scale, 0.06)
    span = [*(x for x, _ in shown), *_drawable(plot.upright, plot.scale)]
    on = axis(span, label_room(up), sheet.width - 16, plot.scale, 0.03)
    upright_ticks(sheet, on, up)
    for mark in plot.upright:
        sheet.line([on.at(mark.at)] * 2, [up.right, bottom], marks[mark], 1.2, DASHED)
    for mark in plot.level:
        sheet.line([on.left, on.right], [up.at(mark.at)] * 2, marks[mark], 1.2, DASHED)
    for each, points in drawn:
        xs, ys = [on.at(x) for x, _ in points], [up.at(y) for _, y in points]
        sheet.line(xs, ys, each.colour, 1.4, "-", 1.0 if len(each.replicates) == 1 else 0.75)
    return tick_row(sheet, on, bottom, plot.x_label) + SMALL * (LINE - 1)


def _coloured(marks: tuple[Mark, ...]) -> dict[Mark, str]:
    return {mark: MARKS[i % len(MARKS)] for i, mark in enumerate(dict.fromkeys(marks))}


def _drawable(marks: tuple[Mark, ...], scale: Scale) -> list[float]:
    return [mark.at for mark in marks if scale == "linear" or mark.at > 0]
