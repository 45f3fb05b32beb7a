"""Scatter plots of associations, and curves of counts against their threshold."""

from __future__ import annotations

from collections.abc import Callable

from repro.report.blocks import CurvePlot, Key, ScatterPlot
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
    within,
    wrap,
)

OUTSIDE = Key("outside the declared window, not counted", "muted", "o", hollow=True)


def scatter(sheet: Canvas, plot: ScatterPlot) -> float:
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


DASHES: tuple[object, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))


def curve(sheet: Canvas, plot: CurvePlot) -> float:
    """Every arm in its own colour and dashes; both axes are logarithmic."""
    top = heading(sheet, plot.y_label)
    top = _legend(sheet, plot, top) + 4
    points = [
        (x, y) for line in plot.lines for ys in line.replicates
        for x, y in zip(line.xs, ys, strict=False) if x > 0 and y > 0
    ]  # fmt: skip
    if not points:
        return sheet.lines(0, top, ["no curve"], SMALL, colour="muted")
    limits = [t for t in plot.thresholds if t > 0]
    word = plot.threshold_label if limits else ""
    bottom = top + SMALL * LINE + 2 + (150 if is_wide(sheet) else 130)
    up = axis([y for _, y in points], bottom, top + SMALL * LINE + 2, "log", 0.06)
    span = [*(x for x, _ in points), *limits]
    on = axis(span, label_room(up), sheet.width - 16, "log", 0.03)
    if word:
        middle = within(sheet, on.at(limits[0]), word)
        sheet.text(middle, top, word, SMALL, "warn", align="center")
    upright_ticks(sheet, on, up)
    for limit in limits:
        sheet.line([on.at(limit)] * 2, [up.right, bottom], "warn", 1.2, DASHED)
    _curve_lines(sheet, plot, on.at, up.at)
    return tick_row(sheet, on, bottom, plot.x_label)


def _legend(sheet: Canvas, plot: CurvePlot, top: float) -> float:
    for i, line in enumerate(plot.lines):
        y = top + SMALL * 0.7
        sheet.line([1, 25], [y, y], line.colour, 1.8, DASHES[i % len(DASHES)])
        top = sheet.lines(32, top, wrap(line.label, SMALL, sheet.width - 36, 2), SMALL)
    return top


def _curve_lines(
    sheet: Canvas, plot: CurvePlot, across: Callable[[float], float], up: Callable[[float], float]
) -> None:
    for i, line in enumerate(plot.lines):
        opacity = 1.0 if len(line.replicates) == 1 else 0.75
        for ys in line.replicates:
            shown = sorted((x, y) for x, y in zip(line.xs, ys, strict=False) if x > 0 and y > 0)
            xs, heights = [across(x) for x, _ in shown], [up(y) for _, y in shown]
            sheet.line(xs, heights, line.colour, 1.4, DASHES[i % len(DASHES)], opacity)
