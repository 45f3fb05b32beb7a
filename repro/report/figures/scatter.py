"""Scatter plots: one measurement against another, one mark per point."""

from __future__ import annotations

from repro.report.figures.canvas import LINE, Sheet, axis, wrap
from repro.report.figures.layout import (
    SMALL,
    heading,
    is_wide,
    label_room,
    legend,
    tick_row,
    upright_ticks,
)
from repro.report.pictures import Key, ScatterPlot

OUTSIDE = Key("outside the declared window, not counted", "muted", "o", hollow=True)


def scatter(sheet: Sheet, plot: ScatterPlot) -> float:
    """Points of every arm in its own colour and shape; hollow where they do not count."""
    top = heading(sheet, plot.title)
    keys = [group.key for group in plot.groups]
    keys += [OUTSIDE] if any(group.hollow for group in plot.groups) else []
    top = legend(sheet, keys, top) + 2
    top = sheet.lines(0, top, wrap(plot.y_label, SMALL, sheet.width - 4, 2), SMALL, colour="muted")
    points = [point for group in plot.groups for point in (*group.points, *group.hollow)]
    bottom = top + 4 + (200 if is_wide(sheet) else 170)
    up = axis([y for _, y in points], bottom, top + 4, "linear")
    on = axis([x for x, _ in points], label_room(up), sheet.width - 16, "linear")
    upright_ticks(sheet, on, up)
    size = 6.4 if len(points) <= 60 else 4.6
    for group in plot.groups:
        for shown, hollow in ((group.hollow, True), (group.points, False)):
            xs, ys = [on.at(x) for x, _ in shown], [up.at(y) for _, y in shown]
            sheet.marks(xs, ys, group.key.colour, group.key.shape, size, hollow=hollow)
    return tick_row(sheet, on, bottom, plot.x_label) + LINE
