"""Strip plots, scatter plots, and looks: points on one axis or two."""

from __future__ import annotations

import math
from itertools import count

from repro.report.blocks import DotPanel, DotRow, Key, LooksPanel, LooksPlot, ScatterPlot
from repro.report.figures.canvas import (
    BODY,
    DASHED,
    DOTTED,
    LINE,
    SMALL,
    Axis,
    Canvas,
    axis,
    label_room,
    wrap,
)

TALLEST = 92.0
OUTSIDE = Key("outside the declared window, not counted", "muted", "o", hollow=True)
TINY, HUGE = 1e-30, 1e30
"""Where evidence runs off its axis."""


def strip(sheet: Canvas, panel: DotPanel) -> float:
    """A measurement: the words of each arm left of its dots, or above them."""
    top = sheet.heading(panel.title)
    values = [v for row in panel.rows for v in _marked(row)]
    left = 178.0 if sheet.wide else 10.0
    if not values:
        return _rows(sheet, panel, None, left, top)[-1][1]
    on = axis(values, left, sheet.width - 16, panel.scale)
    spans = _rows(sheet, panel, on, left, top)
    middles = [(start + end) / 2 for start, end in spans]
    for seed in panel.joined:
        there = [(on.at(v), y) for v, y in zip(seed, middles, strict=True) if v is not None]
        sheet.line([x for x, _ in there], [y for _, y in there], "muted", 0.9, opacity=0.4)
    for row, (start, end) in zip(panel.rows, spans, strict=True):
        _dots(sheet, row, on, start, end)
    return sheet.tick_row(on, spans[-1][1] + 2, panel.axis)


def _marked(row: DotRow) -> list[float]:
    marks = (*row.values, row.mark, row.bound if row.values else None, *(row.spread or ()))
    return [value for value in marks if value is not None]


def _rows(
    sheet: Canvas, panel: DotPanel, on: Axis | None, left: float, top: float
) -> list[tuple[float, float]]:
    """Write the words of every row; return where each row's strip starts and ends."""
    spans = []
    room = left - 14 if sheet.wide else sheet.width - 4
    for row in panel.rows:
        height = _height(row, on)
        end = sheet.lines(0, top, wrap(row.label, BODY, room, 3), BODY)
        end = sheet.lines(0, end, wrap(row.note, SMALL, room, 3), SMALL, colour="muted")
        if not sheet.wide:
            spans.append((end + 1, end + 1 + height))
            top = end + height + 6
        else:
            tall = max(end - top, height)
            spans.append((top, top + tall))
            top += tall + 7
    return spans


def _dot(row: DotRow) -> float:
    """The size of a dot: smaller where many seeds may have to stand above each other."""
    return min(5.6, max(TALLEST / (len(row.values) or 1), 3.2))


def _offsets(row: DotRow, on: Axis) -> list[float]:
    """How far each dot moves from the middle of its strip so that ties stay countable.

    From left to right, at the height nearest to the middle that is free there. Heights are so far
    apart that a dot meets only dots of the same height, the last of which is the nearest.
    """
    dot = _dot(row)
    last: dict[int, float] = {}
    offsets = [0.0] * len(row.values)
    for i in sorted(range(len(row.values)), key=lambda j: (row.values[j], j)):
        x = on.at(row.values[i])
        k = next(k for k in count() if not x - last.get(k, -math.inf) < dot * 0.9)
        last[k] = x
        offsets[i] = (k + 1) // 2 * dot * 0.92 * (1 if k % 2 else -1)
    return offsets


def _height(row: DotRow, on: Axis | None) -> float:
    if on is None or not row.values:
        return 16.0
    spread = [abs(offset) for offset in _offsets(row, on)]
    return min(max(2 * max(spread) + _dot(row) + 4, 20.0), TALLEST + 6)


def _dots(sheet: Canvas, row: DotRow, on: Axis, top: float, bottom: float) -> None:
    middle = (top + bottom) / 2
    sheet.line([on.left, on.right], [middle, middle], "rule", 0.8)
    if row.bound is not None and row.values:
        at = on.at(row.bound)
        sheet.line([at, at], [top, bottom], "muted", 1.0, DOTTED)
    if row.spread is not None:
        low, high = (on.at(end) for end in row.spread)
        sheet.line([low, high], [middle, middle], row.colour, 2.2)
        for end in (low, high):
            sheet.line([end, end], [middle - 4, middle + 4], row.colour, 1.4)
    if row.mark is not None:
        at = on.at(row.mark)
        sheet.line([at, at], [top, bottom], "ink", 1.5)
    if not row.values:
        return
    offsets = _offsets(row, on)
    room, reach = (bottom - top) / 2 - _dot(row) / 2, max(abs(offset) for offset in offsets)
    squeeze = min(1.0, room / reach) if reach else 1.0
    ys = [middle + offset * squeeze for offset in offsets]
    sheet.marks([on.at(v) for v in row.values], ys, row.colour, "o", _dot(row))


def scatter(sheet: Canvas, plot: ScatterPlot) -> float:
    """Points of every arm in its own colour and shape; hollow where they do not count."""
    top = sheet.heading(plot.title)
    keys = [group.key for group in plot.groups]
    keys += [OUTSIDE] if any(group.hollow for group in plot.groups) else []
    top = sheet.legend(keys, top) + 2
    top = sheet.lines(0, top, wrap(plot.y_label, SMALL, sheet.width - 4, 2), SMALL, colour="muted")
    points = [point for group in plot.groups for point in (*group.points, *group.hollow)]
    bottom = top + 4 + (200 if sheet.wide else 170)
    up = axis([y for _, y in points], bottom, top + 4, "linear")
    on = axis([x for x, _ in points], label_room(up), sheet.width - 16, "linear")
    sheet.upright_ticks(on, up)
    size = 6.4 if len(points) <= 60 else 4.6
    for group in plot.groups:
        for shown, hollow in ((group.hollow, True), (group.points, False)):
            xs, ys = [on.at(x) for x, _ in shown], [up.at(y) for _, y in shown]
            sheet.marks(xs, ys, group.key.colour, group.key.shape, size, hollow=hollow)
    return sheet.tick_row(on, bottom, plot.x_label) + LINE


def looks(sheet: Canvas, plot: LooksPlot) -> float:
    """A panel for the evidence and one for the effect, over the same number of seeds."""
    tall, top = _look_height(sheet), 2.0
    left = max(label_room(_up(panel, tall), percent=panel.percent) for panel in plot.panels)
    for panel in plot.panels:
        top = _looks_panel(sheet, panel, left, top) + 14
    return top - 12


def _looks_panel(sheet: Canvas, panel: LooksPanel, left: float, top: float) -> float:
    top = sheet.heading(panel.title, top)
    keys = [Key(limit.label, "warn", "--") for limit in panel.limits]
    keys += [Key(panel.crossing.label, "ink", "|")] if panel.crossing else []
    top = sheet.legend(keys, top) + 3
    bottom = top + _look_height(sheet)
    up = _up(panel, bottom, top)
    on = axis([float(n) for n in panel.seeds], left, sheet.width - 16, "linear")
    sheet.upright_ticks(on, up, percent=panel.percent)
    for limit in panel.limits:
        if _drawable(panel, limit.at):
            sheet.line([on.left, on.right], [up.at(limit.at)] * 2, "warn", 1.2, DASHED)
    if panel.crossing:
        sheet.line([on.at(panel.crossing.at)] * 2, [top, bottom], "ink", 1.2, DOTTED)
    for seeds, (low, high) in zip(panel.seeds, panel.intervals, strict=False):
        x = on.at(seeds)
        ends = (up.left if low is None else up.at(low), up.right if high is None else up.at(high))
        sheet.line([x, x], ends, "ink", 1.6 if len(panel.seeds) <= 30 else 1.1)
        for end, y, arrow in ((low, ends[0], "v"), (high, ends[1], "^")):
            if end is None or not up.low <= end <= up.high:
                sheet.marks([x], [y], "ink", arrow, 4.6)
    _look_values(sheet, panel, on, up)
    return sheet.tick_row(on, bottom, "seeds per arm", whole=True) + LINE


def _look_height(sheet: Canvas) -> float:
    return 110.0 if sheet.wide else 96.0


def _drawable(panel: LooksPanel, value: float | None) -> bool:
    positive = panel.scale == "linear" or (value is not None and value > 0)
    return value is not None and math.isfinite(value) and positive


def _up(panel: LooksPanel, bottom: float, top: float = 0.0) -> Axis:
    """The upright axis; the wide intervals of the first looks may run off it."""
    later = panel.intervals[len(panel.intervals) // 3 :]
    ends = [end for interval in later for end in interval]
    found = [*panel.values, *ends, *(limit.at for limit in panel.limits)]
    held = [value for value in found if value is not None and _drawable(panel, value)]
    if panel.scale == "log":
        held = [min(max(value, TINY), HUGE) for value in held]
    return axis(held or [1.0], bottom, top, panel.scale, 0.08)


def _look_values(sheet: Canvas, panel: LooksPanel, on: Axis, up: Axis) -> None:
    pairs = zip(panel.seeds, panel.values, strict=False)
    shown = [(n, value) for n, value in pairs if value is not None and _drawable(panel, value)]
    xs, ys = [on.at(n) for n, _ in shown], [up.at(value) for _, value in shown]
    sheet.line(xs, ys, "arm-1", 1.2)
    sheet.marks(xs, ys, "arm-1", "o", 5 if len(xs) <= 30 else 3.6)
