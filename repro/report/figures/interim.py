"""Interim looks: the evidence and the confidence sequence after every look at the seeds."""

from __future__ import annotations

import math

from repro.report.blocks import Key, LooksPanel, LooksPlot
from repro.report.figures.canvas import (
    DASHED,
    DOTTED,
    LINE,
    Axis,
    Canvas,
    axis,
    heading,
    is_wide,
    label_room,
    legend,
    tick_row,
    upright_ticks,
)

TINY, HUGE = 1e-30, 1e30
"""Where evidence runs off its axis."""


def interim(sheet: Canvas, plot: LooksPlot) -> float:
    """A panel for the evidence and one for the effect, over the same number of seeds."""
    tall, top = _height(sheet), 2.0
    left = max(label_room(_up(panel, tall), percent=panel.percent) for panel in plot.panels)
    for panel in plot.panels:
        top = _panel(sheet, panel, plot.x_label, left, top) + 14
    return top - 12


def _panel(sheet: Canvas, panel: LooksPanel, x_label: str, left: float, top: float) -> float:
    top = heading(sheet, panel.title, top)
    keys = [Key(limit.label, "warn", "--") for limit in panel.limits]
    keys += [Key(panel.crossing.label, "ink", "|")] if panel.crossing else []
    top = legend(sheet, keys, top) + 3
    bottom = top + _height(sheet)
    up = _up(panel, bottom, top)
    on = axis([float(n) for n in panel.seeds], left, sheet.width - 16, "linear")
    upright_ticks(sheet, on, up, percent=panel.percent)
    for limit in panel.limits:
        if _drawable(panel, limit.at):
            sheet.line([on.left, on.right], [up.at(limit.at)] * 2, "warn", 1.2, DASHED)
    if panel.crossing:
        sheet.line([on.at(panel.crossing.at)] * 2, [top, bottom], "ink", 1.2, DOTTED)
    _intervals(sheet, panel, on, up)
    _values(sheet, panel, on, up)
    return tick_row(sheet, on, bottom, x_label, whole=True) + LINE


def _height(sheet: Canvas) -> float:
    return 110.0 if is_wide(sheet) else 96.0


def _up(panel: LooksPanel, bottom: float, top: float = 0.0) -> Axis:
    return axis(_reach(panel), bottom, top, panel.scale, 0.08)


def _drawable(panel: LooksPanel, value: float | None) -> bool:
    positive = panel.scale == "linear" or (value is not None and value > 0)
    return value is not None and math.isfinite(value) and positive


def _reach(panel: LooksPanel) -> list[float]:
    """What the upright axis holds; the wide intervals of the first looks may run off it."""
    later = panel.intervals[len(panel.intervals) // 3 :]
    ends = [end for interval in later for end in interval]
    found = [*panel.values, *ends, *(limit.at for limit in panel.limits)]
    held = [value for value in found if value is not None and _drawable(panel, value)]
    if panel.scale == "log":
        held = [min(max(value, TINY), HUGE) for value in held]
    return held or [1.0]


def _intervals(sheet: Canvas, panel: LooksPanel, on: Axis, up: Axis) -> None:
    """An upright line per look; an arrow where it goes on beyond the axis."""
    for seeds, (low, high) in zip(panel.seeds, panel.intervals, strict=False):
        x = on.at(seeds)
        ends = (up.left if low is None else up.at(low), up.right if high is None else up.at(high))
        sheet.line([x, x], ends, "ink", 1.6 if len(panel.seeds) <= 30 else 1.1)
        for end, y, arrow in ((low, ends[0], "v"), (high, ends[1], "^")):
            if end is None or not up.low <= end <= up.high:
                sheet.marks([x], [y], "ink", arrow, 4.6)


def _values(sheet: Canvas, panel: LooksPanel, on: Axis, up: Axis) -> None:
    pairs = zip(panel.seeds, panel.values, strict=False)
    shown = [(n, value) for n, value in pairs if value is not None and _drawable(panel, value)]
    xs, ys = [on.at(n) for n, _ in shown], [up.at(value) for _, value in shown]
    sheet.line(xs, ys, "arm-1", 1.2)
    sheet.marks(xs, ys, "arm-1", "o", 5 if len(xs) <= 30 else 3.6)
